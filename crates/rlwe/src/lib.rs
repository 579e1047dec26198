//! Lattice floor of Aglet: parameters and their security gate, keys, encryption, key switching, and
//! the bytes of polynomials.
//!
//! Parameters are data: an unchecked [`params::ParamsLiteral`] becomes immutable [`params::Params`] only through the
//! security gate of [`security`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ciphertext;
pub mod context;
pub mod encrypt;
pub mod error;
pub mod keys;
pub mod keyswitch;
pub mod params;
pub mod secret;
pub mod security;
pub mod settle;
pub mod wire;

pub use ciphertext::{Ciphertext, Plaintext};
pub use context::Context;
pub use encrypt::PublicKey;
pub use error::Error;
pub use keys::{KeyRole, KeySet};
pub use keyswitch::{Digits, KeySwitchSpec, SwitchingKey};
pub use secret::{KeyId, SecretKey};
