//! Sums of products over one limb.

use crate::arch::lanes::{Lanes, CHUNK, CHUNK_CONSTANT};
use crate::modulus::Modulus;

/// A sum over one limb: `(sum a b + sum c x + constant) factor`, everything canonical.
#[derive(Default)]
pub struct Form<'a> {
    /// Pairs of limbs to multiply.
    pub products: Vec<(&'a [u64], &'a [u64])>,
    /// Limbs with a constant each.
    pub terms: Vec<(&'a [u64], u64)>,
    /// Added to every word.
    pub constant: u64,
    /// Multiplies the whole; `None` is 1 and costs nothing.
    pub factor: Option<u64>,
}

/// Evaluates a [`Form`] to `out`, canonical.
///
/// # Safety
/// The CPU has the instruction set of `L`; all limbs have the length of `out`, a multiple of 8.
#[inline(always)]
pub(crate) unsafe fn form<L: Lanes>(m: &Modulus, form: &Form<'_>, out: &mut [u64]) {
    // SAFETY: every pointer below stays inside limbs of `out.len()` words.
    unsafe {
        let l = L::new(m);
        let constant = l.constant(form.constant);
        let factor = form.factor.map(|w| l.splat(L::prepare(m, w)));
        for at in (0..out.len()).step_by(L::WIDTH) {
            let mut a = l.acc_zero();
            let mut used = 0;
            for (x, y) in &form.products {
                if used == CHUNK {
                    (a, used) = (l.acc_fold(a), 0);
                }
                a = l.mac(a, l.load(x.as_ptr().add(at)), l.load(y.as_ptr().add(at)));
                used += 1;
            }
            if used > 0 && !form.terms.is_empty() {
                (a, used) = (l.acc_fold(a), 0);
            }
            for (x, c) in &form.terms {
                if used == CHUNK_CONSTANT {
                    (a, used) = (l.acc_fold(a), 0);
                }
                a = l.mac_constant(a, l.load(x.as_ptr().add(at)), l.constant(*c));
                used += 1;
            }
            let x = l.add(l.acc_reduce(a), constant);
            l.store(out.as_mut_ptr().add(at), factor.map_or(x, |w| l.mul(x, w)));
        }
    }
}

/// `x = (y - x) w` over one limb, canonical.
///
/// # Safety
/// As for [`form`].
#[inline(always)]
pub(crate) unsafe fn rsub_mul<L: Lanes>(m: &Modulus, x: &mut [u64], y: &[u64], w: u64) {
    // SAFETY: as for `form`.
    unsafe {
        let l = L::new(m);
        let w = l.splat(L::prepare(m, w));
        for at in (0..x.len()).step_by(L::WIDTH) {
            let p = x.as_mut_ptr().add(at);
            l.store(p, l.mul(l.sub(l.load(y.as_ptr().add(at)), l.load(p)), w));
        }
    }
}
