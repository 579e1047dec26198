//! How large the values of a polynomial are on messages of a known size.

use super::PolynomialBasis;
use aglet_schemes::ckks::Known;
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
    let largest = (0..=count).map(|i| value(coefficients, basis, point(i).into()).norm()).fold(0.0, f64::max);
    // For the rounding of the sums: half the digits.
    (all, all.min(1.01 * largest + all * 1e-8))
}

/// The most that a polynomial changes on messages up to this size, over what they change: on a disc the slope is at most the largest value on
/// twice the disc, over the radius (Cauchy).
pub(super) fn slope(coefficients: &[Complex64], basis: PolynomialBasis, most: f64) -> f64 {
    sizes(coefficients, basis, 2.0 * most, false).1 / most
}

/// A bound from below on the root mean square of the values of a polynomial: the value at the mean of the message, less the slope times
/// the distances from there.
pub(super) fn root(coefficients: &[Complex64], basis: PolynomialBasis, known: &Known) -> f64 {
    let (Some(mean), size) = (known.mean, known.size) else { return 0.0 };
    let half = if basis == PolynomialBasis::HalfChebyshev { 2.0 } else { 1.0 };
    let slope = slope(coefficients, basis, size.most);
    let least = value(coefficients, basis, mean / half).norm() - slope * size.apart;
    if least.is_finite() {
        least.max(0.0)
    } else {
        0.0
    }
}

/// A bound from below on the absolute values of a polynomial on messages whose absolute values lie between two sizes: in powers where
/// one term outweighs all others, on real messages where the polynomial is far from 0; 0 if it may be small.
pub(super) fn least(coefficients: &[Complex64], basis: PolynomialBasis, (least, most): (f64, f64), real: bool) -> f64 {
    if !most.is_finite() {
        return 0.0;
    }
    let sizes = |at: f64| coefficients.iter().enumerate().map(move |(k, c)| c.norm() * at.powi(k as i32));
    let outweighing = if basis == PolynomialBasis::Power {
        let (large, found) = (sizes(most).sum::<f64>(), sizes(least).zip(sizes(most)));
        found.map(|(low, high)| low - (large - high)).fold(0.0, f64::max)
    } else {
        0.0
    };
    if !real || least == 0.0 || coefficients.len() > LARGEST {
        return outweighing;
    }
    let half = if basis == PolynomialBasis::HalfChebyshev { 2.0 } else { 1.0 };
    let between = |from: f64, to: f64| least_between(coefficients, basis, from / half, to / half);
    outweighing.max(between(least, most).min(between(-most, -least)))
}

/// The same for a real interval, from its values at points: from one to the next the angle changes by `pi / (16 (degree + 1))`, and the
/// polynomial by at most the degree times that of its largest value (Bernstein's inequality), half of it on either side.
fn least_between(coefficients: &[Complex64], basis: PolynomialBasis, from: f64, to: f64) -> f64 {
    let count = POINTS * coefficients.len();
    let (middle, radius) = ((from + to) / 2.0, (to - from) / 2.0);
    let point = |i: usize| middle + radius * (std::f64::consts::PI * i as f64 / count as f64).cos();
    let found = (0..=count).map(|i| value(coefficients, basis, point(i).into()).norm());
    let (least, most) = found.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    (least - 0.1 * most).max(0.0)
}

/// At one point, by Horner's rule or Clenshaw's; of half Chebyshev polynomials the point is half of the message.
pub(super) fn value(coefficients: &[Complex64], basis: PolynomialBasis, x: Complex64) -> Complex64 {
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
            least(&c.iter().map(|&c| c.into()).collect::<Vec<_>>(), PolynomialBasis::Power, (2.0, most), false)
        };
        assert_eq!((low(&t3, 3.0), low(&[-1.0, 0.0, 3.0], 2.0), low(&[0.0, 1.0, -1.0], 2.0)), (8.0, 11.0, 2.0));
    }

    #[test]
    fn real_values_far_from_zeros_are_known_from_below() {
        let low = |c: &[f64], basis, sizes| least(&c.iter().map(|&c| c.into()).collect::<Vec<_>>(), basis, sizes, true);
        let near = |found: f64, exact: f64| (0.89 * exact..=exact).contains(&found);
        // T_2(32) = T_2(-32) = 2047, which a ring with room for 512 gives back as -1.
        assert!(near(low(&[0.0, 0.0, 1.0], PolynomialBasis::Chebyshev, (32.0, 32.0)), 2047.0));
        assert!(near(low(&[0.0, 0.0, 1.0], PolynomialBasis::HalfChebyshev, (64.0, 64.0)), 2047.0));
        // x^2 - 30 x is 64 at 32 and 1984 at -32, and 0 at 30.
        assert!(near(low(&[0.0, -30.0, 1.0], PolynomialBasis::Power, (32.0, 32.0)), 64.0));
        assert_eq!(low(&[0.0, -30.0, 1.0], PolynomialBasis::Power, (29.0, 32.0)), 0.0);
        // Never above the least value, wherever the zeros are.
        for (from, to) in [(0.5, 0.6), (1.0, 3.0), (2.0, 2.5), (0.1, 40.0)] {
            let coefficients = [0.3, -1.0, 0.25, 0.7];
            let exact = |x: f64| (0.3 - x + 0.25 * (2.0 * x * x - 1.0) + 0.7 * (4.0 * x * x * x - 3.0 * x)).abs();
            let points = (0..=1000).map(|i| from + (to - from) * f64::from(i) / 1000.0);
            let exact = points.flat_map(|x| [exact(x), exact(-x)]).fold(f64::INFINITY, f64::min);
            assert!(low(&coefficients, PolynomialBasis::Chebyshev, (from, to)) <= exact + 1e-12, "{from} to {to}");
        }
    }
}
