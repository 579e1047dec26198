//! Four residues as exact doubles: AVX2 with fused multiply-add, for moduli below 2^50.
//!
//! A product `a w` of integers with `|a| <= 2^52`, `|w| <= 2^49` is split without error as `h + l`, `h = fl(a w)`,
//! `l = fma(a, w, -h)`. With `b = round(h / q)` the difference `h - b q` is an integer below 2^53, so one fused
//! operation gives it exactly, and `a w - b q = (h - b q) + l`. The quotient is off by at most
//! `1/2 + |a w / q| 2^-52`, hence `|result| <= q (1/2 + |a| / 8q)` for `|w| <= q/2`.
//!
//! Sums of products keep an accumulator that starts at `1.5 * 2^103` (wide) or `1.5 * 2^102` (narrow). As long as the
//! sum stays within a third of that, each `fma(x, y, sum)` rounds to a multiple of 2^51 (2^50), the rounding error is an
//! exact integer of at most 2^50 (2^49), and the errors are summed apart in a second register. Wide: four products of
//! canonical residues, `4 * 2^100 = 2^102` and `4 * 2^50 < 2^53`. Narrow: eight products of balanced residues and
//! constants, `8 * 2^98 = 2^101` and `8 * 2^49 < 2^53`; where sizes are known, up to sixteen (see `basis.rs`).

use crate::arch::lanes::Lanes;
use crate::modulus::Modulus;
use core::arch::x86_64::*;

/// Adding and subtracting 1.5 * 2^52 rounds `|x| <= 2^51` to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// The word of the double 2^52; or-ing an integer below 2^52 into it adds that integer.
const EXP52: i64 = 0x4330_0000_0000_0000;
const TWO52: f64 = 4_503_599_627_370_496.0;
/// 1.5 * 2^103 and half of that.
const WIDE: f64 = 15_211_807_202_738_752_817_960_438_464_512.0;
const NARROW: f64 = WIDE / 2.0;

#[derive(Clone, Copy)]
pub(crate) struct Avx2 {
    q: __m256d,
    qinv: __m256d,
    modulus: u64,
}

#[inline(always)]
fn balanced(q: u64, w: u64) -> f64 {
    if w > q / 2 {
        -((q - w) as f64)
    } else {
        w as f64
    }
}

impl Avx2 {
    /// Exact reduction of an integer `|x| <= 2^51 q` held in a double, to `|x| <= q/2` and a rounding.
    #[inline(always)]
    unsafe fn reduce(self, x: __m256d) -> __m256d {
        // SAFETY: AVX2 and FMA are present by the contract of the trait.
        unsafe {
            let magic = _mm256_set1_pd(ROUND);
            let b = _mm256_sub_pd(_mm256_fmadd_pd(x, self.qinv, magic), magic);
            _mm256_fnmadd_pd(b, self.q, x)
        }
    }

    /// `x w - b q` in two parts, `(h - b q, l)`.
    #[inline(always)]
    unsafe fn product(self, x: __m256d, (w, quotient): (__m256d, __m256d)) -> (__m256d, __m256d) {
        // SAFETY: AVX2 and FMA are present by the contract of the trait.
        unsafe {
            let magic = _mm256_set1_pd(ROUND);
            let b = _mm256_sub_pd(_mm256_fmadd_pd(x, quotient, magic), magic);
            let h = _mm256_mul_pd(x, w);
            (_mm256_fnmadd_pd(b, self.q, h), _mm256_fmsub_pd(x, w, h))
        }
    }
}

// SAFETY of every block below: AVX2 and FMA are present, and pointers are valid for four words, by the contract of
// the trait; unaligned loads and stores are used throughout.
impl Lanes for Avx2 {
    const WIDTH: usize = 4;
    const GROWS: bool = true;
    const CHUNK: usize = 4;
    const CHUNK_NARROW: usize = 8;
    type V = __m256d;
    /// `w` balanced and `w / q`: the quotient then does not wait for the product.
    type T = (__m256d, __m256d);
    type A = (__m256d, __m256d);
    type F = __m256d;

    #[inline(always)]
    unsafe fn new(m: &Modulus) -> Self {
        debug_assert!(m.value() < 1 << 50);
        let q = m.value() as f64;
        // SAFETY: see above.
        unsafe { Self { q: _mm256_set1_pd(q), qinv: _mm256_set1_pd(1.0 / q), modulus: m.value() } }
    }
    #[inline(always)]
    fn prepare_constant(m: &Modulus, c: u64) -> u64 {
        balanced(m.value(), c).to_bits()
    }
    #[inline(always)]
    fn pack_constant(_: &Modulus, c: u64) -> u64 {
        c
    }
    #[inline(always)]
    unsafe fn multiplier(self, constant: __m256d) -> Self::T {
        // SAFETY: see above.
        unsafe { (constant, _mm256_mul_pd(constant, self.qinv)) }
    }
    #[inline(always)]
    fn prepare(m: &Modulus, w: u64) -> [u64; 2] {
        let w = balanced(m.value(), w);
        [w.to_bits(), (w / m.value() as f64).to_bits()]
    }
    #[inline(always)]
    unsafe fn splat(self, w: [u64; 2]) -> Self::T {
        // SAFETY: see above.
        unsafe { (_mm256_set1_pd(f64::from_bits(w[0])), _mm256_set1_pd(f64::from_bits(w[1]))) }
    }
    #[inline(always)]
    unsafe fn load_t(self, w: *const u64, aux: *const u64) -> Self::T {
        // SAFETY: see above.
        unsafe { (_mm256_loadu_pd(w.cast()), _mm256_loadu_pd(aux.cast())) }
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u64) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let x = _mm256_or_si256(_mm256_loadu_si256(p.cast()), _mm256_set1_epi64x(EXP52));
            _mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_set1_pd(TWO52))
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64, x: __m256d) {
        // SAFETY: see above.
        unsafe {
            let x = self.reduce(x);
            let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
            let x = _mm256_add_pd(x, _mm256_and_pd(negative, self.q));
            let x = _mm256_castpd_si256(_mm256_add_pd(x, _mm256_set1_pd(TWO52)));
            _mm256_storeu_si256(p.cast(), _mm256_xor_si256(x, _mm256_set1_epi64x(EXP52)));
        }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn load_raw(p: *const u64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_loadu_pd(p.cast()) }
    }
    #[inline(always)]
    unsafe fn splat_raw(x: u64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_set1_pd(f64::from_bits(x)) }
    }
    #[inline(always)]
    unsafe fn store_raw(p: *mut u64, x: __m256d) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_pd(p.cast(), x) }
    }
    #[inline(always)]
    unsafe fn load_packed<const BYTES: usize>(self, p: *const u8) -> __m256d {
        // SAFETY: see above; 28 bytes from p on. A byte number of -1 gives a zero.
        unsafe {
            let word = |i: usize, b: usize| if b < BYTES { (i * BYTES + b) as i64 } else { 0xff };
            let place = |i: usize| (0..8).fold(0, |places, b| places | word(i, b) << (8 * b));
            let places = _mm256_set_epi64x(place(1), place(0), place(1), place(0));
            let x = _mm256_set_m128i(_mm_loadu_si128(p.add(2 * BYTES).cast()), _mm_loadu_si128(p.cast()));
            let x = _mm256_or_si256(_mm256_shuffle_epi8(x, places), _mm256_set1_epi64x(EXP52));
            _mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_set1_pd(TWO52))
        }
    }
    #[inline(always)]
    unsafe fn transpose(x: &mut [__m256d; 8]) {
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
    unsafe fn tame(self, x: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { self.reduce(x) }
    }
    #[inline(always)]
    unsafe fn mul(self, x: __m256d, w: Self::T) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let (c, l) = self.product(x, w);
            _mm256_add_pd(c, l)
        }
    }
    #[inline(always)]
    unsafe fn fwd_butterfly(self, x: __m256d, y: __m256d, w: Self::T) -> (__m256d, __m256d) {
        // SAFETY: see above. Adding the small part first takes it off the longest chain; all sums are exact.
        unsafe {
            let (c, l) = self.product(y, w);
            (_mm256_add_pd(_mm256_add_pd(x, l), c), _mm256_sub_pd(_mm256_sub_pd(x, l), c))
        }
    }
    #[inline(always)]
    unsafe fn subside(self, x: __m256d, _: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { self.reduce(x) }
    }
    #[inline(always)]
    unsafe fn inv_sum(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(x, y) }
    }
    #[inline(always)]
    unsafe fn inv_diff_mul(self, x: __m256d, y: __m256d, w: Self::T) -> __m256d {
        // SAFETY: see above.
        unsafe { self.mul(_mm256_sub_pd(x, y), w) }
    }
    #[inline(always)]
    unsafe fn multiple(self, _: u64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn inv_lazy(self, x: __m256d, y: __m256d, w: Self::T, _: __m256d) -> (__m256d, __m256d) {
        // SAFETY: see above.
        unsafe { (_mm256_add_pd(x, y), self.mul(_mm256_sub_pd(x, y), w)) }
    }
    #[inline(always)]
    unsafe fn add(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(x, y) }
    }
    #[inline(always)]
    unsafe fn sub(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_sub_pd(x, y) }
    }

    #[inline(always)]
    unsafe fn acc_zero<const SMALL: bool>(self) -> Self::A {
        // SAFETY: see above.
        unsafe { (_mm256_set1_pd(if SMALL { NARROW } else { WIDE }), _mm256_setzero_pd()) }
    }
    #[inline(always)]
    unsafe fn mac(self, a: Self::A, x: __m256d, y: __m256d) -> Self::A {
        // SAFETY: see above.
        unsafe {
            let high = _mm256_fmadd_pd(x, y, a.0);
            let step = _mm256_sub_pd(high, a.0);
            (high, _mm256_add_pd(a.1, _mm256_fmsub_pd(x, y, step)))
        }
    }
    #[inline(always)]
    unsafe fn acc_add(self, a: Self::A, x: __m256d) -> Self::A {
        // SAFETY: see above. The second register holds integers of the size of errors, and so is x.
        unsafe { (a.0, _mm256_add_pd(a.1, x)) }
    }
    #[inline(always)]
    unsafe fn acc_store(p: *mut u64, a: Self::A) {
        // SAFETY: see above; two vectors.
        unsafe {
            Self::store_raw(p, a.0);
            Self::store_raw(p.add(4), a.1);
        }
    }
    #[inline(always)]
    unsafe fn acc_load(p: *const u64) -> Self::A {
        // SAFETY: see above; two vectors.
        unsafe { (Self::load_raw(p), Self::load_raw(p.add(4))) }
    }
    #[inline(always)]
    unsafe fn acc_reduce<const SMALL: bool>(self, a: Self::A) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let high = _mm256_sub_pd(a.0, _mm256_set1_pd(if SMALL { NARROW } else { WIDE }));
            let b =
                _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(_mm256_mul_pd(high, self.qinv));
            self.reduce(_mm256_add_pd(_mm256_fnmadd_pd(b, self.q, high), a.1))
        }
    }
    #[inline(always)]
    unsafe fn constant(self, c: u64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_set1_pd(balanced(self.modulus, c)) }
    }

    #[inline(always)]
    unsafe fn f_zero() -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn f_mul_add(f: __m256d, x: __m256d, inv: f64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(f, _mm256_mul_pd(x, _mm256_set1_pd(inv))) }
    }
    #[inline(always)]
    unsafe fn f_round(f: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_floor_pd(_mm256_add_pd(f, _mm256_set1_pd(0.5))) }
    }

    #[inline(always)]
    unsafe fn f_scaled(self, p: *const u64, scale: f64) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let x = self.load(p);
            let large = _mm256_cmp_pd::<_CMP_GT_OQ>(x, _mm256_mul_pd(self.q, _mm256_set1_pd(0.5)));
            let x = _mm256_sub_pd(x, _mm256_and_pd(large, self.q));
            let magic = _mm256_set1_pd(ROUND);
            _mm256_sub_pd(_mm256_add_pd(_mm256_mul_pd(x, _mm256_set1_pd(scale)), magic), magic)
        }
    }
    #[inline(always)]
    unsafe fn f_split(f: __m256d, base: f64, inverse: f64) -> (__m256d, __m256d) {
        // SAFETY: see above. All products are exact.
        unsafe {
            let magic = _mm256_set1_pd(ROUND);
            let r = _mm256_sub_pd(_mm256_add_pd(_mm256_mul_pd(f, _mm256_set1_pd(inverse)), magic), magic);
            (r, _mm256_sub_pd(f, _mm256_mul_pd(r, _mm256_set1_pd(base))))
        }
    }
    #[inline(always)]
    unsafe fn f_integer(self, f: __m256d, _: u64) -> __m256d {
        f
    }

    #[inline(always)]
    unsafe fn balance(y: __m256d, v: __m256d, q: f64) -> (__m256d, __m256d) {
        // SAFETY: see above.
        unsafe {
            let large = _mm256_cmp_pd::<_CMP_GT_OQ>(y, _mm256_set1_pd(0.5 * q));
            let y = _mm256_sub_pd(y, _mm256_and_pd(large, _mm256_set1_pd(q)));
            (y, _mm256_sub_pd(v, _mm256_and_pd(large, _mm256_set1_pd(1.0))))
        }
    }
    #[inline(always)]
    unsafe fn load_permuted(self, src: *const u64, entry: u32, inner: *const [u32; 16]) -> __m256d {
        // SAFETY: entries are `4 * block + code` with code < 4 and 4 * block + 3 < N; `inner` holds eight rows.
        unsafe {
            let x = _mm256_loadu_si256(src.add((entry & !3) as usize).cast());
            let lanes = _mm256_loadu_si256(inner.add((entry & 3) as usize).cast());
            let x = _mm256_permutevar8x32_epi32(x, lanes);
            let x = _mm256_or_si256(x, _mm256_set1_epi64x(EXP52));
            _mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_set1_pd(TWO52))
        }
    }
}
