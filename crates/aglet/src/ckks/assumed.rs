//! What a caller knows of a ciphertext beside what it states itself.

use crate::ckks::{Ciphertext, Engine, Stated};
use crate::Error;
use std::sync::Arc;

/// The encoder rounds: a value of exactly the bound may come out a little above.
const ROUNDED: f64 = 1e-9;

impl Engine {
    /// The same ciphertext, of which the caller says that no slot is larger than `said.bound` and that the root mean square of the error
    /// of a slot is at most `said.noise`; infinite is what is not said. Of what it states and what is said the smaller counts.
    ///
    /// # Errors
    /// [`Error::Range`] for what is not positive, or a bound that the message is known to exceed; memory that cannot be had.
    pub fn assume(&self, ct: &Ciphertext, said: Stated) -> Result<Ciphertext, Error> {
        for (name, value) in [("bound", said.bound), ("noise", said.noise)] {
            if value.is_nan() || value <= 0.0 {
                return Err(Error::Range(format!("{name} = {value} is not positive; say how large it is at most.")));
            }
        }
        // Of a complex message the size alone is known, and a bound may be one of its parts.
        let most = said.bound * if ct.real { 1.0 } else { std::f64::consts::SQRT_2 };
        if ct.known.at_least().is_some_and(|size| size > most * (1.0 + ROUNDED)) {
            return Err(Error::Range(format!(
                "This message has a value larger than {}, of which is said that none is; scale the message down, or say a larger bound=.",
                said.bound
            )));
        }
        let mut same = self.duplicate(ct)?;
        if let Some(own) = Arc::get_mut(&mut same) {
            own.stated = Stated::new(ct.stated.bound.min(said.bound), ct.stated.noise.min(said.noise));
        }
        Ok(same)
    }
}
