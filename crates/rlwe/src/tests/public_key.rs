//! The compact public key: phases, measured noise against the formula, what depends, what is refused.

use super::tests::{context, gate, source, torus};
use super::*;
use crate::security::{Secret, Security};
use aglet_ring::blind::Gadget;
use aglet_ring::primes::is_prime;

/// One polynomial of the degree of the public key's ring: the set of tables of four bits.
fn table() -> LweSpec {
    LweSpec {
        modulus: 281_474_846_687_233,
        log_n: 11,
        rank: 1,
        dimension: 844,
        gadget: Gadget { levels: 1, log_base: 22 },
        switch_digits: 15,
        lwe_error: -16.84,
        glwe_error: -46.32,
        ..gate()
    }
}

/// The errors of fresh encryptions of so many phases, each of its own.
fn errors_of(ctx: &LweContext, sk: &LweSecretKey, public: &LwePublicKey, count: usize, seed: u8) -> Vec<f64> {
    let m = ctx.modulus();
    let phases: Vec<u64> = (0..count as u64).map(|i| i * (m.value() / count as u64)).collect();
    let cts = public.encrypt(ctx, &phases, &mut source(seed)).unwrap();
    cts.iter().zip(&phases).map(|(ct, &phase)| torus(ctx, m.sub(sk.phase(ctx, ct).unwrap(), phase))).collect()
}

#[test]
fn encryptions_have_their_phase_and_the_noise_of_the_formula() {
    for (spec, secret) in
        [(gate(), None), (table(), None), (gate(), Some(Secret::BlockBinary(3))), (gate(), Some(Secret::Binary))]
    {
        let ctx = context(LweSpec {
            secret: secret.unwrap_or(spec.secret),
            dimension: if secret.is_some() { 690 } else { spec.dimension },
            ..spec
        });
        let sk = LweSecretKey::generate(&ctx, &mut source(1));
        // Secrets and vectors have a mean, which meets the whole error of a key: only many keys show the variance.
        let mut all = source(2);
        let keys = (0..96).map(|_| LwePublicKey::generate(&ctx, &sk, &mut all).unwrap()).collect::<Vec<_>>();
        let errors: Vec<f64> =
            keys.iter().enumerate().flat_map(|(i, key)| errors_of(&ctx, &sk, key, 2048, i as u8)).collect();
        let measured = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        let expected = Noise::of(ctx.params(), Some(sk.weights(&ctx))).public;
        assert!((measured / expected - 1.0).abs() < 0.1, "{measured:e} against {expected:e}");
        // What ciphertexts state is above it: for a heavy secret and a heavy vector.
        let stated = keys[0].encrypt(&ctx, &[0], &mut source(4)).unwrap()[0].variance();
        assert!(stated == ctx.noise().public && stated > expected && stated < 1.4 * expected);
    }
}

#[test]
fn sums_of_what_one_key_encrypts_state_what_they_may_have() {
    let ctx = context(table());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let public = LwePublicKey::generate(&ctx, &sk, &mut source(2)).unwrap();
    let (one, two) = (public.encrypt(&ctx, &[0; 64], &mut source(5)), public.encrypt(&ctx, &[0; 64], &mut source(6)));
    let all: Vec<LweCiphertext> = one.unwrap().into_iter().chain(two.unwrap()).collect();
    let terms: Vec<_> = all.iter().map(|ct| (ct, 1)).collect();
    let sum = LweCiphertext::combine(&ctx, 0, &terms).unwrap();
    // Deviations add.
    assert!((sum.variance() / ctx.noise().public / f64::powi(128.0, 2) - 1.0).abs() < 1e-9);
    assert!(torus(&ctx, sk.phase(&ctx, &sum).unwrap()).abs() < 6.0 * sum.variance().sqrt());
    // The same ciphertext twice is one noise, and what is taken off leaves nothing.
    let none = LweCiphertext::combine(&ctx, 0, &[(&all[3], 2), (&all[3], -2)]).unwrap();
    assert_eq!((none.variance(), sk.phase(&ctx, &none).unwrap()), (0.0, 0));
    // A secret key's encryption is independent.
    let own = sk.encrypt(&ctx, 0, &mut source(7)).unwrap();
    let both = LweCiphertext::combine(&ctx, 0, &[(&own, 1), (&all[0], 1)]).unwrap();
    assert!((both.variance() / (own.variance() + all[0].variance()) - 1.0).abs() < 1e-9);
}

#[test]
fn masks_are_shared_and_fresh() {
    let ctx = context(gate());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let public = LwePublicKey::generate(&ctx, &sk, &mut source(2)).unwrap();
    let mut random = source(3);
    let cts = public.encrypt(&ctx, &vec![0; 4097], &mut random).unwrap();
    let mask = |i: usize| cts[i].shared().unwrap();
    assert_eq!(public.degree(), 2048);
    assert!(std::sync::Arc::ptr_eq(mask(0).0, mask(2047).0) && mask(2047).1 == 2047);
    assert!(mask(2048).1 == 0 && mask(4096).1 == 0 && mask(4096).0.words() != mask(2048).0.words());
    // Fresh vectors hide equal phases, and the secret's dimension is that of all ciphertexts.
    assert!(cts[0].body() != cts[2048].body() && cts[5].mask(&ctx).len() == 1536 && cts[5].dimension() == 1536);
    assert!(cts[0].byte_count() < 300 && mask(0).0.byte_count() == 8 * 2048);
}

#[test]
fn a_stored_key_is_the_key_and_foreign_ones_are_refused() {
    let ctx = context(gate());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let public = LwePublicKey::generate(&ctx, &sk, &mut source(2)).unwrap();
    let (seed, b) = public.stored(&ctx).unwrap();
    let back = LwePublicKey::from_stored(&ctx, public.id(), *seed, b.clone()).unwrap();
    let words = |key: &LwePublicKey| key.encrypt(&ctx, &[7], &mut source(9)).unwrap()[0].body();
    assert_eq!(words(&public), words(&back));
    let stored = |b: Vec<u64>| LwePublicKey::from_stored(&ctx, public.id(), *seed, b);
    let changed = |word: u64| [&[word], &b[1..]].concat();
    let wrong = [b[1..].to_vec(), changed(ctx.modulus().value()), changed(u64::MAX)];
    assert!(wrong.into_iter().all(|b| matches!(stored(b), Err(Error::Stored { .. }))));
    let mask = |words: Vec<u64>| SharedMask::of_public_key(&ctx, words, public.id());
    assert!(mask(vec![0; 1536]).is_err() && mask(vec![ctx.modulus().value(); 2048]).is_err());
    let zero = std::sync::Arc::new(mask(vec![0; 2048]).unwrap());
    let cell = |at, body| LweCiphertext::of_shared(&ctx, &zero, at, body, public.id());
    assert!(cell(2047, 0).is_ok() && cell(2048, 0).is_err() && cell(0, ctx.modulus().value()).is_err());

    let small = context(LweSpec { log_n: 9, rank: 2, dimension: 688, ..gate() });
    assert!(public.encrypt(&small, &[0], &mut source(9)).is_err() && public.stored(&small).is_err());
    assert!(LwePublicKey::generate(&small, &sk, &mut source(9)).is_err());
}

/// Of a modulus of 48 bits, files hold 40 of each coefficient; the others are uniform, and the same for everybody.
#[test]
fn bits_that_are_dropped_come_back_from_the_seed() {
    let ctx = context(table());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let public = LwePublicKey::generate(&ctx, &sk, &mut source(2)).unwrap();
    let (seed, kept) = public.stored(&ctx).unwrap();
    assert!(ctx.params().public_dropped() == 8 && kept.iter().all(|&b| b < 1 << 40));
    let back = LwePublicKey::from_stored(&ctx, public.id(), *seed, kept.clone()).unwrap();
    let body = |key: &LwePublicKey| key.encrypt(&ctx, &[7], &mut source(9)).unwrap()[0].body();
    assert!(body(&public) == body(&back) && back.stored(&ctx).unwrap().1 == kept);
    for word in [ctx.modulus().value() >> 8, 1 << 40, 1 << 56, u64::MAX] {
        let b = [&[word], &kept[1..]].concat();
        // The last grid point below Q is one only for few bits from the seed.
        assert!(LwePublicKey::from_stored(&ctx, public.id(), *seed, b).is_err() || word == ctx.modulus().value() >> 8);
    }
}

#[test]
fn sets_without_a_ring_that_holds_the_secret_are_refused_with_what_to_choose() {
    // 1 modulo 1024 and no more, and more than 4096 coordinates.
    let modulus = (1u64 << 30..).map(|k| k * 1024 + 1).find(|&q| q % 2048 != 1 && is_prime(q)).unwrap();
    let large = LweSpec { log_n: 11, rank: 3, modulus: 281_474_846_687_233, ..gate() };
    for (spec, coordinates, step) in [(LweSpec { modulus, ..gate() }, 1536, 4096), (large, 6144, 16384)] {
        let ctx = context(spec);
        let sk = LweSecretKey::generate(&ctx, &mut source(1));
        let refused = LwePublicKey::generate(&ctx, &sk, &mut source(2)).unwrap_err();
        assert_eq!(refused, LweFault::NoPublicKey { coordinates, step }.into());
        assert!(sk.encrypt(&ctx, 5, &mut source(3)).is_ok());
    }
}

#[test]
fn the_vectors_of_encryptions_pass_the_gate_of_the_secret() {
    for spec in [gate(), table()] {
        let params = LweParams::new(spec, Security::Bits128).unwrap();
        let (report, own) = (params.public_security(), params.glwe_security());
        assert!(report.is_secure() && report.dimension == 2048 && report.dimension >= own.dimension);
        assert!(report.sigma == own.sigma && report.secret == own.secret && report.limit >= own.limit);
    }
    // Parameters that nobody checked say so here as well.
    let weak = LweParams::new(LweSpec { glwe_error: -39.0, ..gate() }, Security::NotChecked).unwrap();
    assert!(!weak.public_security().is_secure());
}
