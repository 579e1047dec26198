//! Gates and tables for Python: the engine, its keys, and arrays of ciphertexts. `python/aglet/lookup` is the face of it.

mod engine;
mod objects;

pub use engine::LookupEngine;
pub use objects::{LookupKey, LweArray, LweSecretKey};
