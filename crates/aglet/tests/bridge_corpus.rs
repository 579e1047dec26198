//! Files of bridges of every version of the format, kept under `tests/vectors/bridge-wire-VERSION`: today's code reads each, and the key
//! still leads both ways.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test bridge_corpus` writes those of the version that today's code writes that are not there
//! yet: what users may have is never written again.

use aglet::bridge::{Bridge, BridgeKey, Parts, Reading};
use aglet::ckks::{self, BootstrapKeys, CkksParams, KeySize, Method, Request};
use aglet::fhew::{self, FhewParams, Form};
use aglet::wire::{self, BridgeOrigin};
use aglet::{Control, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::bridge;
use std::path::{Path, PathBuf};

const CLEAR: [bool; 5] = [true, false, false, true, true];

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

fn record() {
    let slots = CkksParams::from_toml(bridge::SLOTS, Security::NotChecked).unwrap();
    let lookups = FhewParams::from_toml(bridge::LOOKUPS, Security::NotChecked).unwrap();
    let seeded = |seed| Runtime::seeded(1, arch::available()[0].name(), seed).unwrap();
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
    let at = (&[0, 1, 2, 3, 4][..], Parts::Real);
    let low = bridge.to_lookup(&raised, at, Reading::Bits, (&key, &bootstrap), &now).unwrap();
    assert_eq!(bridge.lookups().decrypt_bits(&low, &lookup).unwrap(), CLEAR, "{folder:?}");
}

#[test]
fn files_of_every_version_are_read() {
    if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
        record();
    }
    let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("bridge-wire-"));
    let folders: Vec<PathBuf> = paths.filter(ours).collect();
    assert!(!folders.is_empty(), "the files are gone");
    folders.iter().for_each(|folder| check(folder));
}
