//! The machine, presets, plans and predictions as JSON, for the command line.

use crate::ckks::card::CardMemory;
use crate::ckks::failure::Shortfall;
use crate::ckks::memory::Memory;
use crate::ckks::presets;
use crate::ckks::rotation_layout::rotation_layout;
use crate::ckks::{cost, failure, precision, BootstrapCircuit, Functional, Method, Request};
use crate::runtime::machine;
use crate::{process_memory, Error, Units};
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::{Bootstrapper, Step};
use aglet_cuda::{Card, CardInfo, Driver};
use aglet_ring::arch;
use aglet_schemes::ckks::CkksParams;
use serde_json::{json, Value};
use std::sync::Arc;

/// The methods that a preset has levels for.
fn methods(params: &CkksParams) -> Vec<&'static str> {
    BootstrapKind::of(params).rules().methods(params).into_iter().map(Method::name).collect()
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

/// The NVIDIA cards of this machine.
///
/// # Errors
/// [`Error::Device`] says why there is none.
pub fn cards() -> Result<Value, Error> {
    let card = |card: &CardInfo| {
        json!({
            "index": card.index,
            "name": card.name,
            "capability": format!("{}.{}", card.capability.0, card.capability.1),
            "memory_bytes": card.memory,
            "arithmetic": format!("{:?}", card.arithmetic),
        })
    };
    Ok(Driver::cards()?.iter().map(card).collect())
}

/// Opens a card for its self-test, and closes it.
///
/// # Errors
/// [`Error::Device`].
pub fn test_card(index: usize) -> Result<(), Error> {
    Ok(Card::open(index).map(drop)?)
}

/// All presets, with their claims.
pub fn presets() -> Result<Value, Error> {
    let mut rows = Vec::new();
    for (name, _) in presets::ALL {
        let params = presets::load(name, presets::Security::NotChecked)?;
        let (claims, rules) = (params.literal().claims.clone(), BootstrapKind::of(&params).rules());
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
            "raises_modulus": rules.raises_modulus(),
            "few_slots": rules.few_slots(&params),
            "sparse_secrets_bits": rules.secret_bits(&params),
        }));
    }
    Ok(Value::Array(rows))
}

/// The plan of a bootstrap, or of a functional one: stage table, work, keys and memory, without making a key. With unit
/// costs it includes the seconds on one thread.
///
/// # Errors
/// Those of [`BootstrapCircuit::new`] and [`BootstrapCircuit::with_functions`].
pub fn plan(
    params: &CkksParams,
    request: Request,
    functional: Option<&Arc<Functional>>,
    units: Option<&Units>,
) -> Result<Value, Error> {
    let circuit = match functional {
        Some(functional) => BootstrapCircuit::with_functions(params, request, functional)?,
        None => BootstrapCircuit::new(params, request)?,
    };
    let BootstrapCircuit { params: own, plan, .. } = &circuit;
    let (keys, bytes, n) = (circuit.stage_keys()?, circuit.stage_key_bytes()?, params.n());
    let cost::Counted { stages: costs, demand, card } = cost::counted(&circuit, cost::key_shapes(&circuit)?, 1)?;
    let (memory, card) = (Memory::with(&circuit, &demand)?, CardMemory::with(&circuit, card)?);
    let seconds = |work| units.map(|units| units.seconds(work, n));
    let mut rotations = serde_json::Map::new();
    let mut stages = Vec::new();
    for ((stage, (keys, bytes)), cost) in plan.stages().iter().zip(keys.iter().zip(&bytes)).zip(&costs) {
        if let Some(by) = stage.step.rotations() {
            rotations.insert(stage.name.clone(), json!(by));
        }
        stages.push(json!({
            "name": stage.name, "level_in": stage.from.level, "level_out": stage.to.level,
            "scale_in_log2": stage.from.scale.log2(), "scale_out_log2": stage.to.scale.log2(),
            "keys": keys.len(), "key_bytes": bytes,
            "note": stage.step.describe(own, keys)?,
            "work": cost::work_json(&cost.work, n), "seconds": seconds(&cost.work),
        }));
    }
    // The failure of a functional bootstrap depends on its input: `Engine::functional_estimate` says it.
    let precision_bits = if functional.is_some() { None } else { failure::claimed(params, 1) };
    let log2_short = |short: f64| match precision_bits {
        Some(mean_bits) => failure::log2_failure(params, &circuit, Shortfall { mean_bits, short }, 1),
        None => Ok(None),
    };
    let Request { method, stage_count, size, slots, real, .. } = request;
    Ok(json!({
        "preset": params.name(), "experimental": params.literal().experimental, "method": method.name(), "stage_count": stage_count, "key_size": size.name(),
        "slot_count": slots, "real": real,
        // Inputs of any level serve: slots_to_coeffs has primes of its own.
        "input_level": 0, "output_level": circuit.level,
        "log_n": params.log_n(), "log_qp": params.log_qp(), "security_bits": params.security().bits,
        "log2_failure": log2_short(failure::SHORT)?, "log2_four_bits_short": log2_short(4.0)?, "precision_bits": precision_bits,
        "stages": stages, "rotations": rotations, "seconds": seconds(&costs.iter().map(|cost| cost.work).sum()),
        "key_bytes": memory.bootstrap_key, "key_bytes_seeded": memory.stored_keys, "other_key_bytes": memory.other_keys,
        "matrix_bytes": memory.matrices, "working_bytes": memory.scratch + memory.base, "peak_bytes": memory.peak(),
        "card_bytes": card.json(),
    }))
}

/// The bytes that `count` bootstraps side by side take on a card.
///
/// # Errors
/// Those of [`BootstrapCircuit::new`].
pub fn card_bytes(params: &CkksParams, request: Request, count: usize) -> Result<Value, Error> {
    Ok(CardMemory::of(&BootstrapCircuit::new(params, request)?, count)?.json())
}

/// Bytes of the temporary polynomials of `count` bootstraps side by side. The engine keeps them.
///
/// # Errors
/// Those of [`BootstrapCircuit::new`].
pub fn scratch_bytes(params: &CkksParams, request: Request, count: usize) -> Result<usize, Error> {
    let circuit = BootstrapCircuit::new(params, request)?;
    Ok(process_memory::at_once(&cost::demand(&circuit, cost::key_shapes(&circuit)?, count)?))
}

/// Bytes of the rotation key that a small bootstrap key needs beside it: in memory and when stored. Takes seconds at N
/// = 2^16, as it plans every small circuit.
///
/// # Errors
/// [`Error::Parameter`] for a preset or a number of slots that does not exist.
pub fn rotation_key_bytes(preset: &str, slots: usize) -> Result<(usize, usize), Error> {
    let params = presets::load(preset, presets::Security::NotChecked)?;
    if !slots.is_power_of_two() || slots > params.slots() {
        return Err(aglet_bootstrap::Error::SlotCount { slots, most: params.slots() }.into());
    }
    let layout = rotation_layout(&params, slots)?;
    let stored = layout.iter().map(|(_, _, spec)| spec.stored_bytes(&params)).sum::<Result<usize, _>>()?;
    let bytes = layout.iter().map(|(_, _, spec)| spec.byte_count(&params)).sum::<Result<usize, _>>()?;
    Ok((bytes, stored))
}

/// The predicted precision of a bootstrap in bits: of the mean and the worst slot, of the approximation alone and, on
/// request, with the noise of each stage alone (null for a stage without noise).
///
/// # Errors
/// Those of [`BootstrapCircuit::new`].
pub fn precision(params: &CkksParams, request: Request, by_stage: bool) -> Result<Value, Error> {
    let found = precision::precision(&BootstrapCircuit::new(params, request)?, by_stage)?;
    let stages = found.stages.iter().map(|(name, bits)| json!({ "name": name, "noise_bits": bits }));
    Ok(json!({
        "mean_bits": found.mean_bits, "worst_bits": found.worst_bits,
        "approximation_bits": found.approximation_bits, "stages": stages.collect::<Vec<_>>(),
    }))
}

/// The unit costs on this machine, in microseconds.
///
/// # Errors
/// Those of [`Units::measure`].
pub fn units(log_n: u32, bits: u32) -> Result<Value, Error> {
    Ok(Units::measure(log_n, bits)?.iter().map(|(name, us)| (name.to_string(), json!(us))).collect())
}
