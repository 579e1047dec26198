//! Bootstraps that a card has no room for are refused before anything goes up, and as many run side by side as it has room for.

use super::run::BootstrapKeys;
use crate::card_memory::{self, More, FROM_FHEW};
use crate::ckks::card::CardMemory;
use crate::ckks::engine::Engine;
use crate::{Error, MemoryError, ParameterError};
use aglet_bootstrap::{BootstrapCircuit, Bootstrapper, KeyNeed, PackedKey, PackedKeys};
use aglet_rlwe::KeySet;
use std::sync::Arc;

/// Keys on the chain of a circuit.
type BothKeys<'a> = (&'a KeySet, Option<&'a PackedKeys>);

/// So many bootstraps at a time, or only their stages from this one on.
#[derive(Clone, Copy)]
pub(super) struct Jobs<'a> {
    pub(super) circuit: &'a Arc<BootstrapCircuit>,
    pub(super) count: usize,
    pub(super) from: usize,
}

impl<'a> From<(&'a Arc<BootstrapCircuit>, usize)> for Jobs<'a> {
    fn from((circuit, count): (&'a Arc<BootstrapCircuit>, usize)) -> Self {
        Self { circuit, count, from: 0 }
    }
}

impl Jobs<'_> {
    /// What a sentence calls them.
    fn name(self) -> &'static str {
        match self.from {
            0 => "a bootstrap",
            _ => FROM_FHEW,
        }
    }
}

impl Engine {
    /// What a card takes for them, counted once.
    fn card_memory(&self, Jobs { circuit, count, from }: Jobs<'_>) -> Result<CardMemory, Error> {
        Ok(*self.card_memories.get((circuit.clone(), count, from), || CardMemory::from_stage(circuit, count, from))?)
    }

    /// Bytes of all that they meet that a card has already: keys, and maps where they are encoded.
    fn there(&self, Jobs { circuit, from, .. }: Jobs<'_>, keys: BothKeys<'_>) -> Result<usize, Error> {
        let needs = circuit.needs()?.split_off(from).concat();
        let keys_there = keys.0.met(needs.iter().map(KeyNeed::place)).card_bytes_there();
        let packed: usize = keys.1.iter().flat_map(|packed| packed.list()).map(PackedKey::card_bytes_there).sum();
        let kept = self.bootstrap.find(|kept| *kept == **circuit).is_some();
        Ok(keys_there + packed + if kept { circuit.encoded_bytes()? } else { 0 })
    }

    /// Refuses bootstraps, with these keys on the chain of the circuit, that a card has no room for.
    pub(super) fn fits_bootstraps<'a>(&self, jobs: impl Into<Jobs<'a>>, keys: BothKeys<'_>) -> Result<(), Error> {
        self.fits_behind(None, jobs.into(), keys)
    }

    /// The same of the end of a bootstrap, behind a key switch with a key that stays.
    pub(crate) fn fits_raising(&self, before: More, keys: &BootstrapKeys<'_>, real: bool) -> Result<(), Error> {
        if !self.fitted.on_card(&**self.ctx.ring().backend())? {
            return Ok(());
        }
        let circuit = self.circuit(self.raising(keys, real))?;
        let own = keys.bootstrap.eval_keys(self.params(), &circuit.params, keys)?;
        let from = circuit.raises_from().ok_or(ParameterError::RaisesNothing)?;
        self.fits_behind(Some(before), Jobs { circuit: &circuit, count: 1, from }, (&own, keys.bootstrap.packed()))
    }

    /// What is met before needs the tables of users' primes too.
    fn fits_behind(&self, before: Option<More>, jobs: Jobs<'_>, keys: BothKeys<'_>) -> Result<(), Error> {
        let backend = &**self.ctx.ring().backend();
        // To ask a card takes little beside a bootstrap.
        let Some(room) = backend.room()? else { return Ok(()) };
        let (mut memory, ctx) = (self.card_memory(jobs)?, self.context_of(&jobs.circuit.params)?);
        let (mut rings, mut there) = (vec![&**ctx.ring()], self.there(jobs, keys)?);
        if let Some((key, key_there)) = before {
            memory.keys += key;
            memory.tables = card_memory::tables([self.params().rlwe(), &jobs.circuit.params])?;
            rings.push(&**self.ctx.ring());
            there += key_there;
        }
        let (needed, keys_alone) = (memory.bytes() as u64, memory.keys as u64);
        if needed > room {
            return Err(match jobs.from {
                0 => MemoryError::Card { needed, keys: keys_alone, room }.into(),
                _ => MemoryError::CardSwitch { what: jobs.name(), needed, keys: keys_alone, room }.into(),
            });
        }
        rings.extend(keys.1.map(|packed| &**packed.context().ring()));
        memory.beside(backend, &rings, (jobs.name(), there))
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
