//! Key switching keeps messages, adds the noise that the formula says, and agrees on every backend.

use super::*;
use crate::chain;
use crate::encrypt::PublicKey;
use crate::fault::{ChainFault, ParameterFault};
use crate::sample::Sample;
use crate::{SecretKey, SwitchingKey};
use aglet_ring::arch;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::sample;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::KeyProduct;
use aglet_testing::statistics::variance;
use std::sync::Arc;

fn toy(kernels: &'static arch::Kernels) -> Arc<Context> {
    Context::with_kernels(chain::params(chain::spec()), kernels).unwrap()
}

fn zero(ctx: &Context, limbs: usize) -> Poly<Eval> {
    ctx.ring().zero(limbs, 0).unwrap()
}

/// Coefficients of the noise of a sample of zero, from its lowest limb (47 bits).
fn noise_of(ctx: &Context, sk: &SecretKey, polys: Vec<Poly<Eval>>) -> Vec<i64> {
    let phase = sk.decrypt(ctx, &Sample { polys, key: sk.id() }).unwrap();
    let coefficients = ctx.ring().to_coeff(phase).unwrap();
    coefficients.host().unwrap().row(0).iter().map(|&c| ctx.ring().modulus(0).centre(c)).collect()
}

#[test]
fn fresh_noise_has_its_variance() {
    let ctx = toy(arch::chosen().unwrap());
    let mut random = ChaChaSource::from_seed([1; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let pk = PublicKey::generate(&ctx, &sk, 14, &mut random).unwrap();
    let (mut by_secret, mut by_public) = (Vec::new(), Vec::new());
    for _ in 0..16 {
        by_secret.extend(noise_of(&ctx, &sk, sk.encrypt(&ctx, &zero(&ctx, 3), &mut random).unwrap().polys));
        by_public.extend(noise_of(&ctx, &sk, pk.encrypt(&ctx, &zero(&ctx, 3), &mut random).unwrap().polys));
    }
    // e; and by the public key the rounding of two polynomials, beside which the noise divided by p disappears.
    let (sigma2, n) = (3.2f64.powi(2), ctx.ring().n() as f64);
    assert!((variance(&by_secret) / sigma2 - 1.0).abs() < 1.0 / 16.0);
    assert!((variance(&by_public) / ((1.0 + 2.0 / 3.0 * n) / 12.0) - 1.0).abs() < 1.0 / 16.0);
}

#[test]
fn errors_are_the_whole_stream_and_what_is_public_is_none_of_it() {
    let ctx = toy(arch::chosen().unwrap());
    let sk = SecretKey::generate(&ctx, &mut ChaChaSource::from_seed([1; 32])).unwrap();
    let mut first = vec![0; ctx.ring().n()];
    sample::gaussian(&mut ChaChaSource::from_seed([2; 32]), &mut first);
    let ct = sk.encrypt(&ctx, &zero(&ctx, 3), &mut ChaChaSource::from_seed([2; 32])).unwrap();
    assert_eq!(noise_of(&ctx, &sk, ct.polys), first, "a seed drawn before the error would shift it");
    let mut random = ChaChaSource::from_seed([2; 32]);
    let seed = *PublicKey::generate(&ctx, &sk, 3, &mut random).unwrap().stored().0;
    assert_eq!(seed, ChaChaSource::from_seed([2; 32]).public_seed());
    let id = SecretKey::generate(&ctx, &mut ChaChaSource::from_seed([2; 32])).unwrap().id();
    assert_eq!(id.0.to_le_bytes(), seed[..8], "the name of a key is public too");
}

#[test]
fn a_key_switch_adds_the_noise_of_the_formula() {
    let mut seen: Option<Vec<Vec<i64>>> = None;
    for kernels in arch::available() {
        let ctx = toy(kernels);
        let (ring, n) = (ctx.ring(), ctx.ring().n() as f64);
        let mut random = ChaChaSource::from_seed([2; 32]);
        let sk = SecretKey::generate(&ctx, &mut random).unwrap();
        let mut noises = Vec::new();
        let balanced = [26usize, 14, 4].map(|limbs| KeySwitchSpec::balanced(ctx.params(), limbs).unwrap());
        for spec in balanced.into_iter().chain([KeySwitchSpec::rescaled(ctx.params(), 26, 50.0).unwrap()]) {
            let limbs = spec.q_limbs;
            let g = rotation_exponent(3, ring.n());
            let key = SwitchingKey::galois(&ctx, spec.clone(), g, &sk, &mut random).unwrap();
            assert_eq!(key.byte_count(), spec.byte_count(ctx.params()).unwrap());
            assert!(key.stored_bytes() < key.byte_count() / 2 + 64);
            let phi = ring.automorphism(g);
            let ct = sk.encrypt(&ctx, &zero(&ctx, limbs), &mut random).unwrap();
            // A ciphertext of zero has noise 3.2, so what comes out is the noise of the switch alone.
            let digits = digits(&ctx, key.spec(), &[&ct.polys[1]]).unwrap();
            let lifted = lift_by_special(&ctx, &[&ct.polys[0]], spec.p_limbs).unwrap();
            let product = KeyProduct { added_before: lifted.first(), ..KeyProduct::of(&digits[0]) };
            let (b, a) = ring.key_products(&[product], key.words(), Some(&phi)).unwrap().remove(0);
            let noise = noise_of(&ctx, &sk, divide(&ctx, &[&b, &a], 0).unwrap());
            let log2_p: f64 = ctx.params().p()[..spec.p_limbs].iter().map(|&p| (p as f64).log2()).sum();
            let of_digits: f64 = spec
                .digits
                .iter()
                .map(|d| d.iter().map(|&i| ctx.modulus(i).log2()).sum::<f64>())
                .map(|bits| n / 12.0 * 3.2f64.powi(2) * 2f64.powf(2.0 * (bits - log2_p)))
                .sum();
            let rounding = (1.0 + n * 2.0 / 3.0) / 12.0;
            let expected = of_digits + rounding + 3.2f64.powi(2);
            let ratio = variance(&noise) / expected;
            assert!((0.8..1.25).contains(&ratio), "{limbs} limbs: {} against {expected}", variance(&noise));
            noises.push(noise);
        }
        assert_eq!(seen.get_or_insert(noises.clone()), &noises, "{} differs", kernels.name());
    }
}

#[test]
fn a_rescale_hides_the_noise_of_digits_above_the_special_modulus() {
    let params = toy(arch::chosen().unwrap()).params().clone();
    let mut saved = 0;
    for limbs in 4..=26 {
        let balanced = KeySwitchSpec::balanced(&params, limbs).unwrap();
        let rescaled = KeySwitchSpec::rescaled(&params, limbs, 50.0).unwrap();
        assert_eq!(rescaled.digits.len(), balanced.digits.len(), "{limbs} limbs");
        saved += balanced.p_limbs - rescaled.p_limbs;
        // Divided by a prime of 50 bits: far below the rounding, N / 18 for a ternary secret.
        let (left, rounding) = (rescaled.noise(&params, limbs) * 2f64.powi(-100), params.n() as f64 / 18.0);
        assert!(left < rounding * 2f64.powi(-24), "{limbs} limbs: {left} beside {rounding}");
    }
    assert!(saved > 0, "no key is shorter");
    // A prime that hides nothing saves nothing.
    assert_eq!(KeySwitchSpec::rescaled(&params, 26, 10.0).unwrap(), KeySwitchSpec::balanced(&params, 26).unwrap());
}

#[test]
fn the_sparse_secret_appears_at_the_bottom_only() {
    let spec = KeySwitchSpec::dense_to_sparse();
    assert_eq!((spec.q_limbs, spec.p_limbs), (1, 1));
    let ctx = toy(arch::chosen().unwrap());
    let mut random = ChaChaSource::from_seed([3; 32]);
    let sparse = SecretKey::generate_sparse(&ctx, &mut random).unwrap();
    assert_eq!(sparse.weight(), 32);
    let main = SecretKey::generate(&ctx, &mut random).unwrap();
    assert!(SwitchingKey::between(&ctx, spec, &main, &sparse, &mut random).is_ok());
    assert!(SwitchingKey::between(&ctx, KeySwitchSpec::sparse_to_dense(26), &sparse, &main, &mut random).is_ok());
    let full = KeySwitchSpec::balanced(ctx.params(), 26).unwrap();
    let large = KeySwitchSpec { q_limbs: 29, p_limbs: 12, digits: full.digits.clone() };
    let error = SwitchingKey::relinearization(&ctx, large, &main, &mut random).unwrap_err();
    assert!(matches!(
        error,
        Error::BadParameters(ParameterFault::Chain(ChainFault::LargeKey { q_limbs: 29, p_limbs: 12, .. }))
    ));
    let wide = KeySwitchSpec { p_limbs: 2, ..KeySwitchSpec::dense_to_sparse() };
    for spec in [full.clone(), wide, KeySwitchSpec::sparse_to_dense(2)] {
        let error = SwitchingKey::between(&ctx, spec, &main, &sparse, &mut random).unwrap_err();
        assert!(
            matches!(error, Error::SparseSecret { .. }) && error.to_string().contains("dense_to_sparse()"),
            "{error}"
        );
    }
    let refused = |e: Option<Error>| assert!(matches!(e, Some(Error::SparseSecret { .. })));
    refused(SwitchingKey::relinearization(&ctx, full.clone(), &sparse, &mut random).err());
    refused(SwitchingKey::galois(&ctx, full, 5, &sparse, &mut random).err());
    refused(PublicKey::generate(&ctx, &sparse, 2, &mut random).err());
    refused(sparse.encrypt(&ctx, &zero(&ctx, 2), &mut random).err());
}

#[test]
fn what_depends_on_the_secret_is_wiped() {
    let ctx = toy(arch::chosen().unwrap());
    let mut random = ChaChaSource::from_seed([5; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let ct = sk.encrypt(&ctx, &zero(&ctx, 2), &mut random).unwrap();
    let decrypted = sk.decrypt(&ctx, &ct).unwrap();
    assert!(sk.eval().is_secret() && crate::encrypt::noise(&ctx, &mut random, 2, 1).unwrap().is_secret());
    assert!(ctx.ring().copy(&decrypted, 1).unwrap().is_secret() && ctx.ring().to_coeff(decrypted).unwrap().is_secret());
    assert!(ct.polys.iter().all(|p| !p.is_secret()));
}

#[test]
fn another_secret_key_is_refused() {
    let ctx = toy(arch::chosen().unwrap());
    let mut random = ChaChaSource::from_seed([4; 32]);
    let (one, two) = (SecretKey::generate(&ctx, &mut random).unwrap(), SecretKey::generate(&ctx, &mut random).unwrap());
    let ct = one.encrypt(&ctx, &zero(&ctx, 2), &mut random).unwrap();
    assert!(matches!(two.decrypt(&ctx, &ct), Err(Error::KeyMismatch { .. })));
    assert!(!format!("{one:?}").contains("coefficients"));
}
