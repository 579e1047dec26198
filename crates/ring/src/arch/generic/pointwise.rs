//! Sums of products over one limb.

use crate::arch::lanes::{Lanes, CHUNK, CHUNK_CONSTANT};
use crate::modulus::Modulus;

/// `out = sum a b + sum c x + constant` over one limb, canonical in and out. Products come in pairs of limbs,
/// terms as a limb and a canonical constant. `out` may not overlap the inputs.
///
/// # Safety
/// The CPU has the instruction set of `L`; all limbs have the length of `out`, a multiple of 8.
#[inline(always)]
pub(crate) unsafe fn form<L: Lanes>(
    m: &Modulus,
    products: &[(&[u64], &[u64])],
    terms: &[(&[u64], u64)],
    constant: u64,
    out: &mut [u64],
) {
    // SAFETY: every pointer below stays inside limbs of `out.len()` words.
    unsafe {
        let l = L::new(m);
        let constant = l.constant(constant);
        for at in (0..out.len()).step_by(L::WIDTH) {
            let mut a = l.acc_zero();
            let mut used = 0;
            for (x, y) in products {
                if used == CHUNK {
                    (a, used) = (l.acc_fold(a), 0);
                }
                a = l.mac(a, l.load(x.as_ptr().add(at)), l.load(y.as_ptr().add(at)));
                used += 1;
            }
            if used > 0 && !terms.is_empty() {
                (a, used) = (l.acc_fold(a), 0);
            }
            for (x, c) in terms {
                if used == CHUNK_CONSTANT {
                    (a, used) = (l.acc_fold(a), 0);
                }
                a = l.mac_constant(a, l.load(x.as_ptr().add(at)), l.constant(*c));
                used += 1;
            }
            l.store(out.as_mut_ptr().add(at), l.add(l.acc_reduce(a), constant));
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
