//! Files, bytes and pickles of integers. The Python methods are in `python/aglet/integer/files.py`.

use super::objects::{
    IntegerBootstrapKey, IntegerCiphertext, IntegerFixedRotationKey, IntegerPlaintext, IntegerPublicKey,
    IntegerRelinearizationKey, IntegerRotationKey, IntegerSecretKey,
};
use super::IntegerEngine;
use crate::family::{family_files, FamilyContext};
use aglet::integer::Packing;
use aglet::wire::IntegerOrigin;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl FamilyContext for IntegerOrigin {
    fn preset(&self) -> &str {
        self.params.name()
    }
    fn said(&self) -> String {
        let packing = match self.packing() {
            Packing::Slots => "slots",
            Packing::Coefficients => "coefficients",
        };
        let (t, levels) = (self.params.plain().value(), self.params.max_level());
        format!("preset {:?}, {levels} levels, plaintext modulus {t} and packing in {packing}", self.preset())
    }
    fn named_by(summary: &aglet::wire::Summary) -> Result<Self, aglet::Error> {
        Self::find(summary, false)
    }
}

family_files! { IntegerEngine, IntegerOrigin:
    IntegerSecretKey,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerFixedRotationKey,
    IntegerBootstrapKey,
    IntegerPlaintext,
    IntegerCiphertext,
}
