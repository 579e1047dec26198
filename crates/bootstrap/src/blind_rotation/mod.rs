//! Bootstraps of LWE ciphertexts: a look-up table is turned by the phase of a ciphertext, and its constant coefficient is the result.

mod blocks;

pub use blocks::BlindRotation;
