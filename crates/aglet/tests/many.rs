//! Several bootstraps with one set of keys, on the toy ring: the bits of one after the other, and errors before any work.

use aglet::ckks::{cost, BootstrapKey, Ciphertext, KeySize, Method, Request};
use aglet::{Control, Error, ErrorKind};
use aglet_testing::fixture::Fixture;
use aglet_testing::messages;
use num_complex::Complex64;

fn toy(slots: Option<usize>) -> Fixture {
    Fixture::new("toy", slots, 2)
}

/// Different signs for every seed.
fn signs(f: &Fixture, seed: usize, level: usize) -> Ciphertext {
    f.encrypt(&messages::signs(f.engine.slots(), seed), level)
}

/// Refreshes several at once and one by one: the same bits, and inputs as they were.
fn assert_same(f: &Fixture, key: &BootstrapKey, requests: &[Request], level: usize, iterations: usize) {
    let cts: Vec<_> = (0..requests.len()).map(|seed| signs(f, seed, level + seed % 2)).collect();
    let before: Vec<_> = cts.iter().map(words).collect();
    let inputs: Vec<_> = cts.iter().zip(requests.iter().copied()).collect();
    let many = f.engine.bootstrap_many(&inputs, f.keys(key), iterations, &Control::new()).unwrap();
    assert_eq!(many.len(), cts.len());
    for ((ct, request), found) in inputs.iter().zip(&many) {
        let one = |control: &Control| {
            f.engine.bootstrap_iterated(&[*ct], f.keys(key), *request, iterations, control).unwrap().remove(0)
        };
        let one = one(&Control::new());
        assert!(words(found) == words(&one), "{request:?}");
        assert_eq!((found.scale, found.slots, found.real), (one.scale, one.slots, one.real), "{request:?}");
    }
    assert!(cts.iter().map(words).eq(before));
}

fn words(ct: &Ciphertext) -> Vec<Vec<u64>> {
    ct.polys.iter().flat_map(|poly| poly.host().unwrap().iter().map(<[u64]>::to_vec)).collect()
}

#[test]
fn several_at_once_have_the_bits_of_one_by_one() {
    let f = toy(None);
    for size in [KeySize::Large, KeySize::Medium, KeySize::Small] {
        let regular = f.request(Method::Regular, 3, size);
        let key = f.key(regular);
        // Five are two groups; real ones are another.
        assert_same(&f, &key, &[regular; 5], 0, 1);
        let real = Request { real: true, ..regular };
        let lower = Request { target_level: Some(4), bound: 4.0, ..regular };
        assert_same(&f, &key, &[real, regular, real, lower, regular], 2, 1);
    }
    let request = |method| f.request(method, 3, KeySize::Large);
    let key = f.key(request(Method::Lossy));
    for method in [Method::Lossy, Method::Sign] {
        assert_same(&f, &key, &[request(method); 2], 3, 1);
        assert_same(&f, &key, &[Request { real: true, ..request(method) }; 3], 3, 1);
    }
    assert_same(&f, &key, &[request(Method::Bits), request(Method::Lossy), request(Method::Bits)], 3, 1);
    assert_same(&f, &key, &[request(Method::Lossy); 3], 4, 2);
    assert_same(&f, &key, &[], 3, 1);
}

#[test]
fn several_of_few_slots_have_the_bits_of_one_by_one() {
    for slots in [1, 32] {
        let f = toy(Some(slots));
        for size in [KeySize::Large, KeySize::Small] {
            let request = f.request(Method::Regular, 1, size);
            assert_same(&f, &f.key(request), &[request; 3], 0, 1);
        }
    }
}

#[test]
fn a_group_reads_keys_once_as_predicted() {
    for (slots, size) in [(None, KeySize::Large), (None, KeySize::Small), (Some(32), KeySize::Large)] {
        let f = toy(slots);
        let request = f.request(Method::Regular, 2, size);
        let (key, cts) = (f.key(request), [signs(&f, 1, 0), signs(&f, 2, 0), signs(&f, 3, 0)]);
        let inputs: Vec<_> = cts.iter().map(|ct| (ct, request)).collect();
        f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
        let circuit = f.engine.circuit(request).unwrap();
        let predicted = cost::stages_of_group(&circuit, 3).unwrap();
        let runs = f.engine.stage_runs();
        assert_eq!(runs.len(), predicted.len());
        for (run, stage) in runs.iter().zip(&predicted) {
            assert_eq!((&run.name, run.work), (&stage.name, stage.work), "{slots:?} {size:?}");
        }
        let one: aglet_ring::Tally = cost::stages(&circuit).unwrap().iter().map(|s| s.work).sum();
        let three: aglet_ring::Tally = predicted.iter().map(|s| s.work).sum();
        assert_eq!((three.key, three.matrix_read), (3 * one.key, one.matrix_read));
        assert!(three.key_read < 2 * one.key_read, "{size:?}: {} {}", three.key_read, one.key_read);
    }
}

#[test]
fn what_is_wrong_with_one_is_found_before_any_work() {
    let f = toy(None);
    let request = f.request(Method::Lossy, 3, KeySize::Large);
    let key = f.key(request);
    let good = signs(&f, 1, 3);
    let threes = f.engine.encode(&vec![Complex64::new(3.0, 0.0); f.engine.slots()], 3).unwrap();
    let large = f.engine.encrypt_with_secret(&threes, &f.sk).unwrap();
    let other = f.engine.create_secret_key().unwrap();
    let foreign = f.engine.encrypt_with_secret(&threes, &other).unwrap();
    let square = f.engine.multiply(&signs(&f, 1, 5), &good, None).unwrap();
    let run = |ct: &Ciphertext, request, control: &Control| {
        let inputs = [(&good, request), (&good, request), (ct, request)];
        f.engine.bootstrap_many(&inputs, f.keys(&key), 1, control)
    };
    let cases = [(large, ErrorKind::Range), (foreign, ErrorKind::KeyMismatch), (square, ErrorKind::Other)];
    for (ct, kind) in cases {
        let control = Control::new();
        let error = run(&ct, request, &control).unwrap_err();
        assert!(matches!(error, Error::Input { index: 2, .. }) && error.kind() == kind, "{error}");
        assert!(error.to_string().starts_with("ciphertexts[2]: "), "{error}");
        assert!(f.engine.stage_runs().is_empty() && control.latest().1 == 0, "no work is done");
    }
    let merge = run(&good, Request { method: Method::LossyMerge, ..request }, &Control::new()).unwrap_err();
    assert_eq!(merge.kind(), ErrorKind::Parameter, "{merge}");
    let stopped = Control::new();
    stopped.cancel();
    assert!(matches!(run(&good, request, &stopped), Err(Error::Cancelled)));
    let watched = Control::new();
    run(&good, request, &watched).unwrap();
    let (done, total, _) = watched.latest();
    assert_eq!((done, total), (f.engine.stage_runs().len(), f.engine.stage_runs().len()));
    // Two groups of one request and one of another.
    let inputs: Vec<_> = (0..6).map(|i| (&good, Request { real: i == 0, ..request })).collect();
    f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &watched).unwrap();
    assert_eq!(watched.latest().0, watched.latest().1);
}
