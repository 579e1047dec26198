//! The memory of a card that bootstraps and products of integers take there, before anything goes up.

use super::{cost, Ciphertext, Engine, IntegerParams};
pub use crate::card_memory::CardMemory;
use crate::{card_memory, Error, MemoryError};
use aglet_bootstrap::integer::BootstrapCircuit;
use aglet_bootstrap::Bootstrapper;
use aglet_rlwe::{KeySet, KeySwitchSpec};
use aglet_schemes::integer::{CostInteger, SlotCost};
use aglet_schemes::Evaluator;
use std::sync::atomic::Ordering;

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
    let needed = circuit.needs()?;
    let met = keys.iter().filter(|key| needed.iter().flatten().any(|need| need.role == key.role));
    Ok(CardMemory {
        keys: met.map(|key| key.spec.card_bytes(params.n())).sum(),
        maps: circuit.encoded_bytes()?,
        tables: card_memory::tables([&params])?,
        working,
    })
}

fn fits(memory: CardMemory, what: &'static str, room: u64) -> Result<(), Error> {
    let needed = memory.bytes() as u64;
    match needed > room {
        true => Err(MemoryError::IntegerCard { what, needed, keys: memory.keys as u64, room }.into()),
        false => Ok(()),
    }
}

impl Engine {
    fn card_room(&self) -> Result<Option<u64>, Error> {
        Ok(self.ctx.ring().backend().room()?)
    }

    /// Refuses stages that a card has no room for, even with one input.
    pub(super) fn fits_card(&self, circuit: &BootstrapCircuit) -> Result<(), Error> {
        match self.card_room()? {
            Some(room) => fits(of_circuit(circuit, 1)?, "a bootstrap", room),
            None => Ok(()),
        }
    }

    /// How many inputs a card has room for at once, at least one; all of them where no card computes.
    pub(super) fn side_by_side(&self, circuit: &BootstrapCircuit, count: usize) -> Result<usize, Error> {
        let Some(room) = self.card_room()?.filter(|_| count > 1) else { return Ok(count.max(1)) };
        let (mut least, mut most) = (1, count);
        while least < most {
            let middle = (least + most).div_ceil(2);
            match of_circuit(circuit, middle)?.bytes() as u64 <= room {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        Ok(least)
    }

    /// Refuses a circuit on these ciphertexts, with keys of so many bytes, that a card has no room for. One that cannot be done fails by itself.
    pub(super) fn fits_circuit<T, E>(
        &self,
        (what, keys): (&'static str, usize),
        of: &[&Ciphertext],
        work: impl FnOnce(&SlotCost<'_>, &[CostInteger]) -> Result<T, E>,
    ) -> Result<(), Error> {
        let needed = || {
            let cost = SlotCost::new(self.params())?;
            let inputs: Vec<_> = of.iter().map(|ct| cost.of(ct)).collect();
            if work(&cost, &inputs).is_err() {
                return Ok(None);
            }
            let (tables, working) = (card_memory::tables([&**self.params()])?, cost.card_bytes());
            Ok(Some(CardMemory { keys, maps: 0, tables, working }))
        };
        self.fitted.check(&**self.ctx.ring().backend(), needed, |CardMemory { keys, .. }, needed, room| {
            MemoryError::IntegerCard { what, needed, keys: keys as u64, room }
        })
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
        self.fits_circuit(("a rotation", count * key.card_bytes()), &[a], |e, of| {
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

    /// Refuses products of operands up to a level that a card has no room for. Once it had room, lower ones need not ask.
    pub(super) fn fits_product(&self, level: usize) -> Result<(), Error> {
        // Level 0 has none, which is said elsewhere.
        if level <= self.largest_product.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Some(room) = self.card_room()? {
            fits(product(self.params(), [level; 2])?, "a product", room)?;
        }
        self.largest_product.fetch_max(level, Ordering::Relaxed);
        Ok(())
    }
}
