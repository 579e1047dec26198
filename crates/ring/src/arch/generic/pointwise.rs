//! Sums of products over one limb.

use crate::arch::lanes::Lanes;
use crate::modulus::Modulus;

/// A sum over one row: `(sum a b + sum c x + constant) factor`, everything canonical.
#[derive(Default)]
pub(crate) struct FormRow<'a> {
    /// Pairs of rows to multiply.
    pub(crate) products: &'a [(&'a [u64], &'a [u64])],
    /// Rows with a constant each.
    pub(crate) terms: &'a [(&'a [u64], u64)],
    /// Added to every word.
    pub(crate) constant: u64,
    /// Multiplies the whole; `None` is 1 and costs nothing.
    pub(crate) factor: Option<u64>,
}

/// Evaluates a [`FormRow`] to `out`, canonical.
///
/// # Safety
/// The CPU has the instruction set of `L`; all limbs have the length of `out`, a multiple of 8.
#[inline(always)]
pub(crate) unsafe fn form<L: Lanes>(m: &Modulus, form: &FormRow<'_>, out: &mut [u64]) {
    // SAFETY: every pointer below stays inside limbs of `out.len()` words.
    unsafe {
        let l = L::new(m);
        let factor = form.factor.map(|w| l.splat(L::prepare(m, w)));
        for at in (0..out.len()).step_by(L::WIDTH) {
            let mut sum = l.constant(form.constant);
            for chunk in form.products.chunks(L::CHUNK) {
                let mut a = l.acc_zero::<false>();
                for (x, y) in chunk {
                    a = l.mac(a, l.load(x.as_ptr().add(at)), l.load(y.as_ptr().add(at)));
                }
                sum = l.tame(l.add(sum, l.acc_reduce::<false>(a)));
            }
            for chunk in form.terms.chunks(L::CHUNK) {
                let mut a = l.acc_zero::<false>();
                for (x, c) in chunk {
                    a = l.mac(a, l.load(x.as_ptr().add(at)), l.constant(*c));
                }
                sum = l.tame(l.add(sum, l.acc_reduce::<false>(a)));
            }
            let x = match factor {
                Some(w) => l.mul(sum, w),
                None => sum,
            };
            l.store(out.as_mut_ptr().add(at), x);
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
