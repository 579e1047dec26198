//! BGV/BFV for Python: the engine of exact integers, its keys, plaintexts and ciphertexts. The public classes are in
//! `python/aglet/integer`.

mod circuits;
mod engine;
mod files;
mod objects;

pub use engine::{integer_plan, integer_presets, IntegerEngine};
pub use files::restore;
pub use objects::{
    IntegerBootstrapKey, IntegerCiphertext, IntegerFixedRotationKey, IntegerPlaintext, IntegerPublicKey,
    IntegerRelinearizationKey, IntegerRotationKey, IntegerSecretKey,
};
