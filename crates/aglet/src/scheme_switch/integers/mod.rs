//! SchemeSwitches from integers: slots of exact integers as LWE ciphertexts of a FHEW key, and messages of FHEW as fresh slots.

mod from_fhew;
mod to_fhew;

use super::key::{forecast, parts};
use crate::fhew::{self, fits};
use crate::integer::{self, cost::Raising, Messages};
use crate::runtime::Cache;
use crate::{Control, Error, KeyId, ParameterError, SecretKey};
use aglet_ring::reversal::reversed;
use aglet_rlwe::lwe::PackingKey;
use aglet_rlwe::ring_switch::{self, LargeToSmallKey, SmallToLargeKey};
use std::sync::Arc;

/// An engine of integers that bootstraps and a FHEW engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct IntegerSchemeSwitch {
    pub(crate) numbers: Arc<integer::Engine>,
    pub(crate) fhew: Arc<fhew::Engine>,
    pub(crate) between: Arc<ring_switch::RingSwitch>,
    /// What conversions from FHEW were found to take, the latest first.
    raisings: Cache<Messages, Raising, PLANS>,
}

/// How many conversions from FHEW a switch remembers the work of, which takes a tenth of a second to find: one for each number of bits and kind of noise.
const PLANS: usize = 16;

/// The keys that switch between the secret key of integers and that of FHEW: a ring switch, packing and a key switch.
pub struct IntegerSchemeSwitchKey {
    pub(crate) large_to_small: LargeToSmallKey,
    /// None in files of those days when nothing went back.
    pub(crate) small_to_large: Option<(PackingKey, SmallToLargeKey)>,
    stored_bytes: usize,
}

impl IntegerSchemeSwitchKey {
    /// The key of these parts.
    pub(crate) fn of(
        between: &ring_switch::RingSwitch,
        large_to_small: LargeToSmallKey,
        small_to_large: Option<(PackingKey, SmallToLargeKey)>,
    ) -> Self {
        let above = small_to_large
            .as_ref()
            .map_or(0, |(packing, small_to_large)| packing.stored_bytes() + small_to_large.stored_bytes());
        Self { stored_bytes: large_to_small.stored_bytes(between) + above, large_to_small, small_to_large }
    }
    /// The secret key of integers.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.large_to_small.from()
    }
    /// The secret key of FHEW.
    #[must_use]
    pub fn fhew_key_id(&self) -> KeyId {
        self.large_to_small.to()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.large_to_small.byte_count()
            + self
                .small_to_large
                .as_ref()
                .map_or(0, |(packing, small_to_large)| packing.byte_count() + small_to_large.byte_count())
    }
    /// Whether it leads back as well: files of those days when nothing did hold keys that do not.
    #[must_use]
    pub fn both_ways(&self) -> bool {
        self.small_to_large.is_some()
    }
    /// Bytes when stored: bodies, and seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl IntegerSchemeSwitch {
    /// A switch between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an engine without a bootstrap or without slots; a modulus of the FHEW engine that has no ring of this degree.
    pub fn new(numbers: impl Into<Arc<integer::Engine>>, fhew: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (numbers, fhew) = (numbers.into(), fhew.into());
        if !numbers.can_bootstrap() || numbers.packing() != integer::Packing::Slots {
            return Err(ParameterError::NoIntegerSwitch { name: numbers.params().name().into() }.into());
        }
        let (log_n, kernels) = (numbers.params().log_n(), numbers.runtime().kernels());
        let between = Arc::new(numbers.run(|| Ok(ring_switch::RingSwitch::new(&fhew.ctx, log_n, kernels)?))?);
        numbers.runtime().serves(between.pool());
        Ok(Self { numbers, fhew, between, raisings: Cache::default() })
    }

    /// Runs work on the threads of the engine of integers.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.numbers.run(work)
    }
    /// Name of the kernels in use.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.numbers.backend()
    }
    /// Worker threads of the engine of integers.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.numbers.threads()
    }
    /// The engine whose slots are read.
    #[must_use]
    pub fn numbers(&self) -> &integer::Engine {
        &self.numbers
    }
    /// The engine of FHEW.
    #[must_use]
    pub fn fhew(&self) -> &fhew::Engine {
        &self.fhew
    }
    /// Bytes in memory that so many values take in the conversion from FHEW, beside keys and what a bootstrap takes.
    #[must_use]
    pub fn packing_bytes(&self, values: usize) -> u64 {
        super::packing_bytes(&self.fhew.ctx, values)
    }
    /// Bytes in memory that the key of this switch takes.
    ///
    /// # Errors
    /// None for parameters that a switch takes.
    pub fn key_bytes(&self) -> Result<u64, Error> {
        forecast(&self.between, (self.numbers.context(), &self.fhew.ctx))
    }

    /// Makes the key for both directions. What it takes is forecast and compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, no randomness, a secret key of another degree, [`Error::Cancelled`].
    pub fn create_key(
        &self,
        numbers: &SecretKey,
        fhew: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<IntegerSchemeSwitchKey, Error> {
        fits("switching key", self.key_bytes()? as usize, memory_limit)?;
        let (large, small) = (self.numbers.context(), &*self.fhew.ctx);
        let mut source = self.numbers.runtime().random("switching key", 0)?;
        self.numbers.run(|| {
            let (large_to_small, packing, small_to_large) =
                parts(&self.between, (large, small), (numbers, fhew), &mut source, control)?;
            Ok(IntegerSchemeSwitchKey::of(&self.between, large_to_small, Some((packing, small_to_large))))
        })
    }

    /// The coefficient of a slot: the DFT leaves each row in bit-reversed order, the second N/2 behind the first.
    fn coefficient(&self, slot: usize) -> usize {
        let (row, n) = (self.numbers.count() / 2, self.numbers.params().n());
        reversed(slot % row, row) * (n / 2 / row) + slot / row * (n / 2)
    }
}
