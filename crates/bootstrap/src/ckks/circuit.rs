//! A bootstrap circuit on a parameter set: its chain, its stages and the keys that they need.

use crate::bootstrapper::Bootstrapper;
use crate::ckks::request::{KeySize, Request};
use crate::ckks::slots_first::steps::eval_mod::Functional;
use crate::ckks::slots_first::steps::raise_map::RaiseMap;
use crate::ckks::slots_first::steps::SlotsFirst;
use crate::ckks::slots_first::Layout;
use crate::ckks::{BootstrapKind, CkksStep};
use crate::error::Error;
use crate::own_keys::OwnKeys;
use crate::plan::Plan;
use crate::step::{KeyNeed, Stage, Step};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, Params};
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

/// A bootstrap on a parameter set.
#[derive(Debug, Clone)]
pub struct BootstrapCircuit {
    /// The parameters of the engine.
    pub whole: CkksParams,
    /// The parameters of the chain that it raises to.
    pub params: Params,
    /// The request.
    pub request: Request,
    /// The user level of the result.
    pub level: usize,
    /// Its stages.
    pub plan: Arc<Plan<CkksStep>>,
    /// The numbers that determine the stages of a slots-first bootstrap.
    pub layout: Option<Layout>,
}

impl BootstrapCircuit {
    /// Chooses the limbs and plans the stages, by the method of these parameters.
    ///
    /// # Errors
    /// Those of [`Bootstrapping::circuit`](crate::ckks::Bootstrapping::circuit).
    pub fn new(params: &CkksParams, request: Request) -> Result<Self, Error> {
        BootstrapKind::of(params).rules().circuit(params, request)
    }

    /// Those of a functional bootstrap: `functional` is what it evaluates.
    ///
    /// # Errors
    /// Those of [`Bootstrapping::functional`](crate::ckks::Bootstrapping::functional).
    pub fn with_functions(params: &CkksParams, request: Request, functional: &Arc<Functional>) -> Result<Self, Error> {
        BootstrapKind::of(params).rules().functional(params, request, functional)
    }

    /// The functions of a functional bootstrap.
    pub fn functional(&self) -> Option<&Arc<Functional>> {
        self.layout.as_ref().and_then(|layout| layout.function.functional())
    }

    /// The index of the stage that takes coefficients modulo q0: slots_to_coeffs and what precedes it come before.
    /// `None` for a method that does not raise the modulus.
    pub fn raises_from(&self) -> Option<usize> {
        let sparse = |s: &Stage<CkksStep>| matches!(s.step, CkksStep::SlotsFirst(SlotsFirst::Encapsulate(_)));
        self.plan.stages().iter().position(sparse)
    }

    /// The rotations (to the left) that need a key, each with the limbs of the circuit that it must serve.
    pub fn rotations(&self) -> Vec<(usize, usize)> {
        let of = |s: &Stage<CkksStep>| s.step.rotations().unwrap_or_default();
        self.plan.stages().iter().flat_map(|s| of(s).into_iter().map(|by| (by, s.from.level + 1))).collect()
    }

    /// Whether its chain has primes that users have not.
    fn switches_modulus(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.switched.is_some())
    }

    /// Whether the keys of users serve in this role: a small bootstrap takes their rotations, and one that has no spare primes,
    /// of which these keys know nothing, their relinearization and conjugation.
    fn left_to_users(&self, role: KeyRole) -> bool {
        match role {
            KeyRole::Relinearization => !self.switches_modulus(),
            KeyRole::Galois(galois) if galois == conjugation_exponent(self.params.n()) => !self.switches_modulus(),
            KeyRole::Galois(_) => self.request.size == KeySize::Small,
            _ => false,
        }
    }

    /// The users' keys that this circuit may use, on the chain of the engine's parameters.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn users_keys(&self) -> Result<KeySet<KeySwitchSpec>, Error> {
        let whole = &self.whole;
        let arithmetic = balanced(whole, arithmetic_limbs(whole))?;
        let conjugation = KeyRole::Galois(conjugation_exponent(whole.n()));
        let both = KeySet::new().with(KeyRole::Relinearization, arithmetic.clone()).with(conjugation, arithmetic);
        let longest = balanced(whole, whole.q().len())?;
        let needs = self.needs()?.concat().into_iter().map(|need| need.role);
        let rotations =
            needs.filter(|&role| role != KeyRole::Relinearization && role != conjugation && self.left_to_users(role));
        Ok(both.and(rotations.map(|role| (role, longest.clone())).collect()))
    }

    /// Bytes on a card of the users' keys that its stages meet, as they are made.
    ///
    /// # Errors
    /// As [`BootstrapCircuit::users_keys`].
    pub fn users_card_bytes(&self) -> Result<usize, Error> {
        let (users, needs) = (self.users_keys()?, self.needs()?.concat());
        let met = |role| self.left_to_users(role) && needs.iter().any(|need| need.role == role);
        Ok(users.iter().filter(|(role, _)| met(*role)).map(|(_, spec)| spec.card_bytes(self.params.n())).sum())
    }

    /// Limbs of the circuit below coeffs_to_slots: what relinearization and conjugation serve.
    fn arithmetic_limbs(&self) -> usize {
        let eval_mod = |s: &Stage<CkksStep>| matches!(s.step, CkksStep::SlotsFirst(SlotsFirst::EvalMod(_)));
        let input = |s: &Stage<CkksStep>| eval_mod(s).then_some(s.from.level + 1);
        self.plan.stages().iter().find_map(input).unwrap_or_default()
    }

    /// The map, with its scale ratio, that the keys of mod_raise carry.
    pub fn carried(&self) -> Option<&RaiseMap> {
        self.plan.stages().iter().find_map(|s| match &s.step {
            CkksStep::SlotsFirst(SlotsFirst::RaiseMap(step)) => Some(step),
            _ => None,
        })
    }
}

impl PartialEq for BootstrapCircuit {
    fn eq(&self, other: &Self) -> bool {
        self.request == other.request
            && self.functional() == other.functional()
            && self.whole.fingerprint() == other.whole.fingerprint()
    }
}

impl Bootstrapper for BootstrapCircuit {
    type Step = CkksStep;

    fn params(&self) -> &Params {
        &self.params
    }

    fn plan(&self) -> &Arc<Plan<CkksStep>> {
        &self.plan
    }

    /// A small key serves every chain, because those of all stage counts are parts of the whole.
    fn keys(&self) -> Result<(Params, Vec<KeyNeed>), Error> {
        let small = self.request.size == KeySize::Small;
        let own = if small { self.whole.rlwe().clone() } else { self.params.clone() };
        let mut needs = self.needs()?.concat();
        // Where no level is left to unpack sparse slots, a request for a lower level has one, with the same key.
        let slots = self.request.slots;
        if let Some(layout) = self.layout.as_ref().filter(|layout| slots < layout.ring_slots && !layout.packed) {
            let limbs = self.arithmetic_limbs() - layout.function.levels();
            needs.append(&mut KeyNeed::rotations(&self.params, limbs, [slots])?);
        }
        let held = needs.into_iter().filter(|need| !self.left_to_users(need.role));
        let made = held.map(|KeyNeed { role, spec }| match role {
            KeyRole::SparseToDense | KeyRole::SparseToDenseGalois(_) => {
                (role, KeySwitchSpec::sparse_to_dense(own.q().len()))
            }
            _ => (role, spec),
        });
        let list: KeySet<KeySwitchSpec> = made.collect();
        let list = list.iter().map(|(role, spec)| KeyNeed { role, spec: spec.clone() }).collect();
        Ok((own, list))
    }

    fn stage_keys(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let whole = &self.whole;
        let (users, whole_chain) = (self.users_keys()?, arithmetic_limbs(whole));
        let (on_chain, conjugation) = (users.for_subset(whole, &self.params), conjugation_exponent(whole.n()));
        let met = |need: KeyNeed, limbs: usize| {
            let KeyNeed { role, spec } = need;
            let users = match role {
                _ if !self.left_to_users(role) => None,
                KeyRole::Galois(galois) if galois != conjugation => {
                    on_chain.find(role, limbs).map(|key| key.cut(limbs))
                }
                _ => users.find(role, whole_chain).cloned(),
            };
            KeyNeed { role, spec: users.unwrap_or(spec) }
        };
        let all = self.needs()?.into_iter().zip(self.plan.stages());
        let stage = |(needs, stage): (Vec<KeyNeed>, &Stage<CkksStep>)| {
            let mut keys: Vec<KeyNeed> = needs.into_iter().map(|need| met(need, stage.from.level + 1)).collect();
            keys.dedup();
            keys
        };
        Ok(all.map(stage).collect())
    }

    fn chain_of(&self, role: KeyRole) -> &Params {
        let conjugation = KeyRole::Galois(conjugation_exponent(self.params.n()));
        let all = self.left_to_users(role) && (role == KeyRole::Relinearization || role == conjugation);
        match all {
            true => &self.whole,
            false => &self.params,
        }
    }

    fn own_keys(&self) -> Result<Box<dyn OwnKeys>, Error> {
        BootstrapKind::of(&self.whole).rules().own_keys(self)
    }

    fn packed_params(&self) -> Result<Params, Error> {
        Ok(self.whole.raised()?)
    }

    /// Diagonals have the special limbs of the keys that they meet.
    fn shares_maps(&self, other: &Self) -> bool {
        let keys = |circuit: &Self| (circuit.request.method.keys(), circuit.request.size);
        self.params.prime_indices() == other.params.prime_indices() && keys(self) == keys(other)
    }
}

fn balanced(params: &Params, limbs: usize) -> Result<KeySwitchSpec, Error> {
    Ok(KeySwitchSpec::balanced(params, limbs)?)
}

/// The limbs of the users' relinearization and conjugation keys: all but those of coeffs_to_slots.
pub fn arithmetic_limbs(params: &CkksParams) -> usize {
    let up = params.role(Role::CoeffsToSlots);
    if up.is_empty() {
        params.q().len()
    } else {
        up.start
    }
}
