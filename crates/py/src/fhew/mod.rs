//! FHEW/TFHE for Python: the engine, its keys, and arrays of ciphertexts. The public classes are in
//! `python/aglet/fhew`.

mod engine;
mod estimate;
mod files;
mod numbers;
mod objects;
mod tables;

pub use engine::{fhew_presets, FhewEngine};
pub use files::restore;
pub use objects::{FhewArray, FhewBootstrapKey, FhewPublicKey, FhewSecretKey, PackingKey};
