//! What holds four doubles: a register of AVX2, or an array.

/// The word of the double 2^52; or-ing an integer below 2^52 into it adds that integer.
pub(super) const EXP52: u64 = 0x4330_0000_0000_0000;
pub(super) const TWO52: f64 = 4_503_599_627_370_496.0;

/// Four doubles in one register or two.
///
/// # Safety
/// Every method may be called only where the CPU has the instructions of the implementation; pointers must be valid for four
/// words (8-byte aligned is enough).
pub(crate) trait Quad: Copy {
    /// See [`super::lanes::Lanes::FEW_REGISTERS`].
    const FEW_REGISTERS: bool = false;
    /// Whether sums below 2^40 are those of `short.rs`: where products of words are one operation.
    const SHORT_SUMS: bool = false;
    unsafe fn splat(x: f64) -> Self;
    unsafe fn read(p: *const f64) -> Self;
    unsafe fn write(self, p: *mut f64);
    unsafe fn add(self, y: Self) -> Self;
    unsafe fn sub(self, y: Self) -> Self;
    unsafe fn mul(self, y: Self) -> Self;
    /// `self y + z`, rounded once; so are the next two.
    unsafe fn mul_add(self, y: Self, z: Self) -> Self;
    /// `self y - z`.
    unsafe fn mul_sub(self, y: Self, z: Self) -> Self;
    /// `z - self y`.
    unsafe fn sub_from(self, y: Self, z: Self) -> Self;
    /// To the nearest integer, ties to even, of any size.
    unsafe fn round(self) -> Self;
    unsafe fn floor(self) -> Self;
    /// `value` where `self < y`, else zero.
    unsafe fn where_less(self, y: Self, value: Self) -> Self;
    /// Words below 2^52 as doubles.
    unsafe fn read_words(p: *const u64) -> Self;
    /// Integers in `[0, 2^52)` as words.
    unsafe fn write_words(self, p: *mut u64);
    /// The packed words of [`super::lanes::Lanes::load_packed`], as bits of doubles.
    unsafe fn packed_words(p: *const u8, first: usize, bits: usize) -> Self;
    /// Bits that are words below 2^52, as doubles from which `offset` is taken: 2^52 for the words themselves.
    unsafe fn word_doubles(self, offset: f64) -> Self;
    /// The products of the lower halves of words, as bits: words of 64 bits.
    unsafe fn low_product(self, y: Self) -> Self;
    /// Sums of words, as bits; so are differences.
    unsafe fn word_sum(self, y: Self) -> Self;
    unsafe fn word_difference(self, y: Self) -> Self;
    /// 2^52 and the lower halves of words, as doubles.
    unsafe fn low_doubles(self) -> Self;
    /// As [`super::lanes::Lanes::load_permuted`].
    unsafe fn read_permuted(src: *const u64, entry: u32, inner: *const [u32; 16]) -> Self;
    /// Transposes the leading block of 4 x 4.
    unsafe fn transpose(x: &mut [Self; 8]);
    #[inline(always)]
    unsafe fn prefetch(_: *const u64) {}
    #[inline(always)]
    unsafe fn prefetch_once(_: *const u64) {}
}
