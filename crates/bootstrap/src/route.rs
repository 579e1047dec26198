//! A bootstrap on a parameter set: its chain, its stages and the keys that these need.

use crate::error::Error;
use crate::plan::Plan;
use crate::ship;
use crate::ship::steps::Ship;
use crate::slots_first;
use crate::slots_first::steps::raise_map::RaiseMap;
use crate::slots_first::steps::SlotsFirst;
use crate::slots_first::{KeySize, Layout, Request};
use crate::step::{KeyNeed, Scaled, Stage, Step};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, Params, RotorShape};
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

crate::steps! {
    /// A step of any bootstrap of CKKS.
    CkksStep at Scaled:
    /// Of one that raises the modulus.
    SlotsFirst(SlotsFirst),
    /// Of one by roots of unity.
    Ship(Ship),
}

/// A bootstrap on a parameter set.
#[derive(Debug, Clone)]
pub struct Route {
    /// The parameters on the limbs that it raises to.
    pub params: Params,
    /// The numbers that its stages are made from.
    pub layout: Layout,
    /// Its stages.
    pub plan: Arc<Plan<CkksStep>>,
}

impl Route {
    /// Chooses the limbs and lays out the stages.
    ///
    /// # Errors
    /// Those of [`Layout::new`], and what [`Plan`] refuses.
    pub fn new(params: &CkksParams, request: Request) -> Result<Self, Error> {
        if params.rotor_shape().is_some() {
            let layout = ship::layout(params, request)?;
            let plan = Arc::new(ship::plan(&layout, params)?.among());
            return Ok(Self { params: params.rlwe().clone(), layout, plan });
        }
        let (layout, params) = Layout::new(params, request)?;
        let plan = Arc::new(slots_first::plan(&layout)?.among());
        Ok(Self { params, layout, plan })
    }

    /// Stages of a request that names none: three, or as many as few slots have layers; one of each kind by roots of unity.
    pub fn default_stages(params: &CkksParams, slots: usize) -> usize {
        let layers = slots.checked_ilog2().unwrap_or_default().max(1) as usize;
        if params.rotor_shape().is_some() {
            1
        } else {
            layers.min(3)
        }
    }

    /// The request that the bootstrap key for this one is made for: it serves all that differ in nothing else.
    pub fn request_of_key(params: &CkksParams, request: Request) -> Request {
        if params.rotor_shape().is_some() {
            ship::request_of_key(request)
        } else {
            request.of_key()
        }
    }

    /// How a bootstrap by roots of unity cuts its rotations; `None` for others, which have no such keys.
    pub fn rotor(&self) -> Option<&RotorShape> {
        self.plan.stages().iter().find_map(|s| match &s.step {
            CkksStep::Ship(Ship::Roots(roots)) => Some(&roots.shape),
            CkksStep::Ship(Ship::Choose(choose)) => Some(&choose.0.shape),
            _ => None,
        })
    }

    /// The place of the stage that takes coefficients modulo q0, which has all after slots_to_coeffs behind it; `None` by roots of
    /// unity.
    pub fn raises_from(&self) -> Option<usize> {
        let sparse = |s: &Stage<CkksStep>| matches!(s.step, CkksStep::SlotsFirst(SlotsFirst::ToSparse(_)));
        self.plan.stages().iter().position(sparse)
    }

    /// The rotations (to the left) that need a key, each with the limbs of the route that it must serve.
    pub fn rotations(&self) -> Vec<(usize, usize)> {
        let of = |s: &Stage<CkksStep>| s.step.rotations().unwrap_or_default();
        self.plan.stages().iter().flat_map(|s| of(s).into_iter().map(|by| (by, s.from.level + 1))).collect()
    }

    /// The keys that the stages need, stage by stage, as they are made for them on the chain of the route.
    ///
    /// # Errors
    /// Those of the shapes of keys; a route that was made passes.
    fn needs(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let of = |s: &Stage<CkksStep>| s.step.keys_needed(&s.from, &s.to, &self.params);
        self.plan.stages().iter().map(of).collect()
    }

    /// Whether its chain has primes that users have not.
    fn exchanges(&self) -> bool {
        self.layout.exchanged.is_some()
    }

    /// Whether the keys of users serve in this role: a small bootstrap takes their rotations, and one that has no spare primes,
    /// of which these keys know nothing, their relinearization and conjugation.
    fn left_to_users(&self, role: KeyRole) -> bool {
        match role {
            KeyRole::Square => !self.exchanges(),
            KeyRole::Galois(galois) if galois == conjugation_exponent(self.params.n()) => !self.exchanges(),
            KeyRole::Galois(_) => self.layout.request.size == KeySize::Small,
            _ => false,
        }
    }

    /// The keys of users that may meet this route, on the chain of the engine's parameters `whole`.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn users_keys(&self, whole: &CkksParams) -> Result<KeySet<KeySwitchSpec>, Error> {
        let arithmetic = balanced(whole, arithmetic_limbs(whole))?;
        let conjugation = KeyRole::Galois(conjugation_exponent(whole.n()));
        let both = KeySet::new().with(KeyRole::Square, arithmetic.clone()).with(conjugation, arithmetic);
        let longest = balanced(whole, whole.q().len())?;
        let needs = self.needs()?.concat().into_iter().map(|need| need.role);
        let rotations =
            needs.filter(|&role| role != KeyRole::Square && role != conjugation && self.left_to_users(role));
        Ok(both.and(rotations.map(|role| (role, longest.clone())).collect()))
    }

    /// The keys that each stage meets: its own as they are made for it, those of users as they are.
    ///
    /// # Errors
    /// Those of [`Route::users_keys`].
    pub fn stage_keys(&self, whole: &CkksParams) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let (users, whole_chain) = (self.users_keys(whole)?, arithmetic_limbs(whole));
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

    /// The keys of its bootstrap key in their order, and the parameters on whose chain they are made; `whole` are those of the
    /// engine. A small key serves every chain: those of all stage counts are parts of the whole.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn keys(&self, whole: &Params) -> Result<(Params, Vec<KeyNeed>), Error> {
        let own = if self.layout.request.size == KeySize::Small { whole.clone() } else { self.params.clone() };
        let mut needs = self.needs()?.concat();
        // Where no level is left to unpack sparse slots, a request for a lower level has one, with the same key.
        let Layout { request: Request { slots, .. }, ring_slots, packed, .. } = self.layout;
        if slots < ring_slots && !packed && self.rotor().is_none() {
            let limbs = self.arithmetic_limbs() - self.layout.function.levels();
            needs.append(&mut KeyNeed::rotations(&self.params, limbs, [slots])?);
        }
        let held = needs.into_iter().filter(|need| !self.left_to_users(need.role));
        let made = held.map(|KeyNeed { role, spec }| match role {
            KeyRole::FromSparse | KeyRole::FromSparseGalois(_) => (role, KeySwitchSpec::from_sparse(own.q().len())),
            _ => (role, spec),
        });
        let list: KeySet<KeySwitchSpec> = made.collect();
        let list = list.iter().map(|(role, spec)| KeyNeed { role, spec: spec.clone() }).collect();
        Ok((own, list))
    }

    /// Limbs of the route below coeffs_to_slots: what relinearization and conjugation serve.
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

    /// Bytes of the linear maps that its stages encode.
    ///
    /// # Errors
    /// Those of [`Route::stage_keys`].
    pub fn matrix_bytes(&self, whole: &CkksParams) -> Result<usize, Error> {
        let keys = self.stage_keys(whole)?;
        let stages = self.plan.stages().iter().zip(&keys);
        let bytes = stages.map(|(stage, keys)| stage.step.encoded_bytes(&self.params, keys));
        bytes.sum()
    }

    /// Bytes of the bootstrap key, expanded and when stored; `whole` are the parameters of the engine.
    ///
    /// # Errors
    /// Those of [`Route::keys`].
    pub fn key_bytes(&self, whole: &CkksParams) -> Result<(usize, usize), Error> {
        let (own, keys) = self.keys(whole)?;
        let (rotor, rotor_stored) = self.rotor_bytes(whole)?;
        let stored = keys
            .iter()
            .map(|key| key.spec.stored_bytes(&own))
            .sum::<Result<usize, _>>()
            .map_err(aglet_schemes::Error::from)?;
        let bytes: usize = keys.iter().map(|key| key.spec.byte_count(whole.n())).sum();
        Ok((bytes + rotor, stored + rotor_stored))
    }

    /// Bytes of the keys of roots of unity, in memory and when stored.
    fn rotor_bytes(&self, whole: &CkksParams) -> Result<(usize, usize), Error> {
        let Some(shape) = self.rotor() else { return Ok((0, 0)) };
        let raised = whole.raised().map_err(aglet_schemes::Error::from)?;
        let of_key = shape.keys().into_iter().map(|(_, spec)| spec.stored_bytes(&raised));
        let stored = of_key.sum::<Result<usize, _>>().map_err(aglet_schemes::Error::from)?;
        Ok((shape.byte_count(&raised).map_err(aglet_schemes::Error::from)?, stored))
    }
}

fn balanced(params: &Params, limbs: usize) -> Result<KeySwitchSpec, Error> {
    Ok(KeySwitchSpec::balanced(params, limbs).map_err(aglet_schemes::Error::from)?)
}

/// Limbs that the relinearization and conjugation keys of users serve: all but those of coeffs_to_slots.
pub fn arithmetic_limbs(params: &CkksParams) -> usize {
    let up = params.role(Role::CoeffsToSlots);
    if up.is_empty() {
        params.q().len()
    } else {
        up.start
    }
}
