//! Circuits that bootstrapping is built from, generic over the evaluator.

pub mod dft;
pub mod polynomial;
