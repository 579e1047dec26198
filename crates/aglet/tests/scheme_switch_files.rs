//! Files of a switch's key: it comes back and works, in both directions; damaged, cut and foreign ones are refused.

use super::stored::Store;
use aglet::ckks::presets;
use aglet::ckks::{self, BootstrapKeys, KeySize, Method, Request};
use aglet::fhew::{self, Form};
use aglet::scheme_switch::{Parts, Reading, SchemeSwitch, SchemeSwitchKey};
use aglet::wire::{self, SchemeSwitchOrigin};
use aglet::{Control, ErrorKind};

fn switch(slots: Option<usize>, set: &str) -> SchemeSwitch {
    let engine = ckks::Engine::new(presets::load("toy", presets::Security::NotChecked).unwrap(), slots, 1).unwrap();
    SchemeSwitch::new(
        engine,
        fhew::Engine::new(fhew::presets::load(set, fhew::presets::Security::Bits128).unwrap(), 1).unwrap(),
    )
    .unwrap()
}

#[test]
fn a_key_out_of_a_file_leads_both_ways() {
    let (switch, control) = (switch(Some(64), "gate"), Control::new());
    let (engine, fhew) = (switch.slots(), switch.fhew());
    let (main, fhew_secret) = (engine.create_secret_key().unwrap(), fhew.create_secret_key().unwrap());
    let made = switch.create_key(&main, &fhew_secret, None, &control).unwrap();
    assert_eq!(made.byte_count() as u64, switch.key_bytes().unwrap());
    let bytes = switch.serialize(&made, &control).unwrap();
    assert!(
        bytes.len().abs_diff(made.stored_bytes()) < bytes.len() / 20,
        "{} and {}",
        bytes.len(),
        made.stored_bytes()
    );
    let said = wire::FORMAT.summary(&bytes).unwrap();
    assert_eq!((said.kind.name, said.family), ("scheme switch key", "bridge"));
    // Without the engines, as a pickle comes back; engines of other slots have the same key.
    let origin = SchemeSwitchOrigin::find(&said, false).unwrap();
    assert!(origin == switch.origin());
    let key: SchemeSwitchKey = wire::FORMAT.deserialize(&origin, &bytes, &control).unwrap();
    assert_eq!((key.id(), key.fhew_key_id()), (main.id(), fhew_secret.id()));
    assert_eq!(*switch.serialize(&key, &control).unwrap(), *bytes);

    let request = Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &control).unwrap();
    let relinearization = &engine.create_relinearization_key(&main).unwrap();
    let conjugation = &engine.create_conjugation_key(&main).unwrap();
    let keys = BootstrapKeys { relinearization, conjugation, bootstrap: &bootstrap, rotation: None };
    let bits = [true, false, false, true, true];
    let fresh = fhew.encrypt_bits(&bits, &fhew_secret).unwrap();
    let raised = switch.from_fhew((Form::Bits, &fresh), None, (&key, keys), &control).unwrap();
    let low =
        switch.to_fhew(&raised, (&[0, 1, 2, 3, 4], Parts::Real), Reading::Bits, (&key, &bootstrap), &control).unwrap();
    assert_eq!(fhew.decrypt_bits(&low, &fhew_secret).unwrap(), bits);
}

#[test]
fn damaged_cut_and_foreign_keys_are_refused() {
    let (own, control) = (switch(None, "gate"), Control::new());
    let (main, fhew_secret) = (own.slots().create_secret_key().unwrap(), own.fhew().create_secret_key().unwrap());
    let bytes = own.serialize(&own.create_key(&main, &fhew_secret, None, &control).unwrap(), &control).unwrap();
    let step = bytes.len() / 300;
    for at in (0..600).chain((600..bytes.len()).step_by(step)) {
        let mut bad = bytes.to_vec();
        bad[at] ^= 1 << (at % 8);
        let kind = own.refused::<SchemeSwitchKey>(&bad).0;
        assert!(matches!(kind, ErrorKind::Serialization | ErrorKind::KeyMismatch), "byte {at}: {kind:?}");
    }
    (0..bytes.len())
        .step_by(step)
        .for_each(|end| assert_eq!(own.refused::<SchemeSwitchKey>(&bytes[..end]).0, ErrorKind::Serialization));
    assert_eq!(switch(None, "lut2").refused::<SchemeSwitchKey>(&bytes).0, ErrorKind::KeyMismatch);
    let other = own.slots().serialize(&main, &control).unwrap();
    assert_eq!(own.refused::<SchemeSwitchKey>(&other).0, ErrorKind::Serialization);
}
