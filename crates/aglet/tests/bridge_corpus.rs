//! Files of bridges of every version of the format, kept under `tests/vectors/bridge-wire-VERSION` and
//! `tests/vectors/integer-bridge-wire-VERSION`: today's code reads each, and the key still leads both ways, or down.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test bridge_corpus` writes those of the version that today's code writes that are not there
//! yet: what users may have is never written again.

use aglet::bridge::{Bridge, BridgeKey, IntegerBridge, IntegerBridgeKey, Parts, Reading};
use aglet::ckks::{self, BootstrapKeys, CkksParams, KeySize, Method, Request};
use aglet::fhew::{self, FhewParams, Form};
use aglet::integer::{self, Packing};
use aglet::wire::{self, BridgeOrigin, IntegerBridgeOrigin};
use aglet::{Control, ErrorKind, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::bridge;
use aglet_testing::fixture::shrunk_integers;
use std::path::{Path, PathBuf};

const CLEAR: [bool; 5] = [true, false, false, true, true];

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

fn record() {
    let slots = CkksParams::from_toml(bridge::SLOTS, Security::NotChecked).unwrap();
    let lookups = FhewParams::from_toml(bridge::LOOKUPS, Security::NotChecked).unwrap();
    let seeded = |seed| Runtime::seeded(1, arch::chosen().unwrap().name(), seed).unwrap();
    let slots = ckks::Engine::on(seeded(*b"slots that later versions read: "), slots, None).unwrap();
    let lookups = fhew::Engine::on(seeded(*b"a bridge that later ones read:  "), lookups).unwrap();
    let (bridge, now) = (Bridge::new(slots, lookups).unwrap(), Control::new());
    let (main, lookup) = (bridge.slots().create_secret_key().unwrap(), bridge.lookups().create_secret_key().unwrap());
    let bytes = bridge.slots().serialize(&main, &now).unwrap();
    let folder = vectors().join(format!("bridge-wire-{}", u16::from_le_bytes([bytes[8], bytes[9]])));
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        bridge.slots().write(&main, &folder.join("secret_key"), &now).unwrap();
        bridge.lookups().write(&lookup, &folder.join("lwe_secret_key"), &now).unwrap();
        let key = bridge.create_key(&main, &lookup, None, &now).unwrap();
        bridge.write(&key, &folder.join("bridge_key"), &now).unwrap();
    }
}

/// Reads everything and uses it once.
fn check(folder: &Path) {
    let (said, now) = (wire::summary(&std::fs::read(folder.join("bridge_key")).unwrap()).unwrap(), Control::new());
    let origin = BridgeOrigin::find(&said, true).unwrap();
    let slots = ckks::Engine::new(origin.params, Some(64), 1).unwrap();
    let lookups = fhew::Engine::new(origin.lookups.params().clone(), 1).unwrap();
    let main: SecretKey = slots.read(&folder.join("secret_key"), &now).unwrap();
    let lookup: fhew::SecretKey = lookups.read(&folder.join("lwe_secret_key"), &now).unwrap();
    let bridge = Bridge::new(slots, lookups).unwrap();
    let key: BridgeKey = bridge.read(&folder.join("bridge_key"), &now).unwrap();
    assert_eq!((key.id(), key.lookup_id()), (main.id(), lookup.id()), "{folder:?}");

    let engine = bridge.slots();
    let request = Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &now).unwrap();
    let relinearization = &engine.create_relinearization_key(&main).unwrap();
    let conjugation = &engine.create_conjugation_key(&main).unwrap();
    let keys = BootstrapKeys { relinearization, conjugation, bootstrap: &bootstrap, rotation: None };
    let fresh = bridge.lookups().encrypt_bits(&CLEAR, &lookup).unwrap();
    let raised = bridge.from_lookup((Form::Bits, &fresh), None, (&key, keys), &now).unwrap();
    // In so small a ring no model says what a bootstrap leaves.
    let raised = engine.assume(&raised, ckks::Stated { bound: 1.0, noise: 2f64.powi(-13) }).unwrap();
    let at = (&[0, 1, 2, 3, 4][..], Parts::Real);
    let low = bridge.to_lookup(&raised, at, Reading::Bits, (&key, &bootstrap), &now).unwrap();
    assert_eq!(bridge.lookups().decrypt_bits(&low, &lookup).unwrap(), CLEAR, "{folder:?}");
}

fn record_integers() {
    let numbers = shrunk_integers("int16", "bridge-corpus", (10, 10));
    let lookups = FhewParams::from_toml(bridge::LOOKUPS, Security::NotChecked).unwrap();
    let seeded = |seed| Runtime::seeded(1, arch::chosen().unwrap().name(), seed).unwrap();
    let numbers = integer::Engine::on(seeded(*b"integers that later ones read:  "), numbers, Packing::Slots).unwrap();
    let lookups = fhew::Engine::on(seeded(*b"a bridge down that they read:   "), lookups).unwrap();
    let (bridge, now) = (IntegerBridge::new(numbers, lookups).unwrap(), Control::new());
    let (main, lookup) = (bridge.numbers().create_secret_key().unwrap(), bridge.lookups().create_secret_key().unwrap());
    let bytes = bridge.numbers().serialize(&main, &now).unwrap();
    // Keys in the folder without this end lead down alone: they are of the days before anything went up.
    let folder = vectors().join(format!("integer-bridge-wire-{}-both-ways", u16::from_le_bytes([bytes[8], bytes[9]])));
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        bridge.numbers().write(&main, &folder.join("secret_key"), &now).unwrap();
        bridge.lookups().write(&lookup, &folder.join("lwe_secret_key"), &now).unwrap();
        let key = bridge.create_key(&main, &lookup, None, &now).unwrap();
        bridge.write(&key, &folder.join("integer_bridge_key"), &now).unwrap();
    }
}

fn check_integers(folder: &Path) {
    let bytes = std::fs::read(folder.join("integer_bridge_key")).unwrap();
    let (said, now) = (wire::summary(&bytes).unwrap(), Control::new());
    let origin = IntegerBridgeOrigin::find(&said, true).unwrap();
    let numbers = integer::Engine::new(origin.params, Packing::Slots, 1).unwrap();
    let lookups = fhew::Engine::new(origin.lookups.params().clone(), 1).unwrap();
    let main: SecretKey = numbers.read(&folder.join("secret_key"), &now).unwrap();
    let lookup: fhew::SecretKey = lookups.read(&folder.join("lwe_secret_key"), &now).unwrap();
    let bridge = IntegerBridge::new(numbers, lookups).unwrap();
    let key: IntegerBridgeKey = bridge.read(&folder.join("integer_bridge_key"), &now).unwrap();
    assert_eq!((key.id(), key.lookup_id()), (main.id(), lookup.id()), "{folder:?}");

    let bootstrap = bridge.numbers().create_bootstrap_key(&main, None, &now).unwrap();
    let ct = bridge.numbers().encrypt_with_secret(&CLEAR.map(i64::from), 1, &main).unwrap();
    let low = bridge.to_lookup(&ct, &[0, 1, 2, 3, 4], Reading::Bits, (&key, &bootstrap), &now).unwrap();
    assert_eq!(bridge.lookups().decrypt_bits(&low, &lookup).unwrap(), CLEAR, "{folder:?}");
    let up = bridge.from_lookup((Form::Bits, &low), None, (&key, &bootstrap), &now);
    assert_eq!(key.leads_up(), folder.ends_with("integer-bridge-wire-1-both-ways"));
    match key.leads_up() {
        true => {
            assert_eq!(bridge.numbers().decrypt(&up.unwrap(), &main).unwrap()[..5], CLEAR.map(i64::from), "{folder:?}")
        }
        false => assert_eq!(up.err().map(|e| e.kind()), Some(ErrorKind::MissingKey)),
    }
}

/// Every folder of a name, after writing that of today if that is asked for.
fn folders(name: &str, record: fn()) -> Vec<PathBuf> {
    if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
        record();
    }
    let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(name));
    let folders: Vec<PathBuf> = paths.filter(ours).collect();
    assert!(!folders.is_empty(), "the files are gone");
    folders
}

#[test]
fn files_of_every_version_are_read() {
    folders("bridge-wire-", record).iter().for_each(|folder| check(folder));
}

#[test]
fn files_of_bridges_from_integers_are_read() {
    folders("integer-bridge-wire-", record_integers).iter().for_each(|folder| check_integers(folder));
}
