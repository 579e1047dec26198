//! Bridges: slots of CKKS ciphertexts as LWE ciphertexts of a look-up engine, for what polynomials approximate badly.
//!
//! The way down is the beginning of a bootstrap: slots become coefficients modulo q0, where a value takes the part of a turn that gates,
//! tables or signs want. A ring switch then leads to the secret of the look-up engine, and every coefficient is an LWE ciphertext. The way
//! up packs bits as coefficients and is the end of a bootstrap.

mod down;
mod integers;
mod key;
mod up;

pub use down::{Parts, Reading};
pub use integers::{IntegerBridge, IntegerBridgeKey};
pub use key::BridgeKey;
pub use up::Bits;

use crate::fhew;
use crate::runtime::{machine, Kept};
use crate::{ckks, Error};
use aglet_bootstrap::slots_first::steps::SlotsFirst;
use aglet_bootstrap::Pipeline;
use aglet_rlwe::bridge;
use aglet_rlwe::lwe::LweContext;
use aglet_schemes::ckks::CkksTransform;
use down::Way;
use std::sync::Arc;

/// Bytes in memory that so many values take on their way up, beside keys: turned, and as samples that are merged.
fn packing_bytes(lookups: &LweContext, values: usize) -> u64 {
    let params = lookups.params();
    8u64.saturating_mul(values as u64).saturating_mul((2 * params.coordinates() + 1 + params.n()) as u64)
}

/// Refuses more values of a look-up engine than fit into memory, before they are allocated.
fn fits_cells(lookups: &LweContext, values: usize) -> Result<(), Error> {
    let needed = 8u64.saturating_mul(values as u64).saturating_mul(lookups.params().coordinates() as u64 + 1);
    fits_values(values, needed)
}

/// Refuses work on so many values of a look-up engine that needs more memory than there is.
fn fits_values(values: usize, needed: u64) -> Result<(), Error> {
    match machine::memory_available() {
        Some(free) if needed > free => Err(Error::KeyMemory(format!(
            "{values} values of this look-up engine need {:.1} GB and {:.1} GB of memory are free; take fewer at once, or free some.",
            needed as f64 / 1e9,
            free as f64 / 1e9
        ))),
        _ => Ok(()),
    }
}

type DownPipeline = Pipeline<SlotsFirst, CkksTransform>;

/// Ways down whose linear maps a bridge keeps encoded.
const WAYS: usize = 4;

/// A CKKS engine and a look-up engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct Bridge {
    pub(crate) slots: Arc<ckks::Engine>,
    pub(crate) lookups: Arc<fhew::Engine>,
    pub(crate) between: Arc<bridge::Bridge>,
    pipelines: Kept<Way, DownPipeline, WAYS>,
}

impl Bridge {
    /// A bridge between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that do not bootstrap, or do by roots of unity; a modulus of the look-up engine that has no ring of this degree.
    pub fn new(slots: impl Into<Arc<ckks::Engine>>, lookups: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (slots, lookups) = (slots.into(), lookups.into());
        if !slots.can_bootstrap() || slots.params().rotor_shape().is_some() {
            return Err(Error::Parameter(format!(
                "Parameters \"{}\" have no primes for slots_to_coeffs, which a bridge begins with; take a set that bootstraps.",
                slots.params().name()
            )));
        }
        let (log_n, kernels) = (slots.params().log_n(), slots.runtime.kernels());
        let between = Arc::new(slots.run(|| Ok(bridge::Bridge::new(&lookups.ctx, log_n, kernels)?))?);
        Ok(Self { slots, lookups, between, pipelines: Kept::default() })
    }

    /// Runs work on the threads of the engine of slots.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.slots.run(work)
    }
    /// Name of the kernels in use.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.slots.backend()
    }
    /// Worker threads of the engine of slots.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.slots.threads()
    }
    /// The engine whose slots are read.
    #[must_use]
    pub fn slots(&self) -> &ckks::Engine {
        &self.slots
    }
    /// The engine of gates and tables.
    #[must_use]
    pub fn lookups(&self) -> &fhew::Engine {
        &self.lookups
    }
    /// Bytes in memory that so many values take on their way up, beside keys and what a bootstrap takes.
    #[must_use]
    pub fn packing_bytes(&self, values: usize) -> u64 {
        packing_bytes(&self.lookups.ctx, values)
    }
}
