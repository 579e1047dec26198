//! Gates and tables for Python: the engine, its keys, and arrays of ciphertexts. `python/aglet/lookup` is the face of it.

mod engine;
mod estimate;
mod files;
mod numbers;
mod objects;
mod tables;

pub use engine::{lookup_presets, LookupEngine};
pub use files::restore;
pub use objects::{LookupKey, LweArray, LweSecretKey, PackingKey};
