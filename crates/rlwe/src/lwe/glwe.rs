//! GLWE samples in coefficients: what a blind rotation starts from and what it gives.

use super::sources::{by_input, digest, NoiseSource, Sources};
use super::{LweCiphertext, LweContext, Switched};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::KeyId;
use aglet_ring::blind::Gadget;
use aglet_ring::small::Words;
use std::collections::BTreeMap;

/// `(A_0, .., A_(k-1), B)` with `B - sum A_r S_r = phase + noise` modulo Q: k + 1 columns of N canonical coefficients.
#[derive(Clone)]
pub struct GlweSample {
    words: Words,
    key: KeyId,
    noises: Vec<SampleNoise>,
}

/// A noise of all coefficients, by the names of [`NoiseSource`].
#[derive(Clone, Copy, Debug)]
struct SampleNoise {
    input: u64,
    pattern: u64,
    /// What the start of the rotation was rotated by, below 2N.
    rotation: usize,
    /// What coefficient of the noise is coefficient 0 of the sample, below 2N: beyond N with the other sign.
    shift: usize,
    /// Whether coefficients are independent; if not, each is a pattern of its own.
    coefficients: bool,
    variance: f64,
}

impl SampleNoise {
    /// Coefficient `at` below 2N, times a weight.
    fn source(&self, n: usize, at: usize, weight: i64) -> NoiseSource {
        let at = (at + self.shift) % (2 * n);
        let weight = if at < n { weight } else { -weight };
        if self.coefficients {
            return NoiseSource::new(self.input, self.pattern, [self.rotation, at % n], weight, self.variance);
        }
        let own = digest([self.pattern, (at % n) as u64].into_iter());
        NoiseSource::new(self.input, own, [0, 0], weight, self.variance)
    }
}

impl GlweSample {
    /// One without mask, whose phase everybody sees: a table in the clear, N words below Q.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for another number of words.
    pub fn trivial(ctx: &LweContext, table: &[u64], key: KeyId) -> Result<Self, Error> {
        let (n, coordinates) = (ctx.params().n(), ctx.params().coordinates());
        if table.len() != n {
            return Err(OperandFault::Table { n, found: table.len() }.into());
        }
        let mut words = Words::zeros(coordinates + n);
        words[coordinates..].copy_from_slice(table);
        Ok(Self { words, key, noises: Vec::new() })
    }

    /// From its columns, one after the other, which are chosen and have no noise.
    ///
    /// # Errors
    /// [`Error::BadParameters`] unless there are N words for each of k + 1 columns.
    pub(super) fn exact(ctx: &LweContext, words: Words, key: KeyId) -> Result<Self, Error> {
        check(ctx, &words)?;
        Ok(Self { words, key, noises: Vec::new() })
    }

    /// What the product with a GGSW sample of this name made of a start: the noise of the start stays, that of the product is named by
    /// both.
    ///
    /// # Errors
    /// As [`GlweSample::new`].
    pub(super) fn multiplied(
        ctx: &LweContext,
        words: Words,
        start: &Self,
        (input, variance): (u64, f64),
    ) -> Result<Self, Error> {
        check(ctx, &words)?;
        let rotated = |noise: &SampleNoise| {
            let pattern = digest([noise.pattern, noise.shift as u64, input].into_iter());
            SampleNoise { pattern, rotation: 0, shift: 0, coefficients: false, ..*noise }
        };
        let mut noises: Vec<_> = start.noises.iter().map(rotated).collect();
        let pattern = digest(start.words.iter().copied());
        noises.push(SampleNoise { input, pattern, rotation: 0, shift: 0, coefficients: true, variance });
        Ok(Self { words, key: start.key, noises })
    }

    /// From its columns, one after the other, with a noise of its own of this variance in each coefficient.
    ///
    /// # Errors
    /// [`Error::BadParameters`] unless there are N words for each of k + 1 columns.
    pub fn new(ctx: &LweContext, words: Words, key: KeyId, variance: f64) -> Result<Self, Error> {
        check(ctx, &words)?;
        let input = digest(words.iter().copied());
        let own = SampleNoise { input, pattern: 0, rotation: 0, shift: 0, coefficients: true, variance };
        Ok(Self { words, key, noises: vec![own] })
    }

    /// What a rotation by the exponents of an input made of a start: the noise of the start stays, that of the rotation is named by both, and
    /// by the digit of a rotation that only chooses, see [`super::LweParams::choice_gadget`].
    ///
    /// # Errors
    /// As [`GlweSample::new`].
    pub fn rotated(
        ctx: &LweContext,
        words: Words,
        start: &Self,
        by: &Switched,
        choice: Option<Gadget>,
    ) -> Result<Self, Error> {
        check(ctx, &words)?;
        Ok(Self { words, key: start.key, noises: Self::rotated_noises(ctx, start, by, choice) })
    }

    /// [`GlweSample::extract`] of [`GlweSample::rotated`], where only these words are known: the mask and the body.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for another number of words.
    pub fn extracted(
        ctx: &LweContext,
        words: Vec<u64>,
        (start, by): (&Self, &Switched),
        at: usize,
        choice: Option<Gadget>,
    ) -> Result<LweCiphertext, Error> {
        let (found, expected) = (words.len(), ctx.params().coordinates() + 1);
        if found != expected {
            return Err(OperandFault::Size { what: "ciphertext", measure: "size", found, expected }.into());
        }
        let noises = Self::rotated_noises(ctx, start, by, choice);
        let sources = noises.iter().map(|noise| noise.source(ctx.params().n(), at, 1)).collect();
        Ok(LweCiphertext::new(words, start.key, Sources::new(ctx, sources)))
    }

    /// The noises of what a rotation made of a start.
    fn rotated_noises(ctx: &LweContext, start: &Self, by: &Switched, choice: Option<Gadget>) -> Vec<SampleNoise> {
        let (n, q) = (ctx.params().n(), ctx.modulus().value());
        let input = digest(by.mask.iter().map(|&e| u64::from(e)));
        // A start and its negative may leave noises that are the negatives of one another.
        let negative = start.words.iter().find(|&&w| w != 0).is_some_and(|&w| w > q / 2);
        let signed = start.words.iter().map(|&w| if negative && w != 0 { q - w } else { w });
        let pattern = digest(signed.chain(choice.map(|gadget| u64::from(gadget.log_base))));
        let shift = (usize::from(by.body) + if negative { n } else { 0 }) % (2 * n);
        let rotated = |noise: &SampleNoise| {
            let parts = [noise.pattern, noise.shift as u64, input, u64::from(by.body)];
            SampleNoise { pattern: digest(parts.into_iter()), rotation: 0, shift: 0, coefficients: false, ..*noise }
        };
        let mut noises: Vec<_> = start.noises.iter().map(rotated).collect();
        let variance = choice.map_or(ctx.noise().blind_rotation, |gadget| ctx.params().choice_noise(gadget));
        noises.push(SampleNoise { input, pattern, rotation: shift, shift, coefficients: true, variance });
        noises
    }

    /// The sample, its noise as one of each input that those of the ciphertexts are of, which it was packed from: the largest of any.
    /// What packing added counts to the first input.
    #[must_use]
    pub fn made_of(self, ctx: &LweContext, parts: &[LweCiphertext]) -> Self {
        let mut inputs = BTreeMap::<u64, f64>::new();
        for (input, variance) in parts.iter().flat_map(|part| by_input(ctx, part.sources())) {
            let most = inputs.entry(input).or_default();
            *most = most.max(variance);
        }
        let largest = parts.iter().map(LweCiphertext::variance).fold(0.0, f64::max);
        let (pattern, added) = (digest(self.words.iter().copied()), f64::max(self.variance() - largest, 0.0));
        match inputs.first_entry() {
            Some(mut first) => *first.get_mut() += added,
            None => drop(inputs.insert(pattern, added)),
        }
        let noise =
            |(input, variance)| SampleNoise { input, pattern, rotation: 0, shift: 0, coefficients: false, variance };
        Self { noises: inputs.into_iter().map(noise).collect(), ..self }
    }

    /// The sample, its noise as one that may depend in any way on that of every other sample which says the same of the same key: only the
    /// same coefficient of the same words is the same noise for certain.
    #[must_use]
    pub fn from_key(self, key: KeyId) -> Self {
        self.depending(digest(std::iter::once(key.0)))
    }

    fn depending(self, input: u64) -> Self {
        let (pattern, variance) = (digest(self.words.iter().copied()), self.variance());
        let noise = SampleNoise { input, pattern, rotation: 0, shift: 0, coefficients: false, variance };
        Self { noises: vec![noise], ..self }
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
        self.noises.iter().map(|noise| noise.variance).sum()
    }

    /// `X^(-exponent)` times the sample, for an exponent up to 2N.
    #[must_use]
    pub fn rotated_back(&self, ctx: &LweContext, exponent: u16) -> Self {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let mut words = Words::zeros(self.words.len());
        for (out, column) in words.chunks_exact_mut(n).zip(self.words.chunks_exact(n)) {
            for (i, word) in out.iter_mut().enumerate() {
                let from = (i + usize::from(exponent)) % (2 * n);
                *word = if from < n { column[from] } else { m.neg(column[from - n]) };
            }
        }
        let rotated =
            |noise: &SampleNoise| SampleNoise { shift: (noise.shift + usize::from(exponent)) % (2 * n), ..*noise };
        Self { words, key: self.key, noises: self.noises.iter().map(rotated).collect() }
    }

    /// The constant coefficient of the product with `sum w X^j`, over pairs (j, w) with j < N, as an LWE ciphertext.
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
        let sources = factors.iter().flat_map(|&(at, w)| self.sources(n, at, w));
        LweCiphertext::new(words, self.key, Sources::new(ctx, sources.collect()))
    }

    /// The noises of `w` times the constant coefficient of the product with `X^at`.
    pub(super) fn sources(&self, n: usize, at: usize, w: i64) -> impl Iterator<Item = NoiseSource> + '_ {
        self.noises.iter().map(move |noise| noise.source(n, 2 * n - at, w))
    }

    /// The variance of [`GlweSample::product`] with these factors of what a rotation of a table in the clear gives.
    #[must_use]
    pub fn product_variance(ctx: &LweContext, factors: &[(usize, i64)]) -> f64 {
        let (n, variance) = (ctx.params().n(), ctx.noise().blind_rotation);
        let noise = SampleNoise { input: 0, pattern: 0, rotation: 0, shift: 0, coefficients: true, variance };
        Sources::new(ctx, factors.iter().map(|&(at, w)| noise.source(n, 2 * n - at, w)).collect()).variance()
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
        let sources = self.noises.iter().map(|noise| noise.source(n, at, 1)).collect();
        LweCiphertext::new(words, self.key, Sources::new(ctx, sources))
    }
}

/// Refuses words that are no k + 1 columns.
fn check(ctx: &LweContext, words: &[u64]) -> Result<(), Error> {
    let (found, expected) = (words.len(), ctx.params().coordinates() + ctx.params().n());
    match found == expected {
        true => Ok(()),
        false => Err(OperandFault::Size { what: "sample", measure: "size", found, expected }.into()),
    }
}

impl std::fmt::Debug for GlweSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GlweSample {{ words: {}, key: {} }}", self.words.len(), self.key)
    }
}
