//! Four residues as exact doubles with fused multiply-add, for moduli below 2^50: the scheme, over what holds four doubles.
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

use super::exact::{balanced, ROUND};
use super::lanes::Lanes;
use super::quad::{Quad, TWO52};
use super::short::{packed_offset, short_fold, short_mac, short_reduce, words};
use crate::modulus::Modulus;

/// 1.5 * 2^103 and half of that.
const WIDE: f64 = 15_211_807_202_738_752_817_960_438_464_512.0;
const NARROW: f64 = WIDE / 2.0;

#[derive(Clone, Copy)]
pub(crate) struct Doubles<Q> {
    pub(super) q: Q,
    pub(super) qinv: Q,
    modulus: u64,
}

// SAFETY of every block below: the CPU has what `Q` asks for, and pointers are valid for four words, by the contract of the trait.
impl<Q: Quad> Lanes for Doubles<Q> {
    const WIDTH: usize = 4;
    const GROWS: bool = true;
    const BALANCES: bool = true;
    const FEW_REGISTERS: bool = Q::FEW_REGISTERS;
    const SHARE: usize = 8;
    const SCALES: bool = true;
    const PACKS_BALANCED: bool = true;
    const CHUNK: usize = 4;
    const CHUNK_NARROW: usize = 8;
    type V = Q;
    /// `w` balanced and `w / q`: the quotient then does not wait for the product.
    type T = (Q, Q);
    type A = (Q, Q);
    type M = (Q, Q);
    type F = Q;

    #[inline(always)]
    unsafe fn new(m: &Modulus) -> Self {
        debug_assert!(m.value() < 1 << 50);
        let q = m.value() as f64;
        // SAFETY: see above.
        unsafe { Self { q: Q::splat(q), qinv: Q::splat(1.0 / q), modulus: m.value() } }
    }
    #[inline(always)]
    fn prepare_constant(m: &Modulus, c: u64) -> u64 {
        balanced(m.value(), c).to_bits()
    }
    #[inline(always)]
    unsafe fn prepare_constants(self, p: *mut u64) {
        // SAFETY: see above.
        unsafe {
            let x = Q::read_words(p);
            let balanced = Self::balance(x, Q::splat(0.0), self.modulus as f64).0;
            balanced.write(p.cast());
        }
    }
    #[inline(always)]
    fn pack_constant(_: &Modulus, c: u64) -> u64 {
        c
    }
    #[inline(always)]
    unsafe fn multiplier(self, constant: Q) -> Self::T {
        // SAFETY: see above.
        unsafe { (constant, constant.mul(self.qinv)) }
    }
    #[inline(always)]
    fn prepare(m: &Modulus, w: u64) -> [u64; 2] {
        let w = balanced(m.value(), w);
        [w.to_bits(), (w / m.value() as f64).to_bits()]
    }
    #[inline(always)]
    unsafe fn splat(self, w: [u64; 2]) -> Self::T {
        // SAFETY: see above.
        unsafe { (Q::splat(f64::from_bits(w[0])), Q::splat(f64::from_bits(w[1]))) }
    }
    #[inline(always)]
    unsafe fn load_t(self, w: *const u64, aux: *const u64) -> Self::T {
        // SAFETY: see above.
        unsafe { (Q::read(w.cast()), Q::read(aux.cast())) }
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u64) -> Q {
        // SAFETY: see above.
        unsafe { Q::read_words(p) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64, x: Q) {
        // SAFETY: see above.
        unsafe {
            self.store_tame(p, self.reduce(x));
        }
    }
    #[inline(always)]
    unsafe fn store_tame(self, p: *mut u64, x: Q) {
        // SAFETY: see above. Products are below q, what is reduced within half of it.
        unsafe { x.add(x.where_less(Q::splat(0.0), self.q)).write_words(p) }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { Q::prefetch(p) }
    }
    #[inline(always)]
    unsafe fn prefetch_once(p: *const u64) {
        // SAFETY: a prefetch touches nothing.
        unsafe { Q::prefetch_once(p) }
    }
    #[inline(always)]
    unsafe fn load_raw(p: *const u64) -> Q {
        // SAFETY: see above.
        unsafe { Q::read(p.cast()) }
    }
    #[inline(always)]
    unsafe fn splat_raw(x: u64) -> Q {
        // SAFETY: see above.
        unsafe { Q::splat(f64::from_bits(x)) }
    }
    #[inline(always)]
    unsafe fn store_raw(p: *mut u64, x: Q) {
        // SAFETY: see above.
        unsafe { x.write(p.cast()) }
    }
    #[inline(always)]
    unsafe fn load_packed(self, p: *const u8, first: usize, bits: usize) -> Q {
        // SAFETY: see above; the contract of the caller.
        unsafe { Q::packed_words(p, first, bits).word_doubles(TWO52) }
    }
    #[inline(always)]
    unsafe fn transpose(x: &mut [Q; 8]) {
        // SAFETY: see above.
        unsafe { Q::transpose(x) }
    }

    #[inline(always)]
    unsafe fn tame(self, x: Q) -> Q {
        // SAFETY: see above.
        unsafe { self.reduce(x) }
    }
    #[inline(always)]
    unsafe fn mul(self, x: Q, w: Self::T) -> Q {
        // SAFETY: see above.
        unsafe {
            let (c, l) = self.product(x, w);
            c.add(l)
        }
    }
    #[inline(always)]
    unsafe fn fwd_butterfly(self, x: Q, y: Q, w: Self::T) -> (Q, Q) {
        // SAFETY: see above. All sums are exact.
        unsafe {
            let p = self.mul(y, w);
            (x.add(p), x.sub(p))
        }
    }
    #[inline(always)]
    unsafe fn subside(self, x: Q, _: Q) -> Q {
        // SAFETY: see above.
        unsafe { self.reduce(x) }
    }
    #[inline(always)]
    unsafe fn inv_sum(self, x: Q, y: Q) -> Q {
        // SAFETY: see above.
        unsafe { x.add(y) }
    }
    #[inline(always)]
    unsafe fn inv_diff_mul(self, x: Q, y: Q, w: Self::T) -> Q {
        // SAFETY: see above.
        unsafe { self.mul(x.sub(y), w) }
    }
    #[inline(always)]
    unsafe fn multiple(self, _: u64) -> Q {
        // SAFETY: see above.
        unsafe { Q::splat(0.0) }
    }
    #[inline(always)]
    unsafe fn inv_lazy(self, x: Q, y: Q, w: Self::T, _: Q) -> (Q, Q) {
        // SAFETY: see above.
        unsafe { (x.add(y), self.mul(x.sub(y), w)) }
    }
    #[inline(always)]
    unsafe fn add(self, x: Q, y: Q) -> Q {
        // SAFETY: see above.
        unsafe { x.add(y) }
    }
    #[inline(always)]
    unsafe fn sub(self, x: Q, y: Q) -> Q {
        // SAFETY: see above.
        unsafe { x.sub(y) }
    }

    #[inline(always)]
    unsafe fn acc_zero<const SMALL: bool>(self) -> Self::A {
        // SAFETY: see above.
        unsafe { (Q::splat(if SMALL { NARROW } else { WIDE }), Q::splat(0.0)) }
    }
    #[inline(always)]
    unsafe fn mac(self, a: Self::A, x: Q, y: Q) -> Self::A {
        // SAFETY: see above.
        unsafe {
            let high = x.mul_add(y, a.0);
            (high, a.1.add(x.mul_add(y, a.0.sub(high))))
        }
    }
    #[inline(always)]
    unsafe fn acc_add(self, a: Self::A, x: Q) -> Self::A {
        // SAFETY: see above. The second register holds integers of the size of errors, and so is x.
        unsafe { (a.0, a.1.add(x)) }
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
    unsafe fn acc_reduce<const SMALL: bool>(self, a: Self::A) -> Q {
        // SAFETY: see above.
        unsafe { self.reduce(self.acc_sum::<SMALL>(a)) }
    }
    #[inline(always)]
    unsafe fn acc_sum<const SMALL: bool>(self, a: Self::A) -> Q {
        // SAFETY: see above. The quotient is off by 5/2 at most, so with the errors and another residue the sum is below 2^53.
        unsafe {
            let high = a.0.sub(Q::splat(if SMALL { NARROW } else { WIDE }));
            let b = high.mul(self.qinv).round();
            b.sub_from(self.q, high).add(a.1)
        }
    }
    #[inline(always)]
    unsafe fn acc_reduce_sixteen(self, a: Self::A) -> Q {
        // SAFETY: see above. Sixteen products below 1.5 * 2^96 stay within a third of the start, and sixteen errors within 2^53; they are
        // reduced apart, as a sum with the quotient's remainder would not be exact.
        unsafe {
            let high = a.0.sub(Q::splat(NARROW));
            let b = high.mul(self.qinv).round();
            self.reduce(b.sub_from(self.q, high).add(self.reduce(a.1)))
        }
    }
    #[inline(always)]
    unsafe fn constant(self, c: u64) -> Q {
        // SAFETY: see above.
        unsafe { Q::splat(balanced(self.modulus, c)) }
    }

    #[inline(always)]
    unsafe fn factor<const SHORT: bool>(self, x: Q) -> (Q, Q) {
        // SAFETY: see above.
        unsafe { (x, if SHORT && Q::SHORT_SUMS { words(x) } else { x }) }
    }
    #[inline(always)]
    unsafe fn key_factor<const BYTES: usize>(self, p: *const u8) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            let words = Q::packed_words(p, 0, 8 * BYTES);
            (words.word_doubles(packed_offset::<BYTES>()), words)
        }
    }
    #[inline(always)]
    unsafe fn load_key<const BYTES: usize>(self, p: *const u8) -> Q {
        // SAFETY: see above.
        unsafe { self.key_factor::<BYTES>(p).0 }
    }
    #[inline(always)]
    unsafe fn factor_store(p: *mut u64, x: (Q, Q)) {
        // SAFETY: see above; two vectors.
        unsafe { Self::acc_store(p, x) }
    }
    #[inline(always)]
    unsafe fn factor_load(p: *const u64) -> (Q, Q) {
        // SAFETY: see above; two vectors.
        unsafe { Self::acc_load(p) }
    }
    #[inline(always)]
    unsafe fn sum_zero<const SHORT: bool>(self) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            if SHORT && Q::SHORT_SUMS {
                (Q::splat(0.0), Q::splat(0.0))
            } else {
                self.acc_zero::<true>()
            }
        }
    }
    #[inline(always)]
    unsafe fn sum_mac<const SHORT: bool>(self, a: (Q, Q), x: (Q, Q), y: (Q, Q)) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            if SHORT && Q::SHORT_SUMS {
                short_mac(a, x, y)
            } else {
                self.mac(a, x.0, y.0)
            }
        }
    }
    #[inline(always)]
    unsafe fn sum_fold<const SHORT: bool>(self, a: (Q, Q)) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            if SHORT && Q::SHORT_SUMS {
                short_fold(a, self.q, self.qinv)
            } else {
                a
            }
        }
    }
    #[inline(always)]
    unsafe fn sum_reduce<const SHORT: bool>(self, a: (Q, Q)) -> Q {
        // SAFETY: see above.
        unsafe {
            if SHORT && Q::SHORT_SUMS {
                short_reduce(a, self.q, self.qinv)
            } else {
                self.acc_reduce_sixteen(a)
            }
        }
    }

    #[inline(always)]
    unsafe fn f_zero() -> Q {
        // SAFETY: see above.
        unsafe { Q::splat(0.0) }
    }
    #[inline(always)]
    unsafe fn f_mul_add(f: Q, x: Q, inv: f64) -> Q {
        // SAFETY: see above.
        unsafe { f.add(x.mul(Q::splat(inv))) }
    }
    #[inline(always)]
    unsafe fn f_round(f: Q) -> Q {
        // SAFETY: see above.
        unsafe { f.add(Q::splat(0.5)).floor() }
    }

    #[inline(always)]
    unsafe fn f_scaled(self, p: *const u64, scale: f64) -> Q {
        // SAFETY: see above.
        unsafe {
            let x = self.load(p);
            let x = x.sub(self.q.mul(Q::splat(0.5)).where_less(x, self.q));
            let magic = Q::splat(ROUND);
            x.mul(Q::splat(scale)).add(magic).sub(magic)
        }
    }
    #[inline(always)]
    unsafe fn f_split(f: Q, base: f64, inverse: f64) -> (Q, Q) {
        // SAFETY: see above. All products are exact.
        unsafe {
            let magic = Q::splat(ROUND);
            let r = f.mul(Q::splat(inverse)).add(magic).sub(magic);
            (r, f.sub(r.mul(Q::splat(base))))
        }
    }
    #[inline(always)]
    unsafe fn f_integer(self, f: Q, _: u64) -> Q {
        f
    }

    #[inline(always)]
    unsafe fn balance(y: Q, v: Q, q: f64) -> (Q, Q) {
        // SAFETY: see above.
        unsafe {
            let half = Q::splat(0.5 * q);
            (y.sub(half.where_less(y, Q::splat(q))), v.sub(half.where_less(y, Q::splat(1.0))))
        }
    }
    #[inline(always)]
    unsafe fn load_permuted(self, src: *const u64, entry: u32, inner: *const [u32; 16]) -> Q {
        // SAFETY: see above; entries are `4 * block + code` with code < 4 and 4 * block + 3 < N; `inner` holds eight rows.
        unsafe { Q::read_permuted(src, entry, inner) }
    }
}
