//! Which primes of a parameter set a slots-first bootstrap raises to.

use crate::error::Error;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::ops::Range;

/// The primes of the chain that a bootstrap raises to, bottom to top, as the parameter set counts them.
///
/// It has the message primes up to the level that is left, or spare primes of as many bits, the primes of eval_mod that are
/// needed, and those of coeffs_to_slots. If these are fewer than the rescales there, unused message primes from the top make the
/// first maps: there the scale is far from its final size, so a smaller prime costs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limbs {
    /// q0 and what slots_to_coeffs consumes.
    pub bottom: Range<usize>,
    /// What users will have again above that, or spare primes in their place.
    pub message: Vec<usize>,
    /// What eval_mod consumes.
    pub eval_mod: Range<usize>,
    /// What coeffs_to_slots consumes last.
    pub coeffs_to_slots: Range<usize>,
    /// Message primes that it consumes first.
    pub unused_message: Range<usize>,
}

impl Limbs {
    /// Leaves `message` message primes, with so many primes for eval_mod and coeffs_to_slots; `spare` primes may stand for
    /// message primes.
    ///
    /// # Errors
    /// [`Error::TooFewLevels`] if the set has not the primes.
    pub fn new(
        params: &CkksParams,
        (message, spare): (usize, bool),
        eval_mod: usize,
        coeffs_to_slots: usize,
    ) -> Result<Self, Error> {
        let all = params.role(Role::Message);
        let message = message_limbs(params, message, spare)?;
        let (own_eval_mod, own) = (params.role(Role::EvalMod), params.role(Role::CoeffsToSlots));
        let unused_message = all.end - coeffs_to_slots.saturating_sub(own.len())..all.end;
        if eval_mod > own_eval_mod.len() || message.iter().any(|l| unused_message.contains(l)) {
            return Err(too_few_levels(params));
        }
        Ok(Self {
            bottom: 0..all.start,
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

/// What stands above slots_to_coeffs while eval_mod runs, to leave so many message primes: these, or the fewest spare primes
/// of as many bits.
fn message_limbs(params: &CkksParams, count: usize, spare: bool) -> Result<Vec<usize>, Error> {
    let all = params.role(Role::Message);
    if count > all.len() {
        return Err(too_few_levels(params));
    }
    let own: Vec<usize> = (all.start..all.start + count).collect();
    if !spare {
        return Ok(own);
    }
    let needed: f64 = own.iter().map(|&l| (params.q()[l] as f64).log2()).sum();
    let bits = |count: usize| params.spare()[..count].iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let fewest = (0..=params.spare().len()).find(|&n| bits(n) > needed - BITS_LESS);
    let fewest = fewest.ok_or_else(|| too_few_levels(params))?;
    Ok(params.role(Role::Spare).take(fewest).collect())
}

fn too_few_levels(params: &CkksParams) -> Error {
    Error::TooFewLevels { preset: params.name().to_string() }
}

/// Spare primes may have so many bits less than those that they stand for: what eval_mod squares last has half of that less.
const BITS_LESS: f64 = 0.5;
