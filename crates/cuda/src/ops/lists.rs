//! Lists that kernels read, in one block of the device: where the next one will lie is known before it is there.

use crate::device::THREADS;
use crate::launcher::{Block, Device};
use crate::{DeviceRing, Error};

/// The most words that the structure of a row has.
const ROW: usize = 16;

/// Words of lists, one after the other.
pub(super) struct Lists {
    block: Block,
    words: Vec<u64>,
}

impl Lists {
    /// Room for so many words, and for the structures of so many rows.
    pub(super) fn new(card: &Device, words: usize, rows: usize) -> Result<Self, Error> {
        let words = words + ROW * rows;
        Ok(Self { block: card.allocate(words.max(1))?, words: Vec::with_capacity(words) })
    }
    /// The address that a list will have; of an empty one at the end that of nothing.
    pub(super) fn add(&mut self, words: impl IntoIterator<Item = u64>) -> u64 {
        let at = self.words.len();
        self.words.extend(words);
        self.block.address(0) + 8 * at as u64
    }
    /// Writes them, at once: each copy costs as much as a launch. The block lives until the kernels that read it were launched.
    pub(super) fn written(self) -> Result<Block, Error> {
        self.block.write(0, &self.words)?;
        Ok(self.block)
    }
}

impl DeviceRing<'_> {
    /// Runs kernels of one thread for each word on rows, one for each block `y`, that name lists: each with the kernel of its prime.
    /// Parameters are the rows and `more`.
    pub(super) fn launch_by_arithmetic(
        &self,
        kernel: &str,
        mut lists: Lists,
        rows: &[(usize, Vec<u64>)],
        more: &[u64],
    ) -> Result<(), Error> {
        let parts = self.by_arithmetic(rows, |(prime, _)| *prime).map(|(arithmetic, rows)| {
            let at = lists.add(rows.iter().flat_map(|(_, row)| row.iter().copied()));
            (arithmetic, at, rows)
        });
        let _lists = lists.written()?;
        for (arithmetic, at, rows) in parts {
            let kernel = format!("{kernel}_{}", arithmetic.name());
            for (start, count) in self.card().parts(rows.len()) {
                let (at, grid) = (at + 8 * (start * rows[0].1.len()) as u64, [self.blocks(), count, 1]);
                self.card().launch(&kernel, grid, (THREADS, 0), &[&[at], more].concat())?;
            }
        }
        Ok(())
    }
}
