//! GGSW samples of the box that a message says: a product with one takes a value out of a table, as a rotation by the message does. A sample
//! takes a rotation for each of its rows, and serves any number of tables. It is circuit bootstrapping (eprint 2018/421) without key
//! switches: the row of mask column r is what a rotation makes of the sample whose mask column r is `g B` and whose other columns are 0. Its
//! phase is `-S_r g B` without noise, so no row has the noise of another one times the secret.

use super::sources::digest;
use super::{GlweSample, LweContext};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::KeyId;
use aglet_ring::blind::{external_product, scratch_words, Gadget};
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::small::Words;

/// A GGSW sample of `X^(-phase) B`, for a box B: a sum of neighbouring powers of X.
pub struct BoxSample {
    packed: PackedKey,
    gadget: Gadget,
    input: u64,
    key: KeyId,
    variance: f64,
}

impl BoxSample {
    /// What its rows are rotations of, for these digits: from a box of N canonical words, for each column the rows of all digits.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for another number of words.
    pub fn starts(ctx: &LweContext, gadget: Gadget, of: &[u64], key: KeyId) -> Result<Vec<GlweSample>, Error> {
        let (m, n, columns) = (ctx.modulus(), ctx.params().n(), ctx.params().spec().rank + 1);
        if of.len() != n {
            return Err(OperandFault::Table { n, found: of.len() }.into());
        }
        let rows = (0..columns).flat_map(|column| (0..gadget.levels).map(move |level| (column, level)));
        let start = |(column, level): (usize, usize)| {
            let (mut words, weight) = (Words::zeros(columns * n), gadget.weight(m.value(), level));
            let column = &mut words[column * n..(column + 1) * n];
            column.iter_mut().zip(of).for_each(|(word, &x)| *word = m.mul(x, weight));
            GlweSample::exact(ctx, words, key)
        };
        rows.map(start).collect()
    }

    /// The sample whose rows are these rotations of its starts, by one input. Its products add noise of this variance.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// If there is another number of rows.
    pub fn of(ctx: &LweContext, gadget: Gadget, rows: &[GlweSample], variance: f64) -> Result<Self, Error> {
        let (n, columns) = (ctx.params().n(), ctx.params().spec().rank + 1);
        assert!(rows.len() == columns * gadget.levels, "a row for each column and digit");
        let shape = KeyShape { blocks: 1, keys: 1, rows: columns, levels: gadget.levels, columns };
        let mut packed = PackedKey::zeros(ctx.table(), shape)?;
        let mut values = Words::zeros(columns * n);
        for (at, row) in rows.iter().enumerate() {
            values.copy_from_slice(row.words());
            values.chunks_exact_mut(n).for_each(|column| ctx.table().forward(column));
            packed.write(ctx.table(), [0, 0, at / gadget.levels, at % gadget.levels], &values);
        }
        let input = digest(rows.iter().flat_map(|row| row.words().iter().copied()));
        Ok(Self { packed, gadget, input, key: rows[0].key(), variance })
    }

    /// The product with a sample, whose phase is multiplied by that of this one.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a sample of another key.
    pub fn product(&self, ctx: &LweContext, sample: &GlweSample) -> Result<GlweSample, Error> {
        if sample.key() != self.key {
            return Err(Error::KeyMismatch { what: "box", found: self.key, expected: sample.key() });
        }
        let columns = self.packed.shape().columns;
        let (mut words, mut scratch) =
            (Words::zeros(sample.words().len()), Words::zeros(scratch_words(ctx.table(), columns, self.gadget)));
        words.copy_from_slice(sample.words());
        external_product(ctx.table(), &self.packed, 0, None, self.gadget, &mut words, &mut scratch);
        GlweSample::multiplied(ctx, words, sample, (self.input, self.variance))
    }
}
