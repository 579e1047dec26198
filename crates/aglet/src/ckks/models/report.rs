//! The machine, presets, plans and predictions as JSON, for the command line.

use crate::ckks::bootstrap::key::rotation_layout;
use crate::ckks::failure::Shortfall;
use crate::ckks::memory::{self, Memory};
use crate::ckks::{cost, failure, precision, Method, Request, Route};
use crate::runtime::machine;
use crate::{presets, Error, Units};
use aglet_bootstrap::ship::few_slots;
use aglet_bootstrap::Step;
use aglet_ring::arch;
use aglet_schemes::ckks::CkksParams;
use serde_json::{json, Value};

/// The methods that a preset has levels for.
fn methods(params: &CkksParams) -> Vec<&'static str> {
    if params.rotor_shape().is_some() {
        // Where 0 and 1 fill all of q0, the sine is no number any more.
        let all = [Method::Regular.name(), Method::Bits.name()];
        let bits_only = params.message_ratio_log2().is_some_and(|ratio| ratio <= 1.0);
        return all[usize::from(bits_only)..].to_vec();
    }
    let able = |method: &&Method| match (method.keys(), params.regular_level()) {
        (_, None) => false,
        (Method::Regular, _) => true,
        (_, Some(level)) => level < params.max_level(),
    };
    Method::ALL.iter().filter(able).map(|m| m.name()).collect()
}

/// This machine: processor, backends, cores and memory.
///
/// # Errors
/// If `AGLET_BACKEND` names a backend that does not exist or that this processor lacks.
pub fn doctor() -> Result<Value, Error> {
    let chosen = arch::chosen()?;
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cpu": machine::cpu(),
        "mhz": machine::mhz(),
        "features": machine::features(),
        "backends": arch::available().iter().map(|k| k.name()).collect::<Vec<_>>(),
        "backend": chosen.name(),
        "forced": std::env::var("AGLET_BACKEND").ok().filter(|name| !name.is_empty()),
        "cores": std::thread::available_parallelism().map_or(1, |n| n.get()),
        "memory_total_bytes": machine::memory_total(),
        "memory_available_bytes": machine::memory_available(),
        "huge_pages": machine::huge_pages(),
    }))
}

/// All presets, with their claims.
pub fn presets() -> Result<Value, Error> {
    let mut rows = Vec::new();
    for (name, _) in presets::ALL {
        let params = presets::load(name, true)?;
        let claims = params.literal().claims.clone();
        rows.push(json!({
            "name": name,
            "log_n": params.log_n(),
            "slots": params.slots(),
            "prime_bits": params.literal().moduli.iter().map(|g| g.bits).max(),
            "log_q": params.log_q(),
            "log_p": params.log_p(),
            "log_qp": params.log_qp(),
            "secret": params.secret().to_string(),
            "security_bits": params.security().bits,
            "levels": params.max_level(),
            "scale_bits": params.scale_bits(),
            "precision_bits": claims.as_ref().and_then(|c| c.precision_bits),
            "log2_failure": claims.as_ref().and_then(|c| c.log2_p_fail),
            "precision_bits_two": claims.as_ref().and_then(|c| c.precision_bits_two),
            "log2_failure_two": claims.as_ref().and_then(|c| c.log2_p_fail_two),
            "key_bytes": claims.as_ref().and_then(|c| c.key_bytes),
            "methods": methods(&params),
            "source": params.literal().source.trim(),
            "experimental": params.literal().experimental,
            "by_roots": params.rotor_shape().is_some(),
            "few_slots": few_slots(&params),
            "sparse_secrets_bits": params.rotor_shape().map(|shape| shape.places.meet_bits(params.n())),
        }));
    }
    Ok(Value::Array(rows))
}

/// The plan of a bootstrap: stage table, work, keys and memory, without making a key; with units also the seconds that it will
/// take on one thread.
///
/// # Errors
/// Those of [`Route::new`].
pub fn plan(params: &CkksParams, request: Request, units: Option<&Units>) -> Result<Value, Error> {
    let route = Route::new(params, request)?;
    let Route { params: own, plan, layout } = &route;
    let (keys, n) = (route.stage_keys(params)?, params.n());
    let (costs, demand) = cost::work_and_demand(&route, cost::key_shapes(params, &route)?, 1)?;
    let memory = Memory::with(params, &route, &demand)?;
    let seconds = |work| units.map(|units| units.seconds(work, n));
    let mut rotations = serde_json::Map::new();
    let mut stages = Vec::new();
    for ((stage, keys), cost) in plan.stages().iter().zip(&keys).zip(&costs) {
        if let Some(by) = stage.step.rotations() {
            rotations.insert(stage.name.clone(), json!(by));
        }
        stages.push(json!({
            "name": stage.name, "level_in": stage.from.level, "level_out": stage.to.level,
            "scale_in_log2": stage.from.scale.log2(), "scale_out_log2": stage.to.scale.log2(),
            "keys": keys.len(), "key_bytes": keys.iter().map(|key| key.spec.byte_count(n)).sum::<usize>(),
            "note": stage.step.describe(own, keys)?,
            "work": cost::work_json(&cost.work, n), "seconds": seconds(&cost.work),
        }));
    }
    let precision_bits = failure::claimed(params, 1);
    let log2_short = |short: f64| match precision_bits {
        Some(mean_bits) => failure::log2_failure(params, &route, Shortfall { mean_bits, short }, 1),
        None => Ok(None),
    };
    let Request { method, stage_count, size, slots, real, .. } = request;
    Ok(json!({
        "preset": params.name(), "experimental": params.literal().experimental, "method": method.name(), "stage_count": stage_count, "key_size": size.name(),
        "slot_count": slots, "real": real,
        "input_level": if route.rotor().is_some() { 0 } else { method.input_level(stage_count) }, "output_level": layout.level,
        "log_n": params.log_n(), "log_qp": params.log_qp(), "security_bits": params.security().bits,
        "log2_failure": log2_short(failure::SHORT)?, "log2_four_bits_short": log2_short(4.0)?, "precision_bits": precision_bits,
        "stages": stages, "rotations": rotations, "seconds": seconds(&costs.iter().map(|cost| cost.work).sum()),
        "key_bytes": memory.bootstrap_key, "key_bytes_seeded": memory.stored_keys, "other_key_bytes": memory.other_keys,
        "matrix_bytes": memory.matrices, "working_bytes": memory.scratch + memory.base, "peak_bytes": memory.peak(),
    }))
}

/// Bytes of the polynomials of so many bootstraps side by side, which stay with the engine.
///
/// # Errors
/// Those of [`Route::new`].
pub fn scratch_bytes(params: &CkksParams, request: Request, count: usize) -> Result<usize, Error> {
    let route = Route::new(params, request)?;
    Ok(memory::at_once(&cost::demand(&route, cost::key_shapes(params, &route)?, count)?))
}

/// Bytes of the rotation key, which a small bootstrap key leaves its rotations to: in memory and when stored. Takes seconds at
/// N = 2^16, as it lays out every small route.
///
/// # Errors
/// [`Error::Parameter`] for a preset or a number of slots that does not exist.
pub fn rotation_key_bytes(preset: &str, slots: usize) -> Result<(usize, usize), Error> {
    let params = presets::load(preset, true)?;
    if !slots.is_power_of_two() || slots > params.slots() {
        let most = params.slots();
        return Err(Error::Parameter(format!("slot_count = {slots} is not a power of two up to {most}; choose one.")));
    }
    let layout = rotation_layout(&params, slots)?;
    let stored = layout.iter().map(|(_, _, spec)| spec.stored_bytes(&params)).sum::<Result<usize, _>>()?;
    Ok((layout.iter().map(|(_, _, spec)| spec.byte_count(params.n())).sum(), stored))
}

/// The precision that a bootstrap will have, in bits: of the mean and the worst slot, of the approximation alone and, if asked
/// for, of the noise of each stage alone. A stage without noise has none (null).
///
/// # Errors
/// Those of [`Route::new`].
pub fn precision(params: &CkksParams, request: Request, by_stage: bool) -> Result<Value, Error> {
    let found = precision::precision(&Route::new(params, request)?, by_stage)?;
    let stages = found.stages.iter().map(|(name, bits)| json!({ "name": name, "noise_bits": bits }));
    Ok(json!({
        "mean_bits": found.mean_bits, "worst_bits": found.worst_bits,
        "approximation_bits": found.approximation_bits, "stages": stages.collect::<Vec<_>>(),
    }))
}

/// What a unit of each kind of work takes here, in microseconds.
///
/// # Errors
/// Those of [`Units::measure`].
pub fn units(log_n: u32, bits: u32) -> Result<Value, Error> {
    Ok(Units::measure(log_n, bits)?.iter().map(|(name, us)| (name.to_string(), json!(us))).collect())
}
