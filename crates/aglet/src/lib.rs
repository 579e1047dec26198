//! Aglet: homomorphic encryption with bootstrapping. The Rust face of the library, which the Python package wraps.
//!
//! ```
//! use aglet::{Control, Engine, KeySize};
//! use num_complex::Complex64;
//!
//! # fn main() -> Result<(), aglet::Error> {
//! // "toy" is a ring for tests, with no security; users take "regular".
//! let engine = Engine::new(aglet::presets::load("toy", true)?, None, 1)?;
//! let sk = engine.create_secret_key()?;
//! let relin = engine.create_relinearisation_key(&sk)?;
//! let message = vec![Complex64::new(0.5, 0.0); engine.slots()];
//! let ct = engine.encrypt_with_secret(&engine.encode(&message, 3)?, &sk)?;
//! let square = engine.multiply(&ct, &ct, Some(&relin))?;
//! let found = engine.decrypt(&square, &sk)?;
//! assert!((found[0].re - 0.25).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod arithmetic;
mod bootstrap;
mod bootstrap_key;
mod circuits;
mod control;
pub mod cost;
mod engine;
mod error;
mod iterated;
pub mod machine;
mod many;
mod matrix;
pub mod model;
pub mod presets;
pub mod report;
mod route;
pub mod sizes;
mod units;
pub mod wire;

pub use bootstrap::{BootstrapKeys, StageRun};
pub use bootstrap_key::BootstrapKey;
pub use circuits::{PolynomialBasis, SumWeight};
pub use control::Control;
pub use engine::{Engine, FixedRotationKey, GaloisKey, RelinearisationKey, RotationKey};
pub use error::{Error, Kind};
pub use iterated::MAX_ITERATIONS;
pub use matrix::{Matrix, MatrixKey};
pub use route::{KeySize, Method, Request, Route};
pub use units::Units;

/// A plaintext of an [`Engine`].
pub use aglet_rlwe::Plaintext;
pub use aglet_rlwe::{KeyId, PublicKey, SecretKey};
/// A ciphertext of an [`Engine`]; cheap to clone, never changed.
pub use aglet_schemes::ckks::CkksCiphertext as Ciphertext;
