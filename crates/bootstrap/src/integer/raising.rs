//! What comes up from elsewhere: messages with noise as coefficients at the lowest modulus, m at `m / turn` of a turn, to fresh slots.
//!
//! The stages are those of the bootstrap from the sparse secret on, with another beginning and another end. Rounded to whole parts of p
//! of a turn, the numbers that are raised are multiples of p: over p they are `m p / turn + e` modulo p, which one polynomial takes to m.
//! There are as many levels below as it leaves.

use super::{product, Exact, Exchange, Refresh, Round, Route, Whole, INPUT_LEVEL};
use crate::error::Error;
use crate::plan::Plan;
use crate::step::Stage;
use aglet_circuits::Rounding;
use aglet_schemes::integer::powers::{Power, Residue};
use aglet_schemes::integer::{IntegerParams, Noise};
use aglet_schemes::Scale;

/// Roundings that operands of the polynomial have as their noise at most.
const OPERANDS: f64 = 4.0;

impl Route {
    /// Levels that a polynomial on what is raised may take.
    #[must_use]
    pub fn rounding_levels(&self) -> usize {
        self.round_at().map_or(0, |at| at.level - INPUT_LEVEL)
    }

    /// Where slots stand that are to be rounded.
    fn round_at(&self) -> Option<Exact> {
        self.plan.stages().iter().find(|s| matches!(s.step, Refresh::Remove(_))).map(|s| s.from)
    }

    /// The stages for messages from elsewhere: sparse_secret, whole_parts, raise, coeffs_to_slots, round, exchange_primes. They share the
    /// maps and keys of the bootstrap.
    ///
    /// # Errors
    /// [`Error::Chain`] for a polynomial that takes more levels than there are, that of primes which are too small for its products.
    pub fn raising(&self, params: &IntegerParams, rounding: Rounding) -> Result<Plan<Refresh>, Error> {
        let (primes, levels) = (self.params.q(), rounding.levels());
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
        let own = |s: &&Stage<Refresh>| !matches!(s.step, Refresh::Remove(_));
        for stage in self.plan.stages().iter().skip_while(|s| !matches!(s.step, Refresh::ToSparse(_))).take_while(own) {
            stages.push(stage.clone());
            if let Refresh::ToSparse(_) = stage.step {
                stages.push(Stage { name: "whole_parts".into(), step: Whole.into(), ..stage.clone() });
            }
        }
        let top = top(&params.q()[..=params.max_level()], &primes[..=level]);
        let gain = product(&params.q()[INPUT_LEVEL + 1..=top]).over(product(&primes[INPUT_LEVEL + 1..=level]));
        let out = Exact { level: top, power: Power::One, factor: Residue::from(params.factor_at(top)) };
        let rounded = Exact { level, factor: out.factor.over(gain), ..out };
        stages.push(Stage { name: "round".into(), step: Round { rounding }.into(), from, to: rounded });
        if level > INPUT_LEVEL {
            stages.push(Stage {
                name: "exchange_primes".into(),
                step: Exchange { gain }.into(),
                from: rounded,
                to: out,
            });
        }
        Plan::new(stages, &primes.iter().map(|&q| q as f64).collect::<Vec<_>>())
    }
}

/// The highest level of users whose primes above those of slots_to_coeffs are no more than what is left of the raised ones.
fn top(users: &[u64], raised: &[u64]) -> usize {
    let log2 = |primes: &[u64]| primes[INPUT_LEVEL + 1..].iter().map(|&q| (q as f64).log2()).sum::<f64>();
    (INPUT_LEVEL..users.len()).rev().find(|&level| log2(&users[..=level]) <= log2(raised)).unwrap_or(INPUT_LEVEL)
}
