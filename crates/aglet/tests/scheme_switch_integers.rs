//! Slots of integers as bits, messages and unsigned integers of a FHEW engine: every number of a ring, its noise, and what is refused.

/// The numbers nearest to what ciphertexts hold, whatever their noise.
fn nearest(fhew: &fhew::Engine, cts: &[fhew::Ciphertext], form: fhew::Form, sk: &fhew::SecretKey) -> Vec<i64> {
    let array = fhew::Array::new(&fhew.context(), form, vec![cts.len()], sk.id(), cts.to_vec()).unwrap();
    fhew.decrypt_array(&array, sk, Some(0.0)).unwrap()
}

use aglet::fhew::{self, Domain, Integer, Message, Table, Unsigned};
use aglet::integer::{presets, Engine, Packing};
use aglet::scheme_switch::{IntegerSchemeSwitch, IntegerSchemeSwitchKey, Reading};
use aglet::{Control, ErrorKind};
use aglet_testing::sides::Sides;

#[test]
fn numbers_of_slots_go_through_tables() {
    let s = Sides::new("int16", (11, 11), "lut4");
    let (numbers, fhew, control) = (s.switch.slots(), s.switch.fhew(), Control::new());
    let values: Vec<i64> = (0..numbers.count() as i64).map(|i| i * i * 7 % 16).collect();
    let all: Vec<usize> = (0..numbers.count()).rev().collect();
    let message = Message::new(16, Domain::Padded).unwrap();
    let expected: Vec<u64> = values.iter().rev().map(|&m| m as u64).collect();
    for level in [1, 4] {
        let found = s.to_fhew(&s.encrypt(&values, level), &all, Reading::Message(message)).unwrap();
        assert_eq!(fhew.decrypt(&found, message, &s.fhew_secret).unwrap(), expected);
        assert!(found.iter().all(|ct| ct.variance() == s.switch.variance(Reading::Message(message))));
    }
    let key = fhew.create_bootstrap_key(&s.fhew_secret, &control).unwrap();
    let found = s.to_fhew(&s.encrypt(&values, 2), &all[..8], Reading::Message(message)).unwrap();
    let table = Table::new(message, message, &(0..16).map(|m| m * m % 16).collect::<Vec<_>>()).unwrap();
    let out = fhew.lookup(&found, &table, &key, None, &control).unwrap();
    let wanted: Vec<u64> = expected[..8].iter().map(|&m| m * m % 16).collect();
    assert_eq!(fhew.decrypt(&out, message, &s.fhew_secret).unwrap(), wanted);

    // Unsigned integers to the last unit, the ends included.
    for bits in [8, 12] {
        let (unsigned, most) = (Unsigned::new(bits).unwrap(), 1 << bits);
        let values: Vec<i64> = (0..numbers.count() as i64).map(|i| (i * 37 - 1).rem_euclid(most)).collect();
        let numbers = s.to_fhew(&s.encrypt(&values, 1), &all, Reading::Unsigned(unsigned)).unwrap();
        let expected: Vec<i64> = values.iter().rev().copied().collect();
        assert_eq!(nearest(fhew, &numbers, fhew::Form::Unsigned(unsigned), &s.fhew_secret), expected);
    }
}

#[test]
fn bits_of_slots_are_bits_of_gates_in_a_subring_too() {
    for (preset, ring) in [("int16", (10, 10)), ("int16-deep", (11, 10))] {
        let s = Sides::new(preset, ring, "gate");
        let count = s.switch.slots().count();
        let bits: Vec<bool> = (0..count).map(|i| i * i % 7 < 3).collect();
        let values: Vec<i64> = bits.iter().map(|&b| b.into()).collect();
        let all: Vec<usize> = (0..count).collect();
        let found = s.to_fhew(&s.encrypt(&values, 1), &all, Reading::Bits).unwrap();
        assert_eq!(s.switch.fhew().decrypt_bits(&found, &s.fhew_secret).unwrap(), bits);
    }
}

#[test]
fn the_noise_of_a_way_down_is_what_is_said() {
    let s = Sides::new("int16", (11, 11), "lut4");
    let (fhew, count) = (s.switch.fhew(), s.switch.slots().count());
    let reading = Reading::Message(Message::new(16, Domain::Padded).unwrap());
    let zeros = s.encrypt(&vec![0; count], 1);
    let found = s.to_fhew(&zeros, &(0..count).collect::<Vec<_>>(), reading).unwrap();
    // So large that units of 2^-20 of the torus show it.
    let wide = fhew.sum(&[(&found[..], 1 << 14)]).unwrap();
    let units = nearest(fhew, &wide, fhew::Form::Unsigned(Unsigned::new(20).unwrap()), &s.fhew_secret);
    let errors = units.into_iter().map(|u| (u as f64 + 524_288.0).rem_euclid(1_048_576.0) - 524_288.0);
    let variance = errors.map(|u| (u / 2f64.powi(34)).powi(2)).sum::<f64>() / count as f64;
    let said = s.switch.variance(reading);
    // What is said counts how far 15 comes from where it should be as well, and that is most of it; zeros have the noise alone.
    let bits = variance.log2() / 2.0;
    assert!(variance < said && (-36.0..-32.5).contains(&bits), "2^{bits:.1} of 2^{:.1}", said.log2() / 2.0);
}

#[test]
fn a_key_is_a_file_of_half_its_size_that_is_judged() {
    for (preset, ring, set) in [("int16", (11, 11), "lut4"), ("int16-deep", (11, 10), "gate")] {
        let s = Sides::new(preset, ring, set);
        let mut bytes = s.switch.serialize(&s.key, &Control::new()).unwrap().to_vec();
        assert!(bytes.len() > s.key.stored_bytes() && bytes.len() < s.key.byte_count() * 3 / 5);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let refused = s.switch.deserialize::<IntegerSchemeSwitchKey>(&bytes, &Control::new());
        assert_eq!(refused.err().map(|e| e.kind()), Some(ErrorKind::Serialization));
    }
}

#[test]
fn what_cannot_come_down_is_refused() {
    let s = Sides::new("int16", (10, 10), "gate");
    let (numbers, control) = (s.switch.slots(), Control::new());
    let ones = s.encrypt(&[1; 1024], 1);
    let kind = |result: Result<Vec<fhew::Ciphertext>, aglet::Error>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(s.to_fhew(&ones, &[0, 1024], Reading::Bits)), ErrorKind::Range);
    assert_eq!(kind(s.to_fhew(&ones, &[0], Reading::Real(Integer::new(8).unwrap(), 1.0))), ErrorKind::Parameter);
    assert_eq!(kind(s.to_fhew(&ones, &[0], Reading::Unsigned(Unsigned::new(13).unwrap()))), ErrorKind::Parameter);
    assert_eq!(kind(s.to_fhew(&s.encrypt(&[1], 0), &[0], Reading::Bits)), ErrorKind::Level);
    assert!(s.to_fhew(&ones, &[], Reading::Bits).unwrap().is_empty());
    let other = numbers.create_secret_key().unwrap();
    let foreign = s.switch.create_key(&other, &s.fhew_secret, None, &control).unwrap();
    let strange = numbers.create_bootstrap_key(&other, None, &control).unwrap();
    for keys in [(&foreign, &s.bootstrap), (&s.key, &strange)] {
        let read = s.switch.to_fhew(&ones, &[0], Reading::Bits, keys, &control);
        assert_eq!(kind(read), ErrorKind::KeyMismatch);
    }
    let forecast = s.switch.create_key(&s.main, &s.fhew_secret, Some(1000), &control);
    assert_eq!(forecast.map(|_| ()).unwrap_err().kind(), ErrorKind::Memory);
    control.cancel();
    let read = s.switch.to_fhew(&ones, &[0], Reading::Bits, (&s.key, &s.bootstrap), &control);
    assert_eq!(kind(read), ErrorKind::Cancelled);
    let shallow =
        Engine::new(presets::load("int-levels-14", presets::Security::Bits128).unwrap(), Packing::Slots, 1).unwrap();
    let fhew = fhew::Engine::new(fhew::presets::load("gate", fhew::presets::Security::Bits128).unwrap(), 1).unwrap();
    assert_eq!(IntegerSchemeSwitch::new(shallow, fhew).map(|_| ()).unwrap_err().kind(), ErrorKind::Parameter);
}
