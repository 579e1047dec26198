//! Gates and look-up tables as users see them: bits and small integers, each bootstrap of which evaluates a function.
//!
//! | method of [`Engine`] | on | rotations |
//! |---|---|---|
//! | `gate`, `mux`, `not` | bits | 1, 2, 0 |
//! | `lookup`, `lookup_many` | messages of a [`Message`]: 2, 4, 8 or 16 of a [`Domain`], by a [`Table`] | 1; 2 in the full domain |
//! | `lookup_pairs` | two messages, high and low, by a [`PairTable`], with a [`PackingKey`] | 1 and 1 for each table; 2 more in the full domain |
//! | `sign`, `compare`, `equal` | an [`Integer`] of up to 20 bits, which does not wrap around | `ceil(bits / 4) + 1`; twice that |
//! | `floor`, `digits` | a [`Word`] modulo `2^bits` | 2 for 5 bits; 2 or 4 a digit |
//! | `sum` | all of them | 0 |
//! | `estimate` | any of these as [`Work`], before it runs | 0 |
//!
//! Which kind a ciphertext is of, its caller knows; its noise it carries itself, and results that would be wrong more often than 2^-128
//! are refused.

mod array;
mod decrypt;
mod engine;
mod estimate;
mod memory;
mod numbers;
pub mod presets;
pub mod report;
mod tables;
mod workers;

pub use array::{Array, Form, Home};
pub(crate) use engine::fits;
pub use engine::{Engine, LookupKey};
pub use estimate::{Estimate, Work};
pub(crate) use memory::room;

/// A comparison of two integers.
pub use aglet_bootstrap::functional::Order;
/// How several tables are read together.
pub use aglet_bootstrap::functional::Way;
/// A bit, message, integer or word of an [`Engine`].
pub use aglet_rlwe::lwe::LweCiphertext as Ciphertext;
/// The secret key of an [`Engine`].
pub use aglet_rlwe::lwe::LweSecretKey as SecretKey;
/// The key of tables of two messages.
pub use aglet_rlwe::lwe::PackingKey;
/// What ciphertexts hold, and functions of it.
pub use aglet_schemes::fhew::{Domain, Gate, Integer, Message, PairTable, Table, Word, MAX_LOG2_FAILURE};
/// Its parameters, and what they are made of.
pub use aglet_schemes::fhew::{FhewLiteral, FhewParams};
