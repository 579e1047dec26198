//! The sets of gates and tables as JSON, for the command line.

use super::presets;
use crate::Error;
use aglet_rlwe::lwe::Method;
use aglet_rlwe::security::Secret;
use aglet_schemes::fhew::FhewParams;
use serde_json::{json, Value};

/// The method of blind rotation as users choose it: blocks of one coordinate are that of CGGI.
#[must_use]
pub fn method_name(params: &FhewParams) -> &'static str {
    match params.lwe().spec().method {
        Method::Blocks if params.lwe().spec().secret == Secret::Binary => "cggi",
        Method::Blocks => "block",
        other => other.name(),
    }
}

/// All sets, with their claims.
///
/// # Errors
/// None for what comes with Aglet.
pub fn presets() -> Result<Value, Error> {
    let rows = presets::ALL.iter().map(|(name, _)| {
        let params = presets::load(name)?;
        let (literal, lwe) = (params.literal(), params.lwe());
        Ok(json!({
            "name": name,
            "bits": params.message().space().ilog2(),
            "method": method_name(&params),
            "log_n": literal.log_n,
            "rank": literal.rank,
            "dimension": literal.dimension,
            "log_q": (literal.modulus as f64).log2(),
            "secret": literal.secret.to_string(),
            "security_bits": lwe.lwe_security().bits.min(lwe.glwe_security().bits),
            "log2_failure": params.log2_failure(),
            "squared_weights": literal.squared_weights,
            "key_bytes": literal.claims.as_ref().map(|c| c.key_bytes),
            "source": literal.source.trim(),
        }))
    });
    rows.collect::<Result<Vec<_>, Error>>().map(Value::Array)
}
