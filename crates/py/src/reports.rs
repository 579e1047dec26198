//! The functions of the module that ask no family: the machine and benchmarks. What reports become in Python.

use crate::errors::{count, exception, raise};
use aglet::ckks::report;
use aglet::runtime::machine;
use aglet::Units;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::collections::BTreeMap;

/// Converts JSON to Python objects.
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

/// The unit costs, if they were given.
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

/// The NVIDIA cards that the driver of this machine finds.
///
/// Raises
/// ------
/// DeviceError
///     If there is no card or no driver that can be used: the reason.
#[pyfunction]
pub fn cards(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::cards)
}

/// Open a card, compare what it computes with this machine, and close it.
///
/// Raises
/// ------
/// DeviceError
///     If the card cannot be used: the reason.
#[pyfunction]
pub fn test_card(py: Python<'_>, index: i64) -> PyResult<()> {
    let index = count(py, "device_id", index)?;
    py.detach(|| report::test_card(index)).map_err(|e| raise(py, e))
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

/// Measure the unit costs of each kind of work on one thread, in microseconds per limb.
#[pyfunction]
pub fn unit_costs(py: Python<'_>, log_n: u32, bits: u32) -> PyResult<Bound<'_, PyAny>> {
    reported(py, || report::units(log_n, bits))
}

/// The largest resident memory of this process so far, in bytes.
#[pyfunction]
pub fn peak_rss_bytes() -> u64 {
    machine::peak_rss().unwrap_or(0)
}
