//! CKKS: arithmetic on vectors of complex numbers, approximate by its noise (Cheon, Kim, Kim, Song, eprint 2016/421).

mod batch;
mod ciphertext;
mod encode;
mod evaluator;
pub(crate) mod keys;
mod known;
mod pack;
pub mod params;
mod quadratic;
mod residues;
mod size;
pub mod stated;
mod transform;

pub use batch::Weight;
pub use ciphertext::{Ciphertext, Plaintext, Points};
pub use encode::{spread, too_large, Encoder, Number};
pub use evaluator::CkksEvaluator;
pub use known::Known;
pub use pack::{pack_shape, PackShape};
pub use params::{CkksLiteral, CkksParams};
pub use size::Size;
pub use stated::Stated;
pub use transform::{transform_shape, CkksTransform, TransformShape};

/// A CKKS ciphertext, shared: cloning costs nothing and contents never change.
pub type CkksCiphertext = std::sync::Arc<Ciphertext>;
