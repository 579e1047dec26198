//! Bootstrap keys: the switching keys that a bootstrap circuit needs, and how keys made for one chain serve circuits on
//! a part of it.

use super::run::BootstrapKeys;
use crate::bootstrap_keys::{self, List};
use crate::ckks::engine::Engine;
use crate::ckks::memory::Memory;
use crate::runtime::machine;
use crate::{Control, Error, MissingKeyError};
use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::{BootstrapCircuit, Bootstrapper, OwnKeys, PackedKeys};
use aglet_rlwe::Params;
use aglet_rlwe::{KeyRole, KeySet, SecretKey};
use std::sync::{Mutex, PoisonError};

/// The key of bootstraps of CKKS. Relinearization and conjugation keys are users', and a small key leaves rotations to the rotation key.
pub type BootstrapKey = bootstrap_keys::BootstrapKey<Request>;

impl BootstrapKey {
    /// The method that it serves: regular or lossy.
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
    /// Its name: that of its size if it is small, else that of its method.
    pub fn kind(&self) -> &'static str {
        kind_of(self.size(), self.method())
    }
    /// Its packed keys.
    pub(crate) fn packed(&self) -> Option<&PackedKeys> {
        self.packed.as_ref()
    }
    /// The bootstrap that it is made for.
    pub(crate) fn request(&self) -> Request {
        self.request
    }
    pub(crate) fn keys(&self) -> &KeySet {
        &self.keys
    }

    /// Its keys on the chain of an engine. Each has the limbs that its own chain shares with that chain, from the
    /// bottom up.
    pub(crate) fn on_chain(&self, chain: &Params) -> KeySet {
        self.keys.for_subset(&self.params, chain)
    }

    /// Whether it has the keys of a bootstrap circuit on its chain or a part of it. A small key serves every circuit.
    pub(crate) fn serves(&self, circuit: &BootstrapCircuit) -> bool {
        let (own, wanted) = (self.request, circuit.request);
        if let Some(keys) = &self.packed {
            return keys.serve(&circuit.packed_needed()) && own.slots == wanted.slots;
        }
        let like =
            own.method == wanted.method.keys() && own.stage_count == wanted.stage_count && own.slots == wanted.slots;
        let primes = self.params.prime_indices();
        let part = circuit.params.prime_indices().iter().all(|l| primes.contains(l));
        own.size == wanted.size && part && (like || own.size == KeySize::Small)
    }

    /// All keys of a run on the `chain`, which is a part of the chain that this key is made for.
    pub(crate) fn eval_keys(&self, whole: &Params, chain: &Params, all: &BootstrapKeys<'_>) -> Result<KeySet, Error> {
        let user = KeySet::new()
            .with(KeyRole::Relinearization, all.relinearization.0.clone())
            .and([all.conjugation.with_role()].into_iter().collect());
        let user = match (self.size(), all.rotation) {
            (KeySize::Small, Some(rotation)) => {
                user.and(rotation.steps.iter().map(|(_, key)| key.with_role()).collect())
            }
            (KeySize::Small, None) => return Err(MissingKeyError::RotationKey.into()),
            _ => user,
        };
        Ok(user.for_subset(whole, chain).and(self.on_chain(chain)))
    }
}

/// The name of a bootstrap key in Python's methods. Regular keys also serve merging bootstraps, and small keys serve
/// every method.
pub(crate) fn kind_of(size: KeySize, method: Method) -> &'static str {
    match (size, method.keys()) {
        (KeySize::Small, _) => "small bootstrap key",
        (_, Method::Lossy) => "lossy bootstrap key",
        _ => "bootstrap key",
    }
}

impl Engine {
    /// Makes a bootstrap key for the method, stages, size and slots of a request. First compares its forecast memory
    /// with `memory_limit` bytes and with the free memory.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, [`Error::Cancelled`], and those of [`BootstrapCircuit::new`].
    pub fn create_bootstrap_key(
        &self,
        sk: &SecretKey,
        request: Request,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<BootstrapKey, Error> {
        let request = BootstrapKind::of(self.params()).rules().request_of_key(request);
        let small = request.size == KeySize::Small;
        let circuit = self.circuit(request)?;
        if !small {
            self.forecast(&circuit, memory_limit)?;
        }
        let (own, parts) = circuit.keys()?;
        let ctx = if small { self.ctx.clone() } else { self.context_of(&own)? };
        let (list, own) = (List { parts, more: circuit.packed_needed().len() }, circuit.own_keys()?);
        let (done, more) = (list.parts.len(), list.more);
        let keys = bootstrap_keys::create((&self.runtime, &ctx), sk, list, control, &*own)?;
        let packed = if more > 0 { self.packed_keys(sk, &*own, (done, done + more), control)? } else { None };
        Ok(BootstrapKey { id: sk.id(), request, params: ctx.params().clone(), keys, packed })
    }

    /// The packed keys on the raised primes, of so many keys the last.
    fn packed_keys(
        &self,
        sk: &SecretKey,
        own: &dyn OwnKeys,
        (others, all): (usize, usize),
        control: &Control,
    ) -> Result<Option<PackedKeys>, Error> {
        let ctx = self.context_of(&self.params().raised()?)?;
        let begun = Mutex::new(others);
        let random = |number: u64| {
            control.check().map_err(|_| aglet_bootstrap::Error::Cancelled)?;
            // Reported under the lock, so that it never goes back.
            let mut done = begun.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            control.report(*done, all + 1, "bootstrap keys");
            drop(done);
            // The label is older than the name: keys that are drawn from a seed stay what they were.
            Ok(self.runtime.random("key of roots of unity", number)?)
        };
        let made = self.run(|| Ok(own.packed(&ctx, &sk.for_subset(&ctx)?, &random)?))?;
        control.report(all + 1, all + 1, "bootstrap keys");
        Ok(made)
    }

    fn forecast(&self, circuit: &BootstrapCircuit, memory_limit: Option<u64>) -> Result<(), Error> {
        let memory = Memory::of(circuit)?;
        let needed = (memory.bootstrap_key + memory.matrices + memory.scratch) as u64;
        match memory_limit.filter(|&limit| needed > limit) {
            Some(limit) => Err(machine::out_of_memory("bootstrapping with this key", needed, limit)),
            None => machine::check_memory("bootstrapping with this key", needed),
        }
    }
}
