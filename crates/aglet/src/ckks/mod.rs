//! CKKS as users see it: the engine with its levels and scales, circuits on ciphertexts, bootstraps, and models of
//! them.

pub(crate) mod arithmetic;
mod assumed;
pub(crate) mod bootstrap;
mod card_maps;
mod card_room;
mod circuits;
pub(crate) mod engine;
mod fits;
pub(crate) mod map;
pub(crate) mod matrix;
mod models;
pub mod presets;
pub(crate) mod rotation_layout;
mod sharing;
pub mod sizes;

pub use bootstrap::{
    BootstrapCircuit, BootstrapKey, BootstrapKeys, BootstrapKind, Functional, FunctionalEstimate, KeySize, Limits,
    Method, Request, StageRun, MAX_ITERATIONS,
};
pub use circuits::{EncodedWeights, PolynomialBasis, SumWeight};
pub use engine::{Engine, FixedRotationKey, GaloisKey, RelinearizationKey, RotationKey};
pub use map::{EncodedMap, MapStep};
pub use matrix::{EncodedMatrix, MatrixKey};
pub use models::{card, cost, failure, memory, precision, report};
pub use sharing::{Shared, Sharing};

/// A periodic function, of a lookup table or by its Fourier series.
pub use aglet_circuits::Trigonometric;

/// A matrix that a ciphertext is multiplied by.
pub use aglet_circuits::matrix::Matrix;
/// A ciphertext of an [`Engine`]. It is cheap to clone and never changes.
pub use aglet_schemes::ckks::CkksCiphertext as Ciphertext;
/// The elements of messages and plaintext operands. Their type says whether they are real.
pub use aglet_schemes::ckks::Number;
/// A plaintext of an [`Engine`].
pub use aglet_schemes::ckks::Plaintext;
/// Its parameters, and what they are made of.
pub use aglet_schemes::ckks::{CkksLiteral, CkksParams};
/// The size and noise that ciphertexts state, and the points of sign and bit bootstraps.
pub use aglet_schemes::ckks::{Points, Stated};
