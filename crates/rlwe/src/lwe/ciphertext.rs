//! LWE ciphertexts under all coordinates, and the sums of them that need no key.

use super::LweContext;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::sample::{self, ChaChaSource};
use std::sync::Arc;

/// `(a, b)` with `b - <a, S> = phase + noise` modulo Q, D + 1 words. Cloning shares the words.
#[derive(Clone)]
pub struct LweCiphertext {
    words: Arc<Vec<u64>>,
    key: KeyId,
    sources: Vec<NoiseSource>,
    seed: Option<[u8; 32]>,
}

/// A noise that a ciphertext has a multiple of: that of the encryption or bootstrap which made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSource {
    /// The first words of the mask that it came with. They are as good as uniform, so no two sources share them.
    pub name: [u64; 2],
    /// How often it is in the sum.
    pub weight: i64,
    /// Its variance over Q squared, by the formulas.
    pub variance: f64,
}

impl LweCiphertext {
    /// One whose noise is its own.
    pub(crate) fn new(words: Vec<u64>, key: KeyId, variance: f64) -> Self {
        let own = NoiseSource { name: [words[0], words[1]], weight: 1, variance };
        Self { words: Arc::new(words), key, sources: vec![own], seed: None }
    }

    /// A fresh one: its mask is the expansion of a seed.
    pub(crate) fn fresh(ctx: &LweContext, seed: [u8; 32], body: impl FnOnce(&[u64]) -> u64, key: KeyId) -> Self {
        let mut words = vec![0; ctx.params().coordinates() + 1];
        let (mask, last) = words.split_at_mut(ctx.params().coordinates());
        sample::uniform(&mut ChaChaSource::from_seed(seed), ctx.modulus().value(), mask);
        last[0] = body(mask);
        Self { seed: Some(seed), ..Self::new(words, key, ctx.params().noise().fresh) }
    }

    /// A fresh one of its seed and its body.
    #[must_use]
    pub fn from_seed(ctx: &LweContext, seed: [u8; 32], body: u64, key: KeyId) -> Self {
        Self::fresh(ctx, seed, |_| body, key)
    }

    /// One of its words, D + 1 below Q, and the noises that it is a sum of.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of words, words that are not below Q, variances that are none.
    pub fn from_words(ctx: &LweContext, words: Vec<u64>, key: KeyId, sources: Vec<NoiseSource>) -> Result<Self, Error> {
        let canonical = words.iter().all(|&w| w < ctx.modulus().value());
        if words.len() != ctx.params().coordinates() + 1 || !canonical {
            return Err(Error::Stored { what: "ciphertext has other words than its parameters give it" });
        }
        if !sources.iter().all(|s| s.variance.is_finite() && s.variance >= 0.0) {
            return Err(Error::Stored { what: "ciphertext has a noise of no variance" });
        }
        Ok(Self { words: Arc::new(words), key, sources, seed: None })
    }

    /// One without mask, whose phase everybody sees: the start of a sum.
    #[must_use]
    pub fn trivial(ctx: &LweContext, phase: u64, key: KeyId) -> Self {
        let mut words = vec![0; ctx.params().coordinates() + 1];
        words[ctx.params().coordinates()] = ctx.modulus().reduce(phase);
        Self { words: Arc::new(words), key, sources: Vec::new(), seed: None }
    }

    /// The mask a.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.words[..self.words.len() - 1]
    }
    /// The body b.
    #[must_use]
    pub fn body(&self) -> u64 {
        self.words[self.words.len() - 1]
    }
    /// The secret key that decrypts it.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
    /// The noises that it is a sum of.
    #[must_use]
    pub fn sources(&self) -> &[NoiseSource] {
        &self.sources
    }
    /// What the mask is the expansion of, if it is fresh.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }
    /// The variance of its noise over Q squared, by the formulas. Noises of different sources are independent.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.sources.iter().map(|s| (s.weight as f64).powi(2) * s.variance).sum()
    }

    /// A phase plus a weighted sum.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for terms of different keys; [`Error::BadParameters`] for none.
    pub fn combine(ctx: &LweContext, phase: u64, terms: &[(&Self, i64)]) -> Result<Self, Error> {
        let Some((first, _)) = terms.first() else {
            return Err(Error::bad_parameters("a sum of no ciphertexts has no key; give one at least"));
        };
        let mut sum = Self::trivial(ctx, phase, first.key);
        for &(term, weight) in terms {
            sum.add_multiple(ctx, term, weight)?;
        }
        Ok(sum)
    }

    /// Adds `weight` times another ciphertext. A noise that is in both already counts with the sum of its weights.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for one of another key.
    pub fn add_multiple(&mut self, ctx: &LweContext, other: &Self, weight: i64) -> Result<(), Error> {
        if self.key != other.key {
            return Err(Error::KeyMismatch { what: "ciphertext", found: other.key, expected: self.key });
        }
        if self.words.len() != other.words.len() {
            return Err(Error::bad_parameters("these ciphertexts have other dimensions; use one parameter set"));
        }
        let (m, w) = (ctx.modulus(), ctx.modulus().reduce_i64(weight));
        let words = Arc::make_mut(&mut self.words);
        words.iter_mut().zip(other.words.iter()).for_each(|(x, &y)| *x = m.add(*x, m.mul(y, w)));
        self.seed = None;
        for source in &other.sources {
            let more = source.weight.saturating_mul(weight);
            match self.sources.iter_mut().find(|own| own.name == source.name) {
                Some(own) => own.weight = own.weight.saturating_add(more),
                None => self.sources.push(NoiseSource { weight: more, ..*source }),
            }
        }
        Ok(())
    }

    /// The exact half modulo Q: its phase is half of this one's, or half a turn from that, by the last bit of the phase.
    #[must_use]
    pub fn half(&self, ctx: &LweContext) -> Self {
        let q = ctx.modulus().value();
        // An odd word becomes even with the odd Q added.
        let words = self.words.iter().map(|&x| if x & 1 == 0 { x / 2 } else { x / 2 + q / 2 + 1 });
        Self::new(words.collect(), self.key, self.variance() / 4.0)
    }

    /// Adds a number to the phase.
    pub fn add_phase(&mut self, ctx: &LweContext, phase: u64) {
        let words = Arc::make_mut(&mut self.words);
        let last = words.len() - 1;
        words[last] = ctx.modulus().add(words[last], ctx.modulus().reduce(phase));
    }
}

impl std::fmt::Debug for LweCiphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LweCiphertext {{ dimension: {}, key: {} }}", self.mask().len(), self.key)
    }
}
