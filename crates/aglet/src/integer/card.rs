//! The memory of a card that bootstraps and products of integers take there, before anything goes up.

use super::{cost, BootstrapKey, Ciphertext, Engine, IntegerParams, RelinearizationKey};
pub use crate::card_memory::CardMemory;
use crate::card_memory::{More, FROM_FHEW, TO_FHEW};
use crate::{card_memory, Error, MemoryError};
use aglet_bootstrap::integer::{BootstrapCircuit, Part};
use aglet_bootstrap::{Bootstrapper, KeyNeed};
use aglet_rlwe::{KeySet, KeySwitchSpec};
use aglet_schemes::integer::{CostInteger, SlotCost};
use aglet_schemes::Evaluator;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Forecasts the memory of `count` bootstraps side by side.
///
/// # Errors
/// Parameters without a bootstrap.
pub fn bootstrap(params: &IntegerParams, count: usize) -> Result<CardMemory, Error> {
    of_circuit(&BootstrapCircuit::new(params)?, count)
}

/// Forecasts the memory of a product of ciphertexts at these levels, relinearized, where the card has the operands.
///
/// # Errors
/// Levels that do not exist, and level 0.
pub fn product(params: &IntegerParams, levels: [usize; 2]) -> Result<CardMemory, Error> {
    let key = KeySwitchSpec::balanced(params, params.max_level() + 1)?;
    Ok(CardMemory {
        keys: key.card_bytes(params.n()),
        maps: 0,
        tables: card_memory::tables([&**params])?,
        working: cost::product_on_card(params, levels)?,
    })
}

/// The same of the stages of a bootstrap, or of a part of one, with the keys that they meet.
fn of_circuit(circuit: &BootstrapCircuit, count: usize) -> Result<CardMemory, Error> {
    with(circuit, cost::counted(circuit, count)?.card)
}

/// The same, if the bytes of the polynomials of a run are known.
pub(super) fn with(circuit: &BootstrapCircuit, working: usize) -> Result<CardMemory, Error> {
    let (params, keys) = circuit.keys()?;
    let keys: KeySet<_> = keys.into_iter().map(|KeyNeed { role, spec }| (role, spec)).collect();
    let met = keys.met(circuit.needs()?.concat().iter().map(KeyNeed::place));
    Ok(CardMemory {
        keys: met.iter().map(|(_, spec)| spec.card_bytes(params.n())).sum(),
        maps: circuit.encoded_bytes()?,
        tables: card_memory::tables([&params])?,
        working,
    })
}

/// The bytes of keys on a card, and of those that it has already.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys {
    bytes: usize,
    there: usize,
}

impl Keys {
    /// Of one of a set, met `count` times under as many roles, or of all that are there.
    fn times(keys: &KeySet, count: usize) -> Self {
        let one = keys.iter().next().map_or(0, |(_, key)| key.card_bytes());
        let there = keys.card_bytes_there();
        Self { bytes: count * one, there: there.min(count * one) }
    }
}

impl From<&KeySet> for Keys {
    fn from(keys: &KeySet) -> Self {
        Self { bytes: keys.card_bytes(), there: keys.card_bytes_there() }
    }
}

impl Engine {
    /// What a card takes for so many bootstraps at a time, or for a part of one, counted once.
    fn card_memory(&self, circuit: &Arc<BootstrapCircuit>, count: usize) -> Result<CardMemory, Error> {
        Ok(*self.card_memories.get((circuit.clone(), count), || of_circuit(circuit, count))?)
    }

    /// Refuses stages with this key that a card has no room for, with so many inputs.
    fn fits_card(&self, jobs: (&Arc<BootstrapCircuit>, usize), key: &BootstrapKey) -> Result<(), Error> {
        self.fits_with((0, 0), jobs, key)
    }

    /// The same with more there.
    pub(super) fn fits_with(
        &self,
        more: More,
        (circuit, count): (&Arc<BootstrapCircuit>, usize),
        key: &BootstrapKey,
    ) -> Result<(), Error> {
        let what = match circuit.part {
            Part::Whole => "a bootstrap",
            Part::Lowering => TO_FHEW,
            Part::Raising(_) => FROM_FHEW,
        };
        let backend = &**self.ctx.ring().backend();
        // To ask a card takes little beside a bootstrap.
        let Some(room) = backend.room()? else { return Ok(()) };
        let memory = self.card_memory(circuit, count)?;
        let memory = CardMemory { keys: memory.keys + more.0, ..memory };
        if memory.bytes() as u64 > room {
            return Err(refused(what, memory.keys, memory.bytes() as u64, room).into());
        }
        let there = key.keys.met(circuit.needs()?.concat().iter().map(KeyNeed::place)).card_bytes_there();
        let maps = if self.keeps(circuit) { memory.maps } else { 0 };
        let ctx = self.context_of(circuit)?;
        memory.beside(backend, &[&**self.ctx.ring(), &**ctx.ring()], (what, there + more.1 + maps))
    }

    /// How many inputs a card has room for at once, at least one; all of them where no card computes.
    pub(super) fn side_by_side(
        &self,
        (circuit, count): (&Arc<BootstrapCircuit>, usize),
        key: &BootstrapKey,
    ) -> Result<usize, Error> {
        if !self.fitted.on_card(&**self.ctx.ring().backend())? {
            return Ok(count.max(1));
        }
        let (mut least, mut most) = (1, count.max(1));
        while least < most {
            let middle = (least + most).div_ceil(2);
            match self.fits_card((circuit, middle), key) {
                Ok(()) => least = middle,
                Err(Error::Memory(_)) => most = middle - 1,
                Err(error) => return Err(error),
            }
        }
        Ok(least)
    }

    /// Refuses a circuit on these ciphertexts, with these keys, that a card has no room for. One that cannot be done fails by itself.
    pub(super) fn fits_circuit<T, E>(
        &self,
        what: (&'static str, impl Into<Keys>),
        of: &[&Ciphertext],
        work: impl FnOnce(&SlotCost<'_>, &[CostInteger]) -> Result<T, E>,
    ) -> Result<(), Error> {
        self.fits_work(what, of, |cost| {
            // A ciphertext that is there several times is held once.
            let once: BTreeMap<_, _> = of.iter().map(|ct| (Arc::as_ptr(ct), cost.of(ct))).collect();
            work(cost, &of.iter().map(|ct| once[&Arc::as_ptr(ct)].clone()).collect::<Vec<_>>())
        })
    }

    /// The same of work that counts the ciphertexts itself.
    pub(super) fn fits_work<T, E>(
        &self,
        (what, keys): (&'static str, impl Into<Keys>),
        of: &[&Ciphertext],
        work: impl FnOnce(&SlotCost<'_>) -> Result<T, E>,
    ) -> Result<(), Error> {
        let (ring, keys) = (self.ctx.ring(), keys.into());
        let held: BTreeMap<_, _> = of.iter().map(|ct| (Arc::as_ptr(ct), *ct)).collect();
        let needed = || {
            let cost = SlotCost::new(self.params())?;
            if work(&cost).is_err() {
                return Ok(None);
            }
            let (tables, working) = (card_memory::tables([&**self.params()])?, cost.card_bytes());
            Ok(Some(CardMemory { keys: keys.bytes, maps: 0, tables, working }))
        };
        let refusal = |CardMemory { keys, .. }, needed, room| refused(what, keys, needed, room);
        let Some(memory) = self.fitted.checked(&**ring.backend(), needed, refusal)? else { return Ok(()) };
        let polys = held.values().flat_map(|ct| &ct.sample.polys).filter(|x| x.card().is_some());
        let there = polys.map(|x| 8 * self.params().n() * x.q_limbs()).sum::<usize>();
        memory.beside(&**ring.backend(), &[&**ring], (what, keys.there + there))
    }

    /// Refuses rotations, one after the other, each by a key of these of its own, and if `summed` the sum with each result.
    pub(super) fn fits_rotations(
        &self,
        a: &Ciphertext,
        keys: &KeySet,
        count: usize,
        summed: bool,
    ) -> Result<(), Error> {
        let Some((_, key)) = keys.iter().next().filter(|_| count > 0) else { return Ok(()) };
        self.fits_circuit(("a rotation", Keys::times(keys, count)), &[a], |e, of| {
            (0..count).try_fold(of[0].clone(), |a, _| {
                let rotated = e.rotated(&a, key.spec());
                if summed {
                    e.add(&a, &rotated)
                } else {
                    Ok(rotated)
                }
            })
        })
    }

    /// Refuses a product that a card has no room for.
    pub(super) fn fits_product(&self, a: &Ciphertext, b: &Ciphertext, key: &RelinearizationKey) -> Result<(), Error> {
        self.fits_circuit(("a product", key.keys()), &[a, b], |e, of| e.mul(&of[0], &of[1]))
    }

    /// Refuses a product that stays at degree 2. It needs no key: where the card has neither operand, nothing goes up.
    pub(super) fn fits_square(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), Error> {
        if ![a, b].iter().any(|ct| ct.sample.polys.iter().any(|x| x.card().is_some())) {
            return Ok(());
        }
        self.fits_circuit(("a product", Keys::default()), &[a, b], |e, of| e.product(&of[0], &of[1]))
    }

    /// Refuses to bring a product that is at degree 2 to degree 1.
    pub(super) fn fits_relinearization(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<(), Error> {
        if a.sample.polys.len() < 3 {
            return Ok(());
        }
        self.fits_work(("a relinearization", key.keys()), &[a], |e| e.relinearization(a))
    }
}

fn refused(what: &'static str, keys: usize, needed: u64, room: u64) -> MemoryError {
    MemoryError::IntegerCard { what, needed, keys: keys as u64, room }
}
