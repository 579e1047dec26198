//! From FHEW to CKKS: bits of a FHEW engine become slots of a fresh ciphertext.
//!
//! Bits are brought to 0 and half the torus, packed as coefficients, switched to the modulus q0 and to the main secret. There a bootstrap that
//! squares the errors of bits goes on from its sparse secret.

use super::{fits_values, packing_bytes, SchemeSwitch, SchemeSwitchKey};
use crate::ckks::{BootstrapKeys, Ciphertext, KeySize};
use crate::fhew::{Form, MAX_LOG2_FAILURE};
use crate::{Control, Error, MissingKeyError, ParameterError, RangeError};
use aglet_rlwe::lwe::{log2_tail, LweCiphertext};
use aglet_rlwe::ring_switch::SmallToLargeKey;

/// Bits, and the form that they have.
pub type Bits<'a> = (Form, &'a [LweCiphertext]);

/// A bit is wrong where its error passes this part of the torus.
const DISTANCE: f64 = 0.25;

impl SchemeSwitch {
    /// Bits as the first slots of a ciphertext, numbers near 0 and 1, at the level of a lossy bootstrap; all other slots are 0. Bits of gates,
    /// or messages of tables that are 0 or 1: of greater ones the lowest bit. Those of imaginary parts may be others, in number too;
    /// without them slots are real, for half the time of eval_mod.
    ///
    /// # Errors
    /// [`Error::Parameter`] for integers, which a table or a sign must bring to bits before; [`Error::Range`] for more of them than slots,
    /// or bits whose noise is so large that one would be wrong more often than 2^-128; [`Error::Memory`]; [`Error::MissingKey`] for a small bootstrap key or one
    /// that is not lossy; keys that do not belong together, [`Error::Cancelled`].
    pub fn from_fhew(
        &self,
        real: Bits<'_>,
        imaginary: Option<Bits<'_>>,
        (key, keys): (&SchemeSwitchKey, BootstrapKeys<'_>),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let ctx = &*self.fhew.ctx;
        self.check_from_fhew(real.1.len().max(imaginary.map_or(0, |bits| bits.1.len())), (key, &keys))?;
        let count = real.1.len() + imaginary.map_or(0, |bits| bits.1.len());
        fits_values(count, packing_bytes(ctx, count))?;
        let mut members = self.halves(real, false)?;
        members.extend(imaginary.map(|bits| self.halves(bits, true)).transpose()?.unwrap_or_default());
        let noise = self.noise_up(&members)?;
        let (packing, small_to_large) = key.back()?;
        self.slots.fits_raising(small_to_large.on_card(), &keys, imaginary.is_none())?;
        let sample = self.slots.run(|| {
            let samples = SmallToLargeKey::pack(&self.between, ctx, packing, &members)?;
            control.check()?;
            Ok(small_to_large.apply(&self.between, (&self.slots.ctx, ctx), &samples)?)
        })?;
        self.slots.raise(sample, (noise, imaginary.is_none()), keys, control)
    }

    /// Bits as 0 and half the torus, each with the coefficient of its slot.
    fn halves(&self, (form, bits): Bits<'_>, imaginary: bool) -> Result<Vec<(usize, LweCiphertext)>, Error> {
        let (weight, middle) = self.half_torus(form)?;
        let half = |(slot, ct): (usize, &LweCiphertext)| {
            let scaled = LweCiphertext::combine(&self.fhew.ctx, middle, &[(ct, weight)])?;
            Ok((self.coefficient(slot, imaginary), scaled))
        };
        bits.iter().enumerate().map(half).collect()
    }

    /// By what bits are multiplied and what is added to their phases, so that they are 0 and half the torus.
    fn half_torus(&self, form: Form) -> Result<(i64, u64), Error> {
        let q = self.fhew.ctx.modulus().value();
        match form {
            Form::Bits => Ok((2, q.div_ceil(4))),
            Form::Messages(domain) => Ok((self.fhew.params().message().within(domain).torus() as i64 / 2, 0)),
            Form::Integers(_) | Form::Unsigned(_) => Err(ParameterError::OnlyBitsBack.into()),
        }
    }

    fn check_from_fhew(&self, count: usize, (key, keys): (&SchemeSwitchKey, &BootstrapKeys<'_>)) -> Result<(), Error> {
        let slots = self.slots.slots();
        if count > slots {
            return Err(RangeError::BitsBack { count, slots }.into());
        }
        if keys.bootstrap.size() == KeySize::Small {
            return Err(MissingKeyError::FromFhew.into());
        }
        if let Some((what, found)) = keys.ids().find(|(_, id)| *id != key.id()) {
            return Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: key.id() }.into());
        }
        self.slots.check_raising(keys)
    }

    /// The variance, on the torus, that halves of the torus have at q0 if they come with this one.
    fn variance_from_fhew(&self, variance: f64) -> Result<f64, Error> {
        Ok(variance + self.added_noise()?)
    }

    /// log2 of the probability that a bit comes back wrong, by the formulas, if it has this variance on the torus.
    ///
    /// # Errors
    /// [`Error::Parameter`] for integers.
    pub fn log2_failure_from_fhew(&self, form: Form, variance: f64) -> Result<f64, Error> {
        let weight = self.half_torus(form)?.0 as f64;
        Ok(log2_tail(DISTANCE, self.variance_from_fhew(weight * weight * variance)?))
    }

    /// The deviation of a bit at q0; half the torus is 1.
    fn noise_up(&self, members: &[(usize, LweCiphertext)]) -> Result<f64, Error> {
        let variance = self.variance_from_fhew(members.iter().map(|m| m.1.variance()).fold(0.0, f64::max))?;
        let failure = log2_tail(DISTANCE, variance);
        if failure > MAX_LOG2_FAILURE {
            return Err(RangeError::NoisyBits { log2_failure: failure }.into());
        }
        Ok(2.0 * variance.sqrt())
    }
}
