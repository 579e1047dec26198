//! How a slots-first bootstrap handles a request: the function of eval_mod, the split of coeffs_to_slots.

use super::steps::eval_mod::Function;
use crate::ckks::request::{KeySize, Method, Request, MAX_STAGES};
use crate::error::Error;
use aglet_circuits::dft::even_split;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;

impl KeySize {
    /// Diagonals at most of a map that the keys of mod_raise carry: as many keys of one digit take a fifth of the memory of
    /// others. 0 for a mod_raise without one.
    pub(super) fn carried_diagonals(self) -> usize {
        if self == Self::Small {
            0
        } else {
            64
        }
    }
}

/// Bits of the scale from which a sign or bit bootstrap spends a level on the size of its exponential: the rounding of eval_mod
/// in primes of 50 bits is about that of the result at 2^42.
const NORMALIZED_FROM: u32 = 43;

impl Method {
    pub(super) fn function(self, params: &CkksParams) -> Function {
        let normalized = params.scale_bits() >= NORMALIZED_FROM && params.role(Role::EvalMod).len() > 8;
        match self {
            Self::Sign => Function::Sign { normalized },
            Self::Bits => Function::Bits { normalized },
            _ => Function::Identity { harmonics: if params.role(Role::EvalMod).len() > 8 { 2 } else { 1 } },
        }
    }
}

impl Request {
    /// Refuses slots and stages that a transform does not have; a transform of few slots has few layers.
    pub(super) fn check(&self, ring_slots: usize) -> Result<(), Error> {
        let Self { slots, stage_count, .. } = *self;
        if !slots.is_power_of_two() || slots > ring_slots {
            return Err(Error::SlotCount { slots, most: ring_slots });
        }
        let layers = (slots.ilog2() as usize).max(1);
        let widest = slots.ilog2().div_ceil(stage_count.max(1) as u32);
        if !(1..=MAX_STAGES).contains(&stage_count) || stage_count > layers || widest > MAX_LAYERS {
            let fewest = (slots.ilog2().div_ceil(MAX_LAYERS) as usize).max(1);
            return Err(Error::Stages { stage_count, slots, fewest, most: layers.min(MAX_STAGES) });
        }
        Ok(())
    }

    /// The levels of coeffs_to_slots: its stages without a first one that mod_raise carries, and one more for a single
    /// map.
    pub(super) fn coeffs_to_slots_levels(&self, ring_slots: usize) -> usize {
        let carried = usize::from(self.carries_map(ring_slots));
        self.stage_count + usize::from(self.rescales_twice(ring_slots)) - carried
    }
    /// Whether coeffs_to_slots is a single map: its diagonals have the factors of all stages and of the trace, which makes them
    /// too small to be rounded at the size of one prime.
    pub(super) fn rescales_twice(&self, ring_slots: usize) -> bool {
        self.stage_count == 1 && !self.carries_map(ring_slots)
    }
    /// The layers of each map of coeffs_to_slots, in the order of application: equal shares, the longest first. Where a large key carries
    /// the first map, that takes as many as it may, and of the others the last is the longest, as it has the fewest limbs.
    pub(super) fn layers(&self, ring_slots: usize) -> Vec<u32> {
        let all = self.slots.ilog2();
        let mut layers = even_split(all, self.stage_count);
        layers.reverse();
        let (share, others) = (layers.first().map_or(0, |&first| first), self.stage_count.saturating_sub(1));
        let most = (MOST_CARRIED * self.slots / ring_slots).checked_ilog2().unwrap_or(0);
        let first = most.min(all.saturating_sub(others as u32));
        if self.size == KeySize::Large && first > share && self.carries_map(ring_slots) {
            layers = std::iter::once(first).chain(even_split(all - first, others)).collect();
        }
        layers
    }
    /// The copies of sparse slots that mod_raise sums up: all with the first map, else 16, or 32 so that the trace has whole steps of eight.
    /// 16 more keys take 20 ms, one step 30 ms and 4 ms for each of its keys.
    pub(super) fn carried_copies(&self, ring_slots: usize) -> usize {
        let copies = ring_slots / self.slots;
        if self.carries_map(ring_slots) {
            return copies;
        }
        let left = copies.ilog2().saturating_sub(4);
        let most = if left % TRACE_STEP == 1 { 32 } else { 16 };
        copies.min(most).min(self.size.carried_diagonals().max(1))
    }
    /// Whether mod_raise carries all of the trace and the first map of coeffs_to_slots.
    pub(super) fn carries_map(&self, ring_slots: usize) -> bool {
        let copies = ring_slots / self.slots;
        // The first map takes the most layers, and the longest distance among them wraps around.
        let layers = (self.slots.ilog2() as usize).div_ceil(self.stage_count.max(1));
        // The last map depends on what is wanted of the result, and keys should not.
        self.stage_count > 1 && copies << layers <= self.size.carried_diagonals()
    }
}

/// Doublings that one step of the trace makes with large and medium keys.
pub(super) const TRACE_STEP: u32 = 3;

/// Diagonals at most of a first map that takes a layer more than its share. It has no transforms, and one product with a key for each
/// diagonal: for twice 16 of them it takes 30 ms more, the others 70 ms less; for twice 32 it would take 60 more.
const MOST_CARRIED: usize = 32;

/// Layers of the DFT that one stage takes, as many as published; ten make a thousand diagonals.
const MAX_LAYERS: u32 = 10;
