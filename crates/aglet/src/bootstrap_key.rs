//! Bootstrap keys: which switching keys a route needs, and how keys of one chain serve the routes on parts of it.

use crate::bootstrap::{working_bytes, BootstrapKeys};
use crate::control::Control;
use crate::engine::Engine;
use crate::route::{KeySize, Method, Request, Route, MAX_STAGES};
use crate::{machine, Error};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::encrypt::os_source;
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyId, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::EvalKeys;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that a bootstrap needs beside the relinearisation and conjugation keys: rotations at the levels where they are
/// used (a small key leaves them to the rotation key), and the two keys between the main and an ephemeral sparse secret, which
/// is drawn for this key and then forgotten.
pub struct BootstrapKey {
    id: KeyId,
    request: Request,
    /// The parameters on the chain that its keys are made for.
    params: Params,
    keys: EvalKeys,
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
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.keys.byte_count()
    }
    /// Bytes when stored with seeds.
    pub fn stored_bytes(&self) -> usize {
        self.keys.iter().map(SwitchingKey::stored_bytes).sum()
    }
    /// The bootstrap that it is made for.
    pub(crate) fn request(&self) -> Request {
        self.request
    }
    pub(crate) fn keys(&self) -> &EvalKeys {
        &self.keys
    }

    /// Whether it has the keys of a route: on its chain or a part of it. A small one serves every route.
    pub(crate) fn serves(&self, route: &Route) -> bool {
        let (own, wanted) = (self.request, route.request);
        let like = own.stage_count == wanted.stage_count && own.slots == wanted.slots;
        let limbs = self.params.limbs();
        let part = route.params.limbs().iter().all(|l| limbs.contains(l));
        own.size == wanted.size && part && (like || own.size == KeySize::Small)
    }

    /// Its keys, in the order of [`key_layout`].
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().collect()
    }
    /// The key made of these, with their Galois elements, in the order of [`key_layout`].
    pub(crate) fn from_stored(
        id: KeyId,
        request: Request,
        params: Params,
        list: Vec<(u64, Arc<SwitchingKey>)>,
    ) -> Self {
        let mut list = list.into_iter();
        let sparse = list.len().saturating_sub(2);
        let rotations: Vec<_> = list.by_ref().take(sparse).collect();
        let mut keys = rotations.into_iter().fold(EvalKeys::new(), |keys, (galois, key)| keys.with_galois(galois, key));
        if let (Some((_, to)), Some((_, from))) = (list.next(), list.next()) {
            keys = keys.with_sparse(to, from);
        }
        Self { id, request, params, keys }
    }

    /// All keys of a run on the `chain`, which is a part of the chain that this key is made for.
    pub(crate) fn eval_keys(&self, whole: &Params, chain: &Params, all: &BootstrapKeys<'_>) -> Result<EvalKeys, Error> {
        let user = EvalKeys::new()
            .with_relinearisation(all.relinearisation.0.clone())
            .with_galois(all.conjugation.galois, all.conjugation.key.clone());
        let user = match (self.size(), all.rotation) {
            (KeySize::Small, Some(rotation)) => {
                rotation.steps.iter().fold(user, |keys, (_, key)| keys.with_galois(key.galois, key.key.clone()))
            }
            (KeySize::Small, None) => {
                return Err(Error::MissingKey(
                    "A small bootstrap key needs the rotation key beside it; pass create_rotation_key(secret_key) before it.".into(),
                ))
            }
            _ => user,
        };
        Ok(user.restricted(whole, chain).and(&self.keys.restricted(&self.params, chain)))
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
        let request = Request { method: request.method.keys(), bound: 1.0, real: false, target_level: None, ..request };
        let small = request.size == KeySize::Small;
        let route = self.route(request)?;
        if !small {
            self.forecast(&route, memory_limit)?;
        }
        // A small key serves every chain: those of all stage counts are parts of the whole.
        let ctx = if small { self.ctx.clone() } else { self.context_of(&route.params)? };
        let own = sk.restricted(&ctx)?;
        let mut keys = self.run(|| -> Result<EvalKeys, Error> {
            let mut random = os_source()?;
            let sparse = SecretKey::generate_ephemeral(&ctx, &mut random)?;
            let to = SwitchingKey::between(&ctx, KeySwitchSpec::to_sparse(), &own, &sparse, &mut random)?;
            let back = KeySwitchSpec::from_sparse(ctx.ring().q_count());
            let from = SwitchingKey::between(&ctx, back, &sparse, &own, &mut random)?;
            Ok(EvalKeys::new().with_sparse(Arc::new(to), Arc::new(from)))
        })?;
        let needs = if small { Vec::new() } else { route.rotations() };
        for (done, (by, limbs)) in needs.iter().enumerate() {
            control.check()?;
            control.report(done + 1, needs.len() + 1, "bootstrap keys");
            let galois = rotation_exponent(*by as isize, ctx.ring().n());
            let key = self.run(|| -> Result<_, Error> {
                let spec = KeySwitchSpec::balanced(ctx.params(), *limbs)?;
                Ok(SwitchingKey::galois(&ctx, spec, galois, &own, &mut os_source()?)?)
            })?;
            keys = keys.with_galois(galois, Arc::new(key));
        }
        control.report(needs.len() + 1, needs.len() + 1, "bootstrap keys");
        Ok(BootstrapKey { id: sk.id(), request, params: ctx.params().clone(), keys })
    }

    fn forecast(&self, route: &Route, memory_limit: Option<u64>) -> Result<(), Error> {
        let keys = route.key_bytes(self.params())?.0 as u64;
        let matrices: u64 = route.shapes(None)?.iter().flatten().map(|s| s.matrix_bytes as u64).sum();
        if let Some(limit) = memory_limit.filter(|&l| keys > l) {
            return Err(out_of_memory("this bootstrap key", keys, limit));
        }
        check_memory("bootstrapping with this key", keys + matrices + working_bytes(self.params()) as u64)
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
pub(crate) fn rotation_layout(params: &Params, slots: usize) -> Result<Vec<(i64, u64, KeySwitchSpec)>, Error> {
    let user = params.chain_level(params.max_level()) + 1;
    let mut limbs: BTreeMap<usize, usize> = (0..slots.ilog2()).map(|i| (1 << i, user)).collect();
    let requests = (1..=MAX_STAGES)
        .flat_map(|s| [Method::Regular, Method::Lossy].map(|m| Request::new(m, s, KeySize::Small, slots)))
        .flat_map(|r| [r, Request { real: true, ..r }]);
    let requests = requests.filter(|_| params.regular_level().is_some());
    for route in requests.filter_map(|r| Route::new(params, r).ok()) {
        let whole = route.params.limbs();
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

/// The keys of a bootstrap key as files have them: rotations by Galois element and limbs, then the sparse keys (to, from), and
/// the parameters on their chain.
pub(crate) fn key_layout(params: &Params, request: Request) -> Result<(Params, Vec<(u64, KeySwitchSpec)>), Error> {
    let route = Route::new(params, request)?;
    let small = request.size == KeySize::Small;
    let own = if small { params.clone() } else { route.params.clone() };
    let rotations = if small { Vec::new() } else { route.rotations() };
    let rotations = rotations.into_iter().map(|(by, limbs)| (rotation_exponent(by as isize, params.n()), limbs));
    let rotations: BTreeSet<(u64, usize)> = rotations.collect();
    let rotations = rotations.into_iter().map(|(g, limbs)| Ok((g, KeySwitchSpec::balanced(&own, limbs)?)));
    let mut layout = rotations.collect::<Result<Vec<_>, Error>>()?;
    layout.extend([(0, KeySwitchSpec::to_sparse()), (0, KeySwitchSpec::from_sparse(own.q().len()))]);
    Ok((own, layout))
}
