//! SHIP on the toy ring: real, complex and bits, against the models and the work that was counted.

use aglet::ckks::presets;
use aglet::ckks::{cost, precision, BootstrapCircuit, BootstrapKey, Ciphertext, Engine, KeySize, Method, Request};
use aglet::{Control, Error, ErrorKind, Runtime};
use aglet_ring::arch;
use aglet_testing::fixture::Fixture;
use aglet_testing::messages;
use std::f64::consts::{PI, TAU};

const PRESET: &str = "toy-ship";

fn request(f: &Fixture, method: Method) -> Request {
    f.request(method, 1, KeySize::Large)
}

fn bytes(f: &Fixture, ct: &Ciphertext) -> Vec<u8> {
    f.engine.serialize(ct, &Control::new()).unwrap().to_vec()
}

#[test]
fn real_and_complex_messages_have_the_precision_of_the_model() {
    let f = Fixture::new(PRESET, None, 2);
    let key = f.key(request(&f, Method::Regular));
    let n = f.engine.slots();
    let grid: Vec<f64> = (0..n).map(|j| 2.0 * j as f64 / (n - 1) as f64 - 1.0).collect();
    for (bound, real) in [(1.0, true), (1.0, false), (8.0, true)] {
        let wanted = Request { bound, real, ..request(&f, Method::Regular) };
        let message: Vec<f64> = grid.iter().map(|x| bound * x).collect();
        let out = f.bootstrap(&[&f.encrypt(&message, 0)], &key, wanted).unwrap();
        assert_eq!((out.len(), f.engine.level(&out[0]).unwrap()), (1, 1));
        let circuit = BootstrapCircuit::new(f.engine.params(), wanted).unwrap();
        let model = precision::precision(&circuit, true).unwrap();
        let found = f.precision(&out[0], &message);
        let bits = found.mean + bound.log2();
        println!("bound {bound}, real {real}: {bits:.2}, {found:.2?}, model {model:.2?}");
        assert!((found.mean - model.mean_bits).abs() < 0.5, "{found:?} {model:?}");
        // Without the error of the sine, which outweighs the noise of this ring.
        let ratio = 1024.0_f64;
        let stretch = 1.0 + (PI / ratio).powi(2) / 2.0;
        let sine: Vec<f64> = grid.iter().map(|x| bound * stretch * ratio / TAU * (TAU * x / ratio).sin()).collect();
        let noise = model.stages.iter().map(|(_, bits)| (-2.0 * bits).exp2()).sum::<f64>();
        let found = f.precision(&out[0], &sine);
        assert!((found.mean + noise.log2() / 2.0).abs() < 0.5, "{found:?} {model:?}");
    }
    let complex = messages::complex(n, 0);
    let out = f.bootstrap(&[&f.encrypt(&complex, 0)], &key, request(&f, Method::Regular)).unwrap();
    let found = f.precision(&out[0], &complex);
    assert!(found.mean > 19.0 && found.worst > 17.0, "{found:?}");
}

#[test]
fn bits_are_cleaned_and_batches_have_the_bits_of_each_on_its_own() {
    let f = Fixture::new(PRESET, None, 2);
    let key = f.key(request(&f, Method::Bits));
    let n = f.engine.slots();
    let bits: Vec<f64> = (0..n).map(|j| (j % 3 / 2) as f64).collect();
    let rough: Vec<f64> = bits.iter().enumerate().map(|(j, x)| x + 0.02 * (j as f64).sin()).collect();
    let wanted = Request { real: true, ..request(&f, Method::Bits) };
    let ct = f.encrypt(&rough, 0);
    let out = f.bootstrap(&[&ct], &key, wanted).unwrap();
    // (pi 0.02)^2 / 4 is 10 bits.
    let found = f.precision(&out[0], &bits);
    assert!(found.worst > 9.9, "{found:?}");
    // The same key serves numbers, and several at once.
    let real = Request { real: true, ..request(&f, Method::Regular) };
    let (one, two) = (f.encrypt(&messages::real(n, 1), 0), f.encrypt(&messages::real(n, 2), 1));
    let inputs = [(&one, real), (&ct, wanted), (&two, real)];
    let many = f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
    for ((input, request), batch) in inputs.iter().zip(&many) {
        let single = f.bootstrap(&[input], &key, *request).unwrap().remove(0);
        assert_eq!(bytes(&f, &single), bytes(&f, batch));
    }
}

#[test]
fn twenty_bootstraps_in_a_row_with_squares_between_them_stay_close() {
    let f = Fixture::new(PRESET, None, 2);
    let key = f.key(request(&f, Method::Regular));
    let wanted = Request { real: true, ..request(&f, Method::Regular) };
    let mut message = messages::real(f.engine.slots(), 6);
    let mut ct = f.encrypt(&message, 0);
    for round in 0..20 {
        let fresh = f.bootstrap(&[&ct], &key, wanted).unwrap().remove(0);
        // x^2 - 1/2 takes [-1, 1] into [-1/2, 1/2], where it brings numbers closer together.
        let square = f.engine.multiply(&fresh, &fresh, Some(&f.relin)).unwrap();
        ct = f.engine.add_scalar(&square, -0.5).unwrap();
        message.iter_mut().for_each(|x| *x = *x * *x - 0.5);
        let found = f.precision(&ct, &message);
        // One round leaves 17 in the worst slot; errors of earlier ones shrink.
        assert!(found.worst > 13.0 && found.mean > 16.0, "round {round}: {found:?}");
    }
}

#[test]
fn work_is_what_was_counted_word_for_word() {
    let f = Fixture::new(PRESET, None, 1);
    let key = f.key(request(&f, Method::Regular));
    let n = f.engine.slots();
    for real in [true, false] {
        let wanted = Request { real, ..request(&f, Method::Regular) };
        let ct = f.encrypt(&messages::complex(n, 0), 0);
        f.bootstrap(&[&ct], &key, wanted).unwrap();
        let circuit = BootstrapCircuit::new(f.engine.params(), wanted).unwrap();
        let planned = cost::stages(&circuit).unwrap();
        let ran = f.engine.stage_runs();
        assert_eq!(planned.len(), ran.len());
        for (planned, ran) in planned.iter().zip(&ran) {
            assert_eq!((&planned.name, planned.work), (&ran.name, ran.work), "real {real}");
        }
    }
}

#[test]
fn few_slots_have_the_precision_of_the_model_and_the_work_that_was_counted() {
    for slots in [1, 4, 16] {
        let f = Fixture::new(PRESET, Some(slots), 2);
        let key = f.key(request(&f, Method::Regular));
        let message: Vec<f64> = (0..slots).map(|j| 2.0 * j as f64 / (slots.max(2) - 1) as f64 - 1.0).collect();
        // As in the test of all slots: without the error of the sine, which outweighs the noise.
        let (ratio, stretch) = (1024.0_f64, 1.0 + (PI / 1024.0_f64).powi(2) / 2.0);
        let sine: Vec<f64> = message.iter().map(|x| stretch * ratio / TAU * (TAU * x / ratio).sin()).collect();
        for real in [true, false] {
            let wanted = Request { real, ..request(&f, Method::Regular) };
            let circuit = BootstrapCircuit::new(f.engine.params(), wanted).unwrap();
            let (model, runs) = (precision::precision(&circuit, true).unwrap(), 256 / slots);
            let (mut sum, mut noise) = (0.0, 0.0);
            for _ in 0..runs {
                let out = f.bootstrap(&[&f.encrypt(&message, 0)], &key, wanted).unwrap();
                assert_eq!((out.len(), f.engine.level(&out[0]).unwrap()), (1, 1));
                sum += (-f.precision(&out[0], &message).mean).exp2();
                noise += (-f.precision(&out[0], &sine).mean).exp2();
                let planned = cost::stages(&circuit).unwrap();
                let ran = f.engine.stage_runs();
                assert_eq!(planned.len(), ran.len());
                for (planned, ran) in planned.iter().zip(&ran) {
                    assert_eq!((&planned.name, planned.work), (&ran.name, ran.work), "{slots} slots, real {real}");
                }
            }
            let (bits, noise) = (-(sum / runs as f64).log2(), -(noise / runs as f64).log2());
            let of_stages = -model.stages.iter().map(|(_, bits)| (-2.0 * bits).exp2()).sum::<f64>().log2() / 2.0;
            println!("{slots} slots, real {real}: {bits:.2}, noise {noise:.2} of {of_stages:.2}, model {model:.2?}");
            assert!((bits - model.mean_bits).abs() < 0.5, "{slots} slots: {bits} {model:?}");
            // The deviation of what 256 errors find is 0.07 bits, and 0.1 in a single slot, by the secret's value there; of that the model
            // has eight errors, 0.3 bits off.
            let limit = if slots == 1 { 1.0 } else { 0.6 };
            assert!((noise - of_stages).abs() < limit, "{slots} slots: {noise} {model:?}");
        }
        let complex = messages::complex(slots, 0);
        let out = f.bootstrap(&[&f.encrypt(&complex, 0)], &key, request(&f, Method::Regular)).unwrap();
        assert!(f.precision(&out[0], &complex).mean > 14.0);
        // The same key cleans bits, and a batch has the bits of each on its own.
        let bits: Vec<f64> = (0..slots).map(|j| (j % 3 / 2) as f64).collect();
        let rough: Vec<f64> = bits.iter().map(|x| x + 0.02).collect();
        let wanted = Request { real: true, ..request(&f, Method::Bits) };
        let (one, two) = (f.encrypt(&rough, 0), f.encrypt(&bits, 1));
        let inputs = [(&one, wanted), (&two, wanted)];
        let many = f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
        for ((input, request), batch) in inputs.iter().zip(&many) {
            let single = f.bootstrap(&[input], &key, *request).unwrap().remove(0);
            assert_eq!(bytes(&f, &single), bytes(&f, batch));
            assert!(f.precision(batch, &bits).worst > 9.9);
        }
        let file = f.engine.serialize(&key, &Control::new()).unwrap();
        let again: BootstrapKey = f.engine.deserialize(&file, &Control::new()).unwrap();
        assert_eq!((key.byte_count(), key.stored_bytes()), (again.byte_count(), again.stored_bytes()));
        let [one, two] = [&key, &again].map(|key| f.bootstrap(&[&one], key, wanted).unwrap().remove(0));
        assert_eq!(bytes(&f, &one), bytes(&f, &two));
    }
}

#[test]
fn what_such_a_bootstrap_has_not_is_refused() {
    let f = Fixture::new(PRESET, None, 1);
    let create = |request| f.engine.create_bootstrap_key(&f.sk, request, None, &Control::new());
    for size in [KeySize::Small, KeySize::Medium] {
        assert!(create(Request { size, ..request(&f, Method::Regular) }).is_err());
    }
    // 32 factors beside each other leave room for 16 slots, and with rotations a message has all.
    for slots in [3, 32, f.engine.slots() / 2] {
        let error = create(Request { slots, ..request(&f, Method::Regular) }).err().unwrap().to_string();
        assert!(error.contains("a power of two up to 16"), "{error}");
    }
    for stage_count in [0, 2, 3] {
        let error = create(Request { stage_count, ..request(&f, Method::Regular) }).err().unwrap().to_string();
        assert!(error.contains("leave stage_count out"), "{error}");
    }
    let key = create(request(&f, Method::Regular)).unwrap();
    let ct = f.encrypt(&messages::real(f.engine.slots(), 0), 0);
    for method in [Method::Lossy, Method::Sign, Method::Merge] {
        assert!(f.bootstrap(&[&ct], &key, request(&f, method)).is_err());
    }
    for (bound, level) in [(0.0, None), (f64::NAN, None), (300_000.0, None), (1.0, Some(0)), (1.0, Some(2))] {
        let wrong = Request { bound, target_level: level, ..request(&f, Method::Regular) };
        assert!(f.bootstrap(&[&ct], &key, wrong).is_err(), "{wrong:?}");
    }
    let twice = f.engine.bootstrap_iterated(&[&ct], f.keys(&key), request(&f, Method::Regular), 2, &Control::new());
    assert!(matches!(twice, Err(Error::Parameter(_))));
    let own = f.engine.create_secret_key().unwrap();
    let stranger =
        f.engine.encrypt_with_secret(&f.engine.encode(&messages::real(f.engine.slots(), 4), 0).unwrap(), &own).unwrap();
    let foreign = f.bootstrap(&[&stranger], &key, request(&f, Method::Regular)).err().unwrap();
    assert_eq!(foreign.kind(), ErrorKind::KeyMismatch);
    // Nothing is made that memory is too small for.
    let little = f.engine.create_bootstrap_key(&f.sk, request(&f, Method::Regular), Some(1 << 20), &Control::new());
    assert!(matches!(little, Err(Error::Memory(_))));
    let (stop, wanted) = (Control::new(), request(&f, Method::Regular));
    stop.cancel();
    assert!(matches!(f.engine.bootstrap(&[&ct], f.keys(&key), wanted, &stop), Err(Error::Cancelled)));
}

#[test]
fn keys_are_files_that_give_the_same_bits() {
    let f = Fixture::new(PRESET, None, 2);
    let key = f.key(request(&f, Method::Regular));
    let file = f.engine.serialize(&key, &Control::new()).unwrap();
    let again: BootstrapKey = f.engine.deserialize(&file, &Control::new()).unwrap();
    assert_eq!((key.byte_count(), key.stored_bytes()), (again.byte_count(), again.stored_bytes()));
    let ct = f.encrypt(&messages::real(f.engine.slots(), 0), 0);
    let wanted = Request { real: true, ..request(&f, Method::Regular) };
    let [one, two] = [&key, &again].map(|key| f.bootstrap(&[&ct], key, wanted).unwrap().remove(0));
    assert_eq!(bytes(&f, &one), bytes(&f, &two));
    assert!(presets::load(PRESET, presets::Security::Bits128).is_err());
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    let best = arch::chosen().unwrap().name();
    let others = arch::available().iter().map(|kernels| kernels.name());
    let others = others.filter(|name| ![best, "scalar"].contains(name)).map(|name| (name, 2));
    let runs = || [(best, 1), (best, 2)].into_iter().chain(others.clone());
    for slots in [None, Some(1), Some(8)] {
        let mut first = None;
        for (backend, threads) in runs() {
            let runtime = Runtime::seeded(threads, backend, [12; 32]).unwrap();
            let f = Fixture::of(
                Engine::on(runtime, presets::load(PRESET, presets::Security::NotChecked).unwrap(), slots).unwrap(),
            );
            let key = f.key(request(&f, Method::Regular));
            let ct = f.encrypt(&messages::complex(f.engine.slots(), 0), 0);
            let out = bytes(&f, &f.bootstrap(&[&ct], &key, request(&f, Method::Regular)).unwrap()[0]);
            let same = *first.get_or_insert_with(|| out.clone()) == out;
            assert!(same, "{backend} on {threads} threads, slots {slots:?}");
        }
    }
}

/// At the real size: grids, ones, twenty bootstraps in a row from alternating signs, and the same bits on one thread.
#[cfg(feature = "long")]
#[test]
fn few_slots_at_the_real_size_have_the_precision_of_the_model() {
    for slots in [1, 8, 64] {
        let of = |threads| {
            Fixture::of(
                Engine::new(presets::load("ship14", presets::Security::Bits128).unwrap(), Some(slots), threads)
                    .unwrap(),
            )
        };
        let f = of(2);
        let key = f.key(request(&f, Method::Regular));
        let wanted = Request { real: true, ..request(&f, Method::Regular) };
        let circuit = BootstrapCircuit::new(f.engine.params(), wanted).unwrap();
        let model = precision::precision(&circuit, false).unwrap();
        let grid: Vec<f64> = (0..slots).map(|j| 2.0 * j as f64 / (slots.max(2) - 1) as f64 - 1.0).collect();
        let runs = 128 / slots;
        let one =
            |_| (-f.precision(&f.bootstrap(&[&f.encrypt(&grid, 0)], &key, wanted).unwrap()[0], &grid).mean).exp2();
        let bits = -((0..runs).map(one).sum::<f64>() / runs as f64).log2();
        println!("{slots} slots: {bits:.2}, model {model:.2?}");
        assert!((bits - model.mean_bits).abs() < 0.5, "{slots} slots: {bits} {model:?}");
        let ones = vec![1.0; slots];
        let ct = f.encrypt(&ones, 0);
        let out = f.bootstrap(&[&ct], &key, wanted).unwrap().remove(0);
        let found = f.precision(&out, &ones);
        assert!(found.worst > model.mean_bits - 4.5, "ones: {found:?} {model:?}");
        let alone = of(1).engine.bootstrap(&[&ct], f.keys(&key), wanted, &Control::new()).unwrap().remove(0);
        assert!(bytes(&f, &alone) == bytes(&f, &out), "{slots} slots on one thread");
        let mut message: Vec<f64> = (0..slots).map(|j| [1.0, -1.0][j % 2]).collect();
        let mut ct = f.encrypt(&message, 0);
        for round in 0..20 {
            let fresh = f.bootstrap(&[&ct], &key, wanted).unwrap().remove(0);
            ct = f.engine.multiply(&fresh, &fresh, Some(&f.relin)).unwrap();
            ct = f.engine.add_scalar(&ct, -0.5).unwrap();
            message.iter_mut().for_each(|x| *x = *x * *x - 0.5);
            let found = f.precision(&ct, &message);
            assert!(found.worst > model.mean_bits - 4.5, "round {round}: {found:?} {model:?}");
        }
    }
}
