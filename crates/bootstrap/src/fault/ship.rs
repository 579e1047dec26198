//! Faults of SHIP.

use thiserror::Error;

/// What is wrong with what a set of parameters says of SHIP, or with its keys.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ShipFault {
    /// An ephemeral secret of another weight, or a special modulus that a switch to it does not have.
    #[error("[ship] takes ephemeral_weight = {weight} and no sparse_switch_bits; write it so")]
    Weight {
        /// The weight that SHIP takes.
        weight: usize,
        /// The weight given, if one is.
        found: Option<usize>,
        /// log2 of the special modulus given, if one is.
        switch_bits: Option<u32>,
    },
    /// A message ratio that is missing or out of range.
    #[error("[ship] needs a message_ratio_log2 between 0 and 60")]
    MessageRatio {
        /// log2 of the ratio given, if one is.
        found: Option<f64>,
    },
    /// Other groups of primes than SHIP has, or another level after its bootstrap than that of all message primes.
    #[error(
        "[ship] takes {eval_mod} eval_mod primes, one slots_to_coeffs prime, no coeffs_to_slots and spare ones, and \
         the number of message primes as regular_level"
    )]
    Groups {
        /// The eval_mod primes that SHIP takes.
        eval_mod: usize,
    },
    /// Digits that are not the raised primes, each once.
    #[error("the digits of [ship] do not name each of the {raised} raised primes once; there must be some")]
    Digits {
        /// The raised primes.
        raised: usize,
    },
    /// Digits of a rotation that are too many or have too many values.
    #[error("[ship] takes 1 to 64 columns and 1 to 8 CMuxes of 1 to 64 values")]
    Values {
        /// Values of the first digit.
        columns: usize,
        /// Values of the others.
        cmuxes: Vec<usize>,
    },
    /// Digits of a rotation that do not reach every position, or a window that does not exist.
    #[error("the columns and CMuxes of [ship] reach {reach} positions, and a window has {wanted}; take more")]
    Reach {
        /// The positions that they reach.
        reach: usize,
        /// The positions of a window.
        wanted: usize,
    },
    /// Digits of c1 or primes with too many bits.
    #[error("[ship] takes digit_bits of 1 to 8, and primes of 50 bits or less")]
    Bits {
        /// Bits of the digits.
        digit: u32,
        /// log2 of the largest primes.
        prime: u32,
    },
    /// A weight or windows that the ring has no room for.
    #[error(
        "a ring of degree {n} has no room for {weight} positions in windows of {window:?}; choose half a window of 1 \
         to {most}"
    )]
    Windows {
        /// The ring degree.
        n: usize,
        /// Positions of a secret.
        weight: usize,
        /// The length of the window of each; none where all may stand anywhere.
        window: Option<usize>,
        /// The largest half of a window.
        most: usize,
    },
    /// Raised primes of another product than the chain.
    #[error("the raised primes have {apart:.1} bits more than the chain; take others, at most {most} apart")]
    RaisedPrimes {
        /// Bits that they have more, negative where they have fewer.
        apart: f64,
        /// The most bits allowed, more or fewer.
        most: f64,
    },
    /// Raised and special primes above the largest modulus of a key.
    #[error("max_log_qp leaves no room for the raised and all special primes; make it larger")]
    LargeKey {
        /// log2 of their product.
        found: f64,
        /// log2 of the largest modulus.
        most: f64,
    },
    /// A digit of raised primes above the special modulus.
    #[error("a digit of raised primes is larger than the special modulus; take shorter digits")]
    LargeDigit {
        /// log2 of the special modulus.
        special: f64,
    },
    /// Too few sparse secrets against an attack that meets in the middle.
    #[error(
        "there are 2^{log2_count:.1} sparse secrets, {bits:.1} bits of security where {share} of that exponent must be \
         128; take a larger window or weight"
    )]
    Count {
        /// log2 of their number.
        log2_count: f64,
        /// Bits of security.
        bits: f64,
        /// The share of the exponent that the attack leaves.
        share: f64,
    },
    /// Keys for all slots where those for few are needed.
    #[error("these SHIP rotation keys are for all slots of the ring; make some for few")]
    AllSlots,
}
