//! Integers at their real size: depth, sums of slots, and the bound on the noise beside what the key sees.

use aglet::integer::{presets, Engine, Packing};
use aglet::Control;

fn numbers(count: usize, t: i64) -> Vec<i64> {
    (0..count as i64).map(|i| (i * i * 31 + 17 * i) % t - t / 2).collect()
}

fn centre(x: i64, t: i64) -> i64 {
    (x + t / 2).rem_euclid(t) - t / 2
}

fn all_levels(preset: &str) {
    let engine = Engine::new(presets::load(preset).unwrap(), Packing::Slots, 0).unwrap();
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
    assert!(presets::load("int").is_err());
    let odd = presets::with_depth(4, 40_961).unwrap();
    let engine = Engine::new(odd, Packing::Coefficients, 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let x = engine.encrypt_with_secret(&[0, 3], 4, &sk).unwrap();
    let square = engine.decrypt(&engine.multiply(&x, &x, &relin).unwrap(), &sk).unwrap();
    assert_eq!(square[..4], [0, 0, 9, 0]);
    assert!(Engine::new(presets::with_depth(4, 40_963).unwrap(), Packing::Slots, 1).is_err());
}
