//! Sums over rotations of products of digits with the keys of these rotations, over one limb in the transform domain.

use super::keyswitch::{ask, ask_key, load, load_key, product, with_key, KeyRow, ProductRow, PERMUTED_AHEAD};
use crate::arch::lanes::Lanes;
use crate::arch::Halves;
use crate::modulus::Modulus;

/// Words of a tile: runs of 13 KB keep the processor's own prefetching at work, and tiles of both sums stay in the L2 cache.
const TILE: usize = 2048;
/// Words that a key and its permutation are asked for ahead: in the last of a tile, the next group's.
const KEYS_AHEAD: usize = 512;
/// Digits of keys that are read side by side: 16 streams.
const GROUP: usize = 8;

/// For every input `out = sum_i (sum_d phi_i(digit_d) (b_id, a_id) + (phi_i(added_before), 0))` over one limb, canonical.
///
/// # Safety
/// The CPU has the instruction set of `L`; as many outputs as inputs, of which all have as many digits and nothing is added after; all rows have the
/// same length, a multiple of 8; every key has a limb in each half for each digit, all of as many bits; permutations were made for this length and
/// for `L`.
#[inline(always)]
pub(crate) unsafe fn rotated_sum<L: Lanes>(
    m: &Modulus,
    inputs: &[ProductRow<'_>],
    keys: &[KeyRow<'_>],
    out: &mut [Halves<'_>],
) {
    let (Some(first), Some(n)) = (inputs.first(), out.first().map(|o| o.0.len())) else { return };
    let (count, added) = (first.digits.len(), inputs.iter().any(|x| x.added_before.is_some()));
    // One accumulator takes what a group adds up to.
    let size = (GROUP / count).min(L::CHUNK / (count + usize::from(added))).max(1);
    // SAFETY: as stated; `at + WIDTH` is at most the length of all rows.
    unsafe {
        let l = L::new(m);
        for start in (0..n).step_by(TILE) {
            let range = (start, n.min(start + TILE));
            for (g, group) in keys.chunks(size).enumerate() {
                let following = keys.get((g + 1) * size..keys.len().min((g + 2) * size)).unwrap_or(&[]);
                // The keys of a tile stay in the L2 cache for all inputs.
                for (k, (x, (b, a))) in inputs.iter().zip(out.iter_mut()).enumerate() {
                    let following = if k == 0 { following } else { &[] };
                    let out = (g > 0, &mut **b, &mut **a);
                    with_key!(group[0].bits, count, add_group::<L>(l, x, (group, following), range, out));
                }
            }
        }
    }
}

/// The products of one tile of `x` with one group of keys, onto what stands in the outputs if they have begun, and the rest of the tile or the
/// next group on its way to the cache.
#[inline(always)]
unsafe fn add_group<L: Lanes, const D: usize, const BITS: usize>(
    l: L,
    x: &ProductRow<'_>,
    (group, following): (&[KeyRow<'_>], &[KeyRow<'_>]),
    (start, end): (usize, usize),
    (begun, out_b, out_a): (bool, &mut [u64], &mut [u64]),
) {
    let count = if D > 0 { D } else { x.digits.len() };
    let wide = count < L::CHUNK;
    for at in (start..end).step_by(L::WIDTH) {
        // SAFETY: as for `rotated_sum`.
        unsafe {
            if at % 8 == 0 {
                let (keys, ahead) = match at + KEYS_AHEAD {
                    ahead if ahead < end => (group, ahead),
                    ahead => (following, start + ahead - end),
                };
                for key in keys {
                    for d in 0..count {
                        ask_key::<L, BITS>(key.b.get_unchecked(d), ahead);
                        ask_key::<L, BITS>(key.a.get_unchecked(d), ahead);
                    }
                    if let Some(g) = key.permutation.filter(|_| ahead % 128 == 0) {
                        L::prefetch(g.table().as_ptr().wrapping_add(ahead / L::WIDTH).cast());
                    }
                }
                // One row stays in the L2 cache; several are asked for.
                if D != 1 && at + PERMUTED_AHEAD < end {
                    for key in group {
                        let Some(g) = key.permutation else { continue };
                        for row in x.digits.iter().chain(&x.added_before) {
                            ask::<L>(row, at + PERMUTED_AHEAD, g);
                        }
                    }
                }
            }
            let (mut b, mut a) = (l.acc_zero::<false>(), l.acc_zero::<false>());
            for key in group {
                if let (Some(row), true) = (x.added_before, wide) {
                    b = l.acc_add(b, load(l, row, at, key.permutation));
                }
                for d in 0..if wide { count } else { 0 } {
                    let y = load(l, x.digits.get_unchecked(d), at, key.permutation);
                    b = l.mac(b, y, load_key::<L, BITS>(l, key.b.get_unchecked(d), at));
                    a = l.mac(a, y, load_key::<L, BITS>(l, key.a.get_unchecked(d), at));
                }
            }
            let (b, a) = match wide {
                true => (l.acc_sum::<false>(b), l.acc_sum::<false>(a)),
                // Groups of one.
                false => product::<L, D, BITS, false>(l, x.digits, x.added_before, group.get_unchecked(0), at),
            };
            for (sum, out) in [(b, out_b.as_mut_ptr().add(at)), (a, out_a.as_mut_ptr().add(at))] {
                l.store(out, if begun { l.add(sum, l.load(out)) } else { sum });
            }
        }
    }
}
