//! A whole slots-first bootstrap on numbers in the clear: what is left is the error of the approximation alone.
//!
//! The chain is the regular set of the design (section 5.1, set A): q0 of 47 bits, 3 + 10 of 40 bits (slots_to_coeffs,
//! message), 9 of 50 (eval_mod), 3 of 48 (coeffs_to_slots).

use aglet_bootstrap::ckks::request::Parts;
use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::{EvalMod, Function};
use aglet_bootstrap::ckks::slots_first::steps::mod_switch::ModSwitch;
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::ckks::slots_first::{plan, Layout};
use aglet_bootstrap::Pipeline;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::{Approximate, Evaluator};
use num_complex::Complex64;
use std::f64::consts::TAU;

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

const IDENTITY: Function = Function::Identity { harmonics: 2 };

/// Complex messages in all slots of a ring, three stages, no map carried by keys.
fn layout(slots: usize) -> Layout {
    Layout {
        request: Request::new(Method::Regular, 3, KeySize::Small, slots),
        ring_slots: slots,
        function: IDENTITY,
        packed: false,
        level: 10,
        moduli: moduli(),
        switched: None,
        shared: 4,
        hidden: 3,
        sparse_weight: 32,
        message_ratio: EvalMod::MESSAGE_RATIO,
        scale_in: SCALE,
        scale_out: SCALE,
    }
}

/// The same with other requests.
fn asked(layout: Layout, change: impl Fn(Request) -> Request) -> Layout {
    Layout { request: change(layout.request), ..layout }
}

/// What leaves these parts of a message.
fn parts_of(request: Request, parts: Parts) -> Request {
    match parts {
        Parts::Complex => request,
        Parts::Real => Request { real: true, ..request },
        Parts::Pair => Request { method: Method::Merge, ..request },
    }
}

/// Bootstraps messages, which repeat over the ring, on a chain that leaves level 13. The results, which are at the message's
/// own size.
fn refresh(layout: &Layout, messages: &[Complex64]) -> Vec<Vec<Complex64>> {
    let (ring_slots, bound) = (layout.ring_slots, layout.request.bound);
    let e = ClearEvaluator::new(ring_slots, layout.moduli.clone(), 32, 20).unwrap();
    let plan = plan(layout).unwrap();
    assert_eq!(plan.output().level, 13);
    let all: Vec<_> = messages.iter().copied().cycle().take(ring_slots).collect();
    let fresh = e.encrypt(&all, plan.input().level, SCALE).unwrap();
    let pipeline = Pipeline::new(&e, plan).unwrap();
    let out = pipeline.run(&e, std::slice::from_ref(&fresh), &mut ()).unwrap();
    let values = |ct: &aglet_schemes::ckks::clear::ClearCiphertext| {
        assert_eq!((e.level(ct), e.scale(ct)), (13, SCALE * bound));
        let values: Vec<_> = ct.values().iter().map(|v| v * bound).collect();
        let repeats = values.chunks(messages.len()).all(|c| c.iter().zip(&values).all(|(a, b)| (a - b).norm() < 1e-6));
        assert!(repeats, "sparse slots repeat");
        values[..messages.len()].to_vec()
    };
    out.iter().map(values).collect()
}

/// (mean, worst) absolute error.
fn errors(found: &[Complex64], wanted: &[Complex64]) -> (f64, f64) {
    let errors = found.iter().zip(wanted).map(|(a, b)| (a - b).norm());
    errors.fold((0.0, 0.0), |(mean, worst), x| (mean + x / wanted.len() as f64, f64::max(worst, x)))
}

/// Bootstraps `messages` from level 3 to level 13 and returns (mean, worst) absolute error.
fn bootstrap(messages: &[Complex64], real: bool, bound: f64) -> (f64, f64) {
    let found = refresh(&asked(layout(messages.len()), |r| Request { bound, real, ..r }), messages);
    errors(&found[0], messages)
}

/// Points spread over the unit disc, or over `[-1, 1]`.
fn spread(slots: usize, real: bool) -> Vec<Complex64> {
    let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    let angle = |j: usize| if real { 0.0 } else { j as f64 * 2.399_963 };
    let radius = |j: usize| ((j as f64 + 0.5) / slots as f64).sqrt();
    (0..slots).map(|j| sign(j) * Complex64::from_polar(radius(j), angle(j))).collect()
}

fn assert_precision(name: &str, slots: usize, messages: &[Complex64], real: bool, bits: (f64, f64)) {
    assert_eq!((moduli().len(), slots), (TOP + 1, messages.len()));
    let (mean, worst) = bootstrap(messages, real, 1.0);
    let found = (-mean.log2(), -worst.log2());
    println!("{name}: {:.2} bits on average, {:.2} at worst", found.0, found.1);
    assert!(found.0 >= bits.0 && found.1 >= bits.1, "{name}: {found:?} bits, {bits:?} wanted");
}

/// The bits left by the sine series when real and imaginary part err on their own.
fn predicted(real: bool) -> f64 {
    let (parts, theta) = (if real { 1.0 } else { 2f64.sqrt() }, TAU / EvalMod::MESSAGE_RATIO);
    // Two harmonics err by a Chebyshev polynomial of degree 5, whose last zero is at 1.
    -(parts * theta.powi(4) / (480.0 * (TAU / 20.0).cos().powi(5))).log2()
}

#[test]
fn small_complex_and_real_messages_survive() {
    let slots = 1 << 6;
    let zeros = vec![Complex64::new(0.0, 0.0); slots];
    assert_precision("complex disc", slots, &spread(slots, false), false, (24.9, predicted(false) - 0.05));
    assert_precision("real interval", slots, &spread(slots, true), true, (25.5, predicted(true) - 0.05));
    assert_precision("zeros", slots, &zeros, false, (33.0, 31.5));
}

#[test]
fn messages_of_size_one_stay_what_they_are_bootstrap_for_bootstrap() {
    let slots = 1 << 6;
    let sign = |j: usize| if j.is_multiple_of(3) { -1.0 } else { 1.0 };
    let ones = vec![Complex64::new(1.0, 0.0); slots];
    let signs: Vec<_> = (0..slots).map(|j| Complex64::new(sign(j), 0.0)).collect();
    let corners: Vec<_> = (0..slots).map(|j| Complex64::new(sign(j), sign(j + 1))).collect();
    for (name, messages, real) in [("ones", ones, true), ("signs", signs, true), ("corners", corners, false)] {
        assert_precision(name, slots, &messages, real, (31.0, 30.0));
    }
}

/// Each bootstrap begins with what the one before it left. The sine series errs the same way each time, but at 0, 1 and -1,
/// which it leaves where they are; the polynomial errs by chance.
#[test]
fn a_thousand_bootstraps_do_not_move_signs() {
    let plan = plan(&layout(64)).unwrap();
    let e = ClearEvaluator::new(64, moduli(), 32, 20).unwrap();
    let pipeline = Pipeline::new(&e, plan).unwrap();
    let point = |j: usize| ((j % 3) as f64 - 1.0, (j / 3 % 3) as f64 - 1.0);
    let messages: Vec<_> = (0..64).map(|j| Complex64::new(point(j).0, point(j).1)).collect();
    let mut values = messages.clone();
    for _ in 0..1000 {
        let fresh = e.encrypt(&values, 3, SCALE).unwrap();
        values = pipeline.run(&e, &[fresh], &mut ()).unwrap()[0].values().to_vec();
    }
    let (mean, worst) = errors(&values, &messages);
    println!("{:.2} bits on average, {:.2} at worst", -mean.log2(), -worst.log2());
    assert!(-worst.log2() > 24.0);
}

#[test]
fn full_size_messages_survive() {
    let slots = 1 << 15;
    let ones = vec![Complex64::new(1.0, 0.0); slots];
    assert_precision("full size, complex disc", slots, &spread(slots, false), false, (24.9, predicted(false) - 0.05));
    assert_precision("full size, real interval", slots, &spread(slots, true), true, (25.5, predicted(true) - 0.05));
    assert_precision("full size, ones", slots, &ones, false, (31.0, 28.0));
}

#[test]
fn raised_primes_that_stand_for_message_primes_change_nothing() {
    let users = moduli()[..14].to_vec();
    let raised = |bits: i32, count: usize| {
        let primes = (1..=count).map(|i| 2f64.powi(bits) - i as f64 * 19.0 * 2f64.powi(17) + 1.0);
        let moduli = users[..4].iter().copied().chain(primes).chain(moduli()[14..].iter().copied()).collect();
        Layout { moduli, switched: Some(users.clone()), ..layout(64) }
    };
    let messages = spread(1 << 6, false);
    // 400 bits for 400, and 98 bits more, which a shift makes up for; the largest bound leaves the least room for them.
    for (raised, bound) in [(raised(50, 8), 1.0), (raised(50, 8), 131_072.0), (raised(49, 10), 131_072.0)] {
        for (parts, real) in [(Parts::Complex, false), (Parts::Real, true), (Parts::Pair, false)] {
            let large: Vec<_> = messages.iter().map(|m| m * bound).collect();
            let layout = asked(raised.clone(), |r| parts_of(Request { bound, ..r }, parts));
            let found = refresh(&layout, &large);
            let joined = |j: usize| match parts {
                Parts::Pair => Complex64::new(found[0][j].re, found[1][j].re),
                _ => found[0][j],
            };
            let wanted = |m: &Complex64| if real { Complex64::new(m.re, 0.0) } else { *m };
            let wanted: Vec<_> = large.iter().map(wanted).collect();
            let (_, worst) = errors(&(0..64).map(joined).collect::<Vec<_>>(), &wanted);
            assert!(-(worst / bound).log2() >= predicted(real) - 0.05, "{parts:?}, bound {bound}: {worst}");
        }
    }
    // The same where they stand for the primes of slots_to_coeffs too: 33 bits for each map are enough, of primes of 50.
    let small: Vec<f64> =
        users.iter().enumerate().map(|(i, &q)| if (1..4).contains(&i) { q / 128.0 } else { q }).collect();
    let primes = (1..=10).map(|i| 2f64.powi(50) - i as f64 * 19.0 * 2f64.powi(17) + 1.0);
    let moduli = std::iter::once(small[0]).chain(primes).chain(moduli()[14..].iter().copied()).collect();
    let all = Layout { moduli, switched: Some(small), shared: 1, ..layout(64) };
    for (parts, real) in [(Parts::Complex, false), (Parts::Real, true)] {
        let found = &refresh(&asked(all.clone(), |r| parts_of(r, parts)), &messages)[0];
        let wanted: Vec<_> = messages.iter().map(|m| if real { Complex64::new(m.re, 0.0) } else { *m }).collect();
        assert!(-errors(found, &wanted).1.log2() >= predicted(real) - 0.05, "{parts:?}");
    }
    let names: Vec<String> = plan(&all).unwrap().stages().iter().map(|stage| stage.name.clone()).collect();
    assert_eq!((names[0].as_str(), names.last().unwrap().as_str()), ("mod_switch 1/2", "mod_switch 2/2"));

    let mod_switch = |layout: &Layout| -> ModSwitch {
        match plan(layout).unwrap().stages().last().unwrap().step {
            SlotsFirst::ModSwitch(step) => step,
            _ => panic!("the last stage switches primes"),
        }
    };
    assert_eq!((mod_switch(&raised(50, 8)).shift, mod_switch(&raised(49, 10)).level), (0, 13));
    assert!((80..92).contains(&mod_switch(&raised(49, 10)).shift));
}

#[test]
fn large_messages_err_in_proportion_to_their_bound() {
    for bound in [100.0, 131_072.0] {
        let messages: Vec<_> = spread(1 << 6, false).iter().map(|m| m * bound).collect();
        let (_, worst) = bootstrap(&messages, false, bound);
        assert!(-(worst / bound).log2() >= predicted(false) - 0.05);
    }
}

/// The layout on a chain whose top has the primes that coeffs_to_slots spends, and one level more if it unpacks.
fn with_levels(layout: Layout) -> Layout {
    let mut moduli = moduli();
    moduli.truncate(14);
    let near = |bits: i32, i: usize| 2f64.powi(bits) - (200 + 13 * i) as f64 * 2f64.powi(17) + 1.0;
    moduli.extend((0..usize::from(layout.packed)).map(|i| near(40, i)));
    moduli.extend((0..layout.function.levels()).map(|i| near(50, i)));
    moduli.extend((0..layout.coeffs_to_slots_levels()).map(|i| near(if i < 3 { 48 } else { 40 }, i)));
    Layout { moduli, ..layout }
}

#[test]
fn sparse_slots_are_refreshed_by_one_evaluation() {
    let ring_slots = 1 << 6;
    for log_slots in 0..=6 {
        use KeySize::{Large, Small};
        for (stages, size, parts) in [(1, Large, Parts::Complex), (2, Small, Parts::Complex), (1, Small, Parts::Real)] {
            let slots = 1 << log_slots;
            let packed = parts == Parts::Complex && slots < ring_slots;
            let request = Request::new(Method::Regular, stages.min(log_slots.max(1)), size, slots);
            let layout = Layout { request: parts_of(request, parts), ring_slots, packed, ..layout(slots) };
            let messages = spread(slots, parts == Parts::Real);
            let found = refresh(&with_levels(layout), &messages);
            let (_, worst) = errors(&found[0], &messages);
            assert!(-worst.log2() >= predicted(false) - 0.05, "{slots} slots: {} bits", -worst.log2());
        }
    }
}

#[test]
fn every_number_of_stages_and_every_size_of_keys_give_the_same() {
    let messages = spread(1 << 6, false);
    for up in 1..=5 {
        for size in [KeySize::Small, KeySize::Medium, KeySize::Large] {
            let layout = asked(layout(1 << 6), |r| Request { stage_count: up, size, ..r });
            let (_, worst) = errors(&refresh(&with_levels(layout), &messages)[0], &messages);
            assert!(-worst.log2() >= predicted(false) - 0.05);
        }
    }
}

#[test]
fn keys_carry_the_first_map_or_a_part_of_the_trace() {
    // Copies times diagonals of the first map: within what is carried, or the trace alone, all or half of it, or neither.
    for (ring_slots, slots, stages, names) in [
        (1 << 8, 1 << 8, 3, vec!["mod_raise, coeffs_to_slots 1/3", "coeffs_to_slots 2/3", "coeffs_to_slots 3/3"]),
        (1 << 8, 1 << 8, 4, vec!["mod_raise, coeffs_to_slots 1/4", "coeffs_to_slots 2/4"]),
        (1 << 8, 1 << 7, 2, vec!["mod_raise, coeffs_to_slots 1/2", "coeffs_to_slots 2/2"]),
        (1 << 10, 1 << 4, 2, vec!["mod_raise, trace", "trace", "coeffs_to_slots 1/2"]),
        (1 << 8, 1 << 4, 1, vec!["mod_raise, trace", "coeffs_to_slots", "rescale", "eval_mod"]),
        (1 << 8, 1 << 8, 1, vec!["mod_raise", "coeffs_to_slots", "rescale", "eval_mod"]),
    ] {
        let request = Request::new(Method::Regular, stages, KeySize::Large, slots);
        let packed = slots < ring_slots;
        let layout = with_levels(Layout { request, ring_slots, packed, ..layout(slots) });
        let plan = plan(&layout).unwrap();
        let found: Vec<&str> = plan.stages().iter().map(|s| s.name.as_str()).collect();
        assert!(found.windows(names.len()).any(|w| w == names), "{found:?}");
        assert_eq!(layout.moduli.len() - 1, plan.stages().iter().map(|s| s.to.level).max().unwrap());
        let messages = spread(slots, false);
        let (_, worst) = errors(&refresh(&layout, &messages)[0], &messages);
        assert!(-worst.log2() >= predicted(false) - 0.05, "{slots} slots: {} bits", -worst.log2());
    }
}

#[test]
fn signs_and_bits_are_cleaned() {
    let (slots, error) = (1 << 6, 1e-3);
    let sign = |j: usize| if j.is_multiple_of(3) { -1.0 } else { 1.0 };
    let noise = |j: usize| error * (j as f64 * 1.7).sin();
    for (function, parts) in [
        (Function::Sign { normalized: false }, Parts::Real),
        (Function::Sign { normalized: false }, Parts::Complex),
        (Function::Sign { normalized: true }, Parts::Complex),
        (Function::Bits { normalized: false }, Parts::Real),
        (Function::Bits { normalized: false }, Parts::Pair),
        (Function::Bits { normalized: true }, Parts::Complex),
    ] {
        let point = |j: usize| if matches!(&function, Function::Bits { .. }) { (1.0 + sign(j)) / 2.0 } else { sign(j) };
        let part = |j: usize| if parts == Parts::Real { 0.0 } else { point(j) };
        let exact: Vec<_> = (0..slots).map(|j| Complex64::new(point(j), part(j + 1))).collect();
        let messages: Vec<_> =
            exact.iter().enumerate().map(|(j, z)| z * (1.0 + Complex64::new(noise(j), 0.0))).collect();
        let layout = Layout { function: function.clone(), ..asked(layout(slots), |r| parts_of(r, parts)) };
        let found = refresh(&with_levels(layout), &messages);
        let wanted: Vec<Vec<_>> = match parts {
            Parts::Pair => {
                vec![exact.iter().map(|z| z.re.into()).collect(), exact.iter().map(|z| z.im.into()).collect()]
            }
            _ => vec![exact],
        };
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            // Sign: (pi e)^2 / 8; bits: (pi e)^2 / 4; both parts may err.
            let bound = 1.5 * (std::f64::consts::PI * error).powi(2) / 4.0;
            let (_, worst) = errors(found, wanted);
            assert!(worst < bound && worst > bound / 100.0, "{function:?}: {worst:e}");
        }
    }
}

#[test]
fn a_pair_is_the_real_and_imaginary_part() {
    let messages = spread(1 << 6, false);
    let found = refresh(&asked(layout(1 << 6), |r| parts_of(r, Parts::Pair)), &messages);
    let [re, im] = &found[..] else { panic!("two results") };
    for ((a, b), m) in re.iter().zip(im).zip(&messages) {
        assert!((a - m.re).norm() < 1e-7 && (b - m.im).norm() < 1e-7);
    }
}

#[test]
fn plans_that_cannot_run_are_refused() {
    assert!(plan(&Layout { moduli: moduli()[..12].to_vec(), ..layout(64) }).is_err());
    for bound in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(plan(&asked(layout(64), |r| Request { bound, ..r })).is_err());
    }
    let plan = plan(&layout(64)).unwrap();
    let mut other = layout(64);
    other.moduli[0] *= 2.0;
    assert!(plan.check(&other.moduli).is_err());
}

#[test]
fn a_probe_sees_every_stage_and_can_stop() {
    struct Stop(usize);
    impl aglet_bootstrap::Probe for Stop {
        fn stage(&mut self, _: &str, done: usize, total: usize, _: Option<std::time::Duration>) -> bool {
            assert_eq!(total, 10);
            done < self.0
        }
    }
    let e = ClearEvaluator::new(64, moduli(), 32, 20).unwrap();
    let plan = plan(&layout(64)).unwrap();
    let pipeline = Pipeline::new(&e, plan).unwrap();
    let fresh = e.encrypt(&spread(64, false), 3, SCALE).unwrap();
    assert_eq!(
        pipeline.run(&e, std::slice::from_ref(&fresh), &mut Stop(5)).unwrap_err(),
        aglet_bootstrap::Error::Cancelled
    );
    assert!(pipeline.run(&e, std::slice::from_ref(&fresh), &mut Stop(11)).is_ok());
}
