//! Lists that kernels read, in one block of the device: where the next one will lie is known before it is there.

use crate::launcher::{Block, Device};
use crate::Error;

/// Words of lists, one after the other.
pub(super) struct Lists {
    block: Block,
    words: Vec<u64>,
}

impl Lists {
    /// Room for so many words.
    pub(super) fn new(card: &Device, words: usize) -> Result<Self, Error> {
        Ok(Self { block: card.allocate(words.max(1))?, words: Vec::with_capacity(words) })
    }
    /// The address that a list will have; of an empty one at the end that of nothing.
    pub(super) fn add(&mut self, words: impl IntoIterator<Item = u64>) -> u64 {
        let at = self.words.len();
        self.words.extend(words);
        self.block.address(0) + 8 * at as u64
    }
    /// Writes them. The block lives until the kernels that read it have run.
    pub(super) fn written(self) -> Result<Block, Error> {
        self.block.write(0, &self.words)?;
        Ok(self.block)
    }
}
