//! Sums of products of one polynomial, rotated, with the keys of these rotations, over one limb in the transform domain.

use super::keyswitch::{load, KeyRow};
use crate::arch::lanes::Lanes;
use crate::arch::Halves;
use crate::modulus::Modulus;

/// Words of a tile: runs of 4 KB keep the processor's own prefetching at work, and tiles of both sums stay in the L1 cache.
const TILE: usize = 512;
/// Keys that are read side by side: 16 streams.
const GROUP: usize = 8;

/// `out = sum_i phi_i(x) (b_i, a_i)` over one limb, canonical; keys have one digit.
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have the length of the outputs, a multiple of 8; every key has at least
/// one limb in each half; automorphisms were made for this length and for `L`.
#[inline(always)]
pub(crate) unsafe fn rotated_sum<L: Lanes>(m: &Modulus, x: &[u64], keys: &[KeyRow<'_>], out: Halves<'_>) {
    let size = if L::CHUNK < GROUP { L::CHUNK } else { GROUP };
    // SAFETY: as stated; `at + WIDTH` is at most the length of all rows.
    unsafe {
        let l = L::new(m);
        for start in (0..x.len()).step_by(TILE) {
            let end = x.len().min(start + TILE);
            for (g, group) in keys.chunks(size).enumerate() {
                let following = keys.get((g + 1) * size..keys.len().min((g + 2) * size)).unwrap_or(&[]);
                for at in (start..end).step_by(L::WIDTH) {
                    if at % 8 == 0 {
                        for key in following {
                            L::prefetch(key.b.get_unchecked(0).as_ptr().add(at));
                            L::prefetch(key.a.get_unchecked(0).as_ptr().add(at));
                        }
                    }
                    let (mut b, mut a) = (l.acc_zero::<false>(), l.acc_zero::<false>());
                    for key in group {
                        let y = load(l, x, at, key.automorphism);
                        b = l.mac(b, y, l.load(key.b.get_unchecked(0).as_ptr().add(at)));
                        a = l.mac(a, y, l.load(key.a.get_unchecked(0).as_ptr().add(at)));
                    }
                    for (sum, out) in [(b, out.0.as_mut_ptr().add(at)), (a, out.1.as_mut_ptr().add(at))] {
                        let sum = l.acc_reduce::<false>(sum);
                        l.store(out, if g > 0 { l.add(sum, l.load(out)) } else { sum });
                    }
                }
            }
        }
    }
}
