//! What multiplication and reduction modulo q take: Montgomery multipliers, and multiples of q by the top bits of a value.

use super::moves::set;
use core::arch::x86_64::*;

const MASK: u64 = (1 << 52) - 1;

/// 1/q modulo 2^52 for odd q: every step of Newton's iteration doubles the number of bits that are right.
pub(super) fn inverse52(q: u64) -> u64 {
    let mut x = q;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)));
    }
    x & MASK
}

/// `w 2^52 mod q` and that over q modulo 2^52.
pub(super) fn multiplier(q: u64, w: u64) -> [u64; 2] {
    let w = ((u128::from(w) << 52) % u128::from(q)) as u64;
    [w, w.wrapping_mul(inverse52(q)) & MASK]
}

/// What brings values down by their top bits: entry k modulo 8 is `floor(k 2^shift / q) q - q`.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    table: __m512i,
    shift: __m512i,
}

impl Steps {
    /// For eight times `2^shift` values, from `first 2^shift` on.
    #[inline(always)]
    pub(super) unsafe fn new(q: u64, shift: u32, first: i64) -> Self {
        let step = |k: i64| ((k << shift).div_euclid(q as i64) - 1) * q as i64;
        // A loop, not `from_fn`: a call that is not inlined is also made where nothing is reduced, for every tile of a conversion.
        let mut entries = [0; 8];
        for (i, entry) in (0..).zip(&mut entries) {
            *entry = step((i - first).rem_euclid(8) + first);
        }
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe {
            // The compiler then sees that the shift is below 64, and needs no mask.
            Self { table: _mm512_loadu_si512(entries.as_ptr().cast()), shift: set(u64::from(shift & 63)) }
        }
    }
    /// `x` to `[q, 2^shift + 2q)`. Comparing would take the multipliers' place in the pipes.
    #[inline(always)]
    pub(super) unsafe fn lazy_reduce(self, x: __m512i, q: __m512i) -> __m512i {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe {
            let x = _mm512_sub_epi64(x, _mm512_permutexvar_epi64(_mm512_srlv_epi64(x, self.shift), self.table));
            let room = _mm512_add_epi64(_mm512_sllv_epi64(set(1), self.shift), q);
            debug_assert!(_mm512_cmplt_epu64_mask(_mm512_sub_epi64(x, q), room) == 0xff);
            x
        }
    }
}
