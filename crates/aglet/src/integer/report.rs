//! The sets of integers as JSON, for the command line.

use super::presets;
use crate::Error;
use serde_json::{json, Value};

/// All sets, with their claims.
///
/// # Errors
/// None for what comes with Aglet.
pub fn presets() -> Result<Value, Error> {
    let rows = presets::ALL.iter().map(|(name, _)| {
        let params = presets::load(name)?;
        let key = super::engine::key_bytes(&params)?;
        Ok(json!({
            "name": name,
            "log_n": params.log_n(),
            "levels": params.max_level(),
            "plaintext_modulus": params.plain().value(),
            "log_qp": params.log_qp(),
            "security_bits": params.security().bits,
            "secret": params.secret().to_string(),
            "primes": params.q().len(),
            "special_primes": params.p().len(),
            "relinearization_key_bytes": key,
            "rotation_key_bytes": key * super::rotation_galois(&params, 1 << params.log_slots()).len(),
            "ciphertext_bytes": 16 * params.n() * params.q().len(),
            "source": params.literal().source.trim(),
        }))
    });
    rows.collect::<Result<Vec<_>, Error>>().map(Value::Array)
}
