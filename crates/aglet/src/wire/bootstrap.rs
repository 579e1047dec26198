//! What is stored of the bootstrap key of any family over the ring: its keys in order, then its packed ones.

use super::{Reader, Shape, Writer};
use crate::bootstrap_keys::BootstrapKey;
use crate::Error;
use aglet_bootstrap::{Bootstrapper, KeyNeed, PackedKey, PackedKeys, PackedNeed};
use aglet_rlwe::{Context, KeyId};
use std::sync::Arc;

/// The parts of the key of a bootstrap.
pub fn shapes(circuit: &impl Bootstrapper) -> Result<Vec<Shape>, Error> {
    let (params, keys) = circuit.keys()?;
    let own = keys.into_iter().map(|KeyNeed { role, spec }| Shape::Key { params: params.clone(), role, spec });
    let mut shapes: Vec<Shape> = own.collect();
    let packed = circuit.packed_needed();
    if !packed.is_empty() {
        let params = circuit.packed_params()?;
        let shape = |PackedNeed { number, spec }| Shape::Packed { params: params.clone(), number, spec };
        shapes.extend(packed.into_iter().map(shape));
    }
    Ok(shapes)
}

/// Hands over the parts.
pub fn put<R>(key: &BootstrapKey<R>, out: &mut Writer<'_>) -> Result<(), Error> {
    key.stored_keys().into_iter().try_for_each(|key| out.key(key))?;
    let mut packed = key.packed.iter().flat_map(|keys| keys.list().iter().map(|key| (keys.context(), key)));
    packed.try_for_each(|(ctx, key)| out.packed_key((key.seed(), key.spec()), |sample| Ok(key.body(ctx, sample)?)))
}

/// Makes the key of its parts; `whole` gives the context of the engine's parameters, where there are packed keys.
pub fn take<R>(
    circuit: &impl Bootstrapper,
    whole: impl FnOnce() -> Result<Arc<Context>, Error>,
    (id, request): (KeyId, R),
    parts: &mut Reader<'_>,
) -> Result<BootstrapKey<R>, Error> {
    let (params, keys) = circuit.keys()?;
    let mut list = Vec::with_capacity(keys.len());
    for _ in &keys {
        let (role, key) = parts.key(id)?;
        list.push((role, Arc::new(key)));
    }
    let needs = circuit.packed_needed();
    let packed = match needs.is_empty() {
        true => None,
        false => {
            let ctx = whole()?.subset(circuit.packed_params()?.prime_indices())?;
            let mut keys = Vec::new();
            while parts.more() {
                keys.push(PackedKey::new(&ctx, parts.packed_key(id)?)?);
            }
            Some(PackedKeys::new(ctx, &needs, keys)?)
        }
    };
    Ok(BootstrapKey { id, request, params, keys: list.into_iter().collect(), packed })
}
