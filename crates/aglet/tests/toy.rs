//! The whole engine on the toy ring: small enough for the quick tests, the same chain and circuits as the real set.

use aglet::{presets, Ciphertext, Control, Engine, Error, KeySize};
use num_complex::Complex64;

fn engine(threads: usize) -> Engine {
    Engine::new(presets::load("toy", true).unwrap(), None, threads).unwrap()
}

fn points(n: usize) -> Vec<Complex64> {
    (0..n).map(|j| Complex64::from_polar(((j as f64 + 0.5) / n as f64).sqrt(), 2.4 * j as f64)).collect()
}

fn bits(engine: &Engine, sk: &aglet::SecretKey, ct: &Ciphertext, expected: &[Complex64]) -> (f64, f64) {
    let found = engine.decrypt(ct, sk).unwrap();
    let errors: Vec<f64> = found.iter().zip(expected).map(|(a, b)| (a - b).norm()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (-mean.log2(), -errors.iter().copied().fold(0.0, f64::max).log2())
}

#[test]
fn bootstraps_with_both_key_sizes_and_bounds() {
    let engine = engine(2);
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearisation_key(&sk).unwrap();
    let conj = engine.create_conjugation_key(&sk).unwrap();
    let z = points(engine.slots());
    for size in [KeySize::Large, KeySize::Medium] {
        let key = engine.create_bootstrap_key(&sk, 3, size, None, &Control::new()).unwrap();
        for level in [0, 5] {
            let ct = engine.encrypt_with_secret(&engine.encode(&z, level).unwrap(), &sk).unwrap();
            let out = engine.bootstrap(&ct, &relin, &conj, &key, None, &Control::new()).unwrap();
            assert_eq!(engine.level(&out).unwrap(), 10);
            let (mean, worst) = bits(&engine, &sk, &out, &z);
            println!("{size:?} from level {level}: {mean:.2} bits, worst {worst:.2}");
            assert!(mean > 24.0 && worst > 22.0, "{size:?}: {mean} {worst}");
        }
        let large: Vec<Complex64> = z.iter().map(|v| v * 40.0).collect();
        let ct = engine.encrypt_with_secret(&engine.encode(&large, 1).unwrap(), &sk).unwrap();
        let refused = engine.bootstrap(&ct, &relin, &conj, &key, None, &Control::new());
        let Err(Error::Range(said)) = refused else { panic!("values of 40 against a bound of 1") };
        assert!(said.contains("bound=") && !said.contains("40"), "{said}");
        let out = engine.bootstrap(&ct, &relin, &conj, &key, Some(40.0), &Control::new()).unwrap();
        let (mean, _) = bits(&engine, &sk, &out, &large);
        assert!(mean > 24.0 - 40f64.log2(), "bound 40: {mean}");
    }
    let other = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&other, 3, KeySize::Medium, None, &Control::new()).unwrap();
    let ct = engine.encrypt_with_secret(&engine.encode(&z, 0).unwrap(), &sk).unwrap();
    let mixed = engine.bootstrap(&ct, &relin, &conj, &key, None, &Control::new());
    assert!(mixed.unwrap_err().to_string().contains("bootstrap key"));
    let stopped = Control::new();
    stopped.cancel();
    assert!(matches!(engine.create_bootstrap_key(&sk, 3, KeySize::Large, None, &stopped), Err(Error::Cancelled)));
    let memory = engine.create_bootstrap_key(&sk, 3, KeySize::Large, Some(1000), &Control::new());
    assert!(matches!(memory, Err(Error::Memory { .. })));
    assert!(engine.create_bootstrap_key(&sk, 4, KeySize::Large, None, &Control::new()).is_err());
}

#[test]
fn arithmetic_at_every_level() {
    let engine = engine(1);
    let sk = engine.create_secret_key().unwrap();
    let pk = engine.create_public_key(&sk).unwrap();
    let relin = engine.create_relinearisation_key(&sk).unwrap();
    let conj = engine.create_conjugation_key(&sk).unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let n = engine.slots();
    let (x, y) = (points(n), points(n).into_iter().rev().collect::<Vec<_>>());
    let map = |f: &dyn Fn(usize) -> Complex64| (0..n).map(f).collect::<Vec<_>>();
    let is = |ct: &Ciphertext, level: usize, expected: Vec<Complex64>, what: &str| {
        assert_eq!(engine.level(ct).unwrap(), level, "{what}");
        let (_, worst) = bits(&engine, &sk, ct, &expected);
        // Noise beside s^2 grows more than noise beside s.
        assert!(
            worst > if what == "degree 2 down" || ct.degree() == 2 { 20.0 } else { 23.0 },
            "{what} at level {level}: {worst}"
        );
    };
    for level in 0..=engine.max_level() {
        let a = engine.encrypt(&engine.encode(&x, level).unwrap(), &pk).unwrap();
        let b = engine.encrypt_with_secret(&engine.encode(&y, engine.max_level()).unwrap(), &sk).unwrap();
        let pt = engine.encode(&y, engine.max_level()).unwrap();
        is(&engine.add(&a, &b).unwrap(), level, map(&|j| x[j] + y[j]), "add");
        is(&engine.subtract(&b, &a).unwrap(), level, map(&|j| y[j] - x[j]), "subtract");
        is(&engine.add_plain(&a, &pt).unwrap(), level, map(&|j| x[j] + y[j]), "add_plain");
        is(&engine.subtract_plain(&a, &pt).unwrap(), level, map(&|j| x[j] - y[j]), "subtract_plain");
        is(
            &engine.add_scalar(&a, Complex64::new(0.5, 2.0)).unwrap(),
            level,
            map(&|j| x[j] + Complex64::new(0.5, 2.0)),
            "add_scalar",
        );
        is(&engine.negate(&a).unwrap(), level, map(&|j| -x[j]), "negate");
        is(&engine.multiply_integer(&a, -3).unwrap(), level, map(&|j| -3.0 * x[j]), "multiply_integer");
        is(&engine.conjugate(&a, &conj).unwrap(), level, map(&|j| x[j].conj()), "conjugate");
        is(&engine.rotate(&a, &rotation, 5).unwrap(), level, map(&|j| x[(j + n - 5) % n]), "rotate");
        is(&engine.rotate(&a, &rotation, -1).unwrap(), level, map(&|j| x[(j + 1) % n]), "rotate back");
        let fixed = engine.create_fixed_rotation_key(&sk, 7, Some(level)).unwrap();
        is(&engine.rotate_fixed(&a, &fixed).unwrap(), level, map(&|j| x[(j + n - 7) % n]), "rotate_fixed");
        is(&engine.level_down(&a, level / 2).unwrap(), level / 2, x.clone(), "level_down");
        assert!(engine.level_down(&a, level + 1).is_err());
        if level == 0 {
            assert!(matches!(engine.multiply(&a, &b, Some(&relin)), Err(Error::Level(_))));
            assert!(matches!(engine.multiply_scalar(&a, Complex64::new(0.5, 0.0)), Err(Error::Level(_))));
            continue;
        }
        is(&engine.multiply(&a, &b, Some(&relin)).unwrap(), level - 1, map(&|j| x[j] * y[j]), "multiply");
        is(&engine.multiply_plain(&a, &pt).unwrap(), level - 1, map(&|j| x[j] * y[j]), "multiply_plain");
        is(
            &engine.multiply_scalar(&a, Complex64::new(0.3, -0.4)).unwrap(),
            level - 1,
            map(&|j| x[j] * Complex64::new(0.3, -0.4)),
            "multiply_scalar",
        );
        is(&engine.rescale(&a).unwrap(), level - 1, x.clone(), "rescale");
        let unfinished = engine.multiply(&a, &b, None).unwrap();
        assert_eq!(unfinished.degree(), 2);
        is(&unfinished, level - 1, map(&|j| x[j] * y[j]), "multiply without a key");
        is(&engine.relinearise(&unfinished, &relin).unwrap(), level - 1, map(&|j| x[j] * y[j]), "relinearise");
        is(&engine.level_down(&unfinished, 0).unwrap(), 0, map(&|j| x[j] * y[j]), "degree 2 down");
        assert!(engine.conjugate(&unfinished, &conj).is_err());
        if level < engine.max_level() {
            let above = engine.create_fixed_rotation_key(&sk, 1, Some(level - 1)).unwrap();
            assert!(matches!(engine.rotate_fixed(&a, &above), Err(Error::Level(_))));
        }
    }
}

#[test]
fn sparse_slots_without_bootstrap() {
    let engine = Engine::new(presets::load("levels-13", false).unwrap(), Some(8), 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let x = points(8);
    let ct = engine.encrypt_with_secret(&engine.encode(&x, 2).unwrap(), &sk).unwrap();
    let out = engine.rotate(&ct, &rotation, 3).unwrap();
    let expected: Vec<_> = (0..8).map(|j| x[(j + 5) % 8]).collect();
    assert!(bits(&engine, &sk, &out, &expected).1 > 22.0);
}

#[test]
fn reports_agree_with_the_keys() {
    let engine = engine(1);
    let plan = aglet::report::plan("toy", "regular", 3, "large", engine.slots()).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, 3, KeySize::Large, None, &Control::new()).unwrap();
    assert_eq!(plan["key_bytes"].as_u64().unwrap() as usize, key.byte_count());
    assert_eq!((plan["input_level"].as_u64(), plan["output_level"].as_u64()), (Some(0), Some(10)));
    assert_eq!(plan["stages"].as_array().unwrap().len(), 10);
    assert_eq!(aglet::report::presets().unwrap().as_array().unwrap().len(), presets::ALL.len());
    assert!(aglet::report::plan("toy", "magic", 3, "large", engine.slots()).is_err());
    assert!(presets::load("toy", false).is_err() && presets::load("none", true).is_err());
}
