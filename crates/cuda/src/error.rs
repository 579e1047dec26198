//! What can go wrong on a card.

use thiserror::Error;

/// Errors of devices; each names its cause.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no driver.
    #[error(
        "there is no driver of NVIDIA cards: install it, name its library in AGLET_CUDA_DRIVER, or take mode=\"auto\", which does without ({library}: {why})"
    )]
    Driver {
        /// The library that was looked for.
        library: String,
        /// What the system said.
        why: String,
    },
    /// A library that is no driver, or one of long ago.
    #[error("the driver {library} has no {symbol}: install NVIDIA's driver 570 or later, or name its library in AGLET_CUDA_DRIVER")]
    Symbol {
        /// The library.
        library: String,
        /// The function that it lacks.
        symbol: String,
    },
    /// The library that programs are linked with where no driver is.
    #[error("{library} is the stub that programs are linked with, no driver: take its folder out of LD_LIBRARY_PATH")]
    Stub {
        /// The library.
        library: String,
    },
    /// The driver does not know the instructions of our kernels.
    #[error("the driver serves CUDA {found}, and {needed} is needed: install NVIDIA's driver 570 or later")]
    OldDriver {
        /// The version of CUDA that it serves.
        found: String,
        /// The one that is needed.
        needed: String,
    },
    /// The driver, or the card that was chosen, does not start.
    #[error("{call} fails with {status}: see whether nvidia-smi runs, and whether other programs have the card for themselves")]
    Start {
        /// The function of the driver.
        call: &'static str,
        /// What it said.
        status: String,
    },
    /// The driver refuses the kernels.
    #[error("the driver does not take the kernels ({status}): install NVIDIA's driver 570 or later")]
    Ptx {
        /// What it said.
        status: String,
    },
    /// No card.
    #[error("the driver finds no card: look at nvidia-smi, and at CUDA_VISIBLE_DEVICES")]
    NoCard,
    /// A number that no card has.
    #[error("there is no card {index}: choose a device_id of {cards}")]
    Index {
        /// The number.
        index: usize,
        /// The cards.
        cards: String,
    },
    /// A card that is too old.
    #[error("the card {card} is too old: 8.0 or later is needed")]
    Capability {
        /// The card.
        card: String,
    },
    /// No memory is left on the device.
    #[error(
        "the device has no {bytes} bytes left, {free} are free: use fewer inputs side by side, medium or small bootstrap keys, or end \
         other programs there"
    )]
    Memory {
        /// Bytes of the block that was wanted.
        bytes: usize,
        /// Bytes that are free.
        free: usize,
    },
    /// The card failed, and with it all that it had.
    #[error(
        "the card was lost in {call} ({status}), with all that it had: start a new process, and look at nvidia-smi"
    )]
    Lost {
        /// The function of the driver.
        call: &'static str,
        /// What it said.
        status: String,
    },
    /// A child of a fork uses its parent's card.
    #[error("a card that was opened before a fork is none of the child's: make the engine in the child, or start processes by spawn")]
    Forked,
    /// The card computes wrong words.
    #[error("{card} computes wrong words in the self-test of {what}: do not use it, and report it")]
    Wrong {
        /// The card.
        card: String,
        /// The operation.
        what: &'static str,
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
         take the parameters gate, cggi, ginx3, lut2, lut3, lut4, wide or toy-lut4"
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
            Error::Memory { bytes, free } => Self::DeviceMemory { bytes, free },
            error => Self::Device { reason: error.to_string() },
        }
    }
}
