//! Eight residues in 52-bit integer arithmetic: AVX-512 IFMA, for moduli below 2^50 (4q < 2^52).
//!
//! Multiplication by a known factor `w` is Montgomery's: the multiplier holds `w 2^52` and that over q modulo 2^52, so that
//! `x w - m q`, `m = lo52(x w / q)`, is a multiple of 2^52, and the high halves alone give `(-q, q)` for any `x < 2^52`. The
//! shift to `(0, 2q)` rides in an accumulator. Sums of products add the low and high 52-bit halves apart, and are divided
//! by 2^52 in the same way. Narrow ones are of constants times 2^52, so that is all: sixteen products below 2^50 q leave less
//! than 5q. Wide ones are multiplied by 2^52 again, and need the high half, with what the low one carries and q, below 2^52:
//! twelve products below 2^100 come to `12 (2^48 - 1) + 11`.

use crate::arch::lanes::Lanes;
use crate::modulus::Modulus;
use core::arch::x86_64::*;

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

/// What brings values down by their top bits: entry k modulo 8 is `floor(k 2^shift / q) q - q`.
#[derive(Clone, Copy)]
struct Steps {
    table: __m512i,
    shift: __m512i,
}

impl Steps {
    /// For eight times `2^shift` values, from `first 2^shift` on.
    #[inline(always)]
    unsafe fn new(q: u64, shift: u32, first: i64) -> Self {
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
    unsafe fn lazy_reduce(self, x: __m512i, q: __m512i) -> __m512i {
        // SAFETY: AVX-512 is present by the contract of the trait.
        unsafe {
            let x = _mm512_sub_epi64(x, _mm512_permutexvar_epi64(_mm512_srlv_epi64(x, self.shift), self.table));
            let room = _mm512_add_epi64(_mm512_sllv_epi64(set(1), self.shift), q);
            debug_assert!(_mm512_cmplt_epu64_mask(_mm512_sub_epi64(x, q), room) == 0xff);
            x
        }
    }
}

/// Adding and subtracting 1.5 * 2^52 rounds `|x| <= 2^51` to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
const MASK: u64 = (1 << 52) - 1;

/// 1/q modulo 2^52 for odd q: every step of Newton's iteration doubles the number of bits that are right.
fn inverse52(q: u64) -> u64 {
    let mut x = q;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)));
    }
    x & MASK
}

/// `w 2^52 mod q` and that over q modulo 2^52.
fn multiplier(q: u64, w: u64) -> [u64; 2] {
    let w = ((u128::from(w) << 52) % u128::from(q)) as u64;
    [w, w.wrapping_mul(inverse52(q)) & MASK]
}

#[inline(always)]
unsafe fn set(x: u64) -> __m512i {
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
    type V = __m512i;
    type T = (__m512i, __m512i);
    type A = (__m512i, __m512i);
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
        multiplier(m.value(), c)[0]
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
        // SAFETY: see above; 64 bytes from p on, and VBMI. The numbers of bytes are constants.
        unsafe {
            let place = |i: usize| (0..8).fold(0i64, |places, b| places | ((i * bits / 8 + b) as i64) << (8 * b));
            let places =
                _mm512_setr_epi64(place(0), place(1), place(2), place(3), place(4), place(5), place(6), place(7));
            if bits.is_multiple_of(8) {
                return permute_bytes(p, places, (0xffu64 >> (8 - bits / 8)) * 0x0101_0101_0101_0101);
            }
            let shift = |i: usize| (i * bits % 8) as i64;
            let shifts =
                _mm512_setr_epi64(shift(0), shift(1), shift(2), shift(3), shift(4), shift(5), shift(6), shift(7));
            let x = _mm512_srlv_epi64(permute_bytes(p, places, u64::MAX), shifts);
            _mm512_and_si512(x, set((1 << bits) - 1))
        }
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
