//! Decryption. It refuses values that noise may have changed, and sums that left the range of their form.

use super::{Array, Engine, Form};
use crate::{Error, RangeError};
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, LweSecretKey};
use aglet_schemes::fhew::{to_bit, Domain, Message, MAX_LOG2_FAILURE};

impl Engine {
    /// Decrypts bits.
    ///
    /// # Errors
    /// Ciphertexts of another key, or of so much noise that one in 2^128 would come out wrong.
    pub fn decrypt_bits(&self, bits: &[LweCiphertext], sk: &LweSecretKey) -> Result<Vec<bool>, Error> {
        Ok(self.phases(bits, Form::Bits, sk, None)?.into_iter().map(|phase| to_bit(&self.ctx, phase)).collect())
    }

    /// Decrypts messages. A padded value of the number of messages or above shows that a sum has left the range of
    /// tables.
    ///
    /// # Errors
    /// As [`Engine::decrypt_bits`].
    pub fn decrypt(&self, cts: &[LweCiphertext], message: Message, sk: &LweSecretKey) -> Result<Vec<u64>, Error> {
        let phases = self.phases(cts, Form::Messages(message.domain()), sk, None)?;
        Ok(phases.into_iter().map(|phase| message.decode(&self.ctx, phase)).collect())
    }

    /// The values of an array, bits as 0 and 1. `max_log2_failure` accepts values that are wrong more often than once
    /// in 2^128; 0 gives the nearest values, whatever the noise.
    ///
    /// # Errors
    /// As [`Engine::decrypt_bits`]; [`Error::Range`] for what has left the range of its form.
    pub fn decrypt_array(
        &self,
        array: &Array,
        sk: &LweSecretKey,
        max_log2_failure: Option<f64>,
    ) -> Result<Vec<i64>, Error> {
        let (ctx, form) = (&*self.ctx, array.form());
        let (least, most) = match form {
            Form::Bits => (0, 1),
            Form::Messages(_) => (0, self.params().message().space() as i64 - 1),
            Form::Integers(integer) => integer.range(),
            Form::Unsigned(unsigned) => (0, (1 << unsigned.bits()) - 1),
        };
        let decoded = |phase: u64| match form {
            Form::Bits => i64::from(to_bit(ctx, phase)),
            Form::Messages(domain) => self.params().message().within(domain).decode(ctx, phase) as i64,
            Form::Integers(integer) => integer.decode(ctx, phase),
            Form::Unsigned(unsigned) => unsigned.decode(ctx, phase) as i64,
        };
        let found: Vec<i64> =
            self.phases(array.cells(), form, sk, max_log2_failure)?.into_iter().map(decoded).collect();
        let all_are_taken = max_log2_failure.is_some_and(|allowed| allowed >= 0.0);
        match found.iter().find(|value| !all_are_taken && !(least..=most).contains(*value)) {
            Some(&value) => {
                let padded = form == Form::Messages(Domain::Padded);
                let fix = if padded { "in the domain \"full\", where they wrap around" } else { "with more bits" };
                Err(RangeError::Sum { value, least, most, fix }.into())
            }
            None => Ok(found),
        }
    }

    /// How far a phase may be off where it is decrypted.
    pub(super) fn distance(&self, form: Form) -> f64 {
        match form {
            Form::Bits => 0.125,
            Form::Messages(domain) => self.params().message().within(domain).half_step(),
            Form::Integers(integer) => integer.distance(),
            Form::Unsigned(unsigned) => unsigned.distance(),
        }
    }

    fn phases(
        &self,
        cts: &[LweCiphertext],
        form: Form,
        sk: &LweSecretKey,
        max_log2_failure: Option<f64>,
    ) -> Result<Vec<u64>, Error> {
        let distance = self.distance(form);
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let phase = |ct: &LweCiphertext| {
            let log2 = log2_tail(distance, ct.variance());
            match log2 <= allowed {
                true => Ok(sk.phase(&self.ctx, ct)?),
                false => Err(RangeError::Failure { log2, allowed }.into()),
            }
        };
        cts.iter().map(phase).collect()
    }
}
