//! A whole bootstrap by SHIP on numbers in the clear: nothing is left but the sine, or the cosine of bits.

use aglet_bootstrap::ckks::params;
use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::ship::{error_of_sine, plan};
use aglet_bootstrap::Pipeline;
use aglet_rlwe::security::Security;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::Evaluator;
use num_complex::Complex64;
use std::f64::consts::{PI, TAU};

/// What comes back of a message, with the bound taken out.
fn refreshed(text: &str, request: impl Fn(Request) -> Request, message: &[Complex64]) -> Vec<Complex64> {
    let params = params(text, Security::NotChecked).unwrap();
    let request = request(Request::new(Method::Regular, 1, KeySize::Large, params.slots()));
    let plan = plan(&params, request).unwrap();
    let moduli = params.q().iter().map(|&q| q as f64).collect();
    let e = ClearEvaluator::new(params.slots(), moduli, 31, 5).unwrap();
    let input = e.encrypt(message, plan.input().level, plan.input().scale).unwrap();
    let (end, pipeline) = (plan.output(), Pipeline::new(&e, plan).unwrap());
    let out = pipeline.run(&e, &[input], &mut ()).unwrap();
    assert_eq!((out.len(), e.level(&out[0]), end.level), (1, 2, 2));
    assert!((end.scale / (params.scale_at(1) * request.bound) - 1.0).abs() < 1e-12);
    out[0].values().iter().map(|v| v * request.bound).collect()
}

fn worst(found: &[Complex64], wanted: impl Iterator<Item = Complex64>) -> f64 {
    found.iter().zip(wanted).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
}

const TOY: &str = include_str!("../../aglet/presets/ckks/toy-ship.toml");

#[test]
fn numbers_come_back_as_the_sine_of_both_parts() {
    let message: Vec<Complex64> = (0..512).map(|j| Complex64::from_polar(1.0, 0.7 * f64::from(j))).collect();
    let sine = |x: f64| (1.0 + (PI / 1024.0).powi(2) / 2.0) * 1024.0 / TAU * (TAU * x / 1024.0).sin();
    // The stretched sine is nowhere farther from the number than a quarter of its cube.
    let cube = (TAU / 1024.0_f64).powi(2) / 6.0;
    let farthest = (0..=1000).map(|j| f64::from(j) / 1000.0).map(|x| (sine(x) - x).abs()).fold(0.0, f64::max);
    assert!(
        (farthest / cube - 0.25).abs() < 1e-3 && (farthest / error_of_sine(1024.0) - 1.0).abs() < 1e-3,
        "{farthest}"
    );
    let both = |bound: f64| message.iter().map(move |z| bound * Complex64::new(sine(z.re), sine(z.im)));
    let found = refreshed(TOY, |r| r, &message);
    // Doubles of the size of the sine, 1024 over a turn.
    let rounding = 1e-14 * 1024.0 / TAU;
    assert!(worst(&found, both(1.0)) < 2.0 * rounding, "{}", worst(&found, both(1.0)));
    let larger: Vec<Complex64> = message.iter().map(|z| 64.0 * z).collect();
    let found = refreshed(TOY, |r| Request { bound: 64.0, ..r }, &larger);
    assert!(worst(&found, both(64.0)) < 128.0 * rounding);
    let real = refreshed(TOY, |r| Request { real: true, ..r }, &message);
    let wanted = message.iter().map(|z| Complex64::new(sine(z.re), 0.0));
    assert!(worst(&real, wanted) < 2.0 * rounding);
}

#[test]
fn bits_come_back_clean() {
    let message: Vec<Complex64> = (0..512).map(|j| Complex64::new(f64::from(j % 2) + 0.01, 0.0)).collect();
    let found = refreshed(TOY, |r| Request { method: Method::Bits, real: true, ..r }, &message);
    let wanted = message.iter().map(|z| Complex64::new(0.5 - 0.5 * (PI * z.re).cos(), 0.0));
    assert!(worst(&found, wanted) < 1e-12);
    let twice = refreshed(TOY, |r| Request { method: Method::Bits, ..r }, &message);
    assert!(twice.iter().zip(&message).all(|(x, z)| (x.re - z.re.round()).abs() < 3e-4 && x.im.abs() < 3e-4));
}

#[test]
fn few_slots_come_back_as_the_sine_of_both_parts() {
    let sine = |x: f64| (1.0 + (PI / 1024.0).powi(2) / 2.0) * 1024.0 / TAU * (TAU * x / 1024.0).sin();
    let rounding = 1e-14 * 1024.0 / TAU;
    // In a ring of 512 slots 32 factors leave room for 16.
    for slots in [1, 2, 8, 16] {
        let few: Vec<Complex64> = (0..slots).map(|j| Complex64::from_polar(1.0, 0.7 * j as f64 + 0.2)).collect();
        let message: Vec<Complex64> = few.iter().copied().cycle().take(512).collect();
        let both = |bound: f64| message.iter().map(move |z| bound * Complex64::new(sine(z.re), sine(z.im)));
        let found = refreshed(TOY, |r| Request { slots, ..r }, &message);
        assert!(worst(&found, both(1.0)) < 4.0 * rounding, "{slots}: {}", worst(&found, both(1.0)));
        let larger: Vec<Complex64> = message.iter().map(|z| 64.0 * z).collect();
        let found = refreshed(TOY, |r| Request { slots, bound: 64.0, ..r }, &larger);
        assert!(worst(&found, both(64.0)) < 256.0 * rounding, "{slots}: {}", worst(&found, both(64.0)));
        let bits: Vec<Complex64> = (0..512).map(|j| Complex64::new((j % slots % 2) as f64 + 0.01, 0.0)).collect();
        let found = refreshed(TOY, |r| Request { slots, method: Method::Bits, real: true, ..r }, &bits);
        let wanted = bits.iter().map(|z| Complex64::new(0.5 - 0.5 * (PI * z.re).cos(), 0.0));
        assert!(worst(&found, wanted) < 1e-12);
    }
}
