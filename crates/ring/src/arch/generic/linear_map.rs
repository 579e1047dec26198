//! The inner sums of baby-step giant-step linear maps over one limb in the transform domain: rotated copies by products with keys, each
//! times a diagonal.

use super::keyswitch::{ask, ask_key, product, with_key, KeyRow};
use super::{lines, words};
use crate::arch::lanes::Lanes;
use crate::arch::Halves;
use crate::modulus::Modulus;
use crate::tally::Tally;

/// Words per tile of [`linear_map`]: rotated pairs of a tile (16 babies x 2 x 4 KB) stay in the L2 cache.
const TILE: usize = 512;
/// Limbs per part of a tile in the inner sums: rotated pairs of a part (16 babies x 2 x 512 bytes) stay in the L1 cache.
const PART: usize = 64;

/// One limb of an encoded diagonal: `2^log_len` prepared constants, each standing for a run of equal values.
pub(crate) struct DiagonalRow<'a> {
    /// Words as [`Kernels::prepare_constants`](crate::arch::Kernels::prepare_constants) shaped them.
    pub(crate) constants: &'a [u64],
}

/// One limb of what a linear map is applied to.
pub(crate) struct LinearMapInput<'a> {
    /// Digits of `c1`, raised.
    pub(crate) digits: &'a [&'a [u64]],
    /// `P c0` and `P c1`; `None` where P vanishes.
    pub(crate) lifted: Option<(&'a [u64], &'a [u64])>,
}

/// One limb of all inner sums of a baby-step giant-step linear map.
pub(crate) struct LinearMapRow<'a> {
    /// What it is applied to: at least one, all with the same number of digits.
    pub(crate) inputs: &'a [LinearMapInput<'a>],
    /// The rotated copies, at least one; `None` is the unrotated pair.
    pub(crate) babies: &'a [Option<KeyRow<'a>>],
    /// For each giant step, for each baby step, the diagonal if there is one.
    pub(crate) diagonals: &'a [Option<DiagonalRow<'a>>],
}

impl LinearMapRow<'_> {
    /// The work of it.
    pub(in crate::arch) fn tally(&self, n: u64) -> Tally {
        let keys = self.babies.iter().flatten().count() as u64;
        let diagonals = self.diagonals.iter().flatten();
        let (count, words) = diagonals.fold((0, 0), |(count, words), d| (count + 1, words + d.constants.len() as u64));
        let addends = if self.inputs[0].lifted.is_some() { 2 } else { 0 };
        let digits = self.inputs[0].digits.len() as u64;
        Tally::linear_map(n, digits, keys, (count, words), addends).sharing_keys(self.inputs.len() as u64)
    }
}

/// For every input and every giant step `g`: `out_g = sum_i diagonal_{g,i} * rotated_i`, both halves, canonical. Outputs stand
/// by giant step, then by input.
///
/// # Safety
/// As for [`key_product`]; a diagonal has a power of two of words, at most the length of a limb.
#[inline(always)]
pub(crate) unsafe fn linear_map<L: Lanes>(m: &Modulus, row: &LinearMapRow<'_>, out: &mut [Halves<'_>]) {
    let (n, digits, inputs) = (row.inputs[0].digits[0].len(), row.inputs[0].digits.len(), row.inputs.len());
    let bits = row.babies.iter().flatten().next().map_or(64, |key| key.bits);
    let tile = TILE.min(n);
    // Of each input the rotated pairs of a tile.
    let pairs = 2 * row.babies.len() * tile;
    let mut scratch = lines(pairs * inputs);
    let scratch = words(&mut scratch);
    // Of each giant step what its sums are made of, so that the innermost loop asks nothing.
    let parts: Vec<Vec<Part>> = row.diagonals.chunks_exact(row.babies.len()).map(|d| parts(d, n, tile)).collect();
    // SAFETY: offsets stay below n in limbs and below `pairs` in the scratch of an input; the shift maps 0..n to the
    // constants of a diagonal.
    unsafe {
        let l = L::new(m);
        for start in (0..n).step_by(tile) {
            // All inputs with one key, as long as its tile is in the L1 cache.
            for i in 0..row.babies.len() {
                for (k, pairs) in scratch.chunks_exact_mut(pairs).enumerate() {
                    let pair = &mut pairs[2 * i * tile..2 * (i + 1) * tile];
                    with_key!(bits, digits, rotate::<L>(l, row, (k, i), start, pair));
                }
            }
            // Part by part, so that all giant steps find the pairs in the L1 cache.
            for part in (0..tile).step_by(PART) {
                let end = tile.min(part + PART);
                for (parts, out) in parts.iter().zip(out.chunks_exact_mut(inputs)) {
                    for (rotated, (b, a)) in scratch.chunks_exact(pairs).zip(out) {
                        let (b, a) = (b.as_mut_ptr().add(start), a.as_mut_ptr().add(start));
                        // As many vectors in flight as the registers hold accumulators for.
                        if L::WIDTH == 8 && (end - part).is_multiple_of(32) {
                            for at in (part..end).step_by(32) {
                                let out = (b.add(at), a.add(at));
                                inner_sum::<L, 4>(l, (rotated, tile), parts, (start, at), out);
                            }
                        } else {
                            for at in (part..end).step_by(2 * L::WIDTH) {
                                let out = (b.add(at), a.add(at));
                                inner_sum::<L, 2>(l, (rotated, tile), parts, (start, at), out);
                            }
                        }
                    }
                }
            }
        }
        L::fence();
    }
}

/// One tile of the rotated pair `i` of input `k`; with the first input what its successor reads on its way to the cache.
#[inline(always)]
unsafe fn rotate<L: Lanes, const D: usize, const BITS: usize>(
    l: L,
    row: &LinearMapRow<'_>,
    (k, i): (usize, usize),
    start: usize,
    pair: &mut [u64],
) {
    let tile = pair.len() / 2;
    let (u, v) = pair.split_at_mut(tile);
    let following = row.babies.get(i + 1).and_then(Option::as_ref).filter(|_| k == 0);
    // SAFETY: as for `linear_map`.
    let LinearMapInput { digits, lifted } = unsafe { row.inputs.get_unchecked(k) };
    for at in (0..tile).step_by(L::WIDTH) {
        // SAFETY: as for `linear_map`; `start + at` is below the length of a limb.
        unsafe {
            if let Some(key) = following.filter(|_| at % 8 == 0) {
                // Many keys, each read in short runs, and digits where its rotation leads: the processor cannot guess them.
                for d in 0..if D > 0 { D } else { digits.len() } {
                    ask_key::<L, BITS>(key.b.get_unchecked(d), start + at);
                    ask_key::<L, BITS>(key.a.get_unchecked(d), start + at);
                    if let Some(g) = key.permutation {
                        ask::<L>(digits.get_unchecked(d), start + at, g);
                    }
                }
                if let (Some(g), Some((c0, _))) = (key.permutation, lifted) {
                    ask::<L>(c0, start + at, g);
                }
            }
            let (b, a) = match (row.babies.get_unchecked(i), lifted) {
                (Some(key), _) => product::<L, D, BITS, false>(l, digits, lifted.map(|x| x.0), key, start + at),
                (None, Some((c0, c1))) => {
                    (l.tame(l.load(c0.as_ptr().add(start + at))), l.tame(l.load(c1.as_ptr().add(start + at))))
                }
                (None, None) => (l.constant(0), l.constant(0)),
            };
            L::store_raw(u.as_mut_ptr().add(at), b);
            L::store_raw(v.as_mut_ptr().add(at), a);
        }
    }
}

/// A diagonal of an inner sum: where the pair begins that it meets, its constants, and how many words a run of them has, as a power of two.
#[derive(Clone, Copy)]
struct Part {
    pair: usize,
    constants: *const u64,
    shift: u32,
}

/// The diagonals of one giant step that there are.
fn parts(diagonals: &[Option<DiagonalRow<'_>>], n: usize, tile: usize) -> Vec<Part> {
    let part = |(i, d): (usize, &Option<DiagonalRow<'_>>)| {
        let constants = d.as_ref()?.constants;
        let shift = n.trailing_zeros() - constants.len().trailing_zeros();
        Some(Part { pair: 2 * i * tile, constants: constants.as_ptr(), shift })
    };
    diagonals.iter().enumerate().filter_map(part).collect()
}

/// `F` neighbouring vectors of one inner sum, both halves: their chains of multiply-adds are independent.
#[inline(always)]
unsafe fn inner_sum<L: Lanes, const F: usize>(
    l: L,
    (rotated, tile): (&[u64], usize),
    parts: &[Part],
    (start, at): (usize, usize),
    (b, a): (*mut u64, *mut u64),
) {
    // SAFETY: `at + F * WIDTH <= tile`, and the outputs are valid for as many words.
    unsafe {
        let zero = (l.acc_zero::<true>(), l.acc_zero::<true>());
        let (mut sums, mut room, mut begun) = ([zero; F], L::CHUNK_NARROW, false);
        for &Part { pair, constants, shift } in parts {
            if room == 0 {
                flush(l, &sums, begun, (b, a));
                (sums, room, begun) = ([zero; F], L::CHUNK_NARROW, true);
            }
            let u = rotated.as_ptr().add(pair + at);
            let same = 1usize << shift >= F * L::WIDTH;
            let first = load_constants::<L>(constants, start + at, shift);
            for (k, s) in sums.iter_mut().enumerate() {
                let off = k * L::WIDTH;
                let c = if same { first } else { load_constants::<L>(constants, start + at + off, shift) };
                s.0 = l.mac(s.0, L::load_raw(u.add(off)), c);
                s.1 = l.mac(s.1, L::load_raw(u.add(tile + off)), c);
            }
            room -= 1;
        }
        flush(l, &sums, begun, (b, a));
    }
}

/// Reduces sums to the outputs, onto what stands there if they have begun: in memory, as the registers are for the sums.
#[inline(always)]
unsafe fn flush<L: Lanes, const F: usize>(l: L, sums: &[(L::A, L::A); F], begun: bool, (b, a): (*mut u64, *mut u64)) {
    for (k, s) in sums.iter().enumerate() {
        // SAFETY: the outputs are valid for F vectors.
        unsafe {
            for (sum, out) in [(s.0, b.add(k * L::WIDTH)), (s.1, a.add(k * L::WIDTH))] {
                let x = l.acc_sum::<true>(sum);
                if begun {
                    l.store(out, l.add(x, l.load(out)));
                } else {
                    l.stream(out, x);
                }
            }
        }
    }
}

/// `WIDTH` constants of a diagonal at position `at` whose runs have `2^shift` words.
#[inline(always)]
unsafe fn load_constants<L: Lanes>(constants: *const u64, at: usize, shift: u32) -> L::V {
    // SAFETY: `at >> shift` is below the number of constants; runs shorter than a vector are copied out.
    unsafe {
        if shift == 0 {
            L::load_raw(constants.add(at))
        } else if 1usize << shift >= L::WIDTH {
            L::splat_raw(*constants.add(at >> shift))
        } else {
            let mut copy = [0u64; 8];
            for (i, c) in copy.iter_mut().enumerate().take(L::WIDTH) {
                *c = *constants.add((at + i) >> shift);
            }
            L::load_raw(copy.as_ptr())
        }
    }
}
