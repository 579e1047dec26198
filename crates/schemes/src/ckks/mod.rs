//! CKKS: arithmetic on vectors of complex numbers, approximate by its noise (Cheon, Kim, Kim, Song, eprint 2016/421).

pub mod approximate;
mod batch;
mod ciphertext;
pub mod clear;
pub mod cost;
mod encode;
mod evaluator;
mod known;
pub mod noisy;
pub mod params;
mod pattern;
mod quadratic;
mod residues;
mod sample;
mod size;
pub mod stated;
mod transform;

pub use batch::Weight;
pub use ciphertext::{Ciphertext, Plaintext, Points};
pub use encode::{too_large, Encoder, Number};
pub use evaluator::CkksEvaluator;
pub use known::Known;
pub use params::{CkksLiteral, CkksParams};
pub use pattern::Pattern;
pub use sample::Sample;
pub use size::Size;
pub use stated::Stated;
pub use transform::{transform_shape, CkksTransform, TransformShape};

/// A shared CKKS ciphertext. Cloning is free, and contents never change.
pub type CkksCiphertext = std::sync::Arc<Ciphertext>;
