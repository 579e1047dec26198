//! Keys of blind rotations and of LWE key switches, packed to the bytes that their modulus needs.
//!
//! A blind rotation reads its whole key once, so bytes decide. Each row polynomial has a plane of its own, as several streams from
//! different pages come faster than one; buffers that lie in memory on their own start at different offsets (see `pool.rs`).

use crate::arch::{SHORT_BITS, SPARE_BYTES};
use crate::modulus::Modulus;
use crate::pool::{Buffer, Pool};
use crate::small::SmallTable;
use crate::Error;

/// The shape of a packed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    /// Blocks, which are read one after the other.
    pub blocks: usize,
    /// Keys of a block.
    pub keys: usize,
    /// Row polynomials of a key: a plane each.
    pub rows: usize,
    /// Digits that a row polynomial has keys for.
    pub levels: usize,
    /// Polynomials of each sample.
    pub columns: usize,
}

impl KeyShape {
    /// Polynomials of all samples.
    #[must_use]
    pub fn polynomials(&self) -> usize {
        self.blocks * self.keys * self.rows * self.levels * self.columns
    }
}

/// Values of many polynomials modulo one prime, packed in the order that kernels read them in.
pub struct PackedKey {
    shape: KeyShape,
    n: usize,
    bytes: usize,
    planes: Vec<Buffer>,
}

impl PackedKey {
    /// Bytes of a packed residue modulo the prime of this table: 5, or 6 above 40 bits.
    #[must_use]
    pub fn word_bytes(table: &SmallTable) -> usize {
        if table.modulus().bits() <= SHORT_BITS {
            5
        } else {
            6
        }
    }

    /// A key of zeros.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn zeros(table: &SmallTable, shape: KeyShape) -> Result<Self, Error> {
        let words = Self::plane_words(table, shape);
        let planes = (0..shape.rows).map(|_| Pool::take_exact(words)).collect::<Result<_, _>>()?;
        Ok(Self { shape, n: table.n(), bytes: Self::word_bytes(table), planes })
    }

    /// Words of 64 bits in a plane.
    fn plane_words(table: &SmallTable, shape: KeyShape) -> usize {
        let values = shape.polynomials() / shape.rows * table.n();
        (values * Self::word_bytes(table) + SPARE_BYTES).div_ceil(8)
    }

    /// Bytes that a key of this shape takes in memory.
    #[must_use]
    pub fn forecast(table: &SmallTable, shape: KeyShape) -> usize {
        8 * shape.rows * Self::plane_words(table, shape)
    }

    /// The shape that it was made with.
    #[must_use]
    pub fn shape(&self) -> KeyShape {
        self.shape
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.planes.iter().map(|p| 8 * p.len()).sum()
    }

    /// Bytes of a packed word.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
    /// One plane from a block on.
    pub(crate) fn plane(&self, row: usize, block: usize) -> &[u8] {
        let words = &self.planes[row][..];
        let stride = self.shape.keys * self.shape.levels * self.shape.columns * self.n * self.bytes;
        &bytemuck::cast_slice(words)[block * stride..]
    }

    /// Where the vectors of a sample lie in its plane: the byte of a column's vector, for vectors of so many bytes.
    fn place(&self, size: usize, [block, key, level]: [usize; 3]) -> impl Fn(usize, usize) -> usize {
        let KeyShape { blocks, keys, levels, columns, .. } = self.shape;
        assert!(block < blocks && key < keys && level < levels, "the key has no such sample");
        let vectors = self.n * self.bytes / size;
        move |column, vector| {
            let sample = ((block * vectors + vector) * keys + key) * levels + level;
            (sample * columns + column) * size
        }
    }

    /// Writes the polynomials of the sample of one block, key, row and level: canonical values in the order of the table, N words
    /// for each column.
    ///
    /// # Panics
    /// If there is no such sample, or there are not N words for each column.
    pub fn write(&mut self, table: &SmallTable, [block, key, row, level]: [usize; 4], values: &[u64]) {
        let (m, n, bytes, width) = (table.modulus(), self.n, self.bytes, table.kernels().width());
        assert!(table.n() == n && values.len() == self.shape.columns * n, "a sample has N words for each column");
        let place = self.place(width * bytes, [block, key, level]);
        let (packed, lift) = (table.kernels().pack_constant(m, 1), Lift::of(table));
        let plane: &mut [u8] = bytemuck::cast_slice_mut(&mut self.planes[row]);
        for (column, values) in values.chunks_exact(n).enumerate() {
            for (vector, values) in values.chunks_exact(width).enumerate() {
                let out = &mut plane[place(column, vector)..][..width * bytes];
                for (out, &value) in out.chunks_exact_mut(bytes).zip(values) {
                    out.copy_from_slice(&lift.packed(m, m.mul(value, packed)).to_le_bytes()[..bytes]);
                }
            }
        }
    }

    /// One column of such a sample as it was written, N values.
    ///
    /// # Panics
    /// If there is no such sample or column, or `out` has not N words.
    pub fn read(&self, table: &SmallTable, [block, key, row, level]: [usize; 4], column: usize, out: &mut [u64]) {
        let (m, bytes, width) = (table.modulus(), self.bytes, table.kernels().width());
        assert!(table.n() == self.n && out.len() == self.n && column < self.shape.columns, "a column has N words");
        let place = self.place(width * bytes, [block, key, level]);
        let plane: &[u8] = bytemuck::cast_slice(&self.planes[row]);
        let (unpacked, lift) = (m.inv(table.kernels().pack_constant(m, 1)), Lift::of(table));
        for (vector, values) in out.chunks_exact_mut(width).enumerate() {
            let packed = &plane[place(column, vector)..][..width * bytes];
            for (value, packed) in values.iter_mut().zip(packed.chunks_exact(bytes)) {
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(packed);
                *value = m.mul(lift.residue(m, u64::from_le_bytes(word)), unpacked);
            }
        }
    }
}

/// How residues become packed words: constants are multiples of that of 1, and may be balanced on a lift of 2^39.
struct Lift {
    /// `q / 2`, or 0 where words are the residues themselves.
    half: u64,
    /// What is added to residues that are `half` further.
    above: u64,
}

impl Lift {
    fn of(table: &SmallTable) -> Self {
        match table.kernels().packs_balanced() && PackedKey::word_bytes(table) == 5 {
            true => Self { half: table.modulus().value() / 2, above: (1 << 39) - table.modulus().value() / 2 },
            false => Self { half: 0, above: 0 },
        }
    }
    fn packed(&self, m: &Modulus, x: u64) -> u64 {
        m.add(x, self.half) + self.above
    }
    fn residue(&self, m: &Modulus, word: u64) -> u64 {
        m.sub(word - self.above, self.half)
    }
}
