//! The memory of a card that a bootstrap will take, before anything goes up.

use super::cost;
use crate::ckks::BootstrapCircuit;
use crate::{Error, MemoryError};
use aglet_bootstrap::Bootstrapper;
use aglet_cuda::Arithmetic;
use aglet_ring::Modulus;
use std::collections::BTreeMap;

/// The bytes that `count` bootstraps side by side take on a card. It has one that computes with doubles; with words alone the tables of
/// primes below 2^50 are twice as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardMemory {
    /// The bootstrap key, and those of users that it meets.
    pub keys: usize,
    /// The linear maps.
    pub maps: usize,
    /// The roots of unity of all primes.
    pub tables: usize,
    /// Inputs, results and what comes between, at the stage that has most.
    pub working: usize,
}

impl CardMemory {
    /// Forecasts the memory of a bootstrap circuit.
    ///
    /// # Errors
    /// Those of the plan; a bootstrap circuit that was made passes.
    pub fn of(circuit: &BootstrapCircuit, count: usize) -> Result<Self, Error> {
        Self::with(circuit, cost::counted(circuit, cost::key_shapes(circuit)?, count)?.card)
    }

    /// [`CardMemory::of`], if the bytes of the polynomials of a run are known.
    pub(super) fn with(circuit: &BootstrapCircuit, working: usize) -> Result<Self, Error> {
        Ok(Self {
            keys: circuit.key_bytes()?.0 + circuit.users_key_bytes()?,
            maps: circuit.encoded_bytes()?,
            tables: tables(circuit)?,
            working,
        })
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys + self.maps + self.tables + self.working
    }

    /// Refuses a bootstrap that a card with room for so many bytes cannot do.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn fits(&self, room: u64) -> Result<(), Error> {
        let needed = self.bytes() as u64;
        match needed > room {
            true => Err(MemoryError::Card { needed, keys: self.keys as u64, room }.into()),
            false => Ok(()),
        }
    }
}

/// Powers of the roots of all primes, forwards and backwards.
fn tables(circuit: &BootstrapCircuit) -> Result<usize, Error> {
    let packed = if circuit.packed_needed().is_empty() { None } else { Some(circuit.packed_params()?) };
    let params = [Some(&circuit.params), packed.as_ref()];
    let primes = params.into_iter().flatten().flat_map(|params| params.q().iter().chain(params.p()));
    let words: BTreeMap<u64, usize> = primes
        .map(|&prime| Ok((prime, Arithmetic::F50.multiplier_words(&Modulus::new(prime)?))))
        .collect::<Result<_, Error>>()?;
    Ok(2 * 8 * circuit.params.n() * words.values().sum::<usize>())
}
