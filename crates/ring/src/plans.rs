//! Plans of operations by the shape that they are for: made at first use by `ops`, kept as long as the ring.

use crate::basis::BaseConverter;
use crate::process::Lock;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Limbs of the polynomial, limbs of the chain and special limbs of the result, and the limbs of every digit.
pub(crate) type DigitShape = (usize, usize, usize, Vec<Vec<usize>>);

/// What a ring keeps of each kind.
#[derive(Default)]
pub(crate) struct Plans {
    /// By primes of the sources and of the targets.
    pub(crate) converters: Cache<(Vec<usize>, Vec<usize>), BaseConverter>,
    pub(crate) decompositions: Cache<DigitShape, Decomposition>,
    /// By primes of the limbs of the dividend, primes of the result, and the power of two that is multiplied by.
    pub(crate) divisions: Cache<(Vec<usize>, usize, u32), Division>,
}

/// Values that are made once for each key.
pub(crate) struct Cache<K, V>(Lock<HashMap<K, Arc<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Lock::default())
    }
}

impl<K: Hash + Eq, V> Cache<K, V> {
    /// The value of a key. Two threads that ask for a new one at a time may both make it; they get the same.
    pub(crate) fn get(&self, key: K, make: impl FnOnce(&K) -> V) -> Arc<V> {
        let found = self.0.lock().get(&key).cloned();
        found.unwrap_or_else(|| {
            let made = Arc::new(make(&key));
            self.0.lock().entry(key).or_insert(made).clone()
        })
    }
}

/// How polynomials with so many limbs of the chain are cut into digits, and what each is raised to.
pub(crate) struct Decomposition {
    /// For each limb of the polynomial the digit that it is of and its place among the limbs of that digit.
    pub(crate) places: Vec<Option<(usize, usize)>>,
    pub(crate) digits: Vec<Digit>,
}

pub(crate) struct Digit {
    /// For each limb of the result its place among the others, unless it is its own.
    pub(crate) rows: Vec<Option<usize>>,
    /// The primes of the other limbs of the result, and the conversion to them if there are any.
    pub(crate) others: Vec<usize>,
    pub(crate) converter: Option<Arc<BaseConverter>>,
}

/// Which limbs leave, which stay and which come, with all that the primes alone decide.
pub struct Division {
    /// Limbs of the dividend.
    pub(crate) limbs: usize,
    pub(crate) leaving: Vec<Leaving>,
    pub(crate) converter: Arc<BaseConverter>,
    /// One for each limb of the result.
    pub(crate) rows: Vec<Row>,
    /// Whether the gain is not 1.
    pub(crate) gained: bool,
    pub(crate) ratio: f64,
}

impl Division {
    /// Limbs of the dividend.
    pub fn limbs(&self) -> usize {
        self.limbs
    }
    /// The limbs that leave, in the order of the dividend.
    pub fn leaving(&self) -> &[Leaving] {
        &self.leaving
    }
    /// The limbs of the result, modulo the first primes of the ring.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// A limb of the dividend that leaves.
pub struct Leaving {
    /// Its place in the dividend.
    pub limb: usize,
    /// Its prime of the ring.
    pub prime: usize,
    /// What it is multiplied by on its way to coefficients: the gain and what the conversion wants.
    pub factor: u64,
}

/// A limb of the result.
pub struct Row {
    /// The limb of the dividend that it was, unless its prime has come.
    pub from: Option<usize>,
    /// What the dividend is multiplied by.
    pub gain: u64,
    /// 1 over the primes that leave.
    pub inverse: u64,
}
