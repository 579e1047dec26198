//! Files of integers: what is written comes back and works, files of every version are read, and whatever else is refused.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all integer_files::` writes those of the version that today's code writes that are not there
//! yet under `tests/vectors/integer-wire-VERSION`, and those of a set with a bootstrap under `integer-bootstrap-wire-VERSION`: what users
//! may have is never written again.

use aglet::integer::{
    presets, BootstrapKey, Ciphertext, Engine, IntegerParams, Packing, Plaintext, RelinearizationKey, RotationKey,
};
use aglet::wire::{self, IntegerOrigin, Stored};
use aglet::{Control, ErrorKind, PublicKey, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::integer;
use std::path::{Path, PathBuf};

fn params() -> IntegerParams {
    IntegerParams::from_toml(integer::FEWEST, Security::NotChecked).unwrap()
}

fn small(packing: Packing) -> Engine {
    Engine::new(params(), packing, 1).unwrap()
}

fn now() -> Control {
    Control::new()
}

fn through<T: Stored<IntegerOrigin> + Sync>(engine: &Engine, x: &T) -> T {
    let bytes = engine.serialize(x, &now()).unwrap();
    let back: T = engine.deserialize(&bytes, &now()).unwrap();
    assert_eq!(*engine.serialize(&back, &now()).unwrap(), *bytes, "a {} is written one way", T::KIND.name);
    let said = wire::FORMAT.summary(&bytes).unwrap();
    assert_eq!((said.kind, said.family), (T::KIND, "integer"));
    let origin = IntegerOrigin::find(&said, true).unwrap();
    assert!(origin.params == *engine.params() && origin.packing() == engine.packing());
    assert_eq!(
        wire::FORMAT.deserialize::<_, T>(&origin, &bytes, &now()).is_err(),
        T::SECRET,
        "secret keys want an engine"
    );
    back
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

fn refused<T: Stored<IntegerOrigin>>(engine: &Engine, bytes: &[u8]) -> ErrorKind {
    match engine.deserialize::<T>(bytes, &now()) {
        Ok(_) => panic!("a {} was read that should not be", T::KIND.name),
        Err(error) => error.kind(),
    }
}

#[test]
fn damaged_forged_and_foreign_files_are_refused() {
    let engine = small(Packing::Slots);
    let sk = engine.create_secret_key().unwrap();
    let ct = engine.encrypt_with_secret(&[1, 2, 3], 1, &sk).unwrap();
    let bytes = engine.serialize(&ct, &now()).unwrap();
    for at in 0..bytes.len() {
        let mut bad = bytes.to_vec();
        bad[at] ^= 1 << (at % 8);
        let kind = refused::<Ciphertext>(&engine, &bad);
        assert!(matches!(kind, ErrorKind::Serialization | ErrorKind::KeyMismatch), "byte {at}: {kind:?}");
    }
    assert!((0..bytes.len())
        .step_by(13)
        .all(|end| refused::<Ciphertext>(&engine, &bytes[..end]) == ErrorKind::Serialization));
    assert_eq!(refused::<Plaintext>(&engine, &bytes), ErrorKind::Serialization);
    assert_eq!(refused::<SecretKey>(&engine, &bytes), ErrorKind::Serialization);
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
        let mut bad = bytes.to_vec();
        bad[152 + 8 * word..160 + 8 * word].copy_from_slice(&u64::to_le_bytes(value));
        let seal = *blake3::hash(&bad[..224]).as_bytes();
        bad[224..256].copy_from_slice(&seal);
        assert_eq!(refused::<Ciphertext>(&engine, &bad), ErrorKind::Serialization, "word {word} = {value}");
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
    assert_eq!(refused::<SecretKey>(&engine, &theirs), ErrorKind::Serialization);
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

/// A header that says another thing, with the checksum that it would have.
fn forged(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut bad = bytes.to_vec();
    bad[at..at + with.len()].copy_from_slice(with);
    let seal = *blake3::hash(&bad[..224]).as_bytes();
    bad[224..256].copy_from_slice(&seal);
    bad
}

/// The largest key of all, cut, flipped, forged and foreign: each is refused, and before anything of its size is made.
#[test]
fn bootstrap_keys_that_are_none_are_refused() {
    let engine = refreshed();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &now()).unwrap();
    let bytes = engine.serialize(&through(&engine, &key), &now()).unwrap();
    let no = |bytes: &[u8]| refused::<BootstrapKey>(&engine, bytes);
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
        assert_eq!(no(&forged(&bytes, at, with)), ErrorKind::Serialization, "{with:?} at {at}");
    }
    // Engines of other parameters, with a bootstrap and without, and other families.
    for other in ["int16", "int-levels-13"] {
        let other = Engine::new(presets::load(other, presets::Security::Bits128).unwrap(), Packing::Slots, 1).unwrap();
        assert_eq!(refused::<BootstrapKey>(&other, &bytes), ErrorKind::KeyMismatch);
    }
    let toy = aglet::ckks::Engine::new(
        aglet::ckks::presets::load("toy", aglet::ckks::presets::Security::NotChecked).unwrap(),
        None,
        1,
    )
    .unwrap();
    assert!(toy.deserialize::<aglet::ckks::BootstrapKey>(&bytes, &now()).is_err());
    assert_eq!(refused::<RotationKey>(&engine, &bytes), ErrorKind::Serialization);
    // A set without a bootstrap has no such key, whatever a file says.
    let plain = small(Packing::Slots);
    let theirs =
        plain.serialize(&plain.create_relinearization_key(&plain.create_secret_key().unwrap()).unwrap(), &now());
    let kind = refused::<BootstrapKey>(&plain, &forged(&theirs.unwrap(), 10, &[7, 0]));
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

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

fn record() {
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"integers, for later to be read: ").unwrap();
    let engine = Engine::on(runtime, params(), Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let bytes = engine.serialize(&sk, &now()).unwrap();
    let folder = vectors().join(format!("integer-wire-{}", u16::from_le_bytes([bytes[8], bytes[9]])));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("secret_key");
    let sk = if path.exists() { engine.read(&path, &now()).unwrap() } else { sk };
    fn write<T: Stored<IntegerOrigin> + Sync>(engine: &Engine, path: PathBuf, x: &T) {
        if !path.exists() {
            engine.write(x, &path, &now()).unwrap();
        }
    }
    let pk = engine.create_public_key(&sk).unwrap();
    let ct = engine.encrypt(&CLEAR, 2, &pk).unwrap();
    write(&engine, path, &sk);
    write(&engine, folder.join("relinearization_key"), &engine.create_relinearization_key(&sk).unwrap());
    write(&engine, folder.join("rotation_key"), &engine.create_rotation_key(&sk, &now()).unwrap());
    write(&engine, folder.join("plaintext"), &engine.encode(&CLEAR).unwrap());
    write(&engine, folder.join("product"), &engine.multiply_only(&ct, &ct).unwrap());
    write(&engine, folder.join("ciphertext"), &ct);
    write(&engine, folder.join("public_key"), &pk);
}

/// Those of a set with a bootstrap, which stand beside.
fn record_refreshed() {
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"bootstraps, for later to be read").unwrap();
    let params = IntegerParams::from_toml(integer::REFRESHED, Security::NotChecked).unwrap();
    let engine = Engine::on(runtime, params, Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let bytes = engine.serialize(&sk, &now()).unwrap();
    let folder = vectors().join(format!("integer-bootstrap-wire-{}", u16::from_le_bytes([bytes[8], bytes[9]])));
    if folder.exists() {
        return;
    }
    std::fs::create_dir_all(&folder).unwrap();
    let ct = engine.encrypt_with_secret(&CLEAR, 1, &sk).unwrap();
    engine.write(&sk, &folder.join("secret_key"), &now()).unwrap();
    engine.write(&ct, &folder.join("ciphertext"), &now()).unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &now()).unwrap();
    engine.write(&key, &folder.join("bootstrap_key"), &now()).unwrap();
}

fn engine_of(folder: &Path) -> Engine {
    let said = wire::FORMAT.summary(&std::fs::read(folder.join("ciphertext")).unwrap()).unwrap();
    let origin = IntegerOrigin::find(&said, true).unwrap();
    Engine::new(origin.params.clone(), origin.packing(), 1).unwrap()
}

fn read<T: Stored<IntegerOrigin>>(engine: &Engine, folder: &Path, name: &str) -> T {
    engine.read(&folder.join(name), &now()).unwrap_or_else(|e| panic!("{folder:?}, {name}: {e}"))
}

fn check_refreshed(folder: &Path) {
    let engine = engine_of(folder);
    let (sk, ct): (SecretKey, Ciphertext) = (read(&engine, folder, "secret_key"), read(&engine, folder, "ciphertext"));
    let key: BootstrapKey = read(&engine, folder, "bootstrap_key");
    let out = engine.bootstrap(&ct, &key, &now()).unwrap();
    assert_eq!(engine.decrypt(&out, &sk).unwrap()[..4], CLEAR, "{folder:?}");
    assert_eq!(out.level(), engine.params().max_level());
}

/// Reads everything and uses it once.
fn check(folder: &Path) {
    let engine = engine_of(folder);
    let (sk, pk): (SecretKey, PublicKey) = (read(&engine, folder, "secret_key"), read(&engine, folder, "public_key"));
    let relin: RelinearizationKey = read(&engine, folder, "relinearization_key");
    let rotation: RotationKey = read(&engine, folder, "rotation_key");
    let (pt, ct): (Plaintext, Ciphertext) = (read(&engine, folder, "plaintext"), read(&engine, folder, "ciphertext"));
    let product = engine.relinearize(&read(&engine, folder, "product"), &relin).unwrap();
    let square = |x: i64| (x * x + 128).rem_euclid(257) - 128;
    assert_eq!(engine.decode(&pt).unwrap()[..4], CLEAR);
    assert_eq!(engine.decrypt(&engine.rotate_rows(&ct, &rotation, 1).unwrap(), &sk).unwrap()[1..5], CLEAR);
    assert_eq!(engine.decrypt(&product, &sk).unwrap()[..4], CLEAR.map(square), "{folder:?}");
    let fresh = engine.multiply(&engine.encrypt(&pt, 1, &pk).unwrap(), &ct, &relin).unwrap();
    assert_eq!(engine.decrypt(&fresh, &sk).unwrap()[..4], CLEAR.map(square), "{folder:?}");
}

#[test]
fn files_of_every_version_are_read() {
    if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
        record();
        record_refreshed();
    }
    for (prefix, check) in [("integer-wire-", check as fn(&Path)), ("integer-bootstrap-wire-", check_refreshed)] {
        let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
        let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        let folders: Vec<PathBuf> = paths.filter(ours).collect();
        assert!(!folders.is_empty(), "the files are gone");
        folders.iter().for_each(|folder| check(folder));
    }
}
