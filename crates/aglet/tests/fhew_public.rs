//! The compact public key of FHEW at its real sizes: what it takes in files, what it encrypts enters gates and tables, hostile files.

use aglet::fhew::{presets, Array, Engine, FhewContext, FhewParams, Form, Gate, Integer, PublicKey, Table, Unsigned};
use aglet::wire::Stored;
use aglet::{Control, ErrorKind};
use aglet_rlwe::security::Security;

fn now() -> Control {
    Control::new()
}

fn engine(name: &str) -> Engine {
    Engine::new(presets::load(name, presets::Security::NotChecked).unwrap(), 1).unwrap()
}

fn through<T: Stored<FhewContext> + Sync>(engine: &Engine, x: &T) -> (T, usize) {
    let bytes = engine.serialize(x, &now()).unwrap();
    let back: T = engine.deserialize(&bytes, &now()).unwrap();
    assert_eq!(*engine.serialize(&back, &now()).unwrap(), *bytes, "a {} is written one way", T::KIND.name);
    (back, bytes.len())
}

/// The key takes less than 13 kB in every set, and its ciphertexts have less noise than a bootstrap leaves: so whatever the set
/// promises of results it promises of them, at 2^-128.
#[test]
fn every_set_has_a_small_key_whose_ciphertexts_have_less_noise_than_results() {
    for (name, _) in presets::ALL {
        let engine = engine(name);
        let (params, sk) = (engine.params().lwe(), engine.create_secret_key().unwrap());
        let made = engine.create_public_key(&sk).unwrap();
        let (key, length) = through(&engine, &made);
        assert!(length <= 13_000 && key.id() == sk.id() && key.byte_count() <= 32_768, "{name}: {length} bytes");
        let noise = params.noise();
        assert!(noise.public < noise.blind_rotation / 4.0, "{name}: {:e}, {:e}", noise.public, noise.blind_rotation);
        if engine.params().insecurity().is_none() {
            let report = params.public_security();
            assert!(report.is_secure() && report.bits >= 128.0, "{name}: {report}");
        }
        let bits = engine.encrypt_bits(&[true, false], &key).unwrap();
        assert_eq!(engine.decrypt_bits(&bits, &sk).unwrap(), [true, false], "{name}");
        assert!((bits[0].variance() / noise.public - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_a_sender_encrypts_enters_gates_and_tables() {
    let engine = engine("gate");
    let sk = engine.create_secret_key().unwrap();
    let (public, key) = (engine.create_public_key(&sk).unwrap(), engine.create_bootstrap_key(&sk, &now()).unwrap());
    let (x, y) = ([true, true, false, false], [true, false, true, false]);
    let [a, b] = [x, y].map(|bits| engine.encrypt_bits(&bits, &public).unwrap());
    for (gate, wanted) in [(Gate::Nand, [false, true, true, true]), (Gate::Xor, [false, true, true, false])] {
        let out = engine.gate(gate, &[&a, &b], &key, None, &now()).unwrap();
        assert_eq!(engine.decrypt_bits(&out, &sk).unwrap(), wanted);
        // With bits of a secret key, too.
        let own = engine.encrypt_bits(&y, &sk).unwrap();
        let out = engine.gate(gate, &[&a, &own], &key, None, &now()).unwrap();
        assert_eq!(engine.decrypt_bits(&out, &sk).unwrap(), wanted);
    }
    // The bits of one encryption depend on one another, which a majority counts.
    let out = engine.gate(Gate::Majority, &[&a[..2], &a[1..3], &b[..2]], &key, None, &now()).unwrap();
    assert_eq!(engine.decrypt_bits(&out, &sk).unwrap(), [true, false]);

    let engine = self::engine("lut4");
    let sk = engine.create_secret_key().unwrap();
    let (public, key) = (engine.create_public_key(&sk).unwrap(), engine.create_bootstrap_key(&sk, &now()).unwrap());
    let message = engine.params().message();
    let all: Vec<u64> = (0..16).collect();
    let square = Table::new(message, message, &all.iter().map(|m| m * m % 16).collect::<Vec<_>>()).unwrap();
    let x = engine.encrypt(&all, message, &public).unwrap();
    let out = engine.lookup(&x, &square, &key, None, &now()).unwrap();
    assert_eq!(engine.decrypt(&out, message, &sk).unwrap(), all.iter().map(|m| m * m % 16).collect::<Vec<_>>());
    let (signed, unsigned) = (Integer::new(12).unwrap(), Unsigned::new(9).unwrap());
    let array = |form, cells| Array::new(&engine.context(), form, vec![3], sk.id(), cells).unwrap();
    let cells = engine.encrypt_integers(&[-2048, 0, 2047], signed, &public).unwrap();
    let (back, _) = through(&engine, &array(Form::Integers(signed), cells));
    assert_eq!(engine.decrypt_array(&back, &sk, None).unwrap(), [-2048, 0, 2047]);
    let cells = engine.encrypt_unsigned(&[0, 300, 511], unsigned, &public).unwrap();
    assert_eq!(engine.decrypt_array(&array(Form::Unsigned(unsigned), cells), &sk, None).unwrap(), [0, 300, 511]);
    assert_eq!(engine.encrypt(&[16], message, &public).unwrap_err().kind(), ErrorKind::Range);
    assert_eq!(engine.encrypt(&[1], message, &self::engine_keys().1).unwrap_err().kind(), ErrorKind::Parameter);
}

/// A set of another degree, and its key.
fn engine_keys() -> (Engine, PublicKey) {
    let params = FhewParams::from_toml(aglet_testing::fhew::FEWEST, Security::NotChecked).unwrap();
    let engine = Engine::new(params, 1).unwrap();
    let key = engine.create_public_key(&engine.create_secret_key().unwrap()).unwrap();
    (engine, key)
}

#[test]
fn arrays_of_a_sender_take_a_mask_for_2048_values() {
    let engine = engine("wide");
    let sk = engine.create_secret_key().unwrap();
    let (public, message) = (engine.create_public_key(&sk).unwrap(), engine.params().message());
    let clear: Vec<u64> = (0..5000).map(|i| i * i % 16).collect();
    let form = Form::Messages(message.domain());
    let made = |count: usize| {
        let cells = engine.encrypt(&clear[..count], message, &public).unwrap();
        Array::new(&engine.context(), form, vec![count], sk.id(), cells).unwrap()
    };
    let values = |x: &Array| engine.decrypt_array(x, &sk, None).unwrap().iter().map(|&x| x as u64).collect::<Vec<_>>();
    let (whole, length) = through(&engine, &made(2048));
    assert!(length < 24_576 + 800, "2,048 messages take {length} bytes");
    assert!(values(&whole) == clear[..2048] && whole.byte_count() < 2048 * 250);
    let (long, length) = through(&engine, &made(5000));
    assert!(length < 3 * 12_288 + 6 * 5000 + 800 && values(&long) == clear, "{length}");
    // Parts in any order are runs; few of a mask are written as words, with the same noise; so is what has other ciphertexts too.
    let places: Vec<usize> = (0..3000).map(|i| (i * 7 + i / 500) % 5000).collect();
    let (some, _) = through(&engine, &long.take(&places, vec![3, 1000]).unwrap());
    assert_eq!(values(&some), places.iter().map(|&i| clear[i]).collect::<Vec<_>>());
    let (one, length) = through(&engine, &long.take(&[4321], vec![]).unwrap());
    assert!(values(&one) == clear[4321..4322] && length < 14_000 && one.variance() == long.variance());
    let own = engine.encrypt(&[5], message, &sk).unwrap();
    let own = Array::new(&engine.context(), form, vec![1], sk.id(), own).unwrap();
    let (mixed, _) = through(&engine, &Array::joined(&[&one, &own, &one]).unwrap());
    assert_eq!(values(&mixed), [clear[4321], 5, clear[4321]]);
    assert_eq!(mixed.cells()[0].sources(), mixed.cells()[2].sources());
}

#[test]
fn words_and_runs_that_no_array_of_a_sender_has_are_refused() {
    let (engine, public) = engine_keys();
    let cells = engine.encrypt_bits(&[true; 300], &public).unwrap();
    let x = Array::new(&engine.context(), Form::Bits, vec![300], public.id(), cells).unwrap();
    let bytes = engine.serialize(&x, &now()).unwrap().to_vec();
    let refused = |bytes: &[u8]| engine.deserialize::<Array>(bytes, &now()).map(|_| ()).unwrap_err().kind();
    let sealed = |mut bytes: Vec<u8>| {
        let seal = *blake3::hash(&bytes[..224]).as_bytes();
        bytes[224..256].copy_from_slice(&seal);
        bytes
    };
    assert!(engine.deserialize::<Array>(&sealed(bytes.clone()), &now()).is_ok());
    // Form, axes, ciphertexts, fresh ones, noises, masks, runs.
    for (word, value) in
        [(1, 2u64), (2, 299), (2, 301), (3, 1), (4, 1), (5, 0), (5, 1), (5, 3), (6, 1), (6, 3), (5, u64::MAX), (7, 1)]
    {
        let mut bad = bytes.clone();
        bad[152 + 8 * word..160 + 8 * word].copy_from_slice(&value.to_le_bytes());
        assert_eq!(refused(&sealed(bad)), ErrorKind::Serialization, "word {word} = {value}");
    }
    // Two runs stand behind the length of the axis, each a mask, its first coefficient, a step, a number: a forger makes their
    // checksum anew.
    let start = bytes.len() - (512 + 304) / 8 * 40 - 32 - (8 + 32) - 32;
    assert_eq!(start, 256 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize);
    let forged =
        [(8, 2u32), (12, 1), (12, 256), (16, 2), (16, 0), (20, 0), (20, 255), (20, u32::MAX), (36, 45), (36, 43)];
    for (at, value) in forged {
        let mut bad = bytes.clone();
        bad[start + at..start + at + 4].copy_from_slice(&value.to_le_bytes());
        let seal: [u8; 32] = bad[224..256].try_into().unwrap();
        let part = bad[start..start + 40].to_vec();
        let check = *blake3::Hasher::new_keyed(&seal).update(&0u64.to_le_bytes()).update(&part).finalize().as_bytes();
        bad[start + 40..start + 72].copy_from_slice(&check);
        assert_eq!(refused(&bad), ErrorKind::Serialization, "run at {at} = {value}");
    }
    for bytes in [bytes, engine.serialize(&public, &now()).unwrap().to_vec()] {
        for at in (0..bytes.len()).step_by(3) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            let kind =
                [engine.deserialize::<Array>(&bad, &now()).err(), engine.deserialize::<PublicKey>(&bad, &now()).err()];
            assert!(
                kind.iter().all(|e| e
                    .as_ref()
                    .is_some_and(|e| matches!(e.kind(), ErrorKind::Serialization | ErrorKind::KeyMismatch))),
                "byte {at}"
            );
        }
        (0..bytes.len())
            .step_by(11)
            .for_each(|end| assert!(engine.deserialize::<PublicKey>(&bytes[..end], &now()).is_err()));
    }
}
