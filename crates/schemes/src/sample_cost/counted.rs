//! Memory of polynomials that are only counted: on this machine, whose buffers grow in steps, and on a card, which has as many words as
//! there are residues.

use aglet_ring::demand::buffer_words;
use aglet_ring::Demand;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is in use now, and the most so far.
#[derive(Debug, Clone, Default)]
struct InUse {
    demand: Demand,
    /// Bytes on a card, and the most so far.
    there: usize,
    most_there: usize,
    /// Whether this machine takes nothing for what a card does.
    there_alone: bool,
}

/// The memory in use now, and the largest so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<InUse>>);

impl Ledger {
    fn in_use(&self) -> MutexGuard<'_, InUse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Polynomials of degree `n`: with so many limbs on this machine, with so many on a card.
    pub(super) fn lend(&self, n: usize, [here, there]: [usize; 2]) -> CountedMemory {
        let mut in_use = self.in_use();
        let here = if in_use.there_alone { 0 } else { here };
        let (words, bytes) = (buffer_words(n, here), 8 * n * there);
        if words > 0 {
            in_use.demand.lend(words);
        }
        in_use.there += bytes;
        in_use.most_there = in_use.most_there.max(in_use.there);
        drop(in_use);
        CountedMemory { words, bytes, ledger: self.clone() }
    }
    /// Whether what is lent from now on is on a card alone.
    pub(super) fn there_alone(&self, alone: bool) {
        self.in_use().there_alone = alone;
    }
    /// The demand so far.
    pub(super) fn so_far(&self) -> Demand {
        self.in_use().demand.clone()
    }
    /// The most bytes so far that a card has at one time.
    pub(super) fn most_there(&self) -> usize {
        self.in_use().most_there
    }
}

/// The memory of a polynomial, until this is dropped.
#[derive(Debug)]
#[must_use = "what nobody holds is not counted"]
pub struct CountedMemory {
    words: usize,
    bytes: usize,
    ledger: Ledger,
}

impl CountedMemory {
    /// What is held here, and what another one holds on a card.
    pub(super) fn beside(mut self, mut there: Self) -> Self {
        self.bytes += std::mem::take(&mut there.bytes);
        self
    }
}

impl Drop for CountedMemory {
    fn drop(&mut self) {
        let mut in_use = self.ledger.in_use();
        if self.words > 0 {
            in_use.demand.give_back(self.words);
        }
        in_use.there -= self.bytes;
    }
}
