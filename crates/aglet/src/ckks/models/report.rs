//! The machine, presets, plans and predictions as JSON, for the command line.

use crate::ckks::bootstrap::key::rotation_layout;
use crate::ckks::bootstrap::working_bytes;
use crate::ckks::{cost, precision, Method, Request, Route};
use crate::runtime::machine;
use crate::{presets, Error, Units};
use aglet_bootstrap::Step;
use aglet_ring::arch;
use aglet_rlwe::KeySwitchSpec;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use serde_json::{json, Value};

/// log2 of the failure probability: JSON has no infinity, so "cannot fail" is the string "-inf".
fn failure(params: &CkksParams) -> Value {
    match params.literal().claims.as_ref().and_then(|c| c.log2_p_fail) {
        Some(p) if p == f64::NEG_INFINITY => json!("-inf"),
        Some(p) => json!(p),
        None => Value::Null,
    }
}

/// The methods that a preset has levels for.
fn methods(params: &CkksParams) -> Vec<&'static str> {
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
        "features": machine::features(),
        "backends": arch::available().iter().map(|k| k.name()).collect::<Vec<_>>(),
        "backend": chosen.name(),
        "forced": std::env::var("AGLET_BACKEND").ok().filter(|name| !name.is_empty()),
        "cores": std::thread::available_parallelism().map_or(1, |n| n.get()),
        "memory_total_bytes": machine::memory_total().unwrap_or(0),
        "memory_available_bytes": machine::memory_available().unwrap_or(0),
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
            "log2_failure": failure(&params),
            "key_bytes": claims.as_ref().and_then(|c| c.key_bytes),
            "methods": methods(&params),
            "source": params.literal().source.trim(),
        }));
    }
    Ok(Value::Array(rows))
}

/// The plan of a bootstrap: stage table, work, keys and memory, without making a key; with units also the seconds that it will
/// take on one thread.
///
/// # Errors
/// Those of [`Route::new`].
pub fn plan(preset: &str, request: Request, units: Option<&Units>) -> Result<Value, Error> {
    let params = presets::load(preset, true)?;
    let route = Route::new(&params, request)?;
    let Route { params: own, plan, level, .. } = &route;
    let spec = route.small_spec(&params)?;
    let (shapes, n) = (route.shapes(spec.as_ref())?, params.n());
    let costs = cost::stages(&params, &route)?;
    let seconds = |work| units.map(|units| units.seconds(work, n));
    let arithmetic = KeySwitchSpec::balanced(&params, params.role(Role::EvalMod).end)?;
    let mut rotations = serde_json::Map::new();
    let mut stages = Vec::new();
    for ((stage, shape), cost) in plan.stages().iter().zip(&shapes).zip(&costs) {
        let (keys, bytes, note) = match (&stage.step, shape) {
            (Step::Transform { map, .. }, Some(s)) => {
                rotations.insert(stage.name.clone(), json!(s.rotations()));
                let (megabytes, digits) = (s.matrix_bytes as f64 / 1e6, s.spec.digits.len());
                let plural = if digits == 1 { "" } else { "s" };
                let note = format!("{} diagonals, {megabytes:.1} MB; {digits} digit{plural}", map.diagonals().len());
                (s.rotations().len(), s.key_bytes(n), note)
            }
            (Step::Trace { rotations: by }, _) => {
                let by = by.concat();
                rotations.insert(stage.name.clone(), json!(by));
                let spec = spec.clone().map_or_else(|| KeySwitchSpec::balanced(own, stage.level_in + 1), Ok)?;
                (by.len(), by.len() * spec.byte_count(n), String::new())
            }
            (Step::SparseSecret, _) => (
                1,
                KeySwitchSpec::to_sparse().byte_count(n),
                format!("weight {}", params.ephemeral_weight().unwrap_or(0)),
            ),
            (Step::ModRaise, _) => (1, KeySwitchSpec::from_sparse(own.q().len()).byte_count(n), String::new()),
            (Step::RaiseTransform { map, .. }, _) => {
                let keys = map.diagonals().len();
                let note = format!("{keys} diagonals, carried by the keys; 1 digit");
                (keys, keys * KeySwitchSpec::from_sparse(own.q().len()).byte_count(n), note)
            }
            (Step::EvalMod { eval_mod, parts }, _) => {
                let count = eval_mod.relinearizations(*parts);
                let note = format!("relinearization and conjugation keys, {count} relinearizations");
                // Those for products, then the one for conjugation.
                let mut keys =
                    if route.takes_spare_primes() { route.relinearisations()? } else { vec![arithmetic.clone()] };
                keys.extend(keys.last().cloned());
                (keys.len(), keys.iter().map(|spec| spec.byte_count(n)).sum(), note)
            }
            (Step::Settle(_), _) => (0, 0, "from raised primes to those of messages".into()),
            _ => (0, 0, String::new()),
        };
        stages.push(json!({
            "name": stage.name, "level_in": stage.level_in, "level_out": stage.level_out,
            "scale_in_log2": stage.scale_in.log2(), "scale_out_log2": stage.scale_out.log2(),
            "keys": keys, "key_bytes": bytes, "note": note,
            "work": cost::work_json(&cost.work, n), "seconds": seconds(&cost.work),
        }));
    }
    let ((boot, stored), other) = (route.key_bytes(&params)?, 2 * arithmetic.byte_count(n));
    let stored = stored + 2 * arithmetic.stored_bytes(&params)?;
    let matrices: usize = shapes.iter().flatten().map(|s| s.matrix_bytes).sum();
    let working = working_bytes(&params);
    let claims = params.literal().claims.clone();
    let Request { method, stage_count, size, slots, real, .. } = request;
    Ok(json!({
        "preset": preset, "method": method.name(), "stage_count": stage_count, "key_size": size.name(),
        "slot_count": slots, "real": real,
        "input_level": if method.keys() == Method::Lossy { stage_count } else { 0 }, "output_level": level,
        "log_n": params.log_n(), "log_qp": params.log_qp(), "security_bits": params.security().bits,
        "log2_failure": failure(&params), "precision_bits": claims.and_then(|c| c.precision_bits),
        "stages": stages, "rotations": rotations, "seconds": seconds(&costs.iter().map(|cost| cost.work).sum()),
        "key_bytes": boot, "key_bytes_seeded": stored, "other_key_bytes": other,
        "matrix_bytes": matrices, "working_bytes": working, "peak_bytes": boot + other + matrices + working,
    }))
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
pub fn precision(preset: &str, request: Request, by_stage: bool) -> Result<Value, Error> {
    let params = presets::load(preset, true)?;
    let found = precision::precision(&Route::new(&params, request)?, by_stage)?;
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
    Ok(json!(Units::measure(log_n, bits)?))
}
