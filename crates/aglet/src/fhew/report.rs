//! The sets of FHEW as JSON, for the command line.

use super::presets;
use crate::Error;
use aglet_cuda::BlindKey;
use aglet_rlwe::lwe::Method;
use aglet_rlwe::security::Secret;
use aglet_schemes::fhew::{Domain, FhewParams};
use serde_json::{json, Value};

/// The method of blind rotation, by the name that users choose.
#[must_use]
pub fn method_name(params: &FhewParams) -> &'static str {
    match params.lwe().spec().method {
        Method::Blocks if params.lwe().spec().secret == Secret::Binary => "cggi",
        Method::Blocks => "block",
        other => other.name(),
    }
}

/// Whether a card rotates by this set; the processor does where it has no kernel.
#[must_use]
pub fn on_card(params: &FhewParams) -> bool {
    let spec = params.lwe().spec();
    let blocks = matches!(spec.method, Method::Blocks | Method::Ginx);
    blocks && BlindKey::has(spec.log_n, spec.rank + 1, spec.gadget.levels)
}

/// All sets, with their claims.
///
/// # Errors
/// None for what comes with Aglet.
pub fn presets() -> Result<Value, Error> {
    let rows = presets::ALL.iter().map(|(name, _)| {
        let params = presets::load(name, presets::Security::NotChecked)?;
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
            "on_card": on_card(&params),
            "key_bytes": literal.claims.as_ref().map(|c| c.key_bytes),
            "source": literal.source.trim(),
        }))
    });
    rows.collect::<Result<Vec<_>, Error>>().map(Value::Array)
}

/// Standard deviations of each kind of noise of a set, and for each domain the distance from a message to a wrong one,
/// on the torus.
#[must_use]
pub fn noise(params: &FhewParams) -> Value {
    let noise = params.lwe().noise();
    let distance = |domain: Domain| (domain.name().to_string(), json!(params.message().within(domain).distance()));
    json!({
        "fresh": noise.fresh.sqrt(),
        "bootstrap": noise.blind_rotation.sqrt(),
        "key_switch": noise.key_switch.sqrt(),
        "mod_switch": noise.mod_switch.sqrt(),
        "decision": noise.decision(params.literal().squared_weights * noise.blind_rotation).sqrt(),
        "squared_weights": params.literal().squared_weights,
        "distance": Domain::ALL.map(distance).into_iter().collect::<serde_json::Map<_, _>>(),
    })
}
