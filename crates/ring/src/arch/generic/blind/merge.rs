//! The samples of a block as those of one key, for accumulators that share their exponents.

use super::{difference, BlindRow, MOST_PRODUCTS};
use crate::arch::lanes::Lanes;
use crate::constants::small::SmallConstants;

/// Samples of a block as those of one key, see [`merge_keys`]: `C` columns, words of `BYTES`.
#[inline(always)]
unsafe fn merged<L: Lanes, const C: usize, const BYTES: usize>(
    l: L,
    t: &SmallConstants,
    (row, exponents): (&BlindRow<'_>, &[u16]),
    out: &mut [u64],
) {
    let n = t.n();
    // SAFETY: there are no more keys than products in a sum; every vector stays inside planes and `out`.
    unsafe {
        for (v, &power) in t.exponents().iter().enumerate() {
            let mut factors = [l.constant(0); MOST_PRODUCTS];
            for (factor, &e) in factors.iter_mut().zip(exponents) {
                *factor = l.tame(difference(l, t, e, power));
            }
            for (plane, out) in row.planes.iter().zip(out.chunks_exact_mut(row.levels * C * n)) {
                for level in 0..row.levels {
                    let mut accs = [l.acc_zero::<true>(); C];
                    for (j, &factor) in factors.iter().enumerate().take(row.keys) {
                        let at = ((v * row.keys + j) * row.levels + level) * C * L::WIDTH * BYTES;
                        for (c, acc) in accs.iter_mut().enumerate() {
                            let key = l.load_key::<BYTES>(plane.as_ptr().add(at + c * L::WIDTH * BYTES));
                            *acc = l.mac(*acc, factor, key);
                        }
                    }
                    let out = out.as_mut_ptr().add((v * row.levels + level) * C * L::WIDTH);
                    for (c, acc) in accs.into_iter().enumerate() {
                        L::store_raw(out.add(c * L::WIDTH), l.acc_reduce_sixteen(acc));
                    }
                }
            }
        }
    }
}

/// `sum_j (X^(exponent_j) - 1) key_j` over the keys of a block, in the order of packed keys, one plane after the other. The external product
/// with it, added, is the block of all keys: many accumulators of the same exponents meet it.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; planes have [`BlindRow::plane_bytes`] and 64 more, `out` has
/// [`BlindRow::merged_words`]; no more than [`MOST_PRODUCTS`] keys, with an exponent each.
#[inline(always)]
pub(crate) unsafe fn merge_keys<L: Lanes>(t: &SmallConstants, row: &BlindRow<'_>, exponents: &[u16], out: &mut [u64]) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match (row.columns, row.bytes) {
            (1, 5) => merged::<L, 1, 5>(l, t, (row, exponents), out),
            (1, _) => merged::<L, 1, 6>(l, t, (row, exponents), out),
            (2, 5) => merged::<L, 2, 5>(l, t, (row, exponents), out),
            (2, _) => merged::<L, 2, 6>(l, t, (row, exponents), out),
            (3, 5) => merged::<L, 3, 5>(l, t, (row, exponents), out),
            (3, _) => merged::<L, 3, 6>(l, t, (row, exponents), out),
            (_, 5) => merged::<L, 4, 5>(l, t, (row, exponents), out),
            _ => merged::<L, 4, 6>(l, t, (row, exponents), out),
        }
    }
}
