//! CKKS for Python: the engine, its keys, plaintexts and ciphertexts. The public classes are in `python/aglet/ckks`.

mod bootstrap;
mod circuits;
mod engine;
mod files;
mod functional;
mod maps;
mod objects;
mod plans;

pub use engine::Engine;
pub use files::restore;
pub use functional::Functional;
pub use objects::{
    BootstrapKey, Ciphertext, ConjugationKey, Current, EncodedDiagonals, EncodedMap, EncodedWeights, FixedRotationKey,
    MatrixMultiplicationKey, Plaintext, PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
pub use plans::{plan, predicted_precision, presets, rotation_key_bytes, scratch_bytes};
