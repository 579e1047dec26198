//! The memory that a bootstrap will take, before a key exists.

use super::cost;
use crate::ckks::engine::user_limbs;
use crate::ckks::BootstrapCircuit;
use crate::{process_memory, Error};
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::Bootstrapper;
use aglet_bootstrap::CkksStep;
use aglet_ring::Demand;
use aglet_rlwe::KeySwitchSpec;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;

/// The bytes of a process that makes the keys of a bootstrap and bootstraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The bootstrap key.
    pub bootstrap_key: usize,
    /// The relinearization and the conjugation key.
    pub other_keys: usize,
    /// The bytes of all three keys when stored.
    pub stored_keys: usize,
    /// The encoded linear maps.
    pub matrices: usize,
    /// The polynomials of a run, which the engine keeps.
    pub scratch: usize,
    /// Tables, the linear maps as doubles, the secret and the public key, and the process itself.
    pub base: usize,
}

impl Memory {
    /// Forecasts the memory of a bootstrap circuit, without the rotation key of a small one; `params` are those of the engine.
    ///
    /// # Errors
    /// Those of the plan; a bootstrap circuit that was made passes.
    pub fn of(circuit: &BootstrapCircuit) -> Result<Self, Error> {
        Self::with(circuit, &cost::demand(circuit, cost::key_shapes(circuit)?, 1)?)
    }

    /// [`Memory::of`], if the scratch memory of a run is known.
    pub(super) fn with(circuit: &BootstrapCircuit, scratch: &Demand) -> Result<Self, Error> {
        let params = &circuit.whole;
        let (bootstrap_key, stored) = circuit.key_bytes()?;
        let arithmetic = KeySwitchSpec::balanced(params, params.role(Role::EvalMod).end)?;
        Ok(Self {
            bootstrap_key,
            other_keys: 2 * arithmetic.byte_count(params)?,
            stored_keys: stored + 2 * arithmetic.stored_bytes(params)?,
            matrices: circuit.encoded_bytes()?,
            scratch: process_memory::at_once(scratch),
            base: base(params, circuit),
        })
    }

    /// All of it.
    pub fn peak(&self) -> usize {
        self.bootstrap_key + self.other_keys + self.matrices + self.scratch + self.base
    }
}

/// What a process with a secret and a public key holds beside evaluation keys, matrices and scratch.
fn base(params: &CkksParams, circuit: &BootstrapCircuit) -> usize {
    let primes = params.q().len() + params.spare().len() + params.p().len();
    let entries = circuit.plan.stages().iter().map(|stage| match &stage.step {
        CkksStep::SlotsFirst(SlotsFirst::Apply(step)) => step.map.stored_entries(),
        CkksStep::SlotsFirst(SlotsFirst::RaiseMap(step)) => step.map.stored_entries(),
        _ => 0,
    });
    // The doubles of a map, and a copy of them that is cut into giant steps.
    process_memory::base(params.n(), primes, user_limbs(params)) + 2 * 16 * entries.sum::<usize>()
}
