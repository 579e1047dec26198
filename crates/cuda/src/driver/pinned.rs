//! Memory of this machine that the card reads and writes by itself: a block, and an event behind its copies.

use super::functions::{Functions, Handle, OUT_OF_MEMORY, UNTIMED, WITHHELD};
use super::sequence::Sequence;
use crate::Error;
use std::ffi::c_void;

/// A block of pinned memory.
pub(super) struct Pinned {
    /// Its address here.
    memory: Handle,
    event: Handle,
}

impl Pinned {
    /// Pins so many words; none where the system has none to pin.
    pub(super) fn new(functions: &Functions, words: usize) -> Result<Option<Self>, Error> {
        let mut memory = 0;
        // SAFETY: `memory` is where the address goes.
        match unsafe { (functions.pin)(&mut memory, 8 * words, 0) } {
            status if status == OUT_OF_MEMORY || WITHHELD.contains(&status) => return Ok(None),
            status => functions.done("cuMemHostAlloc", status)?,
        }
        // SAFETY: `found` is where the handle goes.
        let event = functions.number("cuEventCreate", |found| unsafe { (functions.event)(found, UNTIMED) });
        match event {
            Ok(event) => Ok(Some(Self { memory, event })),
            Err(error) => {
                let _ = given_back(functions, memory);
                Err(error)
            }
        }
    }

    /// The address of a word here.
    pub(super) fn at(&self, word: usize) -> *mut u64 {
        std::ptr::with_exposed_provenance_mut(self.memory + 8 * word)
    }

    /// Notes that the copies which were asked for so far are those of the block.
    pub(super) fn record(&self, sequence: &Sequence) -> Result<(), Error> {
        sequence.record(self.event)
    }
    /// Waits until they are done.
    pub(super) fn wait(&self, sequence: &Sequence) -> Result<(), Error> {
        sequence.wait_for(self.event)
    }

    /// Gives the memory back: no copy is left that meets it.
    pub(super) fn unpin(self, functions: &Functions) -> Result<(), Error> {
        // SAFETY: the event is one of the driver's, and goes with the block.
        functions.done("cuEventDestroy", unsafe { (functions.drop_event)(self.event) })?;
        given_back(functions, self.memory)
    }
}

fn given_back(functions: &Functions, memory: Handle) -> Result<(), Error> {
    let memory: *mut c_void = std::ptr::with_exposed_provenance_mut(memory);
    // SAFETY: the driver gave the memory, and no copy is left that meets it.
    functions.done("cuMemFreeHost", unsafe { (functions.unpin)(memory) })
}
