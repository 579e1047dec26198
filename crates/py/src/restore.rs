//! Pickles are read by the family that wrote them.

use crate::errors::raise;
use crate::{ckks, fhew, integer, scheme_switch};
use aglet::wire::{self, IntegerOrigin, IntegerSchemeSwitchOrigin, Origin, SchemeSwitchOrigin};
use pyo3::prelude::*;

/// Unpickles. It needs no engine, and the result works with every engine that was made with the same options.
#[pyfunction]
pub fn restore(py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
    let summary = wire::FORMAT.summary(data).map_err(|error| raise(py, error.into()))?;
    match summary.family {
        aglet::fhew::FhewContext::FAMILY => fhew::restore(py, &summary, data),
        SchemeSwitchOrigin::FAMILY => scheme_switch::restore(py, &summary, data),
        IntegerSchemeSwitchOrigin::FAMILY => scheme_switch::restore_integers(py, &summary, data),
        IntegerOrigin::FAMILY => integer::restore(py, &summary, data),
        _ => ckks::restore(py, &summary, data),
    }
}
