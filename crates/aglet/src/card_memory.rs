//! The memory of a card that bootstraps and products of RLWE take there, before anything goes up.

use crate::Error;
use aglet_cuda::Arithmetic;
use aglet_ring::Modulus;
use aglet_rlwe::Params;
use serde_json::{json, Value};
use std::collections::BTreeMap;

/// The bytes that work takes on a card. It has one that computes with doubles; with words alone the tables of primes below 2^50 are twice
/// as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardMemory {
    /// The keys: of a bootstrap, and those of users that it meets.
    pub keys: usize,
    /// The linear maps.
    pub maps: usize,
    /// The roots of unity of all primes.
    pub tables: usize,
    /// Inputs, results and what comes between, at the stage that has most.
    pub working: usize,
}

impl CardMemory {
    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys + self.maps + self.tables + self.working
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Value {
        let Self { keys, maps, tables, working } = self;
        json!({ "keys": keys, "maps": maps, "tables": tables, "working": working, "all": self.bytes() })
    }
}

/// Powers of the roots of all primes of chains on one ring, forwards and backwards.
pub(crate) fn tables<'a>(params: impl IntoIterator<Item = &'a Params>) -> Result<usize, Error> {
    let mut words = BTreeMap::new();
    for params in params {
        for &prime in params.q().iter().chain(params.p()) {
            words.insert(prime, params.n() * Arithmetic::F50.multiplier_words(&Modulus::new(prime)?));
        }
    }
    Ok(2 * 8 * words.values().sum::<usize>())
}
