//! Bounds on a ciphertext that the caller knows and states.

use crate::ckks::{Ciphertext, Engine, Stated};
use crate::{Error, RangeError};
use std::sync::Arc;

/// The encoder rounds: a value of exactly the bound may come out a little above.
const ROUNDED: f64 = 1e-9;

impl Engine {
    /// The same ciphertext, for which the caller states bounds: no slot is larger than `said.bound`, and the
    /// root-mean-square error of a slot is at most `said.noise`. Infinity states nothing. The smaller of an old and a
    /// new bound counts.
    ///
    /// # Errors
    /// [`Error::Range`] for a bound that is not positive, or that the message is known to exceed; out of memory.
    pub fn assume(&self, ct: &Ciphertext, said: Stated) -> Result<Ciphertext, Error> {
        for (name, value) in [("bound", said.bound), ("noise", said.noise)] {
            if value.is_nan() || value <= 0.0 {
                return Err(RangeError::Assumed { name, value }.into());
            }
        }
        // Of a complex message the size alone is known, and a bound may be one of its parts.
        let most = said.bound * if ct.real { 1.0 } else { std::f64::consts::SQRT_2 };
        if ct.known.at_least().is_some_and(|size| size > most * (1.0 + ROUNDED)) {
            return Err(RangeError::AboveAssumed { bound: said.bound }.into());
        }
        let mut same = self.duplicate(ct)?;
        if let Some(own) = Arc::get_mut(&mut same) {
            own.stated = Stated::new(ct.stated.bound.min(said.bound), ct.stated.noise.min(said.noise));
        }
        Ok(same)
    }
}
