//! Functional bootstraps on numbers in the clear: every entry of tables, both parts, several tables, smooth functions.

use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::{EvalMod, Function, Functional};
use aglet_bootstrap::ckks::slots_first::{plan, Layout};
use aglet_bootstrap::Pipeline;
use aglet_circuits::Trigonometric;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::Evaluator;
use num_complex::Complex64;
use std::sync::Arc;

const SCALE: f64 = 1_099_511_627_776.0; // 2^40
/// The level of results, and the primes of slots_to_coeffs.
const LEVEL: usize = 4;
const HIDDEN: usize = 3;

fn layout(slots: usize, functional: &Arc<Functional>, request: impl Fn(Request) -> Request) -> Layout {
    let near = |bits: i32, place: usize| 2f64.powi(bits) - (11 + 2 * place) as f64 * 2f64.powi(17) + 1.0;
    let function = Function::Functional(functional.clone());
    let mut moduli = vec![near(47, 0)];
    moduli.extend((0..HIDDEN + LEVEL).map(|i| near(40, i)));
    // What is below the exponential: 41 bits, but for the first.
    moduli.extend((0..function.levels() - 9).map(|i| near(41, i)));
    moduli.extend((0..9).map(|i| near(50, i)));
    moduli.extend((0..3).map(|i| near(48, i)));
    Layout {
        request: request(Request::new(Method::Regular, 3, KeySize::Small, slots)),
        ring_slots: slots,
        function,
        packed: false,
        level: LEVEL,
        moduli,
        switched: None,
        shared: 4,
        hidden: HIDDEN,
        sparse_weight: 32,
        message_ratio: EvalMod::MESSAGE_RATIO,
        scale_in: SCALE,
        scale_out: SCALE,
    }
}

fn bootstrap(layout: &Layout, messages: &[Complex64]) -> Vec<Vec<Complex64>> {
    let e = ClearEvaluator::new(layout.ring_slots, layout.moduli.clone(), 32, 20).unwrap();
    let plan = plan(layout).unwrap();
    let fresh = e.encrypt(messages, plan.input().level, SCALE).unwrap();
    let pipeline = Pipeline::new(&e, plan).unwrap();
    let out = pipeline.run(&e, std::slice::from_ref(&fresh), &mut ()).unwrap();
    assert!(out.iter().all(|ct| (e.level(ct), e.scale_of(ct)) == (HIDDEN + LEVEL, SCALE)));
    out.iter().map(|ct| ct.values().to_vec()).collect()
}

use aglet_schemes::Forms;

fn worst(found: &[Complex64], wanted: &[Complex64]) -> f64 {
    found.iter().zip(wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Irregular entries between 0 and 1.
fn entries(p: usize, seed: f64) -> Vec<f64> {
    (0..p).map(|m| 0.5 + 0.5 * (m as f64 * 2.7 + seed).sin()).collect()
}

/// Every entry in some slot, in both parts.
fn messages(p: usize, low: f64, step: f64, slots: usize) -> Vec<Complex64> {
    let value = |m: usize| low + step * (m % p) as f64;
    (0..slots).map(|j| Complex64::new(value(j), value(3 * j + 1))).collect()
}

#[test]
fn every_entry_of_a_table() {
    for (p, order, low, step) in [
        (2, 1, 0.0, 1.0),
        (3, 1, -1.0, 1.0),
        (4, 1, 0.0, 0.25),
        (4, 3, 0.0, 1.0),
        (16, 1, 0.0, 1.0),
        (16, 2, -8.0, 1.0),
        (16, 3, 0.0, 1.0),
        (100, 1, 0.5, 2.0),
        (256, 1, 0.0, 1.0),
    ] {
        let (f, g) = (entries(p, 0.3), entries(p, 1.1));
        let tables: Vec<[&[f64]; 2]> = vec![[&f, &f], [&g, &f]];
        for count in [1, 2] {
            let functional = Arc::new(Functional::tables(&tables[..count], low, step, order).unwrap());
            for real in [false, true] {
                let layout = layout(256, &functional, |r| Request { real, ..r });
                let mut inputs = messages(p, low, step, 256);
                if real {
                    inputs.iter_mut().for_each(|z| z.im = 0.0);
                }
                let found = bootstrap(&layout, &inputs);
                let parts = layout.request.parts();
                let wanted = functional.values(&inputs, parts);
                assert_eq!(found.len(), count);
                for (number, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                    let error = worst(found, wanted);
                    println!("{p} {order} {count} {real} {number}: 2^{:.1}", error.log2());
                    assert!(error < 2f64.powi(-24), "p = {p}, order {order}, table {number}: 2^{}", error.log2());
                }
            }
        }
    }
}

#[test]
fn errors_are_squared_as_the_law_says() {
    let (p, slots, error) = (16, 256, 2f64.powi(-9));
    let f = entries(p, 0.3);
    let functional = Arc::new(Functional::tables(&[[&f, &f]], 0.0, 1.0, 1).unwrap());
    let exact = messages(p, 0.0, 1.0, slots);
    let noisy: Vec<Complex64> = exact.iter().map(|z| z + Complex64::new(error, -error)).collect();
    let found = &bootstrap(&layout(slots, &functional, |r| r), &noisy)[0];
    let most = functional.sensitivity().square * error * error;
    let error = worst(found, &functional.values(&exact, aglet_bootstrap::ckks::request::Parts::Complex)[0]);
    assert!(error < 1.5 * most && error > 0.2 * most, "{error} {most}");
}

#[test]
fn messages_count_modulo_the_entries() {
    let p = 16;
    let f = entries(p, 0.3);
    let functional = Arc::new(Functional::tables(&[[&f, &f]], 0.0, 1.0, 1).unwrap());
    let inputs = messages(p, 0.0, 1.0, 256);
    let beyond: Vec<Complex64> = inputs.iter().map(|z| z + Complex64::new(16.0, -32.0)).collect();
    let layout = layout(256, &functional, |r| r);
    let (a, b) = (bootstrap(&layout, &inputs), bootstrap(&layout, &beyond));
    assert!(worst(&a[0], &b[0]) < 2f64.powi(-22));
}

#[test]
fn a_function_by_its_fourier_series() {
    // cos, of which the coefficients are known: half of it in z.
    let c = |re| Complex64::new(re, 0.0);
    let f = Trigonometric::new(vec![c(0.25), c(0.5), c(0.0), Complex64::new(0.0, 0.125)]).unwrap();
    let points: Vec<f64> = (0..64).map(|j| f64::from(j) / 32.0 - 1.0).collect();
    let functional = Arc::new(Functional::new(4.0, points.clone(), vec![[f.clone(), f]]).unwrap());
    let inputs: Vec<Complex64> = (0..64).map(|j| Complex64::new(points[j], points[63 - j])).collect();
    let found = bootstrap(&layout(64, &functional, |r| r), &inputs);
    let wanted = functional.values(&inputs, aglet_bootstrap::ckks::request::Parts::Complex);
    assert!(worst(&found[0], &wanted[0]) < 2f64.powi(-24));
}
