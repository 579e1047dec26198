//! Sums of products with a packed stream, over one limb in the transform domain: of polynomials that are rotated with keys, and of pairs of
//! polynomials with diagonals.
//!
//! The stream holds, for every eight positions, the words of all samples that meet there: it is read from its first byte to its last,
//! once, whatever the number of inputs, and sums stay in registers.

use super::keyswitch::{ask, load};
use crate::arch::lanes::Lanes;
use crate::automorphism::Permutation;
use crate::modulus::Modulus;
use crate::tally::Tally;

/// Positions whose words stand together.
pub(crate) const BLOCK: usize = 8;
/// Bits that a packed word may have: those of the primes that sets have, or a few more.
pub(crate) const WIDTHS: [usize; 10] = [20, 24, 28, 32, 40, 42, 44, 46, 48, 50];
/// Bytes that are asked for ahead: some blocks, over the end of a page.
const AHEAD: usize = 4096;
/// The same past the outer caches, of 2 to 16 KB the best by a sketch.
const AHEAD_ONCE: usize = 8192;
/// Blocks that inputs are asked for ahead: where a rotation leads to no hardware asks by itself.
const INPUTS_AHEAD: usize = 2;
/// A ciphertext and a sample of a key have two.
const HALVES: usize = 2;

/// One limb of sums of rotated products with a packed stream of keys.
pub(crate) struct StreamRow<'a> {
    /// The inputs of all sums, as many of each: all rotations of one meet a sample each, the rotations outermost.
    pub(crate) inputs: &'a [&'a [u64]],
    /// Inputs of each sum.
    pub(crate) each: usize,
    /// What the inputs go through.
    pub(crate) rotations: &'a [&'a Permutation],
    /// Bits of a packed word.
    pub(crate) bits: usize,
    /// The stream from the first position on: two halves of each sample.
    pub(crate) words: &'a [u8],
}

impl StreamRow<'_> {
    /// Bytes of so many positions.
    pub(in crate::arch) fn bytes(&self, n: usize) -> usize {
        n / BLOCK * self.rotations.len() * self.each * HALVES * self.bits
    }
    /// The work of it over `n` positions.
    pub(in crate::arch) fn tally(&self, n: u64) -> Tally {
        let (sums, samples) = (self.inputs.len() / self.each, self.rotations.len() * self.each);
        Tally::stream(n, (self.each as u64, samples as u64, HALVES as u64)).sharing_keys(sums as u64)
    }
}

/// Some positions of one limb of products of pairs with a packed stream of diagonals.
pub(crate) struct PairRow<'a> {
    /// In the order that they are read in: for every eight positions, pair and sample the words of one half, then of the other.
    pub(crate) inputs: &'a [u64],
    /// Samples of the stream.
    pub(crate) samples: usize,
    /// Bits of a packed word.
    pub(crate) bits: usize,
    /// The stream from the first position on: one half of each sample.
    pub(crate) words: &'a [u8],
}

impl PairRow<'_> {
    /// Bytes of so many positions.
    pub(in crate::arch) fn bytes(&self, n: usize) -> usize {
        n / BLOCK * self.samples * self.bits
    }
    /// The work of it for so many rows of `n` positions.
    pub(in crate::arch) fn tally(&self, n: u64, rows: u64) -> Tally {
        let samples = self.samples as u64;
        Tally::stream(n, (samples, samples, 1)).sharing_keys(rows)
    }
}

/// Calls a kernel with the bits of a word, one of [`WIDTHS`], as a constant, behind the lanes if there are any.
macro_rules! with_width {
    ($bits:expr, $kernel:ident$(::<$l:ty>)?($($arg:expr),*)) => {
        match $bits {
            20 => $kernel::<$($l,)? 20>($($arg),*),
            24 => $kernel::<$($l,)? 24>($($arg),*),
            28 => $kernel::<$($l,)? 28>($($arg),*),
            32 => $kernel::<$($l,)? 32>($($arg),*),
            40 => $kernel::<$($l,)? 40>($($arg),*),
            42 => $kernel::<$($l,)? 42>($($arg),*),
            44 => $kernel::<$($l,)? 44>($($arg),*),
            46 => $kernel::<$($l,)? 46>($($arg),*),
            48 => $kernel::<$($l,)? 48>($($arg),*),
            _ => $kernel::<$($l,)? 50>($($arg),*),
        }
    };
}
pub(crate) use with_width;

/// For every sum `out[h] = sum_i sum_d phi_i(x_d) key_(i, d, h)`, canonical, one row of `out` for each half.
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have the same length, a multiple of 8; a multiple of `each` inputs and two outputs for
/// each sum; the stream has all words of one of [`WIDTHS`] and spare bytes behind them; permutations were made for this length and for `L`.
#[inline(always)]
pub(crate) unsafe fn stream_sum<L: Lanes>(m: &Modulus, row: &StreamRow<'_>, out: &mut [&mut [u64]]) {
    // SAFETY: as stated.
    unsafe {
        let (l, once) = (L::new(m), crate::arch::reads_once());
        with_width!(row.bits, sums::<L>(l, row, out, once));
    }
}

/// For every pair `out[h] = sum_s x_(s, h) diagonal_s`, canonical.
///
/// # Safety
/// As for [`stream_sum`], and `inputs` has the words of `out.len() / 2` pairs at all positions of the rows of `out`.
#[inline(always)]
pub(crate) unsafe fn stream_pairs<L: Lanes>(m: &Modulus, row: &PairRow<'_>, out: &mut [&mut [u64]]) {
    // SAFETY: as stated.
    unsafe {
        let (l, once) = (L::new(m), crate::arch::reads_once());
        with_width!(row.bits, pairs::<L>(l, row, out, once));
    }
}

/// Asks for the words of a stream behind `p`.
#[inline(always)]
unsafe fn ask_ahead<L: Lanes>(p: *const u8, once: bool) {
    // SAFETY: any address will do.
    unsafe {
        if once {
            L::prefetch_once(p.wrapping_add(AHEAD_ONCE).cast());
        } else {
            L::prefetch(p.wrapping_add(AHEAD).cast());
        }
    }
}

/// Two sums of products of any number, in accumulators that are emptied when they are full.
struct Sums<L: Lanes> {
    acc: [L::A; HALVES],
    /// What earlier accumulators came to.
    sums: [L::V; HALVES],
    room: usize,
}

impl<L: Lanes> Sums<L> {
    #[inline(always)]
    unsafe fn new(l: L) -> Self {
        // SAFETY: as for `stream_sum`.
        unsafe { Self { acc: [l.acc_zero::<false>(); HALVES], sums: [l.constant(0); HALVES], room: L::CHUNK } }
    }
    /// Room for one more product in each.
    #[inline(always)]
    unsafe fn make_room(&mut self, l: L) {
        if self.room == 0 {
            // SAFETY: as for `stream_sum`.
            unsafe { self.empty(l) };
            self.room = L::CHUNK;
        }
        self.room -= 1;
    }
    #[inline(always)]
    unsafe fn empty(&mut self, l: L) {
        for (sum, acc) in self.sums.iter_mut().zip(&mut self.acc) {
            // SAFETY: as for `stream_sum`.
            unsafe {
                *sum = l.tame(l.add(*sum, l.acc_reduce::<false>(*acc)));
                *acc = l.acc_zero::<false>();
            }
        }
    }
    #[inline(always)]
    unsafe fn store(self, l: L, out: &mut [&mut [u64]], at: usize) {
        // SAFETY: as for `stream_sum`.
        unsafe {
            for ((sum, acc), out) in self.sums.into_iter().zip(self.acc).zip(out) {
                l.store(out.as_mut_ptr().add(at), l.add(l.acc_sum::<false>(acc), sum));
            }
        }
    }
}

#[inline(always)]
unsafe fn sums<L: Lanes, const BITS: usize>(l: L, row: &StreamRow<'_>, out: &mut [&mut [u64]], once: bool) {
    let n = out.first().map_or(0, |out| out.len());
    let stride = row.bytes(BLOCK);
    for block in 0..n / BLOCK {
        let later = (block + INPUTS_AHEAD).min(n / BLOCK - 1) * BLOCK;
        // SAFETY: as for `stream_sum`; the words of a block stay in the L1 cache for all inputs.
        unsafe {
            let words = row.words.as_ptr().add(block * stride);
            for (k, (inputs, out)) in row.inputs.chunks_exact(row.each).zip(out.chunks_exact_mut(HALVES)).enumerate() {
                for first in (0..BLOCK).step_by(L::WIDTH) {
                    let at = block * BLOCK + first;
                    let (mut sums, mut p) = (Sums::new(l), words);
                    for rotation in row.rotations {
                        for x in inputs {
                            sums.make_room(l);
                            ask::<L>(x, later + first, rotation);
                            let y = load(l, x, at, Some(rotation));
                            for acc in &mut sums.acc {
                                if k + first == 0 {
                                    ask_ahead::<L>(p, once);
                                }
                                *acc = l.mac(*acc, y, l.load_packed(p, first, BITS));
                                p = p.add(BITS);
                            }
                        }
                    }
                    sums.store(l, out, at);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn pairs<L: Lanes, const BITS: usize>(l: L, row: &PairRow<'_>, out: &mut [&mut [u64]], once: bool) {
    let n = out.first().map_or(0, |out| out.len());
    // SAFETY: as for `stream_pairs`.
    unsafe {
        let (mut x, mut words) = (row.inputs.as_ptr(), row.words.as_ptr());
        for block in 0..n / BLOCK {
            for (k, out) in out.chunks_exact_mut(HALVES).enumerate() {
                for first in (0..BLOCK).step_by(L::WIDTH) {
                    let mut sums = Sums::new(l);
                    for s in 0..row.samples {
                        sums.make_room(l);
                        let p = words.add(s * BITS);
                        if k + first == 0 {
                            ask_ahead::<L>(p, once);
                        }
                        let y = l.load_packed(p, first, BITS);
                        for (h, acc) in sums.acc.iter_mut().enumerate() {
                            *acc = l.mac(*acc, l.load(x.add((HALVES * s + h) * BLOCK + first)), y);
                        }
                    }
                    sums.store(l, out, block * BLOCK + first);
                }
                x = x.add(HALVES * row.samples * BLOCK);
            }
            words = words.add(row.bytes(BLOCK));
        }
    }
}
