//! Sums of products of one polynomial, rotated, with the keys of these rotations, over one limb in the transform domain.

use super::keyswitch::{ask_key, load, load_key, with_key, KeyRow};
use crate::arch::lanes::Lanes;
use crate::arch::Halves;
use crate::modulus::Modulus;

/// Words of a tile: runs of 13 KB keep the processor's own prefetching at work, and tiles of both sums stay in the L2 cache.
const TILE: usize = 2048;
/// Words that a key and its permutation are asked for ahead: in the last of a tile, the next group's.
const KEYS_AHEAD: usize = 512;
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
                    with_key!(group[0].bits, 0, add_group::<L>(l, x, (group, following), range, out));
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
    x: &[u64],
    (group, following): (&[KeyRow<'_>], &[KeyRow<'_>]),
    (start, end): (usize, usize),
    (begun, out_b, out_a): (bool, &mut [u64], &mut [u64]),
) {
    for at in (start..end).step_by(L::WIDTH) {
        // SAFETY: as for `rotated_sum`.
        unsafe {
            if at % 8 == 0 {
                let (keys, ahead) = match at + KEYS_AHEAD {
                    ahead if ahead < end => (group, ahead),
                    ahead => (following, start + ahead - end),
                };
                for key in keys {
                    ask_key::<L, BITS>(key.b.get_unchecked(0), ahead);
                    ask_key::<L, BITS>(key.a.get_unchecked(0), ahead);
                    if let Some(g) = key.permutation.filter(|_| ahead % 128 == 0) {
                        L::prefetch(g.table().as_ptr().wrapping_add(ahead / L::WIDTH).cast());
                    }
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
