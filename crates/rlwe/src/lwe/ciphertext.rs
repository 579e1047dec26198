//! LWE ciphertexts under all coordinates, and the sums of them that need no key.

use super::sources::{NoiseSource, Sources};
use super::{LweContext, SharedMask};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::KeyId;
use aglet_ring::sample::{self, ChaChaSource};
use std::borrow::Cow;
use std::sync::Arc;

/// `(a, b)` with `b - <a, S> = phase + noise` modulo Q. Cloning shares the words.
#[derive(Clone)]
pub struct LweCiphertext {
    mask: Mask,
    body: u64,
    dimension: usize,
    key: KeyId,
    sources: Sources,
}

/// The words of a, D of them. A seed is a three hundredth of what it stands for, and is expanded in no time beside a bootstrap. So is a
/// coefficient of a mask that others share.
#[derive(Clone)]
enum Mask {
    Seed([u8; 32]),
    Words(Arc<Vec<u64>>),
    Shared(Arc<SharedMask>, usize),
}

/// What a seed stands for.
fn expanded(ctx: &LweContext, seed: [u8; 32]) -> Vec<u64> {
    let mut mask = vec![0; ctx.params().coordinates()];
    sample::uniform(&mut ChaChaSource::from_seed(seed), ctx.modulus().value(), &mut mask);
    mask
}

impl LweCiphertext {
    /// One of its D + 1 words, the body last.
    pub(crate) fn new(mut words: Vec<u64>, key: KeyId, sources: Sources) -> Self {
        let body = words.pop().unwrap_or_default();
        Self { dimension: words.len(), mask: Mask::Words(Arc::new(words)), body, key, sources }
    }

    /// A fresh one: its mask is the expansion of a seed.
    pub(crate) fn fresh(ctx: &LweContext, seed: [u8; 32], body: impl FnOnce(&[u64]) -> u64, key: KeyId) -> Self {
        Self::from_seed(ctx, seed, body(&expanded(ctx, seed)), key)
    }

    /// A fresh one of its seed and its body.
    #[must_use]
    pub fn from_seed(ctx: &LweContext, seed: [u8; 32], body: u64, key: KeyId) -> Self {
        let [input, pattern] = [0, 8].map(|at| seed[at..at + 8].iter().fold(0, |word, &b| word << 8 | u64::from(b)));
        let own = NoiseSource { name: [input, pattern], weight: 1, variance: ctx.noise().fresh };
        let dimension = ctx.params().coordinates();
        Self { mask: Mask::Seed(seed), body, dimension, key, sources: Sources::one(own) }
    }

    /// One of its words, D + 1 below Q, and the noises that it is a sum of.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of words, words that are not below Q, variances that are none, more noises than are told
    /// apart.
    pub fn from_words(ctx: &LweContext, words: Vec<u64>, key: KeyId, sources: Vec<NoiseSource>) -> Result<Self, Error> {
        let canonical = words.iter().all(|&w| w < ctx.modulus().value());
        if words.len() != ctx.params().coordinates() + 1 || !canonical {
            return Err(Error::Stored { what: "ciphertext has other words than its parameters give it" });
        }
        if !sources.iter().all(|s| s.variance.is_finite() && s.variance >= 0.0) {
            return Err(Error::Stored { what: "ciphertext has a noise of no variance" });
        }
        if sources.len() > Sources::MOST {
            return Err(Error::Stored { what: "ciphertext has more noises than are told apart" });
        }
        Ok(Self::new(words, key, Sources::new(ctx, sources)))
    }

    /// Coefficient `at` of a sample whose mask others share.
    ///
    /// # Errors
    /// [`Error::Stored`] for a coefficient that the sample does not have, or a body that is not below Q.
    pub fn of_shared(
        ctx: &LweContext,
        mask: &Arc<SharedMask>,
        at: usize,
        body: u64,
        key: KeyId,
    ) -> Result<Self, Error> {
        if at >= mask.degree() || body >= ctx.modulus().value() {
            return Err(Error::Stored { what: "ciphertext is no coefficient of its sample" });
        }
        let (dimension, sources) = (ctx.params().coordinates(), Sources::one(mask.source(at)));
        Ok(Self { mask: Mask::Shared(mask.clone(), at), body, dimension, key, sources })
    }

    /// One without mask, whose phase everybody sees: the start of a sum.
    #[must_use]
    pub fn trivial(ctx: &LweContext, phase: u64, key: KeyId) -> Self {
        let mut words = vec![0; ctx.params().coordinates() + 1];
        words[ctx.params().coordinates()] = ctx.modulus().reduce(phase);
        Self::new(words, key, Sources::none())
    }

    /// The mask a, expanded if it is a seed, turned if others share it.
    #[must_use]
    pub fn mask(&self, ctx: &LweContext) -> Cow<'_, [u64]> {
        match &self.mask {
            Mask::Seed(seed) => Cow::Owned(expanded(ctx, *seed)),
            Mask::Words(words) => Cow::Borrowed(words),
            Mask::Shared(mask, at) => Cow::Owned(mask.turned(ctx, *at)),
        }
    }
    /// The body b.
    #[must_use]
    pub fn body(&self) -> u64 {
        self.body
    }
    /// The mask, unless it is a seed or others share it.
    #[must_use]
    pub fn words(&self) -> Option<&[u64]> {
        match &self.mask {
            Mask::Words(words) => Some(words),
            Mask::Seed(_) | Mask::Shared(..) => None,
        }
    }
    /// The mask that others share, and which coefficient this is.
    #[must_use]
    pub fn shared(&self) -> Option<(&Arc<SharedMask>, usize)> {
        match &self.mask {
            Mask::Shared(mask, at) => Some((mask, *at)),
            Mask::Seed(_) | Mask::Words(_) => None,
        }
    }
    /// Words of the mask.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }
    /// The secret key that decrypts it.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
    /// The noises that it is a sum of.
    #[must_use]
    pub fn sources(&self) -> &[NoiseSource] {
        self.sources.all()
    }
    /// What the mask is the expansion of, if it is fresh.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8; 32]> {
        match &self.mask {
            Mask::Seed(seed) => Some(seed),
            Mask::Words(_) | Mask::Shared(..) => None,
        }
    }
    /// Bytes in memory, those of its own words included, without a mask of others ([`LweCiphertext::shared`]).
    #[must_use]
    pub fn byte_count(&self) -> usize {
        let words = self.words().map_or(0, size_of_val);
        size_of::<Self>() + words + size_of_val(self.sources())
    }
    /// The variance of its noise over Q squared, by the formulas, with what depends added as dependent.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.sources.variance()
    }
    /// Whether its phase and noise are these for certain: those of the other, or with `-1` the negative of them.
    #[must_use]
    pub fn is_multiple(&self, ctx: &LweContext, other: &Self, sign: i64) -> bool {
        let (m, sign) = (ctx.modulus(), ctx.modulus().reduce_i64(sign));
        let same = |x: u64, y: u64| x == m.mul(y, sign);
        self.key == other.key
            && same(self.body, other.body)
            && self.mask(ctx).iter().zip(other.mask(ctx).iter()).all(|(&x, &y)| same(x, y))
    }

    /// A phase plus a weighted sum. A noise that is in several terms counts with the sum of its weights.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for terms of different keys; [`Error::BadParameters`] for none, or terms of other sets.
    pub fn combine(ctx: &LweContext, phase: u64, terms: &[(&Self, i64)]) -> Result<Self, Error> {
        let Some((first, _)) = terms.first() else {
            return Err(OperandFault::EmptySum.into());
        };
        let (m, mut words) = (ctx.modulus(), vec![0; ctx.params().coordinates() + 1]);
        words[ctx.params().coordinates()] = m.reduce(phase);
        for (term, weight) in terms {
            if term.key != first.key {
                return Err(Error::KeyMismatch { what: "ciphertext", found: term.key, expected: first.key });
            }
            let (found, expected) = (term.dimension, ctx.params().coordinates());
            if found != expected {
                return Err(OperandFault::Dimensions { found, expected }.into());
            }
            let (mask, w) = (term.mask(ctx), m.reduce_i64(*weight));
            let all = mask.iter().chain([&term.body]);
            words.iter_mut().zip(all).for_each(|(x, &y)| *x = m.add(*x, m.mul(y, w)));
        }
        let sources = terms.iter().flat_map(|(term, weight)| term.sources.times(ctx, *weight)).collect();
        Ok(Self::new(words, first.key, Sources::new(ctx, sources)))
    }

    /// The exact half modulo Q: its phase is half of this one's, or half the torus from that, by the last bit of the phase. What is added to
    /// it counts as independent of it.
    #[must_use]
    pub fn half(&self, ctx: &LweContext) -> Self {
        let q = ctx.modulus().value();
        // An odd word becomes even with the odd Q added.
        let half = |x: u64| if x & 1 == 0 { x / 2 } else { x / 2 + q / 2 + 1 };
        let words: Vec<u64> = self.mask(ctx).iter().copied().chain([self.body]).map(half).collect();
        let own = NoiseSource { name: [words[0], words[1]], weight: 1, variance: self.variance() / 4.0 };
        Self::new(words, self.key, Sources::one(own))
    }

    /// Adds a number to the phase.
    pub fn add_phase(&mut self, ctx: &LweContext, phase: u64) {
        self.body = ctx.modulus().add(self.body, ctx.modulus().reduce(phase));
    }
}

impl std::fmt::Debug for LweCiphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LweCiphertext {{ dimension: {}, key: {} }}", self.dimension, self.key)
    }
}
