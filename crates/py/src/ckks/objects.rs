//! Keys, plaintexts and ciphertexts for Python. They are immutable except for `out=`, and belong to engines with their
//! parameters and slots.

use crate::family::{family_keys, family_pickles, hidden, homed, never_pickled, unchanging, unstored};
use aglet::ckks::GaloisKey;
use aglet::wire::CkksOrigin;
use pyo3::prelude::*;
use std::sync::{PoisonError, RwLock};

/// A message or ciphertext with its user level.
pub struct Levelled<T> {
    pub value: T,
    pub level: usize,
}

/// The ciphertext that a Python object holds. Its data never change, but `out=` can make the object hold another
/// ciphertext.
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

family_keys! { CkksOrigin:
    /// The secret key: uniform ternary coefficients. It is wiped from memory when dropped and cannot be pickled.
    SecretKey(aglet::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write_secret_key")
        }
    }

    /// An encryption of zero. Anyone who has it can encrypt.
    PublicKey(aglet::PublicKey), "public key" {}
}

family_keys! { seeded CkksOrigin:
    /// Relinearizes: turns the product of two ciphertexts into two polynomials again.
    RelinearizationKey(aglet::ckks::RelinearizationKey), "relinearization key" {}

    /// Conjugates every slot.
    ConjugationKey(GaloisKey), "conjugation key" {}

    /// Rotates by any step, composed of rotations by powers of two.
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
            (self.value.limbs() - 1).saturating_sub(self.context.params.hidden_levels())
        }
    }

    /// The rotation keys for products of a plaintext matrix and an encrypted vector.
    MatrixMultiplicationKey(aglet::ckks::MatrixKey), "matrix multiplication key" {}

    /// All rotation keys of one bootstrap.
    BootstrapKey(aglet::ckks::BootstrapKey), "bootstrap key" {
        /// Its name: "bootstrap key", "small bootstrap key" or "lossy bootstrap key".
        #[getter]
        fn kind(&self) -> &'static str {
            self.value.kind()
        }
        /// The method that it serves: "regular" or "lossy".
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

homed! { CkksOrigin:
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
        /// Whether it is marked as real.
        #[getter]
        fn is_real(&self) -> bool {
            self.value.value.real
        }
        /// The declared largest absolute value of slots; None if none was declared.
        #[getter]
        fn bound(&self) -> Option<f64> {
            Some(self.value.value.stated.bound).filter(|x| x.is_finite())
        }
        fn __repr__(&self) -> String {
            format!("<Plaintext: level {}, {} slots>", self.value.level, self.value.value.slots)
        }
    }

    /// An encrypted message: two polynomials modulo Q_level, or three before relinearization. Only `out=` changes it.
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
        /// Whether it is marked as real: real inputs and real operations only.
        #[getter]
        fn is_real(&self) -> bool {
            self.value.get().real
        }
        /// The largest absolute value that slots may have: declared and tracked through arithmetic. None if not known.
        #[getter]
        fn bound(&self) -> Option<f64> {
            Some(self.value.get().stated.bound).filter(|x| x.is_finite())
        }
        /// An upper bound of the root-mean-square error of a slot; None if not known.
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

/// Data that are encoded for one level and can be used again and again.
macro_rules! encoded {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $what:literal)*) => {
        unstored! { CkksOrigin: $(
            $(#[$doc])*
            $name($inner), $what {
                #[getter]
                fn level(&self) -> usize {
                    self.value.level()
                }
                /// Bytes in memory.
                #[getter]
                fn byte_count(&self) -> usize {
                    self.value.byte_count()
                }
            }
        )* }
    };
}

encoded! {
    /// Weights of a sum, encoded for one level. They can be used again and again.
    EncodedWeights(aglet::ckks::EncodedWeights), "list of encoded weights"

    /// A matrix, encoded for one level and one shape of matrix multiplication key. It can be used again and again.
    EncodedDiagonals(aglet::ckks::EncodedMatrix), "encoded matrix"

    /// A linear map, encoded for one level and its rotation keys. It can be used again and again.
    EncodedMap(aglet::ckks::EncodedMap), "encoded map"
}

family_pickles! { CkksOrigin:
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext, Ciphertext,
}

unchanging! {
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
    EncodedWeights, EncodedDiagonals, EncodedMap,
}

hidden! { Ciphertext }

/// A copy shares the data. It does not change when `out=` writes a result into the original.
#[pymethods]
impl Ciphertext {
    fn __copy__(&self) -> Self {
        Self::new(&self.context, self.value.copy())
    }
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }
}

/// A key that can encrypt.
#[derive(FromPyObject)]
pub enum EncryptionKey<'py> {
    Public(Bound<'py, PublicKey>),
    Secret(Bound<'py, SecretKey>),
}

/// A key that can rotate.
#[derive(FromPyObject)]
pub enum AnyRotationKey<'py> {
    Fixed(Bound<'py, FixedRotationKey>),
    Any(Bound<'py, RotationKey>),
    Bootstrap(Bound<'py, BootstrapKey>),
}
