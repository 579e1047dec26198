//! The whole engine on the toy ring: small enough for the quick tests, the same chain and circuits as the real set.

use aglet::ckks::presets;
use aglet::ckks::{BootstrapKey, BootstrapKeys, Ciphertext, Engine, KeySize, Method, Number, Request};
use aglet::{Control, Error};
use aglet_testing::fixture::{precision, Fixture};
use aglet_testing::messages;
use num_complex::Complex64;

fn toy(slots: Option<usize>) -> Fixture {
    Fixture::new("toy", slots, 2)
}

fn assert_refreshed<T: Number + Into<Complex64>>(
    f: &Fixture,
    key: &BootstrapKey,
    request: Request,
    z: &[T],
    level: usize,
    wanted: f64,
) {
    // From the lowest level, as any serves: slots_to_coeffs has primes of its own.
    let ct = f.encrypt(z, 0);
    let out = f.bootstrap(&[&ct], key, request).unwrap();
    assert_eq!((out.len(), f.engine.level(&out[0]).unwrap()), (1, level), "{request:?}");
    let found = f.precision(&out[0], z);
    println!("{request:?}: {found:.2?}");
    assert!(found.mean > wanted && found.worst > wanted - 3.0, "{request:?}: {found:?}");
}

#[test]
fn regular_bootstraps_of_every_size_and_stage_count() {
    let f = toy(None);
    let z = messages::complex(f.engine.slots(), 0);
    let small = f.key(f.request(Method::Regular, 3, KeySize::Small));
    for stage_count in 1..=5 {
        let request = |size| f.request(Method::Regular, stage_count, size);
        assert_refreshed(&f, &small, request(KeySize::Small), &z, 10, 24.0);
        for size in [KeySize::Large, KeySize::Medium] {
            let key = f.key(request(size));
            assert_refreshed(&f, &key, request(size), &z, 10, 24.0);
            let real = Request { real: true, ..request(size) };
            assert_refreshed(&f, &key, real, &messages::real(z.len(), 0), 10, 24.0);
            for target_level in [0, 7] {
                let lower = Request { target_level: Some(target_level), ..request(size) };
                assert_refreshed(&f, &key, lower, &z, target_level, 24.0);
            }
        }
    }
    for stage_count in [0, 6] {
        assert!(f.engine.circuit(f.request(Method::Regular, stage_count, KeySize::Large)).is_err());
    }
    let request = f.request(Method::Regular, 3, KeySize::Large);
    assert!(f.engine.circuit(Request { target_level: Some(11), ..request }).is_err());
}

#[test]
fn lossy_and_sign_bootstraps_leave_more_levels() {
    let f = toy(None);
    let n = f.engine.slots();
    let signs: Vec<_> = (0..n).map(|j| Complex64::new(if j % 3 == 0 { -1.0 } else { 1.0 }, 0.0)).collect();
    let ones: Vec<_> = (0..n).map(|j| Complex64::new((j % 3 / 2) as f64, 0.0)).collect();
    for (stage_count, level, size) in
        [(3, 13, KeySize::Large), (4, 12, KeySize::Small), (5, 12, KeySize::Medium), (3, 13, KeySize::Small)]
    {
        let request = |method| f.request(method, stage_count, size);
        let key = f.key(request(Method::Lossy));
        assert_refreshed(&f, &key, request(Method::Lossy), &messages::complex(n, 0), level, 24.0);
        for real in [false, true] {
            let sign = Request { real, ..request(Method::Sign) };
            // One rounding, 2^7.7 in a slot of this ring at a scale of 2^40, is 32.3 bits. The fit of eval_mod leaves 30 where the
            // cosine is at its end: beyond what a ring of 2^16 rounds at this scale (26.3), for a tail below 2^-64.
            assert_refreshed(&f, &key, sign, &signs, level, 29.7);
            assert_refreshed(&f, &key, Request { method: Method::Bits, ..sign }, &ones, level, 29.7);
        }
        let rough: Vec<_> = signs.iter().enumerate().map(|(j, z)| z * (1.0 + 0.01 * (j as f64).sin())).collect();
        let ct = f.encrypt(&rough, stage_count);
        let out = f.bootstrap(&[&ct], &key, request(Method::Sign)).unwrap();
        // (pi 0.01)^2 / 8 is 13 bits.
        assert!(f.precision(&out[0], &signs).worst > 12.9);
        let high = f.bootstrap(&[&f.encrypt(&ones, stage_count)], &key, request(Method::Bits)).unwrap();
        assert!(f.precision(&high[0], &ones).worst > 26.0 && f.engine.level(&high[0]).unwrap() == level);
    }
}

#[test]
fn two_real_ciphertexts_are_merged_in_one_bootstrap() {
    let f = toy(None);
    let (x, y) = (messages::real(f.engine.slots(), 0), messages::real(f.engine.slots(), 1));
    for (method, level) in [(Method::Merge, 10), (Method::LossyMerge, 13)] {
        let request = f.request(method, 3, KeySize::Medium);
        let key = f.key(request);
        let (a, b) = (f.encrypt(&x, 3), f.encrypt(&y, 5));
        let out = f.bootstrap(&[&a, &b], &key, request).unwrap();
        for (ct, wanted) in out.iter().zip([&x, &y]) {
            assert_eq!(f.engine.level(ct).unwrap(), level);
            assert!(ct.real && f.precision(ct, wanted).mean > 24.0);
        }
        // Real values of a complex type are complex.
        let values: Vec<Complex64> = y.iter().map(|&y| y.into()).collect();
        for complex in [f.encrypt(&messages::complex(x.len(), 0), 3), f.encrypt(&values, 3)] {
            assert!(!complex.real && matches!(f.bootstrap(&[&a, &complex], &key, request), Err(Error::Range(_))));
        }
        assert!(f.bootstrap(&[&a], &key, request).is_err());
    }
}

#[test]
fn sparse_slots_are_bootstrapped() {
    for log_slots in [0, 1, 4, 8] {
        let f = toy(Some(1 << log_slots));
        let z = messages::complex(f.engine.slots(), 0);
        for stage_count in 1..=log_slots.clamp(1, 4) {
            for size in [KeySize::Small, KeySize::Medium, KeySize::Large] {
                let request = f.request(Method::Regular, stage_count, size);
                let key = f.key(request);
                assert_refreshed(&f, &key, request, &z, 10, 24.0);
                assert_refreshed(&f, &key, Request { real: true, ..request }, &messages::real(z.len(), 0), 10, 24.0);
            }
        }
        let request = f.request(Method::Lossy, 1, KeySize::Large);
        if log_slots < 8 {
            assert_refreshed(&f, &f.key(request), request, &z, 13, 24.0);
        }
    }
}

#[test]
fn bounds_and_bad_input() {
    let f = toy(None);
    let z = messages::complex(f.engine.slots(), 0);
    let request = f.request(Method::Regular, 3, KeySize::Medium);
    let key = f.key(request);
    let large: Vec<Complex64> = z.iter().map(|v| v * 40.0).collect();
    let Err(Error::Range(said)) = f.bootstrap(&[&f.encrypt(&large, 1)], &key, request) else {
        panic!("values of 40 against a bound of 1")
    };
    assert!(said.to_string().contains("bound=") && !said.to_string().contains("40"), "{said}");
    assert_refreshed(&f, &key, Request { bound: 40.0, ..request }, &large, 10, 24.0 - 40f64.log2());
    let huge: Vec<Complex64> = z.iter().map(|v| v * 131_072.0).collect();
    assert_refreshed(&f, &key, Request { bound: 131_072.0, ..request }, &huge, 10, 24.0 - 17.0);

    let other = f.engine.create_secret_key().unwrap();
    let foreign = f.engine.create_bootstrap_key(&other, request, None, &Control::new()).unwrap();
    let mixed = f.bootstrap(&[&f.encrypt(&z, 0)], &foreign, request);
    assert!(mixed.unwrap_err().to_string().contains("bootstrap key"));
    let lossy = Request { method: Method::Lossy, ..request };
    assert!(f.bootstrap(&[&f.encrypt(&z, 3)], &key, lossy).is_err(), "a regular key has not the levels");
    let small = f.key(f.request(Method::Regular, 3, KeySize::Small));
    let keys = BootstrapKeys { relinearization: &f.relin, conjugation: &f.conj, bootstrap: &small, rotation: None };
    let request_small = f.request(Method::Regular, 3, KeySize::Small);
    let alone = f.engine.bootstrap(&[&f.encrypt(&z, 0)], keys, request_small, &Control::new());
    assert!(matches!(alone, Err(Error::MissingKey(_))));
    let stopped = Control::new();
    stopped.cancel();
    assert!(matches!(f.engine.create_bootstrap_key(&f.sk, request, None, &stopped), Err(Error::Cancelled)));
    let memory = f.engine.create_bootstrap_key(&f.sk, request, Some(1000), &Control::new());
    assert!(matches!(memory, Err(Error::Memory(_))));
}

#[test]
fn arithmetic_at_every_level() {
    let engine = Engine::new(presets::load("toy", presets::Security::NotChecked).unwrap(), None, 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let pk = engine.create_public_key(&sk).unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let conj = engine.create_conjugation_key(&sk).unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let n = engine.slots();
    let (x, y) = (messages::complex(n, 0), messages::complex(n, 0).into_iter().rev().collect::<Vec<_>>());
    let map = |f: &dyn Fn(usize) -> Complex64| (0..n).map(f).collect::<Vec<_>>();
    let is = |ct: &Ciphertext, level: usize, expected: Vec<Complex64>, what: &str| {
        assert_eq!(engine.level(ct).unwrap(), level, "{what}");
        let worst = precision(&engine, &sk, ct, &expected).worst;
        // Noise beside s^2 grows more than noise beside s.
        assert!(
            worst > if ["degree 2 down", "relinearize"].contains(&what) || ct.degree() == 2 { 20.0 } else { 23.0 },
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
        let turned = engine.multiply_imaginary_integer(&a, 2).unwrap();
        is(&turned, level, map(&|j| x[j] * Complex64::new(0.0, 2.0)), "multiply_imaginary_integer");
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
        let unfinished = engine.multiply(&a, &b, None).unwrap();
        assert_eq!(unfinished.degree(), 2);
        is(&unfinished, level - 1, map(&|j| x[j] * y[j]), "multiply without a key");
        is(&engine.relinearize(&unfinished, &relin).unwrap(), level - 1, map(&|j| x[j] * y[j]), "relinearize");
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
    let engine = Engine::new(presets::load("levels-13", presets::Security::Bits128).unwrap(), Some(8), 1).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
    let x = messages::complex(8, 0);
    let ct = engine.encrypt_with_secret(&engine.encode(&x, 2).unwrap(), &sk).unwrap();
    let out = engine.rotate(&ct, &rotation, 3).unwrap();
    let expected: Vec<_> = (0..8).map(|j| x[(j + 5) % 8]).collect();
    assert!(precision(&engine, &sk, &out, &expected).worst > 22.0);
}

#[test]
fn reports_agree_with_the_keys() {
    let f = toy(None);
    for size in [KeySize::Small, KeySize::Medium, KeySize::Large] {
        let request = f.request(Method::Regular, 3, size);
        let plan = aglet::ckks::report::plan(f.engine.params(), request, None, None).unwrap();
        assert_eq!(plan["key_bytes"].as_u64().unwrap() as usize, f.key(request).byte_count());
        assert_eq!((plan["input_level"].as_u64(), plan["output_level"].as_u64()), (Some(0), Some(10)));
        // Keys that are not small carry the first map of coeffs_to_slots, and leave the chain of users on the way.
        let names: Vec<_> = plan["stages"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
        let small = size == KeySize::Small;
        assert_eq!((names.len(), names.contains(&"mod_raise"), names.contains(&"mod_switch")), (10, small, !small));
    }
    assert_eq!(aglet::ckks::report::presets().unwrap().as_array().unwrap().len(), presets::ALL.len());
    assert!(Method::parse("magic").is_err() && KeySize::parse("huge").is_err());
    assert!(
        presets::load("toy", presets::Security::Bits128).is_err()
            && presets::load("none", presets::Security::NotChecked).is_err()
    );
}

#[test]
fn two_iterations_reach_the_rounding_of_the_scale() {
    for (slots, wanted) in [(None, 30.5), (Some(16), 32.0)] {
        let f = toy(slots);
        let z = messages::complex(f.engine.slots(), 0);
        for (method, input) in [(Method::Regular, 0), (Method::Lossy, 5)] {
            let request = f.request(method, 3, KeySize::Large);
            let key = f.key(request);
            let ct = f.encrypt(&z, input);
            let run = |cts: &[&Ciphertext], request, iterations| {
                let (relinearization, conjugation) = (&f.relin, &f.conj);
                let keys = BootstrapKeys { relinearization, conjugation, bootstrap: &key, rotation: None };
                f.engine.bootstrap_iterated(cts, keys, request, iterations, &Control::new())
            };
            for bound in [1.0, 0.5] {
                let request = Request { bound, target_level: Some(6), ..request };
                let z: Vec<_> = z.iter().map(|z| z * bound).collect();
                let ct = f.encrypt(&z, input);
                let precision = |n| f.precision(&run(&[&ct], request, n).unwrap()[0], &z).mean;
                let (one, two, three) = (precision(1), precision(2), precision(3));
                println!("{slots:?} {method:?} bound {bound}: {one:.2} bits, {two:.2}, {three:.2}");
                assert!(one < 28.0 && two > wanted && three > wanted);
            }
            for iterations in [0, 5] {
                assert!(matches!(run(&[&ct], request, iterations), Err(Error::Parameter(_))));
            }
            let sign = Request { method: Method::Sign, ..request };
            assert!(matches!(run(&[&ct], sign, 2), Err(Error::Parameter(_))));
        }
    }
}
