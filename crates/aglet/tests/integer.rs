//! Integers at their real size: depth, sums of slots, and the bound on the noise beside what the key sees.

use aglet::integer::{presets, Ciphertext, Comparison, Engine, Packing};
use aglet::{Control, Error};

fn numbers(count: usize, t: i64) -> Vec<i64> {
    (0..count as i64).map(|i| (i * i * 31 + 17 * i) % t - t / 2).collect()
}

fn centre(x: i64, t: i64) -> i64 {
    (x + t / 2).rem_euclid(t) - t / 2
}

fn all_levels(preset: &str) {
    let engine = Engine::new(presets::load(preset, presets::Security::Bits128).unwrap(), Packing::Slots, 0).unwrap();
    let (sk, t) = (engine.create_secret_key().unwrap(), 65537);
    let (pk, relin) = (engine.create_public_key(&sk).unwrap(), engine.create_relinearization_key(&sk).unwrap());
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    assert_eq!((relin.id(), rotation.id()), (sk.id(), sk.id()));
    let n = engine.count();
    let mut x = numbers(n, t);
    let mut ct = engine.encrypt(&x, engine.params().max_level(), &pk).unwrap();
    let first = ct.clone();
    let start = x.clone();
    for level in (0..engine.params().max_level()).rev() {
        ct = engine.subtract(&engine.multiply(&ct, &ct, &relin).unwrap(), &first).unwrap();
        x.iter_mut().zip(&start).for_each(|(x, &y)| *x = centre(*x * *x - y, t));
        assert_eq!(ct.level(), level);
        let (bound, exact) = (engine.budget(&ct), engine.noise_budget(&ct, &sk).unwrap());
        assert!(bound <= exact && exact - bound < 8.0, "{preset}, level {level}: {bound} {exact}");
    }
    assert_eq!(engine.decrypt(&ct, &sk).unwrap(), x, "{preset}");
    // Sums, rotations and products with numbers, at the lowest level.
    let turned = engine.rotate_rows(&ct, &rotation, 3).unwrap();
    let rolled: Vec<i64> = x.chunks(n / 2).flat_map(|row| [&row[n / 2 - 3..], &row[..n / 2 - 3]].concat()).collect();
    assert_eq!(engine.decrypt(&turned, &sk).unwrap(), rolled);
    let swapped = engine.rotate_columns(&ct, &rotation).unwrap();
    assert_eq!(engine.decrypt(&swapped, &sk).unwrap(), [&x[n / 2..], &x[..n / 2]].concat());
    let mean = engine.level_down(&first, 1).unwrap();
    let total = centre(start.iter().sum::<i64>(), t);
    assert_eq!(engine.decrypt(&engine.sum_slots(&mean, &rotation).unwrap(), &sk).unwrap(), vec![total; n]);
    let plain = engine.multiply_plain(&first, &start).unwrap();
    let squares: Vec<i64> = start.iter().map(|&x| centre(x * x, t)).collect();
    assert_eq!(engine.decrypt(&engine.level_down(&plain, 0).unwrap(), &sk).unwrap(), squares);
    let shifted = engine.add_plain(&engine.multiply_number(&first, -2).unwrap(), &start).unwrap();
    let expected: Vec<i64> = start.iter().map(|&x| -x).collect();
    assert_eq!(engine.decrypt(&shifted, &sk).unwrap(), expected);
}

#[test]
fn four_and_nine_levels() {
    all_levels("int-levels-13");
    all_levels("int-levels-14");
}

#[cfg(feature = "long")]
#[test]
fn nineteen_and_thirty_nine_levels() {
    all_levels("int-levels-15");
    all_levels("int-levels-16");
}

#[test]
fn sets_by_their_depth() {
    let found = |depth: usize| presets::with_depth(depth, 65537).map(|p| p.name().to_string());
    assert_eq!([1, 5, 19, 20].map(|depth| found(depth).unwrap()), [13, 14, 15, 16].map(|n| format!("int-levels-{n}")));
    assert!(found(40).unwrap_err().to_string().contains("the largest has 39"));
    // A modulus that its levels have no room for.
    assert!(presets::with_depth(4, 10_000_019).unwrap_err().to_string().contains("smaller t"));
    assert!(presets::load("int", presets::Security::Bits128).is_err());
    let odd = presets::with_depth(4, 40_961).unwrap();
    let engine = Engine::new(odd, Packing::Coefficients, 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let x = engine.encrypt_with_secret(&[0, 3], 4, &sk).unwrap();
    let square = engine.decrypt(&engine.multiply(&x, &x, &relin).unwrap(), &sk).unwrap();
    assert_eq!(square[..4], [0, 0, 9, 0]);
    assert!(Engine::new(presets::with_depth(4, 40_963).unwrap(), Packing::Slots, 1).is_err());
}

#[test]
fn circuits_are_those_of_numbers_modulo_t() {
    let engine =
        Engine::new(presets::load("int-levels-14", presets::Security::Bits128).unwrap(), Packing::Slots, 0).unwrap();
    let (sk, t, control) = (engine.create_secret_key().unwrap(), 65537, Control::new());
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let encrypt = |x: &[i64], level| engine.encrypt_with_secret(x, level, &sk).unwrap();
    let n = engine.count();
    let check = |ct, expected: &dyn Fn(usize) -> i64, level: usize| {
        let (bound, exact) = (engine.budget(&ct), engine.noise_budget(&ct, &sk).unwrap());
        assert!(0.0 < bound && bound <= exact, "{bound} {exact}");
        assert_eq!(engine.decrypt(&ct, &sk).unwrap(), (0..n).map(|i| centre(expected(i), t)).collect::<Vec<_>>());
        assert_eq!(ct.level(), level);
    };
    let x = numbers(n, t);
    let a = encrypt(&x, 4);
    let times = |x: i64, y: i64| (x * y).rem_euclid(t);
    for (exponent, level) in [(1, 4), (2, 3), (3, 2), (7, 1), (16, 0)] {
        let expected = |i: usize| (0..exponent).fold(1, |y, _| times(y, x[i]));
        check(engine.power(&a, exponent, &relin, &control).unwrap(), &expected, level);
    }
    let coefficients = [-7, 65_540, 0, 5, 40_000, -3, 0, 1];
    let polynomial = engine.evaluate_polynomial(&a, &coefficients, (&relin, None), &control).unwrap();
    check(polynomial, &|i| coefficients.iter().rev().fold(0, |y, &c| times(y, x[i]) + c), 1);
    // A sum of products with one relinearization.
    let product = engine.multiply_only(&a, &a).unwrap();
    assert_eq!((product.degree(), product.level()), (2, 4));
    check(product.clone(), &|i| times(x[i], x[i]), 4);
    let sum = engine.subtract(&engine.add(&product, &product).unwrap(), &encrypt(&x, 9)).unwrap();
    check(engine.relinearize(&sum, &relin).unwrap(), &|i| 2 * times(x[i], x[i]) - x[i], 3);
    assert!(engine.multiply(&product, &a, &relin).is_err() && engine.level_down(&product, 1).is_err());
    // Tables of 4 and 8 bits, the latter in two digits and in one variable.
    let byte = |i: usize| (i as i64 * 7) % 256;
    let table: Vec<i64> = (0..256).map(|v| (v * v * 3 + 99) % 256).collect();
    let digit = |shift: usize, level| encrypt(&(0..n).map(|i| byte(i) >> shift & 15).collect::<Vec<_>>(), level);
    let short = engine.table(&table[..16], 1).unwrap();
    check(engine.lookup(&[digit(0, 4)], &short, &relin, &control).unwrap(), &|i| table[byte(i) as usize & 15], 0);
    let long = engine.table(&table, 2).unwrap();
    assert_eq!((short.depth(), short.relinearizations(), long.depth(), long.relinearizations()), (4, 7, 6, 29));
    let found = engine.lookup(&[digit(0, 7), digit(4, 6)], &long, &relin, &control).unwrap();
    // The first digit meets the other one after a level of its own.
    check(found, &|i| table[byte(i) as usize], 1);
    let whole = encrypt(&(0..n).map(byte).collect::<Vec<_>>(), 9);
    let one = engine.table(&table, 1).unwrap();
    check(engine.lookup(&[whole], &one, &relin, &control).unwrap(), &|i| table[byte(i) as usize], 1);
    // Comparisons of 3 bits.
    let (u, v): (Vec<i64>, Vec<i64>) =
        ((0..n as i64).map(|i| i % 8).collect(), (0..n as i64).map(|i| i / 8 % 8).collect());
    let both = (encrypt(&u, 4), encrypt(&v, 5));
    for (what, f) in [
        (Comparison::Less, (|u, v| i64::from(u < v)) as fn(i64, i64) -> i64),
        (Comparison::Equal, |u, v| i64::from(u == v)),
        (Comparison::Maximum, i64::max),
    ] {
        let found = engine.compare(what, [&both.0, &both.1], 3, (&relin, None), &control).unwrap();
        check(found, &|i| f(u[i], v[i]), 0);
    }
    // What cannot be is refused.
    assert!(engine.power(&a, 0, &relin, &control).is_err() && engine.power(&a, 17, &relin, &control).is_err());
    assert!(engine.lookup(std::slice::from_ref(&a), &long, &relin, &control).is_err());
    assert!(engine.evaluate_polynomial(&a, &[3, 65_537], (&relin, None), &control).is_err());
    assert!(engine.table(&table[..17], 2).is_err() && engine.comparison_table(Comparison::Less, 13).is_err());
    control.cancel();
    assert!(matches!(engine.power(&a, 3, &relin, &control), Err(aglet::Error::Cancelled)));
}

#[test]
fn tables_of_twelve_bits_take_three_digits() {
    let engine =
        Engine::new(presets::load("int-levels-14", presets::Security::Bits128).unwrap(), Packing::Slots, 0).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let index: Vec<i64> = (0..engine.count() as i64).map(|i| i * 1003 % 4096).collect();
    let values: Vec<i64> = (0..4096).map(|v| (v * v * 5 + v) % 4093).collect();
    let table = engine.table(&values, 3).unwrap();
    assert_eq!((table.depth(), table.relinearizations()), (7, 59));
    let digit = |shift: usize| index.iter().map(|i| i >> shift & 15).collect::<Vec<i64>>();
    let digits = [0, 4, 8].map(|shift| engine.encrypt_with_secret(&digit(shift), 7, &sk).unwrap());
    let found = engine.lookup(&digits, &table, &relin, &Control::new()).unwrap();
    assert_eq!(found.level(), 0);
    assert!(engine.decrypt(&found, &sk).unwrap() == index.iter().map(|&i| values[i as usize]).collect::<Vec<_>>());
}

/// As far as the last relinearization; and the engine works on after one that was stopped.
#[test]
fn circuits_say_how_far_they_are_and_stop() {
    let engine =
        Engine::new(presets::load("int-levels-14", presets::Security::Bits128).unwrap(), Packing::Slots, 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let x: Vec<i64> = (0..engine.count() as i64).map(|i| i % 16).collect();
    let ct = engine.encrypt_with_secret(&x, 9, &sk).unwrap();
    let values: Vec<i64> = (0..256).map(|v| v * v % 251).collect();
    let (one, two) = (engine.table(&values, 1).unwrap(), engine.table(&values, 2).unwrap());
    let both = [ct.clone(), ct.clone()];
    type Work<'a> = &'a (dyn Fn(&Control) -> Result<Ciphertext, Error> + Sync);
    let cases: [(Work, usize, &str); 4] = [
        (&|control| engine.power(&ct, 23, &relin, control), 7, "power"),
        (&|control| engine.evaluate_polynomial(&ct, &[1, 2, 3, 4, 5], (&relin, None), control), 3, "polynomial"),
        (&|control| engine.lookup(std::slice::from_ref(&ct), &one, &relin, control), one.relinearizations(), "table"),
        (&|control| engine.lookup(&both, &two, &relin, control), 29, "table"),
    ];
    for (work, total, what) in cases {
        let control = Control::new();
        let whole = engine.decrypt(&work(&control).unwrap(), &sk).unwrap();
        assert_eq!(control.latest(), (total, total, what.to_string()));
        let stopped = Control::new();
        stopped.cancel();
        assert!(matches!(work(&stopped), Err(Error::Cancelled)) && stopped.latest().0 == 0);
        assert!(engine.decrypt(&work(&Control::new()).unwrap(), &sk).unwrap() == whole);
    }
}

#[test]
fn plaintexts_are_encoded_once() {
    let engine =
        Engine::new(presets::load("int-levels-13", presets::Security::Bits128).unwrap(), Packing::Slots, 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let x = numbers(engine.count(), 65537);
    let (pt, ct) = (engine.encode(&x).unwrap(), engine.encrypt_with_secret(&x, 2, &sk).unwrap());
    assert_eq!(engine.decode(&pt).unwrap(), x);
    assert_eq!(engine.decrypt(&engine.encrypt_with_secret(&pt, 0, &sk).unwrap(), &sk).unwrap(), x);
    let doubled: Vec<i64> = x.iter().map(|&x| centre(2 * x, 65537)).collect();
    assert_eq!(engine.decrypt(&engine.add_plain(&ct, &pt).unwrap(), &sk).unwrap(), doubled);
    let coefficients =
        Engine::new(presets::load("int-levels-13", presets::Security::Bits128).unwrap(), Packing::Coefficients, 1)
            .unwrap();
    assert!(coefficients.encrypt_with_secret(&pt, 0, &sk).is_err() && coefficients.table(&[0, 1, 4], 1).is_err());
    let own = coefficients.create_secret_key().unwrap();
    let shifted = coefficients.add_number(&coefficients.encrypt_with_secret(&[1, 2], 1, &own).unwrap(), -3).unwrap();
    assert_eq!(coefficients.decrypt(&shifted, &own).unwrap()[..3], [-2, -1, -3]);
}

#[test]
fn no_secret_is_larger_at_a_root_than_noise_is_estimated_for() {
    for preset in ["int-levels-13", "int16"] {
        let engine =
            Engine::new(presets::load(preset, presets::Security::Bits128).unwrap(), Packing::Slots, 0).unwrap();
        let deviation = (2.0 * engine.params().n() as f64 / 3.0).sqrt();
        let largest: Vec<f64> =
            (0..8).map(|_| engine.create_secret_key().unwrap().largest_value() / deviation).collect();
        assert!(largest.iter().all(|times| (2.2..=3.3).contains(times)), "{preset}: {largest:?}");
    }
}
