//! Keys, plaintexts and ciphertexts as Python sees them: immutable but for `out=`, and at home in engines of their parameters and slots.

use crate::errors;
use crate::files::Holds;
use aglet::ckks::{CkksParams, GaloisKey};
use aglet::wire::CkksOrigin;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::{PoisonError, RwLock};

/// A message or ciphertext with its user level.
pub struct Levelled<T> {
    pub value: T,
    pub level: usize,
}

/// The ciphertext that a Python object holds. Its data never change; the object may be told to hold another (`out=`).
pub struct Current(RwLock<(aglet::ckks::Ciphertext, usize)>);

impl Current {
    pub fn new(value: aglet::ckks::Ciphertext, level: usize) -> Self {
        Self(RwLock::new((value, level)))
    }
    fn now(&self) -> (aglet::ckks::Ciphertext, usize) {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
    pub fn get(&self) -> aglet::ckks::Ciphertext {
        self.now().0
    }
    fn level(&self) -> usize {
        self.now().1
    }
    pub fn copy(&self) -> Self {
        Self(RwLock::new(self.now()))
    }
    pub fn receive(&self, other: &Self) {
        let new = other.now();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = new;
    }
}

/// What an engine and its things share: engines of equal parameters and slots can use the things of one another.
#[derive(Clone)]
pub struct Home {
    params: CkksParams,
    slots: usize,
}

impl Home {
    pub fn new(origin: &CkksOrigin) -> Self {
        Self { params: origin.params.clone(), slots: origin.slots }
    }
    /// For work without an engine.
    pub fn origin(&self) -> CkksOrigin {
        CkksOrigin { params: self.params.clone(), slots: self.slots, ctx: None }
    }
}

impl std::fmt::Display for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "preset {:?}, {} levels and {} slots", self.params.name(), self.params.max_level(), self.slots)
    }
}

impl PartialEq for Home {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, self.slots) == (&other.params, other.slots)
    }
}

/// Classes around one value of the engine. `of` hands out the value to engines that it fits, and refuses it to others.
macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "aglet._core")]
        pub struct $name {
            home: Home,
            value: $inner,
        }

        impl Holds for $name {
            type Inner = $inner;
            fn parts(&self) -> (&Home, &$inner) {
                (&self.home, &self.value)
            }
        }

        impl $name {
            pub fn new(home: &Home, value: $inner) -> Self {
                Self { home: home.clone(), value }
            }
            pub fn of(&self, py: Python<'_>, engine: &Home) -> PyResult<&$inner> {
                if self.home == *engine {
                    return Ok(&self.value);
                }
                let sentence = format!(
                    "This {} is of an engine with {}, and this one has {engine}; use keys and ciphertexts of engines that were \
                     made with the same options.",
                    $what, self.home
                );
                Err(errors::exception(py, "KeyMismatchError", sentence))
            }
        }

        #[pymethods]
        impl $name {
            $($methods)*
        }
    )*};
}

/// The classes of keys that have an id and a size; `stored` ones are half as large with seeds.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {classes! {$(
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
                format!("<{} {}>", stringify!($name), self.value.id())
            }
            $($methods)*
        }
    )*}};
    (stored: $($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {keys! {$(
        $(#[$doc])*
        $name($inner), $what {
            /// Bytes when stored with a seed in place of the uniform half.
            #[getter]
            fn stored_bytes(&self) -> usize {
                self.value.stored_bytes()
            }
            $($methods)*
        }
    )*}};
}

keys! {
    /// The secret key: uniform ternary coefficients, wiped from memory when dropped. It refuses to be pickled.
    SecretKey(aglet::SecretKey), "secret key" {
        /// A secret would leak by accident.
        fn __reduce__(&self) -> PyResult<()> {
            Err(PyTypeError::new_err(
                "A secret key is neither pickled nor copied; keep the object itself, or write it with engine.write_secret_key.",
            ))
        }
    }

    /// An encryption of zero; whoever holds it can encrypt.
    PublicKey(aglet::PublicKey), "public key" {}
}

keys! { stored:
    /// Brings the product of two ciphertexts back to two polynomials.
    RelinearizationKey(aglet::ckks::RelinearizationKey), "relinearization key" {}

    /// Conjugates every slot.
    ConjugationKey(GaloisKey), "conjugation key" {}

    /// Rotates by any step, as a composition of powers of two.
    RotationKey(aglet::ckks::RotationKey), "rotation key" {}

    /// Rotates by one fixed step, in one key switch.
    FixedRotationKey(aglet::ckks::FixedRotationKey), "fixed rotation key" {
        /// The step, as in `numpy.roll`.
        #[getter]
        fn delta(&self) -> i64 {
            self.value.delta
        }
        /// The highest level at which it rotates.
        #[getter]
        fn level(&self) -> usize {
            (self.value.limbs() - 1).saturating_sub(self.home.params.hidden_levels())
        }
    }

    /// Rotations for products of a plaintext matrix and an encrypted vector.
    MatrixMultiplicationKey(aglet::ckks::MatrixKey), "matrix multiplication key" {}

    /// Every rotation key of one bootstrap.
    BootstrapKey(aglet::ckks::BootstrapKey), "bootstrap key" {
        /// Its kind in words: "bootstrap key", "small bootstrap key" or "lossy bootstrap key".
        #[getter]
        fn kind(&self) -> &'static str {
            self.value.kind()
        }
        /// What it is made for: "regular" or "lossy".
        #[getter]
        fn method(&self) -> &'static str {
            self.value.method().name()
        }
        #[getter]
        fn stage_count(&self) -> usize {
            self.value.stage_count()
        }
        #[getter]
        fn size(&self) -> &'static str {
            self.value.size().name()
        }
    }
}

classes! {
    /// An encoded message: one polynomial modulo Q_level.
    Plaintext(Levelled<aglet::ckks::Plaintext>), "plaintext" {
        /// The level that it is encoded for.
        #[getter]
        fn level(&self) -> usize {
            self.value.level
        }
        /// Coefficients are this times the values.
        #[getter]
        fn scale(&self) -> f64 {
            self.value.value.scale
        }
        /// Whether it is marked real.
        #[getter]
        fn is_real(&self) -> bool {
            self.value.value.real
        }
        fn __repr__(&self) -> String {
            format!("<Plaintext: level {}, {} slots>", self.value.level, self.value.value.slots)
        }
    }

    /// An encrypted message: two polynomials (three before relinearization) modulo Q_level. Changed by `out=` alone.
    Ciphertext(Current), "ciphertext" {
        /// The number of multiplications left.
        #[getter]
        fn level(&self) -> usize {
            self.value.level()
        }
        /// The same as `level`.
        #[getter]
        fn level_available(&self) -> usize {
            self.value.level()
        }
        /// The number of units of `slot_count` values: always 1.
        fn __len__(&self) -> usize {
            1
        }
        /// Coefficients are this times the values.
        #[getter]
        fn scale(&self) -> f64 {
            self.value.get().scale
        }
        #[getter]
        fn slot_count(&self) -> usize {
            self.value.get().slots
        }
        /// Whether it is marked real: it was made of a real type by real operations.
        #[getter]
        fn is_real(&self) -> bool {
            self.value.get().real
        }
        /// The largest absolute value that slots may have, as declared and followed through arithmetic; None if not known.
        #[getter]
        fn bound(&self) -> Option<f64> {
            Some(self.value.get().stated.bound).filter(|x| x.is_finite())
        }
        /// What the root mean square of the error of a slot is at most; None if not known.
        #[getter]
        fn noise(&self) -> Option<f64> {
            Some(self.value.get().stated.noise).filter(|x| x.is_finite())
        }
        /// Short id of the secret key that decrypts it.
        #[getter]
        fn key_id(&self) -> String {
            self.value.get().key.to_string()
        }
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.get().byte_count()
        }
        fn __repr__(&self) -> String {
            format!("<Ciphertext: level {}, {} slots, key {}>", self.value.level(), self.value.get().slots, self.value.get().key)
        }
    }
}

/// What can encrypt.
#[derive(FromPyObject)]
pub enum EncryptionKey<'py> {
    Public(Bound<'py, PublicKey>),
    Secret(Bound<'py, SecretKey>),
}

/// What can rotate.
#[derive(FromPyObject)]
pub enum AnyRotationKey<'py> {
    Fixed(Bound<'py, FixedRotationKey>),
    Any(Bound<'py, RotationKey>),
    Bootstrap(Bound<'py, BootstrapKey>),
}
