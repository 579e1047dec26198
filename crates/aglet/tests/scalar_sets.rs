//! The sets with primes above 50 bits, and those of others with a sparse main secret, in a small ring: their chains and digits
//! under encryption, against the noise model. At its real size each takes minutes.

use aglet::ckks::presets;
use aglet::ckks::{precision, CkksParams, Engine, KeySize, Method, Request};
use aglet::{Control, Error};
use aglet_rlwe::security::Secret;
use aglet_testing::fixture::{shrunk, Fixture};
use num_complex::Complex64;

/// Mean and worst bits of a regular bootstrap of values up to `bound`, and what the model says.
fn refreshed(params: CkksParams, size: KeySize, slots: usize, bound: f64, level: usize) -> ((f64, f64), (f64, f64)) {
    let f = Fixture::of(Engine::new(params, Some(slots), 2).unwrap());
    let request = f.request(Method::Regular, 3, size);
    let key = f.key(request);
    let request = Request { bound, target_level: Some(level), ..request };
    let value = |j: usize| bound * (2.0 * j as f64 / (slots - 1) as f64 - 1.0);
    let z: Vec<_> = (0..slots).map(value).collect();
    let out = f.bootstrap(&[&f.encrypt(&z, 0)], &key, request).unwrap().remove(0);
    assert_eq!(f.engine.level(&out).unwrap(), level);
    let found = f.precision(&out, &z);
    let predicted = precision::precision(&f.engine.circuit(request).unwrap(), false).unwrap();
    ((found.mean, found.worst), (predicted.mean_bits, predicted.worst_bits))
}

#[test]
fn they_bootstrap_as_predicted() {
    let cases = [
        ("precise-single", KeySize::Large, 512, 1.0, 9),
        ("precise-45", KeySize::Large, 512, 1.0, 6),
        ("precise-45", KeySize::Large, 16, 1.0, 6),
        ("seal-1", KeySize::Medium, 512, 131_072.0, 9),
        ("seal-3", KeySize::Small, 64, 2.0, 6),
        ("seal-11", KeySize::Large, 64, 16.0, 10),
    ];
    for (name, size, slots, bound, level) in cases {
        let (found, predicted) = refreshed(shrunk(name, 10), size, slots, bound, level);
        println!("{name}, {slots} slots, bound {bound}: {found:.2?} bits, predicted {predicted:.2?}");
        assert!((found.0 - predicted.0).abs() < 1.5, "{name}: {found:?} bits, predicted {predicted:?}");
        assert!(found.1 > predicted.0 - 4.0, "{name}: {found:?} bits, predicted {predicted:?}");
    }
}

#[test]
fn the_published_sets_are_as_published_and_refused_as_secure() {
    let weights = [64, 64, 64, 96, 96, 96, 128, 128, 128, 192, 192, 192];
    let log_q = [1560, 1550, 1535, 1740, 1760, 1760, 1740, 1760, 1760, 1760, 1770, 1765];
    for (i, (h, log_q)) in weights.into_iter().zip(log_q).enumerate() {
        let name = format!("seal-{}", i + 1);
        assert!(matches!(
            presets::load(&name, presets::Security::Bits128),
            Err(Error::Rlwe(aglet_rlwe::Error::InsecureParameters { .. }))
        ));
        let params = presets::load(&name, presets::Security::NotChecked).unwrap();
        assert_eq!((params.log_n(), params.secret(), params.p().len()), (16, Secret::FixedWeight(h), 1));
        assert!((params.log_q() - f64::from(log_q)).abs() < 0.01, "{name}: {}", params.log_q());
        assert_eq!(params.scale_bits(), [40, 50, 55][i % 3]);
        assert_eq!((params.q()[0] as f64).log2().round(), 60.0);
    }
}

#[test]
fn two_iterations_reach_what_the_scale_of_60_bits_allows() {
    let f = Fixture::of(Engine::new(shrunk("precise-45", 10), None, 2).unwrap());
    let request = f.request(Method::Regular, 3, KeySize::Large);
    let key = f.key(request);
    let z: Vec<_> = (0..f.engine.slots()).map(|j| Complex64::from_polar(1.0, 2.4 * j as f64)).collect();
    for real in [false, true] {
        let z: Vec<Complex64> = z.iter().map(|z| if real { z.re.into() } else { *z }).collect();
        let (ct, request) = (f.encrypt(&z, 0), Request { real, ..request });
        let out = f.engine.bootstrap_iterated(&[&ct], f.keys(&key), request, 2, &Control::new()).unwrap().remove(0);
        let bits = f.precision(&out, &z).mean;
        println!("two iterations, real {real}: {bits:.2} bits");
        // Rounding leaves 7.7 bits less than the scale in this ring, doubles 52.
        assert!(bits > 50.0, "{bits}");
    }
    // A value of 5 has a coefficient that no word holds: an error, not a wrap.
    assert!(matches!(f.engine.encode(&vec![Complex64::new(5.0, 0.0); z.len()], 0), Err(Error::Scheme(_))));
}
