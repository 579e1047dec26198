//! Makes the keys of a bootstrap from their list, for every family that has one on sparse-secret encapsulation.

use crate::runtime::Runtime;
use crate::{Control, Error};
use aglet_bootstrap::KeyNeed;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::places::PlacedCoefficients;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use std::sync::Arc;

/// The keys that are wanted.
pub(crate) struct List {
    /// Their roles and shapes.
    pub(crate) parts: Vec<KeyNeed>,
    /// Keys that are made after these, for progress.
    pub(crate) more: usize,
    /// Bits of the digits that meet the key to the sparse secret, if no special prime stands beside q0.
    pub(crate) short: Option<u32>,
}

/// Draws a sparse secret, makes the keys of a list on the limbs of a context, and forgets it, but for where its coefficients stand if keys
/// that are made after these must know that. `carried` makes a key from the sparse
/// secret to the main one that carries part of a map, for a Galois element.
///
/// # Errors
/// [`Error::Cancelled`], no randomness, memory that cannot be had.
pub(crate) fn create(
    (runtime, ctx): (&Runtime, &Context),
    sk: &SecretKey,
    List { parts, more, short }: List,
    control: &Control,
    carried: impl Fn(&KeySwitchSpec, u64, (&SecretKey, &SecretKey), &mut ChaChaSource) -> Result<SwitchingKey, Error> + Sync,
) -> Result<(KeySet, Option<PlacedCoefficients>), Error> {
    let (main, total) = (runtime.run(|| Ok(sk.for_subset(ctx)?))?, parts.len() + more);
    let (sparse, placed) = runtime.run(|| sparse_secret(ctx, &mut runtime.random("sparse secret", 0)?))?;
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
                KeyRole::ToSparse => match short {
                    Some(bits) => {
                        SwitchingKey::by_short_digits(ctx, (spec.digits.len(), bits), &main, &sparse, random)?
                    }
                    None => SwitchingKey::between(ctx, spec, &main, &sparse, random)?,
                },
                KeyRole::FromSparse => SwitchingKey::between(ctx, spec, &sparse, &main, random)?,
                KeyRole::Rotor { .. } => {
                    return Err(Error::MissingKey("A key of roots of unity is made with all of its factors.".into()))
                }
            })
        })?;
        keys.insert(role, Arc::new(made));
    }
    if more == 0 {
        control.report(total + 1, total + 1, "bootstrap keys");
    }
    Ok((keys, placed))
}

/// The sparse secret of one bootstrap key, and where its coefficients stand if keys must know that.
fn sparse_secret(ctx: &Context, random: &mut ChaChaSource) -> Result<(SecretKey, Option<PlacedCoefficients>), Error> {
    if ctx.params().places().is_none() {
        return Ok((SecretKey::generate_sparse(ctx, random)?, None));
    }
    let (sparse, placed) = SecretKey::generate_placed(ctx, random)?;
    Ok((sparse, Some(placed)))
}

/// What a key is drawn for.
pub(crate) fn purpose(role: KeyRole) -> (&'static str, u64) {
    match role {
        KeyRole::Square => ("relinearization key", 0),
        KeyRole::Galois(galois) => ("Galois key", galois),
        KeyRole::FromSparseGalois(galois) => ("Galois key from the sparse secret", galois),
        KeyRole::ToSparse => ("key to the sparse secret", 0),
        KeyRole::FromSparse => ("key from the sparse secret", 0),
        KeyRole::Rotor { factor, digit } => ("key of roots of unity", (factor << 8 | digit) as u64),
    }
}
