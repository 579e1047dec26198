//! Errors of the engine as exceptions of `aglet.errors`.

use aglet::Kind;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception for an error of the engine.
pub fn raise(py: Python<'_>, error: aglet::Error) -> PyErr {
    let class = match error.kind() {
        Kind::Level => "LevelError",
        Kind::Range => "RangeError",
        Kind::MissingKey => "MissingKeyError",
        Kind::KeyMismatch => "KeyMismatchError",
        Kind::Parameter => "ParameterError",
        Kind::Insecure => "InsecureParametersError",
        Kind::Memory => "MemoryLimitError",
        Kind::Device => "DeviceError",
        Kind::Cancelled | Kind::Other => "AgletError",
    };
    let mut sentence = error.to_string();
    if error.kind() == Kind::Insecure {
        sentence.push_str(" In Python that is allow_insecure=True, for tests only.");
    }
    exception(py, class, sentence)
}

/// An exception of this class in `aglet.errors`.
pub fn exception(py: Python<'_>, class: &str, sentence: String) -> PyErr {
    let found = || py.import("aglet.errors")?.getattr(class)?.cast_into::<PyType>().map_err(PyErr::from);
    found().map_or_else(|error| error, |class| PyErr::from_type(class, sentence))
}

/// A whole number that cannot be negative.
pub fn count(py: Python<'_>, name: &str, value: i64) -> PyResult<usize> {
    usize::try_from(value)
        .map_err(|_| exception(py, "ParameterError", format!("{name} = {value} is negative; give 0 or more.")))
}
