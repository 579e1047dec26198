//! Exact products and remainders of integers that doubles hold; the scheme is in `doubles.rs`.

use super::doubles::Doubles;
use super::quad::Quad;

/// Adding and subtracting 1.5 * 2^52 rounds `|x| <= 2^51` to the nearest integer; the lower half of the sum's word is that of the integer.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// A canonical residue as one within q/2.
#[inline(always)]
pub(super) fn balanced(q: u64, w: u64) -> f64 {
    if w > q / 2 {
        -((q - w) as f64)
    } else {
        w as f64
    }
}

// SAFETY of every block below: the CPU has what `Q` asks for, by the contract of the trait.
impl<Q: Quad> Doubles<Q> {
    /// Exact reduction of an integer `|x| <= 2^51 q` held in a double, to `|x| <= q/2` and a rounding.
    #[inline(always)]
    pub(super) unsafe fn reduce(self, x: Q) -> Q {
        // SAFETY: see above.
        unsafe {
            let magic = Q::splat(ROUND);
            let b = x.mul_add(self.qinv, magic).sub(magic);
            b.sub_from(self.q, x)
        }
    }

    /// `x w - b q` in two parts, `(h - b q, l)`.
    #[inline(always)]
    pub(super) unsafe fn product(self, x: Q, (w, quotient): (Q, Q)) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            let magic = Q::splat(ROUND);
            let b = x.mul_add(quotient, magic).sub(magic);
            let h = x.mul(w);
            (b.sub_from(self.q, h), x.mul_sub(w, h))
        }
    }
}
