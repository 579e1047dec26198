//! The memory of a process beside keys and encoded maps.

use aglet_ring::Demand;

/// The memory of a process that is not counted elsewhere: an interpreter with numpy, this library, and what allocators
/// keep after plans and matrices were made. Measured.
const PROCESS: usize = 100 << 20;

/// How much more buffers than in the order of one thread are out at once where two threads or more run, in percent. Measured.
const AT_ONCE: usize = 12;

/// Bytes of buffers that are out at once.
pub(crate) fn at_once(scratch: &Demand) -> usize {
    scratch.bytes() / 100 * (100 + AT_ONCE)
}

/// The process itself, and of a ring of degree `n` with so many primes the tables, the secret key, and a public key of so many limbs.
pub(crate) fn base(n: usize, primes: usize, public: usize) -> usize {
    // A prime has a row of the secret key, and tables as large as one.
    PROCESS + (2 * primes + 2 * public) * n * 8
}
