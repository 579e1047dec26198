//! Sums of products of polynomials, rotated, with a packed stream of keys, over one limb in the transform domain.
//!
//! The stream holds, for every eight positions, the words of all samples that meet there: it is read from its first byte to its last,
//! once, whatever the number of inputs, and sums stay in registers.

use super::keyswitch::load;
use crate::arch::lanes::Lanes;
use crate::automorphism::Permutation;
use crate::modulus::Modulus;
use crate::tally::Tally;

/// Positions whose words stand together.
pub(crate) const BLOCK: usize = 8;
/// Bytes that are asked for ahead: some blocks, over the end of a page.
const AHEAD: usize = 4096;

/// One limb of sums of products with a packed stream.
pub(crate) struct StreamRow<'a> {
    /// The inputs of all sums, as many of each: all rotations of one meet a sample each, the rotations outermost.
    pub(crate) inputs: &'a [&'a [u64]],
    /// Inputs of each sum.
    pub(crate) each: usize,
    /// What the inputs go through; `None` is the identity.
    pub(crate) rotations: &'a [Option<&'a Permutation>],
    /// Words of each sample: a key has two.
    pub(crate) halves: usize,
    /// Bits of a packed word.
    pub(crate) bits: usize,
    /// The stream from the first position on.
    pub(crate) words: &'a [u8],
}

impl StreamRow<'_> {
    /// Bytes of so many positions.
    pub(in crate::arch) fn bytes(&self, n: usize) -> usize {
        n / BLOCK * self.rotations.len() * self.each * self.halves * self.bits
    }
    /// The work of it over `n` positions.
    pub(in crate::arch) fn tally(&self, n: u64) -> Tally {
        let (sums, samples) = (self.inputs.len() / self.each, self.rotations.len() * self.each);
        Tally::stream(n, (self.each as u64, samples as u64, self.halves as u64)).sharing_keys(sums as u64)
    }
}

/// For every sum `out[h] = sum_i sum_d phi_i(x_d) key_(i, d, h)`, canonical, one row of `out` for each half.
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have the same length, a multiple of 8; a multiple of `each` inputs and as many outputs
/// as halves for each sum; one or two halves; the stream has all words of 32, 40, 48 or 52 bits and spare bytes behind them; permutations were made
/// for this length and for `L`.
#[inline(always)]
pub(crate) unsafe fn stream_sum<L: Lanes>(m: &Modulus, row: &StreamRow<'_>, out: &mut [&mut [u64]]) {
    // SAFETY: as stated.
    unsafe {
        let l = L::new(m);
        match (row.bits, row.halves) {
            (32, 1) => sums::<L, 32, 1>(l, row, out),
            (40, 1) => sums::<L, 40, 1>(l, row, out),
            (48, 1) => sums::<L, 48, 1>(l, row, out),
            (_, 1) => sums::<L, 52, 1>(l, row, out),
            (32, _) => sums::<L, 32, 2>(l, row, out),
            (40, _) => sums::<L, 40, 2>(l, row, out),
            (48, _) => sums::<L, 48, 2>(l, row, out),
            _ => sums::<L, 52, 2>(l, row, out),
        }
    }
}

#[inline(always)]
unsafe fn sums<L: Lanes, const BITS: usize, const H: usize>(l: L, row: &StreamRow<'_>, out: &mut [&mut [u64]]) {
    let n = out.first().map_or(0, |out| out.len());
    let stride = row.bytes(BLOCK);
    for block in 0..n / BLOCK {
        // SAFETY: as for `stream_sum`; the words of a block stay in the L1 cache for all inputs.
        unsafe {
            let words = row.words.as_ptr().add(block * stride);
            for (k, (inputs, out)) in row.inputs.chunks_exact(row.each).zip(out.chunks_exact_mut(H)).enumerate() {
                for first in (0..BLOCK).step_by(L::WIDTH) {
                    let at = block * BLOCK + first;
                    let sum = sum::<L, BITS, H>(l, inputs, row.rotations, (words, first), (at, k + first == 0));
                    for (sum, out) in sum.into_iter().zip(out.iter_mut()) {
                        l.store(out.as_mut_ptr().add(at), sum);
                    }
                }
            }
        }
    }
}

/// The sums at one position.
#[inline(always)]
unsafe fn sum<L: Lanes, const BITS: usize, const H: usize>(
    l: L,
    inputs: &[&[u64]],
    rotations: &[Option<&Permutation>],
    (words, first): (*const u8, usize),
    (at, new): (usize, bool),
) -> [L::V; H] {
    // SAFETY: as for `stream_sum`.
    unsafe {
        let mut acc = [l.acc_zero::<false>(); H];
        // What earlier accumulators came to.
        let mut sums = [l.constant(0); H];
        let (mut p, mut room) = (words, L::CHUNK);
        for &rotation in rotations {
            for x in inputs {
                if room == 0 {
                    for h in 0..H {
                        sums[h] = l.tame(l.add(sums[h], l.acc_reduce::<false>(acc[h])));
                        acc[h] = l.acc_zero::<false>();
                    }
                    room = L::CHUNK;
                }
                let y = load(l, x, at, rotation);
                for acc in &mut acc {
                    if new {
                        L::prefetch(p.wrapping_add(AHEAD).cast());
                    }
                    *acc = l.mac(*acc, y, l.load_packed(p, first, BITS));
                    p = p.add(BITS);
                }
                room -= 1;
            }
        }
        for h in 0..H {
            sums[h] = l.tame(l.add(sums[h], l.acc_reduce::<false>(acc[h])));
        }
        sums
    }
}
