//! The keys of a rotation key.

use crate::runtime::machine::check_memory;
use crate::Error;
use aglet_bootstrap::ckks::request::{KeySize, Method, Request, MAX_STAGES};
use aglet_bootstrap::BootstrapCircuit;
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::KeySwitchSpec;
use aglet_schemes::ckks::CkksParams;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes for each coefficient while a circuit is planned, most of them its matrices.
const PLAN_BYTES: u64 = 4096;

/// The keys of a rotation key, by step to the right. They are the powers of two at all user levels, and on parameters
/// that bootstrap also those of every small circuit, at the levels where they are used. All have one shape, cut to the
/// limbs of each, so the maps of a small bootstrap can use them together.
///
/// To plan all circuits takes seconds at the real size, and a process that makes and reads keys asks several times: what was found is kept.
pub(crate) fn rotation_layout(params: &CkksParams, slots: usize) -> Result<Arc<RotationLayout>, Error> {
    /// By the fingerprint of the parameters, and slots.
    type Found = BTreeMap<([u8; 32], usize), Arc<RotationLayout>>;
    static FOUND: Mutex<Found> = Mutex::new(BTreeMap::new());
    let (key, found) = ((params.fingerprint(), slots), || FOUND.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(layout) = found().get(&key) {
        return Ok(layout.clone());
    }
    let layout = Arc::new(planned(params, slots)?);
    found().insert(key, layout.clone());
    Ok(layout)
}

/// The step, the exponent of the automorphism and the shape of each key.
pub(crate) type RotationLayout = Vec<(i64, u64, KeySwitchSpec)>;

fn planned(params: &CkksParams, slots: usize) -> Result<RotationLayout, Error> {
    let user = params.chain_level(params.max_level()) + 1;
    let mut limbs: BTreeMap<usize, usize> = (0..slots.ilog2()).map(|i| (1 << i, user)).collect();
    let requests = (1..=MAX_STAGES)
        .flat_map(|s| [Method::Regular, Method::Lossy].map(|m| Request::new(m, s, KeySize::Small, slots)))
        .flat_map(|r| [r, Request { real: true, ..r }]);
    let requests = requests.filter(|_| params.regular_level().is_some());
    if params.regular_level().is_some() {
        check_memory("the plan of a rotation key", PLAN_BYTES * params.n() as u64)?;
    }
    for circuit in requests.filter_map(|r| BootstrapCircuit::new(params, r).ok()) {
        let whole = circuit.params.prime_indices();
        for (by, count) in circuit.rotations() {
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
