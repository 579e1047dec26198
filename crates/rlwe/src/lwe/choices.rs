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

    /// So many digits for products with a [`super::BoxSample`] of so many powers of X, of the base with the least noise; and this noise,
    /// over Q squared.
    ///
    /// # Panics
    /// If there is no digit.
    #[must_use]
    pub fn box_gadget(&self, noise: &Noise, levels: usize, width: usize) -> (Gadget, f64) {
        let bases = 1..=MOST_BITS.min(self.spec().modulus.ilog2()) / levels as u32;
        let gadgets = bases.map(|log_base| Gadget { levels, log_base });
        let noises = gadgets.map(|gadget| (gadget, noise.box_product(self, gadget, width)));
        noises.min_by(|x, y| x.1.total_cmp(&y.1)).expect("a digit has a base")
    }
}
