//! What the faces of families share: work on an engine, classes that are at home in it, their files and pickles.

use crate::errors;
use aglet::wire::{Origin, Stored, Summary};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::Deref;

/// What an engine and its things share: engines of equal homes can use the things of one another.
pub trait Home: Origin + Clone + PartialEq {
    /// The name of the parameter set.
    fn preset(&self) -> &str;
    /// What tells it from others, in a sentence about engines "with" it.
    fn said(&self) -> String;
    /// The home that stored data names.
    fn named_by(summary: &Summary) -> Result<Self, aglet::Error>;
}

/// What a class holds, as the engine stores it: nearly always the value itself.
pub trait Held<H: Origin>: Sized + Send + Sync {
    type Stored: Stored<H> + Sync;
    /// A look at it: a reference, or what it holds now.
    type Look<'a>: Deref<Target = Self::Stored> + Sync
    where
        Self: 'a;
    fn as_stored(&self) -> Self::Look<'_>;
    fn restored(stored: Self::Stored, home: &H) -> Self;
}

impl<H: Origin, T: Stored<H> + Send + Sync> Held<H> for T {
    type Stored = T;
    type Look<'a>
        = &'a T
    where
        T: 'a;
    fn as_stored(&self) -> &T {
        self
    }
    fn restored(stored: T, _: &H) -> T {
        stored
    }
}

/// A class around one value of an engine.
pub trait Class {
    type Home: Home;
    type Value: Held<Self::Home>;
}

/// What is stored of a class.
pub type StoredOf<C> = <<C as Class>::Value as Held<<C as Class>::Home>>::Stored;

/// The numbers of an array.
pub fn vector<T: Copy + numpy::Element>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    values.as_array().iter().copied().collect()
}

/// A secret would leak by accident.
pub fn never_pickled(writer: &str) -> PyResult<()> {
    Err(PyTypeError::new_err(format!(
        "A secret key is neither pickled nor copied; keep the object itself, or write it with engine.{writer}."
    )))
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

        #[pymethods]
        impl $class {
            #[getter]
            fn backend(&self) -> &'static str {
                self.engine.backend()
            }
            #[getter]
            fn threads(&self) -> usize {
                self.engine.threads()
            }
        }
    };
}
pub(crate) use works;

/// The figures of an engine on a ring.
macro_rules! ring_figures {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            #[getter]
            fn preset(&self) -> &str {
                self.engine.params().name()
            }
            #[getter]
            fn log_n(&self) -> u32 {
                self.engine.params().log_n()
            }
            #[getter]
            fn log_qp(&self) -> f64 {
                self.engine.params().log_qp()
            }
            #[getter]
            fn security_bits(&self) -> f64 {
                self.engine.params().security().bits
            }
        }
    };
}
pub(crate) use ring_figures;

/// Classes around one value of the engine, in files too. `of` hands it out to engines that it fits, and refuses it to others.
macro_rules! homed {
    ($home:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {
        $crate::family::unstored! { $home: $($(#[$doc])* $name($inner), $what { $($methods)* })* }

        $(impl $crate::family::Class for $name {
            type Home = $home;
            type Value = $inner;
        })*
    };
}
pub(crate) use homed;

/// The same for values that no file holds.
macro_rules! unstored {
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
pub(crate) use unstored;

/// Such classes of keys; `seeded` ones are half as large when stored.
macro_rules! homed_keys {
    (seeded $home:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {
        $crate::family::homed_keys! { $home: $(
            $(#[$doc])*
            $name($inner), $what {
                /// Bytes in memory.
                #[getter]
                fn byte_count(&self) -> usize {
                    self.value.byte_count()
                }
                /// Bytes when stored with seeds in place of the uniform halves.
                #[getter]
                fn stored_bytes(&self) -> usize {
                    self.value.stored_bytes()
                }
                $($methods)*
            }
        )*}
    };
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

/// Files and bytes of an engine's classes; what is unpickled, without an engine.
macro_rules! homed_files {
    ($engine:ident, $home:ty: $($name:ident),* $(,)?) => {
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
                        let x = $crate::family::Held::<$home>::as_stored(x.get().of(py, &self.home)?);
                        self.long(py, progress, |e, control| e.write(&*x, &path, control))
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
                        let x = $crate::family::Held::<$home>::as_stored(x.get().of(py, &self.home)?);
                        let bytes = self.long(py, progress, |e, control| e.serialize(&*x, control))?;
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
                    let found: $crate::family::StoredOf<$name> = self.long(py, progress, |e, control| e.read(&path, control))?;
                    return $name::new(&self.home, $crate::family::Held::restored(found, &self.home)).into_py_any(py);
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
                    let found: $crate::family::StoredOf<$name> = self.long(py, progress, |e, control| e.deserialize(data, control))?;
                    return $name::new(&self.home, $crate::family::Held::restored(found, &self.home)).into_py_any(py);
                })*
                Err($crate::files::unknown(py, kind))
            }
        }

        /// What was pickled, without an engine.
        pub fn restore(py: Python<'_>, summary: &aglet::wire::Summary, data: &[u8]) -> PyResult<Py<PyAny>> {
            use aglet::wire::{self, Stored};
            let home = <$home as $crate::family::Home>::named_by(summary);
            let home = home.map_err(|error| $crate::errors::raise(py, error))?;
            $({
                type Found = $crate::family::StoredOf<$name>;
                if summary.kind == <Found as Stored<$home>>::KIND && !<Found as Stored<$home>>::SECRET {
                    let work = |control: &aglet::Control| {
                        wire::on_threads(data.len(), || wire::deserialize::<$home, Found>(&home, data, control))
                    };
                    let found = $crate::wait::wait(py, None, work)?;
                    return $name::new(&home, $crate::family::Held::restored(found, &home)).into_py_any(py);
                }
            })*
            Err($crate::files::unknown(py, summary.kind.name))
        }
    };
}
pub(crate) use homed_files;

/// The classes of `homed_files` that are pickled.
macro_rules! homed_pickles {
    ($home:ty: $($name:ident),* $(,)?) => {
        $(
            #[pymethods]
            impl $name {
                fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<$crate::files::Reduced<'py>> {
                    use aglet::wire;
                    let x = $crate::family::Held::<$home>::as_stored(&self.value);
                    let bytes = $crate::wait::wait(py, None, |control| {
                        wire::on_threads(0, || wire::serialize::<$home, _>(&self.home, &*x, control))
                    })?;
                    $crate::files::reduced(py, protocol, &bytes)
                }
            }
        )*
    };
}
pub(crate) use homed_pickles;

/// Copies of what never changes are the thing itself.
macro_rules! unchanging {
    ($($name:ident),* $(,)?) => {$(
        #[pymethods]
        impl $name {
            fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
                slf
            }
            fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
                slf
            }
        }
    )*};
}
pub(crate) use unchanging;

/// Encrypted values, of which Python's comparisons and truth values would say nothing: they are refused. `None` alone is another object
/// for certain.
macro_rules! hidden {
    ($($name:ident),* $(,)?) => {$(
        #[pymethods]
        impl $name {
            fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: pyo3::pyclass::CompareOp) -> PyResult<bool> {
                match op {
                    pyo3::pyclass::CompareOp::Eq if other.is_none() => Ok(false),
                    pyo3::pyclass::CompareOp::Ne if other.is_none() => Ok(true),
                    _ => Err($crate::family::hidden_values()),
                }
            }
            fn __bool__(&self) -> PyResult<bool> {
                Err($crate::family::hidden_values())
            }
            /// By identity, as of any object.
            fn __hash__(slf: &Bound<'_, Self>) -> isize {
                (slf.as_ptr() as usize).rotate_right(4) as isize
            }
        }
    )*};
}
pub(crate) use hidden;

pub(crate) fn hidden_values() -> pyo3::PyErr {
    pyo3::exceptions::PyTypeError::new_err(
        "Encrypted values are not compared by Python, and are neither true nor false; decrypt them first, compare them with the methods \
         of the engine, or ask `x is y` for the object.",
    )
}
