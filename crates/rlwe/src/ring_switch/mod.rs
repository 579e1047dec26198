//! Between RLWE of a large degree N modulo a prime q0 and GLWE of degree N' modulo Q under a FHEW secret: there by a ring switch,
//! back by packed samples and a key switch.
//!
//! With `g = N / N'`, the secret polynomials `S_r(X^g)` have the coefficients of a FHEW secret at every g-th place. An RLWE sample
//! under them is g GLWE samples of degree N', one for each class of coefficients modulo g, and no more than those. So keys
//! modulo Q, with the errors of the GLWE row, are as secure as that row is.

mod large_to_small;
mod residues;
mod small_to_large;

pub use large_to_small::{LargeToSmallKey, SwitchedSample};
pub use small_to_large::SmallToLargeKey;

use crate::error::Error;
use crate::fault::RingSwitchFault;
use crate::lwe::{LweContext, LweSecretKey, PackingKey};
use aglet_ring::arch::Kernels;
use aglet_ring::blind::Gadget;
use aglet_ring::pool::Pool;
use aglet_ring::{Eval, Poly, Ring};
use std::sync::Arc;
use zeroize::Zeroizing;

/// log2 of the base of the digits of the ring switch.
const LOG_BASE: u32 = 6;

/// Digits of packing for the conversion back, whose noise every merge doubles.
const PACKING_LEVELS: usize = 3;

/// What stands between the two sides: the ring of degree N modulo Q.
pub struct RingSwitch {
    ring: Ring,
    small: usize,
    digits: usize,
}

impl RingSwitch {
    /// The ring of degree `2^log_n` for the set of a FHEW engine.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if the large ring has not at least the degree of the small one, or Q has no roots of unity for it.
    pub fn new(ctx: &LweContext, log_n: u32, kernels: &'static Kernels) -> Result<Self, Error> {
        let spec = ctx.params().spec();
        if log_n < spec.log_n || !(spec.modulus - 1).is_multiple_of(2 << log_n) {
            return Err(RingSwitchFault::Rings { small: spec.log_n, modulus: spec.modulus, large: log_n }.into());
        }
        let ring = Ring::with_kernels(log_n, &[spec.modulus], &[], kernels)?;
        Ok(Self { ring, small: ctx.params().n(), digits: ctx.modulus().bits().div_ceil(LOG_BASE) as usize })
    }

    /// Coefficients of a sample of the large ring that are one of the small: N / N'.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.ring.n() / self.small
    }
    /// The scratch pool of its ring.
    #[must_use]
    pub fn pool(&self) -> &Arc<Pool> {
        self.ring.pool()
    }
    /// Values that one ciphertext holds at most: N.
    #[must_use]
    pub fn values(&self) -> usize {
        self.ring.n()
    }

    /// Digits of the ring switch.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.digits
    }
    /// The digits of the packing key for the conversion back: those of the least noise.
    #[must_use]
    pub fn packing_gadget(ctx: &LweContext) -> Gadget {
        let bases = 1..=ctx.modulus().bits() / PACKING_LEVELS as u32;
        let gadgets = bases.map(|log_base| Gadget { levels: PACKING_LEVELS, log_base });
        let noise = |gadget: &Gadget| PackingKey::noise(ctx, *gadget);
        let best = gadgets.min_by(|x, y| noise(x).total_cmp(&noise(y)));
        best.unwrap_or(ctx.params().spec().gadget)
    }

    /// Coefficients as values, wiped when dropped.
    fn secret(&self, coefficients: &[i64]) -> Result<Poly<Eval>, Error> {
        Ok(self.ring.to_eval(self.ring.lift(coefficients, self.ring.secret_scratch(1, 0)?)))
    }

    /// Polynomial r of a FHEW secret at every g-th place: the coefficients of `S_r(X^g)`.
    fn spread(&self, sk: &LweSecretKey, r: usize) -> Zeroizing<Vec<i8>> {
        let mut wide = Zeroizing::new(vec![0; self.ring.n()]);
        let part = &sk.coordinates()[r * self.small..(r + 1) * self.small];
        wide.iter_mut().step_by(self.classes()).zip(part).for_each(|(wide, &s)| *wide = s);
        wide
    }
}

#[cfg(test)]
#[path = "../tests/ring_switch.rs"]
mod tests;
