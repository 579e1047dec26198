//! Memory of polynomials that are only counted.

use aglet_ring::demand::buffer_words;
use aglet_ring::Demand;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The memory in use now, and the largest so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<Demand>>);

impl Ledger {
    fn demand(&self) -> MutexGuard<'_, Demand> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The buffer of a polynomial of so many limbs, in a ring of degree `n`.
    pub(super) fn lend(&self, n: usize, limbs: usize) -> CountedMemory {
        let words = buffer_words(n, limbs);
        self.demand().lend(words);
        CountedMemory { words, ledger: self.clone() }
    }
    /// The demand so far.
    pub(super) fn so_far(&self) -> Demand {
        self.demand().clone()
    }
}

/// The memory of a polynomial, until this is dropped.
#[derive(Debug)]
#[must_use = "what nobody holds is not counted"]
pub struct CountedMemory {
    words: usize,
    ledger: Ledger,
}

impl Drop for CountedMemory {
    fn drop(&mut self) {
        self.ledger.demand().give_back(self.words);
    }
}
