//! Bootstraps at their real sizes: feature `long`.
#![cfg(feature = "long")]

use aglet::ckks::{precision, Engine, KeySize, Method};
use aglet::{presets, Control};
use aglet_testing::fixture::Fixture;
use aglet_testing::statistics::Precision;
use num_complex::Complex64;
use std::time::Instant;

/// All cores on a secure preset.
fn full(preset: &str, slots: Option<usize>) -> Fixture {
    Fixture::of(Engine::new(presets::load(preset, false).unwrap(), slots, 0).unwrap())
}

/// Refreshes four kinds of messages with a preset: its level, its claimed precision, and the prediction within 1.5 bits.
fn at_full_size(preset: &str, level: usize, worst_wanted: f64) {
    let params = presets::load(preset, false).unwrap();
    let claimed = params.literal().claims.as_ref().unwrap().precision_bits.unwrap();
    let f = Fixture::of(Engine::new(params, None, 1).unwrap());
    let n = f.engine.slots();
    let request = f.request(Method::Regular, 3, KeySize::Large);
    let predicted = precision::precision(&f.engine.route(request).unwrap(), false).unwrap();
    println!("{preset}: predicted {:.2} bits, worst {:.2}", predicted.mean_bits, predicted.worst_bits);
    let start = Instant::now();
    let key = f.key(request);
    println!("bootstrap key: {:.2} s, {:.2} GB", start.elapsed().as_secs_f64(), key.byte_count() as f64 / 1e9);
    let start = Instant::now();
    f.engine.prepare_bootstrap(&key, &Control::new()).unwrap();
    println!("linear maps: {:.2} s", start.elapsed().as_secs_f64());
    let real = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<_>>();
    let messages = [
        ("uniform", real(&|j| -1.0 + 2.0 * j as f64 / (n - 1) as f64)),
        ("constant", real(&|_| 1.0)),
        ("alternating", real(&|j| if j % 2 == 0 { 1.0 } else { -1.0 })),
        ("spike", real(&|j| if j == 0 { 1.0 } else { 0.0 })),
    ];
    for (name, message) in messages {
        let ct = f.encrypt(&message, 0);
        let start = Instant::now();
        let out = f.bootstrap(&[&ct], &key, request).unwrap().remove(0);
        let seconds = start.elapsed().as_secs_f64();
        let Precision { mean, worst } = f.precision(&out, &message);
        println!("{name}: {seconds:.2} s, {mean:.2} bits, worst {worst:.2}");
        for (stage, t) in f.engine.stage_times() {
            println!("    {stage:22} {t:.3} s");
        }
        assert_eq!(f.engine.level(&out).unwrap(), level);
        assert!(worst >= worst_wanted, "{name}: {mean} {worst}");
        if name == "uniform" {
            assert!(mean >= claimed && (mean - predicted.mean_bits).abs() <= 1.5, "{mean} {predicted:?}");
        }
    }
    println!("peak memory {:.2} GB", aglet::runtime::machine::peak_rss().unwrap_or(0) as f64 / 1e9);
}

#[test]
fn regular() {
    at_full_size("regular", 10, 18.0);
}

#[test]
fn compact() {
    at_full_size("compact", 10, 15.0);
}

#[test]
fn to_14_levels() {
    at_full_size("to14", 14, 15.0);
}

#[test]
fn to_14_levels_compact() {
    at_full_size("to14-compact", 14, 14.0);
}

#[test]
fn param15() {
    at_full_size("param15", 2, 16.0);
}

/// Mean bits of a regular bootstrap of few or all slots, in so many iterations.
fn iterated(preset: &str, slots: Option<usize>, iterations: usize) -> f64 {
    let f = full(preset, slots);
    let n = f.engine.slots();
    let request = f.request(Method::Regular, 3, KeySize::Large);
    let key = f.key(request);
    let z: Vec<_> = (0..n).map(|j| Complex64::from_polar(1.0, 2.4 * j as f64)).collect();
    let cts = [&f.encrypt(&z, 0)];
    let out = f.engine.bootstrap_iterated(&cts, f.keys(&key), request, iterations, &Control::new()).unwrap().remove(0);
    let bits = f.precision(&out, &z).mean;
    println!("{preset}, {n} slots, {iterations} iterations: {bits:.2} bits");
    bits
}

#[test]
fn precise() {
    at_full_size("precise", 10, 18.0);
}

/// The figure to reach is 27.4 bits at 9 levels.
#[test]
fn one_pass() {
    at_full_size("precise-single", 9, 25.0);
}

#[test]
fn two_iterations_double_the_precision() {
    assert!(iterated("precise", None, 2) >= 34.5);
    assert!(iterated("precise", Some(32), 2) >= 38.0);
}

#[test]
fn two_iterations_reach_45_bits_where_the_scale_allows_them() {
    assert!(iterated("precise-45", None, 2) >= 45.0);
    assert!(iterated("precise-45", Some(32), 2) >= 49.0);
}

/// Predictions within 1.5 bits of bootstraps of the grid, or of signs, with one key of the lossy or the regular kind.
fn as_predicted(preset: &str, slots: Option<usize>, methods: &[Method]) {
    let f = full(preset, slots);
    let n = f.engine.slots();
    let request = |method| f.request(method, 3, KeySize::Large);
    let key = f.key(request(methods[0]));
    for &method in methods {
        let value = |j: usize| match method {
            Method::Sign => 1.0 - 2.0 * (j % 2) as f64,
            _ => -1.0 + 2.0 * j as f64 / (n - 1) as f64,
        };
        let z: Vec<_> = (0..n).map(value).collect();
        let out = f.bootstrap(&[&f.encrypt(&z, 3)], &key, request(method)).unwrap().remove(0);
        let bits = f.precision(&out, &z).mean;
        let predicted = precision::precision(&f.engine.route(request(method)).unwrap(), false).unwrap().mean_bits;
        println!("{preset}, {n} slots, {}: {bits:.2} bits, predicted {predicted:.2}", method.name());
        assert!((bits - predicted).abs() <= 1.5, "{preset}, {n} slots, {}: {bits} {predicted}", method.name());
    }
}

#[test]
fn lossy_and_sign_are_as_predicted() {
    as_predicted("regular", None, &[Method::Lossy, Method::Sign]);
}

#[test]
fn sparse_slots_are_as_predicted() {
    as_predicted("regular", Some(64), &[Method::Lossy, Method::Sign]);
    as_predicted("compact", Some(2048), &[Method::Regular]);
}

#[test]
fn large_primes_are_as_predicted() {
    as_predicted("precise-45", None, &[Method::Regular]);
}
