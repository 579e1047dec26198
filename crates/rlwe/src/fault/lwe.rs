//! Faults of LWE and GLWE: parameters, methods of blind rotation, keys and ciphertexts.

use crate::distribution::Secret;

/// What is wrong with parameters of LWE and GLWE.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LweFault {
    /// A degree or rank out of range.
    #[error("log_n = {log_n} and rank = {rank} are not 6 to 12 and 1 to 3")]
    Shape {
        /// log2 of the degree N.
        log_n: u32,
        /// Polynomials of the secret.
        rank: usize,
    },
    /// A modulus that is no prime, too large, or without the transforms needed.
    #[error("{modulus} is not a prime below 2^48 that is 1 modulo {step}")]
    NotPrime {
        /// The modulus.
        modulus: u64,
        /// What it must be 1 modulo.
        step: u64,
    },
    /// A method that does not go with the other parameters.
    #[error(transparent)]
    Method(#[from] MethodFault),
    /// An LWE dimension out of range, or not of whole blocks.
    #[error("dimension = {found} is not a multiple of {block} from 193 to {most}")]
    Dimension {
        /// The dimension.
        found: usize,
        /// The length of a block.
        block: usize,
        /// The most allowed.
        most: usize,
    },
    /// A gadget without levels or digits, or a block of the secret that meets too many rows of keys.
    #[error("a block has {found} products, not between 1 and 16; use fewer levels")]
    Products {
        /// Products of polynomials for each block: keys, columns and levels multiplied.
        found: usize,
    },
    /// Digits without bits, or with too many in all.
    #[error("there are no digits, or they have more than 40 bits; use a smaller base or fewer levels")]
    Digits {
        /// Bits of all digits of an external product, at most 40.
        gadget: usize,
        /// Signed bits of a coefficient in a key switch, 1 to 40.
        switch: u32,
    },
    /// An error that is too small or too large.
    #[error("the deviations of errors must be 2^-48 to 2^-2 of the modulus")]
    Deviations {
        /// log2 of the deviation of LWE errors over Q.
        lwe: f64,
        /// log2 of the deviation of GLWE errors over Q.
        glwe: f64,
    },
    /// A set whose secret or modulus has no ring for public keys.
    #[error(
        "they have no public key; choose at most 4096 coordinates of the secret, not {coordinates}, and a modulus that \
         is 1 modulo {step}"
    )]
    NoPublicKey {
        /// Coordinates of the secret.
        coordinates: usize,
        /// What the modulus must be 1 modulo.
        step: usize,
    },
}

/// Why a method of blind rotation does not go with parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodFault {
    /// A secret that the method has no keys for.
    #[error(
        "the blind rotation {method} has no keys for {secret}; {}",
        match .secret {
            Secret::Ternary => "method blocks wants a binary or block-binary one",
            _ => "it wants a ternary one",
        }
    )]
    Secret {
        /// Name of the method.
        method: &'static str,
        /// Distribution of the secret.
        secret: Secret,
    },
    /// A base of the digits of exponents that is not served.
    #[error("digits in base {base}: choose 2, 4, 8, 16 or 32")]
    Base {
        /// The base.
        base: u32,
    },
    /// A number of automorphisms out of range.
    #[error("a window of {window} automorphisms: choose 1 to 64")]
    Window {
        /// The number.
        window: u32,
    },
    /// A rank other than 1 for NTRU.
    #[error("rank = {rank}: method ntru has one polynomial, so rank 1")]
    NtruRank {
        /// The rank.
        rank: usize,
    },
}

/// What is wrong with a key, ciphertext or table of LWE and GLWE for a set of parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OperandFault {
    /// A ciphertext or sample of other parameters.
    #[error("this {what} has another {measure}; use one parameter set")]
    Size {
        /// What does not fit.
        what: &'static str,
        /// What it has another of.
        measure: &'static str,
        /// How much it has.
        found: usize,
        /// How much the set has.
        expected: usize,
    },
    /// A key of other parameters.
    #[error("this {key} has another {measure}; use keys of one parameter set")]
    Key {
        /// Which key.
        key: &'static str,
        /// What it has another of.
        measure: &'static str,
        /// How much it has.
        found: usize,
        /// How much the set has.
        expected: usize,
    },
    /// A sum with a ciphertext of other parameters.
    #[error("these ciphertexts have other dimensions; use one parameter set")]
    Dimensions {
        /// The dimension of that ciphertext.
        found: usize,
        /// The dimension of the set.
        expected: usize,
    },
    /// A sum without ciphertexts.
    #[error("a sum of no ciphertexts has no key; give one at least")]
    EmptySum,
    /// An automorphism that does not exist.
    #[error("automorphisms are X -> X^t for odd t below {limit}")]
    Automorphism {
        /// The exponent t asked for.
        found: usize,
        /// 2N.
        limit: usize,
    },
    /// A number of ciphertexts that cannot be packed.
    #[error("{found} ciphertexts are no power of two up to {most}")]
    Packed {
        /// Their number.
        found: usize,
        /// The most allowed, N.
        most: usize,
    },
    /// A table with another number of entries than N.
    #[error("a table of this set has {n} entries, not {found}")]
    Table {
        /// The degree N.
        n: usize,
        /// Entries found.
        found: usize,
    },
    /// A secret without inverse in the ring.
    #[error("this secret has no inverse, which ntru wants; draw another")]
    NoInverse,
}
