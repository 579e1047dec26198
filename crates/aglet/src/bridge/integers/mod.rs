//! Bridges from integers: slots of exact integers as LWE ciphertexts of a look-up key, and messages of look-ups as fresh slots.

mod down;
mod up;

use super::key::{forecast, parts};
use crate::fhew::{self, fits};
use crate::integer::{self, cost::Raising, Messages};
use crate::runtime::Kept;
use crate::{Control, Error, KeyId, SecretKey};
use aglet_ring::reversal::reversed;
use aglet_rlwe::bridge::{self, DownKey, UpKey};
use aglet_rlwe::lwe::PackingKey;
use std::sync::Arc;

/// An engine of integers that bootstraps and a look-up engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct IntegerBridge {
    pub(crate) numbers: Arc<integer::Engine>,
    pub(crate) lookups: Arc<fhew::Engine>,
    pub(crate) between: Arc<bridge::Bridge>,
    /// What ways up were found to take, the latest first.
    raisings: Kept<Messages, Raising, WAYS>,
}

/// Ways up whose work a bridge remembers, which takes a tenth of a second to find: one for each number of bits and kind of noise.
const WAYS: usize = 16;

/// What leads from the secret key of integers to that of look-ups, and back: a ring switch, packing and a key switch.
pub struct IntegerBridgeKey {
    pub(crate) down: DownKey,
    /// None in files of those days when nothing went up.
    pub(crate) up: Option<(PackingKey, UpKey)>,
    stored_bytes: usize,
}

impl IntegerBridgeKey {
    /// The key of these parts.
    pub(crate) fn of(between: &bridge::Bridge, down: DownKey, up: Option<(PackingKey, UpKey)>) -> Self {
        let above = up.as_ref().map_or(0, |(packing, up)| packing.stored_bytes() + up.stored_bytes());
        Self { stored_bytes: down.stored_bytes(between) + above, down, up }
    }
    /// The secret key of integers.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.down.from()
    }
    /// The secret key of look-ups.
    #[must_use]
    pub fn lookup_id(&self) -> KeyId {
        self.down.to()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.down.byte_count() + self.up.as_ref().map_or(0, |(packing, up)| packing.byte_count() + up.byte_count())
    }
    /// Whether it leads up as well: files of those days when nothing did hold keys that do not.
    #[must_use]
    pub fn leads_up(&self) -> bool {
        self.up.is_some()
    }
    /// Bytes when stored: bodies, and seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl IntegerBridge {
    /// A bridge between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an engine without a bootstrap or without slots; a modulus of the look-up engine that has no ring of this degree.
    pub fn new(numbers: impl Into<Arc<integer::Engine>>, lookups: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (numbers, lookups) = (numbers.into(), lookups.into());
        if !numbers.can_bootstrap() || numbers.packing() != integer::Packing::Slots {
            return Err(Error::Parameter(format!(
                "An engine of parameters \"{}\" without a bootstrap or without slots has no slots_to_coeffs, which a bridge begins with; take a set of \
                 integers with a bootstrap, and slots.",
                numbers.params().name()
            )));
        }
        let (log_n, kernels) = (numbers.params().log_n(), numbers.runtime().kernels());
        let between = Arc::new(numbers.run(|| Ok(bridge::Bridge::new(&lookups.ctx, log_n, kernels)?))?);
        Ok(Self { numbers, lookups, between, raisings: Kept::default() })
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
    /// The engine of gates and tables.
    #[must_use]
    pub fn lookups(&self) -> &fhew::Engine {
        &self.lookups
    }
    /// Bytes in memory that so many values take on their way up, beside keys and what a bootstrap takes.
    #[must_use]
    pub fn packing_bytes(&self, values: usize) -> u64 {
        super::packing_bytes(&self.lookups.ctx, values)
    }
    /// Bytes in memory that the key of this bridge takes.
    ///
    /// # Errors
    /// None for parameters that a bridge takes.
    pub fn key_bytes(&self) -> Result<u64, Error> {
        forecast(&self.between, (self.numbers.context(), &self.lookups.ctx))
    }

    /// Makes the key for both directions. What it takes is forecast and compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] before anything is allocated, no randomness, a secret key of another degree, [`Error::Cancelled`].
    pub fn create_key(
        &self,
        numbers: &SecretKey,
        lookups: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<IntegerBridgeKey, Error> {
        fits("bridge key", self.key_bytes()? as usize, memory_limit)?;
        let (large, small) = (self.numbers.context(), &*self.lookups.ctx);
        let mut source = self.numbers.runtime().random("bridge key", 0)?;
        self.numbers.run(|| {
            let (down, packing, up) = parts(&self.between, (large, small), (numbers, lookups), &mut source, control)?;
            Ok(IntegerBridgeKey::of(&self.between, down, Some((packing, up))))
        })
    }

    /// The coefficient of a slot: the DFT leaves each row in bit-reversed order, the second N/2 behind the first.
    fn coefficient(&self, slot: usize) -> usize {
        let (row, n) = (self.numbers.count() / 2, self.numbers.params().n());
        reversed(slot % row, row) * (n / 2 / row) + slot / row * (n / 2)
    }
}
