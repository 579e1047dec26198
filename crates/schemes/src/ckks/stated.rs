//! The size and noise that a ciphertext states, for everybody to read: upper estimates that use no message.
//!
//! The noise of a result follows from the noise of its operands and from sizes that their owner declared, never from
//! values. `E` is a bound on the root-mean-square error of a slot. Errors are added as if they were fully correlated,
//! because they may be. An error of variance `v` in a coefficient is one of `2 n v` in a slot of `n`, divided by the
//! square of the scale:
//!
//! * rounding two polynomials leaves `(1 + H) / 12` with `H` the squared norm of the secret (eprint 2016/421), three
//!   polynomials `2 H^2 / 12` more;
//! * a key switch adds [`KeySwitchSpec::noise`](aglet_rlwe::KeySwitchSpec::noise).

use super::{Ciphertext, Plaintext};
use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_rlwe::Context;

/// Every source counts for so many times its variance, as formulas are right to a few percent only.
const MARGIN: f64 = 2.0;

/// The stated bounds on a message and its error; infinity states nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated {
    /// An upper bound for every slot: declared by the owner, or derived for results.
    pub bound: f64,
    /// An upper bound of the root-mean-square error of a slot.
    pub noise: f64,
}

impl Default for Stated {
    fn default() -> Self {
        Self { bound: f64::INFINITY, noise: f64::INFINITY }
    }
}

impl Stated {
    /// Both, where what cannot be said is infinite: zero times an unknown bound is unknown.
    pub fn new(bound: f64, noise: f64) -> Self {
        let known = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        Self { bound: known(bound), noise: known(noise) }
    }
    /// Of a sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self::new(self.bound + other.bound, self.noise + other.noise)
    }
    /// Of a multiple of this size, whose factor is off by `error`.
    #[must_use]
    pub fn times(&self, size: f64, error: f64) -> Self {
        let off = if error == 0.0 { 0.0 } else { self.bound * error };
        Self::new(self.bound * size, self.noise * (size + error) + off)
    }
    /// Of a product; `repeated` is how often the slots of the message stand in those of the ring, where errors have no period.
    #[must_use]
    pub fn product(&self, other: &Self, repeated: f64) -> Self {
        let both = 2.0 * repeated * self.noise * other.noise;
        Self::new(self.bound * other.bound, self.bound * other.noise + other.bound * self.noise + both)
    }
    /// With an error more.
    #[must_use]
    pub fn disturbed(&self, noise: f64) -> Self {
        Self::new(self.bound, self.noise + noise)
    }
}

/// What an error of this variance in every coefficient is in a slot.
pub fn in_slots(slots: usize, variance: f64, scale: f64) -> f64 {
    (MARGIN * 2.0 * slots as f64 * variance).sqrt() / scale
}

/// The variance of rounding so many polynomials, as a rescale or a division by P does.
pub fn rounding(ctx: &Context, polys: usize) -> f64 {
    let norm = ctx.params().secret().squared_norm(ctx.ring().n());
    let square = if polys > 2 { 2.0 * norm * norm } else { 0.0 };
    (1.0 + norm + square) / 12.0
}

/// The variance of a fresh encryption by the secret key, which has its error alone, or by the public key, which rounds.
pub fn fresh(ctx: &Context, by_secret: bool) -> f64 {
    if by_secret {
        GAUSSIAN_SIGMA * GAUSSIAN_SIGMA
    } else {
        1.0 + rounding(ctx, 2)
    }
}

impl Ciphertext {
    /// What is stated after the polynomials were divided and rounded: errors of this variance, at this scale.
    pub(super) fn with_error(&self, variance: f64, scale: f64) -> Stated {
        self.stated.disturbed(in_slots(self.slots, variance, scale))
    }
    /// How often the slots stand in those of the ring.
    pub(super) fn repeated(&self, ctx: &Context) -> f64 {
        ctx.ring().n() as f64 / (2 * self.slots) as f64
    }
}

impl Plaintext {
    /// As an operand: no larger than declared, which hides how large it is; if nothing is declared, than it is.
    pub fn as_operand(&self) -> Stated {
        let declared = Some(self.stated.bound).filter(|bound| bound.is_finite());
        Stated { bound: declared.or(self.known.largest).unwrap_or(f64::INFINITY), ..self.stated }
    }
    /// The error of encoding: rounded coefficients.
    pub fn encoding_error(slots: usize, scale: f64) -> f64 {
        in_slots(slots, 1.0 / 12.0, scale)
    }
}
