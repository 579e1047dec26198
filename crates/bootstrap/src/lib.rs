//! Bootstrapping for Aglet: methods made of stages, and stages made of circuits.
//!
//! Each method is a folder with its steps ([`step::Step`]), its layout of limbs and its keys. A [`Plan`] is a list of
//! stages that is proved to fit together. A [`Pipeline`] runs it on ciphertexts and, in tests and models, on numbers in
//! the clear, with noise, or as a count of work. Levels are always chain levels (the number of `Q` limbs minus one).
#![forbid(unsafe_code)]

pub mod bootstrapper;
pub mod ckks;
pub mod error;
pub mod fault;
pub mod fhew;
pub mod integer;
pub mod own_keys;
pub mod packed;
pub mod pipeline;
pub mod plan;
pub mod step;

pub use bootstrapper::{Bootstrapper, StateOf};
pub use ckks::{BootstrapCircuit, CkksStep};
pub use error::Error;
pub use fault::ParameterFault;
pub use fhew::{BlindRotation, FhewBootstrapKey};
pub use own_keys::OwnKeys;
pub use packed::{PackedKey, PackedKeys, PackedNeed};
pub use pipeline::{Pipeline, Probe};
pub use plan::Plan;
pub use step::{KeyNeed, Run, RunOn, Scaled, Stage, Step};
