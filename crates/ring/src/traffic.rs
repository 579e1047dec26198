//! What goes to a card and comes from it.

use std::ops::{Add, Sub};

/// Calls of a card, and bytes of copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Kernels that were launched.
    pub launches: u64,
    /// Copies there: operands, keys, and the lists that launches read.
    pub writes: u64,
    /// Those of more than four megabytes, which wait until all that was launched before is done. So does whoever has words come here.
    pub waits: u64,
    /// The bytes of copies there.
    pub bytes_up: u64,
    /// Times that words came here: all rows of all polynomials that an operation wants at a time, up to 16 MB.
    pub reads: u64,
    /// Their bytes.
    pub bytes_down: u64,
}

impl Traffic {
    fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            launches: f(self.launches, other.launches),
            writes: f(self.writes, other.writes),
            waits: f(self.waits, other.waits),
            bytes_up: f(self.bytes_up, other.bytes_up),
            reads: f(self.reads, other.reads),
            bytes_down: f(self.bytes_down, other.bytes_down),
        }
    }
    /// Copies that wait for the card, there and here.
    #[must_use]
    pub fn synchronous(&self) -> u64 {
        self.waits + self.reads
    }
}

impl Add for Traffic {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, |x, y| x + y)
    }
}

/// What came since: of counts that only grow.
impl Sub for Traffic {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        self.with(before, |x, y| x - y)
    }
}
