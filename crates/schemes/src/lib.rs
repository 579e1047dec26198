//! Schemes of Aglet: the traits [`Evaluator`] and [`Approximate`] that circuits are written against, and the evaluators.
//!
//! [`clear::ClearEvaluator`] computes on numbers in the clear with the levels and scales of CKKS: circuits are tested on
//! it before they meet a ciphertext. [`noisy::NoisyEvaluator`] adds the noise that ciphertexts would have,
//! [`cost::CostEvaluator`] counts the work that they would be.
#![forbid(unsafe_code)]

pub mod approximate;
pub mod ckks;
pub mod clear;
pub mod cost;
pub mod error;
pub mod evaluator;
pub mod fhew;
pub mod forms;
pub mod integer;
pub mod linear_map;
pub mod noisy;
mod primes;
pub mod sample_map;
pub mod samples;
pub mod scalar;

pub use approximate::{Approximate, Pack, Product, Quadratic};
pub use error::Error;
pub use evaluator::Evaluator;
pub use forms::{Forms, Scale};
pub use linear_map::LinearMap;
pub use samples::SampleEvaluator;
pub use scalar::Scalar;
