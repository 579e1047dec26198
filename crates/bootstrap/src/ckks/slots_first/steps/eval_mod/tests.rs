//! Tests of eval_mod, on numbers in the clear.

use super::*;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::Evaluator;

const RATIO: f64 = EvalMod::MESSAGE_RATIO;
const TWO: Function = Function::Identity { harmonics: 2 };
const TOP: usize = 11;
const SLOTS: usize = 256;

fn evaluator() -> ClearEvaluator {
    let moduli = (0..=TOP).map(|i| 2f64.powi(50) * (1.0 - 1e-7 * (i as f64 * 2.3).sin())).collect();
    ClearEvaluator::new(SLOTS, moduli, 32, 1).unwrap()
}

/// Messages over `[-1, 1]` in both parts, ends included.
fn messages() -> Vec<Complex64> {
    let part = |j: usize| 2.0 * j as f64 / (SLOTS - 1) as f64 - 1.0;
    (0..SLOTS).map(|j| Complex64::new(part(j), part(37 * j % SLOTS))).collect()
}

/// The worst error in bits under a secret of this weight, over both parts, with the overflow `i` in the real and `-i` in the imaginary
/// part.
fn worst_bits(weight: usize, i: i32, real: bool) -> f64 {
    let (e, plan) = (evaluator(), EvalMod::new(TWO, RATIO).unwrap().under(weight).unwrap());
    let overflow = RATIO * Complex64::new(f64::from(i), f64::from(-i));
    let input: Vec<_> = messages().iter().map(|m| (m + overflow) * c2s_factor(RATIO) * (K / plan.bound())).collect();
    let ct = e.encrypt(&input, TOP, EvalMod::input_scale(e.modulus(TOP))).unwrap();
    let scale = 2f64.powi(40);
    let parts = if real { Parts::Real } else { Parts::Complex };
    let [out] = &plan.run(&e, &[ct], parts, scale).unwrap()[..] else { panic!("one result") };
    assert_eq!((e.level(out), e.scale(out)), (TOP - TWO.levels(), scale));
    let errors = out.values().iter().zip(messages()).map(|(z, m)| {
        let wanted = if real { Complex64::new(m.re, 0.0) } else { m };
        (z.re - wanted.re).abs().max((z.im - wanted.im).abs())
    });
    -errors.fold(0.0, f64::max).log2()
}

#[test]
fn every_overflow_that_can_occur_is_removed() {
    for i in -16..=16 {
        for real in [false, true] {
            let bits = worst_bits(32, i, real);
            if real && i >= 0 {
                println!("I = {i}: {bits:.2} bits at worst");
            }
            // The sine series alone is 24.94 bits; 15 happens once in 2^81 bootstraps.
            let promised = match i.abs() {
                0..=8 => 24.85,
                9..=14 => 24.3,
                15 => 11.0,
                _ => 6.5,
            };
            assert!(bits > promised, "I = {i}: {bits} bits");
        }
    }
}

#[test]
fn a_sparser_secret_leaves_fewer_overflows_and_they_are_removed_too() {
    for i in -14..=14 {
        for real in [false, true] {
            let bits = worst_bits(28, i, real);
            // 14 happens once in 2^108 bootstraps, 8 in 64.
            let promised = match i.abs() {
                0..=5 => 24.7,
                6..=7 => 24.4,
                8 => 23.8,
                9..=10 => 22.6,
                11..=13 => 21.5,
                _ => 3.0,
            };
            assert!(bits > promised, "I = {i}: {bits} bits");
        }
    }
}

#[test]
fn a_lower_degree_is_for_sparser_secrets_near_integers_and_anywhere() {
    let degree = |function: &Function, ratio: f64, weight| {
        let plan = EvalMod::new(function.clone(), ratio).unwrap().under(weight).unwrap();
        let found = (plan.bound(), plan.series.degree(), plan.series.relinearizations(), plan.max_weight());
        assert!(plan.max_weight() as f64 / 2.0 + 1.0 <= plan.bound() && plan.max_weight() >= weight);
        assert_eq!(plan.levels(), EvalMod::new(function.clone(), ratio).unwrap().levels());
        found
    };
    let (narrow, wide) = ((15.0, 24, 7, 28), (17.0, 28, 8, 32));
    let (narrow_anywhere, anywhere) = ((15.0, 28, 8, 28), (17.0, 30, 9, 32));
    let table = Function::Functional(Arc::new(Functional::tables(&[[&[1.0, 3.0, 2.0]; 2]], 0.0, 1.0, 1).unwrap()));
    for (function, ratio, weight, wanted) in [
        (TWO, RATIO, 28, narrow),
        (TWO, f64::exp2(5.5), 20, narrow),
        (TWO, RATIO, 29, wide),
        (TWO, RATIO, 32, wide),
        (TWO, f64::exp2(8.5), 28, wide),
        (TWO, f64::exp2(5.0), 28, wide),
        (Function::Identity { harmonics: 1 }, RATIO, 28, wide),
        (Function::Sign { normalized: false }, 4.0, 28, wide),
        (Function::Bits { normalized: true }, 2.0, 28, wide),
        (table.clone(), 3.0, 28, narrow_anywhere),
        (table.clone(), 64.0, 20, narrow_anywhere),
        (table, 3.0, 29, anywhere),
    ] {
        assert_eq!(degree(&function, ratio, weight), wanted, "{function:?}, r = {ratio}, weight {weight}");
    }
    let plan = EvalMod::new(TWO, RATIO).unwrap();
    assert!(plan.clone().under(33).is_err() && plan.clone().under(28).unwrap().tail(29, 1.0).is_err());
    assert_eq!(plan.clone().under(28).unwrap().tail(28, 1.0).unwrap().len(), 15);
    // What was planned narrow is planned wide again.
    assert_eq!(plan.clone().under(28).unwrap().under(32).unwrap(), plan);
}

/// The largest error of the identity on real and imaginary parts in `[-1, 1]`, to leading order: with `Theta = 2 pi / r` it is
/// `Theta^4 / (480 cos^5(pi / 10))` for two harmonics, which is 24.9 bits for [`EvalMod::MESSAGE_RATIO`], and `Theta^2 / 24` for one. Two
/// harmonics are exact at 0, 1 and -1; one harmonic at 0 only. What the polynomial adds is in [`EvalMod::tail`];
/// `tools/fit_eval_mod.py` prints the table.
fn residual(harmonics: usize, ratio: f64) -> f64 {
    let theta = TAU / ratio;
    match harmonics {
        1 => theta.powi(2) / 24.0,
        _ => theta.powi(4) / (480.0 * LAST_ZERO.powi(5)),
    }
}

/// The worst error of a sign or of bits at their points, in bits, with the overflow `i` in both parts.
fn worst_bits_of_points(function: Function, points: [f64; 2], i: i32) -> f64 {
    let ratio = function.message_ratio().unwrap();
    let (e, plan) = (evaluator(), EvalMod::new(function.clone(), 1.0).unwrap());
    let exact: Vec<_> = (0..SLOTS).map(|j| Complex64::new(points[j % 2], points[j / 2 % 2])).collect();
    let overflow = ratio * Complex64::new(f64::from(i), f64::from(-i));
    let input: Vec<_> = exact.iter().map(|m| (m + overflow) * c2s_factor(ratio)).collect();
    let ct = e.encrypt(&input, TOP, EvalMod::input_scale(e.modulus(TOP))).unwrap();
    let out = plan.run(&e, &[ct], Parts::Complex, 2f64.powi(40)).unwrap().remove(0);
    assert_eq!(e.level(&out), TOP - function.levels());
    let errors = out.values().iter().zip(&exact).map(|(z, m)| (z.re - m.re).abs().max((z.im - m.im).abs()));
    -errors.fold(0.0, f64::max).log2()
}

#[test]
fn every_overflow_is_removed_from_signs_and_bits() {
    for i in -16..=16 {
        for normalized in [false, true] {
            let sign = worst_bits_of_points(Function::Sign { normalized }, [-1.0, 1.0], i);
            let bits = worst_bits_of_points(Function::Bits { normalized }, [0.0, 1.0], i);
            // The cosine is at its ends where I - 2 is a multiple of four.
            let promised = match i32::abs(i) {
                0..=9 => 28.3,
                10..=13 => 24.3,
                14 => 20.3,
                _ => 6.0,
            };
            assert!(sign > promised && bits > promised, "I = {i}, normalized {normalized}: {sign} {bits}");
        }
    }
}

/// What the polynomial adds to the error of the series, at worst over messages and overflows up to `|I| = i`, in bits.
fn fit_bits(ratio: f64, harmonics: usize, i: i32) -> f64 {
    let plan = EvalMod::new(Function::Identity { harmonics }, ratio).unwrap();
    let result = |power: Complex64, exact: Complex64| {
        // V of the module documentation, from what the squarings give and from the exponential itself.
        let last = |e: Complex64| if harmonics == 2 { 2.0 * (e * e - plan.linear * e).im } else { 2.0 * e.im };
        (last(power) - last(exact)).abs()
    };
    let kappa = plan.series.value(0.0.into()).powi(8).re;
    let mut worst: f64 = 0.0;
    for i in -i..=i {
        for m in -16..=16 {
            let x = f64::from(i) + f64::from(m) / 16.0 / ratio;
            let power = plan.series.value((2.0 * x / K).into()).powi(8);
            worst = worst.max(result(power, Complex64::from_polar(kappa, TAU * x)));
        }
    }
    -worst.log2()
}

#[test]
fn one_fit_serves_all_message_ratios_that_presets_have() {
    // What the module documentation says. One harmonic, which the size of the exponential costs half as much again, is for
    // ratios above 2^9.
    for log2_ratio in [5.5, 5.75, 6.5, 6.75, 7.5, 8.0, 8.25, 9.0, 10.5, 10.75] {
        for (i, bits) in [(6, 30.0), (8, 29.0), (9, 28.0), (10, 27.0), (11, 25.8), (14, 25.2), (15, 9.5), (16, 5.5)] {
            for harmonics in if log2_ratio > 8.25 { 1..=2 } else { 2..=2 } {
                let found = fit_bits(f64::exp2(log2_ratio), harmonics, i);
                let less = if log2_ratio > 8.25 { 4.0 } else { 0.0 };
                assert!(found > bits - less, "r = 2^{log2_ratio}, |I| <= {i}: {found}");
            }
        }
    }
    // Of what is likely the series is the larger part by far, for every number of harmonics where it is used.
    for (log2_ratio, harmonics) in [(5.75, 2), (6.5, 2), (6.75, 2), (10.5, 1)] {
        let ratio = f64::exp2(log2_ratio);
        let series = -residual(harmonics, ratio).log2();
        assert!(fit_bits(ratio, harmonics, 6) > series + 5.0, "r = 2^{log2_ratio}: {series}");
    }
}

#[test]
fn the_polynomial_is_the_exponential() {
    let plan = EvalMod::new(TWO, RATIO).unwrap();
    assert_eq!((plan.series.degree(), plan.series.depth(), plan.series.relinearizations()), (28, 5, 8));
    // E' = kappa E on the whole interval of the argument, and kappa is real.
    let kappa = plan.series.value(0.0.into()).powi(8).re;
    assert!((kappa * kappa + sine_series(RATIO).1 * RATIO / (2.0 * TAU)).abs() < 1e-6);
    for i in -10..=10 {
        let power = plan.series.value((2.0 * f64::from(i) / K).into()).powi(8);
        assert!((power - kappa).norm() < 1e-6);
    }
}

#[test]
fn the_polynomial_of_a_sign_and_of_bits_is_a_cosine() {
    for (function, kappa, shift) in
        [(Function::Sign { normalized: false }, 0.5f64, 2.25), (Function::Bits { normalized: false }, 0.25, 2.0)]
    {
        let plan = EvalMod::new(function.clone(), 1.0).unwrap();
        assert_eq!((plan.series.depth(), plan.series.relinearizations()), (5, 8));
        for i in -32..=32 {
            let x = f64::from(i) / 4.0;
            let cosine = |angle: f64| 2.0 * (TAU * (x - shift) * angle).cos();
            let value = plan.series.value((2.0 * x / K).into());
            assert!((value - kappa.powf(0.125) * cosine(0.125)).norm() < 1e-9, "{function:?} at {x}: {value}");
            let doubled = (0..DOUBLE_ANGLE).rev().fold(value, |d, left| d * d + plan.wave.constant(plan.kappa, left));
            assert!((doubled - kappa * cosine(1.0)).norm() < 1e-7, "{function:?} at {x}: {doubled}");
        }
    }
}

#[test]
fn the_error_of_the_sine_series_is_a_chebyshev_polynomial_that_vanishes_at_one() {
    for ratio in [32.0, RATIO, 256.0] {
        let (alpha, beta) = sine_series(ratio);
        let largest = residual(2, ratio);
        let order_7 = 4.0 * (TAU / ratio).powi(2) * largest;
        let error = |m: f64| {
            let theta = TAU * m / ratio;
            ratio / TAU * (alpha * theta.sin() + beta * (2.0 * theta).sin()) - m
        };
        for j in 0..=500 {
            let u = f64::from(j) / 500.0;
            let wanted = -largest * (5.0 * (u * LAST_ZERO).acos()).cos();
            assert!((error(u) - wanted).abs() < order_7, "{} for {wanted} at {u}", error(u));
        }
        assert!(error(1.0).abs() < 1e-13 && error(-1.0).abs() < 1e-13);
    }
    assert_eq!(LAST_ZERO, (TAU / 20.0).cos());
    assert!((residual(2, EvalMod::MESSAGE_RATIO).log2() + 24.94).abs() < 0.01);
    assert_eq!(EvalMod::MESSAGE_RATIO, 2f64.powf(6.75));
}

#[test]
fn what_cannot_work_is_refused() {
    for ratio in [0.0, -3.0, f64::NAN, f64::INFINITY, 2.0] {
        assert!(matches!(EvalMod::new(TWO, ratio), Err(Error::Circuit(CircuitError::Factor { .. }))));
    }
    let (e, plan) = (evaluator(), EvalMod::new(TWO, RATIO).unwrap());
    let low = e.encrypt(&messages(), TWO.levels() - 1, 2f64.powi(50)).unwrap();
    let refused = plan.run(&e, &[low], Parts::Complex, 1e12).unwrap_err();
    assert_eq!(refused, SchemeError::LevelTooLow { required: 9, actual: 8 }.into());
}
