//! Words that come from the card: by few copies into pinned memory, with one wait behind them, and from there to their rows.

use super::functions::Functions;
use super::pinned::Pinned;
use super::sequence::Sequence;
use crate::launcher::LANDED;
use crate::{Error, Row};
use rayon::prelude::*;

/// The most blocks of pinned memory, one for each thread that has words come at the same time. Who finds none has them come to its rows.
const LANDINGS: usize = 4;
/// Words from which on several threads copy, where the caller stands in a pool of threads.
const MANY: usize = 1 << 15;

/// Blocks that are in nobody's use.
#[derive(Default)]
pub(super) struct Landings {
    idle: Vec<Pinned>,
    /// All blocks, those in use included.
    made: usize,
    /// The system has no memory to pin.
    withheld: bool,
}

impl Landings {
    /// A block; none where there are no more.
    pub(super) fn take(&mut self, functions: &Functions) -> Result<Option<Pinned>, Error> {
        if let Some(block) = self.idle.pop() {
            return Ok(Some(block));
        }
        if self.made == LANDINGS || self.withheld {
            return Ok(None);
        }
        let block = Pinned::new(functions, LANDED)?;
        (self.made, self.withheld) = (self.made + usize::from(block.is_some()), block.is_none());
        Ok(block)
    }
    /// Puts a block back that nobody reads any more.
    pub(super) fn leave(&mut self, block: Pinned) {
        self.idle.push(block);
    }

    /// Gives all memory back: nobody has words come any more.
    pub(super) fn unpin(self, functions: &Functions) -> Result<(), Error> {
        self.idle.into_iter().try_for_each(|block| block.unpin(functions))
    }
}

/// Has the card copy rows to a block, at most [`LANDED`] words in their order, after what it was asked for before.
pub(super) fn ask(sequence: &Sequence, block: &Pinned, rows: &[Row<'_>]) -> Result<(), Error> {
    let mut at = 0;
    for (address, words) in runs(rows) {
        assert!(at + words <= LANDED, "what comes at a time has room");
        // SAFETY: the block has room for the words, and is in nobody else's use until the event behind the copies came. A block of the card has
        // them: callers see to it.
        unsafe { sequence.copy_back(block.at(at), address, words)? };
        at += words;
    }
    block.record(sequence)
}

/// Copies to rows what came to a block.
pub(super) fn spread(block: &Pinned, rows: Vec<Row<'_>>) {
    let mut all = 0;
    let places = rows.into_iter().map(|row| {
        all += row.words.len();
        (all - row.words.len(), row.words)
    });
    let places: Vec<(usize, &mut [u64])> = places.collect();
    // SAFETY: the copies to the block are done, and it has the words. It is the driver's memory.
    let copy = |(at, words): (usize, &mut [u64])| unsafe {
        words.as_mut_ptr().copy_from_nonoverlapping(block.at(at), words.len());
    };
    if all < MANY || rayon::current_thread_index().is_none() {
        places.into_iter().for_each(copy);
    } else {
        places.into_par_iter().for_each(copy);
    }
}

/// Rows that lie behind each other in a block are one copy: its address and words.
fn runs(rows: &[Row<'_>]) -> Vec<(u64, usize)> {
    let mut runs: Vec<(u64, usize, usize)> = Vec::new();
    for Row { block, at, words } in rows {
        match runs.last_mut() {
            Some((last, start, length)) if last == block && *start + *length == *at => *length += words.len(),
            _ => runs.push((*block, *at, words.len())),
        }
    }
    runs.into_iter().map(|(block, at, words)| (block + 8 * at as u64, words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_behind_each_other_in_a_block_are_one_copy() {
        let places = [(4096, 0, 8), (4096, 8, 4), (4096, 16, 8), (8192, 0, 4), (8192, 4, 4), (4096, 0, 1)];
        let mut room: Vec<Vec<u64>> = places.iter().map(|place| vec![0; place.2]).collect();
        let rows = places.iter().zip(&mut room).map(|(&(block, at, _), words)| Row { block, at, words });
        let rows: Vec<Row<'_>> = rows.collect();
        assert_eq!(runs(&rows), [(4096, 12), (4096 + 128, 8), (8192, 8), (4096, 1)]);
        // Blocks that have neighbouring addresses stay two: a driver takes no copy out of two.
        let mut words = [[0; 8]; 2];
        let [first, second] = &mut words;
        assert_eq!(runs(&[Row { block: 64, at: 0, words: first }, Row { block: 128, at: 0, words: second }]).len(), 2);
        assert!(runs(&[]).is_empty());
    }
}
