//! A bootstrap laid out on a parameter set: its chain, its stages and the keys that these need.

use super::layout::Layout;
use super::request::{check_stages, KeySize, Method, Request};
use super::steps::eval_mod::Parts;
use super::steps::raise_map::RaiseMap;
use super::steps::SlotsFirst;
use super::{Chain, Options};
use crate::error::Error;
use crate::plan::Plan;
use crate::step::{KeyNeed, Stage, Step};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, Params};
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

/// A bootstrap laid out on a parameter set.
#[derive(Debug, Clone)]
pub struct Route {
    /// The parameters on the limbs that it raises to.
    pub params: Params,
    /// Its stages.
    pub plan: Arc<Plan<SlotsFirst>>,
    /// The choices that it was laid out with.
    pub options: Options,
    /// The user level that it leaves.
    pub level: usize,
    /// Whether spare primes stand for message primes.
    spare: bool,
    /// The request that it answers.
    pub request: Request,
}

impl Route {
    /// Chooses the limbs and lays out the stages.
    ///
    /// # Errors
    /// [`Error::NotForBootstrap`] and its like for parameters that cannot bootstrap or have not the levels, and what [`Plan`] refuses.
    pub fn new(params: &CkksParams, request: Request) -> Result<Self, Error> {
        let (Some(ratio), Some(regular)) = (params.message_ratio_log2(), params.regular_level()) else {
            return Err(Error::NotForBootstrap { preset: params.name().to_string() });
        };
        let ring_slots = params.slots();
        let stages = check_stages(&request, ring_slots)?;
        let message = params.role(Role::Message);
        let mut options = Options {
            ring_slots,
            slots: request.slots,
            steps: request.size.steps(),
            carried: request.size.carried(),
            bound: request.bound,
            function: request.method.function(params),
            parts: match request {
                Request { method, .. } if method.pairs() => Parts::Pair,
                Request { real: true, .. } => Parts::Real,
                _ => Parts::Complex,
            },
            short_keys: request.size == KeySize::Large,
            packed: false,
        };
        let spent = options.coeffs_to_slots_levels(stages);
        let extra = spent.saturating_sub(params.role(Role::CoeffsToSlots).len());
        let highest = match request.method.keys() {
            Method::Regular => regular.min(message.len().saturating_sub(extra)),
            _ => message.len().saturating_sub(extra),
        };
        if request.method.keys() == Method::Lossy && message.len() == regular {
            return Err(Error::NotForLossy { preset: params.name().to_string() });
        }
        let level = request.target_level.unwrap_or(highest);
        if level > highest || extra > message.len() {
            return Err(Error::OutputLevel { method: request.method.name(), stages, highest, level });
        }
        let sparse = 2 * request.slots <= ring_slots && options.parts == Parts::Complex;
        options.packed = sparse && level + 1 + extra <= message.len();
        // Small keys meet the keys of users, which are for the chain itself.
        let spare = request.size != KeySize::Small && !params.spare().is_empty();
        let kept = (level + usize::from(options.packed), spare);
        let layout = Layout::new(params, kept, options.function.levels(), spent)?;
        let own = params.subset(&layout.primes()).map_err(aglet_schemes::Error::from)?;
        let users = &params.q()[..=params.chain_level(level)];
        let chain = Chain {
            moduli: own.q().iter().map(|&q| q as f64).collect(),
            settled: spare.then(|| users.iter().map(|&q| q as f64).collect()),
            slots_to_coeffs: params.hidden_levels(),
            coeffs_to_slots: stages,
            sparse_weight: params.ephemeral_weight().unwrap_or(0),
            message_ratio: ratio.exp2(),
            scale_in: params.scale_at(0),
            scale_out: params.scale_at(level),
        };
        Ok(Self { params: own, plan: Arc::new(super::plan(&chain, options)?), options, level, spare, request })
    }

    /// The rotations (to the left) that need a key, each with the limbs of the route that it must serve.
    pub fn rotations(&self) -> Vec<(usize, usize)> {
        let of = |s: &Stage<SlotsFirst>| s.step.rotations().unwrap_or_default();
        self.plan.stages().iter().flat_map(|s| of(s).into_iter().map(|by| (by, s.from.level + 1))).collect()
    }

    /// The keys that the stages need, stage by stage, as they are made for them on the chain of the route.
    ///
    /// # Errors
    /// Those of the shapes of keys; a route that was made passes.
    fn needs(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let of = |s: &Stage<SlotsFirst>| s.step.keys_needed(&s.from, &s.to, &self.params);
        self.plan.stages().iter().map(of).collect()
    }

    /// Whether the keys of users serve in this role: a small bootstrap takes their rotations, and one that has no spare primes,
    /// of which these keys know nothing, their relinearization and conjugation.
    fn left_to_users(&self, role: KeyRole) -> bool {
        match role {
            KeyRole::Square => !self.spare,
            KeyRole::Galois(galois) if galois == conjugation_exponent(self.params.n()) => !self.spare,
            KeyRole::Galois(_) => self.request.size == KeySize::Small,
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
        let stage = |(needs, stage): (Vec<KeyNeed>, &Stage<SlotsFirst>)| {
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
        let own = if self.request.size == KeySize::Small { whole.clone() } else { self.params.clone() };
        let mut needs = self.needs()?.concat();
        // Where no level is left to unpack sparse slots, a request for a lower level has one, with the same key.
        let Options { slots, ring_slots, packed, .. } = self.options;
        if slots < ring_slots && !packed {
            let limbs = self.arithmetic_limbs() - self.options.function.levels();
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
        let input = |s: &Stage<SlotsFirst>| matches!(s.step, SlotsFirst::EvalMod(_)).then_some(s.from.level + 1);
        self.plan.stages().iter().find_map(input).unwrap_or_default()
    }

    /// The map, with its scale ratio, that the keys of mod_raise carry.
    pub fn carried(&self) -> Option<&RaiseMap> {
        self.plan.stages().iter().find_map(|s| match &s.step {
            SlotsFirst::RaiseMap(step) => Some(step),
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
    pub fn key_bytes(&self, whole: &Params) -> Result<(usize, usize), Error> {
        let (own, keys) = self.keys(whole)?;
        let stored = keys
            .iter()
            .map(|key| key.spec.stored_bytes(&own))
            .sum::<Result<usize, _>>()
            .map_err(aglet_schemes::Error::from)?;
        Ok((keys.iter().map(|key| key.spec.byte_count(whole.n())).sum(), stored))
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
