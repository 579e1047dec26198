//! The work of a bootstrap, before a key exists: by running its plan on an evaluator that counts.

use crate::ckks::Route;
use crate::runtime::Counter;
pub use crate::runtime::{work_json, StageCost};
use crate::Error;
use aglet_bootstrap::{Pipeline, Scaled};
use aglet_ring::Demand;
use aglet_rlwe::{KeySet, KeySwitchSpec};
use aglet_schemes::ckks::CkksParams;
use aglet_schemes::cost::CostEvaluator;
use aglet_schemes::{Approximate, Evaluator};
use std::borrow::Cow;

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
    Ok(work_and_demand(route, key_shapes(whole, route)?, count)?.0)
}

/// The scratch that so many bootstraps side by side want at one time, with keys of these shapes on the chain of the route.
///
/// # Errors
/// As [`stages`].
pub fn demand(route: &Route, keys: KeySet<KeySwitchSpec>, count: usize) -> Result<Demand, Error> {
    Ok(work_and_demand(route, keys, count)?.1)
}

/// Both [`stages_of_group`] and [`demand`], which one run counts.
pub(super) fn work_and_demand(
    route: &Route,
    keys: KeySet<KeySwitchSpec>,
    count: usize,
) -> Result<(Vec<StageCost>, Demand), Error> {
    let e = CostEvaluator::new(route.params.clone(), keys).with_rotor(route.rotor().cloned());
    let Scaled { level, scale } = route.plan.input();
    let inputs: Vec<_> = (0..count).map(|_| e.encrypt(level, scale)).collect();
    let mut counter = Counter::of(|| e.take());
    // What a run returns is copied before the rest goes.
    let out = Pipeline::new(&e, route.plan.clone())?.run(&e, &inputs, &mut counter)?;
    let _own: Vec<_> = out.iter().map(|ct| e.encrypt(e.level(ct), e.scale(ct))).collect();
    Ok((counter.stages, e.demand()))
}

/// The shapes that the keys of a bootstrap have on the chain of its route: those of users, and the bootstrap key's own.
///
/// # Errors
/// As [`stages`].
pub fn key_shapes(whole: &CkksParams, route: &Route) -> Result<KeySet<KeySwitchSpec>, Error> {
    let (made_for, own) = key_route(whole, route)?.keys(whole)?;
    let own: KeySet<_> = own.into_iter().map(|need| (need.role, need.spec)).collect();
    Ok(route.users_keys(whole)?.for_subset(whole, &route.params).and(own.for_subset(&made_for, &route.params)))
}

/// The route that the bootstrap key is made for. Laying it out takes as long as all the rest, and often it is this one but for
/// what is done with the result.
fn key_route<'a>(whole: &CkksParams, route: &'a Route) -> Result<Cow<'a, Route>, Error> {
    let own = route.layout.request;
    let key = Route::request_of_key(whole, own);
    let full = own.slots == whole.slots() && own.target_level.is_none() && own.method == key.method;
    Ok(if full { Cow::Borrowed(route) } else { Cow::Owned(Route::new(whole, key)?) })
}
