//! Trigonometric polynomials `f(x) = 2 Re sum_(k >= 0) c_k z^k` of `z = exp(2 pi i x)`: what a functional bootstrap of CKKS evaluates
//! (eprint 2024/1623, 2026/367). Lookup tables become such polynomials by Hermite interpolation: the first derivatives are zero
//! at the entries, so errors of the argument are raised to a power.

use crate::error::Error;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The most entries of a lookup table.
pub const MAX_ENTRIES: usize = 256;

/// The derivatives that may be zero at the entries of a table.
pub const ORDERS: std::ops::RangeInclusive<usize> = 1..=3;

/// A real trigonometric polynomial of one variable, which is counted in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigonometric {
    /// `c_0` (half of the mean), `c_1`, ..
    coefficients: Vec<Complex64>,
}

impl Trigonometric {
    /// That of these coefficients, `c_0` first, which is half of the mean.
    ///
    /// # Errors
    /// [`Error::ConstantPolynomial`] if no coefficient beyond the first differs from zero, [`Error::Factor`] if one is not finite.
    pub fn new(mut coefficients: Vec<Complex64>) -> Result<Self, Error> {
        if coefficients.iter().any(|c| !c.is_finite()) {
            return Err(Error::Factor {
                what: "coefficients of a trigonometric polynomial",
                requirement: "complex numbers",
            });
        }
        while coefficients.last().is_some_and(|c| *c == Complex64::ZERO) {
            coefficients.pop();
        }
        if coefficients.len() < 2 {
            return Err(Error::ConstantPolynomial);
        }
        Ok(Self { coefficients })
    }

    /// The polynomial with `f(m / p) = entries[m]` whose first `order` derivatives are zero there.
    ///
    /// Of each class of frequencies modulo p it has the `order + 1` nearest to zero (the mean of both choices where two are
    /// equally near): with `F` the discrete Fourier transform of the entries, `c_j = F_j prod_(i != j) i / (i - j)` over
    /// the frequencies `i` of the class of `j`, which is Lagrange's interpolation at 0. Order 1 is Fejer's kernel, `c_k = F_k (p - k) / p`: it is
    /// positive, so no value leaves the range of the entries.
    ///
    /// # Errors
    /// [`Error::Table`] unless there are 2 to [`MAX_ENTRIES`] entries, [`Error::Factor`] for an order that is not in [`ORDERS`] or an entry that is
    /// not finite, [`Error::ConstantPolynomial`] if all entries are equal.
    pub fn table(entries: &[f64], order: usize) -> Result<Self, Error> {
        let p = entries.len();
        if !(2..=MAX_ENTRIES).contains(&p) {
            return Err(Error::Table { values: p, most: MAX_ENTRIES });
        }
        if !ORDERS.contains(&order) {
            return Err(Error::Factor { what: "order of a table", requirement: "1, 2 or 3" });
        }
        if entries.iter().all(|entry| *entry == entries[0]) {
            return Err(Error::ConstantPolynomial);
        }
        let transformed = fourier(entries);
        let mut coefficients = vec![Complex64::ZERO; 2 * p + 1];
        for (class, value) in transformed.iter().enumerate() {
            for (frequency, weight) in frequencies(class as i64, p as i64, order) {
                if let Ok(k) = usize::try_from(frequency) {
                    coefficients[k] += value * weight;
                }
            }
        }
        coefficients[0] *= 0.5;
        // What rounding leaves of zeros would make the degree larger.
        let largest = coefficients.iter().map(|c| c.norm()).fold(0.0, f64::max);
        coefficients.iter_mut().filter(|c| c.norm() < largest * NOTHING).for_each(|c| *c = Complex64::ZERO);
        Self::new(coefficients)
    }

    /// The same of an argument that is `turns` larger: `x` becomes `x - turns`.
    #[must_use]
    pub fn shifted(self, turns: f64) -> Self {
        let turned = |(k, c): (usize, Complex64)| c * Complex64::cis(-TAU * (k as f64 * turns).rem_euclid(1.0));
        Self { coefficients: self.coefficients.into_iter().enumerate().map(turned).collect() }
    }

    /// The coefficients, `c_0` first.
    pub fn coefficients(&self) -> &[Complex64] {
        &self.coefficients
    }

    /// The value at `x` turns.
    pub fn value(&self, x: f64) -> f64 {
        self.sum(x, |_| Complex64::ONE)
    }

    /// The derivative by the size of `z`, at size 1: by how much a relative error of `z` moves the value.
    pub fn by_size(&self, x: f64) -> f64 {
        self.sum(x, |k| Complex64::new(k, 0.0))
    }

    /// The derivative by the angle, per turn.
    pub fn slope(&self, x: f64) -> f64 {
        self.sum(x, |k| Complex64::new(0.0, TAU * k))
    }

    /// The second derivative by the angle, per turn.
    pub fn curvature(&self, x: f64) -> f64 {
        self.sum(x, |k| Complex64::new(-(TAU * k).powi(2), 0.0))
    }

    /// `2 Re sum c_k factor(k) z^k`.
    fn sum(&self, x: f64, factor: impl Fn(f64) -> Complex64) -> f64 {
        let z = Complex64::cis(TAU * x.rem_euclid(1.0));
        let terms = self.coefficients.iter().enumerate().rev();
        2.0 * terms.fold(Complex64::ZERO, |sum, (k, c)| sum * z + c * factor(k as f64)).re
    }
}

/// Coefficients below the largest by this factor are roundings of zero.
const NOTHING: f64 = 1e-14;

/// `F_k = (1/p) sum_m f_m exp(-2 pi i k m / p)`.
fn fourier(entries: &[f64]) -> Vec<Complex64> {
    let p = entries.len();
    let root = |exponent: usize| Complex64::cis(-TAU * (exponent % p) as f64 / p as f64);
    let one = |k: usize| entries.iter().enumerate().map(|(m, f)| root(k * m) * f).sum::<Complex64>() / p as f64;
    (0..p).map(one).collect()
}

/// The frequencies of a class modulo p with their weights.
fn frequencies(class: i64, p: i64, order: usize) -> Vec<(i64, f64)> {
    let mut near: Vec<i64> = (-3..=3).map(|i| class + i * p).collect();
    near.sort_by_key(|j| (j.abs(), *j));
    let (chosen, rest) = near.split_at(order + 1);
    let weights = |chosen: &[i64]| -> Vec<(i64, f64)> {
        let weight = |j: i64| chosen.iter().filter(|i| **i != j).map(|i| *i as f64 / (*i - j) as f64).product::<f64>();
        chosen.iter().map(|&j| (j, weight(j))).collect()
    };
    if chosen[order].abs() != rest[0].abs() {
        return weights(chosen);
    }
    // Two are equally near.
    let mut other = chosen.to_vec();
    other[order] = rest[0];
    let both = weights(chosen).into_iter().chain(weights(&other));
    both.map(|(j, weight)| (j, 0.5 * weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Irregular entries between 0 and 1.
    fn entries(p: usize) -> Vec<f64> {
        (0..p).map(|m| 0.5 + 0.5 * (m as f64 * 2.7 + 0.3).sin()).collect()
    }

    #[test]
    fn tables_have_their_entries_and_no_first_derivatives() {
        for p in [2, 3, 4, 5, 16, 100, 256] {
            for order in ORDERS {
                let (f, entries) = (Trigonometric::table(&entries(p), order).unwrap(), entries(p));
                for (m, entry) in entries.iter().enumerate() {
                    let x = m as f64 / p as f64;
                    assert!(
                        (f.value(x) - entry).abs() < 1e-11 && f.slope(x).abs() < 1e-8 * p as f64,
                        "{p} {order} {m}"
                    );
                    let second = f.curvature(x).abs();
                    assert!(order == 1 || second < 1e-5 * (p * p) as f64, "{p} {order} {m} {second}");
                }
            }
        }
    }

    #[test]
    fn the_first_order_is_fejers_kernel() {
        for p in [3usize, 4, 16] {
            let (f, entries) = (Trigonometric::table(&entries(p), 1).unwrap(), entries(p));
            assert_eq!(f.coefficients().len(), p);
            let (low, high) = entries.iter().fold((1.0f64, 0.0f64), |(l, h), e| (l.min(*e), h.max(*e)));
            for j in 0..1000 {
                let value = f.value(f64::from(j) / 1000.0);
                assert!(value > low - 1e-12 && value < high + 1e-12, "no value leaves the range");
            }
            // The law of errors: S_m (pi^2 d^2 - eps / p).
            for m in 0..p {
                let weight = |d: usize| (std::f64::consts::PI * d as f64 / p as f64).sin().powi(-2);
                let s: f64 = (1..p).map(|d| (entries[(m + d) % p] - entries[m]) * weight(d)).sum();
                let x = m as f64 / p as f64;
                assert!((f.curvature(x) / 2.0 - s * std::f64::consts::PI.powi(2)).abs() < 1e-6 * p as f64);
                assert!((f.by_size(x) + s / p as f64).abs() < 1e-9 * p as f64);
            }
        }
    }

    #[test]
    fn a_shift_moves_the_argument() {
        let f = Trigonometric::table(&entries(7), 1).unwrap();
        let moved = f.clone().shifted(-0.3);
        assert!((0..50).all(|j| (moved.value(f64::from(j) / 50.0 - 0.3) - f.value(f64::from(j) / 50.0)).abs() < 1e-12));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(matches!(Trigonometric::table(&[1.0], 1), Err(Error::Table { values: 1, .. })));
        assert!(matches!(Trigonometric::table(&[1.0; 257], 1), Err(Error::Table { values: 257, .. })));
        assert!(matches!(Trigonometric::table(&[0.5; 4], 1), Err(Error::ConstantPolynomial)));
        assert!(matches!(Trigonometric::table(&[0.5, 1.0], 0), Err(Error::Factor { .. })));
        assert!(matches!(Trigonometric::table(&[0.5, f64::NAN], 1), Err(Error::Factor { .. })));
    }
}
