//! Gates and look-up tables as users see them: bits and small integers, each bootstrap of which evaluates a function.

mod array;
mod engine;
pub mod presets;

pub use array::{Array, Form, Home};
pub use engine::{Engine, LookupKey};

/// A bit or message of an [`Engine`].
pub use aglet_rlwe::lwe::LweCiphertext as Ciphertext;
/// The secret key of an [`Engine`].
pub use aglet_rlwe::lwe::LweSecretKey as SecretKey;
/// Its parameters, and what they are made of.
pub use aglet_schemes::fhew::{FhewLiteral, FhewParams, Gate};
