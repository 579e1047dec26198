//! Makes the keys of a bootstrap from their list, for every family that has one on sparse-secret encapsulation.

use crate::runtime::Runtime;
use crate::{Control, Error};
use aglet_bootstrap::KeyNeed;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use std::sync::Arc;

/// Draws a sparse secret, makes the keys of a list on the limbs of a context, and forgets it. `carried` makes a key from the sparse
/// secret to the main one that carries part of a map, for a Galois element.
///
/// # Errors
/// [`Error::Cancelled`], no randomness, memory that cannot be had.
pub(crate) fn create(
    (runtime, ctx): (&Runtime, &Context),
    sk: &SecretKey,
    parts: Vec<KeyNeed>,
    control: &Control,
    carried: impl Fn(&KeySwitchSpec, u64, (&SecretKey, &SecretKey), &mut ChaChaSource) -> Result<SwitchingKey, Error> + Sync,
) -> Result<KeySet, Error> {
    let (main, total) = (runtime.run(|| Ok(sk.for_subset(ctx)?))?, parts.len());
    let sparse = runtime.run(|| Ok(SecretKey::generate_sparse(ctx, &mut runtime.random("sparse secret", 0)?)?))?;
    let mut keys = KeySet::new();
    for (done, KeyNeed { role, spec }) in parts.into_iter().enumerate() {
        control.check()?;
        control.report(done + 1, total + 1, "bootstrap keys");
        let (purpose, number) = purpose(role);
        let made = runtime.run(|| {
            let random = &mut runtime.random(purpose, number)?;
            Ok(match role {
                KeyRole::FromSparseGalois(galois) => carried(&spec, galois, (&sparse, &main), random)?,
                KeyRole::Square => SwitchingKey::relinearization(ctx, spec, &main, random)?,
                KeyRole::Galois(galois) => SwitchingKey::galois(ctx, spec, galois, &main, random)?,
                KeyRole::ToSparse => SwitchingKey::between(ctx, spec, &main, &sparse, random)?,
                KeyRole::FromSparse => SwitchingKey::between(ctx, spec, &sparse, &main, random)?,
            })
        })?;
        keys.insert(role, Arc::new(made));
    }
    control.report(total + 1, total + 1, "bootstrap keys");
    Ok(keys)
}

/// What a key is drawn for.
fn purpose(role: KeyRole) -> (&'static str, u64) {
    match role {
        KeyRole::Square => ("relinearization key", 0),
        KeyRole::Galois(galois) => ("Galois key", galois),
        KeyRole::FromSparseGalois(galois) => ("Galois key from the sparse secret", galois),
        KeyRole::ToSparse => ("key to the sparse secret", 0),
        KeyRole::FromSparse => ("key from the sparse secret", 0),
    }
}
