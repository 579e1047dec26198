//! The errors of this crate.

use crate::fault::ParameterFault;
use thiserror::Error;

/// Why an operation on ciphertexts was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// An operand has too few limbs left.
    #[error(
        "The operation needs a ciphertext at level {required} or above, and this one is at level {actual}; \
         use it earlier in the circuit or bootstrap it first."
    )]
    LevelTooLow {
        /// The lowest chain level that would do.
        required: usize,
        /// The chain level found.
        actual: usize,
    },
    /// A level that the modulus chain does not have.
    #[error("Chain level {level} does not exist; the highest level of this modulus chain is {max}.")]
    NoSuchLevel {
        /// The level asked for.
        level: usize,
        /// The top of the chain.
        max: usize,
    },
    /// The two operands of a sum have different levels.
    #[error("The operands are at chain levels {left} and {right}; bring the higher one down with level_down first.")]
    LevelMismatch {
        /// Level of the left operand.
        left: usize,
        /// Level of the right operand.
        right: usize,
    },
    /// Two scales that must agree to 2^-45 do not.
    #[error(
        "A scale of 2^{} was needed and 2^{} was found (ratio - 1 = {:e}); choose the target scales from the result \
         backwards so that every product lands on scale * modulus(level).",
        expected.log2(), found.log2(), found / expected - 1.0
    )]
    ScaleMismatch {
        /// The scale that would have been right.
        expected: f64,
        /// The scale found.
        found: f64,
    },
    /// A scale or scale ratio that is zero, negative or not finite.
    #[error("A scale must be positive and finite; {scale} is not. Compute it from the scales of the operands.")]
    InvalidScale {
        /// The number given.
        scale: f64,
    },
    /// A vector or map made for another number of slots.
    #[error("This evaluator works on {expected} slots and was given {found}; encode for the same slot count.")]
    SlotMismatch {
        /// Slots of the evaluator or map.
        expected: usize,
        /// Slots found.
        found: usize,
    },
    /// A `Quadratic` in which no ciphertext occurs.
    #[error("A quadratic form without products and terms contains no ciphertext; encode the constant instead.")]
    EmptyQuadratic,
    /// A linear map whose parts contradict each other.
    #[error("This is not a linear map on {slots} slots: {reason}.")]
    InvalidLinearMap {
        /// Slots the map was declared for.
        slots: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A gate with another number of bits than it takes.
    #[error("The gate {gate} takes {takes} bits and got {found}; give {takes}.")]
    Inputs {
        /// Its name.
        gate: &'static str,
        /// Bits that it takes.
        takes: usize,
        /// Bits that it was given.
        found: usize,
    },

    /// A result whose failure probability is too high.
    #[error(
        "{gate} on these inputs would fail with probability 2^{log2:.1}, and at most 2^{allowed} is allowed; {}, or allow more.",
        remedy(gate)
    )]
    Failure {
        /// The gate, or the table.
        gate: &'static str,
        /// log2 of the probability of a wrong result.
        log2: f64,
        /// log2 of the largest allowed.
        allowed: f64,
    },

    /// A message or table that does not fit.
    #[error("{value} cannot be {what}; give {allowed}.")]
    Message {
        /// The number.
        value: u64,
        /// What it was given as.
        what: &'static str,
        /// What may be given.
        allowed: String,
    },
    /// A signed integer out of range.
    #[error("{value} is outside the range of these integers; use {least} to {most}, or more bits.")]
    Integer {
        /// The integer.
        value: i64,
        /// The least of the range.
        least: i64,
        /// The greatest.
        most: i64,
    },

    /// Slots were asked for where the ring has none.
    #[error(
        "Integers modulo {t} have no slots in a ring of degree {n}, because {t} is not a prime that is 1 modulo {}; use 65537, another \
         such prime, or packing=\"coefficients\".",
        2 * n
    )]
    NoSlots {
        /// The plaintext modulus.
        t: u64,
        /// The ring degree.
        n: usize,
    },
    /// A number that is not one modulo t.
    #[error("The number {value} at index {index} is not between -{t} and {t}, the plaintext modulus; reduce it, or use a larger plaintext_modulus.")]
    Residue {
        /// The number.
        value: i64,
        /// Its place.
        index: usize,
        /// The plaintext modulus.
        t: u64,
    },
    /// An exact result whose noise is too large for its level.
    #[error(
        "The noise of this result is {bits:.1} bits too large for its level; first bring the operands down a level (mod_switch), which \
         removes most of their noise, or sum or double what goes into products instead of their results, or sum fewer terms, or start at \
         a higher level."
    )]
    Noise {
        /// Bits that are missing.
        bits: f64,
    },

    /// A ciphertext whose noise fills its modulus, as the secret key sees it.
    #[error(
        "The noise of this ciphertext leaves {bits:.1} bits of its modulus, and below 1 its values are lost: its noise bound is wrong, or it \
         was altered. Compute it again from its operands after a mod_switch, or bootstrap earlier."
    )]
    UsedUp {
        /// Bits that are free.
        bits: f64,
    },

    /// A literal that contradicts itself or asks for primes that do not exist, or a text that is none.
    #[error("These parameters do not work: {0}.")]
    BadParameters(#[source] ParameterFault),
    /// Parameters that the evaluator cannot be built from.
    #[error("These parameters cannot be used: {reason}.")]
    InvalidParameters {
        /// What is wrong with them.
        reason: &'static str,
    },
    /// A key that the operation needs was not given.
    #[error("The {what} is missing; create it from the same secret key and pass it as an argument.")]
    MissingKey {
        /// Which key, with its rotation where it has one.
        what: String,
    },
    /// A message whose encoding does not fit 62 bits.
    #[error("A coefficient of 2^{log2:.1} cannot be encoded; use smaller values.")]
    TooLarge {
        /// Base-2 logarithm of the coefficient.
        log2: f64,
    },
    /// A message that fills its modulus.
    #[error(
        "This message is too large for its modulus, or may have wrapped around earlier; values up to {shown} always fit. \
         Scale the values down first, compute at a higher level, encrypt with bound= if they are known to \
         be small, or use decrypt(..., check=False), which returns the values whether they are right or not.",
        shown = crate::significant(*.most)
    )]
    Wrapped {
        /// The size of values that fit whatever the message.
        most: f64,
    },
    /// The caller stopped the work.
    #[error("The work was stopped.")]
    Cancelled,
    /// From the crate of RLWE.
    #[error(transparent)]
    Rlwe(#[from] aglet_rlwe::Error),
    /// From the crate of the ring.
    #[error(transparent)]
    Ring(#[from] aglet_ring::Error),
}

impl<F: Into<ParameterFault>> From<F> for Error {
    fn from(fault: F) -> Self {
        Self::BadParameters(fault.into())
    }
}

impl Error {
    /// For a linear map that has no diagonal.
    pub fn zero_map(slots: usize) -> Self {
        Self::InvalidLinearMap { slots, reason: "it has no diagonal, so its result is always zero" }
    }
}

/// What lowers the failure probability of a gate or table. Integers of several digits have no bootstrap that returns them, and tables of
/// several messages fail in most sets with fresh inputs too.
fn remedy(gate: &str) -> &'static str {
    match gate {
        "A sign" | "A digit" | "A floor" => "take integers of fewer bits or FhewEngine(preset=\"wide\")",
        "Rounding" => {
            "round values of a smaller range, declared before they became floats, give noise= if their errors are known to be smaller"
        }
        several if several.starts_with("A table of several messages") => {
            "take FhewEngine(preset=\"wide\"), bootstrap the inputs first"
        }
        _ => "bootstrap the inputs first",
    }
}
