//! The work of moving all slots into coefficients at once.

use super::{Pack, PackShape, Packing, LIMBS, PACK_LEVEL};
use aglet_ring::Tally;
use aglet_rlwe::{KeyRole, KeySwitchSpec};
use aglet_schemes::ckks::approximate::check_scale;
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::sample_cost::CountedMemory;
use aglet_schemes::{Approximate, Error};

impl Packing for CostEvaluator {
    type Packed = (PackShape, f64);

    fn encode_pack(&self, pack: &Pack) -> Result<(PackShape, f64), Error> {
        check_scale(pack.scale_ratio)?;
        Ok((PackShape::of(self.params())?, pack.scale_ratio))
    }
    fn pack(
        &self,
        of: &[CostCiphertext],
        (shape, scale_ratio): &(PackShape, f64),
    ) -> Result<Vec<CostCiphertext>, Error> {
        let spec = self.key(KeyRole::Galois(self.rotation(1)), LIMBS)?.cut(LIMBS);
        let babies: Vec<_> = of.iter().map(|_| baby_steps(self, shape, &spec)).collect();
        let inputs = shape.babies as u64;
        let all = Tally::stream(self.n(), (inputs, inputs, 1)).sharing_keys(2 * of.len() as u64);
        self.count(all.times((LIMBS * shape.giants) as u64));
        let sums: Vec<_> = of.iter().map(|_| (0..shape.giants).map(|_| self.pair(LIMBS)).collect::<Vec<_>>()).collect();
        drop(babies);
        let finish = |ct: &CostCiphertext| {
            let part = |(first, last): (usize, usize)| {
                let mut sum = (first == 0).then(|| [self.lift(LIMBS), self.lift(LIMBS)]);
                for g in first.max(1)..last {
                    let (_lifted, digits) = (self.lift(LIMBS), self.digits(&spec, LIMBS));
                    let added = match g {
                        1 => LIMBS,
                        _ if g == first => 0,
                        _ => LIMBS + spec.p_limbs,
                    };
                    sum = Some(self.product(digits.len(), LIMBS + spec.p_limbs, LIMBS + 2 * added));
                }
                sum
            };
            let parts: Vec<_> = shape.parts().into_iter().map(part).collect();
            let polys = self.divide(LIMBS, spec.p_limbs, 1);
            drop(parts);
            CostCiphertext::new(polys, PACK_LEVEL - 1, self.scale(ct) * scale_ratio)
        };
        let out = of.iter().map(finish).collect();
        drop(sums);
        Ok(out)
    }
}

/// The rotations by all baby steps.
fn baby_steps(e: &CostEvaluator, shape: &PackShape, spec: &KeySwitchSpec) -> Vec<[CountedMemory; 2]> {
    let (_lifted, digits) = (e.lift(LIMBS), e.digits(spec, LIMBS));
    let rotated = |_| {
        let _product = e.product(digits.len(), LIMBS + spec.p_limbs, LIMBS);
        e.divide(LIMBS, spec.p_limbs, 0)
    };
    (1..shape.babies).map(rotated).collect()
}
