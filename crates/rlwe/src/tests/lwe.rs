//! LWE from the secret to the noise of switches: densities, phases, measured variances against the formulas.

use super::*;
use crate::fault::MethodFault;
use crate::security::{Secret, Security};
use aglet_ring::arch;
use aglet_ring::blind::{blind_block, scratch_words, Gadget};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;

pub(super) fn gate() -> LweSpec {
    LweSpec {
        method: Method::Blocks,
        modulus: 1_099_469_684_737,
        log_n: 9,
        rank: 3,
        dimension: 688,
        secret: Secret::BlockBinary(4),
        gadget: Gadget { levels: 1, log_base: 16 },
        switch_digits: 11,
        lwe_error: -12.76,
        glwe_error: -34.91,
    }
}

pub(super) fn context(spec: LweSpec) -> LweContext {
    LweContext::new(LweParams::new(spec, Security::NotChecked).unwrap(), arch::chosen().unwrap()).unwrap()
}

pub(super) fn source(seed: u8) -> ChaChaSource {
    ChaChaSource::from_seed([seed; 32])
}

/// A phase over Q, in (-1/2, 1/2].
pub(super) fn torus(ctx: &LweContext, phase: u64) -> f64 {
    ctx.modulus().centre(phase) as f64 / ctx.modulus().value() as f64
}

#[test]
fn only_what_has_128_bits_is_built_unless_the_risk_is_spelled_out() {
    assert!(LweParams::new(gate(), Security::Bits128).unwrap().lwe_security().is_secure());
    let weaker: [fn(&mut LweSpec); 4] =
        [|s| s.lwe_error = -13.1, |s| s.glwe_error = -35.4, |s| s.dimension = 640, |s| s.glwe_error = -39.0];
    for change in weaker {
        let mut spec = gate();
        change(&mut spec);
        let refused = LweParams::new(spec.clone(), Security::Bits128);
        assert!(matches!(refused, Err(Error::InsecureParameters { .. } | Error::UnknownSecurity { .. })), "{spec:?}");
        assert!(!LweParams::new(spec, Security::NotChecked)
            .map(|p| p.lwe_security().is_secure() && p.glwe_security().is_secure())
            .unwrap());
    }
}

#[test]
fn contradictions_are_refused() {
    type Change = fn(&mut LweSpec);
    let keyless = |method, secret| LweFault::from(MethodFault::Secret { method, secret });
    let dimension = |found| LweFault::Dimension { found, block: 4, most: 1535 };
    let wrong: [(Change, LweFault); 14] = [
        (|s| s.modulus += 2, LweFault::NotPrime { modulus: gate().modulus + 2, step: 1024 }),
        (|s| s.log_n = 13, LweFault::Shape { log_n: 13, rank: 3 }),
        (|s| s.rank = 4, LweFault::Shape { log_n: 9, rank: 4 }),
        (|s| s.dimension = 670, dimension(670)),
        (|s| s.dimension = 1536, dimension(1536)),
        (|s| s.secret = Secret::Ternary, keyless("blocks", Secret::Ternary)),
        (|s| s.method = Method::Ginx, keyless("ginx", Secret::BlockBinary(4))),
        (|s| (s.method, s.secret) = (Method::Dm(6), Secret::Ternary), MethodFault::Base { base: 6 }.into()),
        (|s| (s.method, s.secret) = (Method::Lmkcdey(0), Secret::Ternary), MethodFault::Window { window: 0 }.into()),
        (
            |s| (s.method, s.secret, s.gadget.levels) = (Method::Ginx, Secret::Ternary, 3),
            LweFault::Products { found: 24 },
        ),
        (|s| s.gadget.levels = 2, LweFault::Products { found: 32 }),
        (|s| s.gadget.log_base = 41, LweFault::Digits { gadget: 41, switch: 11 }),
        (|s| s.switch_digits = 0, LweFault::Digits { gadget: 16, switch: 0 }),
        (|s| s.glwe_error = -1.5, LweFault::Deviations { lwe: -12.76, glwe: -1.5 }),
    ];
    for (change, fault) in wrong {
        let mut spec = gate();
        change(&mut spec);
        assert_eq!(LweParams::new(spec, Security::NotChecked).unwrap_err(), fault.into());
    }
    let none = LweSpec { glwe_error: f64::NAN, ..gate() };
    assert!(matches!(LweParams::new(none, Security::NotChecked), Err(Error::BadParameters { .. })));
}

#[test]
fn encryptions_have_their_phase_and_their_noise() {
    let ctx = context(gate());
    let (sk, q) = (LweSecretKey::generate(&ctx, &mut source(1)), ctx.modulus().value());
    let mut source = source(2);
    let mut squares = 0.0;
    for i in 0..2000u64 {
        let ct = sk.encrypt(&ctx, i * (q / 2000), &mut source).unwrap();
        let error = torus(&ctx, ctx.modulus().sub(sk.phase(&ctx, &ct).unwrap(), i * (q / 2000)));
        squares += error * error / 2000.0;
    }
    let expected = ctx.params().noise().fresh;
    assert!((squares / expected - 1.0).abs() < 0.1, "{squares:e} against {expected:e}");
    let other = LweSecretKey::generate(&ctx, &mut source);
    let ct = sk.encrypt(&ctx, 0, &mut source).unwrap();
    assert!(matches!(other.phase(&ctx, &ct), Err(Error::KeyMismatch { .. })));
    let sum = sk.encrypt(&ctx, 5 << 30, &mut source).unwrap();
    let mut sum = LweCiphertext::combine(&ctx, 0, &[(&sum, 1), (&ct, -3)]).unwrap();
    sum.add_phase(&ctx, 1 << 30);
    let found = torus(&ctx, sk.phase(&ctx, &sum).unwrap()) * q as f64 / f64::from(1 << 30);
    assert!((found - 6.0).abs() < 1e-4);
    assert!((sum.variance() / expected - 10.0).abs() < 1e-9);
    // What is in both counts once: -3 and 2 of the same noise.
    let sum = LweCiphertext::combine(&ctx, 0, &[(&sum, 1), (&ct, 2)]).unwrap();
    assert!((sum.variance() / expected - 2.0).abs() < 1e-9 && sum.sources().len() == 2 && sum.seed().is_none());
    let units = |terms: &[(&LweCiphertext, i64)]| LweCiphertext::combine(&ctx, 0, terms).unwrap().variance() / expected;
    let x = sk.encrypt(&ctx, 0, &mut source).unwrap();
    assert!(
        (units(&[(&ct, 2), (&x, -3)]) - 13.0).abs() < 1e-9
            && (units(&[(&x, 2), (&ct, 1), (&x, 3)]) - 26.0).abs() < 1e-9
    );
    assert!(LweCiphertext::combine(&ctx, 0, &[]).is_err());
    let foreign = other.encrypt(&ctx, 0, &mut source).unwrap();
    assert!(LweCiphertext::combine(&ctx, 0, &[(&sum, 1), (&foreign, 1)]).is_err());
}

#[test]
fn noises_that_depend_add_as_dependent() {
    let ctx = context(gate());
    let (key, half) = (LweSecretKey::generate(&ctx, &mut source(21)).id(), ctx.params().n() / 2);
    let rotated = |sources: &[(u64, u64, usize, i64)], rotation: usize| {
        let sources =
            sources.iter().map(|&(input, pattern, at, w)| NoiseSource::new(input, pattern, [rotation, at], w, 1e-20));
        LweCiphertext::from_words(&ctx, vec![0; ctx.params().coordinates() + 1], key, sources.collect())
    };
    let with = |sources: &[(u64, u64, usize, i64)]| rotated(sources, 0);
    let sum = |terms: &[(&LweCiphertext, i64)]| LweCiphertext::combine(&ctx, 0, terms).unwrap();
    let one = with(&[(1, 1, 0, 1)]).unwrap();
    let cases = [(2, 1, 0, 5.0), (1, 2, 0, 9.0), (1, 1, half, 5.0), (1, 1, 0, 9.0)];
    for (input, pattern, at, expected) in cases {
        let other = with(&[(input, pattern, at, 1)]).unwrap();
        let found = sum(&[(&one, 1), (&other, 2)]).variance() / 1e-20;
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
    }
    // Neighbours correlate where the secret has a mean, but what that would take off is not counted on.
    let (next, noise) = (with(&[(1, 1, 1, 1)]).unwrap(), ctx.noise().neighbours);
    let found = [1, -1].map(|weight| sum(&[(&one, 1), (&next, weight)]).variance() / 1e-20);
    assert!((found[0] - 2.0 - 2.0 * noise).abs() < 0.01 && noise > 0.01 && (found[1] - 2.0).abs() < 1e-9);
    let none = sum(&[(&one, 1), (&one, -1)]);
    assert!(none.sources().is_empty() && none.variance() == 0.0);
    // Other rotations of a start leave about the same coefficients, but signs say nothing: they never cancel.
    let (again, apart) = (rotated(&[(1, 1, 0, 1)], 7).unwrap(), rotated(&[(1, 1, half, 1)], 7).unwrap());
    let found = [(&again, 1), (&again, -1), (&apart, 1)].map(|(x, w)| sum(&[(&one, 1), (x, w)]).variance() / 1e-20);
    let near = found.iter().zip([4.0, 4.0, 2.0]).all(|(x, expected)| (x / expected - 1.0f64).abs() < 1e-9);
    assert!(near, "{found:?}");
    // A weight of half of Q or more stays lost, whatever is taken off it.
    let lost = sum(&[(&sum(&[(&one, 1 << 30)]), 1 << 30)]);
    assert_eq!([lost.variance(), sum(&[(&lost, 1), (&lost, -1)]).variance()], [f64::INFINITY; 2]);
    assert_eq!(sum(&[(&lost, 0)]).variance(), 0.0);
    let many = |from: u64, count: u64| with(&(from..from + count).map(|i| (i, 1, 0, 1)).collect::<Vec<_>>());
    assert!(many(0, Sources::MOST as u64 + 1).is_err());
    let [first, second] = [0, 10_000].map(|from| many(from, 10_000).unwrap());
    let folded = sum(&[(&first, 1), (&second, 1)]);
    assert!(folded.sources().len() == 1 && (folded.variance() / 2e-16 - 1.0).abs() < 1e-9);
    // What is no longer told apart depends on all else.
    let found = sum(&[(&folded, 1), (&first, 1)]).variance().sqrt();
    assert!((found / (folded.variance().sqrt() + first.variance().sqrt()) - 1.0).abs() < 1e-9);
}

#[test]
fn secrets_are_blocks_with_at_most_one_1_and_of_the_right_weight() {
    let ctx = context(gate());
    let mut source = source(3);
    let mut weight = 0;
    for _ in 0..40 {
        let sk = LweSecretKey::generate(&ctx, &mut source);
        assert!(sk.coordinates().chunks(4).all(|block| block.iter().map(|&s| s as usize).sum::<usize>() <= 1));
        weight += sk.coordinates().iter().filter(|&&s| s == 1).count();
    }
    let mean = weight as f64 / (40.0 * 1536.0);
    assert!((mean - ctx.params().mean()).abs() < 0.004, "{mean}");
}

/// The external product of a whole block: the phase moves by the coordinate that is 1, and the noise is that of the formula.
#[test]
fn blocks_rotate_the_phase_by_the_secret() {
    let ctx = context(gate());
    let mut source = source(5);
    let sk = LweSecretKey::generate(&ctx, &mut source);
    let whether = |coordinate| GgswMessage { coordinate, exponents: [None, None, Some(0)] };
    let messages: Vec<GgswMessage> = (0..ctx.params().spec().dimension).map(whether).collect();
    let key =
        BlindRotationKey::generate(&ctx, &sk, &messages, (4, ctx.params().spec().gadget), &mut source, &mut |_, _| {
            true
        })
        .unwrap();
    let (m, n, g) = (ctx.modulus(), ctx.params().n(), ctx.params().spec().gadget);
    let mut scratch = Words::zeros(scratch_words(ctx.table(), 4, g));
    let mut squares = 0.0;
    for block in 0..ctx.params().spec().dimension / 4 {
        let mut acc = Words::zeros(4 * n);
        acc[3 * n] = m.value() / 8;
        let exponents = [1u16, 7, 100, 200];
        blind_block(ctx.table(), key.packed(), block, g, [(&exponents, &mut acc[..])], &mut scratch);
        let s = &sk.coordinates()[4 * block..4 * block + 4];
        let rotated = s.iter().zip(exponents).filter(|(&s, _)| s == 1).map(|(_, e)| usize::from(e)).sum::<usize>();
        let sample = GlweSample::new(&ctx, acc, sk.id(), 0.0).unwrap();
        for i in [0, 1, 7, 100, 200] {
            let ct = sample.extract(&ctx, i);
            let expected = if rotated == i { m.value() / 8 } else { 0 };
            squares += torus(&ctx, m.sub(sk.phase(&ctx, &ct).unwrap(), expected)).powi(2) / 5.0;
        }
    }
    // A wrong rotation would be a square of 1/64. The accumulators have one digit only, so there is less noise than in a rotation.
    assert!(squares < ctx.params().noise().blind_rotation, "{squares:e}");
}

#[test]
fn formulas_give_the_failure_of_gates() {
    let params = context(gate()).params().clone();
    let noise = params.noise();
    let failure = |d: f64, input: f64| log2_tail(d, noise.decision(input));
    let nand = failure(0.125, 2.0 * noise.blind_rotation);
    assert!((nand + 136.1).abs() < 0.5, "NAND fails with 2^{nand:.1}");
    assert!(failure(0.25, 8.0 * noise.blind_rotation) < -300.0);
    assert!(failure(0.125, 3.0 * noise.blind_rotation) < -128.0);
}
