//! GLWE samples times powers of X: what many sums of products are made of.

use super::sources::Sources;
use super::{GlweSample, LweCiphertext, LweContext};
use aglet_ring::blind::weighted_sum;
use aglet_ring::small::Words;
use std::collections::BTreeMap;

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

    /// Sums of [`GlweSample::product`]s of several samples: for each sum its sample, j and w.
    ///
    /// # Panics
    /// If there is no such power.
    #[must_use]
    pub fn sums(&self, ctx: &LweContext, all: &[&[(usize, usize, i64)]]) -> Vec<LweCiphertext> {
        let (m, n, count) = (ctx.modulus(), ctx.params().n(), ctx.params().coordinates());
        let weighted = |terms: &&[(usize, usize, i64)]| -> Vec<(&Words, u64)> {
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
        let finished = all.iter().zip(masks).map(|(terms, mask)| {
            let mut words = Vec::with_capacity(count + 1);
            for column in mask.chunks_exact(n) {
                words.push(column[0]);
                words.extend(column[1..].iter().rev().map(|&x| m.neg(x)));
            }
            // Coefficient 0 of `w X^j` times the body.
            let body = |&(i, at, w): &(usize, usize, i64)| {
                let body = &self.samples[i].words()[count..];
                m.mul(m.reduce_i64(w), if at == 0 { body[0] } else { m.neg(body[n - at]) })
            };
            words.push(terms.iter().map(body).fold(0, |sum, x| m.add(sum, x)));
            let sources = terms.iter().flat_map(|&(i, at, w)| self.samples[i].sources(n, at, w));
            LweCiphertext::new(words, self.samples[0].key(), Sources::new(ctx, sources.collect()))
        });
        finished.collect()
    }
}
