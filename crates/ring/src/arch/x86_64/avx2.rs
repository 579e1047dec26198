//! Four doubles in a register of AVX2 with fused multiply-add.

use crate::arch::quad::{Quad, EXP52, TWO52};
use core::arch::x86_64::*;

/// Words below 2^52 to doubles.
#[inline(always)]
unsafe fn doubles(words: __m256i) -> __m256d {
    // SAFETY: AVX2 is present by the contract of the trait.
    unsafe {
        let x = _mm256_or_si256(words, _mm256_set1_epi64x(EXP52 as i64));
        _mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_set1_pd(TWO52))
    }
}

// SAFETY of every block below: AVX2 and FMA are present, and pointers are valid for four words, by the contract of
// the trait; unaligned loads and stores are used throughout.
impl Quad for __m256d {
    const FEW_REGISTERS: bool = true;
    const SHORT_SUMS: bool = true;
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_set1_pd(x) }
    }
    #[inline(always)]
    unsafe fn read(p: *const f64) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_loadu_pd(p) }
    }
    #[inline(always)]
    unsafe fn write(self, p: *mut f64) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_pd(p, self) }
    }
    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(self, y) }
    }
    #[inline(always)]
    unsafe fn sub(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_sub_pd(self, y) }
    }
    #[inline(always)]
    unsafe fn mul(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_mul_pd(self, y) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, y: Self, z: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_fmadd_pd(self, y, z) }
    }
    #[inline(always)]
    unsafe fn mul_sub(self, y: Self, z: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_fmsub_pd(self, y, z) }
    }
    #[inline(always)]
    unsafe fn sub_from(self, y: Self, z: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_fnmadd_pd(self, y, z) }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self) }
    }
    #[inline(always)]
    unsafe fn floor(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_floor_pd(self) }
    }
    #[inline(always)]
    unsafe fn where_less(self, y: Self, value: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self, y), value) }
    }
    #[inline(always)]
    unsafe fn read_words(p: *const u64) -> Self {
        // SAFETY: see above.
        unsafe { doubles(_mm256_loadu_si256(p.cast())) }
    }
    #[inline(always)]
    unsafe fn write_words(self, p: *mut u64) {
        // SAFETY: see above.
        unsafe {
            let x = _mm256_castpd_si256(_mm256_add_pd(self, _mm256_set1_pd(TWO52)));
            _mm256_storeu_si256(p.cast(), _mm256_xor_si256(x, _mm256_set1_epi64x(EXP52 as i64)));
        }
    }
    #[inline(always)]
    unsafe fn packed_words(p: *const u8, first: usize, bits: usize) -> Self {
        // SAFETY: see above; 29 bytes from the first constant on. A byte number of -1 gives a zero.
        unsafe {
            let p = p.add(first * bits / 8);
            // Two constants to each half; whole ones need no mask.
            let whole = bits.is_multiple_of(8);
            let word = |i: usize, b: usize| match whole && b >= bits / 8 {
                true => 0xff,
                false => (i * bits / 8 - i / 2 * (bits / 4) + b) as i64,
            };
            let place = |i: usize| (0..8).fold(0, |places, b| places | word(i, b) << (8 * b));
            let places = _mm256_set_epi64x(place(3), place(2), place(1), place(0));
            let x = _mm256_set_m128i(_mm_loadu_si128(p.add(bits / 4).cast()), _mm_loadu_si128(p.cast()));
            let mut x = _mm256_shuffle_epi8(x, places);
            if !whole {
                let shift = |i: usize| (i * bits % 8) as i64;
                x = _mm256_srlv_epi64(x, _mm256_set_epi64x(shift(3), shift(2), shift(1), 0));
                x = _mm256_and_si256(x, _mm256_set1_epi64x((1 << bits) - 1));
            }
            _mm256_castsi256_pd(x)
        }
    }
    #[inline(always)]
    unsafe fn word_doubles(self, offset: f64) -> Self {
        // SAFETY: see above.
        unsafe {
            let x = _mm256_or_pd(self, _mm256_castsi256_pd(_mm256_set1_epi64x(EXP52 as i64)));
            _mm256_sub_pd(x, _mm256_set1_pd(offset))
        }
    }
    #[inline(always)]
    unsafe fn low_product(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_castsi256_pd(_mm256_mul_epu32(_mm256_castpd_si256(self), _mm256_castpd_si256(y))) }
    }
    #[inline(always)]
    unsafe fn word_sum(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(self), _mm256_castpd_si256(y))) }
    }
    #[inline(always)]
    unsafe fn word_difference(self, y: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(self), _mm256_castpd_si256(y))) }
    }
    #[inline(always)]
    unsafe fn low_doubles(self) -> Self {
        // SAFETY: see above. The upper half of the word of 2^52 takes the place of that of each word.
        unsafe {
            let exponent = _mm256_set1_epi64x(EXP52 as i64);
            _mm256_castsi256_pd(_mm256_blend_epi32::<0b1010_1010>(_mm256_castpd_si256(self), exponent))
        }
    }
    #[inline(always)]
    unsafe fn read_permuted(src: *const u64, entry: u32, inner: *const [u32; 16]) -> Self {
        // SAFETY: the contract of the caller.
        unsafe {
            let x = _mm256_loadu_si256(src.add((entry & !3) as usize).cast());
            let lanes = _mm256_loadu_si256(inner.add((entry & 3) as usize).cast());
            doubles(_mm256_permutevar8x32_epi32(x, lanes))
        }
    }
    #[inline(always)]
    unsafe fn transpose(x: &mut [Self; 8]) {
        // SAFETY: see above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpackhi_pd(x[0], x[1]));
            let (c, d) = (_mm256_unpacklo_pd(x[2], x[3]), _mm256_unpackhi_pd(x[2], x[3]));
            x[0] = _mm256_permute2f128_pd::<0x20>(a, c);
            x[1] = _mm256_permute2f128_pd::<0x20>(b, d);
            x[2] = _mm256_permute2f128_pd::<0x31>(a, c);
            x[3] = _mm256_permute2f128_pd::<0x31>(b, d);
        }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn prefetch_once(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_NTA>(p.cast()) }
    }
}
