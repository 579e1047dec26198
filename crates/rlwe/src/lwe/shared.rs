//! Masks that ciphertexts share: coefficient i of a sample of a ring is an LWE ciphertext whose mask is that of the sample, turned. So
//! many ciphertexts take the memory, and the file, of one sample and a body each.

use super::sources::{digest, ANYTHING};
use super::{LweContext, NoiseSource, Rounding};
use crate::error::Error;
use crate::secret::KeyId;

/// The mask of a sample, column after column of so many coefficients, and the noise of its coefficients.
///
/// The coordinates of the secret are the coefficients of the partners of the columns, in order; what the last column has beyond them
/// meets zeros, and is left out.
pub struct SharedMask {
    words: Vec<u64>,
    degree: usize,
    rounding: Option<Rounding>,
    noise: NoiseSource,
}

impl SharedMask {
    /// The mask of what a public key encrypts: one column of the degree of the key, canonical words.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of words, or some that are not below Q; [`Error::BadParameters`] where there are no public
    /// keys.
    pub fn of_public_key(ctx: &LweContext, words: Vec<u64>, key: KeyId) -> Result<Self, Error> {
        let degree = ctx.public_table()?.n();
        if words.len() != degree || words.iter().any(|&w| w >= ctx.modulus().value()) {
            return Err(Error::Stored { what: "ciphertext has another mask than public keys give it" });
        }
        // All encryptions by one key have its error in common, and all coefficients of one the same short vector.
        let input = digest(std::iter::once(key.0));
        Ok(Self::of(words, degree, None, input, ctx.noise().public))
    }

    /// The mask of a GLWE sample that was rounded for sending: a word below `2^mask_bits` for each coordinate of the secret. What it was
    /// packed of is not known any more, so its noise may depend on all others.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of words, words of more bits, more or fewer bits than Q allows, a variance that is none.
    pub fn rounded(ctx: &LweContext, words: &[u64], rounding: Rounding, variance: f64) -> Result<Self, Error> {
        rounding.check(ctx)?;
        if words.len() != ctx.params().coordinates() || words.iter().any(|&w| w >> rounding.mask_bits != 0) {
            return Err(Error::Stored { what: "ciphertext has another mask than packing gives it" });
        }
        if !(variance.is_finite() && variance >= 0.0) {
            return Err(Error::Stored { what: "ciphertext has a noise of no variance" });
        }
        let words = words.iter().map(|&w| Rounding::lift(ctx, w, rounding.mask_bits)).collect();
        Ok(Self::of(words, ctx.params().n(), Some(rounding), ANYTHING, variance))
    }

    fn of(words: Vec<u64>, degree: usize, rounding: Option<Rounding>, input: u64, variance: f64) -> Self {
        let name = [input, digest(words.iter().copied())];
        Self { words, degree, rounding, noise: NoiseSource { name, weight: 1, variance } }
    }

    /// Its words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
    /// The bits that words have been rounded to, if they have.
    #[must_use]
    pub fn rounding(&self) -> Option<Rounding> {
        self.rounding
    }
    /// The variance of the noise of a coefficient over Q squared.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.noise.variance
    }
    /// Ciphertexts that may share it.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        8 * self.words.len()
    }

    /// The noise of coefficient `at`: it may depend in any way on those of other coefficients, and of all that has the same input.
    pub(super) fn source(&self, at: usize) -> NoiseSource {
        let [input, name] = self.noise.name;
        NoiseSource::new(input, digest([name, at as u64].into_iter()), [0, 0], 1, self.noise.variance)
    }

    /// The mask of coefficient `at`, a word for each coordinate of the secret: coefficients of `X^-at A(X^-1)`.
    pub(super) fn turned(&self, ctx: &LweContext, at: usize) -> Vec<u64> {
        let (m, dimension) = (ctx.modulus(), ctx.params().coordinates());
        let mut words = Vec::with_capacity(self.words.len());
        for column in self.words.chunks_exact(self.degree) {
            words.extend(column[..=at].iter().rev());
            words.extend(column[at + 1..].iter().rev().map(|&x| m.neg(x)));
        }
        words.truncate(dimension);
        words
    }
}
