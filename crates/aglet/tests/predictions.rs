//! The model of precision against what bootstraps measure: every method, sparse slots, and the chains of all presets, each in a
//! ring of degree 2^10. `real.rs` compares them at their real size.

use aglet::ckks::CkksParams;
use aglet::ckks::{precision, BootstrapKeys, Engine, KeySize, Method, Request};
use aglet::{presets, Control};
use aglet_rlwe::security::Security;

/// What the mean may be off, and what it may be where few slots are few draws of the noise.
const BITS: f64 = 0.5;
const FEW_SLOTS_BITS: f64 = 1.5;
/// What the worst slot may be off: it is one draw of many.
const WORST_BITS: f64 = 2.5;

/// The parameters of a preset in a ring that is far too small for them.
fn shrunk(preset: &str) -> CkksParams {
    let text = presets::ALL.iter().find(|(name, _)| *name == preset).unwrap().1;
    let ring = text.lines().find(|line| line.starts_with("log_n")).unwrap();
    CkksParams::from_toml(&text.replace(ring, "log_n = 10"), Security::NotChecked).unwrap()
}

/// The message that the model takes.
fn message(method: Method, n: usize, bound: f64) -> Vec<f64> {
    let value = |j: usize| match method {
        Method::Sign => 1.0 - 2.0 * (j % 2) as f64,
        Method::Bits => (j % 2) as f64,
        _ => bound * (2.0 * j as f64 / (n.max(2) - 1) as f64 - 1.0),
    };
    (0..n).map(value).collect()
}

/// `-log2` of the mean and the largest error of bootstraps: few slots are averaged over more of them.
fn measured(engine: &Engine, request: Request) -> (f64, f64) {
    let sk = engine.create_secret_key().unwrap();
    let relinearisation = &engine.create_relinearisation_key(&sk).unwrap();
    let conjugation = &engine.create_conjugation_key(&sk).unwrap();
    let bootstrap = &engine.create_bootstrap_key(&sk, request, None, &Control::new()).unwrap();
    let keys = BootstrapKeys { relinearisation, conjugation, bootstrap, rotation: None };
    let z = message(request.method, engine.slots(), request.bound);
    let input = if request.method.keys() == Method::Lossy { request.stage_count } else { 0 };
    let mut errors = Vec::new();
    while errors.len() < 32 {
        let ct = engine.encrypt_with_secret(&engine.encode(&z, input).unwrap(), &sk).unwrap();
        let cts = vec![&ct; if request.method.pairs() { 2 } else { 1 }];
        for out in engine.bootstrap(&cts, keys, request, &Control::new()).unwrap() {
            let found = engine.decrypt(&out, &sk).unwrap();
            errors.extend(found.iter().zip(&z).map(|(a, b)| (a - b).norm()));
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (-mean.log2(), -errors.iter().copied().fold(0.0, f64::max).log2())
}

fn assert_predicted(params: CkksParams, slots: Option<usize>, choose: impl Fn(Request) -> Request) {
    let (name, engine) = (params.name().to_string(), Engine::new(params, slots, 2).unwrap());
    let stages = (engine.slots().ilog2() as usize).clamp(1, 3);
    let request = choose(Request::new(Method::Regular, stages, KeySize::Large, engine.slots()));
    let predicted = precision::precision(&engine.route(request).unwrap(), false).unwrap();
    let (mean, worst) = measured(&engine, request);
    println!(
        "{name}, {request:?}: {mean:.2} bits, predicted {:.2}; worst {worst:.2}, predicted {:.2}",
        predicted.mean_bits, predicted.worst_bits
    );
    let bound = if engine.slots() >= 16 { BITS } else { FEW_SLOTS_BITS };
    assert!((mean - predicted.mean_bits).abs() < bound, "{name}, {request:?}: {mean} {predicted:?}");
    if engine.slots() >= 64 {
        assert!((worst - predicted.worst_bits).abs() < WORST_BITS, "{name}, {request:?}: {worst} {predicted:?}");
    }
}

#[test]
fn of_every_method() {
    for &method in Method::ALL {
        assert_predicted(shrunk("toy"), None, |r| Request { method, ..r });
    }
    for (bound, real) in [(1.0, true), (64.0, false), (0.01, false)] {
        for method in [Method::Regular, Method::Lossy] {
            assert_predicted(shrunk("toy"), None, |r| Request { method, bound, real, ..r });
        }
    }
}

#[test]
fn of_sparse_slots() {
    for slots in [1, 16, 256] {
        for method in [Method::Regular, Method::Lossy, Method::Sign] {
            assert_predicted(shrunk("toy"), Some(slots), |r| Request { method, ..r });
        }
        assert_predicted(shrunk("toy"), Some(slots), |r| Request { real: true, ..r });
    }
    for preset in ["compact", "param15"] {
        assert_predicted(shrunk(preset), Some(32), |r| r);
    }
}

#[test]
fn of_key_sizes_and_stage_counts() {
    for (stage_count, size) in [(1, KeySize::Large), (2, KeySize::Medium), (5, KeySize::Large)] {
        assert_predicted(shrunk("toy"), None, |r| Request { stage_count, size, ..r });
    }
    assert_predicted(shrunk("toy"), None, |r| Request { target_level: Some(0), ..r });
}

#[test]
fn of_the_chain_of_every_preset() {
    let able = presets::ALL.iter().map(|(name, _)| shrunk(name)).filter(presets::can_bootstrap);
    let mut count = 0;
    for params in able {
        assert_predicted(params, None, |r| r);
        count += 1;
    }
    assert!(count >= 9, "{count} presets");
}
