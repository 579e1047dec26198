//! Files of a bridge's key: it comes back and works, in both directions; damaged, cut and foreign ones are refused.

use aglet::bridge::{Bridge, BridgeKey, Parts, Reading};
use aglet::ckks::{self, BootstrapKeys, KeySize, Method, Request};
use aglet::fhew::{self, Form};
use aglet::wire::{self, BridgeOrigin};
use aglet::{presets, Control, ErrorKind};

fn bridge(slots: Option<usize>, set: &str) -> Bridge {
    let engine = ckks::Engine::new(presets::load("toy", true).unwrap(), slots, 1).unwrap();
    Bridge::new(engine, fhew::Engine::new(fhew::presets::load(set, false).unwrap(), 1).unwrap()).unwrap()
}

fn refused(bridge: &Bridge, bytes: &[u8]) -> ErrorKind {
    bridge.deserialize::<BridgeKey>(bytes, &Control::new()).map(|_| ()).unwrap_err().kind()
}

#[test]
fn a_key_out_of_a_file_leads_both_ways() {
    let (bridge, control) = (bridge(Some(64), "gate"), Control::new());
    let (engine, lookups) = (bridge.slots(), bridge.lookups());
    let (main, lookup) = (engine.create_secret_key().unwrap(), lookups.create_secret_key().unwrap());
    let made = bridge.create_key(&main, &lookup, None, &control).unwrap();
    assert_eq!(made.byte_count() as u64, bridge.key_bytes().unwrap());
    let bytes = bridge.serialize(&made, &control).unwrap();
    assert!(
        bytes.len().abs_diff(made.stored_bytes()) < bytes.len() / 20,
        "{} and {}",
        bytes.len(),
        made.stored_bytes()
    );
    let said = wire::summary(&bytes).unwrap();
    assert_eq!((said.kind.name, said.family), ("bridge key", "bridge"));
    // Without the engines, as a pickle comes back; engines of other slots have the same key.
    let origin = BridgeOrigin::find(&said, false).unwrap();
    assert!(origin == bridge.origin());
    let key: BridgeKey = wire::deserialize(&origin, &bytes, &control).unwrap();
    assert_eq!((key.id(), key.lookup_id()), (main.id(), lookup.id()));
    assert_eq!(*bridge.serialize(&key, &control).unwrap(), *bytes);

    let request = Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &control).unwrap();
    let relinearization = &engine.create_relinearization_key(&main).unwrap();
    let conjugation = &engine.create_conjugation_key(&main).unwrap();
    let keys = BootstrapKeys { relinearization, conjugation, bootstrap: &bootstrap, rotation: None };
    let bits = [true, false, false, true, true];
    let fresh = lookups.encrypt_bits(&bits, &lookup).unwrap();
    let raised = bridge.from_lookup((Form::Bits, &fresh), None, (&key, keys), &control).unwrap();
    let low = bridge
        .to_lookup(&raised, (&[0, 1, 2, 3, 4], Parts::Real), Reading::Bits, (&key, &bootstrap), &control)
        .unwrap();
    assert_eq!(lookups.decrypt_bits(&low, &lookup).unwrap(), bits);
}

#[test]
fn damaged_cut_and_foreign_keys_are_refused() {
    let (own, control) = (bridge(None, "gate"), Control::new());
    let (main, lookup) = (own.slots().create_secret_key().unwrap(), own.lookups().create_secret_key().unwrap());
    let bytes = own.serialize(&own.create_key(&main, &lookup, None, &control).unwrap(), &control).unwrap();
    let step = bytes.len() / 300;
    for at in (0..600).chain((600..bytes.len()).step_by(step)) {
        let mut bad = bytes.to_vec();
        bad[at] ^= 1 << (at % 8);
        let kind = refused(&own, &bad);
        assert!(matches!(kind, ErrorKind::Serialization | ErrorKind::KeyMismatch), "byte {at}: {kind:?}");
    }
    (0..bytes.len()).step_by(step).for_each(|end| assert_eq!(refused(&own, &bytes[..end]), ErrorKind::Serialization));
    assert_eq!(refused(&bridge(None, "lut2"), &bytes), ErrorKind::KeyMismatch);
    let other = own.slots().serialize(&main, &control).unwrap();
    assert_eq!(refused(&own, &other), ErrorKind::Serialization);
}
