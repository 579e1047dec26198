//! Plans by the shape that they are for: made at first use, kept as long as the ring.

use super::digits::Decomposition;
use super::divide::Division;
use crate::basis::BaseConverter;
use crate::process::Lock;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Limbs of the polynomial, limbs of the chain and special limbs of the result, and the limbs of every digit.
pub(super) type DigitShape = (usize, usize, usize, Vec<Vec<usize>>);

/// What a ring keeps of each kind.
#[derive(Default)]
pub(crate) struct Plans {
    /// By primes of the sources and of the targets.
    pub(super) converters: Cache<(Vec<usize>, Vec<usize>), BaseConverter>,
    pub(super) decompositions: Cache<DigitShape, Decomposition>,
    /// By primes of the limbs of the dividend, primes of the result, and the power of two that is multiplied by.
    pub(super) divisions: Cache<(Vec<usize>, usize, u32), Division>,
}

/// Values that are made once for each key.
pub(super) struct Cache<K, V>(Lock<HashMap<K, Arc<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Lock::default())
    }
}

impl<K: Hash + Eq, V> Cache<K, V> {
    /// The value of a key. Two threads that ask for a new one at a time may both make it; they get the same.
    pub(super) fn get(&self, key: K, make: impl FnOnce(&K) -> V) -> Arc<V> {
        let found = self.0.lock().get(&key).cloned();
        found.unwrap_or_else(|| {
            let made = Arc::new(make(&key));
            self.0.lock().entry(key).or_insert(made).clone()
        })
    }
}
