//! The bootstrap of integers modulo 65537 in all slots: slots_to_coeffs, sparse_secret, raise, coeffs_to_slots, remove, exchange_primes.
//!
//! Numbers enter coefficients modulo p; at the lowest modulus a rounding takes `m` to `p m + e` modulo p^2, and after the way back to the
//! slots the low digit e is removed by null polynomials (eprint 2024/115, 2022/1364) on sparse-secret encapsulation (2022/024).
//! Everything is exact: a result has the factor of its level, whatever the input had been through.

mod raising;
mod steps;

pub use steps::{Apply, Exact, Exchange, Raise, Refresh, Remove, Round, ToSparse, Whole};

use crate::error::Error;
use crate::plan::Plan;
use crate::step::{KeyNeed, Stage, Step};
use aglet_circuits::dft::{coeffs_to_slots, slots_to_coeffs};
use aglet_circuits::{BabySteps, DigitRemoval};
use aglet_rlwe::{KeySet, KeySwitchSpec, Params};
use aglet_schemes::integer::powers::{Encoding, Pair, PairMap, Power, Residue};
use aglet_schemes::integer::{IntegerParams, LOW_DIGIT};
use aglet_schemes::{Scalar, Scale};
use std::sync::Arc;

/// The level that a bootstrap takes its input at: above the prime of slots_to_coeffs.
pub const INPUT_LEVEL: usize = 1;
/// Maps of slots_to_coeffs and of coeffs_to_slots.
const STAGES: (usize, usize) = (2, 3);
/// Steps of maps without and with a part whose rows are exchanged, which doubles the giant steps.
const STEPS: [BabySteps; 2] =
    [BabySteps { giant_cost: 4.0, most: 64, right: false }, BabySteps { giant_cost: 8.0, most: 64, right: false }];

/// A bootstrap on a parameter set.
#[derive(Debug, Clone)]
pub struct Route {
    /// The parameters on the limbs that it raises to.
    pub params: Params,
    /// Its stages.
    pub plan: Arc<Plan<Refresh>>,
}

impl Route {
    /// Chooses the limbs and lays out the stages.
    ///
    /// # Errors
    /// Parameters without a bootstrap, and what [`Plan`] refuses.
    pub fn new(params: &IntegerParams) -> Result<Self, Error> {
        let scheme = aglet_schemes::Error::from;
        let bootstrap = params.bootstrap().map_err(scheme)?;
        let (chain, above) = (params.q().len(), params.max_level() + 1);
        let raised = chain..chain + params.spare().len();
        let limbs: Vec<usize> = (0..=INPUT_LEVEL).chain(raised).chain(above..chain).collect();
        let own = params.subset(&limbs).map_err(scheme)?;
        let plan = Arc::new(plan(params, own.q(), bootstrap.sparse_weight)?);
        Ok(Self { params: own, plan })
    }

    /// The first stages alone: slots become coefficients modulo q0, the number m as `m / p` of a turn, and stay there.
    ///
    /// Number j of the first row becomes coefficient `reversed j` times N over the slots, that of the second row N/2 further.
    ///
    /// # Errors
    /// [`Error::Broken`] if they do not end at the lowest modulus; a route that was made passes.
    pub fn lowering(&self) -> Result<Plan<Refresh>, Error> {
        let maps = self.plan.stages().iter().take_while(|s| !matches!(s.step, Refresh::ToSparse(_)));
        Plan::new(maps.cloned().collect(), &self.params.q().iter().map(|&q| q as f64).collect::<Vec<_>>())
    }

    /// The keys that each stage needs, as they are made for them on the chain of the route.
    ///
    /// # Errors
    /// Those of the shapes of keys; a route that was made passes.
    pub fn stage_keys(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let of = |s: &Stage<Refresh>| s.step.keys_needed(&s.from, &s.to, &self.params);
        self.plan.stages().iter().map(of).collect()
    }

    /// The same as one list of shapes.
    ///
    /// # Errors
    /// As [`Route::stage_keys`].
    pub fn keys(&self) -> Result<KeySet<KeySwitchSpec>, Error> {
        Ok(self.stage_keys()?.into_iter().flatten().map(|KeyNeed { role, spec }| (role, spec)).collect())
    }

    /// Bytes of what is encoded before a run.
    ///
    /// # Errors
    /// As [`Route::stage_keys`].
    pub fn encoded_bytes(&self) -> Result<usize, Error> {
        let keys = self.stage_keys()?;
        let stages = self.plan.stages().iter().zip(&keys);
        stages.map(|(s, keys)| s.step.encoded_bytes(&self.params, keys)).sum()
    }
}

fn product<'a>(primes: impl IntoIterator<Item = &'a u64>) -> Residue {
    primes.into_iter().fold(Residue::ONE, |product, &q| product * Residue::from(q))
}

/// Lays out the stages on the primes that it raises to, and proves their levels and factors.
fn plan(params: &IntegerParams, primes: &[u64], weight: usize) -> Result<Plan<Refresh>, Error> {
    let slots = 1 << (params.log_slots() - 1);
    let (i, half, top) = (Pair::i(), Pair::ONE.half(), primes.len() - 1);
    let row = |a: Pair, b: Pair| Pair([a.0[0], b.0[1]]);
    let start = Residue::from(params.factor_at(INPUT_LEVEL));
    let mut stages = Stages { at: Exact { level: INPUT_LEVEL, power: Power::One, factor: start }, list: Vec::new() };

    // (x0, x1) becomes x0 + i x1, of which the second row is the conjugate: the first map, with its rows exchanged or not.
    let mut down = slots_to_coeffs(slots, STAGES.0, Pair::ONE, STEPS[0])?.into_iter();
    let first = STEPS[1].on(down.next().ok_or(Error::NotEncoded)?)?;
    let before = PairMap::after(&first, row(Pair::ONE, i), row(i, Pair::ONE));
    stages.map("slots_to_coeffs 1/2", before, Residue::ONE, 0, primes);
    let lowered = -Residue::from(primes[0]) * Residue::from(primes[INPUT_LEVEL]);
    for map in down {
        stages.map("slots_to_coeffs 2/2", map.into(), lowered.over(start), 1, primes);
    }
    let at = stages.at;
    stages.push("sparse_secret", ToSparse { weight }, at);
    let mut up = coeffs_to_slots(slots, STAGES.1, Pair::ONE, STEPS[0])?;
    let last = up.pop().ok_or(Error::NotEncoded)?;
    let mut up = up.into_iter();
    if let Some(map) = up.next() {
        let to = Exact { level: top, power: Power::Two, factor: Residue::ONE };
        stages.push("raise, coeffs_to_slots 1/3", Raise { map, level: top }, to);
    }
    for map in up {
        let gain = Residue::from(primes[stages.at.level]);
        stages.map("coeffs_to_slots 2/3", map.into(), gain, 1, primes);
    }
    // And back: x0 = (w + w') / 2, x1 = (w - w') / 2i.
    let over_i = half * i.swapped();
    let after = PairMap::before(&last, row(half, over_i), row(half, -over_i));
    let gain = Residue::from(primes[stages.at.level]);
    stages.map("coeffs_to_slots 3/3", after, gain, 1, primes);

    let removal = DigitRemoval::new(LOW_DIGIT)?;
    let level = stages.at.level.saturating_sub(removal.levels());
    let users = &params.q()[..=params.max_level()];
    let gain = product(&users[INPUT_LEVEL + 1..]).over(product(&primes[INPUT_LEVEL + 1..=level]));
    let out =
        Exact { level: users.len() - 1, power: Power::One, factor: Residue::from(params.factor_at(users.len() - 1)) };
    stages.push("remove", Remove { removal }, Exact { level, factor: out.factor.over(gain), ..out });
    stages.push("exchange_primes", Exchange { gain }, out);
    Plan::new(stages.list, &primes.iter().map(|&q| q as f64).collect::<Vec<_>>())
}

/// The stages as they are laid out, one after the other.
struct Stages {
    /// Where the last of them ends.
    at: Exact,
    list: Vec<Stage<Refresh>>,
}

impl Stages {
    fn push(&mut self, name: &str, step: impl Into<Refresh>, to: Exact) {
        self.list.push(Stage { name: name.into(), step: step.into(), from: self.at, to });
        self.at = to;
    }
    /// A map whose diagonals are multiplied by `gain`, and which divides by so many primes.
    fn map(&mut self, name: &str, map: PairMap, gain: Residue, drop: usize, primes: &[u64]) {
        let Exact { level, power, factor } = self.at;
        let leaving = product(&primes[level + 1 - drop..=level]);
        let to = Exact { level: level - drop, power, factor: (factor * gain).over(leaving) };
        self.push(name, Apply { map, how: Encoding { level, power, gain, drop } }, to);
    }
}
