//! What the Python classes of all families share: work on an engine, classes that belong to it, their files and
//! pickles.

use crate::errors;
use aglet::wire::{Origin, Stored, Summary};
use aglet::{Runtime, Security};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::Deref;

/// The security check that Python's flag asks for.
pub fn gate(allow_insecure: bool) -> Security {
    match allow_insecure {
        true => Security::NotChecked,
        false => Security::Bits128,
    }
}

/// So many threads and, if it computes on one, the number of the card, as Python gives them.
pub fn machine(py: Python<'_>, (threads, card): (i64, Option<i64>)) -> PyResult<(usize, Option<usize>)> {
    let card = card.map(|n| errors::count(py, "device_id", n)).transpose()?;
    Ok((errors::count(py, "thread_count", threads)?, card))
}

/// The runtime of these threads, and of this card.
pub fn runtime((threads, card): (usize, Option<usize>)) -> Result<Runtime, aglet::Error> {
    let runtime = Runtime::new(threads)?;
    match card {
        Some(index) => runtime.on_card(index),
        None => Ok(runtime),
    }
}

/// What an engine shares with its keys and ciphertexts. Engines with equal contexts can use each other's.
pub trait FamilyContext: Origin + Clone + PartialEq {
    /// The name of the parameter set.
    fn preset(&self) -> &str;
    /// What distinguishes it from others: the end of a sentence about engines "with" it.
    fn said(&self) -> String;
    /// The context that stored data name.
    fn named_by(summary: &Summary) -> Result<Self, aglet::Error>;
}

/// The value inside a class, as the engine stores it. It is nearly always the value itself.
pub trait Inner<H: Origin>: Sized + Send + Sync {
    type Stored: Stored<H> + Sync;
    /// Access to it: a reference, or the current content.
    type Look<'a>: Deref<Target = Self::Stored> + Sync
    where
        Self: 'a;
    fn as_stored(&self) -> Self::Look<'_>;
    fn restored(stored: Self::Stored, context: &H) -> Self;
}

impl<H: Origin, T: Stored<H> + Send + Sync> Inner<H> for T {
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

/// A Python class around one value of an engine.
pub trait Class {
    type Context: FamilyContext;
    type Value: Inner<Self::Context>;
}

/// The type that is stored for a class.
pub type StoredOf<C> = <<C as Class>::Value as Inner<<C as Class>::Context>>::Stored;

/// The elements of an array.
pub fn vector<T: Copy + numpy::Element>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    values.as_array().iter().copied().collect()
}

/// Refuses to pickle a secret key, which would then leak by accident.
pub fn never_pickled(writer: &str) -> PyResult<()> {
    Err(PyTypeError::new_err(format!(
        "A secret key is neither pickled nor copied; keep the object itself, or write it with engine.{writer}."
    )))
}

/// Refuses arguments that belong to another engine.
pub fn fits<H: FamilyContext>(py: Python<'_>, own: &H, engine: &H, what: &str) -> PyResult<()> {
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

/// Runs work on the engine of a class without the GIL.
macro_rules! works {
    ($class:ident: $engine:ty) => {
        impl $class {
            /// Runs work that takes a moment.
            pub(crate) fn quick<T: Send>(
                &self,
                py: Python<'_>,
                work: impl FnOnce(&$engine) -> Result<T, aglet::Error> + Send,
            ) -> PyResult<T> {
                py.detach(|| work(&self.engine)).map_err(|error| $crate::errors::raise(py, error))
            }
            /// Runs work that may take long.
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

/// Classes around one value of the engine, which files can hold. `of` gives it to engines that it belongs to, and
/// refuses others.
macro_rules! homed {
    ($context:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {
        $crate::family::unstored! { $context: $($(#[$doc])* $name($inner), $what { $($methods)* })* }

        $(impl $crate::family::Class for $name {
            type Context = $context;
            type Value = $inner;
        })*
    };
}
pub(crate) use homed;

/// The same, for values that files do not hold.
macro_rules! unstored {
    ($context:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "aglet._core")]
        pub struct $name {
            context: $context,
            value: $inner,
        }

        impl $name {
            pub fn new(context: &$context, value: $inner) -> Self {
                Self { context: context.clone(), value }
            }
            pub fn of(&self, py: Python<'_>, engine: &$context) -> PyResult<&$inner> {
                $crate::family::fits(py, &self.context, engine, $what)?;
                Ok(&self.value)
            }
        }

        #[pymethods]
        impl $name {
            /// The name of the parameter set.
            #[getter]
            fn preset(&self) -> &str {
                $crate::family::FamilyContext::preset(&self.context)
            }
            $($methods)*
        }
    )*};
}
pub(crate) use unstored;

/// Such classes for keys. `seeded` keys take half as many bytes when stored.
macro_rules! family_keys {
    (seeded $context:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {
        $crate::family::family_keys! { $context: $(
            $(#[$doc])*
            $name($inner), $what {
                /// Bytes when stored with seeds in place of the uniform halves.
                #[getter]
                fn stored_bytes(&self) -> usize {
                    self.value.stored_bytes()
                }
                $($methods)*
            }
        )*}
    };
    ($context:ty: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$crate::family::homed! { $context: $(
        $(#[$doc])*
        $name($inner), $what {
            /// Short id of the secret key that it belongs to.
            #[getter]
            fn key_id(&self) -> String {
                self.value.id().to_string()
            }
            /// Bytes in memory.
            #[getter]
            fn byte_count(&self) -> usize {
                self.value.byte_count()
            }
            fn __repr__(&self) -> String {
                format!("<{} {}, preset {}>", stringify!($name), self.value.id(), $crate::family::FamilyContext::preset(&self.context))
            }
            $($methods)*
        }
    )*}};
}
pub(crate) use family_keys;

/// Files and bytes of an engine's classes, and unpickling without an engine.
macro_rules! family_files {
    ($engine:ident, $context:ty: $($name:ident),* $(,)?) => {
        #[derive(FromPyObject)]
        #[allow(clippy::enum_variant_names)] // classes of a family may share its word
        pub enum Any<'py> {
            $($name(Bound<'py, $name>),)*
        }

        #[pymethods]
        impl $engine {
            /// Writes to a file: all of it, or no file at all.
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
                        let x = $crate::family::Inner::<$context>::as_stored(x.get().of(py, &self.context)?);
                        self.long(py, progress, |e, control| e.write(&*x, &path, control))
                    })*
                }
            }
            /// Returns bytes.
            #[pyo3(signature = (value, progress = None))]
            fn serialize<'py>(
                &self,
                py: Python<'py>,
                value: Any<'_>,
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
                match value {
                    $(Any::$name(x) => {
                        let x = $crate::family::Inner::<$context>::as_stored(x.get().of(py, &self.context)?);
                        let bytes = self.long(py, progress, |e, control| e.serialize(&*x, control))?;
                        Ok(pyo3::types::PyBytes::new(py, &bytes))
                    })*
                }
            }
            /// Reads from a file.
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
                    return $name::new(&self.context, $crate::family::Inner::restored(found, &self.context)).into_py_any(py);
                })*
                Err($crate::files::unknown(py, kind))
            }
            /// Reads from bytes.
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
                    return $name::new(&self.context, $crate::family::Inner::restored(found, &self.context)).into_py_any(py);
                })*
                Err($crate::files::unknown(py, kind))
            }
        }

        /// Unpickles without an engine.
        pub fn restore(py: Python<'_>, summary: &aglet::wire::Summary, data: &[u8]) -> PyResult<Py<PyAny>> {
            use aglet::wire::{self, Stored};
            let context = <$context as $crate::family::FamilyContext>::named_by(summary);
            let context = context.map_err(|error| $crate::errors::raise(py, error))?;
            $({
                type Found = $crate::family::StoredOf<$name>;
                if summary.kind == <Found as Stored<$context>>::KIND && !<Found as Stored<$context>>::SECRET {
                    let work = |control: &aglet::Control| {
                        wire::on_threads(data.len(), || wire::FORMAT.deserialize::<$context, Found>(&context, data, control))
                    };
                    let found = $crate::wait::wait(py, None, work)?;
                    return $name::new(&context, $crate::family::Inner::restored(found, &context)).into_py_any(py);
                }
            })*
            Err($crate::files::unknown(py, summary.kind.name))
        }
    };
}
pub(crate) use family_files;

/// Pickling, for those classes of `family_files` that allow it.
macro_rules! family_pickles {
    ($context:ty: $($name:ident),* $(,)?) => {
        $(
            #[pymethods]
            impl $name {
                fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<$crate::files::Reduced<'py>> {
                    use aglet::wire;
                    let x = $crate::family::Inner::<$context>::as_stored(&self.value);
                    let bytes = $crate::wait::wait(py, None, |control| {
                        wire::on_threads(0, || wire::FORMAT.serialize::<$context, _>(&self.context, &*x, control))
                    })?;
                    $crate::files::reduced(py, protocol, &bytes)
                }
            }
        )*
    };
}
pub(crate) use family_pickles;

/// A copy of an object that never changes is the object itself.
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

/// Python's comparisons and truth values say nothing about encrypted values, so they are refused. Only `None` is
/// certainly another object.
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
            /// The hash of the object's identity, as for any object.
            fn __hash__(slf: &Bound<'_, Self>) -> isize {
                (slf.as_ptr() as usize).rotate_right(4) as isize
            }
        }
    )*};
}
pub(crate) use hidden;

pub(crate) fn hidden_values() -> pyo3::PyErr {
    pyo3::exceptions::PyTypeError::new_err(
        "Python does not compare encrypted values, and they are neither true nor false; decrypt them first, compare them with the methods \
         of the engine, or ask `x is y` for the object.",
    )
}
