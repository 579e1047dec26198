//! Whether values fit the modulus of their level. Known sizes are tracked, and checked before a decryption is believed.
//!
//! A coefficient is a mean of the values with complex phases, times the scale. It must stay below half the modulus; a
//! larger one wraps around, and nothing in the ciphertext shows it. Values whose known size fits are believed. In all
//! other cases the coefficients must be far smaller than the modulus, because wrapped coefficients are spread over all
//! of it.

use crate::ckks::{Ciphertext, Engine};
use crate::{Error, RangeError};
use aglet_ring::{Eval, Poly};
use aglet_schemes::ckks::{Known, Size};
use num_complex::Complex64;
use std::sync::Arc;

/// The part of the modulus that coefficients of unknown size may take.
const UNKNOWN_PART: f64 = 1.0 / 1_048_576.0;
/// At low levels, which have little room, coefficients of values of this size are taken all the same.
const SMALL: f64 = 2.0;
/// Messages beyond the bound of their bootstrap lose precision: four bits at this part of it, eight at twice,
const BEYOND: f64 = 1.25;
/// and this is added for noise.
const SLACK: f64 = 1e-3;
/// For noise and the rounding of bounds.
const MARGIN: f64 = 1.001;

impl Engine {
    /// The size up to which values fit a user level, whatever the message.
    pub(crate) fn room(&self, level: usize) -> f64 {
        self.room_of(self.params().chain_level(level) + 1, self.params().scale_at(level))
    }
    /// The same of so many limbs at a scale.
    fn room_of(&self, limbs: usize, scale: f64) -> f64 {
        let modulus = self.params().q()[..limbs].iter().map(|&q| (q as f64).log2()).sum::<f64>();
        (modulus - 1.0 - scale.log2()).exp2()
    }

    /// Passes on what is known about a result. Refuses one that is known to wrap around at its level, before any work
    /// is done.
    pub(crate) fn fitting(&self, known: Known, level: usize) -> Result<Known, Error> {
        if known == Known::default() {
            return Ok(known);
        }
        let room = self.room(level);
        // The largest value alone may be spread over all coefficients.
        let spread = room * 2.0 * self.slots() as f64;
        // Some coefficient is the root mean square of all values over the root of their number.
        let least = known.size.least >= room * (2.0 * self.slots() as f64).sqrt();
        let mean = known.mean.is_some_and(|mean| mean.re.abs().max(mean.im.abs()) >= room);
        if mean || known.largest.is_some_and(|largest| largest >= spread) || least {
            return Err(RangeError::Result { level, room }.into());
        }
        Ok(known)
    }

    /// A result nobody else holds yet, with what is known of its message and whether it is marked real.
    pub(crate) fn told(&self, mut ct: Ciphertext, mut known: Known, real: bool) -> Ciphertext {
        if let Some(own) = Arc::get_mut(&mut ct) {
            let room = self.room_of(own.limbs(), own.scale);
            let coefficient = known.coefficient();
            known.size.doubtful |= coefficient.is_finite() && coefficient * MARGIN >= room;
            (own.known, own.real) = (known, real);
        }
        ct
    }

    /// What is known of a result of operands that were brought to one level: they have to fit there too.
    pub(crate) fn known_beside(known: Known, operands: &[&Ciphertext]) -> Known {
        let doubtful = known.size.doubtful || operands.iter().any(|x| x.known.size.doubtful);
        Known { size: Size { doubtful, ..known.size }, ..known }
    }

    /// Refuses values that exceed the stated bound of the ciphertext: a bootstrap of such a message is wrong.
    pub(crate) fn within_bound(ct: &Ciphertext, values: &[Complex64]) -> Result<(), Error> {
        let (bound, noise) = (ct.stated.bound, ct.stated.noise);
        let most = BEYOND * bound + SLACK + if noise.is_finite() { 8.0 * noise } else { 0.0 };
        if !bound.is_finite() || values.iter().all(|z| z.re.abs().max(z.im.abs()) <= most) {
            return Ok(());
        }
        Err(RangeError::AboveOwn { bound }.into())
    }

    /// The values of a ciphertext from its phase, if they fit.
    pub(crate) fn decoded(
        &self,
        ct: &Ciphertext,
        phase: impl FnOnce() -> Result<Poly<Eval>, Error> + Send,
    ) -> Result<Vec<Complex64>, Error> {
        let (size, room) = (ct.known.size, self.room_of(ct.limbs(), ct.scale));
        let fits = |most: f64| most * MARGIN < room;
        let certain = !size.doubtful && fits(ct.known.coefficient().min(ct.stated.bound));
        let most = if certain { f64::INFINITY } else { SMALL.min(room / 8.0).max(room * UNKNOWN_PART) };
        let values = self.run(|| Ok(self.encoder.decode_within(&self.ctx, &ct.decrypted(phase()?), most)?))?;
        // Multiples of a power of two come out as nearly nothing, as primes are next to such.
        let mean_square = values.iter().map(Complex64::norm_sqr).sum::<f64>() / values.len() as f64;
        let small = mean_square.sqrt() < ct.known.root_mean_square() / 2.0;
        // Coefficients that wrapped around move every slot by multiples of twice the room.
        let moved = || ct.known.sample.is_some_and(|sample| sample.is_far(&values, room / 2.0));
        if !certain && (small || moved()) {
            return Err(aglet_schemes::Error::Wrapped { most: room }.into());
        }
        Ok(values)
    }
}
