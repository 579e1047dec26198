//! `aglet._core`: the engine for Python. `python/aglet/_core.pyi` lists its names and types, and a test compares the
//! two.
//!
//! This crate computes nothing. It converts arguments, releases the GIL while the engine works, keeps Ctrl-C working
//! meanwhile, and turns errors into the exceptions of `aglet.errors`.

mod ckks;
mod errors;
mod family;
mod fhew;
mod files;
mod integer;
mod reports;
mod restore;
mod scheme_switch;
mod wait;

/// The compiled half of Aglet. The public classes are in `aglet`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::ckks::{
        plan, predicted_precision, presets, rotation_key_bytes, scratch_bytes, BootstrapKey, Ciphertext,
        ConjugationKey, EncodedDiagonals, EncodedMap, EncodedWeights, Engine, FixedRotationKey, Functional,
        MatrixMultiplicationKey, Plaintext, PublicKey, RelinearizationKey, RotationKey, SecretKey,
    };
    #[pymodule_export]
    use crate::fhew::{
        fhew_presets, FhewArray, FhewBootstrapKey, FhewEngine, FhewPublicKey, FhewSecretKey, PackingKey,
    };
    #[pymodule_export]
    use crate::files::stored_name;
    #[pymodule_export]
    use crate::integer::{
        integer_plan, integer_presets, IntegerBootstrapKey, IntegerCiphertext, IntegerEngine, IntegerFixedRotationKey,
        IntegerPlaintext, IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerSecretKey,
    };
    #[pymodule_export]
    use crate::reports::{bench_ntt, cards, doctor, peak_rss_bytes, test_card, unit_costs};
    #[pymodule_export]
    use crate::restore::restore;
    #[pymodule_export]
    use crate::scheme_switch::{IntegerSchemeSwitch, IntegerSchemeSwitchKey, SchemeSwitch, SchemeSwitchKey};
}
