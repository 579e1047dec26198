//! Bytes and pickles of every family: what a file holds. The Python methods `write_*`, `read_*`, `serialize_*` and `deserialize_*` are in
//! `python/aglet/files.py`.

use crate::errors::{exception, raise};
use aglet::wire;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Where something is stored.
#[derive(FromPyObject)]
pub enum Place<'py> {
    Data(Bound<'py, PyBytes>),
    File(PathBuf),
}

/// The kind of a stored thing, such as "ciphertext" or "lossy bootstrap key". Only its header is read.
#[pyfunction]
pub fn stored_name(py: Python<'_>, place: Place<'_>) -> PyResult<&'static str> {
    let found = match place {
        Place::Data(data) => wire::FORMAT.name(data.as_bytes()),
        Place::File(path) => py.detach(|| wire::FORMAT.name_of_file(&path)),
    };
    found.map_err(|error| raise(py, error.into()))
}

/// The function that restores something, and the bytes that it takes.
pub type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>,));

/// The pickle of something: the function that reads it, and its bytes. The bytes are out of band if the pickle protocol
/// allows that.
pub fn reduced<'py>(py: Python<'py>, protocol: i64, bytes: &[u8]) -> PyResult<Reduced<'py>> {
    let mut bytes = PyBytes::new(py, bytes).into_any();
    if protocol >= 5 {
        bytes = py.import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))?;
    }
    Ok((py.import("aglet.files")?.getattr("restore")?, (bytes,)))
}

/// The error for things that an engine does not read: those of another family or of a later version.
pub fn unknown(py: Python<'_>, kind: &str) -> PyErr {
    exception(
        py,
        "SerializationError",
        format!("This engine does not read {kind}; use the engine of its family (Engine, IntegerEngine, FhewEngine or SchemeSwitch), or update Aglet."),
    )
}
