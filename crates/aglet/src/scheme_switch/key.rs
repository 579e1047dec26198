//! The key of a switch, for both directions.

use super::SchemeSwitch;
use crate::fhew::{self, fits};
use crate::{Control, Error, KeyId, SecretKey};
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::lwe::{LweContext, PackingKey};
use aglet_rlwe::ring_switch::{self, LargeToSmallKey, SmallToLargeKey};
use aglet_rlwe::Context;

/// The keys that switch between the secret key of slots and that of FHEW: a ring switch, packing and a key switch.
pub struct SchemeSwitchKey {
    pub(crate) large_to_small: LargeToSmallKey,
    pub(crate) packing: PackingKey,
    pub(crate) small_to_large: SmallToLargeKey,
    pub(crate) stored_bytes: usize,
}

impl SchemeSwitchKey {
    /// The key of these parts.
    pub(crate) fn of(
        between: &ring_switch::RingSwitch,
        large_to_small: LargeToSmallKey,
        packing: PackingKey,
        small_to_large: SmallToLargeKey,
    ) -> Self {
        let stored_bytes =
            large_to_small.stored_bytes(between) + packing.stored_bytes() + small_to_large.stored_bytes();
        Self { large_to_small, packing, small_to_large, stored_bytes }
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
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.large_to_small.byte_count() + self.packing.byte_count() + self.small_to_large.byte_count()
    }
    /// Bytes when stored: bodies, and seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl SchemeSwitch {
    /// Bytes in memory that the key of this switch takes.
    ///
    /// # Errors
    /// None for parameters that a switch takes.
    pub fn key_bytes(&self) -> Result<u64, Error> {
        forecast(&self.between, (&self.slots.ctx, &self.fhew.ctx))
    }

    /// Makes the key for both directions. What it takes is forecast and compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, no randomness, a secret key of another degree.
    pub fn create_key(
        &self,
        slots: &SecretKey,
        fhew: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<SchemeSwitchKey, Error> {
        fits("switching key", self.key_bytes()? as usize, memory_limit)?;
        let mut source = self.slots.runtime.random("switching key", 0)?;
        self.slots.run(|| {
            let contexts = (&*self.slots.ctx, &*self.fhew.ctx);
            let (large_to_small, packing, small_to_large) =
                parts(&self.between, contexts, (slots, fhew), &mut source, control)?;
            Ok(SchemeSwitchKey::of(&self.between, large_to_small, packing, small_to_large))
        })
    }
}

/// Bytes in memory that every switching key takes.
pub(super) fn forecast(
    between: &ring_switch::RingSwitch,
    (large, small): (&Context, &LweContext),
) -> Result<u64, Error> {
    let packing = PackingKey::forecast(small, ring_switch::RingSwitch::packing_gadget(small));
    Ok((LargeToSmallKey::forecast(between, small) + packing + SmallToLargeKey::forecast(large, small)?) as u64)
}

/// The variance, on the torus, that every conversion from FHEW adds: that of packing and of the key switch.
pub(super) fn added_noise((large, small): (&Context, &LweContext)) -> Result<f64, Error> {
    Ok(PackingKey::noise(small, ring_switch::RingSwitch::packing_gadget(small)) + SmallToLargeKey::noise(large, small)?)
}

/// What every switching key is made of: the ring switch to FHEW, packing and the key switch back.
pub(super) fn parts(
    between: &ring_switch::RingSwitch,
    (large, small): (&Context, &LweContext),
    (slots, fhew): (&SecretKey, &fhew::SecretKey),
    source: &mut ChaChaSource,
    control: &Control,
) -> Result<(LargeToSmallKey, PackingKey, SmallToLargeKey), Error> {
    control.report(0, 3, "switching key");
    let large_to_small = LargeToSmallKey::generate(between, small, (slots, fhew), source)?;
    control.check()?;
    control.report(1, 3, "switching key");
    let gadget = ring_switch::RingSwitch::packing_gadget(small);
    let packing = PackingKey::generate(small, fhew, gadget, source, &mut |_, _| !control.cancelled())?;
    control.report(2, 3, "switching key");
    let small_to_large = SmallToLargeKey::generate(between, (large, small), (fhew, slots), source)?;
    control.report(3, 3, "switching key");
    Ok((large_to_small, packing, small_to_large))
}
