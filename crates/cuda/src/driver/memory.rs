//! Blocks of a card's memory. A pool of the driver serves them in the order of the stream: no call waits, and what is given back is had again
//! by work that is launched later. Where a driver has no pools, blocks that are in nobody's use serve requests of their size.

use super::functions::{Handle, OUT_OF_MEMORY, WITHHELD};
use super::sequence::Sequence;
use crate::Error;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};

/// Bytes that every block is a multiple of: what the driver aligns to.
const GRAIN: usize = 512;
/// Whether a device has pools, as `cuda.h` numbers its attributes, and attributes of pools.
const POOLS: c_int = 115;
const RELEASE_THRESHOLD: c_int = 4;
const RESERVED: c_int = 5;
const USED: c_int = 7;

/// What a pool is to be: `CUmemPoolProps` of the driver.
#[repr(C)]
pub(super) struct PoolShape {
    /// Memory that stays where it is.
    allocation: c_uint,
    handles: c_uint,
    /// On a device, and which.
    place: c_uint,
    device: c_int,
    /// None, no limit, and what must be 0.
    others: [u64; 9],
}

/// Where blocks come from.
pub(super) enum Memory {
    /// A pool of this card's own.
    Pool(Handle),
    /// Blocks of the driver that are in nobody's use, by their bytes.
    Idle(BTreeMap<usize, Vec<u64>>),
}

/// The bytes of a block of so many words.
pub(super) fn bytes(words: usize) -> usize {
    (8 * words.max(1)).next_multiple_of(GRAIN)
}

impl Default for Memory {
    fn default() -> Self {
        Self::Idle(BTreeMap::new())
    }
}

impl Memory {
    /// On a device with so many bytes. A pool gives memory back that is in nobody's use where it has more than three quarters of them: other
    /// programs have a share of the card, and keys and work that is repeated stay.
    pub(super) fn new(on: &Sequence, device: c_int, whole: u64) -> Result<Self, Error> {
        // SAFETY: `found` is where the number goes.
        let pools = on.functions.number("cuDeviceGetAttribute", |found: *mut c_int| unsafe {
            (on.functions.attribute)(found, POOLS, device)
        })?;
        if pools == 0 {
            return Ok(Self::default());
        }
        let shape = PoolShape { allocation: 1, handles: 0, place: 1, device, others: [0; 9] };
        let mut pool = 0;
        // SAFETY: `pool` is where the handle goes; the shape has the words of the driver's, and is only read.
        match unsafe { (on.functions.pool)(&mut pool, &raw const shape) } {
            status if WITHHELD.contains(&status) => return Ok(Self::default()),
            status => on.functions.done("cuMemPoolCreate", status)?,
        }
        let made = Self::Pool(pool);
        match Self::serves(on, pool, whole / 4 * 3) {
            Ok(true) => Ok(made),
            served => {
                let closed = made.close(on);
                served.and(closed).map(|()| Self::default())
            }
        }
    }

    /// Whether a pool that is to keep so many bytes gives a block: what is said to exist may not be there when it is wanted.
    fn serves(on: &Sequence, pool: Handle, mut most: u64) -> Result<bool, Error> {
        // SAFETY: the pool was made, and this attribute has 64 bits.
        let status = unsafe { (on.functions.set_pool)(pool, RELEASE_THRESHOLD, (&raw mut most).cast()) };
        on.functions.done("cuMemPoolSetAttribute", status)?;
        let mut first = 0;
        // SAFETY: `first` is where the address goes, and the pool was made.
        match unsafe { (on.functions.take)(&mut first, GRAIN, pool, on.stream) } {
            status if WITHHELD.contains(&status) => Ok(false),
            OUT_OF_MEMORY => Ok(true),
            status => {
                on.functions.done("cuMemAllocFromPoolAsync", status)?;
                // SAFETY: the block is one of the pool's, and nobody has it after this.
                on.functions.done("cuMemFreeAsync", unsafe { (on.functions.leave)(first, on.stream) })?;
                Ok(true)
            }
        }
    }

    /// A block; none where the card has no more.
    pub(super) fn take(&mut self, on: &Sequence, bytes: usize) -> Result<Option<u64>, Error> {
        if let Self::Idle(blocks) = self {
            if let Some(address) = blocks.get_mut(&bytes).and_then(Vec::pop) {
                return Ok(Some(address));
            }
        }
        if let Some(address) = self.ask(on, bytes)? {
            return Ok(Some(address));
        }
        self.give_back(on)?;
        self.ask(on, bytes)
    }

    fn ask(&self, on: &Sequence, bytes: usize) -> Result<Option<u64>, Error> {
        let mut address = 0;
        let (call, status) = match self {
            // SAFETY: `address` is where the address goes, and the pool was made.
            Self::Pool(pool) => {
                ("cuMemAllocFromPoolAsync", unsafe { (on.functions.take)(&mut address, bytes, *pool, on.stream) })
            }
            // SAFETY: as above.
            Self::Idle(_) => ("cuMemAlloc", unsafe { (on.functions.allocate)(&mut address, bytes) }),
        };
        match status {
            OUT_OF_MEMORY => Ok(None),
            status => on.functions.done(call, status).map(|()| Some(address)),
        }
    }

    /// Leaves a block. Work that was launched is done before work that has it next: all of it is one sequence.
    pub(super) fn leave(&mut self, on: &Sequence, address: u64, bytes: usize) -> Result<(), Error> {
        match self {
            // SAFETY: the block is one of the pool's, and nobody has it after this.
            Self::Pool(_) => on.functions.done("cuMemFreeAsync", unsafe { (on.functions.leave)(address, on.stream) }),
            Self::Idle(blocks) => {
                blocks.entry(bytes).or_default().push(address);
                Ok(())
            }
        }
    }

    /// Bytes that are had from the driver and in nobody's use.
    pub(super) fn idle_bytes(&self, on: &Sequence) -> Result<u64, Error> {
        match self {
            Self::Pool(pool) => {
                let bytes = |which| {
                    on.functions.number("cuMemPoolGetAttribute", |found: *mut u64| {
                        // SAFETY: the pool was made, and these attributes have 64 bits.
                        unsafe { (on.functions.pool_attribute)(*pool, which, found.cast()) }
                    })
                };
                Ok(bytes(RESERVED)?.saturating_sub(bytes(USED)?))
            }
            Self::Idle(blocks) => Ok(blocks.iter().map(|(bytes, blocks)| bytes * blocks.len()).sum::<usize>() as u64),
        }
    }

    /// Gives what is in nobody's use back to the driver, after all work that was launched.
    pub(super) fn give_back(&mut self, on: &Sequence) -> Result<(), Error> {
        // What was left is in use until the work before it is done, and `cuMemFree` need not wait for that.
        on.wait()?;
        match self {
            // SAFETY: the pool was made.
            Self::Pool(pool) => on.functions.done("cuMemPoolTrimTo", unsafe { (on.functions.trim)(*pool, 0) }),
            Self::Idle(blocks) => std::mem::take(blocks).into_values().flatten().try_for_each(|address| {
                // SAFETY: nobody uses an idle block, and it is in the list once.
                on.functions.done("cuMemFree", unsafe { (on.functions.free)(address) })
            }),
        }
    }

    /// Gives everything back: nobody has a block any more.
    pub(super) fn close(mut self, on: &Sequence) -> Result<(), Error> {
        match self {
            // SAFETY: the pool was made, and its handle goes here.
            Self::Pool(pool) => on.functions.done("cuMemPoolDestroy", unsafe { (on.functions.drop_pool)(pool) }),
            Self::Idle(_) => self.give_back(on),
        }
    }
}
