//! Results for sending at their real sizes: bytes a bit, failures, values, files, refusals.

use aglet::fhew::{presets, Array, Engine, FhewParams, Form, Integer, PackingKey, SecretKey, Table, Unsigned};
use aglet::{Control, ErrorKind};
use aglet_rlwe::security::Security;

fn now() -> Control {
    Control::new()
}

fn engine(name: &str) -> Engine {
    Engine::new(presets::load(name, presets::Security::Bits128).unwrap(), 0).unwrap()
}

fn keys(engine: &Engine) -> (SecretKey, PackingKey) {
    let sk = engine.create_secret_key().unwrap();
    let packing = engine.create_packing_key(&sk, &now()).unwrap();
    (sk, packing)
}

fn through(engine: &Engine, x: &Array) -> (Array, usize) {
    let bytes = engine.serialize(x, &now()).unwrap();
    let back: Array = engine.deserialize(&bytes, &now()).unwrap();
    assert_eq!(*engine.serialize(&back, &now()).unwrap(), *bytes, "an array is written one way");
    assert_eq!((back.shape(), back.form()), (x.shape(), x.form()));
    assert!((back.variance() - x.variance()).abs() <= 1e-12 * x.variance());
    (back, bytes.len())
}

/// 2,048 nibbles that tables gave: at most 0.8 bytes a bit with everything that a file has, right, and at 2^-128.
#[test]
fn results_of_2048_nibbles_take_less_than_0_8_bytes_a_bit() {
    for name in ["lut4", "wide"] {
        let engine = engine(name);
        let (sk, packing) = keys(&engine);
        let bootstrap = engine.create_bootstrap_key(&sk, &now()).unwrap();
        let message = engine.params().message();
        let clear: Vec<u64> = (0..16).collect();
        let table = Table::new(message, message, &clear.iter().map(|m| (m * 7 + 3) % 16).collect::<Vec<_>>()).unwrap();
        let results = engine.lookup(&engine.encrypt(&clear, message, &sk).unwrap(), &table, &bootstrap, None, &now());
        let form = Form::Messages(message.domain());
        let some = Array::new(&engine.context(), form, vec![16], sk.id(), results.unwrap()).unwrap();
        let all = some.take(&(0..2048).map(|i| i * i % 16).collect::<Vec<_>>(), vec![64, 32]).unwrap();
        let sent = engine.compress(&all, &packing, None, &now()).unwrap();
        let (sent, length) = through(&engine, &sent);
        assert!(length as f64 <= 0.8 * 8192.0, "{name}: {length} bytes for 8,192 bits");
        assert_eq!(engine.decrypt_array(&sent, &sk, None).unwrap(), engine.decrypt_array(&all, &sk, None).unwrap());
        // Less is not allowed, and a failure of 2^-40 takes less.
        let failure = aglet_rlwe::lwe::log2_tail(message.half_step(), sent.variance());
        assert!((-260.0..=-128.0).contains(&failure), "{name}: 2^{failure}");
        let (less, shorter) = through(&engine, &engine.compress(&all, &packing, Some(-40.0), &now()).unwrap());
        assert!(shorter < length && engine.decrypt_array(&less, &sk, None).unwrap_err().kind() == ErrorKind::Range);
        assert_eq!(
            engine.decrypt_array(&less, &sk, Some(-40.0)).unwrap(),
            engine.decrypt_array(&all, &sk, None).unwrap()
        );
        // It does not enter a table.
        let entered = engine.lookup(sent.cells(), &table, &bootstrap, None, &now()).unwrap_err();
        assert!(matches!(entered.kind(), ErrorKind::Parameter | ErrorKind::Range), "{entered}");
        // On the whole torus messages lie twice as far apart.
        let full = all.without_padding().unwrap();
        let (apart, least) = through(&engine, &engine.compress(&full, &packing, None, &now()).unwrap());
        assert_eq!(engine.decrypt_array(&apart, &sk, None).unwrap(), engine.decrypt_array(&all, &sk, None).unwrap());
        assert!(least as f64 <= 0.73 * 8192.0 && full.without_padding().is_err(), "{least}");
        println!("{name}: {length} bytes, {:.3} a bit, 2^{failure:.0}; at 2^-40 {shorter}", length as f64 / 8192.0);
    }
}

#[test]
fn every_form_comes_back_in_every_set() {
    for (name, _) in presets::ALL {
        // What is no secure set sends nothing.
        if presets::load(name, Security::Bits128).is_err() {
            continue;
        }
        let engine = engine(name);
        let (sk, packing) = keys(&engine);
        let (context, message) = (engine.context(), engine.params().message());
        let array = |form, cells| Array::new(&context, form, vec![3], sk.id(), cells).unwrap();
        let mut arrays = vec![array(Form::Bits, engine.encrypt_bits(&[true, false, true], &sk).unwrap())];
        for domain in aglet::fhew::Domain::ALL {
            let cells = engine.encrypt(&[0, 1, message.space() - 1], message.within(domain), &sk).unwrap();
            arrays.push(array(Form::Messages(domain), cells));
        }
        let (integer, unsigned) = (Integer::new(4).unwrap(), Unsigned::new(3).unwrap());
        arrays.push(array(Form::Integers(integer), engine.encrypt_integers(&[-8, 0, 7], integer, &sk).unwrap()));
        arrays.push(array(Form::Unsigned(unsigned), engine.encrypt_unsigned(&[0, 3, 7], unsigned, &sk).unwrap()));
        for x in arrays {
            let clear = engine.decrypt_array(&x, &sk, None).unwrap();
            let sent = engine.compress(&x, &packing, None, &now()).unwrap();
            let (back, length) = through(&engine, &sent);
            assert_eq!(engine.decrypt_array(&back, &sk, None).unwrap(), clear, "{name}, {:?}", x.form());
            assert!(length < 4600, "{name}, {:?}: {length} bytes", x.form());
        }
    }
}

#[test]
fn arrays_of_several_samples_parts_and_none_come_back() {
    let engine = engine("gate");
    let (sk, packing) = keys(&engine);
    let clear: Vec<bool> = (0..1300).map(|i| i % 3 == 0).collect();
    let array = |bits: &[bool]| {
        let cells = engine.encrypt_bits(bits, &sk).unwrap();
        Array::new(&engine.context(), Form::Bits, vec![bits.len()], sk.id(), cells).unwrap()
    };
    let control = Control::new();
    let sent = engine.compress(&array(&clear), &packing, None, &control).unwrap();
    let (back, length) = through(&engine, &sent);
    assert!(
        engine.decrypt_bits(back.cells(), &sk).unwrap() == clear && length < 3 * 1536 * 10 / 8 + 1300 * 8 / 8 + 800,
        "{length}"
    );
    let places = [1299, 0, 700, 700, 2, 5, 8];
    let (some, _) = through(&engine, &back.take(&places, vec![7]).unwrap());
    assert_eq!(engine.decrypt_bits(some.cells(), &sk).unwrap(), places.map(|i| clear[i]));
    // Of two roundings, and with others: words again.
    let other = engine.compress(&array(&clear[..2]), &packing, Some(-30.0), &now()).unwrap();
    let (mixed, _) = through(&engine, &Array::joined(&[&some, &other, &array(&[true])]).unwrap());
    assert_eq!(engine.decrypt_array(&mixed, &sk, Some(-30.0)).unwrap()[7..], [1, 0, 1]);
    through(&engine, &engine.compress(&array(&[]), &packing, None, &now()).unwrap());
    control.cancel();
    let stopped = engine.compress(&array(&clear), &packing, None, &control).map(|_| ()).unwrap_err();
    assert_eq!(stopped.kind(), ErrorKind::Cancelled);
    // Keys of another secret, and noise that leaves no room.
    let foreign = keys(&engine).1;
    assert_eq!(
        engine.compress(&array(&[true]), &foreign, None, &now()).map(|_| ()).unwrap_err().kind(),
        ErrorKind::KeyMismatch
    );
    let tables = self::engine("lut4");
    let (sk, packing) = keys(&tables);
    let message = tables.params().message();
    let one = tables.encrypt(&[1], message, &sk).unwrap();
    let one = Array::new(&tables.context(), Form::Messages(message.domain()), vec![1], sk.id(), one).unwrap();
    let noisy = tables.compress(&one, &packing, None, &now()).unwrap().times(&[3]).unwrap();
    let refused = tables.compress(&noisy, &packing, None, &now()).map(|_| ()).unwrap_err();
    assert!(refused.kind() == ErrorKind::Range && refused.to_string().contains("2^-128"), "{refused}");
}

#[test]
fn words_that_no_compressed_array_has_are_refused() {
    let engine =
        Engine::new(FhewParams::from_toml(aglet_testing::fhew::FEWEST, Security::NotChecked).unwrap(), 1).unwrap();
    let (sk, packing) = keys(&engine);
    let cells = engine.encrypt_bits(&[true; 140], &sk).unwrap();
    let x = Array::new(&engine.context(), Form::Bits, vec![140], sk.id(), cells).unwrap();
    let sent = engine.compress(&x, &packing, None, &now()).unwrap();
    let bytes = engine.serialize(&sent, &now()).unwrap().to_vec();
    let refused = |bytes: &[u8]| engine.deserialize::<Array>(bytes, &now()).map(|_| ()).unwrap_err().kind();
    let sealed = |mut bytes: Vec<u8>| {
        let seal = *blake3::hash(&bytes[..224]).as_bytes();
        bytes[224..256].copy_from_slice(&seal);
        bytes
    };
    let bits = u64::from_le_bytes(bytes[208..216].try_into().unwrap());
    // Ciphertexts, masks, runs, bits of masks and bodies, and a word that has no meaning.
    let wrong = [
        (2, 139u64),
        (5, 0),
        (5, 1),
        (5, 3),
        (6, 1),
        (6, 3),
        (7, 0),
        (7, bits + 1),
        (7, bits + 256),
        (7, 33),
        (7, u64::MAX),
        (8, 1),
    ];
    for (word, value) in wrong {
        let mut bad = bytes.clone();
        bad[152 + 8 * word..160 + 8 * word].copy_from_slice(&value.to_le_bytes());
        assert_eq!(refused(&sealed(bad)), ErrorKind::Serialization, "word {word} = {value}");
    }
    // Variances that are none, under a checksum that a forger made.
    let start = 256 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    for variance in [f64::NAN, f64::INFINITY, -1e-9] {
        let mut bad = bytes.clone();
        bad[start + 40..start + 48].copy_from_slice(&variance.to_bits().to_le_bytes());
        let seal: [u8; 32] = bad[224..256].try_into().unwrap();
        let part = bad[start..start + 56].to_vec();
        let check = *blake3::Hasher::new_keyed(&seal).update(&0u64.to_le_bytes()).update(&part).finalize().as_bytes();
        bad[start + 56..start + 88].copy_from_slice(&check);
        assert_eq!(refused(&bad), ErrorKind::Serialization, "{variance}");
    }
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(matches!(refused(&bad), ErrorKind::Serialization | ErrorKind::KeyMismatch), "byte {at}");
    }
    // Packing keys say their digits, and no others are taken.
    let bytes = engine.serialize(&packing, &now()).unwrap().to_vec();
    for (word, value) in [(0, 0u64), (0, 1), (0, 3), (1, 0), (1, 17), (2, 1)] {
        let mut bad = bytes.clone();
        bad[152 + 8 * word..160 + 8 * word].copy_from_slice(&value.to_le_bytes());
        let found = engine.deserialize::<PackingKey>(&sealed(bad), &now()).map(|_| ()).unwrap_err().kind();
        assert_eq!(found, ErrorKind::Serialization, "word {word} = {value}");
    }
}
