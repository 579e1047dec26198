//! Keys, plaintexts and ciphertexts of integers. They never change, and belong to every engine with their parameters
//! and packing.

use crate::family::{family_keys, family_pickles, hidden, homed, never_pickled, unchanging};
use aglet::integer::{BootstrapKey, Ciphertext, FixedRotationKey, Plaintext, RelinearizationKey, RotationKey};
use aglet::wire::IntegerOrigin;
use pyo3::prelude::*;

family_keys! { IntegerOrigin:
    /// The secret key of integers. It is wiped from memory when dropped and cannot be pickled.
    IntegerSecretKey(aglet::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write")
        }
    }

    /// An encryption of zero. Anyone who has it can encrypt integers.
    IntegerPublicKey(aglet::PublicKey), "public key" {}
}

family_keys! { seeded IntegerOrigin:
    /// Relinearizes: turns the product of two ciphertexts of integers into two polynomials again.
    IntegerRelinearizationKey(RelinearizationKey), "relinearization key" {}

    /// All keys that a bootstrap of integers reads.
    IntegerBootstrapKey(BootstrapKey), "bootstrap key" {}

    /// Rotates rows by any step, composed of rotations by powers of two, and swaps the two rows.
    IntegerRotationKey(RotationKey), "rotation key" {}

    /// Rotates rows by one step, with one key switch.
    IntegerFixedRotationKey(FixedRotationKey), "fixed rotation key" {
        /// Slots that rows are rotated by, to the right.
        #[getter]
        fn delta(&self) -> i64 {
            self.value.delta()
        }
        /// The highest level of a ciphertext that it rotates.
        #[getter]
        fn level(&self) -> usize {
            self.value.level()
        }
    }
}

homed! { IntegerOrigin:
    /// An encoded message of integers: one polynomial modulo t, for every level.
    IntegerPlaintext(Plaintext), "plaintext" {
        fn __repr__(&self) -> String {
            format!("<IntegerPlaintext: modulo {}>", self.context.params.plain().value())
        }
    }

    /// Encrypted integers: two polynomials, or three before relinearization.
    IntegerCiphertext(Ciphertext), "ciphertext" {
        /// How many products can still follow one another.
        #[getter]
        fn level(&self) -> usize {
            self.value.level()
        }
        /// 1, or 2 for a product that is not relinearized.
        #[getter]
        fn degree(&self) -> usize {
            self.value.degree()
        }
        /// The noise budget in bits, from the bound on the noise; no key is needed.
        #[getter]
        fn noise_budget(&self) -> f64 {
            self.context.params.budget_at(self.value.level(), self.value.noise)
        }
        /// Short id of the secret key that decrypts it.
        #[getter]
        fn key_id(&self) -> String {
            self.value.key.to_string()
        }
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.byte_count()
        }
        fn __repr__(&self) -> String {
            let (level, t) = (self.value.level(), self.context.params.plain().value());
            format!("<IntegerCiphertext: level {level}, modulo {t}, budget {:.1} bits, key {}>", self.noise_budget(), self.value.key)
        }
    }
}

family_pickles! { IntegerOrigin:
    IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerFixedRotationKey, IntegerBootstrapKey, IntegerPlaintext,
    IntegerCiphertext,
}

hidden! { IntegerCiphertext }

unchanging! {
    IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerFixedRotationKey, IntegerBootstrapKey, IntegerPlaintext,
    IntegerCiphertext,
}

/// A key that rotates rows.
#[derive(FromPyObject)]
pub enum AnyRotationKey<'py> {
    Fixed(Bound<'py, IntegerFixedRotationKey>),
    Any(Bound<'py, IntegerRotationKey>),
}
