//! Bootstrapping for Aglet: stages made of circuits, and methods made of stages.
//!
//! A method is a folder: its steps ([`step::Step`]), its layout of limbs, its keys. A [`Plan`] is a list of stages that was proved,
//! a [`Pipeline`] runs it on ciphertexts and, in tests and models, on numbers in the clear, with noise, or as a count of work.
//! Levels are chain levels throughout (number of `Q` limbs minus one).
#![forbid(unsafe_code)]

pub mod blind_rotation;
pub mod error;
pub mod functional;
pub mod integer;
pub mod pipeline;
pub mod plan;
pub mod route;
pub mod ship;
pub mod slots_first;
pub mod step;

pub use blind_rotation::{BlindRotation, BootstrapKey};
pub use error::Error;
pub use pipeline::{Pipeline, Probe};
pub use plan::Plan;
pub use route::{CkksStep, Route};
pub use step::{KeyNeed, RunOn, Scaled, Stage, Step};
