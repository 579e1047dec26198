//! Bootstrapping for Aglet: stages made of circuits, and methods made of stages.
//!
//! Everything here is generic over [`aglet_schemes::Evaluator`], so that it runs on ciphertexts and, in tests, on numbers
//! in the clear. Levels are chain levels throughout (number of `Q` limbs minus one).
#![forbid(unsafe_code)]

pub mod error;
pub mod eval_mod;
pub mod pipeline;
pub mod plan;

pub use error::Error;
pub use eval_mod::{EvalMod, Function, Parts};
pub use pipeline::{Pipeline, Probe};
pub use plan::{Chain, Options, Plan, Stage, Step};
