//! LWE ciphertexts under all coordinates, and the sums of them that need no key.

use super::LweContext;
use crate::error::Error;
use crate::secret::KeyId;

/// `(a, b)` with `b - <a, S> = phase + noise` modulo Q, D + 1 words.
#[derive(Clone)]
pub struct LweCiphertext {
    words: Vec<u64>,
    key: KeyId,
    variance: f64,
}

impl LweCiphertext {
    pub(crate) fn new(words: Vec<u64>, key: KeyId, variance: f64) -> Self {
        Self { words, key, variance }
    }

    /// One without mask, whose phase everybody sees: the start of a sum.
    #[must_use]
    pub fn trivial(ctx: &LweContext, phase: u64, key: KeyId) -> Self {
        let mut words = vec![0; ctx.params().coordinates() + 1];
        words[ctx.params().coordinates()] = ctx.modulus().reduce(phase);
        Self { words, key, variance: 0.0 }
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
    /// The variance of its noise over Q squared, by the formulas.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// A phase plus a weighted sum. The noises of the terms count as independent, as those of different bootstraps are; the same
    /// ciphertext given twice counts as one, with the sum of its weights.
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
        let same = |x: &Self| terms.iter().filter(|t| t.0.words == x.words).map(|t| t.1).sum::<i64>();
        // A term that stands there twice shares the weight of both.
        sum.variance = terms.iter().map(|&(x, w)| (w * same(x)) as f64 * x.variance).sum();
        Ok(sum)
    }

    /// Adds `weight` times another ciphertext, whose noise may be anything's: deviations add up, as if both had the same noise. See
    /// [`LweCiphertext::combine`] for independent ones.
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
        self.words.iter_mut().zip(&other.words).for_each(|(x, &y)| *x = m.add(*x, m.mul(y, w)));
        self.variance = (self.variance.sqrt() + weight.unsigned_abs() as f64 * other.variance.sqrt()).powi(2);
        Ok(())
    }

    /// Adds a number to the phase.
    pub fn add_phase(&mut self, ctx: &LweContext, phase: u64) {
        let last = self.words.len() - 1;
        self.words[last] = ctx.modulus().add(self.words[last], ctx.modulus().reduce(phase));
    }
}

impl std::fmt::Debug for LweCiphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LweCiphertext {{ dimension: {}, key: {} }}", self.mask().len(), self.key)
    }
}
