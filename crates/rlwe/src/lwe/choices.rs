//! Blind rotations that only choose one of several encrypted values. Their noise counts once, where that of other rotations may be multiplied,
//! so one digit is enough where a set has more: half the transforms of a rotation and half its key.

use super::method::Method;
use super::noise::Noise;
use super::params::LweParams;
use aglet_ring::blind::Gadget;

/// Bits that an accumulator is cut to at most.
const MOST_BITS: u32 = 40;

impl LweParams {
    /// The digit of rotations that only choose, of the base with the least noise; none where the digits of the set are one already, or rotations
    /// are not by blocks.
    #[must_use]
    pub fn choice_gadget(&self) -> Option<Gadget> {
        let spec = self.spec();
        if spec.method != Method::Blocks || spec.gadget.levels == 1 {
            return None;
        }
        let bases = 1..=MOST_BITS.min(u64::BITS - spec.modulus.leading_zeros());
        let gadgets = bases.map(|log_base| Gadget { levels: 1, log_base });
        gadgets.min_by(|x, y| self.choice_noise(*x).total_cmp(&self.choice_noise(*y)))
    }

    /// The variance over Q squared of what such a rotation gives. It covers a sum of two coefficients of one rotation as if they were
    /// independent: neighbours correlate more than those of rotations with finer digits, so the correlation is counted here.
    #[must_use]
    pub fn choice_noise(&self, gadget: Gadget) -> f64 {
        let (variance, neighbours) = Noise::rotation_with(self, gadget, None);
        variance * (1.0 + neighbours)
    }
}
