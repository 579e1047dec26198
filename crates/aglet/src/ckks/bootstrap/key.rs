//! Bootstrap keys: which switching keys a route needs, and how keys of one chain serve the routes on parts of it.

use super::run::BootstrapKeys;
use crate::bootstrap_keys::{self, List};
use crate::ckks::engine::Engine;
use crate::ckks::memory::Memory;
use crate::runtime::machine;
use crate::{Control, Error};
use aglet_bootstrap::slots_first::{KeySize, Method, Request, MAX_STAGES};
use aglet_bootstrap::Route;
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::places::PlacedCoefficients;
use aglet_rlwe::Params;
use aglet_rlwe::{KeyId, KeyRole, KeySet, KeySwitchSpec, RotorKeys, RotorShape, SecretKey, SwitchingKey};
use aglet_schemes::ckks::CkksParams;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Everything that a bootstrap needs beside the relinearization and conjugation keys: rotations at the levels where they are
/// used (a small key leaves them to the rotation key), and the two keys between the main and an ephemeral sparse secret, which
/// is drawn for this key and then forgotten.
pub struct BootstrapKey {
    id: KeyId,
    request: Request,
    /// The parameters on the chain that its keys are made for.
    params: Params,
    keys: KeySet,
    /// The keys of roots of unity, for bootstraps by these.
    rotor: Option<RotorKeys>,
}

impl BootstrapKey {
    /// The secret key that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// The method that it is made for: regular or lossy.
    pub fn method(&self) -> Method {
        self.request.method
    }
    /// Stages of coeffs_to_slots.
    pub fn stage_count(&self) -> usize {
        self.request.stage_count
    }
    /// Its size.
    pub fn size(&self) -> KeySize {
        self.request.size
    }
    /// Its kind in words: that of its size if it is small, else that of its method.
    pub fn kind(&self) -> &'static str {
        kind_of(self.size(), self.method())
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.keys.byte_count() + self.rotor.as_ref().map_or(0, RotorKeys::byte_count)
    }
    /// Bytes when stored with seeds.
    pub fn stored_bytes(&self) -> usize {
        let digits = self.rotor.iter().flat_map(|rotor| rotor.iter().map(move |key| (rotor, key)));
        let rotor = digits.map(|(rotor, key)| key.spec().stored_bytes(rotor.context().params()).unwrap_or(0));
        self.keys.stored_bytes() + rotor.sum::<usize>()
    }
    /// The keys of roots of unity.
    pub(crate) fn rotor(&self) -> Option<&RotorKeys> {
        self.rotor.as_ref()
    }
    /// The bootstrap that it is made for.
    pub(crate) fn request(&self) -> Request {
        self.request
    }
    pub(crate) fn keys(&self) -> &KeySet {
        &self.keys
    }

    /// Its keys on the chain of an engine: each on as many limbs, from the bottom up, as its own chain shares with it.
    pub(crate) fn on_chain(&self, chain: &Params) -> KeySet {
        self.keys.for_subset(&self.params, chain)
    }

    /// Whether it has the keys of a route: on its chain or a part of it. A small one serves every route.
    pub(crate) fn serves(&self, route: &Route) -> bool {
        let (own, wanted) = (self.request, route.layout.request);
        if let Some(rotor) = &self.rotor {
            return route.rotor() == Some(rotor.shape()) && own.slots == wanted.slots;
        }
        let like =
            own.method == wanted.method.keys() && own.stage_count == wanted.stage_count && own.slots == wanted.slots;
        let primes = self.params.prime_indices();
        let part = route.params.prime_indices().iter().all(|l| primes.contains(l));
        own.size == wanted.size && part && (like || own.size == KeySize::Small)
    }

    /// Its keys, in the order of a [`KeySet`].
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().map(|(_, key)| &**key).collect()
    }
    /// The key made of these, which are on the chain of `params`.
    pub(crate) fn from_stored(
        id: KeyId,
        request: Request,
        params: Params,
        keys: KeySet,
        rotor: Option<RotorKeys>,
    ) -> Self {
        Self { id, request, params, keys, rotor }
    }

    /// All keys of a run on the `chain`, which is a part of the chain that this key is made for.
    pub(crate) fn eval_keys(&self, whole: &Params, chain: &Params, all: &BootstrapKeys<'_>) -> Result<KeySet, Error> {
        let user = KeySet::new()
            .with(KeyRole::Square, all.relinearization.0.clone())
            .and([all.conjugation.with_role()].into_iter().collect());
        let user = match (self.size(), all.rotation) {
            (KeySize::Small, Some(rotation)) => {
                user.and(rotation.steps.iter().map(|(_, key)| key.with_role()).collect())
            }
            (KeySize::Small, None) => {
                return Err(Error::MissingKey(
                    "A small bootstrap key needs the rotation key beside it; pass create_rotation_key(secret_key) before it.".into(),
                ))
            }
            _ => user,
        };
        Ok(user.for_subset(whole, chain).and(self.on_chain(chain)))
    }
}

/// How Python's methods name a bootstrap key. Regular ones serve merging bootstraps as well, and small ones every method.
pub(crate) fn kind_of(size: KeySize, method: Method) -> &'static str {
    match (size, method.keys()) {
        (KeySize::Small, _) => "small bootstrap key",
        (_, Method::Lossy) => "lossy bootstrap key",
        _ => "bootstrap key",
    }
}

impl Engine {
    /// Makes a bootstrap key for the method, stages, size and slots of a request. The memory it takes is forecast first and
    /// compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, [`Error::Cancelled`], and those of [`Route::new`].
    pub fn create_bootstrap_key(
        &self,
        sk: &SecretKey,
        request: Request,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<BootstrapKey, Error> {
        let request = Route::request_of_key(self.params(), request);
        let small = request.size == KeySize::Small;
        let route = self.route(request)?;
        if !small {
            self.forecast(&route, memory_limit)?;
        }
        let (own, parts) = route.keys(self.params())?;
        let ctx = if small { self.ctx.clone() } else { self.context_of(&own)? };
        let carried = |spec: &_, galois, secrets: (&_, &_), random: &mut _| {
            let step = route.carried().map(|step| step.key(&ctx, spec, galois, secrets, random)).transpose()?.flatten();
            step.ok_or_else(|| Error::MissingKey(format!("No map of this bootstrap is carried at {galois}.")))
        };
        let rotors = route.rotor().map_or(0, |shape| shape.keys().len());
        let (others, short) = (parts.len(), self.params().literal().ship.as_ref().map(|ship| ship.digit_bits));
        let list = List { parts, more: rotors, short };
        let (keys, placed) = bootstrap_keys::create((&self.runtime, &ctx), sk, list, control, carried)?;
        let rotor = match (route.rotor(), &placed) {
            (Some(shape), Some(placed)) => Some(self.rotor_keys(sk, shape, placed, (others, rotors, control))?),
            _ => None,
        };
        Ok(BootstrapKey { id: sk.id(), request, params: ctx.params().clone(), keys, rotor })
    }

    /// The keys of all factors of a sparse secret, so many after so many others.
    fn rotor_keys(
        &self,
        sk: &SecretKey,
        shape: &RotorShape,
        placed: &PlacedCoefficients,
        (others, rotors, control): (usize, usize, &Control),
    ) -> Result<RotorKeys, Error> {
        let ctx = self.context_of(&self.params().raised()?)?;
        let begun = Mutex::new(others);
        let random = |factor, digit| {
            control.check()?;
            // Reported under the lock, so that it never goes back.
            let mut done = begun.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            control.report(*done, others + rotors + 1, "bootstrap keys");
            drop(done);
            let (purpose, number) = bootstrap_keys::purpose(KeyRole::Rotor { factor, digit });
            self.runtime.random(purpose, number)
        };
        let made = self.run(|| RotorKeys::generate(&ctx, shape, placed, &sk.for_subset(&ctx)?, random))?;
        control.report(others + rotors + 1, others + rotors + 1, "bootstrap keys");
        Ok(made)
    }

    fn forecast(&self, route: &Route, memory_limit: Option<u64>) -> Result<(), Error> {
        let memory = Memory::of(self.params(), route)?;
        let needed = (memory.bootstrap_key + memory.matrices + memory.scratch) as u64;
        match memory_limit.filter(|&limit| needed > limit) {
            Some(limit) => Err(out_of_memory("bootstrapping with this key", needed, limit)),
            None => check_memory("bootstrapping with this key", needed),
        }
    }
}

fn out_of_memory(what: &str, needed: u64, available: u64) -> Error {
    Error::Memory { what: what.to_string(), needed: needed as f64 / 1e9, available: available as f64 / 1e9 }
}

/// Refuses what needs more bytes than the system has.
pub(crate) fn check_memory(what: &str, needed: u64) -> Result<(), Error> {
    match machine::memory_available() {
        Some(available) if needed > available => Err(out_of_memory(what, needed, available)),
        _ => Ok(()),
    }
}

/// The keys of a rotation key, by step to the right: the powers of two at all user levels, and on parameters that bootstrap
/// those of every small route, at the levels where they are used. All have one shape, cut to the limbs of each, so that the maps
/// of a small bootstrap can use them side by side.
pub(crate) fn rotation_layout(params: &CkksParams, slots: usize) -> Result<Vec<(i64, u64, KeySwitchSpec)>, Error> {
    let user = params.chain_level(params.max_level()) + 1;
    let mut limbs: BTreeMap<usize, usize> = (0..slots.ilog2()).map(|i| (1 << i, user)).collect();
    let requests = (1..=MAX_STAGES)
        .flat_map(|s| [Method::Regular, Method::Lossy].map(|m| Request::new(m, s, KeySize::Small, slots)))
        .flat_map(|r| [r, Request { real: true, ..r }]);
    let requests = requests.filter(|_| params.regular_level().is_some());
    for route in requests.filter_map(|r| Route::new(params, r).ok()) {
        let whole = route.params.prime_indices();
        for (by, count) in route.rotations() {
            let needed = whole[..count].iter().max().map_or(0, |l| l + 1);
            let entry = limbs.entry(params.slots() - by).or_insert(0);
            *entry = needed.max(*entry);
        }
    }
    let longest = limbs.values().copied().max().unwrap_or(user);
    let shape = KeySwitchSpec::balanced(params, longest)?;
    let key = |(delta, limbs): (usize, usize)| {
        (delta as i64, rotation_exponent(-(delta as isize), params.n()), shape.cut(limbs))
    };
    Ok(limbs.into_iter().map(key).collect())
}
