//! What blind rotations and LWE key switches ask of the ring: the CMuxes of one block on an accumulator, an external product, a sum of
//! products, an automorphism.

use crate::arch::{
    BlindInput, BlindRow, FormRow, ProductSum, SmallSums, MOST_SHARED, SIDE, SPARE_BYTES, SUMS, WEIGHTS,
};
use crate::modulus::Modulus;
use crate::packed::PackedKey;
use crate::small::{SmallTable, Words};

/// Gadget decomposition: accumulators are cut into `levels` balanced digits in base `2^log_base`, of the number nearest to
/// `x 2^(log_base levels) / q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gadget {
    /// Digits.
    pub levels: usize,
    /// log2 of the base.
    pub log_base: u32,
}

impl Gadget {
    /// What the digit of one level, the top one is 0, stands for: `round(q / 2^(log_base (level + 1)))`.
    #[must_use]
    pub fn weight(&self, q: u64, level: usize) -> u64 {
        let shift = self.log_base * (level as u32 + 1);
        (q + (1 << (shift - 1))) >> shift
    }
}

impl Gadget {
    /// What rounding the weights does: the sum of `(weight / q - 2^(-log_base (level + 1)))^2`. Next to nothing if the base divides `q - 1`
    /// often enough.
    #[must_use]
    pub fn rounding(&self, q: u64) -> f64 {
        let exact = |level: usize| f64::from(self.log_base * (level as u32 + 1)).exp2().recip();
        (0..self.levels).map(|level| (self.weight(q, level) as f64 / q as f64 - exact(level)).powi(2)).sum()
    }
}

/// Words of scratch that [`blind_block`] wants for accumulators of so many columns, any number of them.
#[must_use]
pub fn scratch_words(table: &SmallTable, columns: usize, gadget: Gadget) -> usize {
    table.kernels().share() * columns * (gadget.levels + 1) * table.kernels().row_words(table.n())
}

/// The CMuxes of a block: `acc += sum_j (X^(e_j) - 1) acc x key_j` over its keys, with the external product of digits and samples. For
/// every input: its exponents, a number below 2N for each key of the block, and its accumulator, canonical coefficients, N words for each column.
/// Meanwhile the next block of the key comes into the cache, a part of it with each input; some kernels unpack this one once for several
/// inputs. Variable time in the exponents, which are public.
///
/// # Panics
/// If shapes do not agree, or a block has more than 16 products in a sum.
pub fn blind_block<'a, E: AsRef<[u16]>, I: IntoIterator<Item = (E, &'a mut [u64]), IntoIter: ExactSizeIterator>>(
    table: &SmallTable,
    key: &PackedKey,
    block: usize,
    gadget: Gadget,
    inputs: I,
    scratch: &mut [u64],
) {
    let (planes, next) = (planes(key, block), next(key, block));
    let row = row(table, key, gadget, &planes);
    blocks(table, row, (row.plane_bytes(table.n()), next.as_ref()), inputs, scratch);
}

/// A block of a key in memory of its own, prepared once for the many accumulators that meet it.
pub struct SharedBlock {
    /// The rows of the key, one after the other, each in the order of a [`PackedKey`], and what kernels may read beyond them.
    words: Words,
}

impl SharedBlock {
    /// Room for the blocks of this key, its samples added to those of one key.
    #[must_use]
    pub fn merged(table: &SmallTable, key: &PackedKey) -> Self {
        Self::of(key.shape().rows * key.shape().levels * key.shape().columns * table.n())
    }
    fn of(words: usize) -> Self {
        Self { words: Words::zeros(words + SPARE_BYTES / 8) }
    }

    /// [`blind_block`] on accumulators that share exponents: with the same words, in less time from a few of them on.
    ///
    /// # Panics
    /// As there, or if the key has another shape than the one that this was made for.
    pub fn merge<'a, I: IntoIterator<Item = &'a mut [u64], IntoIter: ExactSizeIterator>>(
        &mut self,
        table: &SmallTable,
        (key, block): (&PackedKey, usize),
        gadget: Gadget,
        exponents: &[u16],
        accs: I,
        scratch: &mut [u64],
    ) {
        let (own, next) = (planes(key, block), next(key, block));
        let all = row(table, key, gadget, &own);
        let merged = |words: &mut [u64]| table.kernels().merge_keys(table.constants(), &all, exponents, words);
        let rows = self.rows(all.planes.len(), merged);
        let row = BlindRow { planes: &rows, keys: 1, bytes: 8, adds: true, ..all };
        let inputs = accs.into_iter().map(|acc| ([], acc));
        blocks(table, row, (all.plane_bytes(table.n()), next.as_ref()), inputs, scratch);
    }

    /// The rows of the key, once `fill` has written them.
    fn rows(&mut self, rows: usize, fill: impl FnOnce(&mut [u64])) -> Vec<&[u8]> {
        let words = self.words.len() - SPARE_BYTES / 8;
        fill(&mut self.words[..words]);
        (0..rows).map(|r| bytemuck::cast_slice(&self.words[r * (words / rows)..])).collect()
    }
}

/// A block on every input. Meanwhile so many bytes of each plane that is `next` come into the cache, a part of them with each input.
fn blocks<'a, E: AsRef<[u16]>, I: IntoIterator<Item = (E, &'a mut [u64]), IntoIter: ExactSizeIterator>>(
    table: &SmallTable,
    row: BlindRow<'_>,
    (bytes, next): (usize, Option<&[&[u8]; 4]>),
    inputs: I,
    scratch: &mut [u64],
) {
    assert!(row.planes.len() == row.columns);
    let (next, mut inputs) = (next.map_or(&[][..], |next| &next[..row.columns]), inputs.into_iter());
    let (parts, words) = (inputs.len(), row.scratch_words());
    // As few groups as there can be, of about as many each.
    let each = parts.div_ceil(parts.div_ceil(table.kernels().share()).max(1));
    for first in (0..parts).step_by(each.max(1)) {
        let count = each.min(parts - first);
        let mut group: [Option<(E, &mut [u64])>; MOST_SHARED] =
            core::array::from_fn(|i| if i < count { inputs.next() } else { None });
        let mut own: [BlindInput<'_>; MOST_SHARED] = core::array::from_fn(|_| BlindInput::default());
        for (own, input) in own.iter_mut().zip(group.iter_mut().flatten()) {
            *own = BlindInput { exponents: input.0.as_ref(), acc: &mut *input.1 };
            assert!(own.exponents.len() == row.keys || row.adds);
        }
        let fetched = [first, first + count].map(|i| bytes * i / parts);
        let (row, scratch) = (BlindRow { next, fetched, ..row }, &mut scratch[..count * words]);
        table.kernels().blind_block(table.constants(), &row, &mut own[..count], scratch);
    }
}

/// The planes of the block after this one, if there is one.
fn next(key: &PackedKey, block: usize) -> Option<[&[u8]; 4]> {
    (block + 1 < key.shape().blocks).then(|| planes(key, block + 1))
}

/// The external product of an accumulator and the sample of one block, in place of the accumulator. If the sample has rows for the
/// first columns only, the others stay and the product is added to them: such samples switch keys. The block `next`, if one is
/// named, comes into the cache meanwhile.
///
/// `acc` holds canonical coefficients, N words for each column of the sample.
///
/// # Panics
/// If shapes do not agree, or there are more than 16 products in a sum.
pub fn external_product(
    table: &SmallTable,
    key: &PackedKey,
    block: usize,
    next: Option<usize>,
    gadget: Gadget,
    acc: &mut [u64],
    scratch: &mut [u64],
) {
    assert!(key.shape().keys == 1 && key.shape().rows <= key.shape().columns);
    let (planes, next) = (planes(key, block), next.map(|next| planes(key, next)));
    let next = next.as_ref().map_or(&[][..], |next| &next[..key.shape().rows]);
    let row = row(table, key, gadget, &planes);
    let row = BlindRow { next, fetched: [0, row.plane_bytes(table.n())], ..row };
    let words = row.scratch_words();
    let inputs = &mut [BlindInput { exponents: &[], acc }];
    table.kernels().blind_block(table.constants(), &row, inputs, &mut scratch[..words]);
}

fn planes(key: &PackedKey, block: usize) -> [&[u8]; 4] {
    assert!(block < key.shape().blocks);
    core::array::from_fn(|row| key.plane(row.min(key.shape().rows - 1), block))
}

/// An external product with one block.
fn row<'a>(table: &SmallTable, key: &PackedKey, gadget: Gadget, planes: &'a [&'a [u8]; 4]) -> BlindRow<'a> {
    let shape = key.shape();
    assert!(shape.levels == gadget.levels);
    let base = (1u64 << gadget.log_base) as f64;
    BlindRow {
        planes: &planes[..shape.rows],
        columns: shape.columns,
        keys: shape.keys,
        levels: shape.levels,
        bytes: key.bytes(),
        adds: false,
        base,
        scale: base.powi(shape.levels as i32) / table.modulus().value() as f64,
        next: &[],
        fetched: [0, 0],
        stride: table.kernels().row_words(table.n()),
    }
}

/// `X -> X^galois` on coefficients: `out` becomes the polynomial `a(X^galois)` modulo `X^N + 1`.
///
/// # Panics
/// Unless both have as many words, a power of two, and `galois` is odd.
pub fn automorphism(m: &Modulus, a: &[u64], galois: usize, out: &mut [u64]) {
    let n = a.len();
    assert!(n.is_power_of_two() && out.len() == n && galois % 2 == 1);
    let mut to = 0;
    for &x in a {
        out[to & (n - 1)] = if to & n == 0 { x } else { m.neg(x) };
        to = (to + galois) & (2 * n - 1);
    }
}

/// `out = sum w x` over rows of canonical words with a weight each.
///
/// # Panics
/// If lengths do not agree, or are no multiple of 8.
pub fn weighted_sum(table: &SmallTable, terms: &[(&[u64], u64)], out: &mut [u64]) {
    table.kernels().form(table.modulus(), &FormRow { terms, ..FormRow::default() }, out);
}

/// `(x, y) = (x + y, x - y)` on canonical words.
///
/// # Panics
/// If lengths differ, or are no multiple of 8.
pub fn sum_difference(table: &SmallTable, x: &mut [u64], y: &mut [u64]) {
    table.kernels().sum_difference(table.modulus(), x, y);
}

/// Rows of words of which many sums with weights below [`Selection::WEIGHTS`] are made, as a kernel reads them.
pub struct Selection {
    words: Words,
    terms: usize,
}

impl Selection {
    /// What weights are below.
    pub const WEIGHTS: usize = WEIGHTS;

    /// Of these rows of canonical words.
    ///
    /// # Panics
    /// If there is no row, or lengths differ or are no multiple of 16.
    #[must_use]
    pub fn of<R: AsRef<[u64]>>(rows: &[R]) -> Self {
        let n = rows[0].as_ref().len();
        assert!(n.is_multiple_of(2 * SIDE) && rows.iter().all(|row| row.as_ref().len() == n));
        let (mut words, terms) = (Words::zeros(rows.len() * n), rows.len());
        for (t, row) in rows.iter().enumerate() {
            for (group, own) in row.as_ref().chunks_exact(SIDE).enumerate() {
                words[(group * terms + t) * SIDE..][..SIDE].copy_from_slice(own);
            }
        }
        Self { words, terms }
    }

    /// For each list of weights, one for each row, the sum of the rows times their weights: canonical words, one sum after the other, and
    /// sums of nothing up to a multiple of eight of them. All sums share each part of the rows while it is in the cache.
    ///
    /// # Panics
    /// If a list has another length, a weight is too large, or the modulus has more than 48 bits.
    #[must_use]
    pub fn sums<W: AsRef<[u8]>>(&self, table: &SmallTable, weights: &[W]) -> Words {
        let count = weights.len().next_multiple_of(SUMS);
        let mut sides = vec![0; count * self.terms];
        for (r, own) in weights.iter().enumerate() {
            assert!(own.as_ref().len() == self.terms);
            let side = &mut sides[r / SUMS * SUMS * self.terms..];
            own.as_ref().iter().enumerate().for_each(|(t, &w)| side[t * SUMS + r % SUMS] = w);
        }
        let row = SmallSums { words: &self.words, terms: self.terms, weights: &sides };
        let mut out = Words::zeros(count * row.n());
        table.kernels().small_sums(table.modulus(), &row, &mut out);
        out
    }
}

/// `out_c = sum_r row_r key_(r, c)` on canonical values: a key of one block, key and plane, whose levels are the rows; four columns
/// or more.
///
/// # Panics
/// If shapes do not agree.
pub fn product_sum(table: &SmallTable, key: &PackedKey, rows: &[u64], out: &mut [u64]) {
    let shape = key.shape();
    assert!(shape.blocks == 1 && shape.keys == 1 && shape.rows == 1 && rows.len() == shape.levels * table.n());
    let sum = ProductSum { rows, key: key.plane(0, 0), columns: shape.columns, bytes: key.bytes() };
    table.kernels().product_sum(table.constants(), &sum, out);
}
