//! GLWE samples in coefficients: what a blind rotation starts from and what it gives.

use super::{LweCiphertext, LweContext};
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::small::Words;

/// `(A_0, .., A_(k-1), B)` with `B - sum A_r S_r = phase + noise` modulo Q: k + 1 columns of N canonical coefficients.
#[derive(Clone)]
pub struct GlweSample {
    words: Words,
    key: KeyId,
    variance: f64,
}

impl GlweSample {
    /// One without mask, whose phase everybody sees: a table in the clear, N words below Q.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for another number of words.
    pub fn trivial(ctx: &LweContext, table: &[u64], key: KeyId) -> Result<Self, Error> {
        let (n, coordinates) = (ctx.params().n(), ctx.params().coordinates());
        if table.len() != n {
            return Err(Error::bad_parameters(format!("a table of this set has {n} entries, not {}", table.len())));
        }
        let mut words = Words::zeros(coordinates + n);
        words[coordinates..].copy_from_slice(table);
        Ok(Self { words, key, variance: 0.0 })
    }

    /// From its columns, one after the other.
    ///
    /// # Errors
    /// [`Error::BadParameters`] unless there are N words for each of k + 1 columns.
    pub fn new(ctx: &LweContext, words: Words, key: KeyId, variance: f64) -> Result<Self, Error> {
        if words.len() != ctx.params().coordinates() + ctx.params().n() {
            return Err(Error::bad_parameters("this sample has another size; use one parameter set"));
        }
        Ok(Self { words, key, variance })
    }

    /// The columns, one after the other.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
    /// The columns, to be changed: canonical words stay canonical.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
    /// The columns, out of the sample.
    #[must_use]
    pub fn into_words(self) -> Words {
        self.words
    }
    /// The secret key that decrypts it.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
    /// The variance of the noise of a coefficient over Q squared, by the formulas.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.variance
    }
    /// The same sample with more noise than before.
    pub fn add_variance(&mut self, variance: f64) {
        self.variance += variance;
    }

    /// `X^(-exponent)` times the sample, for an exponent up to 2N.
    #[must_use]
    pub fn turned_back(&self, ctx: &LweContext, exponent: u16) -> Self {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let mut words = Words::zeros(self.words.len());
        for (out, column) in words.chunks_exact_mut(n).zip(self.words.chunks_exact(n)) {
            for (i, word) in out.iter_mut().enumerate() {
                let from = (i + usize::from(exponent)) % (2 * n);
                *word = if from < n { column[from] } else { m.neg(column[from - n]) };
            }
        }
        Self { words, ..*self }
    }

    /// The constant coefficient of the product with `sum w X^j`, over pairs (j, w) with j < N, as an LWE ciphertext. The noises of its
    /// terms count as independent.
    ///
    /// # Panics
    /// If a j is too large, or the magnitudes of the w come to 2^15 or more.
    #[must_use]
    pub fn product(&self, ctx: &LweContext, factors: &[(usize, i64)]) -> LweCiphertext {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        assert!(factors.iter().map(|f| f.1.unsigned_abs()).sum::<u64>() < 1 << 15, "sums fit a word");
        let (masks, body) = self.words.split_at(self.words.len() - n);
        let mut words = Vec::with_capacity(masks.len() + 1);
        let mut sums = vec![0i64; n];
        for column in masks.chunks_exact(n) {
            sums.fill(0);
            for &(at, w) in factors {
                let (stay, wrap) = column.split_at(n - at);
                sums[at..].iter_mut().zip(stay).for_each(|(s, &x)| *s += w * x as i64);
                sums.iter_mut().zip(wrap).for_each(|(s, &x)| *s -= w * x as i64);
            }
            words.push(m.reduce_i64(sums[0]));
            words.extend(sums[1..].iter().rev().map(|&s| m.reduce_i64(-s)));
        }
        // Coefficient 0 of `w X^j` times the body.
        let term = |&(at, w): &(usize, i64)| if at == 0 { w * body[0] as i64 } else { -w * body[n - at] as i64 };
        words.push(m.reduce_i64(factors.iter().map(term).sum()));
        let squares: i64 = factors.iter().map(|f| f.1 * f.1).sum();
        LweCiphertext::new(words, self.key, self.variance * squares as f64)
    }

    /// Coefficient `at` as an LWE ciphertext under all coordinates.
    ///
    /// # Panics
    /// If there is no such coefficient.
    #[must_use]
    pub fn extract(&self, ctx: &LweContext, at: usize) -> LweCiphertext {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let (masks, body) = self.words.split_at(self.words.len() - n);
        let mut words = Vec::with_capacity(masks.len() + 1);
        for a in masks.chunks_exact(n) {
            // Coefficient i of X^-at A(X^-1), where S is A's partner in the sum.
            words.extend(a[..=at].iter().rev());
            words.extend(a[at + 1..].iter().rev().map(|&x| m.neg(x)));
        }
        words.push(body[at]);
        LweCiphertext::new(words, self.key, self.variance)
    }
}

impl std::fmt::Debug for GlweSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GlweSample {{ words: {}, key: {} }}", self.words.len(), self.key)
    }
}
