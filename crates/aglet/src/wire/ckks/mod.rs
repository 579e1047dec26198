//! Files of CKKS: where its keys and ciphertexts are bound, and what is stored of each.

mod types;

use super::parameters::{shown, unusable};
use super::{Family, Origin, Summary};
use crate::ckks::presets;
use crate::ckks::Engine;
use crate::{Error, FormatError, OtherEngine};
use aglet_rlwe::security::Security;
use aglet_rlwe::Context;
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

/// The types of the family.
pub(super) const FAMILY: Family = Family { name: CkksOrigin::FAMILY, kinds: &types::ALL, finer: types::bootstrap_kind };

/// The origin of stored CKKS data: it fits engines of these parameters and, in most cases, this number of slots.
#[derive(Clone)]
pub struct CkksOrigin {
    /// The parameters.
    pub params: CkksParams,
    /// Message slots.
    pub slots: usize,
    /// The tables of an engine, which only secret keys need.
    pub ctx: Option<Arc<Context>>,
}

impl PartialEq for CkksOrigin {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, self.slots) == (&other.params, other.slots)
    }
}

impl Engine {
    /// The origin of keys and ciphertexts of this engine.
    pub fn origin(&self) -> CkksOrigin {
        CkksOrigin { params: self.params().clone(), slots: self.slots(), ctx: Some(self.ctx.clone()) }
    }
}

impl CkksOrigin {
    /// The origin that data names: a preset that comes with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
    /// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        summary.check_family(Self::FAMILY)?;
        let literal = aglet_bootstrap::ckks::literal(&summary.literal).map_err(unusable)?;
        // What can be done with a preset below 128 bits is the engine's to say: without one nothing is done with what is read.
        let preset = presets::load(&literal.name, presets::Security::NotChecked)
            .ok()
            .filter(|p| p.fingerprint() == summary.fingerprint);
        let params = match preset {
            Some(params) => params,
            None if allow_insecure => CkksParams::new(literal, Security::NotChecked).map_err(unusable)?,
            None => CkksParams::new(literal, Security::Bits128).map_err(unusable)?,
        };
        summary.check_fingerprint(params.name(), params.fingerprint())?;
        let slots = summary.slots;
        if !slots.is_power_of_two() || slots > params.slots() {
            return Err(FormatError::Slots { slots }.into());
        }
        Ok(Self { params, slots, ctx: None })
    }
}

impl Origin for CkksOrigin {
    const FAMILY: &'static str = "ckks";

    fn name(&self) -> &str {
        self.params.name()
    }
    fn fingerprint(&self) -> [u8; 32] {
        self.params.fingerprint()
    }
    fn slots(&self) -> usize {
        self.slots
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(self.params.literal().to_toml()?)
    }
    fn other(&self, literal: &str) -> Result<(String, OtherEngine), Error> {
        let theirs = aglet_bootstrap::ckks::literal(literal).map_err(unusable)?;
        let (name, levels) = (shown(&theirs.name), theirs.levels());
        let fix = if (self.params.name(), self.params.max_level()) == (&theirs.name[..], levels) {
            OtherEngine::OtherVersion
        } else if theirs.name.starts_with("levels-") {
            OtherEngine::Levels { levels }
        } else {
            OtherEngine::Preset { name: name.clone() }
        };
        Ok((name, fix))
    }
}
