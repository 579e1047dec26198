//! One block of a blind rotation (eprint 2023/958).
//!
//! The digits of an accumulator are transformed once, then meet every key of the block: a row times the value of `X^a - 1` there,
//! times the key. What is read is the packed key, once; all else stays in the first two caches. Where unpacking a key takes about as long as
//! a product, a few accumulators meet each vector of it while it is in the first cache, unpacked once for all.

mod merge;

pub(crate) use merge::merge_keys;

use super::small::{forward_raw, inverse_add_raw, lift, Ahead};
use crate::arch::lanes::Lanes;
use crate::constants::small::SmallConstants;
use crate::tally::Tally;
use core::mem::MaybeUninit;

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
    /// Bytes of a packed word: 5, of a modulus of up to 40 bits, or 6; or 8 in working form.
    pub(crate) bytes: usize,
    /// Whether an external product is added to all columns.
    pub(crate) adds: bool,
    /// The base of the digits, a power of two.
    pub(crate) base: f64,
    /// `base^levels / q`.
    pub(crate) scale: f64,
    /// The planes of the block that comes next, whose key comes into the cache on the way; none to fetch nothing.
    pub(crate) next: &'a [&'a [u8]],
    /// Which bytes of each of them come now, from and to: each input fetches a part.
    pub(crate) fetched: [usize; 2],
    /// Words from one row of scratch to the next, see [`row_words`].
    pub(crate) stride: usize,
}

/// An accumulator that meets a block.
#[derive(Default)]
pub(crate) struct BlindInput<'a> {
    /// Exponents of X, below 2N, one for each key; none for an external product.
    pub(crate) exponents: &'a [u16],
    /// N canonical words for each column.
    pub(crate) acc: &'a mut [u64],
}

impl BlindRow<'_> {
    /// Products that end in one sum.
    pub(crate) fn products(&self) -> usize {
        self.keys * self.planes.len() * self.levels
    }
    /// Words of scratch for an accumulator: the digits, then the sums.
    pub(crate) fn scratch_words(&self) -> usize {
        (self.planes.len() * self.levels + self.columns) * self.stride
    }
    /// Bytes of one plane of a block.
    pub(crate) fn plane_bytes(&self, n: usize) -> usize {
        self.keys * self.levels * self.columns * n * self.bytes
    }
    /// Words that the samples of the block come to as those of one key.
    pub(crate) fn merged_words(&self, n: usize) -> usize {
        self.planes.len() * self.levels * self.columns * n
    }
    /// The work for an accumulator, in words.
    pub(crate) fn tally(&self, exponents: &[u16], n: u64) -> Tally {
        let (rows, columns) = ((self.planes.len() * self.levels) as u64, self.columns as u64);
        let active = match exponents {
            [] => 1,
            some => some.iter().filter(|&&e| e != 0).count() as u64,
        };
        let key = active * rows * columns * n;
        Tally::forward(rows * n) + Tally::inverse(columns * n) + Tally { key, key_read: key, ..Tally::NONE }
    }
}

/// Words from one row of scratch to the next. Where accumulators share keys, rows of all of them are read side by side: a line lies between rows,
/// as those of 4 KB would be the same few lines of the first cache.
pub(crate) fn row_words(share: usize, n: usize) -> usize {
    if share > 1 {
        n + 8
    } else {
        n
    }
}

/// Digits of every coefficient, balanced, as working form on the lift of a forward transform: `round(x base^levels / q)` in base
/// `base`, the top digit first.
#[inline(always)]
unsafe fn digits<L: Lanes>(l: L, t: &SmallConstants, row: &BlindRow<'_>, acc: &[u64], out: &mut [u64]) {
    let (n, inverse, times) = (t.n(), 1.0 / row.base, lift::<L>(t));
    for at in (0..n).step_by(L::WIDTH) {
        // SAFETY: there are `levels` rows at `out`.
        unsafe {
            let mut y = l.f_scaled(acc.as_ptr().add(at), row.scale);
            for level in (1..row.levels).rev() {
                let (rest, digit) = L::f_split(y, row.base, inverse);
                L::store_raw(out.as_mut_ptr().add(level * row.stride + at), l.f_integer(digit, times));
                y = rest;
            }
            L::store_raw(out.as_mut_ptr().add(at), l.f_integer(y, times));
        }
    }
}

/// `X^exponent - 1`, times 1/N in lanes that scale, in a vector of values as a constant, that of this power of psi at lane 0.
#[inline(always)]
unsafe fn difference<L: Lanes>(l: L, t: &SmallConstants, exponent: u16, power: u32) -> L::V {
    let (e, mask, lanes) = (usize::from(exponent), 2 * t.n() - 1, L::WIDTH * L::WIDTH - 1);
    // SAFETY: exponents and their products are below 2N by the mask.
    unsafe {
        let one = L::splat_raw(L::prepare_constant(t.modulus(), if L::SCALES { t.n_inverse() } else { 1 }));
        let lane = L::load_raw(t.lane_powers().as_ptr().add((e & lanes) * L::WIDTH));
        let power = l.splat(*t.powers().as_ptr().add((e * power as usize) & mask));
        l.sub(l.mul(lane, power), one)
    }
}

/// The keys of one vector.
#[derive(Clone, Copy)]
struct Keys {
    /// Where those of each row of digits begin.
    places: [*const u8; MOST_PRODUCTS],
    /// Bytes from one key of the block to the next.
    step: usize,
}

/// Vectors of a factor that [`Lanes::factor_store`] leaves.
const FACTOR: usize = 2;

/// How keys are read: packed words of five or six bytes, working form of eight, or [`FACTOR`] vectors.
const FACTORS: usize = 16;

#[inline(always)]
unsafe fn key_factor<L: Lanes, const BYTES: usize, const SHORT: bool>(l: L, p: *const u8) -> L::M {
    // SAFETY: the words are inside the key by the contract of the caller; those of eight and sixteen bytes lie on multiples of eight.
    unsafe {
        match BYTES {
            FACTORS => L::factor_load(p.cast()),
            8 => l.factor::<SHORT>(L::load_raw(p.cast())),
            _ => l.key_factor::<BYTES>(p),
        }
    }
}

/// What the digits meet a key with: `X^e - 1`, or 1 in an external product; times 1/N in lanes that scale, but for keys that are merged.
#[inline(always)]
unsafe fn monomial<L: Lanes, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    (e, merged): (u16, bool),
    power: u32,
) -> L::T {
    // SAFETY: as for `difference`.
    unsafe {
        match EXTERNAL {
            true => l.splat(L::prepare(t.modulus(), if L::SCALES && !merged { t.n_inverse() } else { 1 })),
            false => l.multiplier(difference(l, t, e, power)),
        }
    }
}

/// The products of a block for one vector `v`, or of an external product if `EXTERNAL`: `C` columns, keys of `BYTES`.
#[inline(always)]
unsafe fn products<L: Lanes, const C: usize, const BYTES: usize, const SHORT: bool, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    (exponents, rows, stride): (&[u16], usize, usize),
    (keys, v): (&Keys, usize),
    scratch: *mut u64,
) {
    let exponents = if EXTERNAL { &[1] } else { exponents };
    let lazy = EXTERNAL && rows <= L::CHUNK_LAZY;
    // SAFETY: every vector stays inside digits, keys and sums; there are no more products than in a sum.
    unsafe {
        let (digits, power) = (scratch.add(v * L::WIDTH), *t.exponents().get_unchecked(v));
        // Where registers are few, all factors of keys are made before their products: neither then waits for the other.
        let mut factors = [const { MaybeUninit::<L::M>::uninit() }; MOST_PRODUCTS];
        let mut factor = factors.as_mut_ptr();
        if L::SHARE > 1 {
            for &e in exponents {
                if e != 0 {
                    let monomial = monomial::<L, EXTERNAL>(l, t, (e, BYTES == 8), power);
                    for i in 0..rows {
                        let d = L::load_raw(digits.add(i * stride));
                        (*factor).write(l.factor::<SHORT>(if lazy { d } else { l.mul(d, monomial) }));
                        factor = factor.add(1);
                    }
                }
            }
        }
        let mut accs = [l.sum_zero::<SHORT>(); C];
        let (mut count, mut key, factors) = (0, 0, factors.as_ptr());
        for &e in exponents {
            if e != 0 {
                let monomial =
                    if L::SHARE > 1 { None } else { Some(monomial::<L, EXTERNAL>(l, t, (e, BYTES == 8), power)) };
                for i in 0..rows {
                    if SHORT && count == FOLDED {
                        for acc in &mut accs {
                            *acc = l.sum_fold::<SHORT>(*acc);
                        }
                    }
                    let x = match monomial {
                        Some(monomial) => {
                            let d = L::load_raw(digits.add(i * stride));
                            l.factor::<SHORT>(if lazy { d } else { l.mul(d, monomial) })
                        }
                        None => (*factors.add(count)).assume_init(),
                    };
                    let key = keys.places.get_unchecked(i).add(key);
                    for (c, acc) in accs.iter_mut().enumerate() {
                        let key = key_factor::<L, BYTES, SHORT>(l, key.add(c * L::WIDTH * BYTES));
                        *acc = l.sum_mac::<SHORT>(*acc, x, key);
                    }
                    count += 1;
                }
            }
            key += keys.step;
        }
        let sums = digits.add(rows * stride);
        for (c, acc) in accs.into_iter().enumerate() {
            L::store_raw(sums.add(c * stride), l.sum_reduce::<SHORT>(acc));
        }
    }
}

/// Products after which a short sum is folded.
const FOLDED: usize = 8;

/// The products of all vectors for all inputs, which share each vector of the key.
#[inline(always)]
unsafe fn vectors<L: Lanes, const C: usize, const BYTES: usize, const SHORT: bool, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    row: &BlindRow<'_>,
    inputs: &[BlindInput<'_>],
    scratch: &mut [u64],
) {
    let (words, rows) = (row.scratch_words(), row.planes.len() * row.levels);
    // Words of a key, and of all keys of a row, in one vector.
    let (sample, plane) = (C * L::WIDTH, row.keys * row.levels * C * L::WIDTH);
    let mut unpacked = Unpacked([MaybeUninit::uninit(); UNPACKED]);
    let share = L::SHARE > 1 && BYTES < 8 && !EXTERNAL && inputs.len() > 1;
    let own = unpacked.0.as_mut_ptr().cast::<u64>();
    // SAFETY: planes have so many vectors; scratch is for so many inputs; a vector of a block has no more keys than products in a sum.
    unsafe {
        let mut keys = Keys { places: [own.cast(); MOST_PRODUCTS], step: rows * sample * FACTORS };
        let mut packed = Keys { places: [own.cast(); MOST_PRODUCTS], step: row.levels * sample * BYTES };
        for (i, place) in keys.places.iter_mut().enumerate().take(rows) {
            *place = own.add(i * sample * FACTOR).cast();
            packed.places[i] = row.planes[i / row.levels].as_ptr().add(i % row.levels * sample * BYTES);
        }
        for v in 0..t.n() / L::WIDTH {
            if share {
                let mut out = own;
                for j in 0..row.keys {
                    for place in packed.places.iter().take(rows) {
                        let from = place.add(j * packed.step);
                        for c in 0..C {
                            let key = key_factor::<L, BYTES, SHORT>(l, from.add(c * L::WIDTH * BYTES));
                            L::factor_store(out, key);
                            out = out.add(FACTOR * L::WIDTH);
                        }
                    }
                }
            }
            for (i, input) in inputs.iter().enumerate() {
                let (own, scratch) = ((input.exponents, rows, row.stride), scratch.as_mut_ptr().add(i * words));
                match share {
                    true => products::<L, C, FACTORS, SHORT, EXTERNAL>(l, t, own, (&keys, v), scratch),
                    false => products::<L, C, BYTES, SHORT, EXTERNAL>(l, t, own, (&packed, v), scratch),
                }
            }
            for place in packed.places.iter_mut().take(rows) {
                *place = place.add(plane * BYTES);
            }
        }
    }
}

/// Words of the factors of a vector of a block: of four columns and the most products, in lanes that share.
const UNPACKED: usize = MOST_PRODUCTS * 4 * 4 * FACTOR;

/// Factors that begin at a cache line.
#[repr(align(64))]
struct Unpacked([MaybeUninit<u64>; UNPACKED]);

/// One block of a blind rotation, in place, or an external product, for up to [`Lanes::SHARE`] inputs.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; each `acc` has N canonical words for each column, `scratch`
/// [`BlindRow::scratch_words`] for each; planes have [`BlindRow::plane_bytes`] and 64 more; no more than [`MOST_PRODUCTS`] products.
#[inline(always)]
pub(crate) unsafe fn blind_block<L: Lanes>(
    t: &SmallConstants,
    row: &BlindRow<'_>,
    inputs: &mut [BlindInput<'_>],
    scratch: &mut [u64],
) {
    // SAFETY: as for this function.
    unsafe {
        let l = L::new(t.modulus());
        match inputs[0].exponents {
            [] => block::<L, true>(l, t, row, inputs, scratch),
            _ => block::<L, false>(l, t, row, inputs, scratch),
        }
    }
}

#[inline(always)]
unsafe fn block<L: Lanes, const EXTERNAL: bool>(
    l: L,
    t: &SmallConstants,
    row: &BlindRow<'_>,
    inputs: &mut [BlindInput<'_>],
    scratch: &mut [u64],
) {
    let (n, words, rows) = (t.n(), row.scratch_words(), row.planes.len() * row.levels);
    let [from, to] = row.fetched;
    let part = |i: usize| from + (to - from) * i / inputs.len();
    let mut ahead: [Ahead<'_>; MOST_SHARED] = core::array::from_fn(|i| Ahead::new(row.next, part(i)..part(i + 1)));
    // SAFETY: the lengths are those of the contract.
    unsafe {
        for ((input, scratch), ahead) in inputs.iter().zip(scratch.chunks_exact_mut(words)).zip(&mut ahead) {
            let mut rows = scratch.chunks_exact_mut(row.levels * row.stride);
            for (column, rows) in input.acc.chunks_exact(n).take(row.planes.len()).zip(&mut rows) {
                digits::<L>(l, t, row, column, rows);
                for digit in rows.chunks_exact_mut(row.stride) {
                    forward_raw::<L>(l, t, &mut digit[..n], ahead);
                }
            }
        }
        let short = t.modulus().bits() <= SHORT_BITS;
        match (row.columns, row.bytes, short) {
            (1, 5, _) => vectors::<L, 1, 5, true, EXTERNAL>(l, t, row, inputs, scratch),
            (2, 5, _) => vectors::<L, 2, 5, true, EXTERNAL>(l, t, row, inputs, scratch),
            (3, 5, _) => vectors::<L, 3, 5, true, EXTERNAL>(l, t, row, inputs, scratch),
            (_, 5, _) => vectors::<L, 4, 5, true, EXTERNAL>(l, t, row, inputs, scratch),
            (1, 6, _) => vectors::<L, 1, 6, false, EXTERNAL>(l, t, row, inputs, scratch),
            (2, 6, _) => vectors::<L, 2, 6, false, EXTERNAL>(l, t, row, inputs, scratch),
            (3, 6, _) => vectors::<L, 3, 6, false, EXTERNAL>(l, t, row, inputs, scratch),
            (_, 6, _) => vectors::<L, 4, 6, false, EXTERNAL>(l, t, row, inputs, scratch),
            (1, _, true) => vectors::<L, 1, 8, true, EXTERNAL>(l, t, row, inputs, scratch),
            (2, _, true) => vectors::<L, 2, 8, true, EXTERNAL>(l, t, row, inputs, scratch),
            (3, _, true) => vectors::<L, 3, 8, true, EXTERNAL>(l, t, row, inputs, scratch),
            (_, _, true) => vectors::<L, 4, 8, true, EXTERNAL>(l, t, row, inputs, scratch),
            (1, _, false) => vectors::<L, 1, 8, false, EXTERNAL>(l, t, row, inputs, scratch),
            (2, _, false) => vectors::<L, 2, 8, false, EXTERNAL>(l, t, row, inputs, scratch),
            (3, _, false) => vectors::<L, 3, 8, false, EXTERNAL>(l, t, row, inputs, scratch),
            (_, _, false) => vectors::<L, 4, 8, false, EXTERNAL>(l, t, row, inputs, scratch),
        }
        for ((input, scratch), ahead) in inputs.iter_mut().zip(scratch.chunks_exact_mut(words)).zip(&mut ahead) {
            if EXTERNAL && !row.adds {
                input.acc[..row.planes.len() * n].fill(0);
            }
            let sums = scratch[rows * row.stride..].chunks_exact_mut(row.stride);
            for (values, column) in sums.zip(input.acc.chunks_exact_mut(n)) {
                scaled_add::<L>(l, t, &mut values[..n], column, ahead);
            }
        }
    }
}

/// Adds the coefficients of sums of products.
#[inline(always)]
unsafe fn scaled_add<L: Lanes>(l: L, t: &SmallConstants, values: &mut [u64], sum: &mut [u64], ahead: &mut Ahead<'_>) {
    // SAFETY: as for both.
    unsafe {
        match L::SCALES {
            true => inverse_add_raw::<L, true>(l, t, values, sum, ahead),
            false => inverse_add_raw::<L, false>(l, t, values, sum, ahead),
        }
    }
}

/// The most accumulators that lanes share keys among.
pub(crate) const MOST_SHARED: usize = 8;
/// Bits of moduli whose sums are short; packed words of these have five bytes.
pub(crate) const SHORT_BITS: u32 = 40;
