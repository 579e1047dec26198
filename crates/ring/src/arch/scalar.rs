//! One residue at a time: the oracle of the vector lanes, and the only path for moduli from 2^50 to 2^61.

use super::lanes::{plain_factors, Lanes};
use crate::modulus::Modulus;

#[derive(Clone, Copy)]
pub(crate) struct Scalar {
    m: Modulus,
    q: u64,
}

impl Scalar {
    /// `x w mod q` in `[0, 2q)` by Shoup's method, any `x`.
    #[inline(always)]
    fn shoup(self, x: u64, w: [u64; 2]) -> u64 {
        let quotient = ((u128::from(x) * u128::from(w[1])) >> 64) as u64;
        x.wrapping_mul(w[0]).wrapping_sub(quotient.wrapping_mul(self.q))
    }

    /// `[0, 4q)` to `[0, 2q)`.
    #[inline(always)]
    fn halve(self, x: u64) -> u64 {
        x.min(x.wrapping_sub(2 * self.q))
    }
}

/// Adding and subtracting 1.5 * 2^52 rounds `|x| <= 2^51` to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

// The pointers follow the contract of the trait; nothing here needs a CPU feature.
impl Lanes for Scalar {
    const WIDTH: usize = 1;
    const GROWS: bool = false;
    const CHUNK: usize = 32;
    const CHUNK_NARROW: usize = 32;
    type V = u64;
    type T = [u64; 2];
    type A = u128;
    type M = u64;
    type F = f64;

    #[inline(always)]
    unsafe fn new(m: &Modulus) -> Self {
        Self { m: *m, q: m.value() }
    }
    #[inline(always)]
    fn prepare_constant(_: &Modulus, c: u64) -> u64 {
        c
    }
    #[inline(always)]
    unsafe fn prepare_constants(self, _: *mut u64) {}
    #[inline(always)]
    fn pack_constant(_: &Modulus, c: u64) -> u64 {
        c
    }
    #[inline(always)]
    unsafe fn multiplier(self, constant: u64) -> [u64; 2] {
        Self::prepare(&self.m, constant % self.q)
    }
    #[inline(always)]
    fn prepare(m: &Modulus, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 64) / u128::from(m.value())) as u64]
    }
    #[inline(always)]
    unsafe fn splat(self, w: [u64; 2]) -> Self::T {
        w
    }
    #[inline(always)]
    unsafe fn load_t(self, w: *const u64, aux: *const u64) -> Self::T {
        // SAFETY: the caller gives table pointers valid for one word.
        unsafe { [*w, *aux] }
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u64) -> u64 {
        // SAFETY: valid for one word by the contract of the trait.
        unsafe { *p }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64, x: u64) {
        debug_assert!(x < 4 * self.q);
        let x = self.halve(x);
        // SAFETY: valid for one word by the contract of the trait.
        unsafe { *p = x.min(x.wrapping_sub(self.q)) }
    }
    #[inline(always)]
    unsafe fn load_raw(p: *const u64) -> u64 {
        // SAFETY: valid for one word by the contract of the trait.
        unsafe { *p }
    }
    #[inline(always)]
    unsafe fn splat_raw(x: u64) -> u64 {
        x
    }
    #[inline(always)]
    unsafe fn store_raw(p: *mut u64, x: u64) {
        // SAFETY: valid for one word by the contract of the trait.
        unsafe { *p = x }
    }
    #[inline(always)]
    unsafe fn load_packed(self, p: *const u8, first: usize, bits: usize) -> u64 {
        let (byte, shift) = (first * bits / 8, first * bits % 8);
        // SAFETY: valid for eight bytes by the contract of the trait.
        unsafe { p.add(byte).cast::<u64>().read_unaligned() >> shift & (u64::MAX >> (64 - bits)) }
    }
    #[inline(always)]
    unsafe fn transpose(_: &mut [u64; 8]) {}

    #[inline(always)]
    unsafe fn tame(self, x: u64) -> u64 {
        self.halve(x)
    }
    #[inline(always)]
    unsafe fn mul(self, x: u64, w: [u64; 2]) -> u64 {
        self.shoup(x, w)
    }
    #[inline(always)]
    unsafe fn fwd_butterfly(self, x: u64, y: u64, w: [u64; 2]) -> (u64, u64) {
        debug_assert!(x < 4 * self.q && y < 4 * self.q);
        let (x, t) = (self.halve(x), self.shoup(y, w));
        (x + t, x + 2 * self.q - t)
    }
    #[inline(always)]
    unsafe fn inv_sum(self, x: u64, y: u64) -> u64 {
        debug_assert!(x < 2 * self.q && y < 2 * self.q);
        self.halve(x + y)
    }
    #[inline(always)]
    unsafe fn inv_diff_mul(self, x: u64, y: u64, w: [u64; 2]) -> u64 {
        self.shoup(x + 2 * self.q - y, w)
    }
    #[inline(always)]
    unsafe fn multiple(self, times: u64) -> u64 {
        times * self.q
    }
    #[inline(always)]
    unsafe fn inv_lazy(self, x: u64, y: u64, w: [u64; 2], _: u64) -> (u64, u64) {
        // SAFETY: no CPU feature, no memory.
        unsafe { (self.inv_sum(x, y), self.inv_diff_mul(x, y, w)) }
    }
    #[inline(always)]
    unsafe fn add(self, x: u64, y: u64) -> u64 {
        x + y
    }
    #[inline(always)]
    unsafe fn sub(self, x: u64, y: u64) -> u64 {
        x + self.q - y
    }

    #[inline(always)]
    unsafe fn acc_zero<const NARROW: bool>(self) -> u128 {
        0
    }
    #[inline(always)]
    unsafe fn mac(self, a: u128, x: u64, y: u64) -> u128 {
        a + u128::from(x) * u128::from(y)
    }
    #[inline(always)]
    unsafe fn acc_add(self, a: u128, x: u64) -> u128 {
        a + u128::from(x)
    }
    #[inline(always)]
    unsafe fn acc_store(p: *mut u64, a: u128) {
        // SAFETY: valid for two words by the contract of the trait.
        unsafe { (*p, *p.add(1)) = (a as u64, (a >> 64) as u64) }
    }
    #[inline(always)]
    unsafe fn acc_load(p: *const u64) -> u128 {
        // SAFETY: valid for two words by the contract of the trait.
        unsafe { u128::from(*p) | u128::from(*p.add(1)) << 64 }
    }
    #[inline(always)]
    unsafe fn acc_reduce<const NARROW: bool>(self, a: u128) -> u64 {
        self.m.reduce_u128(a)
    }
    #[inline(always)]
    unsafe fn constant(self, c: u64) -> u64 {
        c
    }

    plain_factors!(u64);

    #[inline(always)]
    unsafe fn f_zero() -> f64 {
        0.0
    }
    #[inline(always)]
    unsafe fn f_mul_add(f: f64, x: u64, inv: f64) -> f64 {
        f + x as f64 * inv
    }
    #[inline(always)]
    unsafe fn f_round(f: f64) -> u64 {
        (f + 0.5) as u64
    }

    #[inline(always)]
    unsafe fn f_scaled(self, p: *const u64, scale: f64) -> f64 {
        // SAFETY: valid for one word by the contract of the trait.
        let x = self.m.centre(unsafe { *p }) as f64;
        x * scale + ROUND - ROUND
    }
    #[inline(always)]
    unsafe fn f_split(f: f64, base: f64, inverse: f64) -> (f64, f64) {
        let r = f * inverse + ROUND - ROUND;
        (r, f - r * base)
    }
    #[inline(always)]
    unsafe fn f_integer(self, f: f64, _: u64) -> u64 {
        self.m.reduce_i64(f as i64)
    }

    #[inline(always)]
    unsafe fn load_permuted(self, src: *const u64, entry: u32, _: *const [u32; 16]) -> u64 {
        // SAFETY: table entries are indices below N, and `src` is a limb of N words.
        unsafe { *src.add(entry as usize) }
    }
}
