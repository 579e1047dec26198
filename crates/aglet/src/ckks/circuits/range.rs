//! How large the values of a polynomial are on messages of a known size.

use super::PolynomialBasis;
use num_complex::Complex64;

/// Points for each degree. Between so many the largest value at a point is at most `1 / cos(pi / 32)` times exceeded (Ehlich and
/// Zeller, Mathematische Zeitschrift 86, 1964).
const POINTS: usize = 16;
/// The degree up to which points are tried.
const LARGEST: usize = 1024;

/// The sum of the absolute values of all terms where no value is larger than `most`, and a bound on the values of the polynomial: on
/// a real interval a close one. Infinite where `most` is.
pub(super) fn sizes(coefficients: &[Complex64], basis: PolynomialBasis, most: f64, real: bool) -> (f64, f64) {
    if !most.is_finite() {
        return (f64::INFINITY, f64::INFINITY);
    }
    let at = if basis == PolynomialBasis::HalfChebyshev { most / 2.0 } else { most };
    let growth = match (basis, real && at <= 1.0) {
        (PolynomialBasis::Power, _) => at,
        (_, true) => 1.0,
        // `T_k` is at most the power of this in the disc of radius `at`.
        _ => at + (at * at + 1.0).sqrt(),
    };
    let powers = std::iter::successors(Some(1.0), |power| Some(power * growth));
    let term = |(c, power): (&Complex64, f64)| if c.norm() == 0.0 { 0.0 } else { c.norm() * power };
    let all = coefficients.iter().zip(powers).map(term).sum::<f64>();
    if !real || coefficients.len() > LARGEST || !all.is_finite() {
        return (all, all);
    }
    let count = POINTS * coefficients.len();
    let point = |i: usize| at * (std::f64::consts::PI * i as f64 / count as f64).cos();
    let largest = (0..=count).map(|i| value(coefficients, basis, point(i)).norm()).fold(0.0, f64::max);
    // For the rounding of the sums: half the digits.
    (all, all.min(1.01 * largest + all * 1e-8))
}

/// A bound from below on the values of a polynomial in powers, where one term outweighs all others; 0 if none does.
pub(super) fn least(coefficients: &[Complex64], basis: PolynomialBasis, (least, most): (f64, f64)) -> f64 {
    if basis != PolynomialBasis::Power || !most.is_finite() {
        return 0.0;
    }
    let sizes = |at: f64| coefficients.iter().enumerate().map(move |(k, c)| c.norm() * at.powi(k as i32));
    let (large, found) = (sizes(most).sum::<f64>(), sizes(least).zip(sizes(most)));
    found.map(|(low, high)| low - (large - high)).fold(0.0, f64::max)
}

/// At one point, by Horner's rule or Clenshaw's.
fn value(coefficients: &[Complex64], basis: PolynomialBasis, x: f64) -> Complex64 {
    let (last, rest) = (Complex64::ZERO, coefficients.iter().rev());
    if basis == PolynomialBasis::Power {
        return rest.fold(last, |sum, c| sum * x + c);
    }
    let (sum, before) = rest.fold((last, last), |(b1, b2), c| (c + b1 * (2.0 * x) - b2, b1));
    sum - before * x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(coefficients: &[f64], basis: PolynomialBasis, most: f64, real: bool) -> (f64, f64) {
        sizes(&coefficients.iter().map(|&c| c.into()).collect::<Vec<_>>(), basis, most, real)
    }

    #[test]
    fn values_are_within_and_real_ones_near() {
        let sign = [0.0, 35.0 / 16.0, 0.0, -35.0 / 16.0, 0.0, 21.0 / 16.0, 0.0, -5.0 / 16.0];
        let (all, reached) = of(&sign, PolynomialBasis::Power, 1.0, true);
        assert!((all - 6.0).abs() < 1e-9 && (1.0..1.02).contains(&reached), "{reached}");
        assert_eq!(of(&sign, PolynomialBasis::Power, 1.0, false), (all, all));
        let t3 = [0.0, 0.0, 0.0, 1.0];
        let close = |(_, found): (f64, f64), wanted: f64| (wanted..1.02 * wanted).contains(&found);
        assert!(close(of(&t3, PolynomialBasis::Chebyshev, 1.0, true), 1.0));
        assert!(close(of(&t3, PolynomialBasis::HalfChebyshev, 2.0, true), 1.0));
        assert!(close(of(&t3, PolynomialBasis::Chebyshev, 3.0, true), 99.0));
        assert!(of(&t3, PolynomialBasis::Chebyshev, 1.0, false).1 >= 7.0, "T_3(i) is -7 i");
        assert_eq!(of(&t3, PolynomialBasis::Power, f64::INFINITY, true).1, f64::INFINITY);
        let low = |c: &[f64], most| {
            least(&c.iter().map(|&c| c.into()).collect::<Vec<_>>(), PolynomialBasis::Power, (2.0, most))
        };
        assert_eq!((low(&t3, 3.0), low(&[-1.0, 0.0, 3.0], 2.0), low(&[0.0, 1.0, -1.0], 2.0)), (8.0, 11.0, 2.0));
    }
}
