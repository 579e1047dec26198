//! Samples for sending: LWE ciphertexts packed in few GLWE samples, whose words are switched to a modulus of few bits.
//!
//! A word a of Q becomes `round(2^w a / Q)`, and whoever reads it takes `round(Q / 2^w)` times that for a. The noise of this is
//! uniform for each word and stays below half a step, so the normal distribution of its variance bounds its tail from above.

use super::{log2_tail, GlweSample, LweCiphertext, LweContext, Noise, PackingKey, SharedMask};
use crate::error::Error;
use std::sync::Arc;

/// Bits of the words of a mask and of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounding {
    /// Of each of the D words of a mask, which all ciphertexts of a sample share.
    pub mask_bits: u32,
    /// Of the body of each ciphertext.
    pub body_bits: u32,
}

impl Rounding {
    /// Most bits of a word: more are no less than Q, or than a file saves.
    fn most(ctx: &LweContext) -> u32 {
        (ctx.modulus().bits() - 2).min(32)
    }

    /// The rounding that leaves the fewest bits of so many ciphertexts, packed and of this noise, while each is read wrongly, beyond this
    /// distance, with a probability of at most `2^allowed`; none if the noise is too large already.
    #[must_use]
    pub fn cheapest(ctx: &LweContext, count: usize, variance: f64, distance: f64, allowed: f64) -> Option<Self> {
        let (most, params) = (Self::most(ctx), ctx.params());
        let words = count.div_ceil(params.n()) * params.coordinates();
        let all = (1..=most).flat_map(|mask_bits| (1..=most).map(move |body_bits| Self { mask_bits, body_bits }));
        let fits = |r: &Self| log2_tail(distance, variance + r.variance(ctx)) <= allowed;
        all.filter(fits).min_by_key(|r| words * r.mask_bits as usize + count * r.body_bits as usize)
    }

    /// The variance over Q squared that it adds to a phase.
    #[must_use]
    pub fn variance(self, ctx: &LweContext) -> f64 {
        Noise::rounding(ctx.params(), [self.mask_bits, self.body_bits])
    }

    /// Refuses numbers of bits that words of this modulus are not rounded to.
    pub(super) fn check(self, ctx: &LweContext) -> Result<(), Error> {
        let all = 1..=Self::most(ctx);
        if all.contains(&self.mask_bits) && all.contains(&self.body_bits) {
            return Ok(());
        }
        Err(Error::Stored { what: "ciphertext is rounded to other bits than its modulus allows" })
    }

    /// A word in so many bits.
    #[must_use]
    pub fn round(ctx: &LweContext, word: u64, bits: u32) -> u64 {
        let q = u128::from(ctx.modulus().value());
        (((u128::from(word) << bits) + q / 2) / q) as u64 & ((1 << bits) - 1)
    }

    /// The word below Q that so many bits stand for.
    #[must_use]
    pub fn lift(ctx: &LweContext, rounded: u64, bits: u32) -> u64 {
        let scaled = u128::from(rounded) * u128::from(ctx.modulus().value());
        ((scaled + (1 << bits >> 1)) >> bits) as u64
    }
}

impl PackingKey {
    /// The same ciphertexts as coefficients of one rounded sample: up to N of them, in their order, at equal distances.
    ///
    /// # Errors
    /// Those of [`PackingKey::pack`]; [`Error::Stored`] for bits that the modulus does not have.
    pub fn compress(
        &self,
        ctx: &LweContext,
        cts: &[LweCiphertext],
        rounding: Rounding,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let (n, d) = (ctx.params().n(), ctx.params().coordinates());
        let mut members: Vec<_> = cts.iter().map(Some).collect();
        members.resize(cts.len().next_power_of_two(), None);
        let packed: GlweSample = self.pack_some(ctx, &members)?;
        let (mask, bodies) = packed.words().split_at(d);
        let mask: Vec<u64> = mask.iter().map(|&word| Rounding::round(ctx, word, rounding.mask_bits)).collect();
        let variance = packed.variance() + rounding.variance(ctx);
        let mask = Arc::new(SharedMask::rounded(ctx, &mask, rounding, variance)?);
        let apart = n / members.len();
        let cell = |at: usize| {
            let rounded = Rounding::round(ctx, bodies[at], rounding.body_bits);
            LweCiphertext::of_shared(ctx, &mask, at, Rounding::lift(ctx, rounded, rounding.body_bits), packed.key())
        };
        (0..cts.len()).map(|at| cell(at * apart)).collect()
    }
}
