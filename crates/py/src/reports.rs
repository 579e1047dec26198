//! The functions of the module: the machine, presets, plans and benchmarks.

use crate::ckks::request;
use crate::errors::{count, exception, raise};
use aglet::ckks::{report, CkksParams, Request};
use aglet::runtime::machine;
use aglet::Units;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::collections::BTreeMap;

/// JSON as Python objects.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(x) => x.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(x) => match (x.as_u64(), x.as_i64()) {
            (Some(x), _) => x.into_pyobject(py)?.into_any(),
            (_, Some(x)) => x.into_pyobject(py)?.into_any(),
            _ => x.as_f64().into_pyobject(py)?,
        },
        Value::String(x) => x.into_pyobject(py)?.into_any(),
        Value::Array(list) => {
            let out = PyList::empty(py);
            list.iter().try_for_each(|x| out.append(object(py, x)?))?;
            out.into_any()
        }
        Value::Object(map) => {
            let out = PyDict::new(py);
            map.iter().try_for_each(|(key, x)| out.set_item(key, object(py, x)?))?;
            out.into_any()
        }
    })
}

pub(crate) fn reported<'py>(
    py: Python<'py>,
    make: impl FnOnce() -> Result<Value, aglet::Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    object(py, &py.detach(make).map_err(|e| raise(py, e))?)
}

/// What a unit of each kind of work takes, if it was given.
pub(crate) fn named(py: Python<'_>, units: Option<BTreeMap<String, f64>>) -> PyResult<Option<Units>> {
    units.map(|given| Units::named(&given).map_err(|e| raise(py, e))).transpose()
}

/// Describe the processor, the backends and the memory.
///
/// Raises
/// ------
/// DeviceError
///     If AGLET_BACKEND names an unknown backend, or one that this processor lacks.
#[pyfunction]
pub fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::doctor)
}

/// Time the negacyclic number-theoretic transform of one limb on one thread (medians).
#[pyfunction]
pub fn bench_ntt<'py>(
    py: Python<'py>,
    log_n: i64,
    bits: i64,
    backend: &str,
    repeat: i64,
) -> PyResult<Bound<'py, PyDict>> {
    // Numbers too large for 32 bits are as wrong as the largest that is not.
    let small = |name: &str, value| Ok::<_, PyErr>(u32::try_from(count(py, name, value)?).unwrap_or(u32::MAX >> 1));
    let (log_2n, size, times) = (small("log_n", log_n)?, small("bits", bits)?, count(py, "repeat", repeat)?);
    if times == 0 {
        return Err(exception(
            py,
            "ParameterError",
            "A benchmark repeats at least once; repeat = 0 measures nothing.".into(),
        ));
    }
    let measured = py.detach(|| machine::bench_ntt(log_2n, size, backend, times)).map_err(|e| raise(py, e))?;
    let out = PyDict::new(py);
    out.set_item("backend", backend)?;
    out.set_item("log_n", log_n)?;
    out.set_item("bits", bits)?;
    out.set_item("forward_us", measured.forward)?;
    out.set_item("inverse_us", measured.inverse)?;
    out.set_item("repeat", repeat)?;
    Ok(out)
}

/// All parameter sets of this version.
#[pyfunction]
pub fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::presets)
}

/// A parameter set, secure or not: nothing is computed under it.
fn loaded(py: Python<'_>, preset: &str) -> PyResult<CkksParams> {
    py.detach(|| aglet::presets::load(preset, true)).map_err(|e| raise(py, e))
}

/// Plan a bootstrap: check levels, scales and keys, count the work, and forecast the memory and, given units, the seconds. No key
/// is made.
#[pyfunction]
#[pyo3(signature = (preset, method, stage_count, key_size, slot_count, real = false, target_level = None, units = None))]
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
) -> PyResult<Bound<'py, PyAny>> {
    let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
    let params = loaded(py, preset)?;
    let asked = request(py, &params, method, stage_count, key_size, count(py, "slot_count", slot_count)?)?;
    let units = named(py, units)?;
    let request = Request { real, target_level, ..asked };
    reported(py, || report::plan(&params, request, units.as_ref()))
}

/// Bytes of the polynomials of so many bootstraps side by side, which stay with the engine. Takes a moment.
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

/// Measure what a unit of each kind of work takes on one thread, in microseconds per limb.
#[pyfunction]
pub fn unit_costs(py: Python<'_>, log_n: u32, bits: u32) -> PyResult<Bound<'_, PyAny>> {
    reported(py, || report::units(log_n, bits))
}

/// Predict the precision of a bootstrap by running its plan in the clear with the noise that ciphertexts have.
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

/// The largest resident memory of this process so far, in bytes.
#[pyfunction]
pub fn peak_rss_bytes() -> u64 {
    machine::peak_rss().unwrap_or(0)
}
