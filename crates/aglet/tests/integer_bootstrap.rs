//! Bootstraps of integers in a small ring under encryption: exact, whatever the numbers, and as the parameters say.

use aglet::integer::{BootstrapKey, Engine, Packing};
use aglet::{Control, ErrorKind};
use aglet_testing::fixture::shrunk_integers;

const T: i64 = 65537;

/// The primes of int16 in a ring of degree 2^10: insecure.
fn small() -> Engine {
    small_of("int16", 10, Packing::Slots)
}

/// Those of a preset, with so many slots.
fn small_of(preset: &str, log_slots: u32, packing: Packing) -> Engine {
    Engine::new(shrunk_integers(preset, "small", (10, log_slots)), packing, 1).unwrap()
}

/// In the ring of twice the degree, where messages are polynomials in X^2.
#[test]
fn messages_in_a_subring_come_back_with_all_levels() {
    let engine = small_of("int16-deep", 9, Packing::Slots);
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    assert_eq!((engine.count(), key.byte_count() as u64), (512, engine.bootstrap_forecast().unwrap().key));
    for values in [numbers(512, 3), vec![0; 512], vec![-1; 512], vec![T / 2; 512]] {
        let ct = engine.encrypt_with_secret(&values, 1, &sk).unwrap();
        let out = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
        assert_eq!(out.level(), engine.params().max_level());
        assert!(engine.decrypt(&out, &sk).unwrap() == values);
        let (exact, bound) = (engine.noise_budget(&out, &sk).unwrap(), engine.budget(&out));
        assert!(bound <= exact && exact - bound < 8.0, "{bound} bits by the bound, {exact} by the key");
    }
    // All products that it leaves, rotated in between.
    let mut values = numbers(512, 8);
    let mut ct = engine.encrypt_with_secret(&values, 3, &sk).unwrap();
    ct = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
    while ct.level() > 1 {
        let rotated = engine.rotate_rows(&ct, &rotation, 1).unwrap();
        ct = engine.multiply(&rotated, &rotated, &relin).unwrap();
        values.iter_mut().for_each(|v| *v = (*v * *v + T / 2).rem_euclid(T) - T / 2);
        values.chunks_exact_mut(256).for_each(|row| row.rotate_right(1));
    }
    let out = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
    assert!(engine.decrypt(&out, &sk).unwrap() == values);
    // Coefficients have no subring.
    let packed = small_of("int16-deep", 9, Packing::Coefficients);
    let sk = packed.create_secret_key().unwrap();
    let refused = packed.create_bootstrap_key(&sk, None, &Control::new()).err().unwrap();
    assert!(refused.kind() == ErrorKind::Parameter && refused.to_string().contains("packing=\"slots\""), "{refused}");
}

fn numbers(count: usize, seed: i64) -> Vec<i64> {
    (0..count as i64).map(|i| (i * i * 31 + seed * i + 5 * seed).rem_euclid(T) - T / 2).collect()
}

#[test]
fn numbers_come_back_exactly_with_all_levels() {
    let engine = small();
    let sk = engine.create_secret_key().unwrap();
    let (pk, relin) = (engine.create_public_key(&sk).unwrap(), engine.create_relinearization_key(&sk).unwrap());
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    let forecast = engine.bootstrap_forecast().unwrap();
    assert_eq!((key.id(), key.byte_count() as u64), (sk.id(), forecast.key));
    // What is used from here on was a file.
    let bytes = engine.serialize(&key, &Control::new()).unwrap();
    assert!(bytes.len() > key.stored_bytes() && bytes.len() < key.byte_count() / 2);
    let key: BootstrapKey = engine.deserialize(&bytes, &Control::new()).unwrap();
    let mut damaged = bytes.to_vec();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let refused = engine.deserialize::<BootstrapKey>(&damaged, &Control::new());
    assert_eq!(refused.err().map(|e| e.kind()), Some(ErrorKind::Serialization));
    let top = engine.bootstrap_output_level().unwrap();
    assert_eq!((top, engine.params().max_level()), (8, 8));
    let n = engine.count();
    for (level, values) in
        [(1, numbers(n, 3)), (8, numbers(n, 77)), (4, vec![0; n]), (1, vec![-1; n]), (2, vec![T / 2; n])]
    {
        let values: Vec<i64> = values;
        let ct = engine.encrypt(&values, level, &pk).unwrap();
        let out = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
        assert_eq!(out.level(), top);
        assert!(engine.decrypt(&out, &sk).unwrap() == values, "level {level}");
        let (exact, bound) = (engine.noise_budget(&out, &sk).unwrap(), engine.budget(&out));
        assert!(bound <= exact && exact - bound < 6.0, "{bound} bits by the bound, {exact} by the key");
        // Numbers, not places: the factor is that of the level, so that it meets fresh ciphertexts.
        let sum = engine.add(&out, &engine.encrypt(&values, top, &pk).unwrap()).unwrap();
        assert_eq!(engine.decrypt(&sum, &sk).unwrap()[0], (2 * values[0] + T / 2).rem_euclid(T) - T / 2);
    }
    let low = engine.level_down(&engine.encrypt(&numbers(n, 1), 3, &pk).unwrap(), 0).unwrap();
    let refused = engine.bootstrap(&low, &key, &Control::new()).unwrap_err();
    assert!(refused.kind() == ErrorKind::Level && refused.to_string().contains("one product earlier"), "{refused}");
    let other = engine.create_bootstrap_key(&engine.create_secret_key().unwrap(), None, &Control::new()).unwrap();
    let ct = engine.encrypt(&numbers(n, 1), 3, &pk).unwrap();
    assert_eq!(engine.bootstrap(&ct, &other, &Control::new()).unwrap_err().kind(), ErrorKind::KeyMismatch);
    let stopped = Control::new();
    stopped.cancel();
    assert_eq!(engine.bootstrap(&ct, &key, &stopped).unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(engine.create_bootstrap_key(&sk, Some(1000), &Control::new()).is_err());
    drop(relin);
}

/// What is rotated at level 1 keeps its noise, of which a bootstrap takes little: it says so, and a level above helps.
#[test]
fn rotations_come_before_the_last_level() {
    let engine = small();
    let sk = engine.create_secret_key().unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    let values = numbers(engine.count(), 5);
    let total = (values.iter().sum::<i64>() + T / 2).rem_euclid(T) - T / 2;
    let fresh = |level| engine.encrypt_with_secret(&values, level, &sk).unwrap();
    let late = engine.sum_slots(&fresh(1), &rotation).unwrap();
    assert_eq!(engine.decrypt(&late, &sk).unwrap()[0], total, "it decrypts");
    let refused = engine.bootstrap(&late, &key, &Control::new()).unwrap_err();
    assert!(refused.kind() == ErrorKind::Noise && refused.to_string().contains("level 2 or above"), "{refused}");
    let early = engine.sum_slots(&fresh(2), &rotation).unwrap();
    let out = engine.bootstrap(&early, &key, &Control::new()).unwrap();
    assert!(engine.decrypt(&out, &sk).unwrap() == vec![total; values.len()]);
    // One key switch: a step to the left is a key.
    let once = engine.rotate_rows(&fresh(1), &rotation, -1).unwrap();
    let out = engine.bootstrap(&once, &key, &Control::new()).unwrap();
    assert_eq!(engine.decrypt(&out, &sk).unwrap()[..3], values[1..4]);
}

/// Forty squarings and more, with a bootstrap wherever the levels end.
#[test]
fn squarings_go_on_for_ever() {
    let engine = small();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    let mut values = numbers(engine.count(), 9);
    let first = values.clone();
    let mut ct = engine.encrypt_with_secret(&values, 2, &sk).unwrap();
    for squaring in 0..42 {
        if ct.level() == 1 {
            let both =
                engine.bootstrap_many(&[ct.clone(), engine.negate(&ct).unwrap()], &key, &Control::new()).unwrap();
            let negated: Vec<i64> = values.iter().map(|v| -v).collect();
            assert!(engine.decrypt(&both[1], &sk).unwrap() == negated);
            ct = both[0].clone();
            assert_eq!(engine.stage_runs().len(), 8);
        }
        let fresh = engine.encrypt_with_secret(&first, 8, &sk).unwrap();
        ct = engine.add(&engine.multiply(&ct, &ct, &relin).unwrap(), &fresh).unwrap();
        values.iter_mut().zip(&first).for_each(|(v, f)| *v = (*v * *v + f + T / 2).rem_euclid(T) - T / 2);
        assert!(engine.decrypt(&ct, &sk).unwrap() == values, "squaring {squaring}");
    }
}

/// At the real size: twenty bootstraps in a row, of random numbers and of the ends of the range, with no slot wrong.
#[cfg(feature = "long")]
#[test]
fn twenty_bootstraps_in_a_row_at_the_real_size() {
    let engine = Engine::new(
        aglet::integer::presets::load("int16", aglet::integer::presets::Security::Bits128).unwrap(),
        Packing::Slots,
        0,
    )
    .unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    assert!(key.byte_count() < 1_800_000_000 && key.stored_bytes() < 900_000_000);
    let n = engine.count();
    let mut rows = [numbers(n, 7), vec![0; n], vec![-1; n], vec![T / 2; n]];
    for round in 0..20 {
        let values = &mut rows[if round < 17 { 0 } else { round - 16 }];
        let ct = engine.encrypt_with_secret(&values[..], 2, &sk).unwrap();
        let mut out = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
        assert!(engine.decrypt(&out, &sk).unwrap() == *values, "round {round}");
        // All products that it leaves.
        while out.level() > 1 {
            out = engine.multiply(&out, &out, &relin).unwrap();
            values.iter_mut().for_each(|v| *v = (*v * *v + T / 2).rem_euclid(T) - T / 2);
        }
        assert!(engine.decrypt(&out, &sk).unwrap() == *values, "round {round}, after its products");
    }
}
