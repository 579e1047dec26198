//! Files, bytes and pickles. One list names the classes; the Python methods `write_*`, `read_*`, `serialize_*` and
//! `deserialize_*` stand in `python/aglet/files.py`.

use crate::engine::Engine;
use crate::errors::{exception, raise};
use crate::objects::{
    BootstrapKey, Ciphertext, ConjugationKey, Current, FixedRotationKey, Home, Levelled, MatrixMultiplicationKey,
    Plaintext, PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
use crate::wait::wait;
use crate::{integer, lookup};
use aglet::wire::{self, CkksOrigin, IntegerOrigin, Origin, Stored};
use aglet::Control;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::IntoPyObjectExt;
use std::ops::Deref;
use std::path::PathBuf;

/// What a class holds, as the engine stores it.
pub trait Value: Sized + Send + Sync {
    type Stored: Stored<CkksOrigin> + Sync;
    /// A look at it: a reference, or for a ciphertext what it holds now.
    type Look<'a>: Deref<Target = Self::Stored> + Sync
    where
        Self: 'a;
    fn as_stored(&self) -> Self::Look<'_>;
    fn restored(stored: Self::Stored, origin: &CkksOrigin) -> Self;
}

impl<T: Stored<CkksOrigin> + Sync> Value for T {
    type Stored = T;
    type Look<'a>
        = &'a T
    where
        T: 'a;
    fn as_stored(&self) -> &T {
        self
    }
    fn restored(stored: T, _: &CkksOrigin) -> T {
        stored
    }
}

impl Value for Levelled<aglet::ckks::Plaintext> {
    type Stored = aglet::ckks::Plaintext;
    type Look<'a> = &'a aglet::ckks::Plaintext;
    fn as_stored(&self) -> &aglet::ckks::Plaintext {
        &self.value
    }
    fn restored(value: aglet::ckks::Plaintext, origin: &CkksOrigin) -> Self {
        let level = value.level().saturating_sub(origin.params.hidden_levels());
        Self { value, level }
    }
}

impl Value for Current {
    type Stored = aglet::ckks::Ciphertext;
    type Look<'a> = Box<aglet::ckks::Ciphertext>;
    fn as_stored(&self) -> Box<aglet::ckks::Ciphertext> {
        Box::new(self.get())
    }
    fn restored(value: aglet::ckks::Ciphertext, origin: &CkksOrigin) -> Self {
        let level = value.level().saturating_sub(origin.params.hidden_levels());
        Self::new(value, level)
    }
}

/// A thing of any class, by what the class is called in files.
macro_rules! files {
    ($($name:ident),* $(,)?) => {
        #[derive(FromPyObject)]
        pub enum Any<'py> {
            $($name(Bound<'py, $name>),)*
        }

        #[pymethods]
        impl Engine {
            /// To a file, whole or not at all.
            #[pyo3(signature = (value, path, progress = None))]
            fn write(&self, py: Python<'_>, value: Any<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
                match value {
                    $(Any::$name(x) => {
                        let x = x.get().of(py, &self.id)?.as_stored();
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
            ) -> PyResult<Bound<'py, PyBytes>> {
                match value {
                    $(Any::$name(x) => {
                        let x = x.get().of(py, &self.id)?.as_stored();
                        Ok(PyBytes::new(py, &self.long(py, progress, |e, control| e.serialize(&*x, control))?))
                    })*
                }
            }
            /// From a file.
            #[pyo3(signature = (kind, path, progress = None))]
            fn read(&self, py: Python<'_>, kind: &str, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    return $name::read(py, &self.id, |control| self.engine.read(&path, control), &self.engine.origin(), progress);
                })*
                Err(unknown(py, kind))
            }
            /// From bytes.
            #[pyo3(signature = (kind, data, progress = None))]
            fn deserialize(&self, py: Python<'_>, kind: &str, data: &[u8], progress: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                $(if kind == stringify!($name) {
                    return $name::read(py, &self.id, |control| self.engine.deserialize(data, control), &self.engine.origin(), progress);
                })*
                Err(unknown(py, kind))
            }
        }

        /// What was pickled: it needs no engine, and fits every engine with the parameters and slots that it was made with.
        #[pyfunction]
        pub fn restore(py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
            let summary = wire::summary(data).map_err(|error| raise(py, error))?;
            match summary.family {
                aglet::fhew::Home::FAMILY => return lookup::restore(py, &summary, data),
                IntegerOrigin::FAMILY => return integer::restore(py, &summary, data),
                _ => {}
            }
            let origin = CkksOrigin::find(&summary, false).map_err(|error| raise(py, error))?;
            let home = Home::new(&origin);
            $(if summary.kind == $name::KIND {
                let work = |control: &Control| wire::on_threads(data.len(), || wire::deserialize(&origin, data, control));
                return $name::read(py, &home, work, &origin, None);
            })*
            Err(unknown(py, summary.kind.name))
        }

        $(impl $name {
            const KIND: wire::Kind = <<<Self as Holds>::Inner as Value>::Stored as Stored<CkksOrigin>>::KIND;

            fn read(
                py: Python<'_>,
                home: &Home,
                work: impl FnOnce(&Control) -> Result<<<Self as Holds>::Inner as Value>::Stored, aglet::Error> + Send,
                origin: &CkksOrigin,
                progress: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                let value = Value::restored(wait(py, progress, work)?, origin);
                Self::new(home, value).into_py_any(py)
            }
        })*
    };
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

/// What a class holds.
pub trait Holds {
    type Inner: Value;
    fn parts(&self) -> (&Home, &Self::Inner);
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

/// The classes that are pickled.
macro_rules! pickled {
    ($($name:ident),* $(,)?) => {$(
        #[pymethods]
        impl $name {
            fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: i64) -> PyResult<Reduced<'py>> {
                let (home, value) = self.parts();
                let (origin, x) = (home.origin(), value.as_stored());
                let bytes = wait(py, None, |control| {
                    wire::on_threads(0, || wire::serialize(&origin, &*x, control))
                })?;
                reduced(py, protocol, &bytes)
            }
        }
    )*};
}

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

/// A copy shares the data, and stays as it is when `out=` gives the other one a result.
#[pymethods]
impl Ciphertext {
    fn __copy__(&self) -> Self {
        let (home, value) = self.parts();
        Self::new(home, value.copy())
    }
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }
}

files! {
    SecretKey, PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
    Ciphertext,
}

pickled! {
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext, Ciphertext,
}

unchanging! {
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
}

/// What an engine does not read: things of the other family, or of a later version.
pub fn unknown(py: Python<'_>, kind: &str) -> PyErr {
    exception(
        py,
        "SerializationError",
        format!("This engine reads no {kind}; take the engine of its family, Engine, IntegerEngine or LookupEngine, or update Aglet."),
    )
}
