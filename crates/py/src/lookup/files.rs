//! Files, bytes and pickles of gates and tables; the Python methods stand in `python/aglet/lookup/files.py`.

use super::objects::{LookupKey, LweArray, LweSecretKey, PackingKey};
use super::LookupEngine;
use crate::errors::raise;
use crate::files::{reduced, unchanging, unknown, Reduced};
use crate::wait::wait;
use aglet::fhew::{Array, Home};
use aglet::wire::{self, Stored, Summary};
use aglet::Control;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::IntoPyObjectExt;
use std::path::PathBuf;

/// Classes with the type that each stores; a thing of any class, by what the class is called in files.
macro_rules! files {
    ($($name:ident($stored:ty)),* $(,)?) => {
        #[derive(FromPyObject)]
        pub enum Any<'py> {
            $($name(Bound<'py, $name>),)*
        }

        #[pymethods]
        impl LookupEngine {
            /// To a file, whole or not at all.
            #[pyo3(signature = (value, path, progress = None))]
            fn write(&self, py: Python<'_>, value: Any<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
                match value {
                    $(Any::$name(x) => {
                        let x = x.get().of(py, &self.home)?;
                        self.long(py, progress, |e, control| e.write(x, &path, control))
                    })*
                }
            }
            /// As bytes.
            #[pyo3(signature = (value, progress = None))]
            fn serialize<'py>(
                &self,
                py: Python<'py>,
                value: Any<'_>,
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                match value {
                    $(Any::$name(x) => {
                        let x = x.get().of(py, &self.home)?;
                        Ok(PyBytes::new(py, &self.long(py, progress, |e, control| e.serialize(x, control))?))
                    })*
                }
            }
            /// From a file.
            #[pyo3(signature = (kind, path, progress = None))]
            fn read(&self, py: Python<'_>, kind: &str, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    let found: $stored = self.long(py, progress, |e, control| e.read(&path, control))?;
                    return $name::new(&self.home, found).into_py_any(py);
                })*
                Err(unknown(py, kind))
            }
            /// From bytes.
            #[pyo3(signature = (kind, data, progress = None))]
            fn deserialize(&self, py: Python<'_>, kind: &str, data: &[u8], progress: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    let found: $stored = self.long(py, progress, |e, control| e.deserialize(data, control))?;
                    return $name::new(&self.home, found).into_py_any(py);
                })*
                Err(unknown(py, kind))
            }
        }

        /// What was pickled, without an engine.
        pub fn restore(py: Python<'_>, summary: &Summary, data: &[u8]) -> PyResult<Py<PyAny>> {
            let home = Home::find(summary, false).map_err(|error| raise(py, error))?;
            $(if summary.kind == <$stored>::KIND && !<$stored>::SECRET {
                let work = |control: &Control| wire::on_threads(data.len(), || wire::deserialize(&home, data, control));
                let found: $stored = wait(py, None, work)?;
                return $name::new(&home, found).into_py_any(py);
            })*
            Err(unknown(py, summary.kind.name))
        }
    };
}

files! {
    LweSecretKey(aglet::fhew::SecretKey),
    LookupKey(aglet::fhew::LookupKey),
    PackingKey(aglet::fhew::PackingKey),
    LweArray(Array),
}

/// The classes that are pickled.
macro_rules! pickled {
    ($($name:ident),*) => {$(
        #[pymethods]
        impl $name {
            fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<Reduced<'py>> {
                let (home, value) = self.parts();
                let bytes = wait(py, None, |control| wire::on_threads(0, || wire::serialize(home, value, control)))?;
                reduced(py, protocol, &bytes)
            }
        }
    )*};
}

pickled! { LookupKey, PackingKey, LweArray }
unchanging! { LookupKey, PackingKey, LweArray }
