//! Bytes and pickles of every family: what a file holds, and the family that reads it. The Python methods `write_*`, `read_*`,
//! `serialize_*` and `deserialize_*` stand in `python/aglet/files.py`.

use crate::errors::{exception, raise};
use crate::{bridge, ckks, integer, lookup};
use aglet::wire::{self, BridgeOrigin, IntegerBridgeOrigin, IntegerOrigin, Origin};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// What was pickled: it needs no engine, and fits every engine with the options that it was made with.
#[pyfunction]
pub fn restore(py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
    let summary = wire::summary(data).map_err(|error| raise(py, error))?;
    match summary.family {
        aglet::fhew::Home::FAMILY => lookup::restore(py, &summary, data),
        BridgeOrigin::FAMILY => bridge::restore(py, &summary, data),
        IntegerBridgeOrigin::FAMILY => bridge::restore_integers(py, &summary, data),
        IntegerOrigin::FAMILY => integer::restore(py, &summary, data),
        _ => ckks::restore(py, &summary, data),
    }
}

/// Where a thing is stored.
#[derive(FromPyObject)]
pub enum Place<'py> {
    Data(Bound<'py, PyBytes>),
    File(PathBuf),
}

/// What is stored, in the words of Python's methods: "ciphertext", "lossy bootstrap key". Only its header is read.
#[pyfunction]
pub fn stored_name(py: Python<'_>, place: Place<'_>) -> PyResult<&'static str> {
    let found = match place {
        Place::Data(data) => wire::name(data.as_bytes()),
        Place::File(path) => py.detach(|| wire::name_of_file(&path)),
    };
    found.map_err(|error| raise(py, error))
}

/// What restores a thing, and the bytes that it is called with.
pub type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>,));

/// The pickle of a thing: its bytes, beside the pickle where its protocol allows that, and the function that reads them.
pub fn reduced<'py>(py: Python<'py>, protocol: i64, bytes: &[u8]) -> PyResult<Reduced<'py>> {
    let mut bytes = PyBytes::new(py, bytes).into_any();
    if protocol >= 5 {
        bytes = py.import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))?;
    }
    Ok((py.import("aglet.files")?.getattr("restore")?, (bytes,)))
}

/// What an engine does not read: things of the other family, or of a later version.
pub fn unknown(py: Python<'_>, kind: &str) -> PyErr {
    exception(
        py,
        "SerializationError",
        format!("This engine reads no {kind}; take the engine of its family, Engine, IntegerEngine, LookupEngine or Bridge, or update Aglet."),
    )
}
