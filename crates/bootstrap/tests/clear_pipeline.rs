//! A whole slots-first bootstrap on numbers in the clear: what is left is the error of the approximation alone.
//!
//! The chain is the regular set of the design (section 5.1, set A): q0 of 47 bits, 3 + 10 of 40 bits (slots_to_coeffs,
//! message), 9 of 50 (eval_mod), 3 of 48 (coeffs_to_slots).

use aglet_bootstrap::circuits::dft::{coeffs_to_slots, slots_to_coeffs};
use aglet_bootstrap::EvalMod;
use aglet_schemes::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::{Evaluator, LinearMap, Refresh};
use num_complex::Complex64;

const SCALE: f64 = 1_099_511_627_776.0; // 2^40
const STAGES: usize = 3;
const TOP: usize = 25;

/// Numbers of the right sizes, all 1 modulo 2^17 and as far apart as such primes are.
fn moduli() -> Vec<f64> {
    let near = |bits: i32, count: i32, step: f64| {
        (1..=count).map(move |i| 2f64.powi(bits) - f64::from(i) * step * 2f64.powi(17) + 1.0)
    };
    let mut chain: Vec<f64> = near(47, 1, 9.0).collect();
    chain.extend(near(40, 13, 11.0));
    chain.extend(near(50, 9, 17.0));
    chain.extend(near(48, 3, 15.0));
    chain
}

/// Applies stages at the levels `top, top - 1, ..`, asserting that each takes one, and ends with exactly `scale`.
fn run_stages(e: &ClearEvaluator, ct: ClearCiphertext, stages: &[LinearMap], scale: f64) -> ClearCiphertext {
    let top = e.level(&ct);
    let ratio = (scale / e.scale(&ct)).powf(1.0 / stages.len() as f64);
    let mut ct = ct;
    for (i, stage) in stages.iter().enumerate() {
        let last = i + 1 == stages.len();
        let ratio = if last { scale / e.scale(&ct) } else { ratio };
        ct = e.transform(&ct, &e.encode_transform(stage, top - i, ratio).unwrap()).unwrap();
        assert_eq!(e.level(&ct), top - i - 1);
    }
    assert!((e.scale(&ct) / scale - 1.0).abs() < 1e-15);
    ct
}

/// Bootstraps `messages` from level 3 to level 13 and returns (mean, worst) absolute error.
fn bootstrap(e: &ClearEvaluator, messages: &[Complex64], real: bool) -> (f64, f64) {
    let (slots, one) = (messages.len(), Complex64::new(1.0, 0.0));
    let plan = EvalMod::new(EvalMod::MESSAGE_RATIO).unwrap();
    let s2c = slots_to_coeffs(slots, STAGES, one, 16).unwrap();
    let c2s = coeffs_to_slots(slots, STAGES, one * plan.c2s_factor(), 16).unwrap();

    let fresh = e.encrypt(messages, STAGES, SCALE).unwrap();
    let bottom = run_stages(e, fresh, &s2c, e.modulus(0) / plan.message_ratio());
    assert_eq!(e.level(&bottom), 0);
    let raised = e.mod_raise(&e.sparse_secret(&bottom).unwrap(), TOP).unwrap();
    assert_eq!(e.level(&raised), TOP);
    let slots_of_coeffs = run_stages(e, raised, &c2s, EvalMod::input_scale(e.modulus(TOP - STAGES)));
    assert!(slots_of_coeffs.values().iter().all(|t| t.re.abs() <= 1.0 && t.im.abs() <= 1.0));
    let out = if real {
        plan.eval_mod_real(e, &slots_of_coeffs, SCALE).unwrap()
    } else {
        plan.eval_mod_complex(e, &slots_of_coeffs, SCALE).unwrap()
    };
    assert_eq!((e.level(&out), e.scale(&out)), (TOP - STAGES - EvalMod::LEVELS, SCALE));

    let errors = out.values().iter().zip(messages).map(|(a, b)| (a - b).norm());
    errors.fold((0.0, 0.0), |(mean, worst), x| (mean + x / slots as f64, f64::max(worst, x)))
}

/// Points spread over the unit disc, or over `[-1, 1]`.
fn spread(slots: usize, real: bool) -> Vec<Complex64> {
    let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    let angle = |j: usize| if real { 0.0 } else { j as f64 * 2.399_963 };
    let radius = |j: usize| ((j as f64 + 0.5) / slots as f64).sqrt();
    (0..slots).map(|j| sign(j) * Complex64::from_polar(radius(j), angle(j))).collect()
}

fn assert_precision(name: &str, slots: usize, messages: &[Complex64], real: bool, bits: (f64, f64)) {
    let e = ClearEvaluator::new(slots, moduli(), 32, 20).unwrap();
    assert_eq!(e.max_level(), TOP);
    let (mean, worst) = bootstrap(&e, messages, real);
    let found = (-mean.log2(), -worst.log2());
    println!("{name}: {:.2} bits on average, {:.2} at worst", found.0, found.1);
    assert!(found.0 >= bits.0 && found.1 >= bits.1, "{name}: {found:?} bits, {bits:?} wanted");
}

/// The bits left by the sine series when real and imaginary part err on their own.
fn predicted(real: bool) -> f64 {
    let parts = if real { 1.0 } else { 2f64.sqrt() };
    -(parts * EvalMod::new(EvalMod::MESSAGE_RATIO).unwrap().residual()).log2()
}

#[test]
fn small_complex_and_real_messages_survive() {
    let slots = 1 << 6;
    let zeros = vec![Complex64::new(0.0, 0.0); slots];
    assert_precision("complex disc", slots, &spread(slots, false), false, (25.3, predicted(false) - 0.05));
    assert_precision("real interval", slots, &spread(slots, true), true, (25.9, predicted(true) - 0.05));
    assert_precision("zeros", slots, &zeros, false, (40.0, 40.0));
}

#[test]
fn messages_of_size_one_have_the_error_of_the_sine_series() {
    let slots = 1 << 6;
    let sign = |j: usize| if j.is_multiple_of(3) { -1.0 } else { 1.0 };
    let ones = vec![Complex64::new(1.0, 0.0); slots];
    let signs: Vec<_> = (0..slots).map(|j| Complex64::new(sign(j), 0.0)).collect();
    let corners: Vec<_> = (0..slots).map(|j| Complex64::new(sign(j), sign(j + 1))).collect();
    for (name, messages, real) in [("ones", ones, true), ("signs", signs, true), ("corners", corners, false)] {
        let bits = predicted(real);
        assert!((24.8..25.31).contains(&bits));
        assert_precision(name, slots, &messages, real, (bits - 0.05, bits - 0.05));
    }
}

#[test]
fn full_size_messages_survive() {
    let slots = 1 << 15;
    let ones = vec![Complex64::new(1.0, 0.0); slots];
    assert_precision("full size, complex disc", slots, &spread(slots, false), false, (25.3, predicted(false) - 0.05));
    assert_precision("full size, real interval", slots, &spread(slots, true), true, (25.9, predicted(true) - 0.05));
    assert_precision("full size, ones", slots, &ones, false, (25.2, 25.2));
}
