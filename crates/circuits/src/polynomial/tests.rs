//! Tests of the polynomials, on numbers in the clear.

use super::*;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};

const TOP: usize = 7;

fn evaluator() -> ClearEvaluator {
    let moduli = (0..=TOP).map(|i| 2f64.powi(50) * (1.0 - 1e-6 * (i as f64 * 2.3).sin())).collect();
    ClearEvaluator::new(8, moduli, 32, 1).unwrap()
}

fn points() -> Vec<Complex64> {
    [-2.0, -1.66, -0.4, 0.0, 0.2, 1.1, 1.8, 2.0].map(|x| Complex64::new(x, 0.0)).to_vec()
}

/// Irregular coefficients; `keep` decides which are not zero.
fn series(degree: usize, keep: impl Fn(usize) -> bool) -> Vec<Complex64> {
    (0..=degree)
        .map(|k| if keep(k) { Complex64::new((k as f64 + 0.7).sin(), (2.1 * k as f64).cos()) } else { 0.0.into() })
        .collect()
}

/// Evaluates and compares with the definition `D_k(2 cos u) = 2 cos k u`; asserts level and scale.
fn check(coefficients: &[Complex64]) -> Series {
    let (e, plan) = (evaluator(), Series::new(Basis::Dickson, coefficients).unwrap());
    let x = e.encrypt(&points(), TOP, 2f64.powi(50) * 0.96).unwrap();
    let scale = 2f64.powi(49) * 1.01;
    let y = plan.evaluate_scaled(&e, &x, scale).unwrap();
    assert_eq!((e.level(&y), e.scale(&y)), (TOP - plan.depth(), scale));
    for (x, y) in points().iter().zip(y.values()) {
        let cosine = |k: usize| (k as f64 * (0.5 * x.re).acos()).cos();
        let powers = coefficients.iter().enumerate().skip(1).map(|(k, d)| 2.0 * d * cosine(k));
        let exact = coefficients[0] + powers.sum::<Complex64>();
        assert!((y - exact).norm() < 1e-11, "{y} for {exact} at {x}");
        assert!((plan.value(*x) - exact).norm() < 2e-12);
    }
    plan
}

/// All constants of a line and of its factors.
fn constants(line: &Line<Complex64>) -> Vec<Complex64> {
    let own = line.terms.iter().map(|(c, _)| *c).chain([line.constant]);
    own.chain(line.products.iter().flat_map(|(_, factor)| constants(factor))).collect()
}

#[test]
fn full_degrees_take_the_depth_and_products_promised() {
    let full =
        [(1, 1, 0), (3, 2, 2), (7, 3, 5), (15, 4, 7), (19, 5, 7), (24, 5, 7), (25, 5, 8), (31, 5, 10), (63, 6, 15)];
    for (degree, depth, relinearizations) in full {
        let plan = check(&series(degree, |_| true));
        assert_eq!((plan.degree(), plan.depth()), (degree, depth));
        assert_eq!(plan.relinearizations(), relinearizations, "degree {degree}");
    }
}

#[test]
fn high_degrees_take_few_products() {
    let few = [
        (127, 0, [18, 17]),
        (255, 0, [27, 18]),
        (255, 1, [23, 15]),
        (510, 0, [31, 33]),
        (510, 1, [28, 31]),
        (2144, 0, [49, 66]),
        (8191, 0, [72, 259]),
    ];
    for (degree, spare, expected) in few {
        let all = Series::together_within(&[series(degree, |_| true)], spare).unwrap();
        let found = [all[0].relinearizations(), factors_of(&all[0].top)];
        assert_eq!((found, all[0].depth()), (expected, depth(degree) + spare), "{degree}");
    }
}

/// Products of a line and of its factors.
fn factors_of(line: &Line<Complex64>) -> usize {
    line.products.iter().map(|(_, factor)| 1 + factors_of(factor)).sum()
}

#[test]
fn any_degree_and_any_gap_works() {
    for degree in 1..=63 {
        check(&series(degree, |_| true));
        check(&series(degree, |k| k == degree));
        check(&series(degree, |k| (k + degree) % 2 == 0));
        check(&series(degree, |k| k == 0 || (k * k + degree) % 3 == 0 || k == degree));
        check(&series(degree, |k| k % 8 == 0 || k == degree));
    }
}

#[test]
fn even_and_odd_series_save_work() {
    assert!(check(&series(30, |k| k % 2 == 0)).relinearizations() < 10);
    assert_eq!(check(&series(16, |k| k == 16)).relinearizations(), 4);
}

#[test]
fn constants_stay_real_or_imaginary() {
    for degree in 1..=63 {
        let kind = |(k, c): (usize, Complex64)| [Complex64::new(c.re, 0.0), Complex64::new(0.0, c.im)][k % 2];
        let mixed: Vec<_> = series(degree, |_| true).into_iter().enumerate().map(kind).collect();
        let plan = check(&mixed);
        assert!(constants(&plan.top).iter().all(|c| c.re == 0.0 || c.im == 0.0), "degree {degree}");
    }
}

#[test]
fn a_chebyshev_series_is_the_same_polynomial_at_twice_the_argument() {
    let coefficients = series(13, |_| true);
    let plan = Series::from_chebyshev(&coefficients).unwrap();
    for t in [-1.0f64, -0.3, 0.0, 0.8, 1.0] {
        let exact: Complex64 = coefficients.iter().enumerate().map(|(k, c)| c * (k as f64 * t.acos()).cos()).sum();
        assert!((plan.value((2.0 * t).into()) - exact).norm() < 1e-12);
    }
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let e = evaluator();
    let constant = [Complex64::new(2.0, 0.0), Complex64::new(0.0, 0.0)];
    assert_eq!(Series::new(Basis::Dickson, &constant).unwrap_err(), Error::ConstantPolynomial);
    assert!(matches!(
        Series::new(Basis::Dickson, &[Complex64::new(f64::NAN, 0.0), Complex64::ONE]),
        Err(Error::Factor { .. })
    ));
    let low = e.encrypt(&points(), 4, 2f64.powi(50)).unwrap();
    let refused = Series::new(Basis::Dickson, &series(31, |_| true)).unwrap().evaluate_scaled(&e, &low, 1e15);
    assert_eq!(refused.unwrap_err(), SchemeError::LevelTooLow { required: 5, actual: 4 }.into());
}

/// Complex points of the unit disc.
fn disc() -> Vec<Complex64> {
    (0..8).map(|j| Complex64::from_polar(1.0 - 0.11 * f64::from(j), 2.4 * f64::from(j))).collect()
}

#[test]
fn powers_of_a_complex_variable() {
    let e = evaluator();
    let x = e.encrypt(&disc(), TOP, 2f64.powi(50) * 0.96).unwrap();
    for degree in 1..=63 {
        for kept in [1, 2, 8] {
            let coefficients = series(degree, |k| k % kept == 0 || k == degree);
            let plan = Series::new(Basis::Power, &coefficients).unwrap();
            let y = plan.evaluate_scaled(&e, &x, 2f64.powi(49)).unwrap();
            assert_eq!((e.level(&y), e.scale(&y)), (TOP - depth(degree), 2f64.powi(49)));
            for (x, y) in disc().iter().zip(y.values()) {
                let exact: Complex64 = coefficients.iter().enumerate().map(|(k, c)| c * x.powi(k as i32)).sum();
                assert!((y - exact).norm() < 1e-12, "degree {degree}: {y} for {exact}");
                assert!((plan.value(*x) - exact).norm() < 1e-12);
            }
        }
    }
}

#[test]
fn whole_bases_stand_at_the_scales_of_their_levels() {
    let e = evaluator();
    let mut scales = vec![2f64.powi(50)];
    for level in (1..=TOP).rev() {
        let last = scales[scales.len() - 1];
        scales.push(last * last / e.modulus(level));
    }
    scales.reverse();
    for (basis, at) in [(Basis::Power, disc()), (Basis::Dickson, points().iter().map(|x| 0.5 * x).collect())] {
        let x = e.encrypt(&at, TOP, scales[TOP]).unwrap();
        let all = elements(&e, basis, &x, 63, &|l| scales[l]).unwrap();
        assert_eq!(all.len(), 63);
        for (k, element) in (1..).zip(&all) {
            let level = TOP - depth(k - 1);
            assert_eq!((e.level(element), e.scale(element)), (level, scales[level]));
            for (x, y) in at.iter().zip(element.values()) {
                let exact = match basis {
                    Basis::Power => x.powi(k as i32),
                    Basis::Dickson => (k as f64 * x.re.acos()).cos().into(),
                };
                assert!((y - exact).norm() < 1e-12, "element {k}: {y} for {exact}");
            }
        }
        let low = e.encrypt(&at, 2, scales[2]).unwrap();
        assert_eq!(elements(&e, basis, &low, 4, &|l| scales[l]).unwrap().len(), 4);
        let refused = elements(&e, basis, &low, 5, &|l| scales[l]).unwrap_err();
        assert_eq!(refused, SchemeError::LevelTooLow { required: 3, actual: 2 }.into());
        assert!(elements(&e, basis, &low, 0, &|l| scales[l]).unwrap().is_empty());
    }
}

#[test]
fn a_centred_series_is_the_same_polynomial_and_wants_its_variable_at_the_prime() {
    let coefficients = series(28, |_| true);
    let (e, plan) = (evaluator(), Series::new(Basis::Dickson, &coefficients).unwrap().centred());
    let at = |scale: f64| e.encrypt(&points(), TOP, scale).unwrap();
    let y = plan.evaluate_scaled(&e, &at(e.modulus(TOP)), 2f64.powi(49)).unwrap();
    for (x, y) in points().iter().zip(y.values()) {
        assert!((y - plan.value(*x)).norm() < 1e-11, "{y} at {x}");
    }
    let refused = plan.evaluate_scaled(&e, &at(0.96 * e.modulus(TOP)), 2f64.powi(49)).unwrap_err();
    assert!(matches!(refused, Error::Scheme(SchemeError::ScaleMismatch { .. })), "{refused:?}");
}
