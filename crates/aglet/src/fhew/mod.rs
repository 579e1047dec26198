//! FHEW/TFHE as users see it: gates on bits and lookup tables on small integers. Each is a programmable bootstrap.
//!
//! | method of [`Engine`] | on | rotations |
//! |---|---|---|
//! | `gate`, `mux`, `not` | bits | 1, 2, 0; one more for three bits without a margin |
//! | `lookup`, `lookup_many` | messages of a [`Message`]: 2, 4, 8 or 16 of a [`Domain`], by a [`Table`] | 1; 2 in the full domain |
//! | `lookup_tree` | two to four messages by a [`TreeTable`], with a [`PackingKey`] | of two: 1 and 1 for each table; 2 more in the full domain |
//! | `sign`, `compare`, `equal` | an [`Integer`] of up to 20 bits, which does not wrap around | `ceil(bits / 4) + 1`; twice that |
//! | `floor`, `digits` | a [`Unsigned`] modulo `2^bits` | 2 for 5 bits; 2 or 4 a digit |
//! | `sum` | all of them | 0 |
//! | `compress` | all of them, packed and rounded for sending, with a [`PackingKey`] | 0 |
//! | `estimate` | any of these as [`Work`], before it runs | 0 |
//!
//! The caller keeps track of which kind a ciphertext has. The ciphertext itself carries its noise, and results that
//! would be wrong more often than 2^-128 are refused.

mod array;
mod card;
mod compress;
mod decrypt;
mod encrypt;
mod engine;
mod estimate;
mod memory;
mod numbers;
mod plans;
pub mod presets;
pub mod report;
mod tables;
mod workers;

pub use array::{Array, FhewContext, Form};
pub use card::CardMemory;
pub use encrypt::EncryptionKey;
pub(crate) use engine::fits;
pub use engine::{BootstrapKey, Engine};
pub use estimate::{Estimate, Work};
pub(crate) use memory::{room, room_of_seeds};

/// A comparison of two integers.
pub use aglet_bootstrap::fhew::functional::Order;
/// How several tables share one bootstrap.
pub use aglet_bootstrap::fhew::functional::Way;
/// A ciphertext of an [`Engine`]: a bit, a message, or a signed or unsigned integer.
pub use aglet_rlwe::lwe::LweCiphertext as Ciphertext;
/// The compact public key of an [`Engine`].
pub use aglet_rlwe::lwe::LwePublicKey as PublicKey;
/// The secret key of an [`Engine`].
pub use aglet_rlwe::lwe::LweSecretKey as SecretKey;
/// The packing key, which LUTs on two messages need.
pub use aglet_rlwe::lwe::PackingKey;
/// The contents of ciphertexts, and functions on them.
pub use aglet_schemes::fhew::{Domain, Gate, Integer, Message, Table, TreeTable, Unsigned, MAX_LOG2_FAILURE};
/// Its parameters, and what they are made of.
pub use aglet_schemes::fhew::{FhewLiteral, FhewParams};
