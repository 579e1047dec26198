//! Sums of products over one limb.

use super::ask_ahead;
use crate::arch::lanes::Lanes;
use crate::modulus::Modulus;

/// Constants of terms that are shaped once for all words.
const KEPT: usize = 4;

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
    // SAFETY: as stated; eight words are two vectors of lanes with few registers.
    unsafe {
        if L::FEW_REGISTERS {
            forms::<L, 2>(m, form, out);
        } else if out.len().is_multiple_of(4 * L::WIDTH) {
            forms::<L, 4>(m, form, out);
        } else {
            forms::<L, 1>(m, form, out);
        }
    }
}

/// `K` vectors at a time, which share what is done for each product.
#[inline(always)]
unsafe fn forms<L: Lanes, const K: usize>(m: &Modulus, form: &FormRow<'_>, out: &mut [u64]) {
    // SAFETY: every pointer below stays inside limbs of `out.len()` words.
    unsafe {
        let l = L::new(m);
        let (factor, constant) = (form.factor.map(|w| l.splat(L::prepare(m, w))), l.constant(form.constant));
        let mut constants = [constant; KEPT];
        constants.iter_mut().zip(form.terms).for_each(|(kept, (_, c))| *kept = l.constant(*c));
        for at in (0..out.len()).step_by(K * L::WIDTH) {
            // What earlier accumulators came to, and those that products and terms share as long as they have room.
            let (mut sums, mut accs, mut room) = ([constant; K], [l.acc_zero::<false>(); K], L::CHUNK);
            for chunk in form.products.chunks(L::CHUNK) {
                if room < chunk.len() {
                    empty(l, &mut sums, &mut accs);
                    room = L::CHUNK;
                }
                for (x, y) in chunk {
                    let (x, y) = (x.as_ptr().add(at), y.as_ptr().add(at));
                    for (k, a) in accs.iter_mut().enumerate() {
                        let (x, y) = (x.add(k * L::WIDTH), y.add(k * L::WIDTH));
                        ask_ahead::<L>(x);
                        ask_ahead::<L>(y);
                        *a = l.mac(*a, l.load(x), l.load(y));
                    }
                }
                room -= chunk.len();
            }
            for (i, (x, c)) in form.terms.iter().enumerate() {
                if room == 0 {
                    empty(l, &mut sums, &mut accs);
                    room = L::CHUNK;
                }
                let c = if i < KEPT { constants[i] } else { l.constant(*c) };
                for (k, a) in accs.iter_mut().enumerate() {
                    let x = x.as_ptr().add(at + k * L::WIDTH);
                    ask_ahead::<L>(x);
                    *a = l.mac(*a, l.load(x), c);
                }
                room -= 1;
            }
            for (k, (&sum, &a)) in sums.iter().zip(&accs).enumerate() {
                let p = out.as_mut_ptr().add(at + k * L::WIDTH);
                match factor {
                    Some(w) => l.store_tame(p, l.mul(l.tame(l.add(sum, l.acc_reduce::<false>(a))), w)),
                    None => l.store(p, l.add(sum, l.acc_sum::<false>(a))),
                }
            }
        }
    }
}

/// Adds what accumulators hold to sums, and begins them anew.
#[inline(always)]
unsafe fn empty<L: Lanes, const K: usize>(l: L, sums: &mut [L::V; K], accs: &mut [L::A; K]) {
    for (sum, a) in sums.iter_mut().zip(accs) {
        // SAFETY: as for `form`.
        unsafe {
            *sum = l.tame(l.add(*sum, l.acc_reduce::<false>(*a)));
            *a = l.acc_zero::<false>();
        }
    }
}

/// `(x, y) = (x + y, x - y)`, canonical words.
///
/// # Safety
/// As for [`form`], of both.
#[inline(always)]
pub(crate) unsafe fn sum_difference<L: Lanes>(m: &Modulus, x: &mut [u64], y: &mut [u64]) {
    // SAFETY: as for `form`.
    unsafe {
        let l = L::new(m);
        for at in (0..x.len()).step_by(L::WIDTH) {
            let (p, r) = (x.as_mut_ptr().add(at), y.as_mut_ptr().add(at));
            let (a, b) = (l.load(p), l.load(r));
            l.store(p, l.add(a, b));
            l.store(r, l.sub(a, b));
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
            ask_ahead::<L>(p);
            l.store_tame(p, l.mul(l.sub(l.load(y.as_ptr().add(at)), l.load(p)), w));
        }
    }
}

/// Shapes canonical residues as constants, in place.
///
/// # Safety
/// As for [`form`].
#[inline(always)]
pub(crate) unsafe fn prepare_constants<L: Lanes>(m: &Modulus, constants: &mut [u64]) {
    // SAFETY: as for `form`.
    unsafe {
        let l = L::new(m);
        for at in (0..constants.len()).step_by(L::WIDTH) {
            l.prepare_constants(constants.as_mut_ptr().add(at));
        }
    }
}
