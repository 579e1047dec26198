//! Copies to the card that nobody waits for: words are put down in pinned memory, from which the card takes them in its own time.

use super::functions::Functions;
use super::pinned::Pinned;
use super::sequence::Sequence;
use crate::launcher::STAGED;
use crate::Error;

/// Blocks of pinned memory, filled in turn. While one is filled the card takes what is in the others.
const BLOCKS: usize = 4;
/// Words of a block.
const BLOCK: usize = STAGED / BLOCKS;

/// A ring of blocks. A block is filled anew after the card has taken all that was in it: the event behind its last copy says so.
pub(super) struct Staging {
    blocks: Vec<Pinned>,
    /// The block that is being filled, and its words in use.
    block: usize,
    used: usize,
}

impl Staging {
    /// Pins memory, as many blocks as can be had; none where the system has none to pin.
    pub(super) fn new(functions: &Functions) -> Result<Option<Self>, Error> {
        let mut blocks = Vec::new();
        while let Some(block) = if blocks.len() < BLOCKS { Pinned::new(functions, BLOCK)? } else { None } {
            blocks.push(block);
        }
        Ok((!blocks.is_empty()).then_some(Self { blocks, block: 0, used: 0 }))
    }

    /// Has the card copy words to an address, after what it was asked for before. They may change when this returns.
    pub(super) fn write(&mut self, sequence: &Sequence, address: u64, words: &[u64]) -> Result<(), Error> {
        let parts = words.chunks(BLOCK).zip((address..).step_by(8 * BLOCK));
        parts.into_iter().try_for_each(|(part, address)| self.write_part(sequence, address, part))
    }

    /// The same of words that a block has room for.
    fn write_part(&mut self, sequence: &Sequence, address: u64, words: &[u64]) -> Result<(), Error> {
        if self.used + words.len() > BLOCK {
            self.next_block(sequence)?;
        }
        let at = self.blocks[self.block].at(self.used);
        // SAFETY: the block has room for the words behind those in use, and the card has taken what was there before. It is the driver's memory.
        unsafe { at.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
        self.used += words.len();
        // SAFETY: the words stay where they are until the event behind them came, and a block of the card has room for them.
        unsafe { sequence.copy_there(address, at, words.len()) }
    }

    /// Leaves the block that is being filled, and waits until the next one has been taken.
    fn next_block(&mut self, sequence: &Sequence) -> Result<(), Error> {
        self.blocks[self.block].record(sequence)?;
        (self.block, self.used) = ((self.block + 1) % self.blocks.len(), 0);
        self.blocks[self.block].wait(sequence)
    }

    /// Gives the memory back, of which the card has taken all.
    pub(super) fn unpin(self, functions: &Functions) -> Result<(), Error> {
        self.blocks.into_iter().try_for_each(|block| block.unpin(functions))
    }
}
