//! Base conversion: from residues modulo q_1..q_a to residues modulo other primes, exact up to the multiple of
//! Q = q_1...q_a, which a sum in doubles decides.

use super::{lines, words};
use crate::arch::lanes::{Lanes, CHUNK_CONSTANT};
use crate::basis::BaseConverter;

/// Coefficients per tile: the sources of a tile stay in the L1 cache.
const TILE: usize = 256;
/// Vectors in flight: their sums are independent, which hides the latency of the multiply-adds.
const FLIGHT: usize = 4;

/// For every column and the targets from `first` on: `y_i` canonical modulo q_i (already times `(Q/q_i)^-1`), `v = floor(sum y_i / q_i + 1/2)`, and
/// for every target `sum y_i (Q/q_i) - v Q` modulo its prime: the centred value of the number that the residues
/// stand for (within a rounding of the double sum of +-Q/2).
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have one length, a multiple of 8.
#[inline(always)]
pub(crate) unsafe fn convert<L: Lanes>(c: &BaseConverter, first: usize, src: &[&[u64]], dst: &mut [&mut [u64]]) {
    let (sources, len) = (src.len(), src[0].len());
    let targets = &c.targets()[first..first + dst.len()];
    debug_assert!(sources == c.source_inverses().len());
    let (mut tile, mut sums) = (lines((sources + 1) * TILE), lines(2 * TILE));
    let (tile, sums) = (words(&mut tile), words(&mut sums));
    for start in (0..len).step_by(TILE) {
        // Whole groups of vectors: a shorter tail computes on what the tile held before, and is not stored.
        let width = TILE.min(len - start);
        // SAFETY: offsets stay below `len` in the rows and below (sources + 1) * TILE in the tile.
        unsafe {
            // Any lanes load and store raw; the modulus plays no part in it.
            let l = L::new(&targets[0].modulus);
            for at in (0..width).step_by(L::WIDTH) {
                let mut f = L::f_zero();
                for (i, (row, &inv)) in src.iter().zip(c.source_inverses()).enumerate() {
                    let y = l.load(row.as_ptr().add(start + at));
                    f = L::f_mul_add(f, y, inv);
                    L::store_raw(tile.as_mut_ptr().add(i * TILE + at), y);
                }
                L::store_raw(tile.as_mut_ptr().add(sources * TILE + at), L::f_round(f));
            }
            for (target, out) in targets.iter().zip(dst.iter_mut()) {
                let l = L::new(&target.modulus);
                let mut constants = [l.constant(0); 33];
                for (k, &w) in constants.iter_mut().zip(&target.constants) {
                    *k = l.constant(w);
                }
                for at in (0..width).step_by(FLIGHT * L::WIDTH) {
                    column::<L>(l, &tile[at..], &constants[..=sources], sums.as_mut_ptr().add(2 * at));
                }
                // Reducing needs a long chain of operations: the vectors of a tile hide each other's latency.
                for at in (0..width).step_by(L::WIDTH) {
                    let a = L::acc_load(sums.as_ptr().add(2 * at));
                    l.store(out.as_mut_ptr().add(start + at), l.acc_reduce(a));
                }
            }
        }
    }
}

/// `FLIGHT` neighbouring vectors of one target, summed and stored as accumulators.
#[inline(always)]
unsafe fn column<L: Lanes>(l: L, tile: &[u64], constants: &[L::V], out: *mut u64) {
    // SAFETY: `tile` holds FLIGHT vectors in each row of TILE words, `out` is valid for FLIGHT accumulators.
    unsafe {
        let mut sums = [l.acc_zero(); FLIGHT];
        let mut used = 0;
        for (i, &c) in constants.iter().enumerate() {
            if used == CHUNK_CONSTANT {
                for a in &mut sums {
                    *a = l.acc_fold(*a);
                }
                used = 0;
            }
            for (k, a) in sums.iter_mut().enumerate() {
                *a = l.mac_constant(*a, L::load_raw(tile.as_ptr().add(i * TILE + k * L::WIDTH)), c);
            }
            used += 1;
        }
        for (k, &a) in sums.iter().enumerate() {
            L::acc_store(out.add(2 * k * L::WIDTH), a);
        }
    }
}
