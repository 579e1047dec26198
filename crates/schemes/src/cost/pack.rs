//! The work of bringing all slots into coefficients at once ([`Pack`](crate::approximate::Pack)).

use super::{CostCiphertext, CostEvaluator, Held};
use crate::approximate::PACK_LEVEL;
use crate::ckks::PackShape;
use crate::error::Error;
use aglet_ring::Tally;
use aglet_rlwe::{KeyRole, KeySwitchSpec};

const LIMBS: usize = PACK_LEVEL + 1;

pub(super) fn packs(
    e: &CostEvaluator,
    of: &[CostCiphertext],
    shape: &PackShape,
    scale_ratio: f64,
) -> Result<Vec<CostCiphertext>, Error> {
    let spec = e.key(KeyRole::Galois(e.rotation(1)), LIMBS)?.cut(LIMBS);
    let babies: Vec<_> = of.iter().map(|_| baby_steps(e, shape, &spec)).collect();
    let inputs = shape.babies as u64;
    let all = Tally::stream(e.n(), (inputs, inputs, 1)).sharing_keys(2 * of.len() as u64);
    e.count(all.times((LIMBS * shape.giants) as u64));
    let sums: Vec<_> = of.iter().map(|_| (0..shape.giants).map(|_| e.pair(LIMBS)).collect::<Vec<_>>()).collect();
    drop(babies);
    let finish = |ct: &CostCiphertext| {
        let part = |(first, last): (usize, usize)| {
            let mut sum = (first == 0).then(|| [e.lift(LIMBS), e.lift(LIMBS)]);
            for g in first.max(1)..last {
                let (_lifted, digits) = (e.lift(LIMBS), e.digits(&spec, LIMBS));
                let added = match g {
                    1 => LIMBS,
                    _ if g == first => 0,
                    _ => LIMBS + spec.p_limbs,
                };
                sum = Some(e.product(digits.len(), LIMBS + spec.p_limbs, LIMBS + 2 * added));
            }
            sum
        };
        let parts: Vec<_> = shape.parts().into_iter().map(part).collect();
        let polys = e.divide(LIMBS, spec.p_limbs, 1);
        drop(parts);
        CostCiphertext::new(polys, PACK_LEVEL - 1, ct.scale * scale_ratio)
    };
    let out = of.iter().map(finish).collect();
    drop(sums);
    Ok(out)
}

/// The rotations by all baby steps.
fn baby_steps(e: &CostEvaluator, shape: &PackShape, spec: &KeySwitchSpec) -> Vec<[Held; 2]> {
    let (_lifted, digits) = (e.lift(LIMBS), e.digits(spec, LIMBS));
    let turned = |_| {
        let _product = e.product(digits.len(), LIMBS + spec.p_limbs, LIMBS);
        e.divide(LIMBS, spec.p_limbs, 0)
    };
    (1..shape.babies).map(turned).collect()
}
