//! The memory of a card that a bootstrap will take, before anything goes up.

use super::cost;
pub use crate::card_memory::CardMemory;
use crate::ckks::BootstrapCircuit;
use crate::{card_memory, Error};
use aglet_bootstrap::{Bootstrapper, KeyNeed};
use aglet_rlwe::KeySwitchSpec;
use std::collections::BTreeMap;

impl CardMemory {
    /// Forecasts the memory of a bootstrap circuit.
    ///
    /// # Errors
    /// Those of the plan; a bootstrap circuit that was made passes.
    pub fn of(circuit: &BootstrapCircuit, count: usize) -> Result<Self, Error> {
        Self::with(circuit, cost::counted(circuit, cost::key_shapes(circuit)?, count)?.card)
    }

    /// The same of the stages from this one on. All maps are encoded together.
    pub(crate) fn from_stage(circuit: &BootstrapCircuit, count: usize, from: usize) -> Result<Self, Error> {
        if from == 0 {
            return Self::of(circuit, count);
        }
        let working = cost::counted_from(circuit, cost::key_shapes(circuit)?, (count, from))?.card;
        let own = key_bytes(circuit, &circuit.needs()?.split_off(from).concat())?;
        Ok(Self { keys: own + circuit.users_card_bytes()?, ..Self::with(circuit, working)? })
    }

    /// [`CardMemory::of`], if the bytes of the polynomials of a run are known.
    pub(super) fn with(circuit: &BootstrapCircuit, working: usize) -> Result<Self, Error> {
        let (packed, _) = circuit.packed_key_bytes()?;
        Ok(Self {
            keys: packed + key_bytes(circuit, &circuit.needs()?.concat())? + circuit.users_card_bytes()?,
            maps: circuit.encoded_bytes()?,
            tables: tables(circuit)?,
            working,
        })
    }
}

/// Bytes on a card of those keys of a bootstrap key that are needed. Its polynomials are there whole, as they were made, perhaps for a longer
/// chain; digits that the chain of the circuit has not are not there.
pub(crate) fn key_bytes(circuit: &BootstrapCircuit, needs: &[KeyNeed]) -> Result<usize, Error> {
    let (made_for, keys) = cost::key_circuit(circuit)?.keys()?;
    let on_chain = |KeyNeed { role, spec }: KeyNeed| {
        let part = spec.for_subset(&made_for, &circuit.params).spec;
        let whole = KeySwitchSpec { digits: part.digits.clone(), ..spec };
        (role, part.q_limbs, whole.card_bytes(made_for.n()))
    };
    // Of one role and number of limbs the last counts, as in a set of keys.
    let keys: BTreeMap<_, _> =
        keys.into_iter().map(on_chain).map(|(role, limbs, bytes)| ((role, limbs), bytes)).collect();
    let found = |need: &KeyNeed| keys.range(need.place()..=(need.role, usize::MAX)).next();
    let met: BTreeMap<_, _> = needs.iter().filter_map(found).collect();
    Ok(met.into_values().sum())
}

/// The tables of all rings of a circuit.
fn tables(circuit: &BootstrapCircuit) -> Result<usize, Error> {
    let packed = if circuit.packed_needed().is_empty() { None } else { Some(circuit.packed_params()?) };
    card_memory::tables([Some(&circuit.params), packed.as_ref()].into_iter().flatten())
}
