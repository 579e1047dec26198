//! The work of a bootstrap, counted before a key exists: its plan runs on an evaluator that counts.

use crate::ckks::BootstrapCircuit;
use crate::runtime::Counter;
pub use crate::runtime::{work_json, StageCost};
use crate::Error;
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::{Bootstrapper, Pipeline, Scaled};
use aglet_ring::Demand;
use aglet_rlwe::{KeySet, KeySwitchSpec};
use aglet_schemes::ckks::cost::CostEvaluator;
use aglet_schemes::{Approximate, Evaluator};
use std::borrow::Cow;

/// The work of every stage of a bootstrap circuit; `whole` are the parameters of the engine.
///
/// # Errors
/// Those of the plan and of [`KeySwitchSpec::balanced`]; a bootstrap circuit that was made passes.
pub fn stages(circuit: &BootstrapCircuit) -> Result<Vec<StageCost>, Error> {
    stages_of_group(circuit, 1)
}

/// [`stages`] of several bootstraps that run side by side
/// ([`Engine::bootstrap_many`](crate::ckks::Engine::bootstrap_many)).
///
/// # Errors
/// As there.
pub fn stages_of_group(circuit: &BootstrapCircuit, count: usize) -> Result<Vec<StageCost>, Error> {
    Ok(counted(circuit, key_shapes(circuit)?, count)?.stages)
}

/// The scratch memory of `count` bootstraps side by side, with keys of these shapes on the chain of the circuit.
///
/// # Errors
/// As [`stages`].
pub fn demand(circuit: &BootstrapCircuit, keys: KeySet<KeySwitchSpec>, count: usize) -> Result<Demand, Error> {
    Ok(counted(circuit, keys, count)?.demand)
}

/// What one run counts.
pub(super) struct Counted {
    /// [`stages_of_group`].
    pub(super) stages: Vec<StageCost>,
    /// [`demand`].
    pub(super) demand: Demand,
    /// The most bytes of polynomials on a card at one time.
    pub(super) card: usize,
}

/// Counts `count` bootstraps side by side, with keys of these shapes on the chain of the circuit.
pub(super) fn counted(circuit: &BootstrapCircuit, keys: KeySet<KeySwitchSpec>, count: usize) -> Result<Counted, Error> {
    counted_from(circuit, keys, (count, 0))
}

/// The same of their stages from this one on.
pub(super) fn counted_from(
    circuit: &BootstrapCircuit,
    keys: KeySet<KeySwitchSpec>,
    (count, from): (usize, usize),
) -> Result<Counted, Error> {
    let e = CostEvaluator::new(circuit.params.clone(), keys);
    let pipeline = Pipeline::new(&e, circuit.plan.clone())?;
    let Scaled { level, scale } = circuit.plan.stages().get(from).map_or(circuit.plan.input(), |stage| stage.from);
    let inputs: Vec<_> = (0..count).map(|_| e.encrypt(level, scale)).collect();
    let mut counter = Counter::of(|| e.take());
    // What a run returns is copied before the rest goes.
    let out = pipeline.run_from(&e, from, &inputs, &mut counter)?;
    let _own: Vec<_> = out.iter().map(|ct| e.encrypt(e.level(ct), e.scale(ct))).collect();
    Ok(Counted { stages: counter.stages, demand: e.demand(), card: e.card_bytes() })
}

/// The shapes that the keys of a bootstrap have on the chain of its circuit: those of users, and the bootstrap key's own.
///
/// # Errors
/// As [`stages`].
pub fn key_shapes(circuit: &BootstrapCircuit) -> Result<KeySet<KeySwitchSpec>, Error> {
    let (made_for, own) = key_circuit(circuit)?.keys()?;
    let own: KeySet<_> = own.into_iter().collect();
    Ok(circuit
        .users_keys()?
        .for_subset(&circuit.whole, &circuit.params)
        .and(own.for_subset(&made_for, &circuit.params)))
}

/// The circuit that the bootstrap key is made for. Laying it out takes as long as all the rest, and often it is this one but for
/// what is done with the result.
pub(super) fn key_circuit(circuit: &BootstrapCircuit) -> Result<Cow<'_, BootstrapCircuit>, Error> {
    let whole = &circuit.whole;
    let own = circuit.request;
    let key = BootstrapKind::of(whole).rules().request_of_key(own);
    let plain = own.target_level.is_none() && circuit.functional().is_none();
    let full = plain && own.slots == whole.slots() && own.method == key.method;
    Ok(if full { Cow::Borrowed(circuit) } else { Cow::Owned(BootstrapCircuit::new(whole, key)?) })
}
