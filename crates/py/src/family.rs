//! What the faces of families share: work on an engine, classes that are at home in it, their files and pickles.

use crate::errors;
use aglet::wire::Summary;
use pyo3::prelude::*;

/// What an engine and its things share: engines of equal homes can use the things of one another.
pub trait Home: Clone + PartialEq {
    /// The name of the parameter set.
    fn preset(&self) -> &str;
    /// What tells it from others, in a sentence about engines "with" it.
    fn said(&self) -> String;
    /// The home that stored data names.
    fn named_by(summary: &Summary) -> Result<Self, aglet::Error>;
}

/// Refuses what is at home elsewhere.
pub fn fits<H: Home>(py: Python<'_>, own: &H, engine: &H, what: &str) -> PyResult<()> {
    if own == engine {
        return Ok(());
    }
    let sentence = format!(
        "This {what} is of an engine with {}, and this one has {}; use keys and ciphertexts of engines that were made with the same \
         options.",
        own.said(),
        engine.said()
    );
    Err(errors::exception(py, "KeyMismatchError", sentence))
}

/// Work on the engine of a class, without the interpreter lock.
macro_rules! works {
    ($class:ident: $engine:ty) => {
        impl $class {
            /// Work that is over in a moment.
            pub(crate) fn quick<T: Send>(
                &self,
                py: Python<'_>,
                work: impl FnOnce(&$engine) -> Result<T, aglet::Error> + Send,
            ) -> PyResult<T> {
                py.detach(|| work(&self.engine)).map_err(|error| $crate::errors::raise(py, error))
            }
            /// Work that may take long.
            pub(crate) fn long<T: Send>(
                &self,
                py: Python<'_>,
                progress: Option<&Bound<'_, PyAny>>,
                work: impl FnOnce(&$engine, &aglet::Control) -> Result<T, aglet::Error> + Send,
            ) -> PyResult<T> {
                $crate::wait::wait(py, progress, |control| work(&self.engine, control))
            }
        }
    };
}
pub(crate) use works;

/// Classes around one value of the engine. `of` hands it out to engines that it fits, and refuses it to others.
macro_rules! homed {
    ($home:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "aglet._core")]
        pub struct $name {
            home: $home,
            value: $inner,
        }

        impl $name {
            pub fn new(home: &$home, value: $inner) -> Self {
                Self { home: home.clone(), value }
            }
            pub fn of(&self, py: Python<'_>, engine: &$home) -> PyResult<&$inner> {
                $crate::family::fits(py, &self.home, engine, $what)?;
                Ok(&self.value)
            }
        }

        #[pymethods]
        impl $name {
            /// The name of the parameter set.
            #[getter]
            fn preset(&self) -> &str {
                $crate::family::Home::preset(&self.home)
            }
            $($methods)*
        }
    )*};
}
pub(crate) use homed;

/// Such classes of keys.
macro_rules! homed_keys {
    ($home:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$crate::family::homed! { $home: $(
        $(#[$doc])*
        $name($inner), $what {
            /// Short id of the secret key that it belongs to.
            #[getter]
            fn key_id(&self) -> String {
                self.value.id().to_string()
            }
            fn __repr__(&self) -> String {
                format!("<{} {}, preset {}>", stringify!($name), self.value.id(), $crate::family::Home::preset(&self.home))
            }
            $($methods)*
        }
    )*}};
}
pub(crate) use homed_keys;

/// Files and bytes of an engine's classes, each with the type that it stores; what is unpickled, without an engine.
macro_rules! homed_files {
    ($engine:ident, $home:ty: $($name:ident($stored:ty)),* $(,)?) => {
        #[derive(FromPyObject)]
        #[allow(clippy::enum_variant_names)] // classes of a family may share its word
        pub enum Any<'py> {
            $($name(Bound<'py, $name>),)*
        }

        #[pymethods]
        impl $engine {
            /// To a file, whole or not at all.
            #[pyo3(signature = (value, path, progress = None))]
            fn write(
                &self,
                py: Python<'_>,
                value: Any<'_>,
                path: std::path::PathBuf,
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<()> {
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
            ) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
                match value {
                    $(Any::$name(x) => {
                        let x = x.get().of(py, &self.home)?;
                        let bytes = self.long(py, progress, |e, control| e.serialize(x, control))?;
                        Ok(pyo3::types::PyBytes::new(py, &bytes))
                    })*
                }
            }
            /// From a file.
            #[pyo3(signature = (kind, path, progress = None))]
            fn read(
                &self,
                py: Python<'_>,
                kind: &str,
                path: std::path::PathBuf,
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    let found: $stored = self.long(py, progress, |e, control| e.read(&path, control))?;
                    return $name::new(&self.home, found).into_py_any(py);
                })*
                Err($crate::files::unknown(py, kind))
            }
            /// From bytes.
            #[pyo3(signature = (kind, data, progress = None))]
            fn deserialize(
                &self,
                py: Python<'_>,
                kind: &str,
                data: &[u8],
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    let found: $stored = self.long(py, progress, |e, control| e.deserialize(data, control))?;
                    return $name::new(&self.home, found).into_py_any(py);
                })*
                Err($crate::files::unknown(py, kind))
            }
        }

        /// What was pickled, without an engine.
        pub fn restore(py: Python<'_>, summary: &aglet::wire::Summary, data: &[u8]) -> PyResult<Py<PyAny>> {
            use aglet::wire::{self, Stored};
            let home = <$home as $crate::family::Home>::named_by(summary);
            let home = home.map_err(|error| $crate::errors::raise(py, error))?;
            $(if summary.kind == <$stored as Stored<$home>>::KIND && !<$stored as Stored<$home>>::SECRET {
                let work = |control: &aglet::Control| {
                    wire::on_threads(data.len(), || wire::deserialize::<$home, $stored>(&home, data, control))
                };
                return $name::new(&home, $crate::wait::wait(py, None, work)?).into_py_any(py);
            })*
            Err($crate::files::unknown(py, summary.kind.name))
        }
    };
}
pub(crate) use homed_files;

/// The classes of `homed_files` that are pickled, and whose copies are the thing itself.
macro_rules! homed_pickles {
    ($home:ty: $($name:ident),* $(,)?) => {
        $(
            #[pymethods]
            impl $name {
                fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<$crate::files::Reduced<'py>> {
                    use aglet::wire;
                    let bytes = $crate::wait::wait(py, None, |control| {
                        wire::on_threads(0, || wire::serialize::<$home, _>(&self.home, &self.value, control))
                    })?;
                    $crate::files::reduced(py, protocol, &bytes)
                }
            }
        )*
        $crate::files::unchanging! { $($name),* }
    };
}
pub(crate) use homed_pickles;
