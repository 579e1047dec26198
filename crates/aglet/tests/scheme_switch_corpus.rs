//! Files of switches of every version of the format, kept under `tests/vectors/bridge-wire-VERSION` and
//! `tests/vectors/integer-bridge-wire-VERSION`: today's code reads each, and the key still leads both ways, or down.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all scheme_switch_corpus::` writes those of the version that today's code writes that are not there
//! yet: what users may have is never written again.

use super::stored::Corpus;
use aglet::ckks::{self, BootstrapKeys, CkksParams, KeySize, Method, Request};
use aglet::fhew::{self, FhewParams, Form};
use aglet::integer::{self, Packing};
use aglet::scheme_switch::{
    IntegerSchemeSwitch, IntegerSchemeSwitchKey, Parts, Reading, SchemeSwitch, SchemeSwitchKey,
};
use aglet::wire::{self, IntegerSchemeSwitchOrigin, SchemeSwitchOrigin};
use aglet::{Control, ErrorKind, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::fixture::shrunk_integers;
use aglet_testing::scheme_switch;
use std::path::Path;

const CLEAR: [bool; 5] = [true, false, false, true, true];

fn record() {
    let slots = CkksParams::from_toml(scheme_switch::SLOTS, Security::NotChecked).unwrap();
    let fhew = FhewParams::from_toml(scheme_switch::FHEW, Security::NotChecked).unwrap();
    let seeded = |seed| Runtime::seeded(1, arch::chosen().unwrap().name(), seed).unwrap();
    let slots = ckks::Engine::on(seeded(*b"slots that later versions read: "), slots, None).unwrap();
    let fhew = fhew::Engine::on(seeded(*b"a bridge that later ones read:  "), fhew).unwrap();
    let (switch, now) = (SchemeSwitch::new(slots, fhew).unwrap(), Control::new());
    let (main, fhew_secret) = (switch.slots().create_secret_key().unwrap(), switch.fhew().create_secret_key().unwrap());
    let bytes = switch.slots().serialize(&main, &now).unwrap();
    let folder = Corpus::of_today("bridge-wire-", &bytes, "");
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        switch.slots().write(&main, &folder.join("secret_key"), &now).unwrap();
        switch.fhew().write(&fhew_secret, &folder.join("lwe_secret_key"), &now).unwrap();
        let key = switch.create_key(&main, &fhew_secret, None, &now).unwrap();
        switch.write(&key, &folder.join("bridge_key"), &now).unwrap();
    }
}

/// Reads everything and uses it once.
fn check(folder: &Path) {
    let (said, now) =
        (wire::FORMAT.summary(&std::fs::read(folder.join("bridge_key")).unwrap()).unwrap(), Control::new());
    let origin = SchemeSwitchOrigin::find(&said, true).unwrap();
    let slots = ckks::Engine::new(origin.params, Some(64), 1).unwrap();
    let fhew = fhew::Engine::new(origin.fhew.params().clone(), 1).unwrap();
    let main: SecretKey = slots.read(&folder.join("secret_key"), &now).unwrap();
    let fhew_secret: fhew::SecretKey = fhew.read(&folder.join("lwe_secret_key"), &now).unwrap();
    let switch = SchemeSwitch::new(slots, fhew).unwrap();
    let key: SchemeSwitchKey = switch.read(&folder.join("bridge_key"), &now).unwrap();
    assert_eq!((key.id(), key.fhew_key_id()), (main.id(), fhew_secret.id()), "{folder:?}");

    let engine = switch.slots();
    let request = Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &now).unwrap();
    let relinearization = &engine.create_relinearization_key(&main).unwrap();
    let conjugation = &engine.create_conjugation_key(&main).unwrap();
    let keys = BootstrapKeys { relinearization, conjugation, bootstrap: &bootstrap, rotation: None };
    let fresh = switch.fhew().encrypt_bits(&CLEAR, &fhew_secret).unwrap();
    let raised = switch.from_fhew((Form::Bits, &fresh), None, (&key, keys), &now).unwrap();
    // In so small a ring no model says what a bootstrap leaves.
    let raised = engine.assume(&raised, ckks::Stated { bound: 1.0, noise: 2f64.powi(-13) }).unwrap();
    let at = (&[0, 1, 2, 3, 4][..], Parts::Real);
    let low = switch.to_fhew(&raised, at, Reading::Bits, (&key, &bootstrap), &now).unwrap();
    assert_eq!(switch.fhew().decrypt_bits(&low, &fhew_secret).unwrap(), CLEAR, "{folder:?}");
}

fn record_integers() {
    let numbers = shrunk_integers("int16", "scheme-switch-corpus", (10, 10));
    let fhew = FhewParams::from_toml(scheme_switch::FHEW, Security::NotChecked).unwrap();
    let seeded = |seed| Runtime::seeded(1, arch::chosen().unwrap().name(), seed).unwrap();
    let numbers = integer::Engine::on(seeded(*b"integers that later ones read:  "), numbers, Packing::Slots).unwrap();
    let fhew = fhew::Engine::on(seeded(*b"a bridge down that they read:   "), fhew).unwrap();
    let (switch, now) = (IntegerSchemeSwitch::new(numbers, fhew).unwrap(), Control::new());
    let (main, fhew_secret) = (switch.slots().create_secret_key().unwrap(), switch.fhew().create_secret_key().unwrap());
    let bytes = switch.slots().serialize(&main, &now).unwrap();
    // Keys in the folder without this end lead down alone: they are of the days before anything went back.
    let folder = Corpus::of_today("integer-bridge-wire-", &bytes, "-both-ways");
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        switch.slots().write(&main, &folder.join("secret_key"), &now).unwrap();
        switch.fhew().write(&fhew_secret, &folder.join("lwe_secret_key"), &now).unwrap();
        let key = switch.create_key(&main, &fhew_secret, None, &now).unwrap();
        switch.write(&key, &folder.join("integer_bridge_key"), &now).unwrap();
    }
}

fn check_integers(folder: &Path) {
    let bytes = std::fs::read(folder.join("integer_bridge_key")).unwrap();
    let (said, now) = (wire::FORMAT.summary(&bytes).unwrap(), Control::new());
    let origin = IntegerSchemeSwitchOrigin::find(&said, true).unwrap();
    let numbers = integer::Engine::new(origin.params, Packing::Slots, 1).unwrap();
    let fhew = fhew::Engine::new(origin.fhew.params().clone(), 1).unwrap();
    let main: SecretKey = numbers.read(&folder.join("secret_key"), &now).unwrap();
    let fhew_secret: fhew::SecretKey = fhew.read(&folder.join("lwe_secret_key"), &now).unwrap();
    let switch = IntegerSchemeSwitch::new(numbers, fhew).unwrap();
    let key: IntegerSchemeSwitchKey = switch.read(&folder.join("integer_bridge_key"), &now).unwrap();
    assert_eq!((key.id(), key.fhew_key_id()), (main.id(), fhew_secret.id()), "{folder:?}");

    let bootstrap = switch.slots().create_bootstrap_key(&main, None, &now).unwrap();
    let ct = switch.slots().encrypt_with_secret(&CLEAR.map(i64::from), 1, &main).unwrap();
    let low = switch.to_fhew(&ct, &[0, 1, 2, 3, 4], Reading::Bits, (&key, &bootstrap), &now).unwrap();
    assert_eq!(switch.fhew().decrypt_bits(&low, &fhew_secret).unwrap(), CLEAR, "{folder:?}");
    let up = switch.from_fhew((Form::Bits, &low), None, (&key, &bootstrap), &now);
    assert_eq!(key.both_ways(), folder.ends_with("integer-bridge-wire-1-both-ways"));
    match key.both_ways() {
        true => {
            assert_eq!(switch.slots().decrypt(&up.unwrap(), &main).unwrap()[..5], CLEAR.map(i64::from), "{folder:?}")
        }
        false => assert_eq!(up.err().map(|e| e.kind()), Some(ErrorKind::MissingKey)),
    }
}

#[test]
fn files_of_every_version_are_read() {
    Corpus::each("bridge-wire-", record, |corpus| check(corpus.folder));
}

#[test]
fn files_of_scheme_switches_from_integers_are_read() {
    Corpus::each("integer-bridge-wire-", record_integers, |corpus| check_integers(corpus.folder));
}
