//! Keys, plaintexts and ciphertexts of integers: never changed, and at home in every engine of their parameters and packing.

use crate::family::{hidden, homed, homed_keys, homed_pickles, never_pickled, unchanging};
use aglet::integer::{BootstrapKey, Ciphertext, Plaintext, RelinearizationKey, RotationKey};
use aglet::wire::IntegerOrigin;
use pyo3::prelude::*;

homed_keys! { IntegerOrigin:
    /// The secret key of integers, wiped from memory when dropped. It refuses to be pickled.
    IntegerSecretKey(aglet::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write_secret_key")
        }
    }

    /// An encryption of zero; whoever holds it can encrypt integers.
    IntegerPublicKey(aglet::PublicKey), "public key" {
        /// Bytes in memory.
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.byte_count()
        }
    }
}

homed_keys! { seeded IntegerOrigin:
    /// Brings the product of two ciphertexts of integers back to two polynomials.
    IntegerRelinearizationKey(RelinearizationKey), "relinearization key" {}

    /// Every key that a bootstrap of integers reads.
    IntegerBootstrapKey(BootstrapKey), "bootstrap key" {}

    /// Rotates rows by any step, as a composition of powers of two, and exchanges them.
    IntegerRotationKey(RotationKey), "rotation key" {}
}

homed! { IntegerOrigin:
    /// An encoded message of integers: one polynomial modulo t, for every level.
    IntegerPlaintext(Plaintext), "plaintext" {
        fn __repr__(&self) -> String {
            format!("<IntegerPlaintext: modulo {}>", self.home.params.plain().value())
        }
    }

    /// Encrypted integers: two polynomials, three before relinearization.
    IntegerCiphertext(Ciphertext), "ciphertext" {
        /// Products that are left, one after the other.
        #[getter]
        fn level(&self) -> usize {
            self.value.level()
        }
        /// 1, or 2 for a product that is not relinearized.
        #[getter]
        fn degree(&self) -> usize {
            self.value.degree()
        }
        /// Bits that are free above the noise by its bound, for everybody.
        #[getter]
        fn noise_budget(&self) -> f64 {
            self.home.params.budget_at(self.value.level(), self.value.noise)
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
            let (level, t) = (self.value.level(), self.home.params.plain().value());
            format!("<IntegerCiphertext: level {level}, modulo {t}, budget {:.1} bits, key {}>", self.noise_budget(), self.value.key)
        }
    }
}

homed_pickles! { IntegerOrigin:
    IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerBootstrapKey, IntegerPlaintext, IntegerCiphertext,
}

hidden! { IntegerCiphertext }

unchanging! {
    IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerBootstrapKey, IntegerPlaintext, IntegerCiphertext,
}
