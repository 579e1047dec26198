//! Tables and numbers through the engine at their real sizes: every entry, many tables at once, signs, comparisons, floors, digits.

use aglet::fhew::{
    presets, Array, BootstrapKey, Ciphertext, Domain, Engine, Estimate, Form, Gate, Integer, Message, Order, SecretKey,
    Table, TreeTable, Unsigned, Work,
};
use aglet::{Control, Error, ErrorKind, Runtime};

struct Keys {
    engine: Engine,
    sk: SecretKey,
    key: BootstrapKey,
    control: Control,
}

fn keys(preset: &str) -> Keys {
    let engine = Engine::new(presets::load(preset, presets::Security::Bits128).unwrap(), 2).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, &Control::new()).unwrap();
    Keys { engine, sk, key, control: Control::new() }
}

impl Keys {
    fn lookup(&self, x: &[Ciphertext], table: &Table) -> Vec<Ciphertext> {
        self.engine.lookup(x, table, &self.key, None, &self.control).unwrap()
    }
    fn decrypt(&self, x: &[Ciphertext], message: Message) -> Vec<u64> {
        self.engine.decrypt(x, message, &self.sk).unwrap()
    }
    fn decrypt_integers(&self, x: &[Ciphertext], form: Form) -> Vec<i64> {
        let array = Array::new(&self.engine.context(), form, vec![x.len()], self.sk.id(), x.to_vec()).unwrap();
        self.engine.decrypt_array(&array, &self.sk, None).unwrap()
    }
    fn decrypt_unsigned(&self, x: &[Ciphertext], unsigned: Unsigned) -> Vec<u64> {
        self.decrypt_integers(x, Form::Unsigned(unsigned)).into_iter().map(|n| n as u64).collect()
    }
}

/// All with the feature `long`, else what stands for it.
fn long<T>(all: T, some: T) -> T {
    if cfg!(feature = "long") {
        all
    } else {
        some
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
    for bits in long(vec![3, 8, 20], vec![3, 20]) {
        let integer = Integer::new(bits).unwrap();
        let (least, most) = integer.range();
        let mut numbers = vec![0, -1, least, most];
        let step = long(1, 6);
        numbers.extend((0..bits - 1).step_by(step).flat_map(|j| [1i64 << j, -(1i64 << j)]));
        let x = k.engine.encrypt_integers(&numbers, integer, &k.sk).unwrap();
        assert_eq!(k.decrypt_integers(&x, Form::Integers(integer)), numbers);
        let signs = k.engine.sign(&x, integer, &k.key, None, &k.control).unwrap();
        let all = integer.rotations() as usize * numbers.len();
        assert_eq!(k.control.latest(), (all, all, "rotations".into()), "two batches, counted as one");
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
fn unsigned_integers_lose_their_low_bits_and_fall_into_digits() {
    let k = keys("wide");
    let message = k.engine.params().message();
    let mut state = 9;
    let cuts = vec![(6, 1), (6, 3), (8, 4), (10, 5), (12, 8), (15, 5), (15, 10), (16, 4)];
    for (bits, low) in long(cuts, vec![(6, 1), (6, 3), (12, 8)]) {
        let unsigned = Unsigned::new(bits).unwrap();
        // Every residue of the bits that go, or every eighth, under random ones that stay.
        let (known, step) = (low.min(5), if low < 4 { 1 } else { long(1, 8) });
        let residues = (0..1u64 << known).step_by(step);
        let numbers: Vec<u64> = residues.map(|r| r | random(&mut state, 1 << (bits - known)) << known).collect();
        let x = k.engine.encrypt_unsigned(&numbers, unsigned, &k.sk).unwrap();
        assert_eq!(k.decrypt_unsigned(&x, unsigned), numbers);
        let floors = k.engine.floor(&x, unsigned, low, &k.key, None, &k.control).unwrap();
        let left = Unsigned::new(bits - low).unwrap();
        let expected: Vec<u64> = numbers.iter().map(|n| n >> low).collect();
        assert_eq!(k.decrypt_unsigned(&floors, left), expected, "{low} of {bits} bits");
    }
    for bits in long(vec![4, 5, 8, 15, 16], vec![5, 16]) {
        let unsigned = Unsigned::new(bits).unwrap();
        let mut numbers: Vec<u64> = (0..6).map(|_| random(&mut state, 1 << bits)).collect();
        numbers.extend([0, (1 << bits) - 1]);
        let x = k.engine.encrypt_unsigned(&numbers, unsigned, &k.sk).unwrap();
        let digits = k.engine.digits(&x, unsigned, &k.key, None, &k.control).unwrap();
        assert_eq!(digits.len() as u32, bits.div_ceil(4));
        for (i, digit) in digits.iter().enumerate() {
            let expected: Vec<u64> = numbers.iter().map(|n| n >> (4 * i) & 15).collect();
            assert_eq!(k.decrypt(digit, message), expected, "digit {i} of {bits} bits");
            assert!(digit[0].variance() < 1e-9, "digits can be looked up again");
        }
    }
    let unsigned = Unsigned::new(17).unwrap();
    let x = k.engine.encrypt_unsigned(&[1], unsigned, &k.sk).unwrap();
    let refused = k.engine.digits(&x, unsigned, &k.key, None, &k.control).unwrap_err();
    assert!(refused.kind() == ErrorKind::Range && refused.to_string().contains("A digit"), "{refused}");
    assert!(k.engine.floor(&x, unsigned, 18, &k.key, None, &k.control).is_err());
}

#[test]
fn an_estimate_stands_before_anything_runs() {
    fn say(e: &Engine, work: Work, batch: usize) -> Estimate {
        e.estimate(work, batch).unwrap()
    }
    let on = |backend, preset| {
        let runtime = Runtime::seeded(1, backend, [0; 32]).unwrap();
        Engine::on(runtime, presets::load(preset, presets::Security::Bits128).unwrap()).unwrap()
    };
    let engine = |preset| on("portable", preset);
    let (gates, four, wide) = (engine("gate"), engine("lut4"), engine("wide"));
    let nand = say(&gates, Work::Gate(Gate::Nand), 8);
    assert!(nand.rotations == 8 && (0.028..0.105).contains(&nand.seconds) && nand.log2_failure < -128.0, "{nand:?}");
    // The model is one of the kernels that run.
    let slow = say(&on("scalar", "gate"), Work::Gate(Gate::Nand), 64).seconds;
    let ratio = slow / say(&gates, Work::Gate(Gate::Nand), 64).seconds;
    assert!((ratio / (10.0 / 3.5) - 1.0).abs() < 0.01, "{ratio}");
    let claims = gates.params().literal().claims.clone().unwrap();
    assert_eq!(nand.key_bytes, claims.key_bytes);
    assert!(say(&gates, Work::Gate(Gate::Nand), 64).working_bytes > nand.working_bytes);
    assert_eq!(say(&gates, Work::Mux, 3).rotations, 6);
    // Three results have no margin in this set, and are read two at a time.
    let tight = Engine::new(presets::load("ntru", presets::Security::NotChecked).unwrap(), 1).unwrap();
    let result = tight.params().lwe().noise().blind_rotation;
    for (work, fresh, results) in [(Work::Gate(Gate::Majority), 1, 2), (Work::Mux, 2, 3)] {
        let found = [tight.estimate(work, 1), tight.estimate_on(work, 1, result)].map(Result::unwrap);
        assert_eq!(found.map(|f| f.rotations), [fresh, results]);
        assert!(found.iter().all(|f| f.log2_failure < -128.0), "{found:?}");
    }
    let message = four.params().message();
    let table = |domain| Table::new(message.within(domain), message, &[5; 16]).unwrap();
    let lookup = |e: &Engine, tables: &[Table]| say(e, Work::Lookup(tables), 1).rotations;
    assert_eq!(lookup(&four, &[table(Domain::Padded)]), 1);
    assert_eq!(lookup(&four, &[table(Domain::Full)]), 2);
    let steep = Table::new(message, message, &[0, 15].repeat(8)).unwrap();
    assert_eq!((lookup(&four, &vec![steep.clone(); 3]), lookup(&wide, &vec![steep; 3])), (3, 1));
    let integer = Integer::new(20).unwrap();
    let (sign, equal) = (say(&four, Work::Sign(integer), 1), say(&four, Work::Equal(integer), 1));
    assert_eq!((sign.rotations, equal.rotations), (6, 12));
    assert!(sign.seconds < 0.14 && sign.log2_failure < -128.0 && equal.log2_failure < -127.0);
    let unsigned = |bits| Unsigned::new(bits).unwrap();
    assert_eq!(say(&wide, Work::Floor(unsigned(10), 5), 1).rotations, 2);
    assert_eq!(say(&wide, Work::Digits(unsigned(8)), 1).rotations, 4);
    let tree = |count: u64, value: &dyn Fn(u64) -> u64| {
        TreeTable::new(message, message, &(0..count).map(value).collect::<Vec<_>>()).unwrap()
    };
    let (one, other) = [3, 5].map(|k| move |i: u64| ((i * i * 0x9E37_79B9 + k * i * 7919) >> 16) % 16).into();
    let rotations = |tables: &[TreeTable]| say(&wide, Work::LookupTree(tables, false), 2).rotations;
    assert_eq!(rotations(&[tree(256, &one), tree(256, &other)]), 6);
    assert_eq!(rotations(&[tree(256, &one), tree(256, &one)]), 4);
    // A table of three messages chooses among 16, then once more; one that the first message alone decides, once.
    assert_eq!((rotations(&[tree(4096, &one)]), rotations(&[tree(4096, &one), tree(4096, &other)])), (36, 70));
    assert_eq!(rotations(&[tree(4096, &|i| i / 256), tree(4096, &|_| 0)]), 4);
    assert_eq!(rotations(&[tree(1 << 16, &one)]), 2 * (1 + 256 + 16 + 1));
    let split = |tables: &[TreeTable]| say(&wide, Work::LookupTree(tables, true), 2).rotations;
    assert_eq!(
        (split(&[tree(4096, &one), tree(4096, &other)]), split(&[tree(1 << 16, &one)])),
        (36, 2 * (16 + 16 + 1))
    );
    // Of two messages, two rotations and one for two tables that differ.
    let byte = |value| tree(256, value);
    assert_eq!((split(&[byte(&one), byte(&other)]), split(&[byte(&one), byte(&other), byte(&|i| i / 16)])), (6, 8));
    assert_eq!(split(&[byte(&one), byte(&one)]), 6);
    assert!(four.estimate(Work::Lookup(&[]), 1).is_err() && four.estimate(Work::Floor(unsigned(4), 5), 1).is_err());
}

/// Tables of two nibbles on these bytes: the inverse of the byte's square plus one for the high nibble, the sum of nibbles for the low.
fn bytes_through_pairs(domain: Domain, bytes: &[u64]) {
    let k = keys("wide");
    let packing = k.engine.create_packing_key(&k.sk, &k.control).unwrap();
    let message = k.engine.params().message().within(domain);
    let function = |byte: u64| (byte * byte * 7 + 3 * byte + 1) & 255;
    let table = |shift: u64| {
        let values: Vec<u64> = (0..256).map(|byte| function(byte) >> shift & 15).collect();
        TreeTable::new(message, message, &values).unwrap()
    };
    let nibbles = |shift: u64| {
        let values: Vec<u64> = bytes.iter().map(|byte| byte >> shift & 15).collect();
        k.engine.encrypt(&values, message, &k.sk).unwrap()
    };
    let (high, low) = (nibbles(4), nibbles(0));
    let keys = (&k.key, &packing);
    let out = k.engine.lookup_tree(&[&high, &low], &[table(4), table(0)], keys, None, &k.control).unwrap();
    let found = |x: &[Vec<Ciphertext>]| -> Vec<u64> {
        let (high, low) = (k.decrypt(&x[0], message), k.decrypt(&x[1], message));
        high.iter().zip(&low).map(|(h, l)| 16 * h + l).collect()
    };
    assert_eq!(found(&out), bytes.iter().map(|&b| function(b)).collect::<Vec<_>>(), "{}", domain.name());
    // What is said of them beforehand is the noise that they have, and flat tables have less.
    let most = out.iter().flatten().map(Ciphertext::variance).fold(0.0, f64::max);
    let flat = TreeTable::new(message, message, &[1; 256]).unwrap();
    let (said, less) =
        (k.engine.tree_variance(&[table(4), table(0)], false, false), k.engine.tree_variance(&[flat], false, false));
    assert!((most / said - 1.0).abs() < 1e-9 && 1.1 * less < said, "{most:e} of {said:e}, {less:e}");
    // What comes out goes in again.
    let again = k.engine.lookup_tree(&[&out[0], &out[1]], &[table(4), table(0)], keys, None, &k.control).unwrap();
    assert_eq!(found(&again), bytes.iter().map(|&b| function(function(b))).collect::<Vec<_>>(), "{}", domain.name());
    let apart = k.engine.lookup_tree(&[&high, &low[1..]], &[table(0)], keys, None, &k.control);
    assert_eq!(apart.unwrap_err().kind(), ErrorKind::Parameter);
    assert!(k.engine.lookup_tree(&[&high, &low], &[], keys, None, &k.control).is_err());
}

#[test]
fn bytes_go_through_tables_of_two_nibbles() {
    bytes_through_pairs(Domain::Padded, &[0, 1, 15, 16, 100, 128, 254, 255]);
    bytes_through_pairs(Domain::Full, &[0, 17, 240, 255]);
}

#[cfg(feature = "by-hand")]
mod by_hand {
    use super::*;

    #[test]
    fn every_byte_goes_through_tables_of_two_nibbles() {
        bytes_through_pairs(Domain::Padded, &(0..256).collect::<Vec<_>>());
        bytes_through_pairs(Domain::Full, &(0..256).collect::<Vec<_>>());
    }
}
