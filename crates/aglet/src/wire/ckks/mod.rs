//! Files of CKKS: where its keys and ciphertexts are bound, and what is stored of each.

mod types;

use super::parameters::parameters;
use super::rlwe::{Lattice, SlotOrigin};
use super::{Family, Origin};
use crate::ckks::engine::user_limbs;
use crate::ckks::{presets, Engine};
use crate::OtherEngine;
use aglet_rlwe::Params;
use aglet_schemes::ckks::{CkksLiteral, CkksParams};

/// The types of the family.
pub(super) const FAMILY: Family =
    Family { name: CkksOrigin::FAMILY, said: "ckks", kinds: &types::ALL, finer: types::bootstrap_kind };

/// The origin of stored CKKS data.
pub type CkksOrigin = SlotOrigin<CkksParams>;

impl Engine {
    /// The origin of keys and ciphertexts of this engine.
    pub fn origin(&self) -> CkksOrigin {
        CkksOrigin { params: self.params().clone(), slots: self.slots(), ctx: Some(self.ctx.clone()) }
    }
}

parameters! { CkksParams, CkksLiteral, "ckks", aglet_bootstrap::ckks::literal, presets::load }

impl Lattice for CkksParams {
    fn rlwe(&self) -> &Params {
        self.rlwe()
    }
    fn user_limbs(&self) -> usize {
        user_limbs(self)
    }
    fn serves(&self, slots: usize) -> bool {
        slots.is_power_of_two() && slots <= self.slots()
    }
    fn other(&self, theirs: &CkksLiteral, name: String) -> OtherEngine {
        let levels = theirs.levels();
        if (self.name(), self.max_level()) == (&theirs.name[..], levels) {
            OtherEngine::OtherVersion
        } else if theirs.name.starts_with("levels-") {
            OtherEngine::Levels { levels }
        } else {
            OtherEngine::Preset { name }
        }
    }
}
