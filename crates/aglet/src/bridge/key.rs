//! The key of a bridge, for both directions.

use super::Bridge;
use crate::fhew::{self, fits};
use crate::{Control, Error, KeyId, SecretKey};
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::bridge::{self, DownKey, UpKey};
use aglet_rlwe::lwe::{LweContext, PackingKey};
use aglet_rlwe::Context;

/// What leads from the secret key of slots to that of look-ups, and back: a ring switch, packing and a key switch.
pub struct BridgeKey {
    pub(crate) down: DownKey,
    pub(crate) packing: PackingKey,
    pub(crate) up: UpKey,
    pub(crate) stored_bytes: usize,
}

impl BridgeKey {
    /// The key of these parts.
    pub(crate) fn of(between: &bridge::Bridge, down: DownKey, packing: PackingKey, up: UpKey) -> Self {
        let stored_bytes = down.stored_bytes(between) + packing.stored_bytes() + up.stored_bytes();
        Self { down, packing, up, stored_bytes }
    }
    /// The secret key of slots.
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
        self.down.byte_count() + self.packing.byte_count() + self.up.byte_count()
    }
    /// Bytes when stored: bodies, and seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl Bridge {
    /// Bytes in memory that the key of this bridge takes.
    ///
    /// # Errors
    /// None for parameters that a bridge takes.
    pub fn key_bytes(&self) -> Result<u64, Error> {
        forecast(&self.between, (&self.slots.ctx, &self.lookups.ctx))
    }

    /// Makes the key for both directions. What it takes is forecast and compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] before anything is allocated, no randomness, a secret key of another degree.
    pub fn create_key(
        &self,
        slots: &SecretKey,
        lookups: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<BridgeKey, Error> {
        fits("bridge key", self.key_bytes()? as usize, memory_limit)?;
        let mut source = self.slots.runtime.random("bridge key", 0)?;
        self.slots.run(|| {
            let contexts = (&*self.slots.ctx, &*self.lookups.ctx);
            let (down, packing, up) = parts(&self.between, contexts, (slots, lookups), &mut source, control)?;
            Ok(BridgeKey::of(&self.between, down, packing, up))
        })
    }
}

/// Bytes in memory that every bridge key takes.
pub(super) fn forecast(between: &bridge::Bridge, (large, small): (&Context, &LweContext)) -> Result<u64, Error> {
    let packing = PackingKey::forecast(small, bridge::Bridge::packing_gadget(small));
    Ok((DownKey::forecast(between, small) + packing + UpKey::forecast(large, small)?) as u64)
}

/// The variance, in turns squared, that every way up adds: that of packing and of the key switch.
pub(super) fn added_noise((large, small): (&Context, &LweContext)) -> Result<f64, Error> {
    Ok(PackingKey::noise(small, bridge::Bridge::packing_gadget(small)) + UpKey::noise(large, small)?)
}

/// What every bridge key is made of: the ring switch down, packing and the key switch up.
pub(super) fn parts(
    between: &bridge::Bridge,
    (large, small): (&Context, &LweContext),
    (slots, lookups): (&SecretKey, &fhew::SecretKey),
    source: &mut ChaChaSource,
    control: &Control,
) -> Result<(DownKey, PackingKey, UpKey), Error> {
    control.report(0, 3, "bridge key");
    let down = DownKey::generate(between, small, (slots, lookups), source)?;
    control.check()?;
    control.report(1, 3, "bridge key");
    let gadget = bridge::Bridge::packing_gadget(small);
    let packing = PackingKey::generate(small, lookups, gadget, source, &mut |_, _| !control.cancelled())?;
    control.report(2, 3, "bridge key");
    let up = UpKey::generate(between, (large, small), (lookups, slots), source)?;
    control.report(3, 3, "bridge key");
    Ok((down, packing, up))
}
