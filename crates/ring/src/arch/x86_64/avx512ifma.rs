//! Eight residues in 52-bit integer arithmetic: AVX-512 IFMA, for moduli below 2^50 (4q < 2^52).
//!
//! Multiplication by a known factor is Shoup's with 52-bit quotients: `h = hi52(x w')`, `r = lo52(x w) - lo52(h q)
//! mod 2^52` in `[0, 2q)` for any `x < 2^52`. Sums of products add the low and high 52-bit halves apart. Reducing needs
//! the high half, with what the low one carries, below 2^52: sixteen products below 2^100 come to `16 (2^48 - 1) + 15`.
//! Narrow accumulators take no more, so `tame` gives canonical residues.

use crate::arch::lanes::Lanes;
use crate::modulus::Modulus;
use core::arch::x86_64::*;

const MASK: i64 = (1 << 52) - 1;

#[derive(Clone, Copy)]
pub(crate) struct Avx512Ifma {
    q: __m512i,
    q2: __m512i,
    /// 2^52 - q: adding `lo52(h (2^52 - q))` subtracts `h q` modulo 2^52.
    neg_q: __m512i,
    /// Multipliers 1 and 2^52 mod q.
    one: (__m512i, __m512i),
    high: (__m512i, __m512i),
}

fn quotient52(q: u64, w: u64) -> u64 {
    ((u128::from(w) << 52) / u128::from(q)) as u64
}

#[inline(always)]
unsafe fn set(x: u64) -> __m512i {
    // SAFETY: AVX-512 is present by the contract of the trait.
    unsafe { _mm512_set1_epi64(x as i64) }
}

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
    const PAIRED: bool = true;
    const CHUNK: usize = 16;
    const CHUNK_NARROW: usize = 16;
    type V = __m512i;
    type T = (__m512i, __m512i);
    type A = (__m512i, __m512i);
    type F = __m512d;

    #[inline(always)]
    unsafe fn new(m: &Modulus) -> Self {
        let q = m.value();
        debug_assert!(q < 1 << 50);
        let high = (1u64 << 52) % q;
        // SAFETY: see above.
        unsafe {
            Self {
                q: set(q),
                q2: set(2 * q),
                neg_q: set((1 << 52) - q),
                one: (set(1), set(quotient52(q, 1))),
                high: (set(high), set(quotient52(q, high))),
            }
        }
    }
    #[inline(always)]
    fn prepare_constant(_: &Modulus, c: u64) -> u64 {
        c
    }
    #[inline(always)]
    fn prepare(m: &Modulus, w: u64) -> [u64; 2] {
        [w, quotient52(m.value(), w)]
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
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
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
    unsafe fn transpose(x: &mut [__m512i; 8]) {
        // SAFETY: see above. Pairs of lanes, then pairs of 128-bit and of 256-bit blocks.
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
            let h = _mm512_madd52hi_epu64(zero, x, w.1);
            let r = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, x, w.0), h, self.neg_q);
            _mm512_and_si512(r, _mm512_set1_epi64(MASK))
        }
    }
    #[inline(always)]
    unsafe fn fwd_butterfly(self, x: __m512i, y: __m512i, w: Self::T) -> (__m512i, __m512i) {
        // SAFETY: see above.
        unsafe {
            debug_assert!(Self::below(x, 4 * self.modulus()));
            let (x, t) = (self.halve(x), self.mul(y, w));
            (_mm512_add_epi64(x, t), _mm512_sub_epi64(_mm512_add_epi64(x, self.q2), t))
        }
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
            let low = _mm512_and_si512(a.1, _mm512_set1_epi64(MASK));
            let high = _mm512_add_epi64(a.0, _mm512_srli_epi64::<52>(a.1));
            self.canonical(_mm512_add_epi64(self.mul(high, self.high), self.mul(low, self.one)))
        }
    }
    #[inline(always)]
    unsafe fn constant(self, c: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { set(c) }
    }

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
    unsafe fn balance(y: __m512i, v: __m512i, _: f64) -> (__m512i, __m512i) {
        (y, v)
    }
    #[inline(always)]
    unsafe fn load_permuted(self, src: *const u64, entry: u32, inner: *const [u32; 16]) -> __m512i {
        // SAFETY: entries are `8 * block + code` with code < 8 and 8 * block + 7 < N; `inner` holds eight rows of
        // sixteen 32-bit lane numbers.
        unsafe {
            let x = _mm512_loadu_si512(src.add((entry & !7) as usize).cast());
            let lanes = _mm512_loadu_si512(inner.add((entry & 7) as usize).cast());
            _mm512_permutexvar_epi32(lanes, x)
        }
    }
}
