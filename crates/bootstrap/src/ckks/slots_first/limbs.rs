//! The primes of a parameter set that a slots-first bootstrap raises to.

use crate::error::Error;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::ops::Range;

/// The primes of the chain that a bootstrap raises to, bottom to top, as the parameter set counts them.
///
/// They are the primes of slots_to_coeffs and of messages up to the level of the result (or spare primes of as many bits), the
/// primes of eval_mod that are needed, and those of coeffs_to_slots. If coeffs_to_slots has more rescales than primes, unused
/// message primes from the top serve its first maps: the scale there is far from its final size, so a smaller prime costs
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limbs {
    /// q0, and the primes of slots_to_coeffs where no spare primes stand for them.
    pub bottom: Range<usize>,
    /// The users' primes above that up to the level of the result, or spare primes in their place.
    pub message: Vec<usize>,
    /// The primes of eval_mod.
    pub eval_mod: Range<usize>,
    /// The last primes of coeffs_to_slots.
    pub coeffs_to_slots: Range<usize>,
    /// The message primes that coeffs_to_slots takes first.
    pub unused_message: Range<usize>,
}

/// The message primes of the result.
#[derive(Debug, Clone, Copy)]
pub struct OutputLimbs {
    /// The user level of the result.
    pub level: usize,
    /// The levels between eval_mod and the result.
    pub after_eval_mod: usize,
    /// Where spare primes stand.
    pub spare: Spare,
}

/// What spare primes stand for while eval_mod runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spare {
    /// For nothing.
    None,
    /// For message primes.
    Messages,
    /// For all primes of users but q0: also for those of slots_to_coeffs, whose maps are rescaled by spare primes then.
    All,
}

impl Spare {
    /// The most that the spare primes of a parameter set have bits for.
    pub fn of(params: &CkksParams) -> Self {
        let all = bits(&params.q()[Self::All.stands_for(params, params.role(Role::Message).len())]);
        match bits(params.spare()) {
            _ if params.spare().is_empty() => Self::None,
            spare if spare > all - BITS_LESS => Self::All,
            _ => Self::Messages,
        }
    }
    /// The users' primes that are not in a chain for a result of this level.
    pub fn stands_for(self, params: &CkksParams, level: usize) -> Range<usize> {
        let (levels, hidden) = (params.role(Role::Message), params.role(Role::SlotsToCoeffs));
        let start = if self == Self::All { hidden.start } else { levels.start };
        start..levels.start + if self == Self::None { 0 } else { level }
    }
}

impl Limbs {
    /// Leaves message primes as `kept` says, with so many primes for eval_mod and coeffs_to_slots.
    ///
    /// # Errors
    /// [`Error::TooFewLevels`] if the set has too few primes.
    pub fn new(params: &CkksParams, kept: OutputLimbs, eval_mod: usize, coeffs_to_slots: usize) -> Result<Self, Error> {
        let all = params.role(Role::Message);
        let message = message_limbs(params, kept)?;
        let (own_eval_mod, own) = (params.role(Role::EvalMod), params.role(Role::CoeffsToSlots));
        let unused_message = all.end - coeffs_to_slots.saturating_sub(own.len())..all.end;
        if eval_mod > own_eval_mod.len() || message.iter().any(|l| unused_message.contains(l)) {
            return Err(too_few_levels(params));
        }
        Ok(Self {
            bottom: if kept.spare == Spare::All { 0..1 } else { 0..all.start },
            message,
            eval_mod: own_eval_mod.start..own_eval_mod.start + eval_mod,
            coeffs_to_slots: own.start..own.start + coeffs_to_slots.min(own.len()),
            unused_message,
        })
    }

    /// All of them.
    pub fn primes(&self) -> Vec<usize> {
        let middle = self.message.iter().copied().chain(self.eval_mod.clone());
        self.bottom
            .clone()
            .chain(middle)
            .chain(self.coeffs_to_slots.clone())
            .chain(self.unused_message.clone())
            .collect()
    }
}

/// What stands above the bottom while eval_mod runs: the message primes themselves, or the fewest spare primes that have as many bits when
/// eval_mod and what follows it are done, and enough levels for slots_to_coeffs if they stand for its primes.
pub(super) fn message_limbs(params: &CkksParams, kept: OutputLimbs) -> Result<Vec<usize>, Error> {
    let (all, count) = (params.role(Role::Message), kept.level + kept.after_eval_mod);
    if count > all.len() {
        return Err(too_few_levels(params));
    }
    if kept.spare == Spare::None {
        return Ok((all.start..all.start + count).collect());
    }
    let needed = bits(&params.q()[kept.spare.stands_for(params, kept.level)]);
    let fewest = (0..=params.spare().len()).find(|&n| bits(&params.spare()[..n]) > needed - BITS_LESS);
    let levels = if kept.spare == Spare::All { params.hidden_levels() } else { 0 };
    let fewest = fewest.ok_or_else(|| too_few_levels(params))?.max(levels);
    let (found, most) = (fewest + kept.after_eval_mod, params.spare().len());
    (found <= most).then(|| params.role(Role::Spare).take(found).collect()).ok_or_else(|| too_few_levels(params))
}

/// The bits of a product.
fn bits(primes: &[u64]) -> f64 {
    primes.iter().map(|&q| (q as f64).log2()).sum()
}

fn too_few_levels(params: &CkksParams) -> Error {
    Error::TooFewLevels { preset: params.name().to_string() }
}

/// Spare primes may have so many bits less than those that they stand for: what eval_mod squares last has half of that less.
const BITS_LESS: f64 = 0.5;
