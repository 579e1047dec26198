//! Exact integers for Python: the engine, its keys, plaintexts and ciphertexts. `python/aglet/integer` is the face of it.

mod circuits;
mod engine;
mod files;
mod objects;

pub use engine::{integer_plan, integer_presets, IntegerEngine};
pub use files::restore;
pub use objects::{
    IntegerBootstrapKey, IntegerCiphertext, IntegerPlaintext, IntegerPublicKey, IntegerRelinearizationKey,
    IntegerRotationKey, IntegerSecretKey,
};
