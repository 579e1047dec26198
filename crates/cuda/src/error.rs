//! What can go wrong on a card.

use thiserror::Error;

/// Errors of devices; each names its cause.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernels could not be compiled for the emulator.
    #[error("the emulator needs a C++ compiler: install g++, or name another one in CXX ({why})")]
    Compiler {
        /// What the compiler said, or why it did not run.
        why: String,
    },
    /// What was compiled could not be loaded.
    #[error("the emulator cannot load its kernels from {folder}: name a folder for programs in TMPDIR ({why})")]
    Load {
        /// The folder of temporary files.
        folder: String,
        /// What the system said.
        why: String,
    },
    /// No memory is left on the device.
    #[error("the device has no {bytes} bytes left: use fewer inputs side by side")]
    Memory {
        /// Bytes of the block that was wanted.
        bytes: usize,
    },
    /// A kernel did what kernels must not: an error of ours.
    #[error("kernel {kernel}: {what}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What happened.
        what: String,
    },
    /// A ring whose degree has no transform on a device.
    #[error("a device has transforms of degree 2^9 to 2^17, not 2^{log_n}: keep this ring on the CPU")]
    Degree {
        /// log2 of the degree.
        log_n: u32,
    },
    /// A blind rotation of a shape that no kernel has.
    #[error(
        "a device has no blind rotation of degree 2^{log_n} with {columns} columns and {levels} levels: keep it on the CPU, or \
         take the parameters gate, cggi, ginx3, lut2, lut3, lut4 or wide"
    )]
    Rotation {
        /// log2 of the degree.
        log_n: u32,
        /// Polynomials of an accumulator.
        columns: usize,
        /// Digits of a coefficient.
        levels: usize,
    },
    /// Polynomials that depend on a secret key stay on the host.
    #[error("a secret polynomial stays on the host: use keys that are encrypted")]
    Secret,
    /// What the ring says.
    #[error(transparent)]
    Ring(#[from] aglet_ring::Error),
}

impl From<Error> for aglet_ring::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Ring(error) => error,
            error => Self::Device { reason: error.to_string() },
        }
    }
}
