//! Files of FHEW: what is written comes back and works, sizes, and whatever else is refused.

use super::stored::{now, with_word, Store};
use aglet::fhew::{
    presets, Array, BootstrapKey, Ciphertext, Engine, FhewContext, FhewParams, Form, Gate, Message, PackingKey,
    SecretKey, TreeTable, Unsigned,
};
use aglet::wire::{self, Stored};
use aglet::{Control, ErrorKind};
use aglet_ring::{arch, sample::ChaChaSource};
use aglet_rlwe::lwe::LweContext;
use aglet_rlwe::security::Security;

fn small() -> Engine {
    Engine::new(FhewParams::from_toml(aglet_testing::fhew::FEWEST, Security::NotChecked).unwrap(), 1).unwrap()
}

fn array(engine: &Engine, sk: &SecretKey, shape: &[usize], cells: Vec<Ciphertext>) -> Array {
    Array::new(&engine.context(), Form::Bits, shape.to_vec(), sk.id(), cells).unwrap()
}

/// Writes and reads a thing, also where no engine is, and says how many bytes it takes.
fn through<T: Stored<FhewContext> + Sync>(engine: &Engine, x: &T) -> (T, usize) {
    let bytes = engine.bytes(x);
    let context = FhewContext::find(&wire::FORMAT.summary(&bytes).unwrap(), true).unwrap();
    assert!(context == engine.context() && wire::FORMAT.deserialize::<_, T>(&context, &bytes, &now()).is_ok());
    (engine.through(x), bytes.len())
}

#[test]
fn gates_work_on_what_comes_out_of_files() {
    for engine in [small(), Engine::new(presets::load("gate", presets::Security::Bits128).unwrap(), 1).unwrap()] {
        let sk = engine.create_secret_key().unwrap();
        let key = engine.create_bootstrap_key(&sk, &now()).unwrap();
        let clear = [true, false, true, true, false, false];
        let x = array(&engine, &sk, &[2, 3], engine.encrypt_bits(&clear, &sk).unwrap());
        let (sk, _) = through(&engine, &sk);
        let (key, length) = through(&engine, &key);
        assert!(length.abs_diff(key.stored_bytes()) < length / 50, "{length} against {}", key.stored_bytes());
        let (x, fresh) = through(&engine, &x);
        assert_eq!((x.shape(), x.form(), x.cells().len()), (&[2, 3][..], Form::Bits, 6));
        assert!(fresh < 1500, "a fresh bit is a seed and a body, and six took {fresh} bytes");
        let out =
            engine.gate(Gate::Nand, &[x.cells(), &engine.not(x.cells()).unwrap()], &key, Some(0.0), &now()).unwrap();
        let (out, _) = through(&engine, &array(&engine, &sk, &[6], out));
        assert_eq!(engine.decrypt_bits(out.cells(), &sk).unwrap(), [true; 6]);
        assert_eq!(engine.decrypt_bits(x.cells(), &sk).unwrap(), clear);
        // What is a sum keeps its terms.
        let sum = engine.sum(&[(&out.cells()[..1], 3), (&x.cells()[..1], -2)]).unwrap();
        let (sum, _) = through(&engine, &array(&engine, &sk, &[], sum));
        assert_eq!(sum.cells()[0].sources().len(), 2);
        assert!((sum.cells()[0].variance() / (9.0 * out.cells()[0].variance()) - 1.0).abs() < 0.1);
        through(&engine, &array(&engine, &sk, &[0, 5], vec![]));
        let unsigned = Unsigned::new(6).unwrap();
        let words = engine.encrypt_unsigned(&[30, 63], unsigned, &sk).unwrap();
        let words = Array::new(&engine.context(), Form::Unsigned(unsigned), vec![2], sk.id(), words).unwrap();
        let (words, _) = through(&engine, &words.plus_clear(&[-31, 1]).unwrap());
        assert_eq!(words.form(), Form::Unsigned(unsigned));
        assert_eq!(engine.decrypt_array(&words, &sk, None).unwrap(), [63, 0]);
    }
}

#[test]
fn keys_of_files_are_as_small_as_seeds_make_them() {
    for (name, most) in [("gate", 8_000_000), ("lut4", 22_000_000)] {
        let engine = Engine::new(presets::load(name, presets::Security::Bits128).unwrap(), 0).unwrap();
        let key = engine.create_bootstrap_key(&engine.create_secret_key().unwrap(), &now()).unwrap();
        let (_, length) = through(&engine, &key);
        assert!(length <= most, "{name}: {length} bytes");
    }
}

#[test]
fn tables_of_two_messages_work_with_keys_out_of_files() {
    let engine = Engine::new(presets::load("wide", presets::Security::Bits128).unwrap(), 0).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, &now()).unwrap();
    let made = engine.create_packing_key(&sk, &now()).unwrap();
    let (packing, length) = through(&engine, &made);
    assert!(length < made.byte_count() * 11 / 20 + 1024, "a seed and one of two columns, and {length} bytes");
    let message: Message = engine.params().message();
    let x = engine.encrypt(&[3, 14], message, &sk).unwrap();
    let table = TreeTable::new(message, message, &(0..256).map(|i| i * 3 / 16 % 16).collect::<Vec<_>>()).unwrap();
    let out =
        engine.lookup_tree(&[&x[..1], &x[1..]], std::slice::from_ref(&table), (&key, &packing), None, &now()).unwrap();
    assert_eq!(engine.decrypt(&out[0], message, &sk).unwrap(), [62 * 3 / 16]);
    // A key of an older file, without the key that chooses: its rotations that choose are those of the bootstrap key.
    assert!(packing.choices().is_some() && packing.byte_count() == engine.packing_key_bytes());
    let ctx = LweContext::new(engine.params().lwe().clone(), arch::chosen().unwrap()).unwrap();
    let gadget = PackingKey::digits(&ctx);
    let older = PackingKey::generate(&ctx, &sk, gadget, &mut ChaChaSource::from_seed([3; 32]), &mut |_, _| true);
    let (older, length) = through(&engine, &older.unwrap());
    assert!(older.choices().is_none() && length < packing.stored_bytes() / 20);
    let again =
        engine.lookup_tree(&[&x[..1], &x[1..]], std::slice::from_ref(&table), (&key, &older), None, &now()).unwrap();
    assert_eq!(engine.decrypt(&again[0], message, &sk).unwrap(), [62 * 3 / 16]);
    assert!(again[0][0].variance() < out[0][0].variance());
    // A digit that no such key has.
    let mut bytes = engine.serialize(&made, &now()).unwrap().to_vec();
    let at = bytes.windows(8).position(|word| word == 22u64.to_le_bytes()).unwrap();
    bytes[at] = 21;
    assert_eq!(engine.refused::<PackingKey>(&bytes).0, ErrorKind::Serialization);
    let stopped = Control::new();
    stopped.cancel();
    let stopped = engine.create_packing_key(&sk, &stopped).map(|_| ()).unwrap_err().kind();
    assert_eq!(stopped, ErrorKind::Cancelled);
    assert_eq!(engine.check_packing_memory(Some(1000)).unwrap_err().kind(), ErrorKind::Memory);
}

#[test]
fn damaged_cut_and_foreign_files_are_refused() {
    let engine = small();
    let sk = engine.create_secret_key().unwrap();
    let x = array(&engine, &sk, &[1], engine.encrypt_bits(&[true], &sk).unwrap());
    let minus = array(&engine, &sk, &[1], engine.not(x.cells()).unwrap());
    for x in [x, minus] {
        let bytes = engine.bytes(&x);
        engine.damage_is_seen(&x, (8, 7));
        assert_eq!(engine.refused::<SecretKey>(&bytes).0, ErrorKind::Serialization);
        assert_eq!(engine.refused::<BootstrapKey>(&bytes).0, ErrorKind::Serialization);
        assert_eq!(engine.refused::<PackingKey>(&bytes).0, ErrorKind::Serialization);
        let other = Engine::new(presets::load("gate", presets::Security::Bits128).unwrap(), 1).unwrap();
        assert_eq!(other.refused::<Array>(&bytes).0, ErrorKind::KeyMismatch);
    }
    // Of the other family.
    let toy = aglet::ckks::Engine::new(
        aglet::ckks::presets::load("toy", aglet::ckks::presets::Security::NotChecked).unwrap(),
        None,
        1,
    )
    .unwrap();
    let bytes = toy.serialize(&toy.create_secret_key().unwrap(), &now()).unwrap();
    assert_eq!(engine.refused::<SecretKey>(&bytes).0, ErrorKind::Serialization);
    assert!(FhewContext::find(&wire::FORMAT.summary(&bytes).unwrap(), true).is_err());
    let bytes = engine.serialize(&sk, &now()).unwrap();
    let wrong = toy.deserialize::<aglet::SecretKey>(&bytes, &now()).unwrap_err().to_string();
    assert!(wrong.contains("fhew secret key"), "{wrong}");
    // A set below 128 bits has to be asked for.
    let kind = FhewContext::find(&wire::FORMAT.summary(&bytes).unwrap(), false).err().unwrap().kind();
    assert!(matches!(kind, ErrorKind::Insecure | ErrorKind::Parameter), "{kind:?}");
}

#[test]
fn words_that_no_array_has_are_refused() {
    let engine = small();
    let sk = engine.create_secret_key().unwrap();
    let x = array(&engine, &sk, &[2], engine.encrypt_bits(&[true, false], &sk).unwrap());
    let bytes = engine.serialize(&x, &now()).unwrap();
    // Behind magic, version, type, length, payload, id, slots, fingerprint, shapes, family and literal: form, axes, ciphertexts,
    // fresh ones, noises.
    for (word, value) in [
        (0, 7u64),
        (0, 5),
        (0, 5 | 21 << 8),
        (0, 1 << 8),
        (1, 65),
        (1, 0),
        (2, 1),
        (2, u64::MAX),
        (3, 3),
        (3, 1),
        (4, 1),
        (5, 1),
    ] {
        let bad = with_word(&bytes, word, value);
        assert_eq!(engine.refused::<Array>(&bad).0, ErrorKind::Serialization, "word {word} = {value}");
    }
}
