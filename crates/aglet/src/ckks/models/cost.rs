//! The work of a bootstrap, before a key exists: by running its plan on an evaluator that counts.

use crate::ckks::engine::arithmetic_limbs;
use crate::ckks::Route;
use crate::Error;
use aglet_bootstrap::{Pipeline, Probe, Stage};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::Tally;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use aglet_schemes::ckks::CkksParams;
use aglet_schemes::cost::CostEvaluator;
use serde_json::{json, Value};
use std::borrow::Cow;
use std::time::Duration;

/// The work of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageCost {
    /// As in the plan.
    pub name: String,
    /// In words.
    pub work: Tally,
}

/// The work of every stage of a route; `whole` are the parameters of the engine.
///
/// # Errors
/// Those of the plan and of [`KeySwitchSpec::balanced`]; a route that was made passes.
pub fn stages(whole: &CkksParams, route: &Route) -> Result<Vec<StageCost>, Error> {
    stages_of_group(whole, route, 1)
}

/// [`stages`] of several bootstraps that go side by side ([`Engine::bootstrap_many`](crate::ckks::Engine::bootstrap_many)).
///
/// # Errors
/// As there.
pub fn stages_of_group(whole: &CkksParams, route: &Route, count: usize) -> Result<Vec<StageCost>, Error> {
    let e = CostEvaluator::new(route.params.clone(), key_shapes(whole, route)?);
    let input = e.encrypt(route.plan.input_level(), route.plan.input_scale());
    let mut counter = Counter { e: &e, stages: Vec::new() };
    Pipeline::new(&e, route.plan.clone())?.run(&e, &vec![input; count], &mut counter)?;
    Ok(counter.stages)
}

struct Counter<'a> {
    e: &'a CostEvaluator,
    stages: Vec<StageCost>,
}

impl Probe for Counter<'_> {
    fn stage(&mut self, stage: &Stage, _: usize, _: usize, time: Option<Duration>) -> bool {
        let work = self.e.take();
        if time.is_some() {
            self.stages.push(StageCost { name: stage.name.clone(), work });
        }
        true
    }
}

/// The shapes that the keys of a bootstrap have on the chain of its route.
fn key_shapes(whole: &CkksParams, route: &Route) -> Result<KeySet<KeySwitchSpec>, Error> {
    let (own, n) = (&route.params, whole.n());
    let arithmetic = KeySwitchSpec::balanced(whole, arithmetic_limbs(whole))?;
    let user = KeySet::new()
        .with(KeyRole::Square, arithmetic.clone())
        .with(KeyRole::Galois(conjugation_exponent(n)), arithmetic)
        .for_subset(whole, own);
    if let Some(spec) = route.small_spec(whole)? {
        let galois = |by| KeyRole::Galois(rotation_exponent(by as isize, n));
        let rotations = route.rotations().into_iter().map(|(by, _)| (galois(by), spec.clone()));
        let sparse = [
            (KeyRole::ToSparse, KeySwitchSpec::to_sparse()),
            (KeyRole::FromSparse, KeySwitchSpec::from_sparse(own.q().len())),
        ];
        return Ok(user.and(rotations.chain(sparse).collect()));
    }
    let (made_for, keys) = key_route(whole, route)?.keys(whole)?;
    Ok(user.and(keys.into_iter().collect::<KeySet<_>>().for_subset(&made_for, own)))
}

/// The route that the bootstrap key is made for. Laying it out takes as long as all the rest, and often it is this one but for
/// what is done with the result.
fn key_route<'a>(whole: &CkksParams, route: &'a Route) -> Result<Cow<'a, Route>, Error> {
    let (own, key) = (route.request, route.request.of_key());
    let full = own.slots == whole.slots() && own.target_level.is_none() && own.method == key.method;
    Ok(if full { Cow::Borrowed(route) } else { Cow::Owned(Route::new(whole, key)?) })
}

/// Work as JSON: transforms and products of limbs, bytes.
pub fn work_json(work: &Tally, n: usize) -> Value {
    let limbs = |words: u64| words as f64 / n as f64;
    json!({
        "forward_transforms": limbs(work.forward), "inverse_transforms": limbs(work.inverse), "pointwise_products": limbs(work.pointwise),
        "key_products": limbs(work.key), "diagonal_products": limbs(work.diagonal),
        "conversion_products": limbs(work.conversion), "key_bytes_read": 8 * work.key_read,
        "matrix_bytes_read": 8 * work.matrix_read, "ciphertext_bytes_read": 8 * work.ciphertext_read,
    })
}
