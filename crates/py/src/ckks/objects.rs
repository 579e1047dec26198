//! Keys, plaintexts and ciphertexts as Python sees them: immutable but for `out=`, and at home in engines of their parameters and slots.

use crate::family::{hidden, homed, homed_keys, homed_pickles, never_pickled, unchanging, unstored};
use aglet::ckks::GaloisKey;
use aglet::wire::CkksOrigin;
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

homed_keys! { CkksOrigin:
    /// The secret key: uniform ternary coefficients, wiped from memory when dropped. It refuses to be pickled.
    SecretKey(aglet::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write_secret_key")
        }
        /// Bytes in memory.
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.byte_count()
        }
    }

    /// An encryption of zero; whoever holds it can encrypt.
    PublicKey(aglet::PublicKey), "public key" {
        /// Bytes in memory.
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.byte_count()
        }
    }
}

homed_keys! { seeded CkksOrigin:
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
        /// Whether it is marked real.
        #[getter]
        fn is_real(&self) -> bool {
            self.value.value.real
        }
        /// The largest absolute value that slots may have, as declared; None if nothing was.
        #[getter]
        fn bound(&self) -> Option<f64> {
            Some(self.value.value.stated.bound).filter(|x| x.is_finite())
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

/// What is encoded for one level, to be used again and again.
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
    /// Weights for sums at one level, encoded: used again and again.
    EncodedWeights(aglet::ckks::EncodedWeights), "list of encoded weights"

    /// A matrix for one level and one shape of matrix multiplication keys, encoded: used again and again.
    EncodedDiagonals(aglet::ckks::EncodedMatrix), "encoded matrix"
}

homed_pickles! { CkksOrigin:
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext, Ciphertext,
}

unchanging! {
    PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
    EncodedWeights, EncodedDiagonals,
}

hidden! { Ciphertext }

/// A copy shares the data, and stays as it is when `out=` gives the other one a result.
#[pymethods]
impl Ciphertext {
    fn __copy__(&self) -> Self {
        Self::new(&self.home, self.value.copy())
    }
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
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
