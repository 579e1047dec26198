//! The blind rotation DM/AP of FHEW (eprint 2014/816). For each digit v at place t of an exponent there is a key of
//! `X^(v B^t s)`, and its external product replaces the accumulator. It needs no monomials and one product for each
//! digit that is not 0, and has by far the most keys.

use super::BlindRotation;
use aglet_ring::blind::{external_product, scratch_words};
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{BlindRotationKey, GgswMessage, LweContext, LweSecretKey, Method, Progress, SeededKey, Switched};
use aglet_rlwe::Error;

/// The keys: one for each coordinate, place and non-zero digit.
pub struct Dm {
    keys: BlindRotationKey,
    /// log2 of the base.
    log_base: u32,
}

impl Dm {
    /// Makes the keys for digits in a base, a power of two.
    ///
    /// # Errors
    /// Out of memory; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        base: u32,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let (spec, two_n) = (ctx.params().spec(), 2 * ctx.params().n());
        let mut messages = Vec::new();
        for coordinate in 0..spec.dimension {
            for place in 0..Method::digits(base, spec.log_n) {
                for digit in 1..base as usize {
                    let e = (digit * (base as usize).pow(place as u32)) % two_n;
                    let exponents = [(two_n - e) % two_n, 0, e].map(|e| Some(e as u16));
                    messages.push(GgswMessage { coordinate, exponents });
                }
            }
        }
        Ok(Self::of(BlindRotationKey::generate(ctx, sk, &messages, (1, spec.gadget), source, progress)?, base))
    }

    /// The shape of the keys.
    pub(super) fn shape(ctx: &LweContext, base: u32) -> KeyShape {
        let spec = ctx.params().spec();
        let digits = Method::digits(base, spec.log_n) * (base as usize - 1);
        BlindRotationKey::shape(ctx, spec.dimension * digits, 1, spec.gadget)
    }
    /// Makes the rotation from these keys.
    pub(super) fn of(keys: BlindRotationKey, base: u32) -> Self {
        Self { keys, log_base: base.trailing_zeros() }
    }
}

impl BlindRotation for Dm {
    fn keys(&self) -> Vec<&SeededKey> {
        vec![self.keys.samples()]
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let spec = ctx.params().spec();
        let (places, most) = (Method::digits(1 << self.log_base, spec.log_n), (1usize << self.log_base) - 1);
        let (each, count) = (accs.len() / inputs.len().max(1), accs.len());
        let mut scratch = Words::zeros(scratch_words(ctx.table(), spec.rank + 1, spec.gadget));
        // Inputs of one digit meet its key one after the other, and the next key that somebody meets comes into the cache meanwhile.
        let digit = |at: usize, i: usize| {
            usize::from(inputs[i / each].mask[at / places]) >> (at % places * self.log_base as usize) & most
        };
        let keys = (0..spec.dimension * places).flat_map(|at| (1..=most).map(move |v| (at, v)));
        let meets = keys
            .flat_map(|(at, v)| (0..count).filter(move |&i| digit(at, i) == v).map(move |i| (at * most + v - 1, i)));
        let mut meets = meets.peekable();
        while let Some((key, i)) = meets.next() {
            let next = meets.peek().map(|next| next.0).filter(|&next| next != key);
            external_product(ctx.table(), self.keys.packed(), key, next, spec.gadget, &mut accs[i], &mut scratch);
        }
    }
}
