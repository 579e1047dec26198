//! Keys, plaintexts and ciphertexts as Python sees them: immutable, and bound to the engine that made them.

use crate::errors;
use aglet::{GaloisKey, RelinearisationKey};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A message or ciphertext with its user level.
pub struct Levelled<T> {
    pub value: T,
    pub level: usize,
}

/// Classes around one value of the engine. `of` hands out the value to the engine that made it, and refuses it to others.
macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $what:literal { $($methods:tt)* })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "aglet._core")]
        pub struct $name {
            engine: u64,
            value: $inner,
        }

        impl $name {
            pub fn new(engine: u64, value: $inner) -> Self {
                Self { engine, value }
            }
            pub fn of(&self, py: Python<'_>, engine: u64) -> PyResult<&$inner> {
                if self.engine == engine {
                    return Ok(&self.value);
                }
                let sentence = concat!("This ", $what, " was made by another engine; use keys and ciphertexts of one engine together.");
                Err(errors::exception(py, "KeyMismatchError", sentence.to_string()))
            }
        }

        #[pymethods]
        impl $name {
            /// Nothing of the engine is pickled or copied: a secret would leak by accident, the rest would be gigabytes.
            fn __reduce__(&self) -> PyResult<()> {
                Err(PyTypeError::new_err(concat!("A ", $what, " is neither pickled nor copied; keep the object itself.")))
            }
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
    SecretKey(aglet::SecretKey), "secret key" {}

    /// An encryption of zero; whoever holds it can encrypt.
    PublicKey(aglet::PublicKey), "public key" {}
}

keys! { stored:
    /// Brings the product of two ciphertexts back to two polynomials.
    RelinearizationKey(RelinearisationKey), "relinearization key" {}

    /// Conjugates every slot.
    ConjugationKey(GaloisKey), "conjugation key" {}

    /// Rotates by any step, as a composition of powers of two.
    RotationKey(aglet::RotationKey), "rotation key" {}

    /// Rotates by one fixed step, in one key switch.
    FixedRotationKey(aglet::FixedRotationKey), "fixed rotation key" {
        /// The step, as in `numpy.roll`.
        #[getter]
        fn delta(&self) -> i64 {
            self.value.delta
        }
    }

    /// Rotations for products of a plaintext matrix and an encrypted vector.
    MatrixMultiplicationKey(aglet::MatrixKey), "matrix multiplication key" {}

    /// Every rotation key of one bootstrap.
    BootstrapKey(aglet::BootstrapKey), "bootstrap key" {
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
    Plaintext(Levelled<aglet::Plaintext>), "plaintext" {
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
        fn __repr__(&self) -> String {
            format!("<Plaintext: level {}, {} slots>", self.value.level, self.value.value.slots)
        }
    }

    /// An encrypted message: two polynomials (three before relinearization) modulo Q_level. Immutable.
    Ciphertext(Levelled<aglet::Ciphertext>), "ciphertext" {
        /// The number of multiplications left.
        #[getter]
        fn level(&self) -> usize {
            self.value.level
        }
        /// Coefficients are this times the values.
        #[getter]
        fn scale(&self) -> f64 {
            self.value.value.scale
        }
        #[getter]
        fn slot_count(&self) -> usize {
            self.value.value.slots
        }
        /// Short id of the secret key that decrypts it.
        #[getter]
        fn key_id(&self) -> String {
            self.value.value.key.to_string()
        }
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.value.byte_count()
        }
        fn __repr__(&self) -> String {
            format!("<Ciphertext: level {}, {} slots, key {}>", self.value.level, self.value.value.slots, self.value.value.key)
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
}
