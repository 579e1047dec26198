//! The key of a switch, for both directions.

use super::side::SlotEngine;
use super::Switch;
use crate::fhew::{self, fits};
use crate::{ckks, integer, Control, Error, KeyId, MissingKeyError, SecretKey};
use aglet_rlwe::lwe::{LweContext, PackingKey};
use aglet_rlwe::ring_switch::{self, LargeToSmallKey, SmallToLargeKey};
use aglet_rlwe::Context;
use std::marker::PhantomData;

/// The keys that switch between the secret key of slots and that of FHEW: a ring switch, packing and a key switch.
pub struct SwitchKey<E> {
    pub(crate) large_to_small: LargeToSmallKey,
    /// None in files of those days when nothing went back to integers.
    pub(crate) small_to_large: Option<(PackingKey, SmallToLargeKey)>,
    stored_bytes: usize,
    of: PhantomData<fn() -> E>,
}

/// Between CKKS and FHEW.
pub type SchemeSwitchKey = SwitchKey<ckks::Engine>;
/// Between integers and FHEW.
pub type IntegerSchemeSwitchKey = SwitchKey<integer::Engine>;

impl<E> SwitchKey<E> {
    /// The key of these parts.
    pub(crate) fn of(
        between: &ring_switch::RingSwitch,
        large_to_small: LargeToSmallKey,
        small_to_large: Option<(PackingKey, SmallToLargeKey)>,
    ) -> Self {
        let above = small_to_large.as_ref().map_or(0, |(packing, up)| packing.stored_bytes() + up.stored_bytes());
        let stored_bytes = large_to_small.stored_bytes(between) + above;
        Self { large_to_small, small_to_large, stored_bytes, of: PhantomData }
    }
    /// The secret key of slots.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.large_to_small.from()
    }
    /// The secret key of FHEW.
    #[must_use]
    pub fn fhew_key_id(&self) -> KeyId {
        self.large_to_small.to()
    }
    /// Whether it leads back as well.
    #[must_use]
    pub fn both_ways(&self) -> bool {
        self.small_to_large.is_some()
    }
    /// What leads back.
    pub(super) fn back(&self) -> Result<&(PackingKey, SmallToLargeKey), Error> {
        Ok(self.small_to_large.as_ref().ok_or(MissingKeyError::OneWay)?)
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        let above = self.small_to_large.as_ref().map_or(0, |(packing, up)| packing.byte_count() + up.byte_count());
        self.large_to_small.byte_count() + above
    }
    /// Bytes when stored: bodies, and seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl<E: SlotEngine + Send + Sync> Switch<E> {
    /// Bytes in memory that its key takes.
    ///
    /// # Errors
    /// Special primes that are too few.
    pub fn key_bytes(&self) -> Result<u64, Error> {
        let (large, small) = self.contexts();
        let packing = PackingKey::forecast(small, ring_switch::RingSwitch::packing_gadget(small));
        let down = LargeToSmallKey::forecast(&self.between, small);
        Ok((down + packing + SmallToLargeKey::forecast(large, small)?) as u64)
    }

    /// Makes the key that leads between these secrets.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, no randomness, a secret key of another degree, [`Error::Cancelled`].
    pub fn create_key(
        &self,
        slots: &SecretKey,
        fhew: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<SwitchKey<E>, Error> {
        fits("switching key", self.key_bytes()? as usize, memory_limit)?;
        let ((large, small), between) = (self.contexts(), &self.between);
        let source = &mut self.slots.runtime().random("switching key", 0)?;
        self.run(|| {
            control.report(0, 3, "switching key");
            let large_to_small = LargeToSmallKey::generate(between, small, (slots, fhew), source)?;
            control.check()?;
            control.report(1, 3, "switching key");
            let gadget = ring_switch::RingSwitch::packing_gadget(small);
            let packing = PackingKey::generate(small, fhew, gadget, source, &mut |_, _| !control.cancelled())?;
            control.report(2, 3, "switching key");
            let small_to_large = SmallToLargeKey::generate(between, (large, small), (fhew, slots), source)?;
            control.report(3, 3, "switching key");
            Ok(SwitchKey::of(between, large_to_small, Some((packing, small_to_large))))
        })
    }

    /// The variance that packing and the key switch add in the conversion from FHEW.
    pub(super) fn added_noise(&self) -> Result<f64, Error> {
        let (large, small) = self.contexts();
        let packing = PackingKey::noise(small, ring_switch::RingSwitch::packing_gadget(small));
        Ok(packing + SmallToLargeKey::noise(large, small)?)
    }

    fn contexts(&self) -> (&Context, &LweContext) {
        (self.slots.context(), &self.fhew.ctx)
    }
}
