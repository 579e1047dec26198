//! Ciphertexts packed and rounded for sending: phases, measured noise against the formulas, bits, refusals.

use super::tests::{context, gate, source, torus};
use super::*;
use crate::fault::OperandFault;
use crate::security::Secret;
use aglet_ring::blind::Gadget;
use std::sync::Arc;

fn table() -> LweSpec {
    LweSpec {
        modulus: 281_474_846_687_233,
        log_n: 11,
        rank: 1,
        dimension: 844,
        gadget: Gadget { levels: 2, log_base: 15 },
        switch_digits: 15,
        lwe_error: -16.84,
        glwe_error: -46.32,
        ..gate()
    }
}

fn packing(ctx: &LweContext, sk: &LweSecretKey) -> PackingKey {
    PackingKey::generate(ctx, sk, PackingKey::digits(ctx), &mut source(3), &mut |_, _| true).unwrap()
}

fn encrypted(ctx: &LweContext, sk: &LweSecretKey, phases: &[u64]) -> Vec<LweCiphertext> {
    let mut random = source(4);
    phases.iter().map(|&phase| sk.encrypt(ctx, phase, &mut random).unwrap()).collect()
}

/// The mean of the squared errors of ciphertexts of these phases.
fn measured(ctx: &LweContext, sk: &LweSecretKey, cts: &[LweCiphertext], phases: &[u64]) -> f64 {
    let error = |(ct, &phase)| torus(ctx, ctx.modulus().sub(sk.phase(ctx, ct).unwrap(), phase));
    cts.iter().zip(phases).map(error).map(|e| e * e).sum::<f64>() / cts.len() as f64
}

#[test]
fn packed_and_rounded_ciphertexts_have_their_phases_and_the_noise_of_the_formula() {
    for (spec, bits) in [(gate(), [9, 6]), (gate(), [30, 30]), (table(), [12, 8]), (table(), [32, 32])] {
        let ctx = context(spec);
        let sk = LweSecretKey::generate(&ctx, &mut source(1));
        let (key, n) = (packing(&ctx, &sk), ctx.params().n());
        let rounding = Rounding { mask_bits: bits[0], body_bits: bits[1] };
        // Phases between the steps, so that each body is rounded anew.
        let phases: Vec<u64> = (0..n as u64).map(|i| i * 7919 * (ctx.modulus().value() / 99_991)).collect();
        let phases: Vec<u64> = phases.into_iter().map(|phase| ctx.modulus().reduce(phase)).collect();
        let cts = key.compress(&ctx, &encrypted(&ctx, &sk, &phases), rounding).unwrap();
        let fresh = ctx.noise().fresh;
        let stated = fresh + key.added_noise(&ctx) + Noise::rounding(ctx.params(), bits);
        assert!((cts[5].variance() / stated - 1.0).abs() < 1e-9 && cts.len() == n);
        let found = measured(&ctx, &sk, &cts, &phases);
        if bits[0] < 20 {
            // Nearly all of it is rounding; the formula is for a secret three deviations above its mean.
            let weights = sk.weights(&ctx).whole;
            let exact = ((-2.0 * f64::from(bits[0])).exp2() * weights + (-2.0 * f64::from(bits[1])).exp2()) / 12.0;
            assert!((found / exact - 1.0).abs() < 0.1 && stated > exact, "{bits:?}: {found:e} against {exact:e}");
        } else {
            // Merges of one key correlate, and the formula is that of its mean.
            assert!(found < 1.3 * stated && found > stated / 3.0, "{bits:?}: {found:e} against {stated:e}");
        }
    }
}

#[test]
fn few_ciphertexts_lie_apart_and_share_one_mask() {
    let ctx = context(gate());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let (key, q) = (packing(&ctx, &sk), ctx.modulus().value());
    assert!(key.own_digits() == Some(PackingKey::digits(&ctx)) && PackingKey::digits(&ctx).levels == 2);
    let rounding = Rounding { mask_bits: 12, body_bits: 10 };
    for count in [1, 2, 3, 100, 512] {
        let phases: Vec<u64> = (0..count).map(|i| (i % 4 + 1) * (q / 8)).collect();
        let cts = key.compress(&ctx, &encrypted(&ctx, &sk, &phases), rounding).unwrap();
        assert!(measured(&ctx, &sk, &cts, &phases).sqrt() < 0.02, "{count}");
        let (mask, at) = cts[cts.len() - 1].shared().unwrap();
        assert!(Arc::ptr_eq(mask, cts[0].shared().unwrap().0));
        assert_eq!(at, (count as usize - 1) * (512 / (count as usize).next_power_of_two()));
        assert_eq!((mask.rounding(), mask.variance()), (Some(rounding), cts[0].variance()));
        // Words are those of so many bits, and rounding them again changes nothing.
        let again = |bits: u32, w: u64| Rounding::lift(&ctx, Rounding::round(&ctx, w, bits), bits);
        assert!(mask.words().iter().all(|&w| again(12, w) == w) && again(10, cts[0].body()) == cts[0].body());
    }
    let many = encrypted(&ctx, &sk, &[0; 513]);
    assert_eq!(key.compress(&ctx, &many, rounding).err(), Some(OperandFault::Packed { found: 1024, most: 512 }.into()));
}

/// A result that was sent depends on what it was made of in ways that nobody follows.
#[test]
fn what_was_sent_counts_as_dependent_on_all_else() {
    let ctx = context(gate());
    let sk = LweSecretKey::generate(&ctx, &mut source(1));
    let key = packing(&ctx, &sk);
    let own = encrypted(&ctx, &sk, &[0, 0]);
    let sent = key.compress(&ctx, &own, Rounding { mask_bits: 30, body_bits: 30 }).unwrap();
    let deviation = |terms: &[(&LweCiphertext, i64)]| LweCiphertext::combine(&ctx, 0, terms).unwrap().variance().sqrt();
    let [a, b] = [own[0].variance().sqrt(), sent[0].variance().sqrt()];
    assert!((deviation(&[(&own[0], 1), (&sent[0], 1)]) / (a + b) - 1.0).abs() < 1e-9);
    assert!((deviation(&[(&sent[0], 1), (&sent[1], 1)]) / (2.0 * b) - 1.0).abs() < 1e-9);
    assert_eq!(deviation(&[(&sent[0], 1), (&sent[0], -1)]), 0.0);
}

#[test]
fn the_fewest_bits_are_found_that_keep_the_failure() {
    let ctx = context(table());
    // 2,048 nibbles on the whole torus: 12 and 8 bits, 0.625 bytes a bit.
    let found = Rounding::cheapest(&ctx, 2048, 1e-10, 1.0 / 32.0, -128.0).unwrap();
    assert_eq!(found, Rounding { mask_bits: 12, body_bits: 8 });
    let log2 = |r: Rounding| log2_tail(1.0 / 32.0, 1e-10 + r.variance(&ctx));
    assert!(log2(found) <= -128.0);
    for fewer in [Rounding { mask_bits: 11, ..found }, Rounding { body_bits: 7, ..found }] {
        assert!(log2(fewer) > -128.0, "{fewer:?} would do");
    }
    // Few ciphertexts pay for masks, many for bodies.
    let [few, many] = [3, 2048].map(|n| Rounding::cheapest(&ctx, n, 1e-10, 1.0 / 32.0, -80.0).unwrap());
    assert!(few.mask_bits < many.mask_bits && few.body_bits > many.body_bits, "{few:?}, {many:?}");
    assert_eq!(Rounding::cheapest(&ctx, 3, 1e-4, 1.0 / 32.0, -128.0), None);
    assert!(Rounding::cheapest(&ctx, 3, 1e-4, 1.0 / 32.0, -3.0).is_some());
}

#[test]
fn masks_that_packing_does_not_give_are_refused() {
    let ctx = context(LweSpec { secret: Secret::Binary, ..gate() });
    let mask = |words: Vec<u64>, bits: [u32; 2], variance| {
        SharedMask::rounded(&ctx, &words, Rounding { mask_bits: bits[0], body_bits: bits[1] }, variance)
    };
    assert!(mask(vec![4095; 1536], [12, 8], 1e-6).is_ok());
    for (words, bits, variance) in [
        (vec![0; 1535], [12, 8], 1e-6),
        (vec![4096; 1536], [12, 8], 1e-6),
        (vec![0; 1536], [0, 8], 1e-6),
        (vec![0; 1536], [12, 0], 1e-6),
        (vec![0; 1536], [33, 8], 1e-6),
        (vec![0; 1536], [12, u32::MAX], 1e-6),
        (vec![0; 1536], [12, 8], f64::NAN),
        (vec![0; 1536], [12, 8], -1.0),
        (vec![0; 1536], [12, 8], f64::INFINITY),
    ] {
        assert!(matches!(mask(words, bits, variance), Err(Error::Stored { .. })), "{bits:?}, {variance}");
    }
}
