//! The model of precision against what bootstraps measure: every method, sparse slots, and the chains of all presets, each in a
//! ring of degree 2^10. `real.rs` compares them at their real size.

use aglet::ckks::presets;
use aglet::ckks::{precision, BootstrapCircuit, BootstrapKind, CkksParams, Engine, KeySize, Method, Request};
use aglet_testing::fixture::{shrunk, Fixture};
use aglet_testing::statistics::{self, Precision};

/// What the mean may be off, and what it may be where few slots are few draws of the noise.
const BITS: f64 = 0.5;
const FEW_SLOTS_BITS: f64 = 1.5;
/// What the worst slot may be off: it is one draw of many.
const WORST_BITS: f64 = 2.5;

/// The message that the model takes.
fn message(method: Method, n: usize, bound: f64) -> Vec<f64> {
    let value = |j: usize| match method {
        Method::Sign => 1.0 - 2.0 * (j % 2) as f64,
        Method::Bits => (j % 2) as f64,
        _ => bound * (2.0 * j as f64 / (n.max(2) - 1) as f64 - 1.0),
    };
    (0..n).map(value).collect()
}

/// How exact bootstraps are: few slots are averaged over more of them. The mean of 32 errors of signs is [`BITS`] off in one of
/// seventy runs, and that of 256 is six deviations away from it.
fn measured(f: &Fixture, request: Request) -> Precision {
    let key = f.key(request);
    let z = message(request.method, f.engine.slots(), request.bound);
    let input = if request.method.keys() == Method::Lossy { request.stage_count } else { 0 };
    let mut errors = Vec::new();
    while errors.len() < (16 * z.len()).clamp(32, 256) {
        let ct = f.encrypt(&z, input);
        let cts = vec![&ct; if request.method.pairs() { 2 } else { 1 }];
        for out in f.bootstrap(&cts, &key, request).unwrap() {
            let found = f.engine.decrypt(&out, &f.sk).unwrap();
            errors.extend(found.iter().zip(&z).map(|(a, b)| (a - b).norm()));
        }
    }
    statistics::precision(&errors)
}

fn assert_predicted(params: CkksParams, slots: Option<usize>, choose: impl Fn(Request) -> Request) {
    let (name, f) = (params.name().to_string(), Fixture::of(Engine::new(params, slots, 2).unwrap()));
    let request = choose(f.default_request(Method::Regular, KeySize::Large));
    let predicted = precision::precision(&f.engine.circuit(request).unwrap(), false).unwrap();
    let Precision { mean, worst } = measured(&f, request);
    println!(
        "{name}, {request:?}: {mean:.2} bits, predicted {:.2}; worst {worst:.2}, predicted {:.2}",
        predicted.mean_bits, predicted.worst_bits
    );
    let bound = if f.engine.slots() >= 16 { BITS } else { FEW_SLOTS_BITS };
    assert!((mean - predicted.mean_bits).abs() < bound, "{name}, {request:?}: {mean} {predicted:?}");
    if f.engine.slots() >= 64 {
        assert!((worst - predicted.worst_bits).abs() < WORST_BITS, "{name}, {request:?}: {worst} {predicted:?}");
    }
}

#[test]
fn of_every_method() {
    for &method in Method::ALL {
        assert_predicted(shrunk("toy", 10), None, |r| Request { method, ..r });
    }
    for (bound, real) in [(1.0, true), (64.0, false), (0.01, false)] {
        for method in [Method::Regular, Method::Lossy] {
            assert_predicted(shrunk("toy", 10), None, |r| Request { method, bound, real, ..r });
        }
    }
}

#[test]
fn of_sparse_slots() {
    for slots in [1, 16, 256] {
        for method in [Method::Regular, Method::Lossy, Method::Sign] {
            assert_predicted(shrunk("toy", 10), Some(slots), |r| Request { method, ..r });
        }
        assert_predicted(shrunk("toy", 10), Some(slots), |r| Request { real: true, ..r });
    }
    for preset in ["compact", "param15"] {
        assert_predicted(shrunk(preset, 10), Some(32), |r| r);
    }
}

#[test]
fn of_key_sizes_and_stage_counts() {
    for (stage_count, size) in [(1, KeySize::Large), (2, KeySize::Medium), (5, KeySize::Large)] {
        assert_predicted(shrunk("toy", 10), None, |r| Request { stage_count, size, ..r });
    }
    assert_predicted(shrunk("toy", 10), None, |r| Request { target_level: Some(0), ..r });
}

#[test]
fn of_the_chain_of_every_preset() {
    let able = presets::ALL.iter().map(|(name, _)| shrunk(name, 10)).filter(presets::can_bootstrap);
    let mut count = 0;
    for params in able {
        assert_predicted(params, None, |r| r);
        count += 1;
    }
    assert!(count >= 9, "{count} presets");
}

/// Whatever level is asked for, nothing is rounded at a scale below that of the result.
#[test]
fn of_every_target_level_no_stage_after_eval_mod_has_a_small_scale() {
    let mut count = 0;
    for params in presets::ALL.iter().map(|(name, _)| shrunk(name, 10)).filter(presets::can_bootstrap) {
        for (level, slots) in (0..=params.max_level()).flat_map(|level| [1, 16, 512].map(|slots| (level, slots))) {
            let stages = BootstrapKind::of(&params).rules().default_stages(Method::Regular, slots);
            let request = Request::new(Method::Regular, stages, KeySize::Large, slots);
            let Ok(circuit) = BootstrapCircuit::new(&params, Request { target_level: Some(level), ..request }) else {
                continue;
            };
            let all = circuit.plan.stages();
            let Some(first) = all.iter().position(|stage| stage.name == "eval_mod") else { continue };
            let least = all[first..].iter().map(|stage| stage.to.scale.log2()).fold(f64::INFINITY, f64::min);
            let last = all.last().unwrap().to.scale.log2();
            assert!(
                least > last - 1.0,
                "{}, {slots} slots to level {level}: 2^{least:.1}, then 2^{last:.1}",
                params.name()
            );
            count += 1;
        }
    }
    assert!(count > 200, "{count} bootstraps");
}
