//! `aglet._core`: the engine for Python. `python/aglet/_core.pyi` says what stands here, and a test compares the two.
//!
//! Nothing is computed in this crate. It converts arguments, lets go of the interpreter lock while the engine works, keeps
//! Ctrl-C alive meanwhile, and turns errors into the exceptions of `aglet.errors`.

mod bridge;
mod ckks;
mod errors;
mod family;
mod files;
mod integer;
mod lookup;
mod reports;
mod wait;

/// The compiled half of Aglet; `aglet.Engine` is the face of it.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::bridge::{Bridge, BridgeKey, IntegerBridge, IntegerBridgeKey};
    #[pymodule_export]
    use crate::ckks::{
        BootstrapKey, Ciphertext, ConjugationKey, EncodedDiagonals, EncodedWeights, Engine, FixedRotationKey,
        MatrixMultiplicationKey, Plaintext, PublicKey, RelinearizationKey, RotationKey, SecretKey,
    };
    #[pymodule_export]
    use crate::files::{restore, stored_name};
    #[pymodule_export]
    use crate::integer::{
        integer_plan, integer_presets, IntegerBootstrapKey, IntegerCiphertext, IntegerEngine, IntegerPlaintext,
        IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerSecretKey,
    };
    #[pymodule_export]
    use crate::lookup::{lookup_presets, LookupEngine, LookupKey, LweArray, LweSecretKey, PackingKey};
    #[pymodule_export]
    use crate::reports::{
        bench_ntt, doctor, peak_rss_bytes, plan, predicted_precision, presets, rotation_key_bytes, scratch_bytes,
        unit_costs,
    };
}
