//! BGV and BFV: exact integers modulo t in the slots or coefficients of RLWE samples. The two schemes are two readings
//! of one ciphertext.
//!
//! The phase of a ciphertext is `t^-1 [f m]_t + e` modulo Q, with a public *factor* f that is a unit modulo t: so `t` times the phase is
//! `f m + t e`, as in BGV (eprint 2011/277), and for `k = -f m / Q mod t` the phase is `(Q k + [f m]_t) / t + e`, as in BFV
//! (eprint 2012/144). Rescaling and key switching are the rounded divisions of all schemes over the ring, without correction: they
//! change the factor and nothing else.

mod ciphertext;
mod cost;
mod encode;
mod encrypt;
mod evaluator;
mod failure;
mod invariant;
mod noise;
mod params;
pub mod prime_power;
mod product;
mod slots;

pub use ciphertext::Ciphertext;
pub use cost::{CostInteger, SlotCost};
pub use encode::{Encoder, Packing};
pub use encrypt::{decrypt, encrypt, noise_budget, Encryptor};
pub use evaluator::IntegerEvaluator;
pub use failure::LOW_DIGIT;
pub use invariant::WideRings;
pub use noise::{Division, Noise};
pub use params::{BootstrapPrimes, Claims, Family, IntegerLiteral, IntegerParams, Primes};
pub use slots::{RowMap, SlotEvaluator};

/// A shared ciphertext. Cloning is free, and contents never change.
pub type IntegerCiphertext = std::sync::Arc<Ciphertext>;
