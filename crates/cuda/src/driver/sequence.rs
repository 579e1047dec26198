//! The one sequence of a card's work: a stream of its own, which shares nothing with the default one that other libraries of a process use.

use super::functions::{Functions, Handle, NON_BLOCKING};
use crate::Error;

/// The functions of the driver, and the stream of all launches, copies and blocks.
pub(super) struct Sequence {
    pub(super) functions: Functions,
    pub(super) stream: Handle,
}

impl Sequence {
    /// Without a stream yet.
    pub(super) fn new(functions: Functions) -> Self {
        Self { functions, stream: 0 }
    }

    /// Makes the stream, in the context of the card.
    pub(super) fn made(&self) -> Result<Handle, Error> {
        let mut stream = 0;
        // SAFETY: `stream` is where the handle goes.
        let status = unsafe { (self.functions.stream)(&mut stream, NON_BLOCKING) };
        self.functions.started("cuStreamCreate", status).map(|()| stream)
    }

    /// Waits for all work.
    pub(super) fn wait(&self) -> Result<(), Error> {
        // SAFETY: the stream was made.
        self.functions.done("cuStreamSynchronize", unsafe { (self.functions.wait_for_stream)(self.stream) })
    }

    /// Notes in an event what was asked for so far.
    pub(super) fn record(&self, event: Handle) -> Result<(), Error> {
        // SAFETY: the event and the stream are those of one context.
        self.functions.done("cuEventRecord", unsafe { (self.functions.record)(event, self.stream) })
    }
    /// Waits for what an event notes; for nothing, if it was never recorded.
    pub(super) fn wait_for(&self, event: Handle) -> Result<(), Error> {
        // SAFETY: the event is one of the driver's.
        self.functions.done("cuEventSynchronize", unsafe { (self.functions.wait)(event) })
    }

    /// Asks for a copy to the card.
    ///
    /// # Safety
    /// A block of the card has room for the words at the address, and they are where they are said to be until the copy is done.
    pub(super) unsafe fn copy_there(&self, address: u64, from: *const u64, words: usize) -> Result<(), Error> {
        // SAFETY: the caller sees to it.
        let status = unsafe { (self.functions.write)(address, from.cast(), 8 * words, self.stream) };
        self.functions.done("cuMemcpyHtoDAsync", status)
    }
    /// Asks for a copy from the card.
    ///
    /// # Safety
    /// A block of the card has the words at the address, and there is room for them where they go until the copy is done.
    pub(super) unsafe fn copy_back(&self, to: *mut u64, address: u64, words: usize) -> Result<(), Error> {
        // SAFETY: the caller sees to it.
        let status = unsafe { (self.functions.read)(to.cast(), address, 8 * words, self.stream) };
        self.functions.done("cuMemcpyDtoHAsync", status)
    }

    /// Gives the stream back, which has no work any more.
    pub(super) fn close(&self) -> Result<(), Error> {
        // SAFETY: the stream was made, and nobody uses it after this.
        self.functions.done("cuStreamDestroy", unsafe { (self.functions.drop_stream)(self.stream) })
    }
}
