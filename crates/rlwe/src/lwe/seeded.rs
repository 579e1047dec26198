//! Packed samples whose masks are the expansion of a seed: what files hold of them is the seed and the bodies.

use crate::error::Error;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::small::{SmallTable, Words};

/// A packed key with the seed of its masks. Samples come in the order of block, key, row and level, and a seed is expanded in it.
pub struct SeededKey {
    packed: PackedKey,
    seed: [u8; 32],
}

/// Block, key, row and level of a sample.
fn place(shape: KeyShape, at: usize) -> [usize; 4] {
    let (level, rest) = (at % shape.levels, at / shape.levels);
    let (row, rest) = (rest % shape.rows, rest / shape.rows);
    [rest / shape.keys, rest % shape.keys, row, level]
}

impl SeededKey {
    /// Makes a key of samples that are written one after the other: `write` fills the body of a sample, given its block,
    /// key, row and level, beside its masks: values, N words for each column.
    ///
    /// # Errors
    /// Memory that cannot be had, and those of `write`.
    pub fn make<E: From<Error>>(
        table: &SmallTable,
        shape: KeyShape,
        seed: [u8; 32],
        mut write: impl FnMut([usize; 4], &[u64], &mut [u64]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut packed = PackedKey::zeros(table, shape).map_err(Error::from)?;
        let (mut masks, n) = (ChaChaSource::from_seed(seed), table.n());
        let mut sample = Words::zeros(shape.columns * n);
        for at in 0..samples(shape) {
            let (mask, body) = sample.split_at_mut((shape.columns - 1) * n);
            sample::uniform(&mut masks, table.modulus().value(), mask);
            mask.chunks_exact_mut(n).for_each(|mask| table.forward(mask));
            write(place(shape, at), mask, body)?;
            packed.write(table, place(shape, at), &sample);
        }
        Ok(Self { packed, seed })
    }

    /// The key of a seed and its bodies, which `next` gives one after the other: N canonical coefficients each.
    ///
    /// # Errors
    /// Those of [`SeededKey::make`].
    pub fn expand<E: From<Error>>(
        table: &SmallTable,
        shape: KeyShape,
        seed: [u8; 32],
        mut next: impl FnMut(&mut [u64]) -> Result<(), E>,
    ) -> Result<Self, E> {
        Self::make(table, shape, seed, |_, _, body| {
            next(body)?;
            table.forward(body);
            Ok(())
        })
    }

    /// The packed samples.
    #[must_use]
    pub fn packed(&self) -> &PackedKey {
        &self.packed
    }
    /// What the masks are the expansion of.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }
    /// Samples of a key of this shape.
    #[must_use]
    pub fn samples(&self) -> usize {
        samples(self.packed.shape())
    }

    /// Bytes of its bodies, which files hold of it beside the seed.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.packed.byte_count() / self.packed.shape().columns
    }

    /// The body of sample `at`, N coefficients.
    ///
    /// # Panics
    /// If there is no such sample, or `out` has not N words.
    pub fn body(&self, table: &SmallTable, at: usize, out: &mut [u64]) {
        let shape = self.packed.shape();
        let mut values = Words::zeros(table.n());
        self.packed.read(table, place(shape, at), shape.columns - 1, &mut values);
        out.fill(0);
        table.inverse_add(&mut values, out);
    }
}

/// Samples of a key of this shape.
#[must_use]
pub fn samples(shape: KeyShape) -> usize {
    shape.blocks * shape.keys * shape.rows * shape.levels
}
