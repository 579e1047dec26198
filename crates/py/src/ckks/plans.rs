//! What is known of presets and bootstraps before an engine exists.

use super::bootstrap::request;
use super::functional::Functional;
use crate::errors::{count, raise};
use crate::reports::{named, reported};
use aglet::ckks::{report, CkksParams, Request};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// All parameter sets of this version.
#[pyfunction]
pub fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::presets)
}

/// Loads a parameter set, secure or not: nothing is encrypted under it here.
fn loaded(py: Python<'_>, preset: &str) -> PyResult<CkksParams> {
    py.detach(|| aglet::ckks::presets::load(preset, aglet::ckks::presets::Security::NotChecked))
        .map_err(|e| raise(py, e))
}

/// Plan a bootstrap, or a functional one: check levels, scales and keys, count work; forecast memory and, with unit
/// costs, seconds. No key is made.
#[pyfunction]
#[pyo3(signature = (preset, method, stage_count, key_size, slot_count, real = false, target_level = None, units = None, functional = None))]
#[allow(clippy::too_many_arguments)] // one for each choice
pub fn plan<'py>(
    py: Python<'py>,
    preset: &str,
    method: &str,
    stage_count: Option<i64>,
    key_size: &str,
    slot_count: i64,
    real: bool,
    target_level: Option<i64>,
    units: Option<BTreeMap<String, f64>>,
    functional: Option<&Functional>,
) -> PyResult<Bound<'py, PyAny>> {
    let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
    let params = loaded(py, preset)?;
    let asked = request(py, &params, method, stage_count, key_size, count(py, "slot_count", slot_count)?)?;
    let units = named(py, units)?;
    let request = Request { real, target_level, ..asked };
    let functional = functional.map(|functional| &functional.0);
    reported(py, || report::plan(&params, request, functional, units.as_ref()))
}

/// Bytes of the temporary polynomials of `together` bootstraps side by side. The engine keeps them. Takes a moment.
#[pyfunction]
pub fn scratch_bytes(
    py: Python<'_>,
    preset: &str,
    method: &str,
    stage_count: Option<i64>,
    key_size: &str,
    slot_count: i64,
    together: i64,
) -> PyResult<usize> {
    let params = loaded(py, preset)?;
    let asked = request(py, &params, method, stage_count, key_size, count(py, "slot_count", slot_count)?)?;
    let together = count(py, "together", together)?.max(1);
    py.detach(|| report::scratch_bytes(&params, asked, together)).map_err(|e| raise(py, e))
}

/// Predict the precision of a bootstrap: run its plan on plain numbers with the noise of ciphertexts.
#[pyfunction]
#[pyo3(signature = (preset, method, stage_count, key_size, slot_count, real = false, target_level = None, bound = 1.0, by_stage = false))]
#[allow(clippy::too_many_arguments)] // one for each choice
pub fn predicted_precision<'py>(
    py: Python<'py>,
    preset: &str,
    method: &str,
    stage_count: Option<i64>,
    key_size: &str,
    slot_count: i64,
    real: bool,
    target_level: Option<i64>,
    bound: f64,
    by_stage: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
    let params = loaded(py, preset)?;
    let asked = request(py, &params, method, stage_count, key_size, count(py, "slot_count", slot_count)?)?;
    reported(py, || report::precision(&params, Request { real, target_level, bound, ..asked }, by_stage))
}

/// Bytes of the rotation key that a small bootstrap key needs beside it: in memory, and stored with seeds. Takes seconds.
#[pyfunction]
pub fn rotation_key_bytes(py: Python<'_>, preset: &str, slot_count: i64) -> PyResult<(usize, usize)> {
    let slots = count(py, "slot_count", slot_count)?;
    py.detach(|| report::rotation_key_bytes(preset, slots)).map_err(|e| raise(py, e))
}
