//! The one error type of this crate: every variant is a sentence that names the fix.

use crate::distribution::Secret;
use crate::fault::ParameterFault;
use crate::key_id::KeyId;

/// A limit as it is shown: in hundredths, never above itself.
pub(crate) fn hundredths(limit: f64) -> f64 {
    (limit * 100.0).floor() / 100.0
}

/// What can go wrong on the lattice floor. All of it is caused by input; our own bugs panic instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is larger than 128-bit security allows for this dimension and secret.
    #[error(
        "A modulus of {log_q:.2} bits in dimension {dimension} with {secret} is below 128 bits of security: the modulus may have at most \
         {shown} bits; use fewer or smaller primes, a larger dimension or a denser secret.",
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
        "No table here gives ntru 128 bits of security. Above the fatigue point (eprint 2021/999), lattice reduction finds the dense \
         sublattice of an NTRU key far earlier than it finds an LWE key; at degree {degree} that is 2^{point:.1}, and Q \
         is 2^{log_q:.1}. Use another method."
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
        "The security table has no figure for dimension {dimension} with {secret}: {reason}; use a secret, dimension and error \
         that it has."
    )]
    UnknownSecurity {
        /// Ring degree, or LWE dimension.
        dimension: usize,
        /// Distribution of the secret.
        secret: Secret,
        /// What it does not know.
        reason: &'static str,
    },

    /// Parameters contradict themselves or ask for primes that do not exist, or operands are of others.
    #[error("These parameters do not work: {0}.")]
    BadParameters(#[source] ParameterFault),

    /// The sparse secret of a bootstrap would appear under a modulus at which it is not secure.
    #[error(
        "The sparse secret of a bootstrap is secure only under q0 and one special prime, and this key would use it under {q_limbs} \
         limbs of Q and {p_limbs} of P; use KeySwitchSpec::dense_to_sparse(), or another secret key."
    )]
    SparseSecret {
        /// Limbs of Q asked for.
        q_limbs: usize,
        /// Special limbs asked for.
        p_limbs: usize,
    },

    /// A key or ciphertext belongs to another secret key.
    #[error("This {what} belongs to secret key {found}, and the other ciphertext or key to {expected}; use ciphertexts and keys of one secret key.")]
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
    #[error("This operation needs chain level {needed} or above, and the ciphertext is at {found}; bootstrap it first, or encrypt at a higher level.")]
    Level {
        /// The level that the operation starts from.
        needed: usize,
        /// The level of the operand.
        found: usize,
    },

    /// A ciphertext has a degree that the operation does not take.
    #[error("This operation takes a ciphertext of two polynomials, and this one has {}; relinearize it first.", degree + 1)]
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

impl<F: Into<ParameterFault>> From<F> for Error {
    fn from(fault: F) -> Self {
        Self::BadParameters(fault.into())
    }
}
