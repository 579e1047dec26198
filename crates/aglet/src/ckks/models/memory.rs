//! The memory that a bootstrap will take, before a key exists.

use super::cost;
use crate::ckks::engine::user_limbs;
use crate::ckks::Route;
use crate::Error;
use aglet_bootstrap::slots_first::steps::SlotsFirst;
use aglet_bootstrap::CkksStep;
use aglet_ring::Demand;
use aglet_rlwe::KeySwitchSpec;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;

/// What a process has beside all that is counted: an interpreter with numpy, this library, and what allocators keep of the
/// making of plans and matrices. Measured.
const PROCESS: usize = 100 << 20;

/// How much more buffers than in the order of one thread are out at once where two threads or more run, in percent. Measured.
const AT_ONCE: usize = 12;

/// What a process takes that makes the keys of a bootstrap and bootstraps, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The bootstrap key.
    pub bootstrap_key: usize,
    /// The relinearization and the conjugation key.
    pub other_keys: usize,
    /// The bootstrap key and those, when they are stored.
    pub stored_keys: usize,
    /// The encoded linear maps.
    pub matrices: usize,
    /// The polynomials of a run, which stay with the engine.
    pub scratch: usize,
    /// Tables, the linear maps as doubles, the secret and the public key, and the process itself.
    pub base: usize,
}

impl Memory {
    /// Forecasts the memory of a route, without the rotation key of a small one; `params` are those of the engine.
    ///
    /// # Errors
    /// Those of the plan; a route that was made passes.
    pub fn of(params: &CkksParams, route: &Route) -> Result<Self, Error> {
        Self::with(params, route, &cost::demand(route, cost::key_shapes(params, route)?, 1)?)
    }

    /// [`Memory::of`], where the scratch of a run is known.
    pub(super) fn with(params: &CkksParams, route: &Route, scratch: &Demand) -> Result<Self, Error> {
        let (bootstrap_key, stored) = route.key_bytes(params)?;
        let arithmetic = KeySwitchSpec::balanced(params, params.role(Role::EvalMod).end)?;
        Ok(Self {
            bootstrap_key,
            other_keys: 2 * arithmetic.byte_count(params.n()),
            stored_keys: stored + 2 * arithmetic.stored_bytes(params)?,
            matrices: route.matrix_bytes(params)?,
            scratch: at_once(scratch),
            base: PROCESS + base(params, route),
        })
    }

    /// All of it.
    pub fn peak(&self) -> usize {
        self.bootstrap_key + self.other_keys + self.matrices + self.scratch + self.base
    }
}

/// Bytes of buffers that are out at once.
pub(super) fn at_once(scratch: &Demand) -> usize {
    scratch.bytes() / 100 * (100 + AT_ONCE)
}

/// What an engine with a secret and a public key holds beside evaluation keys, matrices and scratch.
fn base(params: &CkksParams, route: &Route) -> usize {
    let primes = params.q().len() + params.spare().len() + params.p().len();
    // A prime has a row of the secret key, and tables as large as one.
    let rows = 2 * primes + 2 * user_limbs(params);
    let entries = route.plan.stages().iter().map(|stage| match &stage.step {
        CkksStep::SlotsFirst(SlotsFirst::Apply(step)) => step.map.stored_entries(),
        CkksStep::SlotsFirst(SlotsFirst::RaiseMap(step)) => step.map.stored_entries(),
        _ => 0,
    });
    // The doubles of a map, and a copy of them that is cut into giant steps.
    rows * params.n() * 8 + 2 * 16 * entries.sum::<usize>()
}
