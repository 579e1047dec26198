//! Turns errors of the engine into exceptions of `aglet.errors`.

use aglet::ErrorKind;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::io;
use std::path::Path;

/// The exception for an error of the engine.
pub fn raise(py: Python<'_>, error: aglet::Error) -> PyErr {
    if let aglet::Error::Wire(aglet::WireError::File { path, source, .. }) = &error {
        return system_error(py, path, source, &error);
    }
    let class = match error.kind() {
        ErrorKind::Level => "LevelError",
        ErrorKind::Range => "RangeError",
        ErrorKind::MissingKey => "MissingKeyError",
        ErrorKind::Noise => "NoiseError",
        ErrorKind::KeyMismatch => "KeyMismatchError",
        ErrorKind::Parameter => "ParameterError",
        ErrorKind::Insecure => "InsecureParametersError",
        ErrorKind::Memory => "MemoryLimitError",
        ErrorKind::Device => "DeviceError",
        ErrorKind::Serialization => "SerializationError",
        ErrorKind::Cancelled | ErrorKind::File | ErrorKind::Other => "AgletError",
    };
    let mut sentence = error.to_string();
    if error.kind() == ErrorKind::Insecure {
        sentence.push_str(" For tests only, allow_insecure=True accepts it.");
    }
    exception(py, class, sentence)
}

/// The `OSError` that Python itself would raise, with number and file if the system gave a number.
fn system_error(py: Python<'_>, path: &Path, source: &io::Error, error: &aglet::Error) -> PyErr {
    let Some(number) = source.raw_os_error() else {
        return io::Error::new(source.kind(), error.to_string()).into();
    };
    let said = py.import("os").and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    PyOSError::new_err((number, said.unwrap_or_else(|_| source.to_string()), path.as_os_str().to_os_string()))
}

/// An exception of this class in `aglet.errors`.
pub fn exception(py: Python<'_>, class: &str, sentence: String) -> PyErr {
    let found = || py.import("aglet.errors")?.getattr(class)?.cast_into::<PyType>().map_err(PyErr::from);
    found().map_or_else(|error| error, |class| PyErr::from_type(class, sentence))
}

/// Converts an integer that must not be negative.
pub fn count(py: Python<'_>, name: &str, value: i64) -> PyResult<usize> {
    usize::try_from(value)
        .map_err(|_| exception(py, "ParameterError", format!("{name} = {value} is negative; give 0 or more.")))
}

/// As many terms of a sum take so long that Ctrl-C should stop it.
pub const MANY_TERMS: usize = 16;

/// A weighted sum has a weight for each ciphertext.
pub fn one_each(py: Python<'_>, ciphertexts: usize, weights: usize) -> PyResult<()> {
    if ciphertexts == weights {
        return Ok(());
    }
    let sentence = format!("There are {ciphertexts} ciphertexts and {weights} weights; give one weight for each.");
    Err(exception(py, "RangeError", sentence))
}

/// Refuses products with factors on one side only.
pub fn in_pairs(py: Python<'_>, left: usize, right: usize) -> PyResult<()> {
    if left == right {
        return Ok(());
    }
    let sentence = format!("There are {left} left and {right} right factors; give as many of each.");
    Err(exception(py, "RangeError", sentence))
}
