//! Makes the keys of a bootstrap from a list, for every family whose bootstrap uses sparse-secret encapsulation.

use crate::runtime::Runtime;
use crate::{Control, Error, KeyId, MissingKeyError};
use aglet_bootstrap::{KeyNeed, OwnKeys, PackedKeys};
use aglet_rlwe::{Context, KeyRole, KeySet, Params, SecretKey, SwitchingKey};
use std::sync::Arc;

/// All keys that a bootstrap needs, but for those that users have anyway: rotation keys at the levels where they are used, and the two
/// keys of sparse-secret encapsulation. The ephemeral sparse secret is drawn for this key and then forgotten. `R` is what a family asks of
/// the bootstraps that it serves.
pub struct BootstrapKey<R> {
    pub(crate) id: KeyId,
    pub(crate) request: R,
    /// The parameters of the chain that its keys are made for.
    pub(crate) params: Params,
    pub(crate) keys: KeySet,
    /// Those of a method that packs some.
    pub(crate) packed: Option<PackedKeys>,
}

impl<R> BootstrapKey<R> {
    /// The secret key that it belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.keys.byte_count() + self.packed.as_ref().map_or(0, PackedKeys::byte_count)
    }
    /// Bytes when stored with seeds.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.keys.stored_bytes() + self.packed.as_ref().map_or(0, PackedKeys::stored_bytes)
    }
    /// Its keys, in the order of a [`KeySet`].
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().map(|(_, key)| &**key).collect()
    }
}

/// The keys that are wanted.
pub(crate) struct List {
    /// Their roles and shapes.
    pub(crate) parts: Vec<KeyNeed>,
    /// The number of keys that are made after these; it is only used to report progress.
    pub(crate) more: usize,
}

/// Draws a sparse secret, makes the listed keys on the limbs of a context, and forgets the secret, unless `own` keeps it: it draws, and makes the keys
/// that only this bootstrap has, and all keys that carry part of a linear map.
///
/// # Errors
/// [`Error::Cancelled`], no randomness, out of memory.
pub(crate) fn create(
    (runtime, ctx): (&Runtime, &Context),
    sk: &SecretKey,
    List { parts, more }: List,
    control: &Control,
    own: &dyn OwnKeys,
) -> Result<KeySet, Error> {
    let (main, total) = (runtime.run(|| Ok(sk.for_subset(ctx)?))?, parts.len() + more);
    let sparse = runtime.run(|| Ok(own.draw(ctx, &mut runtime.random("sparse secret", 0)?)?))?;
    let mut keys = KeySet::new();
    for (done, KeyNeed { role, spec }) in parts.into_iter().enumerate() {
        control.check()?;
        control.report(done + 1, total + 1, "bootstrap keys");
        let (purpose, number) = purpose(role);
        let made = runtime.run(|| {
            let random = &mut runtime.random(purpose, number)?;
            if let Some(made) = own.key(ctx, (role, &spec), (&sparse, &main), random)? {
                return Ok(made);
            }
            Ok(match role {
                KeyRole::Relinearization => SwitchingKey::relinearization(ctx, spec, &main, random)?,
                KeyRole::Galois(galois) => SwitchingKey::galois(ctx, spec, galois, &main, random)?,
                KeyRole::DenseToSparse => SwitchingKey::between(ctx, spec, &main, &sparse, random)?,
                KeyRole::SparseToDense => SwitchingKey::between(ctx, spec, &sparse, &main, random)?,
                KeyRole::SparseToDenseGalois(galois) => return Err(MissingKeyError::Map { galois }.into()),
            })
        })?;
        keys.insert(role, Arc::new(made));
    }
    if more == 0 {
        control.report(total + 1, total + 1, "bootstrap keys");
    }
    Ok(keys)
}

/// The purpose that a key's randomness is derived for.
pub(crate) fn purpose(role: KeyRole) -> (&'static str, u64) {
    match role {
        KeyRole::Relinearization => ("relinearization key", 0),
        KeyRole::Galois(galois) => ("Galois key", galois),
        KeyRole::SparseToDenseGalois(galois) => ("Galois key from the sparse secret", galois),
        KeyRole::DenseToSparse => ("key to the sparse secret", 0),
        KeyRole::SparseToDense => ("key from the sparse secret", 0),
    }
}
