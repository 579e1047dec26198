//! Faults of RLWE parameters: secrets, primes, digits.

/// What is wrong with a secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFault {
    /// A weight, number of blocks or block length that the coefficients cannot have.
    #[error("a secret of {n} coefficients has {what} {found}; choose {least} to {n}")]
    Range {
        /// Coefficients, and the most that is allowed.
        n: usize,
        /// What is out of range.
        what: &'static str,
        /// The number given.
        found: usize,
        /// The least allowed.
        least: usize,
    },
    /// A subring of the sparse secret that does not exist.
    #[error("the sparse secret in a subring of degree 2^{found} is not between 6 and {most}")]
    Subring {
        /// log2 of its degree.
        found: u32,
        /// log2 of the ring degree, the most that is allowed; the least is 6.
        most: u32,
    },
    /// A sparse secret that would appear beside more than one special prime.
    #[error("the sparse secret appears beside at most one special prime; write sparse_special = 0 or 1")]
    Special {
        /// Special primes asked for.
        found: usize,
    },
    /// A sparse secret of a set that has none.
    #[error("this set has no sparse secret; take one made for bootstrapping")]
    NoSparse,
    /// Coefficients of another degree or weight than those of the set's sparse secret, or of a set without one.
    #[error("this set has another sparse secret; take one made for this bootstrap")]
    OtherSparse,
}

/// What is wrong with a ring, its primes or the digits of its key switches.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// A ring degree out of range.
    #[error("log_n = {log_n} is not between 6 and 17")]
    Degree {
        /// log2 of the degree.
        log_n: u32,
    },
    /// A modulus that is no prime, too large, or has no transform of the ring's degree.
    #[error("{modulus} is not a prime below 2^61 that is 1 modulo 2^{log_2n}")]
    NotPrime {
        /// The modulus.
        modulus: u64,
        /// log2 of 2N.
        log_2n: u32,
    },
    /// A prime that stands twice in Q, P and the spare primes together.
    #[error("the moduli contain a prime twice")]
    Twice {
        /// The prime.
        prime: u64,
    },
    /// No prime of Q, or no special prime.
    #[error("there must be at least one prime of Q and one special prime")]
    Empty {
        /// Primes of Q.
        q: usize,
        /// Special primes.
        p: usize,
    },
    /// More special primes than a base conversion can convert from beside one of Q.
    #[error("there are {found} special primes; take fewer than {limit}, larger ones")]
    Special {
        /// Their number.
        found: usize,
        /// The first number that is too large.
        limit: usize,
    },
    /// Spare primes in a set without a largest modulus.
    #[error("spare primes replace others, so QP has no fixed size; give max_log_qp")]
    Spare {
        /// Spare primes.
        found: usize,
    },
    /// A largest modulus that is no positive number.
    #[error("max_log_qp is not a finite number above 0")]
    MaxLogQp {
        /// The number given.
        found: f64,
    },
    /// A largest modulus that the chain fills.
    #[error("max_log_qp leaves no special prime beside the whole chain; make it larger")]
    NoSpecial {
        /// log2 of the largest modulus.
        max_log_qp: f64,
    },
    /// A subset without primes, or with one that does not exist or stands twice.
    #[error("the primes of a subset must exist, each once")]
    Subset {
        /// Primes that subsets may take: those of Q and the spare ones.
        primes: usize,
    },
    /// Named digits that are not the limbs of Q, each once.
    #[error("the digits do not name every limb of Q exactly once")]
    Digits {
        /// Limbs of Q.
        limbs: usize,
    },
    /// A named digit that is too long.
    #[error("a digit of {found} limbs is longer than a base conversion takes; name digits of at most {most}")]
    LongDigit {
        /// Its limbs.
        found: usize,
        /// The most allowed.
        most: usize,
    },
    /// A limb that special primes are too small for.
    #[error(
        "limb {limb} of Q ({bits:.2} bits) is larger than the special modulus ({special:.2}); make the special primes \
         larger or more"
    )]
    LargeLimb {
        /// Its place in Q, from 0.
        limb: usize,
        /// log2 of its prime.
        bits: f64,
        /// log2 of what a digit may have: the product of the special primes, or more where the result is rescaled.
        special: f64,
    },
    /// A key over limbs that do not exist.
    #[error("a key over {q_limbs} limbs of Q and {p_limbs} of P does not exist; choose 1 to {q} and 1 to {p}")]
    Key {
        /// Limbs of Q asked for.
        q_limbs: usize,
        /// Limbs of P asked for.
        p_limbs: usize,
        /// Primes of Q.
        q: usize,
        /// Special primes that a key over these limbs of Q may have.
        p: usize,
    },
    /// A key with more special primes than its largest modulus has room for.
    #[error("a key over {q_limbs} limbs of Q may have {most} special primes within max_log_qp, not {p_limbs}")]
    LargeKey {
        /// Its limbs of Q.
        q_limbs: usize,
        /// Its limbs of P.
        p_limbs: usize,
        /// The most limbs of P allowed.
        most: usize,
    },
    /// A polynomial with more limbs than there are primes.
    #[error("a polynomial of {q_limbs} + {p_limbs} limbs does not fit a chain of {q} + {p} primes")]
    Polynomial {
        /// Its limbs of Q.
        q_limbs: usize,
        /// Its limbs of P.
        p_limbs: usize,
        /// Primes of Q.
        q: usize,
        /// Special primes.
        p: usize,
    },
}
