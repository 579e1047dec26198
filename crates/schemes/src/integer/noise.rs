//! The noise of integers: how large `t` times a phase may be over t, `v = [f m]_t / t + e`, at the complex roots of `X^N + 1`. A ciphertext
//! decrypts as long as no coefficient of v passes `Q / 2t`, and v is what operations act on, whatever the messages are: sums add it,
//! products multiply it and t, a division by q makes it `v / q` and a rounding.
//!
//! It has two parts. The *fixed* one is there for certain: messages, which whoever encrypts may choose such that a root gets all of
//! them, and what products make of that. The *random* one is errors and roundings, in deviations at the root where the secret is largest,
//! 3.3 times its mean there at most: secrets that are larger anywhere, one of four at N = 2^15 and one of two at 2^16, are drawn again
//! (SECURITY.md). No value of a noise F, R passes `10 (F + R)` but with a chance of e^-100 = 2^-144, and no coefficient 14 parts of
//! `(F + R) / sqrt N`.
//!
//! How often what is rare comes together is counted by its energy: a value of z deviations has a chance of e^-(z^2), and independent ones
//! have the sum of their energies. A noise R stands for "no more than R sqrt E at any root by energy E, up to 100". So parts that may have
//! something in common add up, as those of a ciphertext and its rotation do, and the product of two is `10 t R R'`, which squares what is
//! rare. In quadrature add parts that have nothing in common: what a division leaves of all noise before, its own rounding where it
//! ends a product, where it switches a modulus alone, and what a key switch at a level adds. Of each kind those of two ciphertexts may be
//! the same, and add up (shared design of integers, sections 1 and 2).

use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_rlwe::{KeySwitchSpec, Params, SecretKey};

/// The largest value of a secret over their root mean square.
const LARGEST_SECRET: f64 = 3.3;
/// Deviations that no value at a root passes.
const AT_ROOTS: f64 = 10.0;
/// Deviations that no coefficient passes.
const OF_COEFFICIENTS: f64 = 14.0;

/// A bound on noise: log2 of each of its two parts; a part may be zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    fixed: f64,
    /// Random, and perhaps the same as anything else.
    any: f64,
    /// What divisions left of noise before, roundings of products, of switches of modulus, and of key switches.
    divided: f64,
    products: f64,
    switches: f64,
    keys: f64,
}

/// The operation that a division ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// A product and its key switch.
    Product,
    /// A switch to a smaller modulus, of a ciphertext or a sum of multiples.
    Switch,
}

const NOTHING: f64 = f64::NEG_INFINITY;

/// log2 of a sum by the logarithms of its parts.
fn sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    match small == NOTHING {
        true => large,
        false => large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2,
    }
}

impl Noise {
    const NONE: Self =
        Self { fixed: NOTHING, any: NOTHING, divided: NOTHING, products: NOTHING, switches: NOTHING, keys: NOTHING };

    fn fixed(size: f64) -> Self {
        Self { fixed: size.log2(), ..Self::NONE }
    }
    /// All that is random.
    fn random(self) -> f64 {
        let independent = [self.divided, self.products, self.switches, self.keys];
        sum(self.any, independent.into_iter().fold(NOTHING, |squares, part| sum(squares, 2.0 * part)) / 2.0)
    }
    /// Of independent coefficients of this deviation.
    fn of_deviation(params: &Params, deviation: f64) -> Self {
        Self { any: ((params.n() as f64).sqrt() * deviation).log2(), ..Self::NONE }
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
    /// Of an encryption by the secret key, which has its error alone, or by the public key, whose noise is that of a division; with any
    /// message, of which it tells nothing.
    #[must_use]
    pub fn fresh(params: &Params, by_secret: bool) -> Self {
        let error = match by_secret {
            true => Self::of_deviation(params, GAUSSIAN_SIGMA),
            false => Self::rounding(params).plus(Self::of_deviation(params, 1.0)),
        };
        error.plus(Self::message(params))
    }
    /// Of a message over t, whatever it is: one half in every coefficient. At a root that is `N / pi` at most, below ten times this, and
    /// its coefficients and those of its products with anything are within 14 parts of `sqrt N`, by Cauchy and Schwarz.
    #[must_use]
    pub fn message(params: &Params) -> Self {
        Self::fixed(params.n() as f64 / (2.0 * OF_COEFFICIENTS))
    }
    /// Of one number in every slot over t: a polynomial with one coefficient.
    #[must_use]
    pub fn constant(params: &Params) -> Self {
        Self::fixed((params.n() as f64).sqrt() / (2.0 * OF_COEFFICIENTS))
    }
    /// Of a key switch: its rounding, and k digits times errors of the key, of which each has a variance of 1 / k of theirs. Both factors may
    /// be large at once: such a sum stays below `sqrt(30 + k) sqrt E` of its deviations by energy E, up to 100.
    #[must_use]
    pub fn key_switch(params: &Params, spec: &KeySwitchSpec) -> Self {
        let count = spec.digits.len() as f64;
        let digit = (spec.noise(params, spec.q_limbs) / count).sqrt();
        let digits = Self::of_deviation(params, digit * (30.0 + count).sqrt()).any;
        Self { keys: sum(2.0 * digits, 2.0 * Self::rounding(params).any) / 2.0, ..Self::NONE }
    }

    /// Of this logarithm, as a file states it: nothing is said of its parts, so that all of it counts as fixed.
    #[must_use]
    pub fn of_log2(log2: f64) -> Self {
        Self { fixed: log2, ..Self::NONE }
    }
    /// The logarithm of both parts together.
    #[must_use]
    pub fn log2(self) -> f64 {
        sum(self.random(), self.fixed)
    }
    /// Of a sum, whatever its parts have in common.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            fixed: sum(self.fixed, other.fixed),
            any: sum(self.any, other.any),
            divided: sum(self.divided, other.divided),
            products: sum(self.products, other.products),
            switches: sum(self.switches, other.switches),
            keys: sum(self.keys, other.keys),
        }
    }
    /// So many times as large.
    #[must_use]
    pub fn times(self, correction_factor: f64) -> Self {
        self.shifted(correction_factor.log2())
    }
    fn shifted(self, log2: f64) -> Self {
        Self {
            fixed: self.fixed + log2,
            any: self.any + log2,
            divided: self.divided + log2,
            products: self.products + log2,
            switches: self.switches + log2,
            keys: self.keys + log2,
        }
    }
    /// Of the quotient by the prime q, with its rounding, which is independent of what is divided.
    #[must_use]
    pub fn divided(self, params: &Params, q: u64, ends: Division) -> Self {
        let (before, rounding) = (self.times(1.0 / q as f64), Self::rounding(params).any);
        let rest = Self { fixed: before.fixed, divided: before.random(), ..Self::NONE };
        match ends {
            Division::Product => Self { products: rounding, ..rest },
            Division::Switch => Self { switches: rounding, ..rest },
        }
    }
    /// Of the product of two ciphertexts, `t v v'`: what both have in common is squared, and so is what is rare.
    #[must_use]
    pub fn product(self, other: Self, t: u64) -> Self {
        let any = sum(self.random() + other.log2(), self.fixed + other.random());
        Self { any, fixed: self.fixed + other.fixed, ..Self::NONE }.times(AT_ROOTS * t as f64)
    }
    /// Of the product of two that is scaled by t / Q: `K v' + K' v + (t / Q) v v'` for `K = t (c0 + c1 s) / Q`, the message with the
    /// multiples of t that wrap around; then the rounding of three polynomials.
    #[must_use]
    pub fn scaled_product(self, other: Self, params: &Params, t: u64, log_q: f64) -> Self {
        let wrapped = Self::rounding(params).any + (AT_ROOTS * t as f64).log2();
        let carried = Self { any: wrapped + self.plus(other).log2(), ..Self::NONE };
        let norm = LARGEST_SECRET.powi(2) * params.secret().squared_norm(params.n());
        let rounded = Self::of_deviation(params, ((1.0 + norm + norm * norm) / 12.0).sqrt());
        carried.plus(self.product(other, t).shifted(-log_q)).plus(rounded)
    }
    /// Bits by which the prime q is too small for products of two with this noise and that one after the other, as parameters have to
    /// have room for; 0 or below if it is not.
    #[must_use]
    pub fn excess(self, other: Self, t: u64, q: u64) -> f64 {
        f64::midpoint(self.log2(), other.log2()) + (AT_ROOTS * t as f64).log2() - (q as f64).log2()
    }
    /// Bits that are left of a modulus `2^log_q` beside a message modulo t with this noise: at 0 or below, it is not certain to decrypt.
    #[must_use]
    pub fn budget(self, params: &Params, log_q: f64, t: u64) -> f64 {
        let largest = self.times(OF_COEFFICIENTS / (params.n() as f64).sqrt());
        log_q - 1.0 - (t as f64).log2() - largest.log2()
    }
}
