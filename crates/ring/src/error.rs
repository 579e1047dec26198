//! Errors of the ring floor.

/// What can go wrong on the ring floor; every message names the fix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A modulus is even, too small or too large for the kernels.
    #[error("The modulus {q} cannot be used; take an odd prime between 3 and 2^61.")]
    BadModulus {
        /// The refused modulus.
        q: u64,
    },
    /// A modulus does not admit a negacyclic transform of this size.
    #[error("The modulus {q} has no primitive 2N-th root of unity for N = {n}; take a prime that is 1 modulo {}.", 2 * n)]
    NoRootOfUnity {
        /// The refused modulus.
        q: u64,
        /// The ring degree.
        n: usize,
    },
    /// The ring degree is not one that the transforms serve.
    #[error("The ring degree 2^{log_n} is not supported; use log_n between 6 and 17.")]
    BadDegree {
        /// Base-2 logarithm of the refused degree.
        log_n: u32,
    },
    /// The degree is not one that the small transforms serve.
    #[error("The degree 2^{log_n} of a small transform is not supported; use log_n between 6 and 12.")]
    BadSmallDegree {
        /// Base-2 logarithm of the refused degree.
        log_n: u32,
    },
    /// `AGLET_BACKEND` names a backend that does not exist or that this CPU lacks.
    #[error(
        "The backend \"{name}\" is not available: {reason}; set AGLET_BACKEND to one of {available}, or unset it."
    )]
    Backend {
        /// The name asked for.
        name: String,
        /// Why it cannot be had.
        reason: String,
        /// The backends that work here, best first.
        available: String,
    },
    /// No prime is left for a request.
    #[error("No prime congruent to 1 modulo {modulus} is left near 2^{bits:.1}; ask for fewer or larger primes.")]
    NoPrime {
        /// Twice the ring degree.
        modulus: u64,
        /// Base-2 logarithm of the wanted size.
        bits: f64,
    },
    /// A number that does not fit a word.
    #[error("A coefficient of 2^{log2:.1} does not fit 62 bits; use smaller values or a smaller scale.")]
    TooLarge {
        /// Base-2 logarithm of the coefficient.
        log2: f64,
    },
    /// Memory for a polynomial could not be had.
    #[error("The system refused {bytes} bytes for a polynomial; free memory, or use smaller keys.")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// A card failed in the middle of an operation.
    #[error("The card failed: {reason}. There is no result; inputs that this machine has are as they were, and may run on the CPU.")]
    Device {
        /// What the card, or its driver, said.
        reason: String,
    },
    /// A card has less left, in the middle of an operation, than it had when it was asked.
    #[error(
        "The card has no {bytes} bytes left in the middle of an operation, {free} are free: another program took them, or another engine of this \
         one. There is no result, and nothing is lost: inputs and keys are as they were. End other programs there, use fewer inputs \
         side by side or smaller bootstrap keys, and call again."
    )]
    DeviceMemory {
        /// Bytes of the block that was wanted.
        bytes: usize,
        /// Bytes that are free.
        free: usize,
    },
    /// The operating system's random source failed.
    #[error(
        "The random source of the operating system failed: {reason}. Nothing was made; repair the source and try again."
    )]
    Randomness {
        /// What the system said.
        reason: String,
    },
}
