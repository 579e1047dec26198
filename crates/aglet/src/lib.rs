//! Aglet: homomorphic encryption with bootstrapping. The Rust face of the library, which the Python package wraps.
//!
//! ```
//! use aglet::ckks::Engine;
//!
//! # fn main() -> Result<(), aglet::Error> {
//! // "toy" is a ring for tests, with no security; users take "regular".
//! let engine = Engine::new(aglet::ckks::presets::load("toy", aglet::ckks::presets::Security::NotChecked)?, None, 1)?;
//! let sk = engine.create_secret_key()?;
//! let relin = engine.create_relinearization_key(&sk)?;
//! let message = vec![0.5; engine.slots()];
//! let ct = engine.encrypt_with_secret(&engine.encode(&message, 3)?, &sk)?;
//! let square = engine.multiply(&ct, &ct, Some(&relin))?;
//! let found = engine.decrypt(&square, &sk)?;
//! assert!((found[0].re - 0.25).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod bootstrap_keys;
mod bootstraps;
mod card_memory;
pub mod ckks;
mod error;
pub mod fhew;
pub mod integer;
mod presets;
mod process_memory;
pub mod runtime;
pub mod scheme_switch;
pub mod wire;

/// The security check that parameters must pass.
pub use aglet_rlwe::security::Security;
pub use aglet_rlwe::{KeyId, PublicKey, SecretKey};
pub use aglet_wire::{Error as WireError, FormatError};
pub use error::{Error, ErrorKind, OtherEngine, Served};
pub use error::{ForeignError, LevelError, MemoryError, MissingKeyError, NoiseError, ParameterError, RangeError};
pub use runtime::{Control, Runtime, Units};
