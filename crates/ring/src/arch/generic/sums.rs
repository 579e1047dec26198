//! Sums of products with a packed key, and many sums of the same words with small weights: of a few hundred words the multiples that a
//! table says.

use super::blind::MOST_PRODUCTS;
use crate::arch::lanes::Lanes;
use crate::constants::small::SmallConstants;
use crate::modulus::Modulus;
use crate::tally::Tally;

/// Sums whose weights lie side by side.
pub(crate) const SUMS: usize = 8;
/// Words of one term that lie side by side.
pub(crate) const SIDE: usize = 8;
/// What weights are below.
pub(crate) const WEIGHTS: usize = 16;

/// `sum_t weight_(r, t) word_t`, for each of many r.
pub(crate) struct SmallSums<'a> {
    /// Canonical words: `[group of eight][term][word]`.
    pub(crate) words: &'a [u64],
    /// Terms of a sum.
    pub(crate) terms: usize,
    /// Below 16: `[group of eight sums][term][sum]`.
    pub(crate) weights: &'a [u8],
}

impl SmallSums<'_> {
    /// Words of one term, and of one sum.
    pub(crate) fn n(&self) -> usize {
        self.words.len() / self.terms
    }
    /// The work, in words.
    pub(crate) fn tally(&self) -> Tally {
        Tally::form(self.n() as u64, 0, self.weights.len() as u64, false)
    }
}

/// Evaluates [`SmallSums`] to `out`, canonical words, sum by sum.
///
/// # Safety
/// The CPU has the instruction set of `L`; words and weights are whole, and there is one term or more; a modulus below 2^48, weights
/// below [`WEIGHTS`]; `out` has as many words as a term for each sum.
#[inline(always)]
pub(crate) unsafe fn small_sums<L: Lanes>(m: &Modulus, row: &SmallSums<'_>, out: &mut [u64]) {
    // SAFETY: as for this function. Registers hold fewer sums where lanes are narrow.
    unsafe {
        if L::WIDTH == SIDE {
            sums::<L, 8, 2>(m, row, out);
        } else {
            sums::<L, 4, 1>(m, row, out);
        }
    }
}

/// `R` sums and `K` vectors at a time.
#[inline(always)]
unsafe fn sums<L: Lanes, const R: usize, const K: usize>(m: &Modulus, row: &SmallSums<'_>, out: &mut [u64]) {
    let (n, terms) = (row.n(), row.terms);
    // SAFETY: every pointer stays inside words, weights and sums; SIDE words are whole vectors, and K vectors of a group of eight or K groups
    // divide the words, which are a multiple of 16.
    unsafe {
        let l = L::new(m);
        let constants: [L::V; WEIGHTS] = core::array::from_fn(|w| l.constant(w as u64));
        for at in (0..n).step_by(K * L::WIDTH) {
            let first: [*const u64; K] = core::array::from_fn(|k| {
                let at = at + k * L::WIDTH;
                row.words.as_ptr().add(at / SIDE * terms * SIDE + at % SIDE)
            });
            for (block, weights) in row.weights.chunks_exact(terms * SUMS).enumerate() {
                for part in (0..SUMS).step_by(R) {
                    let mut sums = [[l.constant(0); K]; R];
                    for chunk in (0..terms).step_by(L::CHUNK_SMALL) {
                        let mut accs = [[l.acc_zero::<false>(); K]; R];
                        for t in chunk..terms.min(chunk + L::CHUNK_SMALL) {
                            let x: [L::V; K] = core::array::from_fn(|k| l.load(first[k].add(t * SIDE)));
                            for (r, accs) in accs.iter_mut().enumerate() {
                                let weight = usize::from(*weights.get_unchecked(t * SUMS + part + r)) % WEIGHTS;
                                for (acc, &x) in accs.iter_mut().zip(&x) {
                                    *acc = l.mac_small(*acc, x, constants[weight]);
                                }
                            }
                        }
                        for (sum, acc) in sums.as_flattened_mut().iter_mut().zip(accs.as_flattened()) {
                            *sum = l.tame(l.add(*sum, l.acc_reduce::<false>(*acc)));
                        }
                    }
                    for (r, sums) in sums.iter().enumerate() {
                        for (k, &sum) in sums.iter().enumerate() {
                            let out = out.as_mut_ptr().add((block * SUMS + part + r) * n + at + k * L::WIDTH);
                            l.store(out, sum);
                        }
                    }
                }
            }
        }
    }
}

/// `out_c = sum_r row_r key_(r, c)`, values throughout.
pub(crate) struct ProductSum<'a> {
    /// Canonical values, N words a row.
    pub(crate) rows: &'a [u64],
    /// Packed: `[vector][row][column]`.
    pub(crate) key: &'a [u8],
    /// Results: four or more.
    pub(crate) columns: usize,
    /// Bytes of a packed word: 5 or 6.
    pub(crate) bytes: usize,
}

impl ProductSum<'_> {
    /// The work, in words.
    pub(crate) fn tally(&self) -> Tally {
        let key = (self.rows.len() * self.columns) as u64;
        Tally { key, key_read: key, ciphertext_read: self.rows.len() as u64, ..Tally::NONE }
    }
}

/// Columns that are summed side by side, so that no sum waits for its own last product.
const SIDE_BY_SIDE: usize = 4;

#[inline(always)]
unsafe fn sum_columns<L: Lanes, const BYTES: usize>(l: L, row: &ProductSum<'_>, n: usize, out: &mut [u64]) {
    let rows = row.rows.len() / n;
    for v in 0..n / L::WIDTH {
        for first in (0..row.columns).step_by(SIDE_BY_SIDE) {
            // The last columns are summed again where four do not divide them.
            let first = first.min(row.columns - SIDE_BY_SIDE);
            // SAFETY: rows, columns and vectors are inside their buffers.
            unsafe {
                let mut sums = [l.constant(0); SIDE_BY_SIDE];
                for chunk in (0..rows).step_by(MOST_PRODUCTS) {
                    let mut accs = [l.acc_zero::<true>(); SIDE_BY_SIDE];
                    for r in chunk..rows.min(chunk + MOST_PRODUCTS) {
                        let x = l.load(row.rows.as_ptr().add(r * n + v * L::WIDTH));
                        let key = row.key.as_ptr().add(((v * rows + r) * row.columns + first) * L::WIDTH * BYTES);
                        for (c, acc) in accs.iter_mut().enumerate() {
                            *acc = l.mac(*acc, x, l.load_key::<BYTES>(key.add(c * L::WIDTH * BYTES)));
                        }
                    }
                    for (sum, acc) in sums.iter_mut().zip(accs) {
                        *sum = l.tame(l.add(*sum, l.acc_reduce_sixteen(acc)));
                    }
                }
                for (c, sum) in sums.iter().enumerate() {
                    l.store(out.as_mut_ptr().add((first + c) * n + v * L::WIDTH), *sum);
                }
            }
        }
    }
}

/// Evaluates a [`ProductSum`] to `out`, canonical values.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; rows are whole, the key has all its bytes and 64 more, `out`
/// N words a column.
#[inline(always)]
pub(crate) unsafe fn product_sum<L: Lanes>(t: &SmallConstants, row: &ProductSum<'_>, out: &mut [u64]) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match row.bytes {
            5 => sum_columns::<L, 5>(l, row, t.n(), out),
            _ => sum_columns::<L, 6>(l, row, t.n(), out),
        }
    }
}
