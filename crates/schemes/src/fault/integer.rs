//! Faults of literals of integers.

use thiserror::Error;

/// What is wrong with a literal of integers, or with the primes that it asks for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum IntegerFault {
    /// A plaintext modulus that is even or out of range.
    #[error("the plaintext modulus {t} is not odd and between 3 and 2^31; 65537 has slots in every ring")]
    Plaintext {
        /// The modulus.
        t: u64,
    },
    /// A binary secret, whose mean is not zero.
    #[error("a binary secret is larger at some roots than noise is estimated for; take a ternary one")]
    BinarySecret,
    /// Too many levels or special primes.
    #[error("there are more than 512 levels or 64 special primes; take fewer, larger ones")]
    Primes {
        /// Primes of levels.
        levels: usize,
        /// Special primes.
        special: usize,
    },
    /// Too many primes of a kind that a bootstrap has.
    #[error("there are more than 64 primes of one kind for the bootstrap; take fewer, larger ones")]
    BootstrapPrimes {
        /// Those of the first kind that has too many.
        found: usize,
    },
    /// A number of slots that does not exist.
    #[error("2^{log_slots} slots are not between 2^6 and 2^{most}, as many as there are modulo {t}")]
    Slots {
        /// log2 of the slots asked for.
        log_slots: u32,
        /// log2 of the slots that there are.
        most: u32,
        /// The plaintext modulus.
        t: u64,
    },
    /// Primes of a size of which there are too few.
    #[error("there are not enough {what} primes of {bits} bits; take more bits or fewer primes")]
    FewPrimes {
        /// What they are for.
        what: &'static str,
        /// log2 of their size.
        bits: u32,
    },
    /// A prime without room for the product of a level.
    #[error(
        "the prime {prime} is {bits:.1} bits too small for a level: products modulo {t} square their noise; take \
         larger primes or a smaller t"
    )]
    SmallLevel {
        /// The prime.
        prime: u64,
        /// Bits that it has too few.
        bits: f64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A lowest prime without room for messages.
    #[error("the base prime has {bits:.1} bits too few for messages modulo {t}; make it larger, or take a smaller t")]
    SmallBase {
        /// Bits that it has too few.
        bits: f64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A bootstrap asked of a set without one.
    #[error("the set {name} has no bootstrap; take int16")]
    NoBootstrap {
        /// Name of the set.
        name: String,
    },
    /// A bootstrap of a plaintext modulus that it does not serve.
    #[error(
        "the bootstrap with a sparse secret of weight {weight} is for the plaintext modulus {served}, not {t}; take \
         {served}, or a set without a bootstrap"
    )]
    BootstrapModulus {
        /// Weight of the sparse secret.
        weight: usize,
        /// The plaintext modulus that it serves.
        served: u64,
        /// That of the set.
        t: u64,
    },
    /// Primes of digit extraction without room for products.
    #[error(
        "the primes of digit extraction are {bits:.1} bits too small for products modulo the square of {t}; take \
         larger ones"
    )]
    DigitPrimes {
        /// Bits that the smallest has too few.
        bits: f64,
        /// The plaintext modulus.
        t: u64,
    },
    /// A last division by too little to remove the noise of the last product.
    #[error("the raised primes and that of the last product are too small for its noise; take larger ones")]
    LastDivision {
        /// log2 of what the division divides by.
        log2: f64,
        /// The least log2 allowed.
        least: f64,
    },
    /// A bootstrap that fails too often.
    #[error("a bootstrap would fail with probability 2^{log2:.1}; take a sparse secret of smaller weight")]
    Failure {
        /// log2 of the probability; the most allowed is -128.
        log2: f64,
    },
}
