//! What runs kernels, and words in its memory.

use crate::{Arithmetic, Error};
use aglet_ring::traffic::Traffic;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Words that pinned memory has room for on their way there. Longer lists wait for what was asked for before.
pub(crate) const STAGED: usize = 1 << 19;
/// The most words that come here with one wait.
pub(crate) const LANDED: usize = 1 << 21;

/// Words of a device that are to come here.
#[derive(Debug)]
pub struct Row<'a> {
    /// The address of a block.
    pub block: u64,
    /// The first of them in the block.
    pub at: usize,
    /// Where they go.
    pub words: &'a mut [u64],
}

/// A card: memory, and launches of the kernels of this crate. [`Driver`](crate::Driver) is one; tests have an emulated one.
///
/// Calls come from any thread. They take effect in the order in which they are made.
pub trait Launcher: Debug + Send + Sync {
    /// What a user would call it.
    fn name(&self) -> String;
    /// The arithmetic that is quicker there, for primes that either serves.
    fn arithmetic(&self) -> Arithmetic;
    /// Blocks `y` or `z` of a grid that it takes, at least one: cards number them by 16 bits.
    fn most_rows(&self) -> usize {
        usize::from(u16::MAX)
    }
    /// Bytes that could be had there now.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like.
    fn free_bytes(&self) -> Result<u64, Error>;
    /// The address of so many words that nobody has written.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn allocate(&self, words: usize) -> Result<u64, Error>;
    /// Gives back what [`Launcher::allocate`] gave. Kernels that were launched before may still read it.
    fn free(&self, address: u64, words: usize);
    /// Copies words there, into a block. They may change when this returns, whether or not the card has them already; up to four megabytes are
    /// copied without a wait for what was launched before.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like.
    fn write(&self, address: u64, words: &[u64]) -> Result<(), Error>;
    /// Copies rows here, after the kernels that were launched before, in parts of two million words or less: a wait for each, while the card copies
    /// the next one. Rows of a part that lie behind each other in a block are one copy.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like: what kernels did wrong is often known here only.
    fn read(&self, parts: Vec<Vec<Row<'_>>>) -> Result<(), Error>;
    /// Waits for what was launched, on a card that was opened to be measured: asked at the end of stages.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like.
    fn wait_for_all(&self) -> Result<(), Error> {
        Ok(())
    }
    /// Runs a kernel on `grid` blocks of so many threads, with so many bytes of shared memory: parameters are the words of its structure.
    ///
    /// # Errors
    /// [`Error::Kernel`], [`Error::Lost`] and the like.
    fn launch(&self, kernel: &str, grid: [u32; 3], shape: (u32, u32), parameters: &[u64]) -> Result<(), Error>;
}

#[derive(Debug, Default)]
struct Counts {
    launches: AtomicU64,
    waits: AtomicU64,
    up: [AtomicU64; 2],
    down: [AtomicU64; 2],
}

impl Counts {
    fn copied([calls, bytes]: &[AtomicU64; 2], words: usize) {
        calls.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(8 * words as u64, Ordering::Relaxed);
    }
    fn so_far(&self) -> Traffic {
        let found = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let ([writes, bytes_up], [reads, bytes_down]) =
            (self.up.each_ref().map(found), self.down.each_ref().map(found));
        Traffic { launches: found(&self.launches), writes, waits: found(&self.waits), bytes_up, reads, bytes_down }
    }
}

/// A launcher that many things share: clones are the same one.
#[derive(Clone, Debug)]
pub struct Device(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    launcher: Box<dyn Launcher>,
    /// Bytes of the blocks that somebody holds, and the most that were held at one time.
    held: AtomicU64,
    most: AtomicU64,
    /// [`Device::room`] as it was found last.
    room: AtomicU64,
    traffic: Counts,
}

impl Device {
    /// Of a launcher.
    pub fn new(launcher: impl Launcher + 'static) -> Self {
        let ([held, most, room], traffic) = ([0; 3].map(AtomicU64::new), Counts::default());
        Self(Arc::new(Shared { launcher: Box::new(launcher), held, most, room, traffic }))
    }

    /// What a user would call it.
    #[must_use]
    pub fn name(&self) -> String {
        self.0.launcher.name()
    }
    /// The arithmetic that is quicker there.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        self.0.launcher.arithmetic()
    }

    /// So many rows in parts that a launch takes: where each begins, and its rows.
    pub(crate) fn parts(&self, rows: usize) -> impl Iterator<Item = (usize, u32)> {
        let most = self.0.launcher.most_rows();
        (0..rows).step_by(most).map(move |start| (start, most.min(rows - start) as u32))
    }

    /// Bytes of all blocks that are held there.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.0.held.load(Ordering::Relaxed)
    }
    /// The most that were held at one time since the last call.
    #[must_use]
    pub fn take_most_bytes(&self) -> u64 {
        self.0.most.swap(self.held_bytes(), Ordering::Relaxed)
    }
    /// Launches and copies so far; on a card that was opened to be measured, when they are done.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        // What went wrong is said by the next call.
        let _ = self.0.launcher.wait_for_all();
        self.0.traffic.so_far()
    }
    /// Bytes that may be held there in all: those that are, and those that could be had.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like.
    pub fn room(&self) -> Result<u64, Error> {
        let room = self.held_bytes() + self.0.launcher.free_bytes()?;
        self.0.room.store(room, Ordering::Relaxed);
        Ok(room)
    }
    /// What could be had there, where it is less than so many bytes. Where twice as many could be had by what was found last, a card is not
    /// asked: that costs a call of its driver.
    ///
    /// # Errors
    /// [`Error::Lost`] and the like.
    pub fn lacks(&self, bytes: u64) -> Result<Option<u64>, Error> {
        let free = |room: u64| room.saturating_sub(self.held_bytes());
        if bytes <= free(self.0.room.load(Ordering::Relaxed)) / 2 {
            return Ok(None);
        }
        let found = free(self.room()?);
        Ok((bytes > found).then_some(found))
    }

    /// Whether it is the same one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Words that nobody has written.
    pub(crate) fn allocate(&self, words: usize) -> Result<Block, Error> {
        let address = self.0.launcher.allocate(words)?;
        let bytes = 8 * words as u64;
        let held = self.0.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.0.most.fetch_max(held, Ordering::Relaxed);
        Ok(Block { address, words, device: self.clone() })
    }

    /// A block with these words.
    pub(crate) fn upload(&self, words: &[u64]) -> Result<Block, Error> {
        let block = self.allocate(words.len())?;
        block.write(0, words)?;
        Ok(block)
    }

    /// Copies rows here, with one wait for each [`LANDED`] words.
    pub(crate) fn read(&self, rows: Vec<Row<'_>>) -> Result<(), Error> {
        let parts = cut(rows, LANDED);
        for part in &parts {
            Counts::copied(&self.0.traffic.down, part.iter().map(|row| row.words.len()).sum());
        }
        self.0.launcher.read(parts)
    }

    /// [`Launcher::launch`].
    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: [u32; 3],
        shape: (u32, u32),
        parameters: &[u64],
    ) -> Result<(), Error> {
        self.0.traffic.launches.fetch_add(1, Ordering::Relaxed);
        self.0.launcher.launch(kernel, grid, shape, parameters)
    }
}

/// Rows in parts of so many words at most: one may be in several. Empty rows are in none.
fn cut(rows: Vec<Row<'_>>, most: usize) -> Vec<Vec<Row<'_>>> {
    let (mut parts, mut left) = (Vec::<Vec<Row<'_>>>::new(), 0);
    for Row { block, mut at, mut words } in rows {
        while !words.is_empty() {
            if left == 0 {
                parts.push(Vec::new());
                left = most;
            }
            let (first, rest) = words.split_at_mut(words.len().min(left));
            let next = at + first.len();
            left -= first.len();
            parts.last_mut().expect("one was begun").push(Row { block, at, words: first });
            (at, words) = (next, rest);
        }
    }
    parts
}

/// Words in the memory of a device.
pub(crate) struct Block {
    address: u64,
    words: usize,
    device: Device,
}

impl Block {
    /// The address of word `at`, one of the block.
    pub(crate) fn address(&self, at: usize) -> u64 {
        assert!(at < self.words, "a block has the word");
        self.address + 8 * at as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        8 * self.words as u64
    }
    /// Writes words from `at` on.
    pub(crate) fn write(&self, at: usize, words: &[u64]) -> Result<(), Error> {
        assert!(at + words.len() <= self.words, "a block has room for what is written");
        let traffic = &self.device.0.traffic;
        Counts::copied(&traffic.up, words.len());
        traffic.waits.fetch_add(u64::from(words.len() > STAGED), Ordering::Relaxed);
        self.device.0.launcher.write(self.address + 8 * at as u64, words)
    }

    /// Words from `at` on as they are asked of [`Device::read`], while the block is there.
    pub(crate) fn row<'a>(&self, at: usize, words: &'a mut [u64]) -> Row<'a> {
        assert!(at + words.len() <= self.words, "a block has what is read");
        Row { block: self.address, at, words }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.device.0.launcher.free(self.address, self.words);
        self.device.0.held.fetch_sub(8 * self.words as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_into_parts_that_have_every_word_once() {
        let lengths = [3, 0, 5, 1, 7, 12];
        let mut rows: Vec<Vec<u64>> = lengths.iter().map(|&length| vec![0; length]).collect();
        let list = rows.iter_mut().enumerate().map(|(i, words)| Row { block: 1000 * i as u64, at: 7, words });
        let parts = cut(list.collect(), 4);
        // All but the last are full.
        let sizes: Vec<usize> = parts.iter().map(|part| part.iter().map(|row| row.words.len()).sum()).collect();
        assert_eq!(sizes, [4; 7]);
        for Row { block, at, words } in parts.into_iter().flatten() {
            assert!(!words.is_empty());
            words.iter_mut().zip(at as u64..).for_each(|(word, at)| *word += block + at);
        }
        for (i, row) in rows.iter().enumerate() {
            assert!(row.iter().zip(7..).all(|(&word, at)| word == 1000 * i as u64 + at), "row {i}: {row:?}");
        }
        assert!(cut(vec![Row { block: 8, at: 0, words: &mut [] }], 4).is_empty());
    }
}
