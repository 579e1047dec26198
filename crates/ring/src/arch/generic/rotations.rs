//! Sums of products of one polynomial, rotated, with the keys of these rotations, over one limb in the transform domain.

use super::keyswitch::{ask_key, load, load_key, with_key, KeyRow};
use crate::arch::lanes::Lanes;
use crate::arch::Halves;
use crate::modulus::Modulus;

/// Words of a tile: runs of 4 KB keep the processor's own prefetching at work, and tiles of both sums stay in the L1 cache.
const TILE: usize = 512;
/// Keys that are read side by side: 16 streams.
const GROUP: usize = 8;

/// For every input `out = sum_i phi_i(x) (b_i, a_i)` over one limb, canonical; keys have one digit.
///
/// # Safety
/// The CPU has the instruction set of `L`; as many outputs as inputs; all rows have the same length, a multiple of 8; every
/// key has at least one limb in each half; permutations were made for this length and for `L`.
#[inline(always)]
pub(crate) unsafe fn rotated_sum<L: Lanes>(m: &Modulus, xs: &[&[u64]], keys: &[KeyRow<'_>], out: &mut [Halves<'_>]) {
    let size = if L::CHUNK < GROUP { L::CHUNK } else { GROUP };
    let n = xs.first().map_or(0, |x| x.len());
    // SAFETY: as stated; `at + WIDTH` is at most the length of all rows.
    unsafe {
        let l = L::new(m);
        for start in (0..n).step_by(TILE) {
            let range = (start, n.min(start + TILE));
            for (g, group) in keys.chunks(size).enumerate() {
                let following = keys.get((g + 1) * size..keys.len().min((g + 2) * size)).unwrap_or(&[]);
                // The keys of a tile stay in the L2 cache for all inputs.
                for (k, (x, (b, a))) in xs.iter().zip(out.iter_mut()).enumerate() {
                    let following = if k == 0 { following } else { &[] };
                    let out = (g > 0, &mut **b, &mut **a);
                    with_key!(group[0].bits, 0, add_group::<L>(l, x, group, following, range, out));
                }
            }
        }
    }
}

/// The products of one tile of `x` with one group of keys, onto what stands in the outputs if they have begun, and the next
/// group on its way to the cache.
#[inline(always)]
unsafe fn add_group<L: Lanes, const D: usize, const BITS: usize>(
    l: L,
    x: &[u64],
    group: &[KeyRow<'_>],
    following: &[KeyRow<'_>],
    (start, end): (usize, usize),
    (begun, out_b, out_a): (bool, &mut [u64], &mut [u64]),
) {
    for at in (start..end).step_by(L::WIDTH) {
        // SAFETY: as for `rotated_sum`.
        unsafe {
            if at % 8 == 0 {
                for key in following {
                    ask_key::<L, BITS>(key.b.get_unchecked(0), at);
                    ask_key::<L, BITS>(key.a.get_unchecked(0), at);
                }
            }
            let (mut b, mut a) = (l.acc_zero::<false>(), l.acc_zero::<false>());
            for key in group {
                let y = load(l, x, at, key.permutation);
                b = l.mac(b, y, load_key::<L, BITS>(l, key.b.get_unchecked(0), at));
                a = l.mac(a, y, load_key::<L, BITS>(l, key.a.get_unchecked(0), at));
            }
            for (sum, out) in [(b, out_b.as_mut_ptr().add(at)), (a, out_a.as_mut_ptr().add(at))] {
                let sum = l.acc_sum::<false>(sum);
                l.store(out, if begun { l.add(sum, l.load(out)) } else { sum });
            }
        }
    }
}
