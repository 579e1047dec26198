//! Four doubles as an array, for every CPU that has fused multiply-add: nothing but the operations of a double.
//!
//! The compiler makes two NEON registers of it on aarch64 (looked up in the assembly: `fmla.2d` throughout) and one of AVX on x86-64. Without the
//! instruction this is no choice: a transform then takes 2.5 times as long as a scalar one if exact products are made by splitting factors,
//! and 7 times if the C library rounds the sum once.

use super::quad::{Quad, EXP52, TWO52};

#[derive(Clone, Copy)]
pub(crate) struct Four([f64; 4]);

impl Four {
    #[inline(always)]
    fn with(self, y: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], y.0[i])))
    }
    #[inline(always)]
    fn words(self, y: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        self.with(y, |x, y| f64::from_bits(f(x.to_bits(), y.to_bits())))
    }
    /// Words below 2^52 to doubles.
    #[inline(always)]
    fn doubles(words: [u64; 4]) -> Self {
        Self(words.map(|x| f64::from_bits(x | EXP52) - TWO52))
    }
}

// SAFETY of every block below: pointers are valid for four words by the contract of the trait.
impl Quad for Four {
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    unsafe fn read(p: *const f64) -> Self {
        // SAFETY: see above.
        unsafe { Self(p.cast::<[f64; 4]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn write(self, p: *mut f64) {
        // SAFETY: see above.
        unsafe { p.cast::<[f64; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        self.with(y, |x, y| x + y)
    }
    #[inline(always)]
    unsafe fn sub(self, y: Self) -> Self {
        self.with(y, |x, y| x - y)
    }
    #[inline(always)]
    unsafe fn mul(self, y: Self) -> Self {
        self.with(y, |x, y| x * y)
    }
    #[inline(always)]
    unsafe fn mul_add(self, y: Self, z: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(y.0[i], z.0[i])))
    }
    #[inline(always)]
    unsafe fn mul_sub(self, y: Self, z: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(y.0[i], -z.0[i])))
    }
    #[inline(always)]
    unsafe fn sub_from(self, y: Self, z: Self) -> Self {
        Self(std::array::from_fn(|i| (-self.0[i]).mul_add(y.0[i], z.0[i])))
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(self.0.map(f64::round_ties_even))
    }
    #[inline(always)]
    unsafe fn floor(self) -> Self {
        Self(self.0.map(f64::floor))
    }
    #[inline(always)]
    unsafe fn where_less(self, y: Self, value: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] < y.0[i] { value.0[i] } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn read_words(p: *const u64) -> Self {
        // SAFETY: see above.
        unsafe { Self::doubles(p.cast::<[u64; 4]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn write_words(self, p: *mut u64) {
        let words = self.0.map(|x| (x + TWO52).to_bits() ^ EXP52);
        // SAFETY: see above.
        unsafe { p.cast::<[u64; 4]>().write_unaligned(words) }
    }
    #[inline(always)]
    unsafe fn packed_words(p: *const u8, first: usize, bits: usize) -> Self {
        let word = |i: usize| {
            let (byte, shift) = ((first + i) * bits / 8, (first + i) * bits % 8);
            // SAFETY: the contract of the caller, who has 64 bytes from the first constant on.
            unsafe { p.add(byte).cast::<u64>().read_unaligned() >> shift & (u64::MAX >> (64 - bits)) }
        };
        Self(std::array::from_fn(|i| f64::from_bits(word(i))))
    }
    #[inline(always)]
    unsafe fn word_doubles(self, offset: f64) -> Self {
        Self(self.0.map(|x| f64::from_bits(x.to_bits() | EXP52) - offset))
    }
    #[inline(always)]
    unsafe fn low_product(self, y: Self) -> Self {
        self.words(y, |x, y| u64::from(x as u32) * u64::from(y as u32))
    }
    #[inline(always)]
    unsafe fn word_sum(self, y: Self) -> Self {
        self.words(y, u64::wrapping_add)
    }
    #[inline(always)]
    unsafe fn word_difference(self, y: Self) -> Self {
        self.words(y, u64::wrapping_sub)
    }
    #[inline(always)]
    unsafe fn low_doubles(self) -> Self {
        Self(self.0.map(|x| f64::from_bits(u64::from(x.to_bits() as u32) | EXP52)))
    }
    #[inline(always)]
    unsafe fn read_permuted(src: *const u64, entry: u32, inner: *const [u32; 16]) -> Self {
        // SAFETY: the contract of the caller: lanes are below 4, in 32-bit halves.
        unsafe {
            let (block, lanes) = (src.add((entry & !3) as usize), &*inner.add((entry & 3) as usize));
            Self::doubles(std::array::from_fn(|i| *block.add(lanes[2 * i] as usize / 2)))
        }
    }
    #[inline(always)]
    unsafe fn transpose(x: &mut [Self; 8]) {
        let columns: [Self; 4] = std::array::from_fn(|i| Self(std::array::from_fn(|j| x[j].0[i])));
        x[..4].copy_from_slice(&columns);
    }
}
