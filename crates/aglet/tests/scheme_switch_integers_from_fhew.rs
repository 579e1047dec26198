//! Messages and bits of a FHEW engine as fresh slots of integers: every message in every domain, what comes out of tables, what is
//! computed on afterwards, and what is refused.

use aglet::fhew::{Domain, Form, Integer, Message, Table};
use aglet::integer::Ciphertext;
use aglet::scheme_switch::Reading;
use aglet::{Control, ErrorKind};
use aglet_testing::sides::Sides;

fn padded(values: &[u64], count: usize) -> Vec<i64> {
    values.iter().map(|&m| m as i64).chain(std::iter::repeat(0)).take(count).collect()
}

#[test]
fn messages_come_up_in_every_domain_and_can_be_computed_on() {
    let s = Sides::new("int16", (11, 11), "lut4");
    let (numbers, count) = (s.switch.slots(), s.switch.slots().count());
    let relin = numbers.create_relinearization_key(&s.main).unwrap();
    // Levels left by 4 bits, 2 bits and 1 bit of fresh messages, whose errors are small.
    for (domain, bits, used) in [
        (Domain::Padded, None, count),
        (Domain::Full, None, 100),
        (Domain::Negacyclic, Some(4), 1),
        (Domain::Padded, Some(2), count - 1),
        (Domain::Padded, Some(1), 700),
    ] {
        let most = 1u64 << bits.unwrap_or(4);
        let given: Vec<u64> = (0..used as u64).map(|i| (i * i * 5 + i) % most).collect();
        let up = s.from_fhew(Form::Messages(domain), &s.encrypt_messages(&given, domain), bits).unwrap();
        println!("{domain:?} {bits:?}: level {}", up.level());
        assert_eq!(s.decrypt(&up), padded(&given, count), "{domain:?} {bits:?}");
        assert!(up.level() >= 1);
        let refreshed = numbers.bootstrap(&up, &s.bootstrap, &Control::new()).unwrap();
        let squares: Vec<u64> = given.iter().map(|m| m * m).collect();
        let found = numbers.multiply(&refreshed, &refreshed, &relin).unwrap();
        assert_eq!(numbers.decrypt(&found, &s.main).unwrap(), padded(&squares, count));
        if up.level() > 1 {
            let found = numbers.multiply(&up, &up, &relin).unwrap();
            assert_eq!(s.decrypt(&found), padded(&squares, count), "{domain:?} {bits:?}");
        }
    }
}

#[test]
fn slots_go_down_through_a_table_and_up_again() {
    let s = Sides::new("int16", (11, 11), "lut4");
    let (numbers, fhew, control) = (s.switch.slots(), s.switch.fhew(), Control::new());
    let values: Vec<i64> = (0..16).collect();
    let ct = s.encrypt(&values, 1);
    let message = Message::new(16, Domain::Padded).unwrap();
    let slots: Vec<usize> = (0..16).collect();
    let low = s.to_fhew(&ct, &slots, Reading::Message(message)).unwrap();
    let key = fhew.create_bootstrap_key(&s.fhew_secret, &control).unwrap();
    let table = Table::new(message, message, &(0..16).map(|m| (m * m + 3) % 16).collect::<Vec<_>>()).unwrap();
    let out = fhew.lookup(&low, &table, &key, None, &control).unwrap();
    let up = s.from_fhew(Form::Messages(Domain::Padded), &out, None).unwrap();
    let wanted: Vec<u64> = (0..16).map(|m| (m * m + 3) % 16).collect();
    println!("a table: level {}", up.level());
    let planned = s.switch.plan_from_fhew(Form::Messages(Domain::Padded), None, out[0].variance(), None).unwrap();
    assert_eq!(planned["output_level"], up.level());
    assert_eq!(s.decrypt(&up), padded(&wanted, numbers.count()));
    // A table of bits.
    let table = Table::new(message, message, &(0..16).map(|m| u64::from(m > 6)).collect::<Vec<_>>()).unwrap();
    let out = fhew.lookup(&low, &table, &key, None, &control).unwrap();
    let up = s.from_fhew(Form::Messages(Domain::Padded), &out, Some(1)).unwrap();
    let wanted: Vec<u64> = (0..16).map(|m| u64::from(m > 6)).collect();
    println!("a table of bits: level {}", up.level());
    assert_eq!(s.decrypt(&up), padded(&wanted, numbers.count()));
}

#[test]
fn bits_of_gates_come_up_in_a_subring_too() {
    for (preset, ring) in [("int16", (10, 10)), ("int16-deep", (11, 10))] {
        let s = Sides::new(preset, ring, "gate");
        let (fhew, count) = (s.switch.fhew(), s.switch.slots().count());
        let bits: Vec<bool> = (0..count - 3).map(|i| i * i % 7 < 3).collect();
        let wanted: Vec<u64> = bits.iter().map(|&b| b.into()).collect();
        let cells = fhew.encrypt_bits(&bits, &s.fhew_secret).unwrap();
        let up = s.from_fhew(Form::Bits, &cells, None).unwrap();
        println!("{preset}: level {}", up.level());
        assert_eq!(s.decrypt(&up), padded(&wanted, count), "{preset}");
        // Down and up again: what went to FHEW once more is what it was.
        let slots: Vec<usize> = (0..count).collect();
        let low = s.to_fhew(&up, &slots, Reading::Bits).unwrap();
        assert_eq!(fhew.decrypt_bits(&low, &s.fhew_secret).unwrap()[..bits.len()], bits);
        assert_eq!(s.decrypt(&s.from_fhew(Form::Bits, &low, None).unwrap()), padded(&wanted, count), "{preset}");
        assert_eq!(s.decrypt(&s.from_fhew(Form::Bits, &[], None).unwrap()), padded(&[], count), "{preset}");
    }
}

#[test]
fn what_cannot_come_up_is_refused() {
    let s = Sides::new("int16", (11, 11), "lut4");
    let (numbers, control, padded) = (s.switch.slots(), Control::new(), Form::Messages(Domain::Padded));
    let ones = s.encrypt_messages(&[1; 8], Domain::Padded);
    let kind = |result: Result<Ciphertext, aglet::Error>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(s.from_fhew(Form::Integers(Integer::new(8).unwrap()), &ones, None)), ErrorKind::Parameter);
    let many = vec![ones[0].clone(); numbers.count() + 1];
    assert_eq!(kind(s.from_fhew(padded, &many, None)), ErrorKind::Range);
    for bits in [0, 5, 64] {
        assert_eq!(kind(s.from_fhew(padded, &ones, Some(bits))), ErrorKind::Range, "{bits}");
    }
    // Noise of some units: one bit still comes back, of four there are not the levels, and then nothing does.
    let fhew = s.switch.fhew();
    let noisy = |log2: u32| fhew.sum(&[(&ones[..], 32 << log2)]).unwrap();
    let kinds: Vec<_> =
        (26..34).map(|log2| s.from_fhew(padded, &noisy(log2), None).map(|_| ()).err().map(|e| e.kind())).collect();
    println!("{kinds:?}");
    assert!(
        kinds[0].is_none() && kinds.contains(&Some(ErrorKind::Level)) && kinds.ends_with(&[Some(ErrorKind::Range)])
    );
    let other = numbers.create_secret_key().unwrap();
    let foreign = s.switch.create_key(&other, &s.fhew_secret, None, &control).unwrap();
    let strange = numbers.create_bootstrap_key(&other, None, &control).unwrap();
    for keys in [(&foreign, &s.bootstrap), (&s.key, &strange)] {
        assert_eq!(kind(s.switch.from_fhew((padded, &ones), None, keys, &control)), ErrorKind::KeyMismatch);
    }
    let lwe = fhew.create_secret_key().unwrap();
    let message = fhew.params().message();
    let unknown = fhew.encrypt(&[1], message, &lwe).unwrap();
    assert_eq!(kind(s.from_fhew(padded, &unknown, None)), ErrorKind::KeyMismatch);
    control.cancel();
    let stopped = s.switch.from_fhew((padded, &ones), None, (&s.key, &s.bootstrap), &control);
    assert_eq!(kind(stopped), ErrorKind::Cancelled);
    assert_eq!(
        s.switch.create_key(&s.main, &s.fhew_secret, None, &control).err().map(|e| e.kind()),
        Some(ErrorKind::Cancelled)
    );
}
