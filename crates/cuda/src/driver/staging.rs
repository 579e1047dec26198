//! Copies to the card that nobody waits for: words are put down in pinned memory, from which the card takes them in its own time.

use super::functions::{Functions, Handle, OUT_OF_MEMORY, UNTIMED, WITHHELD};
use super::STREAM;
use crate::launcher::STAGED;
use crate::Error;
use std::ffi::c_void;

/// Blocks of pinned memory, filled in turn. While one is filled the card takes what is in the others.
const BLOCKS: usize = 4;

/// A ring of blocks of [`STAGED`] words. A block is filled anew after the card has taken all that was in it: an event behind its last copy
/// says so.
pub(super) struct Staging {
    /// The address of the first block here.
    memory: Handle,
    /// Of each block one.
    events: Vec<Handle>,
    /// The block that is being filled, and its words in use.
    block: usize,
    used: usize,
}

impl Staging {
    /// Pins memory; none where the system has none to pin.
    pub(super) fn new(functions: &Functions) -> Result<Option<Self>, Error> {
        let mut memory = 0;
        // SAFETY: `memory` is where the address goes.
        match unsafe { (functions.pin)(&mut memory, 8 * STAGED * BLOCKS, 0) } {
            status if status == OUT_OF_MEMORY || WITHHELD.contains(&status) => return Ok(None),
            status => functions.done("cuMemHostAlloc", status)?,
        }
        let mut staging = Self { memory, events: Vec::new(), block: 0, used: 0 };
        for _ in 0..BLOCKS {
            // SAFETY: `found` is where the handle goes.
            match functions.number("cuEventCreate", |found| unsafe { (functions.event)(found, UNTIMED) }) {
                Ok(event) => staging.events.push(event),
                Err(error) => {
                    let _ = staging.give_back(functions);
                    return Err(error);
                }
            }
        }
        Ok(Some(staging))
    }

    /// Has the card copy words to an address, after what it was asked for before: at most [`STAGED`] of them. They may change when this returns.
    pub(super) fn write(&mut self, functions: &Functions, address: u64, words: &[u64]) -> Result<(), Error> {
        if self.used + words.len() > STAGED {
            self.next_block(functions)?;
        }
        let at: *mut u64 = std::ptr::with_exposed_provenance_mut(self.memory + 8 * (STAGED * self.block + self.used));
        // SAFETY: the block has room for the words behind those in use, and the card has taken what was there before. It is the driver's memory.
        unsafe { at.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
        self.used += words.len();
        // SAFETY: a block of the card has room for the words: callers see to it. They stay where they are until the event behind them came.
        let status = unsafe { (functions.write_later)(address, at.cast(), size_of_val(words), STREAM) };
        functions.done("cuMemcpyHtoDAsync", status)
    }

    /// Leaves the block that is being filled, and waits until the next one has been taken.
    fn next_block(&mut self, functions: &Functions) -> Result<(), Error> {
        // SAFETY: the event is one of the driver's.
        functions.done("cuEventRecord", unsafe { (functions.record)(self.events[self.block], STREAM) })?;
        (self.block, self.used) = ((self.block + 1) % BLOCKS, 0);
        // SAFETY: as above. An event that was never recorded is not waited for.
        functions.done("cuEventSynchronize", unsafe { (functions.wait)(self.events[self.block]) })
    }

    /// Gives the memory back when the card has taken all that is in it.
    pub(super) fn unpin(mut self, functions: &Functions) -> Result<(), Error> {
        // SAFETY: as above.
        functions.done("cuEventRecord", unsafe { (functions.record)(self.events[self.block], STREAM) })?;
        // SAFETY: as above. What was filled before was copied before.
        functions.done("cuEventSynchronize", unsafe { (functions.wait)(self.events[self.block]) })?;
        self.give_back(functions)
    }

    fn give_back(&mut self, functions: &Functions) -> Result<(), Error> {
        for event in self.events.drain(..) {
            // SAFETY: the event is one of the driver's, and in the list once.
            functions.done("cuEventDestroy", unsafe { (functions.drop_event)(event) })?;
        }
        let memory: *mut c_void = std::ptr::with_exposed_provenance_mut(self.memory);
        // SAFETY: the driver gave the memory, and no copy is left that reads it.
        functions.done("cuMemFreeHost", unsafe { (functions.unpin)(memory) })
    }
}
