//! The blind rotation NTRU (Xiang and others, CRYPTO 2023): one product of polynomials for each coordinate, followed by
//! an automorphism.
//!
//! With odd exponents `w_i`, and `w_n = 1`: `X -> X^(1 / w_0)` first, then for each i times `X^(s_i)` and `X -> X^(w_i / w_(i+1))`. What
//! comes after coordinate i takes its factor to `X^(w_i s_i)`, and the start to itself.

use super::BlindRotation;
use aglet_ring::blind::{automorphism, external_product, scratch_words};
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{LweContext, LweSecretKey, NtruKeys, NtruMessage, Progress, SeededKey, Switched};
use aglet_rlwe::Error;

/// Keys: of the inverse of the secret, of each coordinate, of `X -> X^(2j + 1)` for each j below N.
pub struct Ntru(NtruKeys);

impl Ntru {
    /// Makes the keys.
    ///
    /// # Errors
    /// A secret without inverse; out of memory; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let coordinates = (0..ctx.params().spec().dimension).map(NtruMessage::Power);
        let maps = (0..ctx.params().n()).map(|j| NtruMessage::Automorphism(2 * j + 1));
        let messages: Vec<_> = [NtruMessage::Inverse].into_iter().chain(coordinates).chain(maps).collect();
        Ok(Self(NtruKeys::generate(ctx, sk, &messages, source, progress)?))
    }

    /// The shape of the keys.
    pub(super) fn shape(ctx: &LweContext) -> KeyShape {
        NtruKeys::shape(ctx, 1 + ctx.params().spec().dimension + ctx.params().n())
    }
    /// Makes the rotation from these keys.
    pub(super) fn of(samples: SeededKey) -> Self {
        Self(NtruKeys::of(samples))
    }

    fn times(&self, ctx: &LweContext, key: usize, sample: &mut [u64], scratch: &mut [u64]) {
        external_product(
            ctx.table(),
            self.0.samples().packed(),
            key,
            None,
            ctx.params().spec().gadget,
            sample,
            scratch,
        );
    }

    /// `X -> X^t`.
    fn map(&self, ctx: &LweContext, t: usize, sample: &mut [u64], scratch: &mut [u64]) {
        if t != 1 {
            let before = &mut scratch[..sample.len()];
            before.copy_from_slice(sample);
            automorphism(ctx.modulus(), before, t, sample);
            self.times(ctx, 1 + ctx.params().spec().dimension + t / 2, sample, scratch);
        }
    }

    fn rotate_one(&self, ctx: &LweContext, input: &Switched, acc: &mut [u64], scratch: &mut [u64]) {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let two_n = 2 * n;
        // The group of odd numbers has an exponent of N/2.
        let inverse = |w: usize| (1..n / 2).fold(1, |power, _| power * w % two_n);
        let (mask, sample) = acc.split_at_mut(n);
        self.times(ctx, 0, sample, scratch);
        sample.iter_mut().zip(mask.iter()).for_each(|(c, &a)| *c = m.sub(*c, a));
        let exponents = || input.mask.iter().map(|&w| usize::from(w));
        let mut before = 1;
        for (i, w) in exponents().enumerate() {
            self.map(ctx, before * inverse(w) % two_n, sample, scratch);
            self.times(ctx, 1 + i, sample, scratch);
            before = w;
        }
        self.map(ctx, before, sample, scratch);
        mask.iter_mut().zip(sample.iter()).for_each(|(a, &c)| *a = m.neg(c));
        sample.fill(0);
    }
}

impl BlindRotation for Ntru {
    fn keys(&self) -> Vec<&SeededKey> {
        vec![self.0.samples()]
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let mut scratch = Words::zeros(scratch_words(ctx.table(), 1, ctx.params().spec().gadget));
        let each = accs.len() / inputs.len().max(1);
        accs.iter_mut().enumerate().for_each(|(i, acc)| self.rotate_one(ctx, &inputs[i / each], acc, &mut scratch));
    }
}
