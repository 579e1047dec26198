//! One block of a blind rotation (eprint 2023/958).
//!
//! The digits of an accumulator are transformed once, then meet every key of the block: a row times the value of `X^a - 1` there,
//! times the key. What is read is the packed key, once; all else stays in the first two caches.

use super::small::{forward_raw, inverse_add_raw, lift, Ahead};
use crate::arch::lanes::Lanes;
use crate::constants::small::SmallConstants;
use crate::tally::Tally;

/// Products that one accumulator takes.
pub(in crate::arch) const MOST_PRODUCTS: usize = 16;

/// A block: `acc += sum_j (X^(exponent_j) - 1) acc x key_j`, for the keys whose exponent is not 0. Or an external product with one
/// key: columns that were cut into digits become `acc x key`, those that were not get it added, or all.
#[derive(Clone, Copy)]
pub(crate) struct BlindRow<'a> {
    /// For every column of the accumulator that is cut into digits, the first ones, the rows of all keys that these meet, packed:
    /// `[vector][key][level][column]`. A block has one for each column.
    pub(crate) planes: &'a [&'a [u8]],
    /// Columns of the accumulator.
    pub(crate) columns: usize,
    /// Keys of the block.
    pub(crate) keys: usize,
    /// Digits of a coefficient.
    pub(crate) levels: usize,
    /// Bytes of a packed word: 5 or 6, or 8 in working form.
    pub(crate) bytes: usize,
    /// Whether an external product is added to all columns.
    pub(crate) adds: bool,
    /// The base of the digits, a power of two.
    pub(crate) base: f64,
    /// `base^levels / q`.
    pub(crate) scale: f64,
    /// Exponents of X, below 2N, one for each key; none for an external product.
    pub(crate) exponents: &'a [u16],
    /// The planes of the block that comes next, whose key comes into the cache on the way; none to fetch nothing.
    pub(crate) next: &'a [&'a [u8]],
    /// Which bytes of each of them come now, from and to: each input of a batch fetches a part.
    pub(crate) fetched: [usize; 2],
}

impl BlindRow<'_> {
    /// Products that end in one sum.
    pub(crate) fn products(&self) -> usize {
        self.keys * self.planes.len() * self.levels
    }
    /// Words of scratch: the digits, then the sums.
    pub(crate) fn scratch_words(&self, n: usize) -> usize {
        (self.planes.len() * self.levels + self.columns) * n
    }
    /// Bytes of one plane of a block.
    pub(crate) fn plane_bytes(&self, n: usize) -> usize {
        self.keys * self.levels * self.columns * n * self.bytes
    }
    /// Words that the samples of the block come to as those of one key.
    pub(crate) fn merged_words(&self, n: usize) -> usize {
        self.planes.len() * self.levels * self.columns * n
    }
    /// Words that the samples of the block come to in working form.
    pub(crate) fn unpacked_words(&self, n: usize) -> usize {
        self.keys * self.merged_words(n)
    }
    /// The work, in words.
    pub(crate) fn tally(&self, n: u64) -> Tally {
        let (rows, columns) = ((self.planes.len() * self.levels) as u64, self.columns as u64);
        let active = match self.exponents {
            [] => 1,
            some => some.iter().filter(|&&e| e != 0).count() as u64,
        };
        let key = active * rows * columns * n;
        Tally::forward(rows * n) + Tally::inverse(columns * n) + Tally { key, key_read: key, ..Tally::NONE }
    }
}

/// Digits of every coefficient, balanced, as working form on the lift of a forward transform: `round(x base^levels / q)` in base
/// `base`, the top digit first.
#[inline(always)]
unsafe fn digits<L: Lanes>(l: L, t: &SmallConstants, row: &BlindRow<'_>, acc: &[u64], out: &mut [u64]) {
    let (n, inverse, times) = (t.n(), 1.0 / row.base, lift::<L>(t));
    for at in (0..n).step_by(L::WIDTH) {
        // SAFETY: there are `levels` rows of N words at `out`.
        unsafe {
            let mut y = l.f_scaled(acc.as_ptr().add(at), row.scale);
            for level in (1..row.levels).rev() {
                let (rest, digit) = L::f_split(y, row.base, inverse);
                L::store_raw(out.as_mut_ptr().add(level * n + at), l.f_integer(digit, times));
                y = rest;
            }
            L::store_raw(out.as_mut_ptr().add(at), l.f_integer(y, times));
        }
    }
}

/// `X^exponent - 1` in a vector of values as a constant, that of this power of psi at lane 0.
#[inline(always)]
unsafe fn difference<L: Lanes>(l: L, t: &SmallConstants, exponent: u16, power: u32) -> L::V {
    let (e, mask, lanes) = (usize::from(exponent), 2 * t.n() - 1, L::WIDTH * L::WIDTH - 1);
    // SAFETY: exponents and their products are below 2N by the mask.
    unsafe {
        let one = L::splat_raw(L::prepare_constant(t.modulus(), 1));
        let lane = L::load_raw(t.lane_powers().as_ptr().add((e & lanes) * L::WIDTH));
        let power = l.splat(*t.powers().as_ptr().add((e * power as usize) & mask));
        l.sub(l.mul(lane, power), one)
    }
}

/// A vector of key words of so many bytes; eight are those of a vector in working form.
#[inline(always)]
unsafe fn load_key<L: Lanes, const BYTES: usize>(l: L, p: *const u8) -> L::V {
    // SAFETY: the words are inside the key by the contract of the caller; those of eight bytes lie on multiples of eight.
    unsafe {
        match BYTES {
            8 => L::load_raw(p.cast()),
            _ => l.load_packed(p, 0, 8 * BYTES),
        }
    }
}

/// The products of a block, or of an external product if `EXTERNAL`: `C` columns, words of `BYTES`.
#[inline(always)]
unsafe fn products<L: Lanes, const C: usize, const BYTES: usize, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    row: &BlindRow<'_>,
    digits: &[u64],
    out: &mut [u64],
) {
    let n = t.n();
    // SAFETY: every vector stays inside digits, planes and sums.
    unsafe {
        let planes: [*const u8; C] = core::array::from_fn(|c| row.planes[c.min(row.planes.len() - 1)].as_ptr());
        let planes = if EXTERNAL { &planes[..row.planes.len()] } else { &planes };
        let exponents = if EXTERNAL { &[1] } else { row.exponents };
        let lazy = EXTERNAL && planes.len() * row.levels <= L::CHUNK_LAZY;
        for (v, &power) in t.exponents().iter().enumerate() {
            let mut accs = [l.acc_zero::<true>(); C];
            for (j, &e) in exponents.iter().enumerate().filter(|(_, &e)| e != 0) {
                let monomial = match EXTERNAL {
                    true => l.splat(L::prepare(t.modulus(), 1)),
                    false => l.multiplier(difference(l, t, e, power)),
                };
                for (r, plane) in planes.iter().enumerate() {
                    for level in 0..row.levels {
                        let d = L::load_raw(digits.as_ptr().add((r * row.levels + level) * n + v * L::WIDTH));
                        let x = if lazy { d } else { l.mul(d, monomial) };
                        let at = ((v * row.keys + j) * row.levels + level) * C * L::WIDTH * BYTES;
                        for (c, acc) in accs.iter_mut().enumerate() {
                            *acc = l.mac(*acc, x, load_key::<L, BYTES>(l, plane.add(at + c * L::WIDTH * BYTES)));
                        }
                    }
                }
            }
            for (c, acc) in accs.into_iter().enumerate() {
                L::store_raw(out.as_mut_ptr().add(c * n + v * L::WIDTH), l.acc_reduce_sixteen(acc));
            }
        }
    }
}

/// One block of a blind rotation, in place, or an external product.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; `acc` has N canonical words for each column, `scratch`
/// [`BlindRow::scratch_words`]; planes have [`BlindRow::plane_bytes`] and 64 more; no more than [`MOST_PRODUCTS`] products.
#[inline(always)]
pub(crate) unsafe fn blind_block<L: Lanes>(
    t: &SmallConstants,
    row: &BlindRow<'_>,
    acc: &mut [u64],
    scratch: &mut [u64],
) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match row.exponents {
            [] => block::<L, true>(l, t, row, acc, scratch),
            _ => block::<L, false>(l, t, row, acc, scratch),
        }
    }
}

#[inline(always)]
unsafe fn block<L: Lanes, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    row: &BlindRow<'_>,
    acc: &mut [u64],
    scratch: &mut [u64],
) {
    let n = t.n();
    let (digit_rows, sums) = scratch.split_at_mut(row.planes.len() * row.levels * n);
    // SAFETY: the lengths are those of the contract.
    unsafe {
        let ahead = &mut Ahead::new(row.next, row.fetched[0]..row.fetched[1]);
        for (column, rows) in acc.chunks_exact(n).zip(digit_rows.chunks_exact_mut(row.levels * n)) {
            digits::<L>(l, t, row, column, rows);
            for digit in rows.chunks_exact_mut(n) {
                forward_raw::<L>(l, t, digit, ahead);
            }
        }
        match (row.columns, row.bytes) {
            (1, 8) => products::<L, 1, 8, EXTERNAL>(l, t, row, digit_rows, sums),
            (2, 8) => products::<L, 2, 8, EXTERNAL>(l, t, row, digit_rows, sums),
            (3, 8) => products::<L, 3, 8, EXTERNAL>(l, t, row, digit_rows, sums),
            (_, 8) => products::<L, 4, 8, EXTERNAL>(l, t, row, digit_rows, sums),
            (1, 5) => products::<L, 1, 5, EXTERNAL>(l, t, row, digit_rows, sums),
            (1, _) => products::<L, 1, 6, EXTERNAL>(l, t, row, digit_rows, sums),
            (2, 5) => products::<L, 2, 5, EXTERNAL>(l, t, row, digit_rows, sums),
            (2, _) => products::<L, 2, 6, EXTERNAL>(l, t, row, digit_rows, sums),
            (3, 5) => products::<L, 3, 5, EXTERNAL>(l, t, row, digit_rows, sums),
            (3, _) => products::<L, 3, 6, EXTERNAL>(l, t, row, digit_rows, sums),
            (_, 5) => products::<L, 4, 5, EXTERNAL>(l, t, row, digit_rows, sums),
            _ => products::<L, 4, 6, EXTERNAL>(l, t, row, digit_rows, sums),
        }
        if EXTERNAL && !row.adds {
            acc[..row.planes.len() * n].fill(0);
        }
        for (values, column) in sums.chunks_exact_mut(n).zip(acc.chunks_exact_mut(n)) {
            inverse_add_raw::<L>(l, t, values, column, ahead);
        }
    }
}

/// The samples of a block in working form, in the order of packed keys, one plane after the other: blocks of many accumulators read these
/// words of eight bytes, so that packed ones are unpacked once for all.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; planes have [`BlindRow::plane_bytes`] and 64 more, `out` has
/// [`BlindRow::unpacked_words`].
#[inline(always)]
pub(crate) unsafe fn unpack_keys<L: Lanes>(t: &SmallConstants, row: &BlindRow<'_>, out: &mut [u64]) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match row.bytes {
            5 => unpacked::<L, 5>(l, row, out),
            _ => unpacked::<L, 6>(l, row, out),
        }
    }
}

#[inline(always)]
unsafe fn unpacked<L: Lanes, const BYTES: usize>(l: L, row: &BlindRow<'_>, out: &mut [u64]) {
    let words = out.len() / row.planes.len();
    for (plane, out) in row.planes.iter().zip(out.chunks_exact_mut(words)) {
        for at in (0..words).step_by(L::WIDTH) {
            // SAFETY: a plane has as many packed words as its part of `out` has words.
            unsafe { L::store_raw(out.as_mut_ptr().add(at), load_key::<L, BYTES>(l, plane.as_ptr().add(at * BYTES))) }
        }
    }
}

/// Samples of a block as those of one key, see [`merge_keys`]: `C` columns, words of `BYTES`.
#[inline(always)]
unsafe fn merged<L: Lanes, const C: usize, const BYTES: usize>(
    l: L,
    t: &SmallConstants,
    row: &BlindRow<'_>,
    out: &mut [u64],
) {
    let n = t.n();
    // SAFETY: there are no more keys than products in a sum; every vector stays inside planes and `out`.
    unsafe {
        for (v, &power) in t.exponents().iter().enumerate() {
            let mut factors = [l.constant(0); MOST_PRODUCTS];
            for (factor, &e) in factors.iter_mut().zip(row.exponents) {
                *factor = l.tame(difference(l, t, e, power));
            }
            for (plane, out) in row.planes.iter().zip(out.chunks_exact_mut(row.levels * C * n)) {
                for level in 0..row.levels {
                    let mut accs = [l.acc_zero::<true>(); C];
                    for (j, &factor) in factors.iter().enumerate().take(row.keys) {
                        let at = ((v * row.keys + j) * row.levels + level) * C * L::WIDTH * BYTES;
                        for (c, acc) in accs.iter_mut().enumerate() {
                            let key = load_key::<L, BYTES>(l, plane.as_ptr().add(at + c * L::WIDTH * BYTES));
                            *acc = l.mac(*acc, factor, key);
                        }
                    }
                    let out = out.as_mut_ptr().add((v * row.levels + level) * C * L::WIDTH);
                    for (c, acc) in accs.into_iter().enumerate() {
                        L::store_raw(out.add(c * L::WIDTH), l.acc_reduce_sixteen(acc));
                    }
                }
            }
        }
    }
}

/// `sum_j (X^(exponent_j) - 1) key_j` over the keys of a block, in the order of packed keys, one plane after the other. The external product
/// with it, added, is the block of all keys: many accumulators of the same exponents meet it.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; planes have [`BlindRow::plane_bytes`] and 64 more, `out` has
/// [`BlindRow::merged_words`]; no more than [`MOST_PRODUCTS`] keys, with an exponent each.
#[inline(always)]
pub(crate) unsafe fn merge_keys<L: Lanes>(t: &SmallConstants, row: &BlindRow<'_>, out: &mut [u64]) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match (row.columns, row.bytes) {
            (1, 5) => merged::<L, 1, 5>(l, t, row, out),
            (1, _) => merged::<L, 1, 6>(l, t, row, out),
            (2, 5) => merged::<L, 2, 5>(l, t, row, out),
            (2, _) => merged::<L, 2, 6>(l, t, row, out),
            (3, 5) => merged::<L, 3, 5>(l, t, row, out),
            (3, _) => merged::<L, 3, 6>(l, t, row, out),
            (_, 5) => merged::<L, 4, 5>(l, t, row, out),
            _ => merged::<L, 4, 6>(l, t, row, out),
        }
    }
}
