//! How many buffers of which sizes are lent at one time: what a run will want of a [`Pool`](crate::pool::Pool).

use std::collections::BTreeMap;

/// Limbs by which buffers of polynomials grow.
const GRAIN: usize = 8;

/// Words from the start of one limb to the start of the next. Limbs of large rings lie seventeen cache lines more than N
/// apart: rows a power of two apart would compete for the same lines of every cache.
pub(crate) fn stride(n: usize) -> usize {
    n + gap(n)
}

/// The words between two limbs.
pub(crate) fn gap(n: usize) -> usize {
    if n >= 1 << 12 {
        17 * 8
    } else {
        0
    }
}

/// Words of the buffer of a polynomial of so many limbs, in a ring of degree `n`.
pub fn buffer_words(n: usize, limbs: usize) -> usize {
    limbs.next_multiple_of(GRAIN) * stride(n)
}

/// The most buffers that were lent at one time, by size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// By size in words: how many are lent, and the most that were lent at one time of this size or larger.
    sizes: BTreeMap<usize, (isize, isize)>,
}

impl Demand {
    /// A buffer of so many words is lent.
    pub fn lend(&mut self, words: usize) {
        self.sizes.entry(words).or_default().0 += 1;
        let mut larger = 0;
        for (lent, most) in self.sizes.values_mut().rev() {
            larger += *lent;
            *most = larger.max(*most);
        }
    }

    /// One that was lent, here or before, comes back.
    pub fn give_back(&mut self, words: usize) {
        self.sizes.entry(words).or_default().0 -= 1;
    }

    /// The buffers, as sizes in words and their numbers, that are enough where a large one may be lent for a small one.
    pub fn mix(&self) -> Vec<(usize, usize)> {
        let mut so_far = 0;
        let more = self.sizes.iter().rev().map(|(&words, &(_, most))| {
            let count = (most - so_far).max(0);
            so_far += count;
            (words, count.unsigned_abs())
        });
        more.filter(|&(_, count)| count > 0).collect()
    }

    /// Bytes of these.
    pub fn bytes(&self) -> usize {
        self.mix().into_iter().map(|(words, count)| words * count * 8).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_serve_for_small_ones() {
        let mut demand = Demand::default();
        demand.lend(40);
        demand.lend(8);
        demand.give_back(40);
        (0..3).for_each(|_| demand.lend(16));
        assert_eq!(demand.mix(), [(40, 1), (16, 2), (8, 1)]);
        assert_eq!(demand.bytes(), 8 * (40 + 2 * 16 + 8));
        // One that was lent before makes no room.
        demand.give_back(24);
        assert_eq!(demand.bytes(), 8 * (40 + 2 * 16 + 8));
    }

    #[test]
    fn buffers_grow_by_eight_limbs() {
        assert_eq!([1, 8, 9].map(|limbs| buffer_words(64, limbs)), [512, 512, 1024]);
        assert!(buffer_words(1 << 16, 8) > 8 << 16);
    }
}
