//! The evaluation keys that an evaluator holds.

use crate::Error;
use aglet_rlwe::params::Params;
use aglet_rlwe::SwitchingKey;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Evaluation keys of one secret key, shared.
#[derive(Debug, Clone, Default)]
pub struct EvalKeys {
    /// By number of limbs.
    relinearisation: BTreeMap<usize, Arc<SwitchingKey>>,
    /// By Galois element, then by number of limbs.
    galois: BTreeMap<(u64, usize), Arc<SwitchingKey>>,
    to_sparse: Option<Arc<SwitchingKey>>,
    from_sparse: Option<Arc<SwitchingKey>>,
    /// From the sparse secret through a rotation and a diagonal, by Galois element.
    raising: BTreeMap<u64, Arc<SwitchingKey>>,
}

impl EvalKeys {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a relinearisation key. Keys for several numbers of limbs stand side by side.
    pub fn with_relinearisation(mut self, key: Arc<SwitchingKey>) -> Self {
        self.relinearisation.insert(key.spec().q_limbs, key);
        self
    }
    /// Adds a key for X -> X^galois. Keys for one automorphism and several numbers of limbs stand side by side.
    pub fn with_galois(mut self, galois: u64, key: Arc<SwitchingKey>) -> Self {
        self.galois.insert((galois, key.spec().q_limbs), key);
        self
    }
    /// Adds the key to the ephemeral secret.
    pub fn with_to_sparse(mut self, key: Arc<SwitchingKey>) -> Self {
        self.to_sparse = Some(key);
        self
    }
    /// Adds the key from the ephemeral secret.
    pub fn with_from_sparse(mut self, key: Arc<SwitchingKey>) -> Self {
        self.from_sparse = Some(key);
        self
    }
    /// Adds a key from the ephemeral secret through an automorphism and a diagonal of the first linear map.
    pub fn with_raising(mut self, galois: u64, key: Arc<SwitchingKey>) -> Self {
        self.raising.insert(galois, key);
        self
    }

    /// The same keys for a subset of the parameters that they were made for; they share their words.
    pub fn restricted(&self, made_for: &Params, subset: &Params) -> Self {
        let one = |key: &Arc<SwitchingKey>| Arc::new(key.restricted(made_for, subset));
        let galois = self.galois.iter().map(|((galois, _), key)| (*galois, one(key)));
        Self {
            relinearisation: self.relinearisation.values().map(one).map(|key| (key.spec().q_limbs, key)).collect(),
            galois: galois.map(|(galois, key)| ((galois, key.spec().q_limbs), key)).collect(),
            // Modulo q0 and one special prime alone.
            to_sparse: self.to_sparse.clone(),
            from_sparse: self.from_sparse.as_ref().map(one),
            raising: self.raising.iter().map(|(galois, key)| (*galois, one(key))).collect(),
        }
    }
    /// These keys and those of `other`, which win.
    pub fn and(mut self, other: &Self) -> Self {
        self.relinearisation.extend(other.relinearisation.iter().map(|(k, v)| (*k, v.clone())));
        self.galois.extend(other.galois.iter().map(|(k, v)| (*k, v.clone())));
        self.to_sparse = other.to_sparse.clone().or(self.to_sparse);
        self.from_sparse = other.from_sparse.clone().or(self.from_sparse);
        self.raising.extend(other.raising.iter().map(|(k, v)| (*k, v.clone())));
        self
    }

    /// The smallest relinearisation key that serves `limbs` limbs.
    pub fn relinearisation(&self, limbs: usize) -> Result<&SwitchingKey, Error> {
        let fits = self.relinearisation.range(limbs..).next().map(|(_, key)| &**key);
        fits.ok_or_else(|| Error::MissingKey { what: format!("relinearization key for {limbs} limbs") })
    }
    /// The smallest key of this automorphism that serves `limbs` limbs; `what` names it in the error.
    pub fn galois(&self, galois: u64, limbs: usize, what: impl Fn() -> String) -> Result<&SwitchingKey, Error> {
        let key = self.galois.range((galois, limbs)..=(galois, usize::MAX)).next();
        key.map(|(_, k)| &**k).ok_or_else(|| Error::MissingKey { what: what() })
    }
    /// The key to the ephemeral secret.
    pub fn to_sparse(&self) -> Result<&SwitchingKey, Error> {
        self.to_sparse
            .as_deref()
            .ok_or_else(|| Error::MissingKey { what: "key to the sparse secret (part of every bootstrap key)".into() })
    }
    /// The key from the ephemeral secret, if it serves `limbs` limbs.
    pub fn from_sparse(&self, limbs: usize) -> Result<&SwitchingKey, Error> {
        let fits = self.from_sparse.as_deref().filter(|k| k.spec().q_limbs >= limbs);
        fits.ok_or_else(|| Error::MissingKey {
            what: format!("key from the sparse secret for {limbs} limbs (part of every bootstrap key)"),
        })
    }
    /// The key from the ephemeral secret that carries the diagonal of a rotation, if it serves `limbs` limbs.
    pub fn raising(&self, galois: u64, limbs: usize) -> Result<&SwitchingKey, Error> {
        let fits = self.raising.get(&galois).map(|k| &**k).filter(|k| k.spec().q_limbs >= limbs);
        fits.ok_or_else(|| Error::MissingKey {
            what: format!("raising key of X^{galois} for {limbs} limbs (part of the bootstrap key)"),
        })
    }
    /// All keys held.
    pub fn iter(&self) -> impl Iterator<Item = &SwitchingKey> {
        self.relinearisation
            .values()
            .chain(self.galois.values())
            .chain(self.raising.values())
            .chain(&self.to_sparse)
            .chain(&self.from_sparse)
            .map(|k| &**k)
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.iter().map(SwitchingKey::byte_count).sum()
    }
}
