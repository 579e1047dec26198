//! SchemeSwitches: slots of CKKS ciphertexts as LWE ciphertexts of a FHEW engine, for what polynomials approximate badly.
//!
//! The conversion to FHEW starts like a bootstrap: slots become coefficients modulo q0, scaled to the part of the torus that gates, tables or
//! signs expect. A ring switch then changes the secret to that of the FHEW engine, and each coefficient is extracted as an LWE ciphertext.
//! The conversion from FHEW packs bits as coefficients (repacking) and ends like a bootstrap.

mod card;
mod from_fhew;
mod integers;
mod key;
mod side;
mod to_fhew;

pub use from_fhew::Bits;
pub use key::{IntegerSchemeSwitchKey, SchemeSwitchKey, SwitchKey};
pub use to_fhew::{Parts, Reading};

use crate::card_memory::CardMemory;
use crate::fhew;
use crate::runtime::{machine, Cache, Runtime};
use crate::{ckks, integer, Error, MemoryError, ParameterError};
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::Pipeline;
use aglet_rlwe::lwe::LweContext;
use aglet_rlwe::{ring_switch, Context};
use aglet_schemes::ckks::CkksTransform;
use side::SlotEngine;
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

/// An engine with slots that bootstraps and a FHEW engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct Switch<E: SlotEngine> {
    pub(crate) slots: Arc<E>,
    pub(crate) fhew: Arc<fhew::Engine>,
    pub(crate) between: Arc<ring_switch::RingSwitch>,
    /// What conversions were found to take, the latest first.
    kept: E::Kept,
}

/// Of CKKS.
pub type SchemeSwitch = Switch<ckks::Engine>;
/// Of integers.
pub type IntegerSchemeSwitch = Switch<integer::Engine>;

/// Conversions to FHEW that a switch of CKKS keeps encoded, and what a card takes for them.
#[derive(Default)]
pub struct Pipelines(
    Cache<Conversion, ToFhewPipeline, PIPELINES>,
    Cache<(Conversion, card::Input), CardMemory, { 4 * PIPELINES }>,
);

impl SlotEngine for ckks::Engine {
    type Kept = Pipelines;

    fn check(&self) -> Result<(), Error> {
        match self.can_bootstrap() && BootstrapKind::of(self.params()).rules().raises_modulus() {
            true => Ok(()),
            false => Err(ParameterError::NoSwitch { name: self.params().name().into() }.into()),
        }
    }
    fn context(&self) -> &Context {
        &self.ctx
    }
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl<E: SlotEngine> Switch<E> {
    /// A switch between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an engine without slots, without a bootstrap, or whose bootstrap does not raise the modulus; a modulus of the
    /// FHEW engine that has no ring of this degree.
    pub fn new(slots: impl Into<Arc<E>>, fhew: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (slots, fhew) = (slots.into(), fhew.into());
        slots.check()?;
        let (log_n, runtime) = (slots.context().ring().log_n(), slots.runtime());
        let between = runtime.run(|| Ok(ring_switch::RingSwitch::new(&fhew.ctx, log_n, runtime.kernels())?))?;
        runtime.serves(between.pool());
        Ok(Self { slots, fhew, between: Arc::new(between), kept: E::Kept::default() })
    }

    /// Runs work on its own threads.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.slots.runtime().run(work)
    }
    /// Name of the kernels in use.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.slots.runtime().kernels().name()
    }
    /// Worker threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.slots.runtime().threads()
    }
    /// The engine of slots.
    #[must_use]
    pub fn slots(&self) -> &E {
        &self.slots
    }
    /// The FHEW engine.
    #[must_use]
    pub fn fhew(&self) -> &fhew::Engine {
        &self.fhew
    }
    /// Bytes that so many values take in the conversion from FHEW, beside keys and what a bootstrap takes.
    #[must_use]
    pub fn packing_bytes(&self, values: usize) -> u64 {
        packing_bytes(&self.fhew.ctx, values)
    }
}
