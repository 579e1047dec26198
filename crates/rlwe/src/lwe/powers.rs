//! GLWE samples times powers of X: what many sums of products are made of.

use super::sources::Sources;
use super::{GlweSample, LweCiphertext, LweContext};
use aglet_ring::blind::{weighted_sum, Selection};
use aglet_ring::small::Words;
use std::collections::BTreeMap;

/// Terms of a [`GlweSample::product`] of several samples: for each its sample, j and w.
pub type Terms = [(usize, usize, i64)];

/// Masks of samples, each times some powers of X, which are computed once for all sums.
pub struct Powers<'a> {
    samples: &'a [GlweSample],
    masks: BTreeMap<(usize, usize), Words>,
}

/// Words of a mask that sums are made of at a time.
const PART: usize = 256;

impl<'a> Powers<'a> {
    /// Of the sample with a number, times `X^j`, for each pair of the number and j.
    ///
    /// # Panics
    /// If there is no such sample, or j is N or more.
    #[must_use]
    pub fn of(ctx: &LweContext, samples: &'a [GlweSample], powers: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let (m, n, count) = (ctx.modulus(), ctx.params().n(), ctx.params().coordinates());
        let power = |(i, at): (usize, usize)| {
            let mut words = Words::zeros(count);
            for (column, out) in samples[i].words()[..count].chunks_exact(n).zip(words.chunks_exact_mut(n)) {
                let (stay, wrap) = column.split_at(n - at);
                out[at..].copy_from_slice(stay);
                out.iter_mut().zip(wrap).for_each(|(out, &x)| *out = m.neg(x));
            }
            ((i, at), words)
        };
        Self { samples, masks: powers.into_iter().map(power).collect() }
    }

    /// Sums of [`GlweSample::product`]s of several samples.
    ///
    /// # Panics
    /// If there is no such power.
    #[must_use]
    pub fn sums(&self, ctx: &LweContext, all: &[&Terms]) -> Vec<LweCiphertext> {
        let masks = self.masks(ctx, all);
        let finished =
            all.iter().zip(masks).map(|(terms, mask)| self.finished(ctx, terms, &mask, self.body(ctx, terms)));
        finished.collect()
    }

    /// The masks of sums, times the power that is coefficient 0.
    fn masks(&self, ctx: &LweContext, all: &[&Terms]) -> Vec<Vec<u64>> {
        let (m, count) = (ctx.modulus(), ctx.params().coordinates());
        let weighted = |terms: &&Terms| -> Vec<(&Words, u64)> {
            terms.iter().map(|&(i, at, w)| (&self.masks[&(i, at)], m.reduce_i64(w))).collect()
        };
        let weighted: Vec<_> = all.iter().map(weighted).collect();
        // Part by part, so that what all sums read stays in the cache.
        let mut masks = vec![vec![0; count]; all.len()];
        let mut terms = Vec::new();
        for first in (0..count).step_by(PART) {
            for (own, mask) in weighted.iter().zip(&mut masks) {
                let end = count.min(first + PART);
                terms.clear();
                terms.extend(own.iter().map(|(words, w)| (&words[first..end], *w)));
                weighted_sum(ctx.table(), &terms, &mut mask[first..end]);
            }
        }
        masks
    }

    /// The body of a sum: coefficient 0 of `w X^j` times the bodies.
    fn body(&self, ctx: &LweContext, terms: &Terms) -> u64 {
        let (m, n, count) = (ctx.modulus(), ctx.params().n(), ctx.params().coordinates());
        let body = |&(i, at, w): &(usize, usize, i64)| {
            let body = &self.samples[i].words()[count..];
            m.mul(m.reduce_i64(w), if at == 0 { body[0] } else { m.neg(body[n - at]) })
        };
        terms.iter().map(body).fold(0, |sum, x| m.add(sum, x))
    }

    /// The ciphertext of a sum of these terms.
    fn finished(&self, ctx: &LweContext, terms: &Terms, mask: &[u64], body: u64) -> LweCiphertext {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let mut words = Vec::with_capacity(mask.len() + 1);
        for column in mask.chunks_exact(n) {
            words.push(column[0]);
            words.extend(column[1..].iter().rev().map(|&x| m.neg(x)));
        }
        words.push(body);
        let sources = terms.iter().flat_map(|&(i, at, w)| self.samples[i].sources(n, at, w));
        LweCiphertext::new(words, self.samples[0].key(), Sources::new(ctx, sources.collect()))
    }
}

/// Sums of products that many others are small multiples of: those of the single entries of tables.
pub struct Selectors<'a> {
    powers: Powers<'a>,
    masks: Selection,
    bodies: Vec<u64>,
}

impl<'a> Selectors<'a> {
    /// Of these sums.
    ///
    /// # Panics
    /// As [`Powers::sums`].
    #[must_use]
    pub fn of(ctx: &LweContext, powers: Powers<'a>, all: &[&Terms]) -> Self {
        let masks = Selection::of(&powers.masks(ctx, all));
        let bodies = all.iter().map(|terms| powers.body(ctx, terms)).collect();
        Self { powers, masks, bodies }
    }

    /// Sums of so many times each, with the words of [`Powers::sums`] of what the terms come to, which are given too.
    ///
    /// # Panics
    /// If there are other weights than sums, or one is [`Selection::WEIGHTS`] or more.
    #[must_use]
    pub fn sums(&self, ctx: &LweContext, all: &[(&[u8], &Terms)]) -> Vec<LweCiphertext> {
        let (m, count) = (ctx.modulus(), ctx.params().coordinates());
        let weights: Vec<&[u8]> = all.iter().map(|own| own.0).collect();
        let masks = self.masks.sums(ctx.table(), &weights);
        let finished = all.iter().zip(masks.chunks_exact(count)).map(|((weights, terms), mask)| {
            let body = self.bodies.iter().zip(*weights).map(|(&x, &w)| u128::from(x) * u128::from(w)).sum();
            self.powers.finished(ctx, terms, mask, m.reduce_u128(body))
        });
        finished.collect()
    }
}
