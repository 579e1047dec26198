//! The special FFT of CKKS encoding, in double precision.
//!
//! For a ring of degree `N = 2n`, slot `j` of a polynomial `m` is `m(zeta^(5^j))` with `zeta = exp(2 pi i / 2N)`. Since
//! `zeta^(n 5^j) = i`, the pair `w_k = c_k + i c_(k+n)` of coefficients turns this into the square transform
//! `z_j = sum_(k<n) w_k zeta^(k 5^j)`, which `log2 n` radix-2 layers compute after a bit reversal (HEAAN, eprint
//! 2018/1073 section 3). The homomorphic DFT merges the same layers, hence [`layer_twiddles`].

use crate::reversal::bit_reverse;
use crate::Error;
use num_complex::Complex64;
use std::f64::consts::TAU;
use zeroize::Zeroize;

/// Coefficients beyond this are refused: their residues are taken from 64-bit integers.
const LIMIT: f64 = 4.6e18;

/// Precomputed roots for the special FFT on a fixed number of slots.
#[derive(Debug, Clone)]
pub struct SpecialFft {
    /// For each layer, from half-length 1 upwards, its twiddles.
    layers: Vec<Vec<Complex64>>,
}

impl SpecialFft {
    /// Prepares the transform on `n_slots` complex numbers.
    ///
    /// # Panics
    /// When `n_slots` is not a power of two; callers check their parameters first.
    pub fn new(n_slots: usize) -> Self {
        assert!(n_slots.is_power_of_two(), "the number of slots, {n_slots}, is not a power of two");
        SpecialFft { layers: (0..n_slots.ilog2()).map(|i| layer_twiddles(1 << i)).collect() }
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        1 << self.layers.len()
    }

    /// Coefficient pairs `c_j + i c_(j+n)` in natural order to slots in natural order, `slot j = m(zeta^(5^j))`.
    ///
    /// Relative error (in the 2-norm) about `1e-16 log2 n`; time `O(n log n)`, not constant in the values.
    ///
    /// # Panics
    /// When the length is not the number of slots.
    pub fn forward(&self, values: &mut [Complex64]) {
        assert_eq!(values.len(), self.slots(), "the vector does not have one entry per slot");
        bit_reverse(values);
        for twiddles in &self.layers {
            for block in values.chunks_exact_mut(2 * twiddles.len()) {
                let (low, high) = block.split_at_mut(twiddles.len());
                for ((l, h), w) in low.iter_mut().zip(high).zip(twiddles) {
                    let (u, v) = (*l, *h * w);
                    (*l, *h) = (u + v, u - v);
                }
            }
        }
    }

    /// Slots to coefficient pairs, both in natural order, **times `n`**: the caller divides, usually together with the
    /// scale. Otherwise the inverse of [`SpecialFft::forward`].
    ///
    /// # Panics
    /// When the length is not the number of slots.
    pub fn inverse(&self, values: &mut [Complex64]) {
        assert_eq!(values.len(), self.slots(), "the vector does not have one entry per slot");
        for twiddles in self.layers.iter().rev() {
            for block in values.chunks_exact_mut(2 * twiddles.len()) {
                let (low, high) = block.split_at_mut(twiddles.len());
                for ((l, h), w) in low.iter_mut().zip(high).zip(twiddles) {
                    let (u, v) = (*l + *h, *l - *h);
                    (*l, *h) = (u, v * w.conj());
                }
            }
        }
        bit_reverse(values);
    }

    /// The `2 n` integer coefficients of slots times `scale`, real parts first, each rounded to the nearest.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for one that does not fit a word.
    ///
    /// # Panics
    /// When the length is not the number of slots.
    pub fn coefficients<T: Copy + Into<Complex64>>(&self, values: &[T], scale: f64) -> Result<Vec<i64>, Error> {
        let n = self.slots();
        let mut w: Vec<Complex64> = values.iter().map(|&v| v.into()).collect();
        self.inverse(&mut w);
        let out = rounded(&w, scale / n as f64);
        // The slots may be secret: what keys choose by.
        w.iter_mut().for_each(|w| [&mut w.re, &mut w.im].into_iter().for_each(Zeroize::zeroize));
        out
    }
}

/// Real parts, then imaginary parts, times a factor and rounded to the nearest.
fn rounded(w: &[Complex64], factor: f64) -> Result<Vec<i64>, Error> {
    let parts = || w.iter().map(|w| w.re).chain(w.iter().map(|w| w.im)).map(|c| c * factor);
    let fits = |c: f64| c.abs() <= LIMIT;
    match parts().all(fits) {
        true => Ok(parts().map(nearest).collect()),
        false => Err(Error::TooLarge { log2: parts().find(|&c| !fits(c)).map_or(f64::NAN, |c| c.abs().log2()) }),
    }
}

/// What `c.round() as i64` is, halves away from zero: without the call that this takes on CPUs in general.
fn nearest(c: f64) -> i64 {
    let whole = c as i64;
    // Exact: a number with a fraction has at most 53 bits, and so has its whole part.
    let rest = c - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

/// The twiddles `w_j = zeta_(8 half)^(5^j)`, `j < half`, of the layer of butterflies `(l, h) -> (l + w h, l - w h)` at
/// distance `half` (a power of two).
///
/// As a matrix on slots this layer has period `2 half` and three diagonals: index 0 is `1` on the lower half of each
/// period and `-w_j` on the upper, index `half` is `w_j` on the lower, index `-half` is `1` on the upper.
pub fn layer_twiddles(half: usize) -> Vec<Complex64> {
    let order = 8 * half as u64;
    let mut power = 1u64;
    let mut twiddles = Vec::with_capacity(half);
    for _ in 0..half {
        twiddles.push(unit_root(power, order));
        power = 5 * power % order;
    }
    twiddles
}

/// `exp(2 pi i k / order)` for an `order` divisible by 8 and `k < order`, each part within one unit in the last place.
///
/// The angle is reduced to the first octant in integers, where sine and cosine are well conditioned.
pub fn unit_root(k: u64, order: u64) -> Complex64 {
    let (octant, rest) = (8 * k / order, k % (order / 8));
    // Odd octants are mirrored, so that the reduced angle is measured from the nearest axis.
    let from_axis = if octant % 2 == 0 { rest } else { order / 8 - rest };
    let (sin, cos) = (TAU * from_axis as f64 / order as f64).sin_cos();
    match octant {
        0 => Complex64::new(cos, sin),
        1 => Complex64::new(sin, cos),
        2 => Complex64::new(-sin, cos),
        3 => Complex64::new(-cos, sin),
        4 => Complex64::new(-cos, -sin),
        5 => Complex64::new(-sin, -cos),
        6 => Complex64::new(sin, -cos),
        _ => Complex64::new(cos, -sin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distinct, irregular values of size about 1.
    fn sample(n: usize) -> Vec<Complex64> {
        (0..n).map(|j| Complex64::new((j as f64 * 1.7).sin(), (j as f64 * j as f64 * 0.3).cos())).collect()
    }

    /// `z_j = sum_k c_k zeta^(k 5^j)` over all `2n` real coefficients, straight from the definition.
    fn definition(pairs: &[Complex64]) -> Vec<Complex64> {
        let n = pairs.len();
        let order = 4 * n;
        let mut power = 1usize;
        let mut slots = Vec::new();
        for _ in 0..n {
            let root = |k: usize| unit_root((k * power % order) as u64, order as u64);
            slots.push((0..n).map(|k| root(k) * pairs[k].re + root(k + n) * pairs[k].im).sum());
            power = power * 5 % order;
        }
        slots
    }

    fn norm(v: &[Complex64]) -> f64 {
        v.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt()
    }

    fn distance(a: &[Complex64], b: &[Complex64]) -> f64 {
        norm(&a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<_>>())
    }

    #[test]
    fn forward_is_the_definition() {
        for n in [2usize, 4, 8, 16, 32, 64] {
            let pairs = sample(n);
            let mut fast = pairs.clone();
            SpecialFft::new(n).forward(&mut fast);
            let slow = definition(&pairs);
            assert!(distance(&fast, &slow) < 2e-15 * norm(&slow), "n = {n}");
        }
    }

    #[test]
    fn inverse_undoes_forward_up_to_n() {
        for log_n in 0..=15 {
            let n = 1usize << log_n;
            let (fft, pairs) = (SpecialFft::new(n), sample(n));
            let mut v = pairs.clone();
            fft.forward(&mut v);
            fft.inverse(&mut v);
            v.iter_mut().for_each(|x| *x /= n as f64);
            assert!(distance(&v, &pairs) < 1e-15 * (1.0 + log_n as f64) * norm(&pairs), "n = {n}");
        }
    }

    #[test]
    fn coefficients_are_rounded_as_by_definition() {
        let near_half = [0.5, 0.5 - f64::EPSILON / 4.0, 0.5 + f64::EPSILON / 2.0, 1.5, 2.5, 0.0, 1.0, 1e-300];
        let large = [2f64.powi(52) - 0.5, 2f64.powi(52) + 1.0, 2f64.powi(53) - 1.0, 2f64.powi(60) + 512.0, LIMIT];
        for c in near_half.into_iter().chain(large).chain(sample(1000).iter().map(|w| 1e3 * w.re)) {
            assert_eq!((nearest(c), nearest(-c)), (c.round() as i64, (-c).round() as i64), "{c:e}");
        }
        let word = |re| rounded(&[Complex64::new(0.0, 1.0), Complex64::new(re, 0.0)], 1.0);
        assert_eq!(word(LIMIT), Ok(vec![0, LIMIT as i64, 1, 0]));
        assert!(matches!(word(-1.001 * LIMIT), Err(Error::TooLarge { log2 }) if log2 > 61.9));
        assert!(word(f64::NAN).is_err() && word(f64::INFINITY).is_err());
    }

    #[test]
    fn roots_are_exact_on_the_axes_and_symmetric() {
        for order in [8u64, 64, 1 << 18] {
            let h = std::f64::consts::FRAC_1_SQRT_2;
            let expected = [(1.0, 0.0), (h, h), (0.0, 1.0), (-h, h), (-1.0, 0.0), (-h, -h), (0.0, -1.0), (h, -h)];
            for (eighth, (re, im)) in expected.into_iter().enumerate() {
                let root = unit_root(eighth as u64 * order / 8, order);
                assert!((root - Complex64::new(re, im)).norm() < 1.2e-16, "{root} for {eighth}/8");
            }
            for k in 1..order.min(500) {
                assert!((unit_root(order - k, order) - unit_root(k, order).conj()).norm() < 2e-16);
            }
        }
    }
}
