//! Files of integers: what is written comes back and works, files of every version are read, and whatever else is refused.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all integer_files::` writes those of the version that today's code writes that are not there
//! yet under `tests/vectors/integer-wire-VERSION`, and those of a set with a bootstrap under `integer-bootstrap-wire-VERSION`: what users
//! may have is never written again.

use super::stored::{forged, now, with_word, Corpus, Store};
use aglet::integer::{
    presets, BootstrapKey, Ciphertext, Engine, IntegerParams, Packing, Plaintext, RelinearizationKey, RotationKey,
};
use aglet::wire::{self, IntegerOrigin, Stored};
use aglet::{ErrorKind, PublicKey, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::integer;

fn params() -> IntegerParams {
    IntegerParams::from_toml(integer::FEWEST, Security::NotChecked).unwrap()
}

fn small(packing: Packing) -> Engine {
    Engine::new(params(), packing, 1).unwrap()
}

/// Writes and reads a thing, also where no engine is: secret keys want one.
fn through<T: Stored<IntegerOrigin> + Sync>(engine: &Engine, x: &T) -> T {
    let bytes = engine.bytes(x);
    let origin = IntegerOrigin::find(&wire::FORMAT.summary(&bytes).unwrap(), true).unwrap();
    assert!(origin.params == *engine.params() && origin.packing() == engine.packing());
    assert_eq!(wire::FORMAT.deserialize::<_, T>(&origin, &bytes, &now()).is_err(), T::SECRET);
    engine.through(x)
}

#[test]
fn integers_work_on_what_comes_out_of_files() {
    let preset =
        Engine::new(presets::load("int-levels-13", presets::Security::Bits128).unwrap(), Packing::Slots, 0).unwrap();
    for engine in [small(Packing::Slots), small(Packing::Coefficients), preset] {
        let sk = through(&engine, &engine.create_secret_key().unwrap());
        let pk = through(&engine, &engine.create_public_key(&sk).unwrap());
        let relin = through(&engine, &engine.create_relinearization_key(&sk).unwrap());
        let x: Vec<i64> = (0..engine.count() as i64).map(|i| i % 100 - 50).collect();
        let pt = through(&engine, &engine.encode(&x).unwrap());
        let ct = through(&engine, &engine.encrypt(&pt, 2, &pk).unwrap());
        assert_eq!(engine.decrypt(&ct, &sk).unwrap(), x);
        let product = through(&engine, &engine.multiply_only(&ct, &ct).unwrap());
        let own = engine.relinearize(&engine.multiply_only(&ct, &ct).unwrap(), &relin).unwrap();
        let read = engine.relinearize(&product, &relin).unwrap();
        assert_eq!(engine.decrypt(&read, &sk).unwrap(), engine.decrypt(&own, &sk).unwrap());
        if engine.packing() == Packing::Slots {
            let rotation = through(&engine, &engine.create_rotation_key(&sk, &now()).unwrap());
            let sum = engine.sum_slots(&ct, &rotation).unwrap();
            let t = engine.params().plain();
            assert_eq!(engine.decrypt(&sum, &sk).unwrap()[0], t.centre(t.reduce_i64(x.iter().sum())));
        } else {
            assert!(engine.create_rotation_key(&sk, &now()).is_err(), "coefficients are not rotated");
        }
    }
}

#[test]
fn damaged_forged_and_foreign_files_are_refused() {
    let engine = small(Packing::Slots);
    let sk = engine.create_secret_key().unwrap();
    let ct = engine.encrypt_with_secret(&[1, 2, 3], 1, &sk).unwrap();
    let bytes = engine.bytes(&ct);
    engine.damage_is_seen(&ct, (8, 13));
    assert_eq!(engine.refused::<Plaintext>(&bytes).0, ErrorKind::Serialization);
    assert_eq!(engine.refused::<SecretKey>(&bytes).0, ErrorKind::Serialization);
    let refused = |bytes: &[u8]| engine.refused::<Ciphertext>(bytes).0;
    // Limbs, polynomials, factor, noise, and a word of no meaning.
    for (word, value) in [
        (0, 0),
        (0, 3),
        (0, 4),
        (1, 1),
        (1, 3),
        (1, 4),
        (2, 0),
        (2, 257),
        (2, u64::MAX),
        (3, f64::NAN.to_bits()),
        (3, (-1f64).to_bits()),
        (3, f64::INFINITY.to_bits()),
        (4, 1),
    ] {
        assert_eq!(refused(&with_word(&bytes, word, value)), ErrorKind::Serialization, "word {word} = {value}");
    }
    // Other packings and parameters, which are named.
    let say = |engine: &Engine| engine.deserialize::<Ciphertext>(&bytes, &now()).unwrap_err();
    let other = say(&small(Packing::Coefficients));
    assert!(other.kind() == ErrorKind::KeyMismatch && other.to_string().contains("packing=\"slots\""), "{other}");
    let other = say(&Engine::new(presets::with_depth(4, 65_537).unwrap(), Packing::Slots, 1).unwrap());
    assert!(other.to_string().contains("plaintext_modulus=257"), "{other}");
    // Types that another family has as well.
    let toy = aglet::ckks::Engine::new(
        aglet::ckks::presets::load("toy", aglet::ckks::presets::Security::NotChecked).unwrap(),
        None,
        1,
    )
    .unwrap();
    let theirs = toy.serialize(&toy.create_secret_key().unwrap(), &now()).unwrap();
    assert_eq!(engine.refused::<SecretKey>(&theirs).0, ErrorKind::Serialization);
    let ours = engine.serialize(&sk, &now()).unwrap();
    let wrong = toy.deserialize::<SecretKey>(&ours, &now()).unwrap_err().to_string();
    assert!(wrong.contains("family \"integer\""), "{wrong}");
    let said = wire::FORMAT.summary(&ours).unwrap();
    let kind = IntegerOrigin::find(&said, false).err().unwrap().kind();
    assert!(matches!(kind, ErrorKind::Insecure | ErrorKind::Parameter), "{kind:?}");
}

fn refreshed() -> Engine {
    let params = IntegerParams::from_toml(integer::REFRESHED, Security::NotChecked).unwrap();
    Engine::new(params, Packing::Slots, 1).unwrap()
}

/// The largest key of all, cut, flipped, forged and foreign: each is refused, and before anything of its size is made.
#[test]
fn bootstrap_keys_that_are_none_are_refused() {
    let engine = refreshed();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &now()).unwrap();
    let bytes = engine.serialize(&through(&engine, &key), &now()).unwrap();
    let no = |bytes: &[u8]| engine.refused::<BootstrapKey>(bytes).0;
    let step = bytes.len() / 97;
    for at in (0..bytes.len()).step_by(step).chain(0..256) {
        assert_eq!(no(&bytes[..at]), ErrorKind::Serialization, "{at} bytes");
        let mut bad = bytes.to_vec();
        bad[at] ^= 1 << (at % 8);
        assert!(matches!(no(&bad), ErrorKind::Serialization | ErrorKind::KeyMismatch), "byte {at}");
    }
    assert_eq!(no(&[&bytes[..], &[0]].concat()), ErrorKind::Serialization, "one byte more");
    // Another length of parts, of the text, another type, slots that no key has, and words of no meaning.
    for (at, with) in
        [(16, &u64::MAX.to_le_bytes()[..]), (12, &[255, 255, 255, 255]), (10, &[3, 0]), (152, &[1]), (216, &[1])]
    {
        let bad = forged(&bytes, |header| header[at..at + with.len()].copy_from_slice(with));
        assert_eq!(no(&bad), ErrorKind::Serialization, "{with:?} at {at}");
    }
    // Engines of other parameters, with a bootstrap and without, and other families.
    for other in ["int16", "int-levels-13"] {
        let other = Engine::new(presets::load(other, presets::Security::Bits128).unwrap(), Packing::Slots, 1).unwrap();
        assert_eq!(other.refused::<BootstrapKey>(&bytes).0, ErrorKind::KeyMismatch);
    }
    let toy = aglet::ckks::Engine::new(
        aglet::ckks::presets::load("toy", aglet::ckks::presets::Security::NotChecked).unwrap(),
        None,
        1,
    )
    .unwrap();
    assert!(toy.deserialize::<aglet::ckks::BootstrapKey>(&bytes, &now()).is_err());
    assert_eq!(engine.refused::<RotationKey>(&bytes).0, ErrorKind::Serialization);
    // A set without a bootstrap has no such key, whatever a file says.
    let plain = small(Packing::Slots);
    let theirs =
        plain.serialize(&plain.create_relinearization_key(&plain.create_secret_key().unwrap()).unwrap(), &now());
    let kind = plain.refused::<BootstrapKey>(&forged(&theirs.unwrap(), |header| header[10] = 7)).0;
    assert!(matches!(kind, ErrorKind::Serialization | ErrorKind::Parameter), "{kind:?}");
    // Sets that ask for more primes than there are.
    for (own, more) in [
        ("digits = { bits = 50, count = 5 }", "digits = { bits = 50, count = 4000000000000 }"),
        ("raised = { bits = 49, count = 2 }", "raised = { bits = 49, count = 4000000000000 }"),
    ] {
        let text = integer::REFRESHED.replace(own, more);
        let refused = IntegerParams::from_toml(&text, Security::NotChecked).err().unwrap().to_string();
        assert!(refused.contains("more than 64"), "{refused}");
    }
}

const CLEAR: [i64; 4] = [-128, 0, 77, 128];

fn record() {
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"integers, for later to be read: ").unwrap();
    let engine = Engine::on(runtime, params(), Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let bytes = engine.serialize(&sk, &now()).unwrap();
    let folder = &Corpus::of_today("integer-wire-", &bytes, "");
    std::fs::create_dir_all(folder).unwrap();
    let corpus = Corpus { folder };
    corpus.write(&engine, "secret_key", &sk);
    let sk = corpus.read(&engine, "secret_key");
    let pk = engine.create_public_key(&sk).unwrap();
    let ct = engine.encrypt(&CLEAR, 2, &pk).unwrap();
    corpus.write(&engine, "relinearization_key", &engine.create_relinearization_key(&sk).unwrap());
    corpus.write(&engine, "rotation_key", &engine.create_rotation_key(&sk, &now()).unwrap());
    corpus.write(&engine, "plaintext", &engine.encode(&CLEAR).unwrap());
    corpus.write(&engine, "product", &engine.multiply_only(&ct, &ct).unwrap());
    corpus.write(&engine, "ciphertext", &ct);
    corpus.write(&engine, "public_key", &pk);
}

/// Those of a set with a bootstrap, which stand beside.
fn record_refreshed() {
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"bootstraps, for later to be read").unwrap();
    let params = IntegerParams::from_toml(integer::REFRESHED, Security::NotChecked).unwrap();
    let engine = Engine::on(runtime, params, Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let bytes = engine.serialize(&sk, &now()).unwrap();
    let folder = &Corpus::of_today("integer-bootstrap-wire-", &bytes, "");
    if folder.exists() {
        return;
    }
    std::fs::create_dir_all(folder).unwrap();
    let (corpus, ct) = (Corpus { folder }, engine.encrypt_with_secret(&CLEAR, 1, &sk).unwrap());
    corpus.write(&engine, "secret_key", &sk);
    corpus.write(&engine, "ciphertext", &ct);
    corpus.write(&engine, "bootstrap_key", &engine.create_bootstrap_key(&sk, None, &now()).unwrap());
}

fn engine_of(corpus: &Corpus<'_>) -> Engine {
    let origin = IntegerOrigin::find(&corpus.said("ciphertext"), true).unwrap();
    Engine::new(origin.params.clone(), origin.packing(), 1).unwrap()
}

fn check_refreshed(corpus: &Corpus<'_>) {
    let engine = engine_of(corpus);
    let (sk, ct): (SecretKey, Ciphertext) = (corpus.read(&engine, "secret_key"), corpus.read(&engine, "ciphertext"));
    let key: BootstrapKey = corpus.read(&engine, "bootstrap_key");
    let out = engine.bootstrap(&ct, &key, &now()).unwrap();
    assert_eq!(engine.decrypt(&out, &sk).unwrap()[..4], CLEAR, "{:?}", corpus.folder);
    assert_eq!(out.level(), engine.params().max_level());
}

/// Reads everything and uses it once.
fn check(corpus: &Corpus<'_>) {
    let engine = engine_of(corpus);
    let (sk, pk): (SecretKey, PublicKey) = (corpus.read(&engine, "secret_key"), corpus.read(&engine, "public_key"));
    let relin: RelinearizationKey = corpus.read(&engine, "relinearization_key");
    let rotation: RotationKey = corpus.read(&engine, "rotation_key");
    let (pt, ct): (Plaintext, Ciphertext) = (corpus.read(&engine, "plaintext"), corpus.read(&engine, "ciphertext"));
    let product = engine.relinearize(&corpus.read(&engine, "product"), &relin).unwrap();
    let square = |x: i64| (x * x + 128).rem_euclid(257) - 128;
    assert_eq!(engine.decode(&pt).unwrap()[..4], CLEAR);
    assert_eq!(engine.decrypt(&engine.rotate_rows(&ct, &rotation, 1).unwrap(), &sk).unwrap()[1..5], CLEAR);
    assert_eq!(engine.decrypt(&product, &sk).unwrap()[..4], CLEAR.map(square), "{:?}", corpus.folder);
    let fresh = engine.multiply(&engine.encrypt(&pt, 1, &pk).unwrap(), &ct, &relin).unwrap();
    assert_eq!(engine.decrypt(&fresh, &sk).unwrap()[..4], CLEAR.map(square), "{:?}", corpus.folder);
}

#[test]
fn files_of_every_version_are_read() {
    Corpus::each("integer-wire-", record, check);
    Corpus::each("integer-bootstrap-wire-", record_refreshed, check_refreshed);
}
