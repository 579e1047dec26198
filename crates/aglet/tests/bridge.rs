//! Slots of CKKS as bits, messages and integers of a look-up engine: every value, its noise, and what is refused.

use aglet::bridge::{Bridge, DownKey, Reading};
use aglet::ckks::{self, BootstrapKey, Ciphertext, KeySize, Method, Request};
use aglet::fhew::{self, Domain, Gate, Integer, Message, Table};
use aglet::{presets, Control, ErrorKind, SecretKey};
use aglet_testing::fixture::shrunk;

struct Sides {
    bridge: Bridge,
    main: SecretKey,
    lookup: fhew::SecretKey,
    down: DownKey,
    bootstrap: BootstrapKey,
}

fn sides(params: ckks::CkksParams, slots: Option<usize>, set: &str) -> Sides {
    let engine = ckks::Engine::new(params, slots, 2).unwrap();
    let lookups = fhew::Engine::new(fhew::presets::load(set, false).unwrap(), 2).unwrap();
    let (main, lookup) = (engine.create_secret_key().unwrap(), lookups.create_secret_key().unwrap());
    let request = Request::new(Method::Regular, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &Control::new()).unwrap();
    let bridge = Bridge::new(engine, lookups).unwrap();
    let down = bridge.create_down_key(&main, &lookup, None, &Control::new()).unwrap();
    assert_eq!((down.from(), down.to()), (main.id(), lookup.id()));
    Sides { bridge, main, lookup, down, bootstrap }
}

impl Sides {
    fn encrypt(&self, values: &[f64], level: usize) -> Ciphertext {
        let engine = self.bridge.slots();
        engine.encrypt_with_secret(&engine.encode(values, level).unwrap(), &self.main).unwrap()
    }
    fn read(&self, ct: &Ciphertext, slots: &[usize], reading: Reading) -> Result<Vec<fhew::Ciphertext>, aglet::Error> {
        self.bridge.to_lookup(ct, slots, reading, (&self.down, &self.bootstrap), &Control::new())
    }
}

#[test]
fn bits_of_slots_go_through_gates() {
    for slots in [None, Some(64)] {
        let s = sides(presets::load("toy", true).unwrap(), slots, "gate");
        let (engine, lookups) = (s.bridge.slots(), s.bridge.lookups());
        let bits: Vec<bool> = (0..engine.slots()).map(|i| i * i % 7 < 3).collect();
        let values: Vec<f64> = bits.iter().map(|&b| f64::from(u8::from(b))).collect();
        let all: Vec<usize> = (0..engine.slots()).rev().collect();
        for level in [0, 3] {
            let found = s.read(&s.encrypt(&values, level), &all, Reading::Bits).unwrap();
            let expected: Vec<bool> = bits.iter().rev().copied().collect();
            assert_eq!(lookups.decrypt_bits(&found, &s.lookup).unwrap(), expected);
            let key = lookups.create_lookup_key(&s.lookup, &Control::new()).unwrap();
            let (one, other) = (&found[..16], &found[16..32]);
            let out = lookups.gate(Gate::Nand, &[one, other], &key, None, &Control::new()).unwrap();
            let nand: Vec<bool> = expected[..16].iter().zip(&expected[16..32]).map(|(&x, &y)| !(x && y)).collect();
            assert_eq!(lookups.decrypt_bits(&out, &s.lookup).unwrap(), nand);
        }
    }
}

#[test]
fn numbers_of_slots_go_through_tables_and_signs() {
    let s = sides(shrunk("regular", 11), None, "lut4");
    let (count, lookups, control) = (s.bridge.slots().slots(), s.bridge.lookups(), Control::new());
    let key = lookups.create_lookup_key(&s.lookup, &control).unwrap();
    let message = Message::new(16, Domain::Padded).unwrap();
    let values: Vec<f64> = (0..count).map(|i| (i * 5 % 16) as f64).collect();
    let at: Vec<usize> = (0..40).map(|i| i * 25).collect();
    let found = s.read(&s.encrypt(&values, 0), &at, Reading::Message(message)).unwrap();
    let expected: Vec<u64> = at.iter().map(|&i| (i * 5 % 16) as u64).collect();
    assert_eq!(lookups.decrypt(&found, message, &s.lookup).unwrap(), expected);
    let squares: Vec<u64> = (0..16).map(|m| m * m % 16).collect();
    let table = Table::new(message, message, &squares).unwrap();
    let out = lookups.lookup(&found[..8], &table, &key, None, &control).unwrap();
    let wanted: Vec<u64> = expected[..8].iter().map(|&m| m * m % 16).collect();
    assert_eq!(lookups.decrypt(&out, message, &s.lookup).unwrap(), wanted);

    // Reals of 20 bits: ties, neighbours of a unit, the ends.
    let (integer, unit) = (Integer::new(20).unwrap(), 1.0 / 524_288.0);
    let some = [0.0, unit, -unit, 2.0 * unit, -2.0 * unit, 1.0 - unit, -1.0, 0.5, -0.5, 0.1234, -0.0001, 0.001];
    let values: Vec<f64> = (0..count).map(|i| some[i % some.len()]).collect();
    let at: Vec<usize> = (0..some.len()).collect();
    let reals = s.read(&s.encrypt(&values, 2), &at, Reading::Real(integer)).unwrap();
    let found = lookups.decrypt_integers(&reals, integer, &s.lookup).unwrap();
    for (x, found) in some.iter().zip(found) {
        assert!((x / unit - found as f64).abs() < 0.75, "{x}: {found}");
    }
    let signs = lookups.sign(&reals, integer, &key, None, &control).unwrap();
    let wanted: Vec<u64> = some.iter().map(|&x| u64::from(x >= 0.0)).collect();
    assert_eq!(lookups.decrypt(&signs, message, &s.lookup).unwrap(), wanted);
    assert!(reals.iter().all(|ct| ct.variance().sqrt() < 2f64.powi(-22)), "{:e}", reals[0].variance().sqrt());
}

#[test]
fn what_cannot_come_down_is_refused() {
    let s = sides(presets::load("toy", true).unwrap(), None, "gate");
    let (engine, control) = (s.bridge.slots(), Control::new());
    let ones = s.encrypt(&vec![1.0; engine.slots()], 0);
    let kind = |result: Result<Vec<fhew::Ciphertext>, aglet::Error>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(s.read(&ones, &[0, engine.slots()], Reading::Bits)), ErrorKind::Range);
    let twos = s.encrypt(&vec![2.0; engine.slots()], 0);
    assert_eq!(kind(s.read(&twos, &[0], Reading::Bits)), ErrorKind::Range);
    assert!(s.read(&ones, &[], Reading::Bits).unwrap().is_empty());
    let other = engine.create_secret_key().unwrap();
    let foreign = s.bridge.create_down_key(&other, &s.lookup, None, &control).unwrap();
    let read = |down, bootstrap| s.bridge.to_lookup(&ones, &[0], Reading::Bits, (down, bootstrap), &control);
    assert_eq!(kind(read(&foreign, &s.bootstrap)), ErrorKind::KeyMismatch);
    let small = Request::new(Method::Regular, 3, KeySize::Small, engine.slots());
    let small = engine.create_bootstrap_key(&s.main, small, None, &control).unwrap();
    assert_eq!(kind(read(&s.down, &small)), ErrorKind::MissingKey);
    control.cancel();
    assert_eq!(kind(read(&s.down, &s.bootstrap)), ErrorKind::Cancelled);
    let forecast = s.bridge.create_down_key(&s.main, &s.lookup, Some(1000), &Control::new());
    assert_eq!(forecast.map(|_| ()).unwrap_err().kind(), ErrorKind::Memory);
    // Roots of unity have no maps that lead to coefficients.
    let by_roots = ckks::Engine::new(presets::load("toy-ship", true).unwrap(), None, 1).unwrap();
    let lookups = fhew::Engine::new(fhew::presets::load("gate", false).unwrap(), 1).unwrap();
    assert_eq!(Bridge::new(by_roots, lookups).map(|_| ()).unwrap_err().kind(), ErrorKind::Parameter);
}
