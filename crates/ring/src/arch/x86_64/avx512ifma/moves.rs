//! Bytes and words on their way between memory, packed words and vectors.

use core::arch::x86_64::*;

#[inline(always)]
pub(super) unsafe fn set(x: u64) -> __m512i {
    // SAFETY: AVX-512 is present by the contract of the trait.
    unsafe { _mm512_set1_epi64(x as i64) }
}

/// The bytes of the vector at `p` at these places, those that are kept. Of the intrinsic with constant places the compiler makes a
/// permutation of two sources, which takes three times as long.
///
/// # Safety
/// AVX-512 VBMI is present, and 64 bytes from `p` on may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn permute_bytes(p: *const u8, places: __m512i, kept: u64) -> __m512i {
    let x;
    // SAFETY: by the contract.
    unsafe {
        core::arch::asm!(
            "vpermb {x}{{{kept}}}{{z}}, {places}, [{p}]",
            x = lateout(zmm_reg) x,
            kept = in(kreg) kept,
            places = in(zmm_reg) places,
            p = in(reg) p,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    x
}

/// Eight words of so many bits, packed.
#[inline(always)]
pub(super) unsafe fn load_packed(p: *const u8, bits: usize) -> __m512i {
    // SAFETY: AVX-512 is present; 64 bytes from p on, and VBMI. The numbers of bytes are constants.
    unsafe {
        let place = |i: usize| (0..8).fold(0i64, |places, b| places | ((i * bits / 8 + b) as i64) << (8 * b));
        let places = _mm512_setr_epi64(place(0), place(1), place(2), place(3), place(4), place(5), place(6), place(7));
        if bits.is_multiple_of(8) {
            return permute_bytes(p, places, (0xffu64 >> (8 - bits / 8)) * 0x0101_0101_0101_0101);
        }
        let shift = |i: usize| (i * bits % 8) as i64;
        let shifts = _mm512_setr_epi64(shift(0), shift(1), shift(2), shift(3), shift(4), shift(5), shift(6), shift(7));
        let x = _mm512_srlv_epi64(permute_bytes(p, places, u64::MAX), shifts);
        _mm512_and_si512(x, set((1 << bits) - 1))
    }
}

/// Eight vectors as eight rows of a matrix that is transposed.
#[inline(always)]
pub(super) unsafe fn transpose(x: &mut [__m512i; 8]) {
    // SAFETY: AVX-512 is present by the contract of the trait. Pairs of lanes, then pairs of 128-bit and of 256-bit blocks.
    unsafe {
        let mut t = *x;
        for i in 0..4 {
            t[2 * i] = _mm512_unpacklo_epi64(x[2 * i], x[2 * i + 1]);
            t[2 * i + 1] = _mm512_unpackhi_epi64(x[2 * i], x[2 * i + 1]);
        }
        // t[2i + s] holds columns s, s+2, s+4, s+6 of rows 2i, 2i+1, one column per 128-bit block.
        let mut u = t;
        for s in 0..2 {
            u[s] = _mm512_shuffle_i64x2::<0x88>(t[s], t[2 + s]); // columns s, s+4 of rows 0..4
            u[2 + s] = _mm512_shuffle_i64x2::<0xdd>(t[s], t[2 + s]); // columns s+2, s+6
            u[4 + s] = _mm512_shuffle_i64x2::<0x88>(t[4 + s], t[6 + s]);
            u[6 + s] = _mm512_shuffle_i64x2::<0xdd>(t[4 + s], t[6 + s]);
        }
        for s in 0..4 {
            // u[s]: blocks (col s: rows 01), (col s+4: rows 01), (col s: rows 23), (col s+4: rows 23).
            x[s] = _mm512_shuffle_i64x2::<0x88>(u[s], u[4 + s]);
            x[4 + s] = _mm512_shuffle_i64x2::<0xdd>(u[s], u[4 + s]);
        }
    }
}

/// Eight words through a table of places: entry `8 block + code`, and eight rows of sixteen 32-bit lane numbers.
#[inline(always)]
pub(super) unsafe fn load_permuted(src: *const u64, entry: u32, inner: *const [u32; 16]) -> __m512i {
    // SAFETY: entries are `8 * block + code` with code < 8 and 8 * block + 7 < N.
    unsafe {
        let x = _mm512_loadu_si512(src.add((entry & !7) as usize).cast());
        let lanes = _mm512_loadu_si512(inner.add((entry & 7) as usize).cast());
        _mm512_permutexvar_epi32(lanes, x)
    }
}
