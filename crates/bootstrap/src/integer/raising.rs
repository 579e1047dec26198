//! Repacking into integers: messages with noise as coefficients at the lowest modulus, m at `m / torus` of the torus,
//! become fresh slots.
//!
//! The stages are those of the bootstrap from the sparse secret on, with another beginning and end. The phases are
//! rounded to whole multiples of 1/p of the torus, so the raised numbers are multiples of p. Divided by p they are `m p
//! / torus + e` modulo p, which one polynomial maps to m. The result has the levels that this polynomial leaves.

use super::{product, BootstrapCircuit, Exact, ModSwitch, Part, Refresh, Round, Whole, INPUT_LEVEL};
use crate::error::Error;
use crate::step::Stage;
use aglet_circuits::Rounding;
use aglet_schemes::integer::prime_power::{PrimePower, Residue};
use aglet_schemes::integer::Noise;
use aglet_schemes::Scale;

/// Roundings that operands of the polynomial have as their noise at most.
const OPERANDS: f64 = 4.0;

impl BootstrapCircuit {
    /// Levels that a polynomial on what is raised may take.
    #[must_use]
    pub fn rounding_levels(&self) -> usize {
        self.round_at().map_or(0, |at| at.level - INPUT_LEVEL)
    }

    /// Where slots stand that are to be rounded.
    fn round_at(&self) -> Option<Exact> {
        self.plan.stages().iter().find(|s| matches!(s.step, Refresh::ExtractDigits(_))).map(|s| s.from)
    }

    /// The stages for repacked messages: encapsulate, whole_parts, raise, coeffs_to_slots, round, mod_switch. They
    /// share the maps and keys of the bootstrap.
    ///
    /// # Errors
    /// [`Error::Chain`] for a polynomial that takes more levels than there are, that of primes which are too small for its products.
    pub fn raising(&self, rounding: Rounding) -> Result<Self, Error> {
        let (params, primes, levels) = (&self.whole, self.params.q(), rounding.levels());
        let ((count, torus), bound) = (rounding.messages(), rounding.bound());
        let short = |missing: usize| Error::Chain { primes: primes.len(), needed: primes.len() + missing };
        let from = self.round_at().ok_or(short(1))?;
        let level = from.level.checked_sub(levels).filter(|&level| level >= INPUT_LEVEL);
        let level = level.ok_or(short(levels.saturating_sub(self.rounding_levels())))?;
        let noise = Noise::rounding(params).times(OPERANDS);
        let small = |&q: &u64| noise.excess(noise, params.plain().value(), q) > 0.0;
        if primes[level + 1..=from.level].iter().any(small) {
            let reason = "primes of the bootstrap have no room for the products that round messages; take larger ones";
            return Err(aglet_schemes::Error::InvalidParameters { reason }.into());
        }
        let mut stages: Vec<Stage<Refresh>> = Vec::new();
        let own = |s: &&Stage<Refresh>| !matches!(s.step, Refresh::ExtractDigits(_));
        for stage in
            self.plan.stages().iter().skip_while(|s| !matches!(s.step, Refresh::Encapsulate(_))).take_while(own)
        {
            stages.push(stage.clone());
            if let Refresh::Encapsulate(_) = stage.step {
                stages.push(Stage { name: "whole_parts".into(), step: Whole.into(), ..stage.clone() });
            }
        }
        let top = top(&params.q()[..=params.max_level()], &primes[..=level]);
        let gain = product(&params.q()[INPUT_LEVEL + 1..=top]).over(product(&primes[INPUT_LEVEL + 1..=level]));
        let out = Exact {
            level: top,
            power: PrimePower::One,
            correction_factor: Residue::from(params.correction_factor_at(top)),
        };
        let rounded = Exact { level, correction_factor: out.correction_factor.over(gain), ..out };
        stages.push(Stage { name: "round".into(), step: Round { rounding }.into(), from, to: rounded });
        if level > INPUT_LEVEL {
            stages.push(Stage { name: "mod_switch".into(), step: ModSwitch { gain }.into(), from: rounded, to: out });
        }
        self.with(Part::Raising((count, torus, bound)), stages)
    }
}

/// The highest level of users whose primes above those of slots_to_coeffs are no more than what is left of the raised ones.
fn top(users: &[u64], raised: &[u64]) -> usize {
    let log2 = |primes: &[u64]| primes[INPUT_LEVEL + 1..].iter().map(|&q| (q as f64).log2()).sum::<f64>();
    (INPUT_LEVEL..users.len()).rev().find(|&level| log2(&users[..=level]) <= log2(raised)).unwrap_or(INPUT_LEVEL)
}
