//! Switching keys by what they are for.

use crate::params::Params;
use crate::{KeySwitchSpec, SwitchingKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a switching key is for. The order is that of a [`KeySet`], and of the keys in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRole {
    /// From the square of the secret, after a product: relinearization.
    Relinearization,
    /// From the secret after X -> X^g, for this Galois element g.
    Galois(u64),
    /// From the sparse secret after X -> X^g, times a public polynomial ([`SwitchingKey::weighted_galois`]).
    SparseToDenseGalois(u64),
    /// To the sparse secret, at the lowest modulus ([`KeySwitchSpec::dense_to_sparse`]).
    DenseToSparse,
    /// From the sparse secret ([`KeySwitchSpec::sparse_to_dense`]).
    SparseToDense,
}

/// What a [`KeySet`] holds: keys, or their shapes before they are made.
pub trait Shaped {
    /// Its limbs and digits.
    fn spec(&self) -> &KeySwitchSpec;
    /// The same for a subset of the parameters that it was made for.
    #[must_use]
    fn for_subset(&self, made_for: &Params, subset: &Params) -> Self;
}

impl Shaped for KeySwitchSpec {
    fn spec(&self) -> &KeySwitchSpec {
        self
    }
    fn for_subset(&self, made_for: &Params, subset: &Params) -> Self {
        KeySwitchSpec::for_subset(self, made_for, subset).spec
    }
}

impl Shaped for Arc<SwitchingKey> {
    fn spec(&self) -> &KeySwitchSpec {
        SwitchingKey::spec(self)
    }
    /// Shares the words.
    fn for_subset(&self, made_for: &Params, subset: &Params) -> Self {
        Arc::new(SwitchingKey::for_subset(self, made_for, subset))
    }
}

/// Keys of one secret key by role and number of limbs, or, as `KeySet<KeySwitchSpec>`, the shapes that they will have.
/// Cloning shares keys.
#[derive(Debug, Clone)]
pub struct KeySet<K = Arc<SwitchingKey>>(BTreeMap<(KeyRole, usize), K>);

impl<K> Default for KeySet<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Shaped> KeySet<K> {
    /// No keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a key. Keys of one role and several numbers of limbs stand side by side; of one number the later replaces the earlier.
    #[must_use]
    pub fn with(mut self, role: KeyRole, key: K) -> Self {
        self.insert(role, key);
        self
    }
    /// [`KeySet::with`] in place.
    pub fn insert(&mut self, role: KeyRole, key: K) {
        self.0.insert((role, key.spec().q_limbs), key);
    }
    /// These keys and those of `other`, which replace what has their role and limbs.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
    /// The smallest key of a role that serves polynomials of `limbs` limbs of the chain.
    pub fn find(&self, role: KeyRole, limbs: usize) -> Option<&K> {
        self.0.range((role, limbs)..=(role, usize::MAX)).next().map(|(_, key)| key)
    }
    /// Those keys that are found for these roles and limbs, each once.
    #[must_use]
    pub fn met(&self, needs: impl IntoIterator<Item = (KeyRole, usize)>) -> Self
    where
        K: Clone,
    {
        needs.into_iter().filter_map(|(role, limbs)| Some((role, self.find(role, limbs)?.clone()))).collect()
    }
    /// All keys with their roles: ordered by role, then by limbs.
    pub fn iter(&self) -> impl Iterator<Item = (KeyRole, &K)> {
        self.0.iter().map(|((role, _), key)| (*role, key))
    }
    /// The same keys for a subset of the parameters that they were made for.
    #[must_use]
    pub fn for_subset(&self, made_for: &Params, subset: &Params) -> Self {
        self.iter().map(|(role, key)| (role, key.for_subset(made_for, subset))).collect()
    }
}

impl<K: Shaped> FromIterator<(KeyRole, K)> for KeySet<K> {
    fn from_iter<I: IntoIterator<Item = (KeyRole, K)>>(keys: I) -> Self {
        keys.into_iter().fold(Self::new(), |set, (role, key)| set.with(role, key))
    }
}

impl KeySet {
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.iter().map(|(_, key)| key.byte_count()).sum()
    }
    /// Bytes of them on a card.
    pub fn card_bytes(&self) -> usize {
        self.iter().map(|(_, key)| key.card_bytes()).sum()
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        self.iter().map(|(_, key)| key.words().card_bytes_there()).sum()
    }
    /// Bytes when stored with seeds.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.iter().map(|(_, key)| key.stored_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(q_limbs: usize, p_limbs: usize) -> KeySwitchSpec {
        KeySwitchSpec { q_limbs, p_limbs, digits: vec![(0..q_limbs).collect()] }
    }

    #[test]
    fn the_smallest_key_that_serves_is_found() {
        let keys: KeySet<_> = [
            (KeyRole::SparseToDense, shape(9, 1)),
            (KeyRole::Relinearization, shape(7, 3)),
            (KeyRole::Relinearization, shape(4, 2)),
            (KeyRole::Galois(5), shape(6, 3)),
            (KeyRole::SparseToDenseGalois(5), shape(9, 1)),
        ]
        .into_iter()
        .collect();
        let found = |role, limbs| keys.find(role, limbs).map(|spec| spec.q_limbs);
        assert_eq!(
            [1, 4, 5, 7].map(|limbs| found(KeyRole::Relinearization, limbs)),
            [Some(4), Some(4), Some(7), Some(7)]
        );
        assert_eq!((found(KeyRole::Relinearization, 8), found(KeyRole::Galois(5), 7)), (None, None));
        assert_eq!((found(KeyRole::Galois(25), 1), found(KeyRole::DenseToSparse, 1)), (None, None));
        let needs = [
            (KeyRole::Relinearization, 2),
            (KeyRole::Relinearization, 4),
            (KeyRole::Galois(5), 7),
            (KeyRole::Galois(5), 1),
        ];
        let met: Vec<_> = keys.met(needs).iter().map(|(role, spec)| (role, spec.q_limbs)).collect();
        assert_eq!(met, [(KeyRole::Relinearization, 4), (KeyRole::Galois(5), 6)]);
        let order: Vec<_> = keys.iter().map(|(role, spec)| (role, spec.q_limbs)).collect();
        assert_eq!(order[..2], [(KeyRole::Relinearization, 4), (KeyRole::Relinearization, 7)]);
        assert_eq!(order[3..], [(KeyRole::SparseToDenseGalois(5), 9), (KeyRole::SparseToDense, 9)]);
        // What comes later replaces what has its role and limbs, and nothing else.
        let both = keys.and(KeySet::new().with(KeyRole::Relinearization, shape(7, 1)));
        assert_eq!((both.find(KeyRole::Relinearization, 5).map(|s| s.p_limbs), both.iter().count()), (Some(1), 5));
    }
}
