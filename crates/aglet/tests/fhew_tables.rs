//! Tables and numbers through the engine at their real sizes: every entry, many tables at once, signs, comparisons, floors, digits.

use aglet::fhew::{presets, Ciphertext, Domain, Engine, Integer, LookupKey, Message, Order, SecretKey, Table, Word};
use aglet::{Control, Error, ErrorKind};

struct Keys {
    engine: Engine,
    sk: SecretKey,
    key: LookupKey,
    control: Control,
}

fn keys(preset: &str) -> Keys {
    let engine = Engine::new(presets::load(preset).unwrap(), 2).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_lookup_key(&sk, &Control::new()).unwrap();
    Keys { engine, sk, key, control: Control::new() }
}

impl Keys {
    fn lookup(&self, x: &[Ciphertext], table: &Table) -> Vec<Ciphertext> {
        self.engine.lookup(x, table, &self.key, None, &self.control).unwrap()
    }
    fn decrypt(&self, x: &[Ciphertext], message: Message) -> Vec<u64> {
        self.engine.decrypt(x, message, &self.sk).unwrap()
    }
}

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Values at random; in the negacyclic domain the second half follows from the first.
fn values(message: Message, state: &mut u64) -> Vec<u64> {
    let p = message.space();
    let mut values: Vec<u64> = (0..p).map(|_| random(state, p)).collect();
    if message.domain() == Domain::Negacyclic {
        let half = p as usize / 2;
        (0..half).for_each(|i| values[half + i] = (p - values[i]) % p);
        if p == 2 {
            values = vec![1, 1];
        }
    }
    values
}

#[test]
fn every_entry_of_every_table() {
    let k = keys("lut4");
    let mut state = 1;
    for (p, domain) in [2, 4, 8, 16].into_iter().flat_map(|p| Domain::ALL.map(|d| (p, d))) {
        let message = Message::new(p, domain).unwrap();
        let all: Vec<u64> = (0..p).collect();
        let x = k.engine.encrypt(&all, message, &k.sk).unwrap();
        let mut tables = vec![values(message, &mut state)];
        if domain != Domain::Negacyclic {
            tables.push(all.clone());
        }
        for values in tables {
            let table = Table::new(message, message, &values).unwrap();
            let once = k.lookup(&x, &table);
            let twice = k.lookup(&once, &table);
            let expected: Vec<u64> = values.iter().map(|&v| values[v as usize]).collect();
            assert_eq!(k.decrypt(&once, message), values, "{p}, {}", domain.name());
            assert_eq!(k.decrypt(&twice, message), expected, "{p}, {}", domain.name());
        }
    }
}

#[test]
fn sums_wrap_around_on_the_whole_turn_and_tables_lead_from_domain_to_domain() {
    let k = keys("lut3");
    let [padded, full, _] = Domain::ALL.map(|domain| k.engine.params().message().within(domain));
    let all: Vec<u64> = (0..8).collect();
    let x = k.engine.encrypt(&all, full, &k.sk).unwrap();
    let sum = k.engine.sum(&[(&x, 3), (&x, -1), (&x, 5)]).unwrap();
    let table = Table::new(full, padded, &[7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
    let y = k.lookup(&sum, &table);
    let expected: Vec<u64> = all.iter().map(|m| 7 - 7 * m % 8).collect();
    assert_eq!(k.decrypt(&y, padded), expected);
    let back = k.lookup(&y, &Table::new(padded, full, &all).unwrap());
    assert_eq!(k.decrypt(&back, full), expected);
    // What would fail too often is refused, with the figure, unless it is allowed.
    let far = k.engine.sum(&[(&y, 40)]).unwrap();
    let table = Table::new(padded, padded, &all).unwrap();
    let refused = k.engine.lookup(&far, &table, &k.key, None, &k.control).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Range);
    let log2 = padded.log2_failure(&k.engine.params().lwe().noise(), far[0].variance(), 0);
    assert!(refused.to_string().contains(&format!("2^{log2:.1}")), "{refused}");
    assert!(k.engine.lookup(&far, &table, &k.key, Some(0.0), &k.control).is_ok());
    let encrypted = |values: &[u64]| k.engine.encrypt(values, padded, &k.sk).map_err(|e| e.kind());
    assert_eq!(encrypted(&[8]).unwrap_err(), ErrorKind::Range);
    let mixed = [table.clone(), Table::new(full, padded, &all).unwrap()];
    assert!(k.engine.lookup_many(&y, &mixed, &k.key, None, &k.control).is_err());
    assert!(k.engine.lookup_many(&y, &[], &k.key, None, &k.control).is_err());
}

#[test]
fn many_tables_are_read_at_once() {
    let mut state = 5;
    // Interleaved where the degree is larger than messages need, multiples of one rotation where its noise is small, else apart.
    for (preset, p, domain, count) in [
        ("lut4", 4, Domain::Padded, 3),
        ("lut4", 8, Domain::Full, 2),
        ("lut4", 16, Domain::Padded, 2),
        ("wide", 16, Domain::Padded, 5),
        ("wide", 16, Domain::Full, 3),
    ] {
        let (k, message) = (keys(preset), Message::new(p, domain).unwrap());
        let x = k.engine.encrypt(&(0..p).collect::<Vec<_>>(), message, &k.sk).unwrap();
        let all: Vec<_> = (0..count).map(|_| values(message, &mut state)).collect();
        let tables: Vec<_> = all.iter().map(|v| Table::new(message, message, v).unwrap()).collect();
        let out = k.engine.lookup_many(&x, &tables, &k.key, None, &k.control).unwrap();
        for (found, expected) in out.iter().zip(&all) {
            assert_eq!(&k.decrypt(found, message), expected, "{preset}, {p}, {}", domain.name());
        }
    }
}

#[test]
fn signs_and_comparisons() {
    let k = keys("lut4");
    let message = k.engine.params().message();
    for bits in [3, 8, 20] {
        let integer = Integer::new(bits).unwrap();
        let (least, most) = integer.range();
        let mut numbers = vec![0, -1, least, most];
        let powers = if bits == 20 { 1 } else { 3 };
        numbers.extend((0..bits - 1).step_by(powers).flat_map(|j| [1i64 << j, -(1i64 << j)]));
        let x = k.engine.encrypt_integers(&numbers, integer, &k.sk).unwrap();
        assert_eq!(k.engine.decrypt_integers(&x, integer, &k.sk).unwrap(), numbers);
        let signs = k.engine.sign(&x, integer, &k.key, None, &k.control).unwrap();
        let expected: Vec<u64> = numbers.iter().map(|&n| u64::from(n >= 0)).collect();
        assert_eq!(k.decrypt(&signs, message), expected, "{bits} bits");
        // A sign is a message as any other.
        let flipped = Table::new(message, message, &[1; 16].map(|_| 0)).unwrap();
        assert_eq!(k.decrypt(&k.lookup(&signs[..1], &flipped), message), [0]);
    }
    let integer = Integer::new(20).unwrap();
    let (a, b) = ([5i64, 5, 6, 0, 524_287, 0, -3], [5i64, 6, 5, 524_287, 0, 0, -2]);
    let encrypt = |n: &[i64]| k.engine.encrypt_integers(n, integer, &k.sk).unwrap();
    let (x, y) = (encrypt(&a), encrypt(&b));
    let holds = |f: fn(&i64, &i64) -> bool| a.iter().zip(&b).map(|(a, b)| u64::from(f(a, b))).collect::<Vec<_>>();
    for (order, expected) in [
        (Order::Less, holds(i64::lt)),
        (Order::LessEqual, holds(i64::le)),
        (Order::Greater, holds(i64::gt)),
        (Order::GreaterEqual, holds(i64::ge)),
    ] {
        let out = k.engine.compare([&x, &y], order, integer, &k.key, None, &k.control).unwrap();
        assert_eq!(k.decrypt(&out, message), expected, "{order:?}");
    }
    let same = k.engine.equal([&x, &y], integer, &k.key, None, &k.control).unwrap();
    assert_eq!(k.decrypt(&same, message), holds(i64::eq));
    // Sums of fresh integers keep their range; what a rotation left is too noisy for 20 bits.
    let sum = k.engine.sum(&[(&x, 1), (&y, -1)]).unwrap();
    assert!(k.engine.sign(&sum, integer, &k.key, None, &k.control).is_ok());
    let refused = |r: Result<Vec<_>, Error>| r.unwrap_err().kind();
    assert_eq!(refused(k.engine.sign(&same, integer, &k.key, None, &k.control)), ErrorKind::Range);
    assert_eq!(refused(k.engine.encrypt_integers(&[1 << 19], integer, &k.sk)), ErrorKind::Range);
    let apart = k.engine.compare([&x, &y[1..]], Order::Less, integer, &k.key, None, &k.control);
    assert_eq!(refused(apart), ErrorKind::Parameter);
}

#[test]
fn words_lose_their_low_bits_and_fall_into_digits() {
    let k = keys("wide");
    let message = k.engine.params().message();
    let mut state = 9;
    for (bits, low) in [(6, 1), (6, 3), (8, 4), (10, 5), (12, 8), (15, 5), (15, 10), (16, 4)] {
        let word = Word::new(bits).unwrap();
        // Every residue of the bits that go, under random ones that stay.
        let numbers: Vec<u64> =
            (0..1u64 << low.min(5)).map(|r| r | random(&mut state, 1 << (bits - low.min(5))) << low.min(5)).collect();
        let x = k.engine.encrypt_words(&numbers, word, &k.sk).unwrap();
        assert_eq!(k.engine.decrypt_words(&x, word, &k.sk).unwrap(), numbers);
        let floors = k.engine.floor(&x, word, low, &k.key, None, &k.control).unwrap();
        let left = Word::new(bits - low).unwrap();
        let expected: Vec<u64> = numbers.iter().map(|n| n >> low).collect();
        assert_eq!(k.engine.decrypt_words(&floors, left, &k.sk).unwrap(), expected, "{low} of {bits} bits");
    }
    for bits in [4, 5, 8, 15, 16] {
        let word = Word::new(bits).unwrap();
        let mut numbers: Vec<u64> = (0..6).map(|_| random(&mut state, 1 << bits)).collect();
        numbers.extend([0, (1 << bits) - 1]);
        let x = k.engine.encrypt_words(&numbers, word, &k.sk).unwrap();
        let digits = k.engine.digits(&x, word, &k.key, None, &k.control).unwrap();
        assert_eq!(digits.len() as u32, bits.div_ceil(4));
        for (i, digit) in digits.iter().enumerate() {
            let expected: Vec<u64> = numbers.iter().map(|n| n >> (4 * i) & 15).collect();
            assert_eq!(k.decrypt(digit, message), expected, "digit {i} of {bits} bits");
            assert!(digit[0].variance() < 1e-9, "digits can be looked up again");
        }
    }
    let word = Word::new(17).unwrap();
    let x = k.engine.encrypt_words(&[1], word, &k.sk).unwrap();
    let refused = k.engine.digits(&x, word, &k.key, None, &k.control).unwrap_err();
    assert!(refused.kind() == ErrorKind::Range && refused.to_string().contains("A digit"), "{refused}");
    assert!(k.engine.floor(&x, word, 18, &k.key, None, &k.control).is_err());
}
