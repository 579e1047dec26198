//! What a bootstrap does, before a key exists: method, key size, the limbs it raises to and its plan.

use crate::ckks::engine::arithmetic_limbs;
use crate::ckks::Engine;
use crate::Error;
use aglet_bootstrap::slots_first::steps::eval_mod::{Function, Parts};
use aglet_bootstrap::slots_first::steps::raise_map::RaiseMap;
use aglet_bootstrap::slots_first::steps::SlotsFirst;
use aglet_bootstrap::slots_first::{self, Chain, Options};
use aglet_bootstrap::{KeyNeed, Plan, Stage, Step};
use aglet_circuits::BabySteps;
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, Params};
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;

/// How many rotations a bootstrap key holds: more keys make it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeySize {
    /// None of its own: two baby steps, with the rotation key of the user, all to the right by powers of two.
    Small,
    /// As few keys as baby and giant steps allow.
    Medium,
    /// As many as make it fastest.
    Large,
}

/// Sizes and methods have the names that users type.
macro_rules! named {
    ($type:ident, $what:literal: $($variant:ident = $name:literal),*) => {
        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
            /// Their names.
            pub const NAMES: &[&str] = &[$($name),*];
            /// From its name.
            pub fn parse(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(Error::Parameter(format!(
                        "There is no {} \"{name}\"; choose one of {}.", $what, Self::NAMES.join(", ")
                    ))),
                }
            }
            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}
named!(KeySize, "bootstrap key of size": Small = "small", Medium = "medium", Large = "large");

impl KeySize {
    fn steps(self) -> BabySteps {
        match self {
            Self::Small => BabySteps { giant_cost: 1.0, most: 2, right: true },
            Self::Medium => BabySteps { giant_cost: 1.0, most: 64, right: false },
            Self::Large => BabySteps { giant_cost: 4.0, most: 64, right: false },
        }
    }
    /// Diagonals of a first map that the key carries: as many keys of one digit take a fifth of the memory of others.
    fn carried(self) -> usize {
        if self == Self::Small {
            0
        } else {
            64
        }
    }
}

/// What a bootstrap is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// From any level; leaves [`CkksParams::regular_level`].
    Regular,
    /// From `stage_count` levels or more; leaves as many as the chain has.
    Lossy,
    /// As lossy, on values near -1 and 1, whose errors it squares.
    Sign,
    /// As lossy, on values near 0 and 1, whose errors it squares.
    Bits,
    /// Two real ciphertexts in one regular bootstrap.
    Merge,
    /// Two real ciphertexts in one lossy bootstrap.
    LossyMerge,
}
named!(Method, "method": Regular = "regular", Lossy = "lossy", Sign = "sign", Bits = "bits", Merge = "merge",
    LossyMerge = "lossy-merge");

/// Bits of the scale from which a sign or bit bootstrap spends a level on the size of its exponential: the rounding of eval_mod
/// in primes of 50 bits is about that of the result at 2^42.
const NORMALIZED_FROM: u32 = 43;

impl Method {
    /// The method whose keys serve it.
    pub fn keys(self) -> Self {
        match self {
            Self::Regular | Self::Merge => Self::Regular,
            _ => Self::Lossy,
        }
    }
    /// Whether it takes two real ciphertexts.
    pub fn pairs(self) -> bool {
        matches!(self, Self::Merge | Self::LossyMerge)
    }
    /// Whether values near given points come closer to them.
    pub fn cleans(self) -> bool {
        matches!(self, Self::Sign | Self::Bits)
    }
    fn function(self, params: &CkksParams) -> Function {
        let normalized = params.scale_bits() >= NORMALIZED_FROM && params.role(Role::EvalMod).len() > 8;
        match self {
            Self::Sign => Function::Sign { normalized },
            Self::Bits => Function::Bits { normalized },
            _ => Function::Identity { harmonics: if params.role(Role::EvalMod).len() > 8 { 2 } else { 1 } },
        }
    }
}

/// Choices of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// What it is for.
    pub method: Method,
    /// Parts that coeffs_to_slots is cut into; slots_to_coeffs has at most the hidden levels of the parameters.
    pub stage_count: usize,
    /// Which keys there are.
    pub size: KeySize,
    /// Message slots.
    pub slots: usize,
    /// Messages are at most this large.
    pub bound: f64,
    /// Whether the message is real: one evaluation of eval_mod instead of two.
    pub real: bool,
    /// The user level to leave, if not the highest possible.
    pub target_level: Option<usize>,
}

impl Request {
    /// A bootstrap of this method with keys of this size, of complex messages within the unit disc.
    pub fn new(method: Method, stage_count: usize, size: KeySize, slots: usize) -> Self {
        Self { method, stage_count, size, slots, bound: 1.0, real: false, target_level: None }
    }
    /// The request that the bootstrap key for this one is made for: it serves all that differ in nothing else.
    #[must_use]
    pub(crate) fn of_key(self) -> Self {
        Self { method: self.method.keys(), bound: 1.0, real: false, target_level: None, ..self }
    }
}

/// A bootstrap laid out on a parameter set.
#[derive(Debug, Clone)]
pub struct Route {
    /// The parameters on the limbs that it raises to.
    pub params: Params,
    /// Its stages.
    pub plan: Plan<SlotsFirst>,
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
    /// The chain of the route has the message primes up to the level it leaves, or spare primes of as many bits, the primes of
    /// eval_mod that it needs, and those of coeffs_to_slots; if these are fewer than the stages, unused message primes from the top make the first maps: there
    /// the scale is far from its final size, so a smaller prime costs nothing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that cannot bootstrap or have not the levels, and what [`Plan`] refuses.
    pub fn new(params: &CkksParams, request: Request) -> Result<Self, Error> {
        let (Some(ratio), Some(regular)) = (params.message_ratio_log2(), params.regular_level()) else {
            return Err(Error::Parameter(format!(
                "The preset \"{}\" is not made for bootstrapping; take use_bootstrap=True.",
                params.name()
            )));
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
            return Err(Error::Parameter(format!(
                "The preset \"{}\" has no levels for lossy and sign bootstraps; take use_bootstrap=True.",
                params.name()
            )));
        }
        let level = request.target_level.unwrap_or(highest);
        if level > highest || extra > message.len() {
            return Err(Error::Level(format!(
                "A {} bootstrap of {stages} stages leaves level {highest} at most, not {level}; ask for less.",
                request.method.name()
            )));
        }
        let sparse = 2 * request.slots <= ring_slots && options.parts == Parts::Complex;
        options.packed = sparse && level + 1 + extra <= message.len();
        // Small keys meet the keys of users, which are for the chain itself.
        let spare = request.size != KeySize::Small && !params.spare().is_empty();
        let message = message_limbs(params, level + usize::from(options.packed), spare)?;
        let own = params.subset(&limbs(params, message, options.function.levels(), spent)?)?;
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
        Ok(Self { params: own, plan: slots_first::plan(&chain, options)?, options, level, spare, request })
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
        let of = |s: &Stage<SlotsFirst>| Ok(s.step.keys_needed(&s.from, &s.to, &self.params)?);
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
        let arithmetic = KeySwitchSpec::balanced(whole, arithmetic_limbs(whole))?;
        let conjugation = KeyRole::Galois(conjugation_exponent(whole.n()));
        let both = KeySet::new().with(KeyRole::Square, arithmetic.clone()).with(conjugation, arithmetic);
        let longest = KeySwitchSpec::balanced(whole, whole.q().len())?;
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
        let bytes = stages.map(|(stage, keys)| Ok(stage.step.encoded_bytes(&self.params, keys)?));
        bytes.sum()
    }

    /// Bytes of the bootstrap key, expanded and when stored; `whole` are the parameters of the engine.
    ///
    /// # Errors
    /// Those of [`Route::keys`].
    pub fn key_bytes(&self, whole: &Params) -> Result<(usize, usize), Error> {
        let (own, keys) = self.keys(whole)?;
        let stored = keys.iter().map(|key| key.spec.stored_bytes(&own)).sum::<Result<usize, _>>()?;
        Ok((keys.iter().map(|key| key.spec.byte_count(whole.n())).sum(), stored))
    }
}

/// The stages that a request has: a transform of few slots has few layers.
fn check_stages(request: &Request, ring_slots: usize) -> Result<usize, Error> {
    let Request { slots, stage_count, .. } = *request;
    if !slots.is_power_of_two() || slots > ring_slots {
        return Err(Error::Parameter(format!(
            "slot_count = {slots} is not a power of two up to {ring_slots}; choose one."
        )));
    }
    let layers = (slots.ilog2() as usize).max(1);
    let widest = slots.ilog2().div_ceil(stage_count.max(1) as u32);
    if !(1..=MAX_STAGES).contains(&stage_count) || stage_count > layers || widest > MAX_LAYERS {
        let fewest = (slots.ilog2().div_ceil(MAX_LAYERS) as usize).max(1);
        return Err(Error::Parameter(format!(
            "stage_count = {stage_count} does not suit {slots} slots; choose {fewest} to {}.",
            layers.min(MAX_STAGES)
        )));
    }
    Ok(stage_count)
}

/// Stages that coeffs_to_slots can be cut into.
pub const MAX_STAGES: usize = 5;
/// Layers of the DFT that one stage takes, as many as published; ten make a thousand diagonals.
const MAX_LAYERS: u32 = 10;

/// What stands above slots_to_coeffs while eval_mod runs, to leave so many message primes: these, or the fewest spare primes
/// of as many bits.
fn message_limbs(params: &CkksParams, count: usize, spare: bool) -> Result<Vec<usize>, Error> {
    let all = params.role(Role::Message);
    if count > all.len() {
        return Err(too_few_levels(params));
    }
    let own: Vec<usize> = (all.start..all.start + count).collect();
    if !spare {
        return Ok(own);
    }
    let needed: f64 = own.iter().map(|&l| (params.q()[l] as f64).log2()).sum();
    let bits = |count: usize| params.spare()[..count].iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let fewest = (0..=params.spare().len()).find(|&n| bits(n) > needed - BITS_LESS);
    let fewest = fewest.ok_or_else(|| too_few_levels(params))?;
    Ok(params.role(Role::Spare).take(fewest).collect())
}

fn too_few_levels(params: &CkksParams) -> Error {
    Error::Parameter(format!(
        "The preset \"{}\" has not the levels for this bootstrap; take fewer stages or a lower target_level.",
        params.name()
    ))
}

/// Spare primes may have so many bits less than those that they stand for: what eval_mod squares last has half of that less.
const BITS_LESS: f64 = 0.5;

/// The limbs of a route, bottom to top, with so many for coeffs_to_slots.
fn limbs(params: &CkksParams, message: Vec<usize>, eval_mod: usize, up: usize) -> Result<Vec<usize>, Error> {
    let all = params.role(Role::Message);
    let (own_eval_mod, own) = (params.role(Role::EvalMod), params.role(Role::CoeffsToSlots));
    let extra = up.saturating_sub(own.len());
    if eval_mod > own_eval_mod.len() || message.iter().any(|l| (all.end - extra..all.end).contains(l)) {
        return Err(too_few_levels(params));
    }
    let bottom = (0..all.start).chain(message);
    let eval_mod = own_eval_mod.start..own_eval_mod.start + eval_mod;
    let top = own.start..own.start + up.min(own.len());
    Ok(bottom.chain(eval_mod).chain(top).chain(all.end - extra..all.end).collect())
}

impl Engine {
    /// Lays out a bootstrap on this engine's parameters and slots.
    ///
    /// # Errors
    /// Those of [`Route::new`].
    pub fn route(&self, request: Request) -> Result<Route, Error> {
        Route::new(self.params(), request)
    }
}
