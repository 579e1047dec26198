//! The one error type of this crate: every variant is a sentence that names the fix.

use crate::secret::KeyId;
use crate::security::{hundredths, Secret};

/// What can go wrong on the lattice floor. All of it is caused by input; our own bugs panic instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is larger than 128-bit security allows for this dimension and secret.
    #[error(
        "A modulus of {log_q:.2} bits in dimension {dimension} with {secret} is below 128 bits of security: the limit there is \
         {shown}; take fewer or smaller moduli, a larger dimension or a denser secret.",
        shown = hundredths(*.limit)
    )]
    InsecureParameters {
        /// Ring degree, or LWE dimension.
        dimension: usize,
        /// log2 of the modulus under which this secret appears.
        log_q: f64,
        /// Largest allowed `log_q`; 0 if no modulus of 12 bits or more reaches 128 bits.
        limit: f64,
        /// Distribution of the secret.
        secret: Secret,
    },

    /// NTRU, which no table here judges.
    #[error(
        "No table here gives ntru 128 bits: where Q passes the fatigue point of its degree (eprint 2021/999), lattice reduction finds the \
         dense sublattice that the shifts of its key span, far earlier than a key of LWE; at degree {degree} that is 2^{point:.1}, and Q \
         is 2^{log_q:.1}. Take another method."
    )]
    Ntru {
        /// The degree N.
        degree: usize,
        /// log2 of the modulus.
        log_q: f64,
        /// log2 of the modulus from which on the sublattice is found first.
        point: f64,
    },

    /// The security table has no figure for these.
    #[error(
        "The security of dimension {dimension} with {secret} is not known: {reason}; take a secret, dimension and error that it \
         has."
    )]
    UnknownSecurity {
        /// Ring degree, or LWE dimension.
        dimension: usize,
        /// Distribution of the secret.
        secret: Secret,
        /// What it does not know.
        reason: &'static str,
    },

    /// Parameters contradict themselves, or ask for primes that do not exist.
    #[error("These parameters do not work: {reason}.")]
    BadParameters {
        /// What is wrong and what to write instead.
        reason: String,
    },

    /// The sparse secret of a bootstrap would appear under a modulus at which it is not secure.
    #[error(
        "The sparse secret of a bootstrap is secure under q0 and one special prime only, and this would show it under {q_limbs} \
         limbs of Q and {p_limbs} of P; take KeySwitchSpec::to_sparse(), or another secret key."
    )]
    SparseSecret {
        /// Limbs of Q asked for.
        q_limbs: usize,
        /// Special limbs asked for.
        p_limbs: usize,
    },

    /// A key or ciphertext belongs to another secret key.
    #[error("This {what} is of secret key {found}, and the ciphertext or key beside it is of {expected}; use what was made with one secret key.")]
    KeyMismatch {
        /// What does not fit.
        what: &'static str,
        /// Its key.
        found: KeyId,
        /// The key of the other operand.
        expected: KeyId,
    },

    /// The caller stopped the work.
    #[error("The work was stopped.")]
    Cancelled,

    /// An operation needs more levels than there are.
    #[error("This needs chain level {needed} or more and the ciphertext is at {found}; bootstrap it first, or encrypt at a higher level.")]
    Level {
        /// The level that the operation starts from.
        needed: usize,
        /// The level of the operand.
        found: usize,
    },

    /// A ciphertext has a degree that the operation does not take.
    #[error("This takes a ciphertext of two polynomials and this one has {}; relinearize it first.", degree + 1)]
    Degree {
        /// Degree found.
        degree: usize,
    },

    /// Stored data is none that these parameters could have given.
    #[error("The stored {what}; read a file that Aglet wrote with these parameters.")]
    Stored {
        /// What is wrong.
        what: &'static str,
    },

    /// From the ring floor.
    #[error(transparent)]
    Ring(#[from] aglet_ring::Error),
}

impl Error {
    /// A [`Error::BadParameters`] with this reason.
    pub(crate) fn bad_parameters(reason: impl Into<String>) -> Self {
        Error::BadParameters { reason: reason.into() }
    }
}
