//! Faults of blind rotations.

use thiserror::Error;

/// What is wrong with what a blind rotation is given.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RotationFault {
    /// Neither one start for each ciphertext nor one for all.
    #[error("{starts} starts for {ciphertexts} ciphertexts; give as many for each, or one for all")]
    Starts {
        /// Starts given.
        starts: usize,
        /// Ciphertexts given.
        ciphertexts: usize,
    },
    /// More interleaved tables than a start has room for.
    #[error("2^{log_tables} tables do not fit {entries} entries; give fewer")]
    Tables {
        /// log2 of their number.
        log_tables: u32,
        /// Entries of a start, N.
        entries: usize,
    },
    /// Interleaved tables under a method whose exponents cannot be multiples of a power of two.
    #[error("method {method} rotates by odd exponents only, so tables cannot interleave; use another method")]
    Odd {
        /// Name of the method.
        method: &'static str,
    },
}
