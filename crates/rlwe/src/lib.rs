//! Lattice floor of Aglet: parameters and their security gate, keys, encryption, key switching, and
//! the bytes of polynomials.
//!
//! No scheme is known here: what a sample means, and what the primes of a chain are for, say the crates above. Parameters are
//! data: an unchecked [`params::ParamsSpec`] becomes immutable [`params::Params`] only through the security gate of
//! [`security`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod context;
pub mod control;
pub mod distribution;
pub mod encrypt;
pub mod error;
pub mod fault;
pub mod gadget;
pub mod gadget_digits;
pub mod key_id;
pub mod keys;
pub mod keyswitch;
pub mod lwe;
pub mod mod_switch;
pub mod params;
pub mod ring_switch;
pub mod sample;
pub mod secret;
pub mod security;
pub mod switching_key;
pub mod wire;

pub use context::Context;
pub use control::Control;
pub use encrypt::PublicKey;
pub use error::Error;
pub use fault::ParameterFault;
pub use gadget::KeySwitchSpec;
pub use keys::{KeyRole, KeySet};
pub use params::Params;
pub use sample::Sample;
pub use secret::{KeyId, SecretKey};
pub use switching_key::SwitchingKey;

#[cfg(test)]
#[path = "tests/chain.rs"]
mod chain;
