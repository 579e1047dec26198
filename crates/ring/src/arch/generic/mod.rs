//! The kernels, each written once over [`Lanes`](super::lanes::Lanes).

pub(crate) mod basis;
pub(crate) mod blind;
pub(crate) mod keyswitch;
pub(crate) mod linear_map;
pub(crate) mod ntt;
pub(crate) mod pointwise;
pub(crate) mod rotations;
pub(crate) mod small;
pub(crate) mod stream;
pub(crate) mod sums;

use super::lanes::Lanes;

/// Words that rows are asked for ahead: where a page of 4 KB ends the processor's own prefetching begins anew.
const AHEAD: usize = 1024;

/// Asks for the line of a row that will be wanted [`AHEAD`] words after this one; past the end of a row it asks in vain.
#[inline(always)]
unsafe fn ask_ahead<L: Lanes>(p: *const u64) {
    // SAFETY: the CPU has the instruction set of `L`, and a prefetch touches nothing.
    unsafe { L::prefetch(p.wrapping_add(AHEAD)) }
}

/// One cache line: scratch made of it never splits a vector between two lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line([u64; 8]);

/// Zeroed scratch of at least `words` words.
pub(crate) fn lines(words: usize) -> Vec<Line> {
    vec![Line([0; 8]); words.div_ceil(8)]
}

/// The words of a scratch.
pub(crate) fn words(lines: &mut [Line]) -> &mut [u64] {
    // SAFETY: a line is eight words without padding.
    unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), 8 * lines.len()) }
}
