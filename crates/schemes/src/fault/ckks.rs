//! Faults of literals of CKKS.

use thiserror::Error;

/// What is wrong with a literal of CKKS, or with the primes that it asks for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CkksFault {
    /// A literal of another family.
    #[error(
        "they are of the family {found:?}, and only \"ckks\" is read here; use the engine of that family, or update \
         Aglet"
    )]
    Family {
        /// The family, cut where it is long.
        found: String,
    },
    /// A literal without family.
    #[error("they name no family; write family = \"ckks\" above them")]
    NoFamily,
    /// A name that is empty or too long.
    #[error("the name has {bytes} bytes; take 1 to {most}")]
    Name {
        /// Its length.
        bytes: usize,
        /// The most allowed.
        most: usize,
    },
    /// A ring degree out of range.
    #[error("log_n = {log_n} is not between 6 and 17")]
    Degree {
        /// log2 of the degree.
        log_n: u32,
    },
    /// A group with a number or size of primes out of range.
    #[error(
        "the {role} group has {count} primes of {bits} bits; give it 1 to {most} primes of {least_bits} to 61 bits"
    )]
    Group {
        /// Name of its role.
        role: String,
        /// Its primes.
        count: usize,
        /// log2 of their size.
        bits: u32,
        /// The most primes allowed.
        most: usize,
        /// The least bits allowed, which grow with the degree.
        least_bits: u32,
    },
    /// Too many primes.
    #[error("there are more than {most} primes in all; take fewer, larger ones")]
    Primes {
        /// Primes of all groups.
        found: usize,
        /// The most allowed.
        most: usize,
    },
    /// Groups that are not in the order of the chain.
    #[error(
        "the moduli are out of order; write them bottom to top: base, slots_to_coeffs, message, eval_mod, \
         coeffs_to_slots, spare, raised, special"
    )]
    Order,
    /// Another number of base primes than one.
    #[error("there must be exactly one base prime")]
    Base {
        /// Their number.
        found: usize,
    },
    /// Another number of groups of message primes than one.
    #[error("there must be exactly one group of message primes")]
    Message {
        /// Their number.
        groups: usize,
    },
    /// No special primes.
    #[error("there is no special prime; key switching needs at least one")]
    NoSpecial,
    /// A base prime that is not larger than message primes.
    #[error("the base prime must have more bits than the message primes, or level 0 cannot hold a message")]
    SmallBase {
        /// log2 of the base prime.
        base: u32,
        /// log2 of the message primes.
        message: u32,
    },
    /// Primes of a size of which there are too few.
    #[error(
        "there are not enough primes = 1 mod 2^{log_2n} of {bits} bits for the {role} group; take more bits or fewer \
         primes"
    )]
    FewPrimes {
        /// log2 of 2N.
        log_2n: u32,
        /// log2 of their size.
        bits: u32,
        /// Name of their role.
        role: String,
    },
    /// The level of a regular bootstrap without the primes of one, the primes without it, or one that is too high.
    #[error("regular_level belongs to the eval_mod primes and is at most the number of message primes, {most}")]
    RegularLevel {
        /// The level given, if one is.
        found: Option<usize>,
        /// The message primes.
        most: usize,
    },
    /// Raised primes without an extension.
    #[error("raised primes belong to a bootstrap with a table of its own; write that table")]
    Raised,
    /// An ephemeral secret that is too heavy.
    #[error(
        "an ephemeral secret of weight {weight} may add more than 16 q0 when the modulus is raised, and eval_mod \
         removes at most that; choose a weight up to {most}"
    )]
    Weight {
        /// Its weight.
        weight: usize,
        /// The most allowed.
        most: usize,
    },
    /// A special modulus of the switch to the ephemeral secret that is not the first special prime.
    #[error(
        "sparse_switch_bits = {found}, but p' is the first special prime, which has {special} bits; make them equal"
    )]
    SwitchBits {
        /// The bits given.
        found: u32,
        /// Those of the first special prime.
        special: u32,
    },
    /// A message ratio out of range.
    #[error("message_ratio_log2 = {found} is not between 0 and 60")]
    MessageRatio {
        /// log2 of the ratio.
        found: f64,
    },
    /// Some of the fields of a bootstrap, or all of them without its primes.
    #[error(
        "ephemeral_weight, sparse_switch_bits and message_ratio_log2 belong to the eval_mod primes: give all of them \
         or none"
    )]
    BootstrapFields,
}
