//! Eight residues in 52-bit integer arithmetic: AVX-512 IFMA, for moduli below 2^50 (4q < 2^52).
//!
//! Multiplication by a known factor `w` is Montgomery's: the multiplier holds `w 2^52` and that over q modulo 2^52, so that
//! `x w - m q`, `m = lo52(x w / q)`, is a multiple of 2^52, and the high halves alone give `(-q, q)` for any `x < 2^52`. The
//! shift to `(0, 2q)` rides in an accumulator. Sums of products add the low and high 52-bit halves apart, and are divided
//! by 2^52 in the same way. Narrow ones are of constants times 2^52, so that is all: sixteen products below 2^50 q leave less
//! than 5q, and so do four of values below 2^52. Wide ones are multiplied by 2^52 again, and need the high half, with what the low one carries and q, below 2^52:
//! twelve products below 2^100 come to `12 (2^48 - 1) + 11`.

mod moves;
mod reduction;

use crate::arch::lanes::{plain_factors, Lanes};
use crate::modulus::Modulus;
use core::arch::x86_64::*;
use moves::{load_packed, load_permuted, set, transpose};
use reduction::{inverse52, multiplier, Steps};

#[derive(Clone, Copy)]
pub(crate) struct Avx512Ifma {
    q: __m512i,
    q2: __m512i,
    /// -q as a word: what an accumulator of `h q` starts with, to shift a result by q.
    neg_q: __m512i,
    /// What settling takes off, in steps of 2^bits from -2 on, and of half of that from 0 on.
    wide: Steps,
    fine: Steps,
    /// 1/q modulo 2^52.
    inverse: __m512i,
    /// Multiplier 2^52 mod q.
    high: (__m512i, __m512i),
}

/// Adding and subtracting 1.5 * 2^52 rounds `|x| <= 2^51` to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

impl Avx512Ifma {
    /// Whether all lanes are below `bound`; for debug assertions.
    #[inline(always)]
    unsafe fn below(x: __m512i, bound: u64) -> bool {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe { _mm512_cmplt_epu64_mask(x, set(bound)) == 0xff }
    }
    /// `[0, 4q)` to `[0, 2q)`.
    #[inline(always)]
    unsafe fn halve(self, x: __m512i) -> __m512i {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, self.q2)) }
    }
    /// `[0, 4q)` to `[0, q)`.
    #[inline(always)]
    unsafe fn canonical(self, x: __m512i) -> __m512i {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe {
            debug_assert!(Self::below(x, 4 * self.modulus()));
            let x = self.halve(x);
            _mm512_min_epu64(x, _mm512_sub_epi64(x, self.q))
        }
    }
    #[inline(always)]
    unsafe fn modulus(self) -> u64 {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe { _mm_cvtsi128_si64(_mm512_castsi512_si128(self.q)) as u64 }
    }
}

// SAFETY of every block below: AVX-512 F, DQ and IFMA are present, and pointers are valid for eight words, by the
// contract of the trait; unaligned loads and stores are used throughout.
impl Lanes for Avx512Ifma {
    const WIDTH: usize = 8;
    const GROWS: bool = false;
    const ROOMY_BITS: u32 = 47;
    const CHUNK: usize = 12;
    const CHUNK_NARROW: usize = 16;
    const CHUNK_LAZY: usize = 4;
    const CHUNK_SMALL: usize = 1024;
    type V = __m512i;
    type T = (__m512i, __m512i);
    type A = (__m512i, __m512i);
    type M = __m512i;
    type F = __m512d;

    #[inline(always)]
    unsafe fn new(m: &Modulus) -> Self {
        let q = m.value();
        debug_assert!(q < 1 << 50);
        let bits = m.bits();
        let high = multiplier(q, (1 << 52) % q);
        // SAFETY: see above.
        unsafe {
            Self {
                q: set(q),
                q2: set(2 * q),
                neg_q: set(q.wrapping_neg()),
                wide: Steps::new(q, bits, -2),
                fine: Steps::new(q, bits - 1, 0),
                inverse: set(inverse52(q)),
                high: (set(high[0]), set(high[1])),
            }
        }
    }
    #[inline(always)]
    fn prepare_constant(m: &Modulus, c: u64) -> u64 {
        // The first word of `multiplier`, by Barrett instead of a division.
        m.reduce_u128(u128::from(c) << 52)
    }
    #[inline(always)]
    unsafe fn prepare_constants(self, p: *mut u64) {
        // SAFETY: see above.
        unsafe { self.store(p, self.mul(self.load(p), self.high)) }
    }
    #[inline(always)]
    fn pack_constant(m: &Modulus, c: u64) -> u64 {
        Self::prepare_constant(m, c)
    }
    #[inline(always)]
    unsafe fn multiplier(self, constant: __m512i) -> Self::T {
        // SAFETY: see above.
        unsafe { (constant, _mm512_madd52lo_epu64(_mm512_setzero_si512(), constant, self.inverse)) }
    }
    #[inline(always)]
    fn prepare(m: &Modulus, w: u64) -> [u64; 2] {
        multiplier(m.value(), w)
    }
    #[inline(always)]
    unsafe fn splat(self, w: [u64; 2]) -> Self::T {
        // SAFETY: see above.
        unsafe { (set(w[0]), set(w[1])) }
    }
    #[inline(always)]
    unsafe fn load_t(self, w: *const u64, aux: *const u64) -> Self::T {
        // SAFETY: see above.
        unsafe { (_mm512_loadu_si512(w.cast()), _mm512_loadu_si512(aux.cast())) }
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64, x: __m512i) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(p.cast(), self.canonical(x)) }
    }
    #[inline(always)]
    unsafe fn stream(self, p: *mut u64, x: __m512i) {
        // SAFETY: see above; a streamed vector must be a whole line.
        unsafe {
            let x = self.canonical(x);
            if (p as usize).is_multiple_of(64) {
                _mm512_stream_si512(p.cast(), x);
            } else {
                _mm512_storeu_si512(p.cast(), x);
            }
        }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: a fence touches nothing.
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn prefetch_once(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_NTA>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn load_raw(p: *const u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
    #[inline(always)]
    unsafe fn splat_raw(x: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { set(x) }
    }
    #[inline(always)]
    unsafe fn store_raw(p: *mut u64, x: __m512i) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(p.cast(), x) }
    }
    #[inline(always)]
    unsafe fn load_packed(self, p: *const u8, _: usize, bits: usize) -> __m512i {
        // SAFETY: see above; 64 bytes from p on, and VBMI.
        unsafe { load_packed(p, bits) }
    }
    #[inline(always)]
    unsafe fn transpose(x: &mut [__m512i; 8]) {
        // SAFETY: see above.
        unsafe { transpose(x) }
    }

    #[inline(always)]
    unsafe fn tame(self, x: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { self.canonical(x) }
    }
    #[inline(always)]
    unsafe fn mul(self, x: __m512i, w: Self::T) -> __m512i {
        // SAFETY: see above.
        unsafe {
            debug_assert!(Self::below(x, 1 << 52));
            let zero = _mm512_setzero_si512();
            let m = _mm512_madd52lo_epu64(zero, x, w.1);
            _mm512_sub_epi64(_mm512_madd52hi_epu64(zero, x, w.0), _mm512_madd52hi_epu64(self.neg_q, m, self.q))
        }
    }
    #[inline(always)]
    unsafe fn fwd_butterfly(self, x: __m512i, y: __m512i, w: Self::T) -> (__m512i, __m512i) {
        // SAFETY: see above.
        unsafe {
            debug_assert!(Self::below(y, 1 << 52));
            let zero = _mm512_setzero_si512();
            let m = _mm512_madd52lo_epu64(zero, y, w.1);
            let t = _mm512_sub_epi64(_mm512_madd52hi_epu64(zero, y, w.0), _mm512_madd52hi_epu64(zero, m, self.q));
            (_mm512_add_epi64(x, t), _mm512_sub_epi64(x, t))
        }
    }
    #[inline(always)]
    unsafe fn lift(self, x: __m512i, times: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(x, set(times * self.modulus())) }
    }
    #[inline(always)]
    unsafe fn lazy_reduce(self, x: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { self.wide.lazy_reduce(x, self.q) }
    }
    #[inline(always)]
    unsafe fn lazy_reduce_last(self, x: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { self.fine.lazy_reduce(x, self.q) }
    }
    #[inline(always)]
    unsafe fn lift_anew(self, x: __m512i, times: u64) -> __m512i {
        // SAFETY: see above.
        unsafe {
            debug_assert!(Self::below(x, 16 * self.modulus()));
            let x = _mm512_min_epu64(x, _mm512_sub_epi64(x, set(8 * self.modulus())));
            let x = _mm512_min_epu64(x, _mm512_sub_epi64(x, set(4 * self.modulus())));
            _mm512_add_epi64(x, set(times * self.modulus()))
        }
    }
    #[inline(always)]
    unsafe fn subside(self, x: __m512i, multiple: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, multiple)) }
    }
    #[inline(always)]
    unsafe fn inv_sum(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe {
            debug_assert!(Self::below(x, 2 * self.modulus()) && Self::below(y, 2 * self.modulus()));
            self.halve(_mm512_add_epi64(x, y))
        }
    }
    #[inline(always)]
    unsafe fn inv_diff_mul(self, x: __m512i, y: __m512i, w: Self::T) -> __m512i {
        // SAFETY: see above.
        unsafe { self.mul(_mm512_sub_epi64(_mm512_add_epi64(x, self.q2), y), w) }
    }
    #[inline(always)]
    unsafe fn multiple(self, times: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { set(times * self.modulus()) }
    }
    #[inline(always)]
    unsafe fn inv_lazy(self, x: __m512i, y: __m512i, w: Self::T, offset: __m512i) -> (__m512i, __m512i) {
        // SAFETY: see above.
        unsafe { (_mm512_add_epi64(x, y), self.mul(_mm512_sub_epi64(_mm512_add_epi64(x, offset), y), w)) }
    }
    #[inline(always)]
    unsafe fn add(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(x, y) }
    }
    #[inline(always)]
    unsafe fn sub(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_sub_epi64(_mm512_add_epi64(x, self.q), y) }
    }

    #[inline(always)]
    unsafe fn acc_zero<const NARROW: bool>(self) -> Self::A {
        // SAFETY: see above.
        unsafe { (_mm512_setzero_si512(), _mm512_setzero_si512()) }
    }
    #[inline(always)]
    unsafe fn mac(self, a: Self::A, x: __m512i, y: __m512i) -> Self::A {
        // SAFETY: see above.
        unsafe { (_mm512_madd52hi_epu64(a.0, x, y), _mm512_madd52lo_epu64(a.1, x, y)) }
    }
    #[inline(always)]
    unsafe fn mac_small(self, a: Self::A, x: __m512i, w: __m512i) -> Self::A {
        // SAFETY: see above. Products are below 2^52, and 1,024 of them below 2^62.
        unsafe { (a.0, _mm512_madd52lo_epu64(a.1, x, w)) }
    }
    #[inline(always)]
    unsafe fn acc_add(self, a: Self::A, x: __m512i) -> Self::A {
        // SAFETY: see above.
        unsafe { (a.0, _mm512_add_epi64(a.1, x)) }
    }
    #[inline(always)]
    unsafe fn acc_store(p: *mut u64, a: Self::A) {
        // SAFETY: see above; two vectors.
        unsafe {
            Self::store_raw(p, a.0);
            Self::store_raw(p.add(8), a.1);
        }
    }
    #[inline(always)]
    unsafe fn acc_load(p: *const u64) -> Self::A {
        // SAFETY: see above; two vectors.
        unsafe { (Self::load_raw(p), Self::load_raw(p.add(8))) }
    }
    #[inline(always)]
    unsafe fn acc_reduce<const NARROW: bool>(self, a: Self::A) -> __m512i {
        // SAFETY: see above.
        unsafe {
            // Montgomery: (high 2^52 + low - m q) / 2^52 + q.
            let m = _mm512_madd52lo_epu64(_mm512_setzero_si512(), a.1, self.inverse);
            let high = _mm512_add_epi64(a.0, _mm512_srli_epi64::<52>(a.1));
            let x = _mm512_sub_epi64(high, _mm512_madd52hi_epu64(self.neg_q, m, self.q));
            if NARROW {
                // At most sixteen times q^2 / 2^52, and q.
                debug_assert!(Self::below(x, 5 * self.modulus()));
                self.canonical(_mm512_min_epu64(x, _mm512_sub_epi64(x, _mm512_add_epi64(self.q2, self.q2))))
            } else {
                let x = self.mul(x, self.high);
                _mm512_min_epu64(x, _mm512_sub_epi64(x, self.q))
            }
        }
    }
    #[inline(always)]
    unsafe fn acc_finish<const NARROW: bool>(self, p: *mut u64, a: Self::A) {
        // SAFETY: see above. Reduced sums are canonical.
        unsafe { Self::store_raw(p, self.acc_reduce::<NARROW>(a)) }
    }
    #[inline(always)]
    unsafe fn constant(self, c: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { set(c) }
    }

    plain_factors!(__m512i);

    #[inline(always)]
    unsafe fn f_zero() -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn f_mul_add(f: __m512d, x: __m512i, inv: f64) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_add_pd(f, _mm512_mul_pd(_mm512_cvtepu64_pd(x), _mm512_set1_pd(inv))) }
    }
    #[inline(always)]
    unsafe fn f_round(f: __m512d) -> __m512i {
        // SAFETY: see above. Values are non-negative, so truncation is floor.
        unsafe { _mm512_cvttpd_epu64(_mm512_add_pd(f, _mm512_set1_pd(0.5))) }
    }

    #[inline(always)]
    unsafe fn f_scaled(self, p: *const u64, scale: f64) -> __m512d {
        // SAFETY: see above.
        unsafe {
            let x = _mm512_loadu_si512(p.cast());
            let large = _mm512_cmpgt_epu64_mask(x, _mm512_srli_epi64::<1>(self.q));
            let x = _mm512_cvtepi64_pd(_mm512_mask_sub_epi64(x, large, x, self.q));
            let magic = _mm512_set1_pd(ROUND);
            _mm512_sub_pd(_mm512_add_pd(_mm512_mul_pd(x, _mm512_set1_pd(scale)), magic), magic)
        }
    }
    #[inline(always)]
    unsafe fn f_split(f: __m512d, base: f64, inverse: f64) -> (__m512d, __m512d) {
        // SAFETY: see above. All products are exact.
        unsafe {
            let magic = _mm512_set1_pd(ROUND);
            let r = _mm512_sub_pd(_mm512_add_pd(_mm512_mul_pd(f, _mm512_set1_pd(inverse)), magic), magic);
            (r, _mm512_sub_pd(f, _mm512_mul_pd(r, _mm512_set1_pd(base))))
        }
    }
    #[inline(always)]
    unsafe fn f_integer(self, f: __m512d, times: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(_mm512_cvtpd_epi64(f), set(times * self.modulus())) }
    }

    #[inline(always)]
    unsafe fn load_permuted(self, src: *const u64, entry: u32, inner: *const [u32; 16]) -> __m512i {
        // SAFETY: entries and rows are those of the contract of the trait.
        unsafe { load_permuted(src, entry, inner) }
    }
}
