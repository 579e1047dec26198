//! The model of cost against what the kernels counted, and the times that a bootstrap tells: exact, on the toy ring.

use aglet::ckks::cost::{self, StageCost};
use aglet::ckks::{Functional, KeySize, Limits, Method, Request, StageRun};
use aglet::{Control, Units};
use aglet_ring::demand::buffer_words;
use aglet_testing::fixture::Fixture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs a bootstrap of zeros: what its stages took.
fn run(f: &Fixture, request: Request, iterations: usize) -> Vec<StageRun> {
    let key = f.key(request);
    let ct = f.encrypt(&vec![0.0; f.engine.slots()], f.engine.max_level());
    let cts = vec![&ct; if request.method.pairs() { 2 } else { 1 }];
    f.engine.bootstrap_iterated(&cts, f.keys(&key), request, iterations, &Control::new()).unwrap();
    f.engine.stage_runs()
}

fn assert_predicted(f: &Fixture, request: Request) {
    let counted = run(f, request, 1).into_iter().map(|run| StageCost { name: run.name, work: run.work });
    let predicted = cost::stages(&f.engine.circuit(request).unwrap()).unwrap();
    for (counted, predicted) in counted.zip(&predicted) {
        assert_eq!(counted, *predicted, "{request:?}");
    }
    assert_eq!(f.engine.stage_runs().len(), predicted.len());
    // A stage that does nothing is one that moves limbs only.
    let idle = predicted.iter().filter(|s| s.work == Default::default());
    assert!(idle.map(|s| s.name.as_str()).eq(["scale_down"]), "{predicted:?}");
}

#[test]
fn the_work_of_every_kind_of_bootstrap_is_what_the_kernels_do() {
    let f = Fixture::new("toy", None, 2);
    let request = |method, stages, size| Request::new(method, stages, size, f.engine.slots());
    for size in [KeySize::Large, KeySize::Medium, KeySize::Small] {
        for stages in [1, 3, 5] {
            assert_predicted(&f, request(Method::Regular, stages, size));
        }
        assert_predicted(&f, Request { real: true, ..request(Method::Regular, 3, size) });
        assert_predicted(&f, Request { target_level: Some(4), ..request(Method::Regular, 3, size) });
        assert_predicted(&f, Request { bound: 16.0, ..request(Method::Lossy, 4, size) });
    }
    for method in [Method::Sign, Method::Bits, Method::Merge, Method::LossyMerge] {
        assert_predicted(&f, request(method, 3, KeySize::Large));
    }
}

#[test]
fn the_work_of_a_functional_bootstrap_is_what_the_kernels_do() {
    let f = Fixture::new("toy", None, 2);
    let entries: Vec<f64> = (0..4).map(|m| f64::from(m * m % 4)).collect();
    for (method, tables) in [(Method::Regular, 1), (Method::Lossy, 2)] {
        let request = Request::new(method, 3, KeySize::Large, f.engine.slots());
        let functional = Arc::new(Functional::tables(&vec![[&entries[..]; 2]; tables], 0.0, 1.0, 1).unwrap());
        let (key, ct) = (f.key(request), f.encrypt(&vec![0.0; f.engine.slots()], 0));
        let limits = Limits { input_error: Some(0.0), ..Limits::default() };
        f.engine.functional_bootstrap(&ct, &functional, f.keys(&key), request, limits, &Control::new()).unwrap();
        let circuit = f.engine.functional_circuit(request, &functional).unwrap();
        let predicted = cost::stages(&circuit).unwrap();
        let counted = f.engine.stage_runs().into_iter().map(|run| StageCost { name: run.name, work: run.work });
        assert_eq!(counted.collect::<Vec<_>>(), predicted);
    }
}

#[test]
fn the_work_on_sparse_slots_is_what_the_kernels_do() {
    for (slots, stages) in [(1, 1), (2, 1), (32, 2), (256, 3)] {
        let f = Fixture::new("toy", Some(slots), 1);
        for size in [KeySize::Large, KeySize::Small] {
            let request = |method| Request::new(method, stages, size, slots);
            assert_predicted(&f, request(Method::Regular));
            // No level is left for packing.
            assert_predicted(&f, request(Method::Lossy));
            assert_predicted(&f, Request { real: true, ..request(Method::Regular) });
        }
    }
}

/// The scratch of a run against the pool's own count, in which the input, which the engine holds already, is not.
fn assert_scratch(f: &Fixture, request: Request, count: usize) {
    let (key, params) = (f.key(request), f.engine.params());
    let cts: Vec<_> = (0..count).map(|_| f.encrypt(&vec![0.0; f.engine.slots()], 0)).collect();
    let inputs: Vec<_> = cts.iter().map(|ct| (ct, request)).collect();
    let ctx = f.engine.origin().ctx.unwrap();
    let pool = ctx.ring().pool();
    // Lays out the matrices.
    f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
    pool.take_demand();
    f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
    let circuit = f.engine.circuit(request).unwrap();
    let predicted = cost::demand(&circuit, cost::key_shapes(&circuit).unwrap(), count).unwrap();
    let found = pool.take_demand();
    let input = 2 * count * 8 * buffer_words(params.n(), 1);
    let expected = found.bytes()..=found.bytes() + input;
    assert!(expected.contains(&predicted.bytes()), "{request:?} {count} {:?} {:?}", found.mix(), predicted.mix());
}

#[test]
fn the_scratch_of_every_kind_of_bootstrap_is_what_the_pool_lends() {
    for (slots, stages) in [(None, 1), (None, 3), (Some(32), 2)] {
        let f = Fixture::new("toy", slots, 2);
        for size in [KeySize::Large, KeySize::Medium, KeySize::Small] {
            let request = Request::new(Method::Regular, stages, size, f.engine.slots());
            assert_scratch(&f, request, 1);
            assert_scratch(&f, Request { real: true, ..request }, 1);
            assert_scratch(&f, request, 2);
        }
    }
}

#[test]
fn another_chain_has_other_digits() {
    let f = Fixture::new("toy14", None, 1);
    assert_predicted(&f, Request::new(Method::Regular, 3, KeySize::Large, f.engine.slots()));
}

#[test]
fn the_stages_of_an_iterated_bootstrap_are_those_of_all_its_passes() {
    let f = Fixture::new("toy", None, 1);
    let request = Request::new(Method::Regular, 3, KeySize::Large, f.engine.slots());
    let once = run(&f, request, 1);
    let thrice = run(&f, request, 3);
    assert_eq!(thrice.len(), 3 * once.len());
    for (i, run) in thrice.iter().enumerate() {
        let (pass, first) = (i / once.len() + 1, &once[i % once.len()]);
        let name = if pass == 1 { first.name.clone() } else { format!("pass {pass}: {}", first.name) };
        assert_eq!((&run.name, run.work), (&name, first.work));
        assert!(run.seconds > 0.0);
    }
    let times: Vec<_> = thrice.into_iter().map(|run| (run.name, run.seconds)).collect();
    assert_eq!(f.engine.stage_times(), times);
}

#[test]
fn seconds_are_work_times_units() {
    let f = Fixture::new("toy", None, 1);
    let n = f.engine.params().n();
    let request = Request::new(Method::Regular, 3, KeySize::Large, f.engine.slots());
    let all = cost::stages(&f.engine.circuit(request).unwrap()).unwrap();
    let work = all.iter().map(|stage| stage.work).sum();
    let units = ["forward", "inverse", "pointwise", "key", "diagonal", "matrix", "conversion"].into_iter();
    let units = units.zip([2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]).map(|(name, us)| (name.to_string(), us));
    let transforms = Units::named(&units.collect()).unwrap().seconds(&work, n);
    assert!((transforms * 1e6 * n as f64 - (2 * work.forward + work.inverse) as f64).abs() < 1e-3);
    // Real and imaginary part share what they read, so more keys are met than read, by less than twice.
    assert!(work.key_read < work.key && work.key < 2 * work.key_read);
    let real = cost::stages(&f.engine.circuit(Request { real: true, ..request }).unwrap()).unwrap();
    let work: aglet_ring::Tally = real.iter().map(|stage| stage.work).sum();
    assert_eq!(work.key, work.key_read);
}

#[test]
fn units_are_measured_or_given() {
    let measured = Units::measure(10, 50).unwrap().0;
    let all = [measured.forward, measured.inverse, measured.pointwise, measured.key, measured.conversion];
    assert!(all.iter().all(|us| *us > 0.0) && measured.diagonal >= 0.0 && measured.matrix >= 0.0, "{measured:?}");
    assert!(measured.forward > measured.pointwise, "{measured:?}");
    for (log_n, bits) in [(7, 50), (18, 50), (10, 20), (10, 62)] {
        assert!(Units::measure(log_n, bits).is_err(), "{log_n} {bits}");
    }
    let names = ["forward", "inverse", "pointwise", "key", "diagonal", "matrix", "conversion"];
    let mut given: BTreeMap<String, f64> = names.iter().map(|name| (name.to_string(), 2.0)).collect();
    assert_eq!(Units::named(&given).unwrap().0.matrix, 2.0);
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(Units::named(&given.clone().into_iter().chain([("key".to_string(), wrong)]).collect()).is_err());
    }
    given.insert("colour".into(), 1.0);
    assert!(Units::named(&given).is_err());
    given.retain(|name, _| name != "colour" && name != "key");
    assert!(Units::named(&given).is_err());
}
