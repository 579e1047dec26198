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
