//! Results for sending: many ciphertexts packed in few samples, and rounded.

use super::memory::room_of_seeds;
use super::{Array, Engine};
use crate::{Control, Error, RangeError};
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, PackingKey, Rounding};
use aglet_schemes::fhew::MAX_LOG2_FAILURE;
use rayon::prelude::*;

impl Engine {
    /// The same array in as few bytes as its noise allows: ciphertexts become coefficients of few samples, and words are rounded to the
    /// fewest bits with which each value is decrypted wrongly with a probability of at most 2^-128, or `2^max_log2_failure`. The array has the
    /// same form and values. It takes no bootstrap, and its noise is nearly as large as decryption allows: it is for sending, and later
    /// bootstraps refuse it. N ciphertexts of one call share a sample of D words.
    ///
    /// # Errors
    /// [`Error::Range`] if noise and packing alone fail more often, keys that do not belong together, [`Error::Cancelled`].
    pub fn compress(
        &self,
        array: &Array,
        packing: &PackingKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Array, Error> {
        let (ctx, count) = (&*self.ctx, array.cells().len());
        room_of_seeds(count)?;
        let (distance, variance) = (self.distance(array.form()), array.variance() + packing.added_noise(ctx));
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let Some(rounding) = Rounding::cheapest(ctx, count, variance, distance, allowed) else {
            return Err(RangeError::Failure { log2: log2_tail(distance, variance), allowed }.into());
        };
        let sample = |some: &[LweCiphertext]| {
            control.check()?;
            Ok::<_, Error>(packing.compress(ctx, some, rounding)?)
        };
        let cells: Vec<Vec<_>> =
            self.runtime.run(|| array.cells().par_chunks(ctx.params().n()).map(sample).collect::<Result<_, _>>())?;
        let cells = cells.into_iter().flatten().collect();
        Array::new(array.context(), array.form(), array.shape().to_vec(), array.key(), cells)
    }
}
