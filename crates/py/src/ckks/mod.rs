//! CKKS for Python: the engine, its keys, plaintexts and ciphertexts. `python/aglet/ckks` is the face of it.

mod bootstrap;
mod circuits;
mod engine;
mod files;
mod objects;

pub use bootstrap::request;
pub use engine::Engine;
pub use files::restore;
pub use objects::{
    BootstrapKey, Ciphertext, ConjugationKey, Current, EncodedDiagonals, EncodedWeights, FixedRotationKey,
    MatrixMultiplicationKey, Plaintext, PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
