//! Bootstraps that a card has no room for are refused before anything goes up, and as many run side by side as it has room for.

use super::run::BootstrapKeys;
use crate::ckks::card::CardMemory;
use crate::ckks::engine::Engine;
use crate::{Error, MemoryError};
use aglet_bootstrap::{BootstrapCircuit, Bootstrapper, PackedKey, PackedKeys};
use aglet_rlwe::KeySet;
use std::sync::Arc;

impl Engine {
    /// What a card takes for so many bootstraps at a time, counted once.
    fn card_memory(&self, circuit: &Arc<BootstrapCircuit>, count: usize) -> Result<CardMemory, Error> {
        Ok(*self.card_memories.get((circuit.clone(), count), || CardMemory::of(circuit, count))?)
    }

    /// Bytes of all that a bootstrap meets that a card has already: keys, and maps where they are encoded.
    fn there(&self, circuit: &Arc<BootstrapCircuit>, keys: (&KeySet, Option<&PackedKeys>)) -> Result<usize, Error> {
        let needs = circuit.needs()?.concat();
        let met = keys.0.iter().filter(|(role, _)| needs.iter().any(|need| need.role == *role));
        let keys_there: usize = met.map(|(_, key)| key.words().card_bytes_there()).sum();
        let packed: usize = keys.1.iter().flat_map(|packed| packed.list()).map(PackedKey::card_bytes_there).sum();
        let kept = self.bootstrap.find(|kept| *kept == **circuit).is_some();
        Ok(keys_there + packed + if kept { circuit.encoded_bytes()? } else { 0 })
    }

    /// Refuses so many bootstraps at a time, with these keys on the chain of the circuit, that a card has no room for.
    pub(super) fn fits_bootstraps(
        &self,
        (circuit, count): (&Arc<BootstrapCircuit>, usize),
        keys: (&KeySet, Option<&PackedKeys>),
    ) -> Result<(), Error> {
        let backend = &**self.ctx.ring().backend();
        // To ask a card takes little beside a bootstrap.
        let Some(room) = backend.room()? else { return Ok(()) };
        let memory = self.card_memory(circuit, count)?;
        let (needed, keys_alone) = (memory.bytes() as u64, memory.keys as u64);
        if needed > room {
            return Err(MemoryError::Card { needed, keys: keys_alone, room }.into());
        }
        let (ctx, there) = (self.context_of(&circuit.params)?, self.there(circuit, keys)?);
        let mut rings = vec![&**self.ctx.ring(), &**ctx.ring()];
        rings.extend(keys.1.map(|packed| &**packed.context().ring()));
        memory.beside(backend, &rings, ("a bootstrap", there))
    }

    /// How many of so many bootstraps a card has room for at once, at least one; none where no card computes.
    pub(super) fn side_by_side_on_card(
        &self,
        (circuit, count): (&Arc<BootstrapCircuit>, usize),
        keys: &BootstrapKeys<'_>,
    ) -> Result<Option<usize>, Error> {
        if !self.fitted.on_card(&**self.ctx.ring().backend())? {
            return Ok(None);
        }
        let mut size = count.max(1);
        while size > 1 {
            let own = keys.bootstrap.eval_keys(self.params(), &circuit.params, keys)?;
            match self.fits_bootstraps((circuit, size), (&own, keys.bootstrap.packed())) {
                Err(Error::Memory(_)) => size -= 1,
                fits => return fits.map(|()| Some(size)),
            }
        }
        Ok(Some(size))
    }
}
