//! SchemeSwitches: slots of CKKS ciphertexts as LWE ciphertexts of a FHEW engine, for what polynomials approximate badly.
//!
//! The conversion to FHEW starts like a bootstrap: slots become coefficients modulo q0, scaled to the part of the torus that gates, tables or
//! signs expect. A ring switch then changes the secret to that of the FHEW engine, and each coefficient is extracted as an LWE ciphertext.
//! The conversion from FHEW packs bits as coefficients (repacking) and ends like a bootstrap.

mod from_fhew;
mod integers;
mod key;
mod to_fhew;

pub use from_fhew::Bits;
pub use integers::{IntegerSchemeSwitch, IntegerSchemeSwitchKey};
pub use key::SchemeSwitchKey;
pub use to_fhew::{Parts, Reading};

use crate::fhew;
use crate::runtime::{machine, Cache};
use crate::{ckks, Error, MemoryError, ParameterError};
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::Pipeline;
use aglet_rlwe::lwe::LweContext;
use aglet_rlwe::ring_switch;
use aglet_schemes::ckks::CkksTransform;
use std::sync::Arc;
use to_fhew::Conversion;

/// Bytes in memory that so many values take in the conversion from FHEW, beside keys: scaled, and as samples that are merged.
fn packing_bytes(fhew: &LweContext, values: usize) -> u64 {
    let params = fhew.params();
    8u64.saturating_mul(values as u64).saturating_mul((2 * params.coordinates() + 1 + params.n()) as u64)
}

/// Refuses more values of a FHEW engine than fit into memory, before they are allocated.
fn fits_cells(fhew: &LweContext, values: usize) -> Result<(), Error> {
    let needed = 8u64.saturating_mul(values as u64).saturating_mul(fhew.params().coordinates() as u64 + 1);
    fits_values(values, needed)
}

/// Refuses work on so many values of a FHEW engine that needs more memory than there is.
fn fits_values(values: usize, needed: u64) -> Result<(), Error> {
    match machine::memory_available() {
        Some(free) if needed > free => Err(MemoryError::Switched { count: values, needed, available: free }.into()),
        _ => Ok(()),
    }
}

type ToFhewPipeline = Pipeline<SlotsFirst, CkksTransform>;

/// How many conversions to FHEW a switch keeps with encoded linear maps.
const PIPELINES: usize = 4;

/// A CKKS engine and a FHEW engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct SchemeSwitch {
    pub(crate) slots: Arc<ckks::Engine>,
    pub(crate) fhew: Arc<fhew::Engine>,
    pub(crate) between: Arc<ring_switch::RingSwitch>,
    pipelines: Cache<Conversion, ToFhewPipeline, PIPELINES>,
}

impl SchemeSwitch {
    /// A switch between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that do not bootstrap, or without raising the modulus; a modulus of the FHEW engine that has no ring of this degree.
    pub fn new(slots: impl Into<Arc<ckks::Engine>>, fhew: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (slots, fhew) = (slots.into(), fhew.into());
        if !slots.can_bootstrap() || !BootstrapKind::of(slots.params()).rules().raises_modulus() {
            return Err(ParameterError::NoSwitch { name: slots.params().name().into() }.into());
        }
        let (log_n, kernels) = (slots.params().log_n(), slots.runtime.kernels());
        let between = Arc::new(slots.run(|| Ok(ring_switch::RingSwitch::new(&fhew.ctx, log_n, kernels)?))?);
        slots.runtime.serves(between.pool());
        Ok(Self { slots, fhew, between, pipelines: Cache::default() })
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
    /// The engine of FHEW.
    #[must_use]
    pub fn fhew(&self) -> &fhew::Engine {
        &self.fhew
    }
    /// Bytes in memory that so many values take in the conversion from FHEW, beside keys and what a bootstrap takes.
    #[must_use]
    pub fn packing_bytes(&self, values: usize) -> u64 {
        packing_bytes(&self.fhew.ctx, values)
    }
}
