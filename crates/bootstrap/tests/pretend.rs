//! A family that none of the crates knows bootstraps: with steps in this file, and nothing else had to be touched for it.

#[path = "../../circuits/tests/pretend/scheme.rs"]
mod scheme;

use aglet_bootstrap::step::{Encoded, Metadata, MetadataOf};
use aglet_bootstrap::{Bootstrapper, Error, KeyNeed, OwnKeys, Pipeline, Plan, Run, RunOn, Stage, Step};
use aglet_circuits::dft::{coeffs_to_slots, even_split, slots_to_coeffs};
use aglet_circuits::BabySteps;
use aglet_rlwe::security::Security;
use aglet_rlwe::{KeySwitchSpec, Params};
use aglet_schemes::integer::IntegerParams;
use aglet_schemes::{Evaluator, LinearMap, Scalar};
use scheme::{Hidden, Pair, Pretend};
use std::sync::Arc;

const SLOTS: usize = 64;
const STEPS: BabySteps = BabySteps { giant_cost: 4.0, most: 8, right: false };
/// The level that a bootstrap leaves.
const TOP: usize = 5;

/// A ciphertext of this family has a level and no scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(usize);

impl Metadata for Level {
    fn meets(&self, other: &Self) -> bool {
        self == other
    }
}

impl MetadataOf<Pretend> for Level {
    fn of(e: &Pretend, ct: &Hidden) -> Self {
        Self(e.level(ct))
    }
}

/// A linear map, at its level.
#[derive(Debug, Clone, PartialEq)]
pub struct Apply(LinearMap<Pair>, usize);

impl Step for Apply {
    type Metadata = Level;

    fn check(&self, from: &Level, to: &Level, _: &[f64]) -> bool {
        from == to && from.0 == self.1
    }
}

impl RunOn<Pretend> for Apply {
    fn encode(&self, e: &Pretend) -> Result<Option<Encoded<scheme::Encoded>>, Error> {
        Ok(Some(Encoded::Map(e.encode_map(&self.0, self.1)?)))
    }
    fn run_on(&self, e: &Pretend, Run { cts, encoded, .. }: Run<'_, Pretend, Level>) -> Result<Vec<Hidden>, Error> {
        Ok(e.transforms(cts, Encoded::map(encoded)?)?)
    }
}

/// More levels, by the secret that an evaluator of this family has.
#[derive(Debug, Clone, PartialEq)]
pub struct Raise;

impl Step for Raise {
    type Metadata = Level;

    /// One rotation key, which the pretence does not use.
    fn keys_needed(&self, _: &Level, to: &Level, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::rotations(params, to.0 + 1, [1])
    }

    fn check(&self, from: &Level, to: &Level, moduli: &[f64]) -> bool {
        from.0 == 0 && to.0 < moduli.len()
    }
}

impl RunOn<Pretend> for Raise {
    fn run_on(&self, e: &Pretend, Run { cts, to, .. }: Run<'_, Pretend, Level>) -> Result<Vec<Hidden>, Error> {
        Ok(cts.iter().map(|ct| e.encrypt(&e.decrypt(ct), to.0)).collect())
    }
}

aglet_bootstrap::steps! {
    /// A step of the bootstrap of this family.
    Refresh at Level:
    /// A linear map.
    Apply(Apply),
    /// More levels.
    Raise(Raise),
}

fn stages(top: usize) -> Vec<Stage<Refresh>> {
    let maps = |maps: Vec<LinearMap<Pair>>, name: &str, level: usize| {
        let stage = |map| Stage {
            name: name.to_string(),
            step: Apply(map, level).into(),
            from: Level(level),
            to: Level(level),
        };
        maps.into_iter().map(stage).collect::<Vec<_>>()
    };
    let down = maps(slots_to_coeffs(SLOTS, 2, Pair::ONE, STEPS).unwrap(), "slots_to_coeffs", 0);
    let up =
        maps(coeffs_to_slots(SLOTS, &even_split(SLOTS.ilog2(), 3), Pair::ONE, STEPS).unwrap(), "coeffs_to_slots", top);
    let raise = Stage { name: "raise".into(), step: Raise.into(), from: Level(0), to: Level(top) };
    [down, vec![raise], up].concat()
}

/// The bootstrap of this family.
struct Circuit {
    params: Params,
    plan: Arc<Plan<Refresh>>,
}

impl Circuit {
    fn new(params: &Params) -> Result<Self, Error> {
        let moduli: Vec<f64> = params.q().iter().map(|&q| q as f64).collect();
        Ok(Self { params: params.clone(), plan: Arc::new(Plan::new(stages(TOP), &moduli)?) })
    }
}

impl PartialEq for Circuit {
    fn eq(&self, other: &Self) -> bool {
        self.params.prime_indices() == other.params.prime_indices()
    }
}

impl Bootstrapper for Circuit {
    type Step = Refresh;

    fn params(&self) -> &Params {
        &self.params
    }
    fn plan(&self) -> &Arc<Plan<Refresh>> {
        &self.plan
    }
    fn keys(&self) -> Result<(Params, Vec<KeyNeed>), Error> {
        Ok((self.params.clone(), self.needs()?.concat()))
    }
    /// None: all are made as usual.
    fn own_keys(&self) -> Result<Box<dyn OwnKeys>, Error> {
        struct Usual;
        impl OwnKeys for Usual {}
        Ok(Box::new(Usual))
    }
}

/// What engines, files and forecasts ask is answered by what all families share.
#[test]
fn a_family_of_tests_is_a_bootstrapper() {
    let whole = integer_params();
    let (params, e) = (whole.subset(&(0..=TOP).collect::<Vec<_>>()).unwrap(), Pretend::new(SLOTS));
    let circuit = Circuit::new(&params).unwrap();
    assert_eq!((circuit.input(), circuit.output()), (Level(0), Level(TOP)));
    let message: Vec<Pair> = (0..SLOTS as u64).map(|j| Pair(5 * j % 257, 3 * j * j % 257)).collect();
    let out = circuit.run(&e, &[e.encrypt(&message, 0)], &mut ()).unwrap();
    assert_eq!((e.level(&out[0]), e.decrypt(&out[0])), (TOP, message));
    let keys = circuit.stage_keys().unwrap();
    assert_eq!(keys.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1, 0, 0, 0]);
    let spec = KeySwitchSpec::balanced(&params, TOP + 1).unwrap();
    let stored = spec.stored_bytes(&params).unwrap();
    assert_eq!(circuit.key_bytes().unwrap(), (spec.byte_count(&params).unwrap(), stored));
    assert!(
        circuit.packed_needed().is_empty() && circuit.shares_maps(&circuit) && circuit.encoded_bytes().unwrap() == 0
    );
}

fn integer_params() -> Params {
    let text = include_str!("../../aglet/presets/integer/int16.toml");
    IntegerParams::from_toml(text, Security::NotChecked).unwrap().rlwe().clone()
}

#[test]
fn a_family_of_tests_bootstraps_by_the_plan_and_pipeline_of_all() {
    let (e, chain) = (Pretend::new(SLOTS), [257.0; TOP + 1]);
    let message: Vec<Pair> = (0..SLOTS as u64).map(|j| Pair(31 * j * j % 257, 7 * j % 257)).collect();
    let plan = Plan::new(stages(TOP), &chain).unwrap();
    assert_eq!((plan.input(), plan.output(), plan.stages().len()), (Level(0), Level(TOP), 6));
    let out = Pipeline::new(&e, plan).unwrap().run(&e, &[e.encrypt(&message, 0)], &mut ()).unwrap();
    assert_eq!((e.level(&out[0]), e.decrypt(&out[0])), (TOP, message));
    // What does not fit is refused before anything runs.
    assert!(matches!(Plan::new(stages(TOP + 1), &chain), Err(Error::Broken { stage }) if stage == "raise"));
    let shuffled = stages(TOP).into_iter().rev().collect();
    assert!(matches!(Plan::new(shuffled, &chain), Err(Error::Broken { .. })));
}
