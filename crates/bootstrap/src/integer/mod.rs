//! The bootstrap of integers modulo 65537 in all slots: slots_to_coeffs, encapsulate, raise, coeffs_to_slots, digit_extraction, mod_switch.
//!
//! Numbers are moved to coefficients modulo p. At the lowest modulus a rounding takes `m` to `p m + e` modulo p^2. Back
//! in the slots, digit extraction removes the low digit e with null polynomials (eprint 2024/115, 2022/1364), with
//! sparse-secret encapsulation (2022/024). Everything is exact: a result has the correction factor of its level,
//! whatever the input was.

mod raising;
mod steps;

pub use steps::{Apply, Encapsulate, Exact, ExtractDigits, ModSwitch, Raise, Refresh, Round, Whole};

use crate::bootstrapper::Bootstrapper;
use crate::error::Error;
use crate::own_keys::OwnKeys;
use crate::plan::Plan;
use crate::step::{KeyNeed, Stage, Step};
use aglet_circuits::dft::{coeffs_to_slots, even_split, slots_to_coeffs};
use aglet_circuits::{BabySteps, DigitExtraction};
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, Params, SecretKey, SwitchingKey};
use aglet_schemes::integer::prime_power::{raising_key, Encoding, Pair, PairMap, PrimePower, Residue};
use aglet_schemes::integer::{IntegerParams, LOW_DIGIT};
use aglet_schemes::{Scalar, Scale};
use std::sync::Arc;

/// The level at which a bootstrap takes its input: above the prime of slots_to_coeffs.
pub const INPUT_LEVEL: usize = 1;
/// Maps of slots_to_coeffs and of coeffs_to_slots.
const STAGES: (usize, usize) = (2, 3);
/// Steps of maps without and with a part whose rows are switched, which doubles the giant steps.
const STEPS: [BabySteps; 2] =
    [BabySteps { giant_cost: 4.0, most: 64, right: false }, BabySteps { giant_cost: 8.0, most: 64, right: false }];

/// What a circuit has of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The first stages: slots become coefficients modulo q0, the number m as `m / p` of the torus, and stay there. Number j of the
    /// first row becomes coefficient `reversed j` times N over the slots, that of the second row N/2 further.
    Lowering,
    /// The stages for repacked messages, [`BootstrapCircuit::raising`].
    Raising(Messages),
}

/// Repacked messages: their number, how many the torus has room for, and the bound of their errors.
pub type Messages = (u64, u64, u64);

/// A bootstrap on a parameter set, or a part of one, with the same chain, keys and maps.
#[derive(Debug, Clone)]
pub struct BootstrapCircuit {
    /// The parameters of the engine.
    pub whole: IntegerParams,
    /// The parameters of the chain that it raises to.
    pub params: Params,
    /// Its stages.
    pub plan: Arc<Plan<Refresh>>,
    /// What it has of a bootstrap.
    pub part: Part,
    /// The stages of the whole bootstrap, whose key serves its parts.
    bootstrap: Arc<Plan<Refresh>>,
}

impl BootstrapCircuit {
    /// Chooses the limbs and plans the stages.
    ///
    /// # Errors
    /// Parameters without a bootstrap, and what [`Plan`] refuses.
    pub fn new(params: &IntegerParams) -> Result<Self, Error> {
        let bootstrap = params.bootstrap()?;
        let (chain, above) = (params.q().len(), params.max_level() + 1);
        let raised = chain..chain + params.spare().len();
        let limbs: Vec<usize> = (0..=INPUT_LEVEL).chain(raised).chain(above..chain).collect();
        let own = params.subset(&limbs)?;
        let plan = Arc::new(plan(params, own.q(), bootstrap.sparse_weight)?);
        Ok(Self { whole: params.clone(), params: own, bootstrap: plan.clone(), plan, part: Part::Whole })
    }

    /// Only the first stages, [`Part::Lowering`].
    ///
    /// # Errors
    /// [`Error::Broken`] if they do not end at the lowest modulus, which cannot happen for a finished bootstrap
    /// circuit.
    pub fn lowering(&self) -> Result<Self, Error> {
        let maps = self.plan.stages().iter().take_while(|s| !matches!(s.step, Refresh::Encapsulate(_)));
        self.with(Part::Lowering, maps.cloned().collect())
    }

    /// Other stages on the same chain.
    fn with(&self, part: Part, stages: Vec<Stage<Refresh>>) -> Result<Self, Error> {
        let plan = Plan::new(stages, &self.params.q().iter().map(|&q| q as f64).collect::<Vec<_>>())?;
        Ok(Self { plan: Arc::new(plan), part, ..self.clone() })
    }
}

impl PartialEq for BootstrapCircuit {
    fn eq(&self, other: &Self) -> bool {
        self.part == other.part && self.whole.fingerprint() == other.whole.fingerprint()
    }
}

impl Bootstrapper for BootstrapCircuit {
    type Step = Refresh;

    fn params(&self) -> &Params {
        &self.params
    }

    fn plan(&self) -> &Arc<Plan<Refresh>> {
        &self.plan
    }

    fn keys(&self) -> Result<(Params, Vec<KeyNeed>), Error> {
        let of = |s: &Stage<Refresh>| s.step.keys_needed(&s.from, &s.to, &self.params);
        let needs = self.bootstrap.stages().iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let all: KeySet<KeySwitchSpec> = needs.into_iter().flatten().collect();
        let list = all.iter().map(|(role, spec)| KeyNeed { role, spec: spec.clone() }).collect();
        Ok((self.params.clone(), list))
    }

    fn own_keys(&self) -> Result<Box<dyn OwnKeys>, Error> {
        Ok(Box::new(Carried))
    }
}

/// Keys back from the sparse secret, which carry the raised map.
struct Carried;

impl OwnKeys for Carried {
    fn key(
        &self,
        ctx: &Context,
        (role, spec): (KeyRole, &KeySwitchSpec),
        secrets: (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Option<SwitchingKey>, Error> {
        match role {
            KeyRole::SparseToDenseGalois(galois) => Ok(Some(raising_key(ctx, spec, galois, secrets, random)?)),
            _ => Ok(None),
        }
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
    let start = Residue::from(params.correction_factor_at(INPUT_LEVEL));
    let mut stages =
        Stages { at: Exact { level: INPUT_LEVEL, power: PrimePower::One, correction_factor: start }, list: Vec::new() };

    // (x0, x1) becomes x0 + i x1, of which the second row is the conjugate: the first map, with its rows switched or not.
    let mut down = slots_to_coeffs(slots, STAGES.0, Pair::ONE, STEPS[0])?.into_iter();
    let first = STEPS[1].on(down.next().ok_or(Error::NotEncoded)?)?;
    let before = PairMap::after(&first, row(Pair::ONE, i), row(i, Pair::ONE));
    stages.map("slots_to_coeffs 1/2", before, Residue::ONE, 0, primes);
    let lowered = -Residue::from(primes[0]) * Residue::from(primes[INPUT_LEVEL]);
    for map in down {
        stages.map("slots_to_coeffs 2/2", map.into(), lowered.over(start), 1, primes);
    }
    let at = stages.at;
    stages.push("encapsulate", Encapsulate { weight }, at);
    let mut layers = even_split(slots.ilog2(), STAGES.1);
    layers.reverse();
    let mut up = coeffs_to_slots(slots, &layers, Pair::ONE, STEPS[0])?;
    let last = up.pop().ok_or(Error::NotEncoded)?;
    let mut up = up.into_iter();
    if let Some(map) = up.next() {
        let to = Exact { level: top, power: PrimePower::Two, correction_factor: Residue::ONE };
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

    let digit_extraction = DigitExtraction::new(LOW_DIGIT)?;
    let level = stages.at.level.saturating_sub(digit_extraction.levels());
    let users = &params.q()[..=params.max_level()];
    let gain = product(&users[INPUT_LEVEL + 1..]).over(product(&primes[INPUT_LEVEL + 1..=level]));
    let out = Exact {
        level: users.len() - 1,
        power: PrimePower::One,
        correction_factor: Residue::from(params.correction_factor_at(users.len() - 1)),
    };
    stages.push(
        "digit_extraction",
        ExtractDigits { digit_extraction },
        Exact { level, correction_factor: out.correction_factor.over(gain), ..out },
    );
    stages.push("mod_switch", ModSwitch { gain }, out);
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
        let Exact { level, power, correction_factor } = self.at;
        let leaving = product(&primes[level + 1 - drop..=level]);
        let to = Exact { level: level - drop, power, correction_factor: (correction_factor * gain).over(leaving) };
        self.push(name, Apply { map, how: Encoding { level, power, gain, drop } }, to);
    }
}
