//! The schemes of Aglet: CKKS, BGV/BFV and FHEW before the bootstrap, and the traits [`Evaluator`] and [`Approximate`]
//! that circuits use.
//!
//! [`ckks::clear::ClearEvaluator`] computes on numbers in the clear with the levels and scales of CKKS, so circuits are
//! tested on it first. [`ckks::noisy::NoisyEvaluator`] adds the noise of ciphertexts, and [`ckks::cost::CostEvaluator`] counts
//! their work.
#![forbid(unsafe_code)]

pub mod ckks;
pub mod error;
pub mod evaluator;
pub mod fault;
pub mod fhew;
pub mod forms;
pub mod integer;
pub mod linear_map;
pub mod missing_keys;
mod primes;
pub mod sample_cost;
pub mod sample_map;
pub mod samples;
pub mod scalar;
mod significant;
pub mod spread;

pub use ckks::approximate::Approximate;
pub use error::Error;
pub use evaluator::{Evaluator, Sum};
pub use fault::ParameterFault;
pub use forms::{Forms, Product, Quadratic, Scale};
pub use linear_map::LinearMap;
pub use samples::SampleEvaluator;
pub use scalar::Scalar;
pub use significant::significant;
