//! A whole slots-first bootstrap on numbers in the clear: what is left is the error of the approximation alone.
//!
//! The chain is the regular set of the design (section 5.1, set A): q0 of 47 bits, 3 + 10 of 40 bits (slots_to_coeffs,
//! message), 9 of 50 (eval_mod), 3 of 48 (coeffs_to_slots).

use aglet_bootstrap::{Chain, EvalMod, Options, Pipeline, Plan};
use aglet_schemes::clear::ClearEvaluator;
use aglet_schemes::Evaluator;
use num_complex::Complex64;

const SCALE: f64 = 1_099_511_627_776.0; // 2^40
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

fn chain() -> Chain {
    Chain {
        moduli: moduli(),
        slots_to_coeffs: 3,
        coeffs_to_slots: 3,
        message_ratio: EvalMod::MESSAGE_RATIO,
        scale_in: SCALE,
        scale_out: SCALE,
    }
}

/// Bootstraps `messages` from level 3 to level 13 and returns (mean, worst) absolute error.
fn bootstrap(e: &ClearEvaluator, messages: &[Complex64], real: bool, bound: f64) -> (f64, f64) {
    let slots = messages.len();
    let plan = Plan::slots_first(&chain(), Options { slots, baby: 16, bound, real }).unwrap();
    assert_eq!((plan.input_level(), plan.output_level()), (3, 13));
    let pipeline = Pipeline::new(e, plan).unwrap();
    let fresh = e.encrypt(messages, 3, SCALE).unwrap();
    let out = pipeline.run(e, &fresh, &mut ()).unwrap();
    assert_eq!((e.level(&out), e.scale(&out)), (13, SCALE * bound));
    let out = e.encrypt(&out.values().iter().map(|v| v * bound).collect::<Vec<_>>(), 13, SCALE).unwrap();

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
    let (mean, worst) = bootstrap(&e, messages, real, 1.0);
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

#[test]
fn large_messages_err_in_proportion_to_their_bound() {
    let (slots, bound) = (1 << 6, 100.0);
    let e = ClearEvaluator::new(slots, moduli(), 32, 20).unwrap();
    let messages: Vec<_> = spread(slots, false).iter().map(|m| m * bound).collect();
    let (_, worst) = bootstrap(&e, &messages, false, bound);
    assert!(-(worst / bound).log2() >= predicted(false) - 0.05);
}

#[test]
fn plans_that_cannot_run_are_refused() {
    let options = Options { slots: 64, baby: 16, bound: 1.0, real: false };
    assert!(Plan::slots_first(&Chain { moduli: moduli()[..12].to_vec(), ..chain() }, options).is_err());
    for bound in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(Plan::slots_first(&chain(), Options { bound, ..options }).is_err());
    }
    let plan = Plan::slots_first(&chain(), options).unwrap();
    let mut other = chain();
    other.moduli[0] *= 2.0;
    assert!(plan.check(&other).is_err());
}

#[test]
fn a_probe_sees_every_stage_and_can_stop() {
    struct Stop(usize);
    impl aglet_bootstrap::Probe for Stop {
        fn stage(
            &mut self,
            _: &aglet_bootstrap::Stage,
            done: usize,
            total: usize,
            _: Option<std::time::Duration>,
        ) -> bool {
            assert_eq!(total, 10);
            done < self.0
        }
    }
    let e = ClearEvaluator::new(64, moduli(), 32, 20).unwrap();
    let plan = Plan::slots_first(&chain(), Options { slots: 64, baby: 16, bound: 1.0, real: false }).unwrap();
    let pipeline = Pipeline::new(&e, plan).unwrap();
    let fresh = e.encrypt(&spread(64, false), 3, SCALE).unwrap();
    assert_eq!(pipeline.run(&e, &fresh, &mut Stop(5)).unwrap_err(), aglet_bootstrap::Error::Cancelled);
    assert!(pipeline.run(&e, &fresh, &mut Stop(11)).is_ok());
}
