//! The bootstrap of FHEW/TFHE: blind rotation, by one of several methods, and programmable (functional) bootstrapping with it.

pub mod blind_rotation;
pub mod functional;

pub use blind_rotation::{BlindRotation, Blocks, FhewBootstrapKey};
