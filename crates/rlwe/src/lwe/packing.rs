//! Packing: several LWE ciphertexts as coefficients of one GLWE sample (eprint 2020/015).
//!
//! A ciphertext is the constant coefficient of a sample with the same words. A merge of level l doubles what two samples hold at multiples of `X^(N / 2^(l-1))` and removes half of all else, by one automorphism
//! `X -> X^(2^l + 1)`; merges go on with a single sample, as a trace, until nothing else is left. The constant coefficients come out N
//! times as large, so samples are multiplied by the inverse of N before: that is exact, and so is what is removed. Bodies meet no key,
//! so what is removed of them need not be there.

use super::{
    AutomorphismKeys, BlindRotationKey, GlweSample, LweCiphertext, LweContext, LweSecretKey, Noise, Progress, SeededKey,
};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::KeyId;
use aglet_ring::blind::{sum_difference, weighted_sum, Gadget};
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use std::sync::Arc;

/// The keys of all merges, and of the rotations that choose among packed values where they have digits of their own.
pub struct PackingKey {
    automorphisms: Arc<AutomorphismKeys>,
    choices: Option<BlindRotationKey>,
    own_digits: bool,
    key: KeyId,
}

/// Levels of digits that leave little noise beside the words of the set, packed and rounded.
const FINE_LEVELS: usize = 2;

impl PackingKey {
    /// Makes the key, with these digits: those of the set, or finer ones.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        gadget: Gadget,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let automorphisms = AutomorphismKeys::generate(ctx, sk, &galois(ctx), gadget, source, progress)?;
        Ok(Self::new(ctx, gadget, automorphisms, sk.id()))
    }

    /// The key that is made of these samples.
    #[must_use]
    pub fn of(ctx: &LweContext, gadget: Gadget, samples: SeededKey, key: KeyId) -> Self {
        Self::new(ctx, gadget, AutomorphismKeys::of(samples, &galois(ctx), gadget), key)
    }

    fn new(ctx: &LweContext, gadget: Gadget, automorphisms: AutomorphismKeys, key: KeyId) -> Self {
        let own_digits = gadget != ctx.params().spec().gadget;
        Self { automorphisms: automorphisms.into(), choices: None, own_digits, key }
    }

    /// The key with one for rotations that choose, of the same secret and with the digit of [`super::LweParams::choice_gadget`].
    ///
    /// # Panics
    /// If the secrets differ.
    #[must_use]
    pub fn with_choices(self, choices: BlindRotationKey) -> Self {
        assert!(self.key == choices.key(), "keys of one secret");
        Self { choices: Some(choices), ..self }
    }
    /// The key of rotations that choose; none where the set has one digit, and in older files.
    #[must_use]
    pub fn choices(&self) -> Option<&BlindRotationKey> {
        self.choices.as_ref()
    }

    /// The same key without that, for results with the least noise.
    #[must_use]
    pub fn precise(&self) -> Self {
        Self { automorphisms: self.automorphisms.clone(), choices: None, ..*self }
    }

    /// The digits that a packing key for many messages has: those of the set, or finer ones where they have one level, of the least noise.
    #[must_use]
    pub fn digits(ctx: &LweContext) -> Gadget {
        let own = ctx.params().spec().gadget;
        if own.levels >= FINE_LEVELS {
            return own;
        }
        let bases = 1..=ctx.modulus().bits().min(40) / FINE_LEVELS as u32;
        let gadgets = bases.map(|log_base| Gadget { levels: FINE_LEVELS, log_base });
        gadgets.min_by(|x, y| Self::noise(ctx, *x).total_cmp(&Self::noise(ctx, *y))).unwrap_or(own)
    }
    /// Its digits, if they are not those of the set.
    #[must_use]
    pub fn own_digits(&self) -> Option<Gadget> {
        self.own_digits.then(|| self.automorphisms.gadget())
    }
    /// The variance that packing by it adds, see [`PackingKey::noise`].
    #[must_use]
    pub fn added_noise(&self, ctx: &LweContext) -> f64 {
        Self::noise(ctx, self.automorphisms.gadget())
    }

    /// The shape in memory of its samples.
    #[must_use]
    pub fn shape(ctx: &LweContext, gadget: Gadget) -> KeyShape {
        AutomorphismKeys::shape(ctx, galois(ctx).len(), gadget)
    }
    /// Bytes that a key of these parameters takes in memory, without choices.
    #[must_use]
    pub fn forecast(ctx: &LweContext, gadget: Gadget) -> usize {
        PackedKey::forecast(ctx.table(), Self::shape(ctx, gadget))
    }

    /// The samples of merges with the seed of their masks.
    #[must_use]
    pub fn samples(&self) -> &SeededKey {
        self.automorphisms.samples()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.parts().map(|samples| samples.packed().byte_count()).sum()
    }
    /// Bytes when stored with a seed in place of the uniform part.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.parts().map(SeededKey::stored_bytes).sum()
    }
    fn parts(&self) -> impl Iterator<Item = &SeededKey> {
        [self.samples()].into_iter().chain(self.choices.iter().map(BlindRotationKey::samples))
    }
    /// The secret key that it is of.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.key
    }

    /// `sum_h X^(h N / count) c_h` for so many ciphertexts: 1, 2, 4, up to N. Key switches add to the noise of the noisiest, which counts
    /// for all.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for another number of ciphertexts, [`Error::KeyMismatch`] for ciphertexts of another key.
    pub fn pack(&self, ctx: &LweContext, cts: &[LweCiphertext]) -> Result<GlweSample, Error> {
        self.pack_some(ctx, &cts.iter().map(Some).collect::<Vec<_>>())
    }

    /// [`PackingKey::pack`] where members may be missing: they are zero, and take less time the fewer of a half there are.
    ///
    /// # Errors
    /// As there.
    pub fn pack_some(&self, ctx: &LweContext, cts: &[Option<&LweCiphertext>]) -> Result<GlweSample, Error> {
        let (m, n, count) = (ctx.modulus(), ctx.params().n(), cts.len());
        if !count.is_power_of_two() || count > n {
            return Err(OperandFault::Packed { found: count, most: n }.into());
        }
        let present = || cts.iter().copied().flatten();
        if let Some(other) = present().find(|ct| ct.key() != self.key) {
            return Err(Error::KeyMismatch { what: "packing key", found: self.key, expected: other.key() });
        }
        let inverse = m.inv(n as u64);
        let mut scratch = Words::zeros(self.automorphisms.scratch_words(ctx));
        let mut left: Vec<Option<Words>> = cts.iter().map(|ct| ct.map(|ct| constant(ctx, ct, inverse))).collect();
        for level in 1..=ctx.params().spec().log_n {
            let half = left.len().div_ceil(2);
            let mut odd = left.split_off(half);
            odd.resize_with(half, || None);
            for (even, odd) in left.iter_mut().zip(odd) {
                if even.is_none() && odd.is_none() {
                    continue;
                }
                let sum = even.get_or_insert_with(|| Words::zeros(ctx.params().coordinates() + n));
                let mut difference = match odd {
                    Some(odd) => {
                        let mut turned = turned(ctx, &odd, n >> level);
                        sum_difference(ctx.table(), sum, &mut turned);
                        turned
                    }
                    None => sum.clone(),
                };
                self.automorphisms.apply(ctx, level as usize - 1, &mut difference, &mut scratch);
                sum_difference(ctx.table(), sum, &mut difference);
            }
        }
        let none = || Words::zeros(ctx.params().coordinates() + n);
        let variance = present().map(LweCiphertext::variance).fold(0.0, f64::max);
        let added = Self::noise(ctx, self.automorphisms.gadget());
        GlweSample::new(ctx, left.swap_remove(0).unwrap_or_else(none), self.key, variance + added)
    }

    /// The variance that packing with these digits adds to each constant coefficient: every merge doubles the noise of those before it.
    #[must_use]
    pub fn noise(ctx: &LweContext, gadget: Gadget) -> f64 {
        let params = ctx.params();
        Noise::with_digits(params, gadget) * (4f64.powi(params.spec().log_n as i32) - 1.0) / 3.0
    }
}

/// The automorphism of each level of merges.
fn galois(ctx: &LweContext) -> Vec<usize> {
    (1..=ctx.params().spec().log_n).map(|l| (1 << l) + 1).collect()
}

/// A ciphertext times a number as the constant coefficient of a sample.
fn constant(ctx: &LweContext, ct: &LweCiphertext, by: u64) -> Words {
    let (m, n) = (ctx.modulus(), ctx.params().n());
    let mut products = Words::zeros(ct.dimension());
    weighted_sum(ctx.table(), &[(&ct.mask(ctx)[..], by)], &mut products);
    let mut out = Words::zeros(ct.dimension() + n);
    for (out, mask) in out.chunks_exact_mut(n).zip(products.chunks_exact(n)) {
        out[0] = mask[0];
        out[1..].iter_mut().rev().zip(&mask[1..]).for_each(|(out, &a)| *out = m.neg(a));
    }
    out[ct.dimension()] = m.mul(ct.body(), by);
    out
}

/// `X^exponent` times a sample, for an exponent below N.
fn turned(ctx: &LweContext, sample: &[u64], exponent: usize) -> Words {
    let (m, n) = (ctx.modulus(), ctx.params().n());
    let mut out = Words::zeros(sample.len());
    for (out, column) in out.chunks_exact_mut(n).zip(sample.chunks_exact(n)) {
        let (stay, wrap) = column.split_at(n - exponent);
        out[exponent..].copy_from_slice(stay);
        // What wraps around changes its sign.
        out.iter_mut().zip(wrap).for_each(|(out, &x)| *out = m.neg(x));
    }
    out
}
