//! The memory of a card that bootstraps and products of RLWE take there, before anything goes up.

use crate::{Error, MemoryError};
use aglet_cuda::Arithmetic;
use aglet_ring::{Backend, HostRing, Modulus};
use aglet_rlwe::Params;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Both ways of a scheme switch, in sentences.
pub(crate) const TO_FHEW: &str = "a conversion to FHEW";
pub(crate) const FROM_FHEW: &str = "a conversion from FHEW";

/// Bytes on a card that the stages of a bootstrap are not known to take, of a key that is met before and stays, or of longer inputs; and those
/// of them that are there already.
pub(crate) type More = (usize, usize);

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

    /// Refuses work for which a card has too little left beside what others have there. So many bytes of it are there already, and the tables
    /// that these rings have.
    pub(crate) fn beside(
        &self,
        backend: &dyn Backend,
        rings: &[&HostRing],
        (what, there): (&'static str, usize),
    ) -> Result<(), Error> {
        match backend.lacks(self.bytes().saturating_sub(there) as u64, rings)? {
            Some((needed, free)) => Err(MemoryError::CardLeft { what, needed, free }.into()),
            None => Ok(()),
        }
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Value {
        let Self { keys, maps, tables, working } = self;
        json!({ "keys": keys, "maps": maps, "tables": tables, "working": working, "all": self.bytes() })
    }
}

/// What a card was found to have room for. Asking one costs a call of its driver, so what takes no more is not asked again.
#[derive(Default)]
pub(crate) struct Fitted(AtomicU64);

/// There is no card.
const NO_CARD: u64 = u64::MAX;

impl Fitted {
    fn largest(&self, backend: &dyn Backend) -> Result<u64, Error> {
        if self.0.load(Ordering::Relaxed) == 0 {
            let first = if backend.room()?.is_some() { 1 } else { NO_CARD };
            self.0.fetch_max(first, Ordering::Relaxed);
        }
        Ok(self.0.load(Ordering::Relaxed))
    }

    /// Whether there is a card.
    pub(crate) fn on_card(&self, backend: &dyn Backend) -> Result<bool, Error> {
        Ok(self.largest(backend)? != NO_CARD)
    }

    /// Refuses what a card has no room for, if the memory of it is known; gives what it takes on a card that has room.
    pub(crate) fn checked(
        &self,
        backend: &dyn Backend,
        memory: impl FnOnce() -> Result<Option<CardMemory>, Error>,
        refusal: impl FnOnce(CardMemory, u64, u64) -> MemoryError,
    ) -> Result<Option<CardMemory>, Error> {
        let largest = self.largest(backend)?;
        if largest == NO_CARD {
            return Ok(None);
        }
        let Some(memory) = memory()? else { return Ok(None) };
        let needed = memory.bytes() as u64;
        if let Some(room) = if needed > largest { backend.room()? } else { None } {
            if needed > room {
                return Err(refusal(memory, needed, room).into());
            }
            self.0.fetch_max(needed, Ordering::Relaxed);
        }
        Ok(Some(memory))
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
