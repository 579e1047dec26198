//! The noise of integers: deviations in the canonical embedding, the values of an error at the complex roots of `X^N + 1`.
//!
//! Rounding leaves `d0 + d1 s`, and the roots where the secret s is large are the same in every product, where averages over coefficients
//! would not see them. So the deviation R of a noise is that at the root where s is largest, 3.3 times its mean there at most: secrets
//! that are larger anywhere, one of four at N = 2^15 and one of two at 2^16, are drawn again (SECURITY.md). No value passes 10 R but
//! with a chance of e^-100 = 2^-144, and no coefficient, a mean over all roots, 14 of its own deviations of `R / sqrt N`. A product
//! squares what is rare: `t (10 R)^2 / q` has to be below 10 R, or it grows from level to level; so each product checks that
//! `10 t R <= q` (shared design of integers, sections 1 and 2).

use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_rlwe::{Params, SecretKey};

/// The largest value of a secret over their root mean square.
const LARGEST_SECRET: f64 = 3.3;
/// Deviations that no value at a root passes.
const AT_ROOTS: f64 = 10.0;
/// Deviations that no coefficient passes.
const OF_COEFFICIENTS: f64 = 14.0;

/// log2 of the deviation of an error in the canonical embedding.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Noise(f64);

impl Noise {
    /// Of independent coefficients of this deviation.
    fn of_deviation(params: &Params, deviation: f64) -> Self {
        Self(((params.n() as f64).sqrt() * deviation).log2())
    }
    /// Of the rounding in a division: one half in every coefficient at most, of two polynomials.
    #[must_use]
    pub fn rounding(params: &Params) -> Self {
        let norm = LARGEST_SECRET.powi(2) * params.secret().squared_norm(params.n());
        Self::of_deviation(params, ((1.0 + norm) / 12.0).sqrt())
    }
    /// Whether the roundings of this secret are as small everywhere as [`Noise::rounding`] says; where not, another is drawn.
    #[must_use]
    pub fn suits(params: &Params, key: &SecretKey) -> bool {
        key.largest_value() <= LARGEST_SECRET * params.secret().squared_norm(params.n()).sqrt()
    }
    /// Of an encryption by the secret key, which has its error alone, or by the public key, whose noise is that of a division.
    #[must_use]
    pub fn fresh(params: &Params, by_secret: bool) -> Self {
        match by_secret {
            true => Self::of_deviation(params, GAUSSIAN_SIGMA),
            false => Self::rounding(params).plus(Self::of_deviation(params, 1.0)),
        }
    }
    /// Of a key switch: digits stay two bits below the special modulus.
    #[must_use]
    pub fn key_switch(params: &Params) -> Self {
        Self::rounding(params).times(2.0)
    }
    /// Of a message whose coefficients are anything modulo t: no value of it is larger.
    #[must_use]
    pub fn message(params: &Params, t: u64) -> Self {
        Self((6.0 * t as f64 * (params.n() as f64 / 12.0).sqrt()).log2())
    }

    /// Of this logarithm, as a file states it.
    #[must_use]
    pub fn of_log2(log2: f64) -> Self {
        Self(log2)
    }
    /// The logarithm.
    #[must_use]
    pub fn log2(self) -> f64 {
        self.0
    }
    /// Of a sum, whatever its parts have in common.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (large, small) = (self.0.max(other.0), self.0.min(other.0));
        Self(large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2)
    }
    /// So many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self(self.0 + factor.log2())
    }
    /// Of the product with a message of this size.
    #[must_use]
    pub fn multiplied(self, size: Self) -> Self {
        Self(self.0 + size.0)
    }
    /// Of the product of two ciphertexts with messages of this size: `t e e' + m e' + m' e`.
    #[must_use]
    pub fn product(self, other: Self, t: u64, message: Self) -> Self {
        self.multiplied(other).times(t as f64).plus(message.multiplied(self.plus(other)))
    }
    /// Of the product of two that is scaled by t / Q: `K v' + K' v + (t / Q) v v'`, where v is the noise with the fraction that stands
    /// for the factor, and `K = t (c0 + c1 s) / Q` the message with the multiples of t that wrap around; then the rounding of three
    /// polynomials.
    #[must_use]
    pub fn scaled_product(self, other: Self, params: &Params, t: u64, log_q: f64) -> Self {
        let wrapped = Self::rounding(params).times(AT_ROOTS * t as f64);
        let fraction = Self::message(params, 1);
        let (v, w) = (self.plus(fraction), other.plus(fraction));
        let norm = LARGEST_SECRET.powi(2) * params.secret().squared_norm(params.n());
        let rounded = Self::of_deviation(params, ((1.0 + norm + norm * norm) / 12.0).sqrt());
        let both = v.multiplied(w).times(t as f64).multiplied(Self(-log_q));
        wrapped.multiplied(v.plus(w)).plus(both).plus(rounded).plus(fraction)
    }
    /// Bits by which the prime q is too small for a product of two with this noise and that; 0 or below if it is not.
    #[must_use]
    pub fn excess(self, other: Self, t: u64, q: u64) -> f64 {
        Self(f64::midpoint(self.0, other.0)).times(AT_ROOTS * t as f64).0 - (q as f64).log2()
    }
    /// Bits that are left of a modulus `2^log_q` beside a message modulo t and this noise: at 0 or below, it is not certain to decrypt.
    #[must_use]
    pub fn budget(self, params: &Params, log_q: f64, t: u64) -> f64 {
        let largest = self.times(OF_COEFFICIENTS / (params.n() as f64).sqrt());
        log_q - 1.0 - (t as f64).log2() - largest.plus(Self(0.0)).0
    }
}
