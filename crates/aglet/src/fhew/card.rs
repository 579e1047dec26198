//! The memory of a card that bootstraps take there, before anything goes up.

use super::workers::ON_CARD;
use super::{report, Engine};
use crate::{Error, MemoryError};
use aglet_bootstrap::fhew::{Blocks, FhewBootstrapKey};
use aglet_cuda::BlindKey;
use aglet_ring::packed::KeyShape;
use aglet_rlwe::lwe::Method;

/// Bytes on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardMemory {
    /// The bootstrap key, with what its kernels read.
    pub key: usize,
    /// The key of rotations that choose, with a key switch of its own; 0 without them.
    pub choices: usize,
    /// Ciphertexts and accumulators of a batch, at the step that has most.
    pub working: usize,
}

impl CardMemory {
    /// The keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.key + self.choices
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys() + self.working
    }
}

/// What a batch has on a card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Accumulators, each of a ciphertext of its own.
    pub(super) count: usize,
    /// Whether each has a start of its own.
    pub(super) own: bool,
    /// Coefficients of each that become ciphertexts.
    pub(super) places: usize,
    /// Whether keys of rotations that choose are there too.
    pub(super) chooses: bool,
}

impl Engine {
    /// Forecasts what a gate or a table takes on a card with room for it, for so many ciphertexts, of which a few thousand are there at a
    /// time. Most tables of several messages choose by a key of their own (`chooses`), see [`TreePlan::chooses`](aglet_bootstrap::fhew::functional::TreePlan::chooses). None
    /// where cards do not bootstrap by this set.
    #[must_use]
    pub fn card_memory(&self, count: usize, chooses: bool) -> Option<CardMemory> {
        self.card_memory_of(Batch { count: count.min(ON_CARD), own: chooses, places: 1, chooses })
    }

    pub(super) fn card_memory_of(&self, Batch { count, own, places, chooses }: Batch) -> Option<CardMemory> {
        let (params, (rotation, switch)) = (self.params().lwe(), FhewBootstrapKey::shapes(&self.ctx));
        let rotation = *rotation.first().filter(|_| report::on_card(self.params()))?;
        let (spec, coordinates) = (params.spec(), params.coordinates() + 1);
        let column = (spec.rank + 1) * params.n();
        let signs = if spec.method == Method::Ginx { 2 } else { 1 };
        let exponents = spec.dimension * signs + 1;
        let starts = if own { count * column } else { column };
        let steps = [
            count * (coordinates + spec.dimension + 1),
            count * column + starts,
            count * (column + places * coordinates) + places,
        ];
        let bytes = |rotation| BlindKey::forecast(self.ctx.table(), rotation, switch);
        let has = |shape: &KeyShape| BlindKey::has(spec.log_n, shape.columns, shape.levels);
        let choices = Blocks::choice_shape(&self.ctx).filter(|shape| chooses && has(shape)).map_or(0, bytes);
        let working = 8 * (count * exponents + steps.into_iter().max().unwrap_or_default());
        Some(CardMemory { key: bytes(rotation), choices, working })
    }

    /// Refuses bootstraps of one ciphertext at a time that a card has no room for.
    pub(super) fn fits_card(&self, room: u64, chooses: bool) -> Result<(), Error> {
        let one = self.card_memory_of(Batch { count: 1, own: chooses, places: 1, chooses });
        match one.map_or(0, |one| one.bytes() as u64) {
            needed if needed > room => {
                Err(MemoryError::FhewCard { set: self.params().literal().name.clone(), needed, room }.into())
            }
            _ => Ok(()),
        }
    }
}
