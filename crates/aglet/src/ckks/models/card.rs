//! The memory of a card that a bootstrap will take, before anything goes up.

use super::cost;
pub use crate::card_memory::CardMemory;
use crate::ckks::BootstrapCircuit;
use crate::{card_memory, Error};
use aglet_bootstrap::Bootstrapper;

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
            keys: circuit.card_key_bytes()? + circuit.users_card_bytes()?,
            maps: circuit.encoded_bytes()?,
            tables: tables(circuit)?,
            working,
        })
    }
}

/// The tables of all rings of a circuit.
fn tables(circuit: &BootstrapCircuit) -> Result<usize, Error> {
    let packed = if circuit.packed_needed().is_empty() { None } else { Some(circuit.packed_params()?) };
    card_memory::tables([Some(&circuit.params), packed.as_ref()].into_iter().flatten())
}
