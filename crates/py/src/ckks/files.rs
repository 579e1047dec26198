//! Files, bytes and pickles of CKKS. The Python methods are in `python/aglet/files.py`.

use super::objects::{
    BootstrapKey, Ciphertext, ConjugationKey, Current, FixedRotationKey, Levelled, MatrixMultiplicationKey, Plaintext,
    PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
use super::Engine;
use crate::family::{family_files, FamilyContext, Inner};
use aglet::ckks;
use aglet::wire::CkksOrigin;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl FamilyContext for CkksOrigin {
    fn preset(&self) -> &str {
        self.params.name()
    }
    fn said(&self) -> String {
        format!("preset {:?}, {} levels and {} slots", self.preset(), self.params.max_level(), self.slots)
    }
    fn named_by(summary: &aglet::wire::Summary) -> Result<Self, aglet::Error> {
        Self::find(summary, false)
    }
}

/// Converts a chain level to the user level.
fn user_level(level: usize, context: &CkksOrigin) -> usize {
    level.saturating_sub(context.params.hidden_levels())
}

impl Inner<CkksOrigin> for Levelled<ckks::Plaintext> {
    type Stored = ckks::Plaintext;
    type Look<'a> = &'a ckks::Plaintext;
    fn as_stored(&self) -> &ckks::Plaintext {
        &self.value
    }
    fn restored(value: ckks::Plaintext, context: &CkksOrigin) -> Self {
        let level = user_level(value.level(), context);
        Self { value, level }
    }
}

impl Inner<CkksOrigin> for Current {
    type Stored = ckks::Ciphertext;
    type Look<'a> = Box<ckks::Ciphertext>;
    fn as_stored(&self) -> Box<ckks::Ciphertext> {
        Box::new(self.get())
    }
    fn restored(value: ckks::Ciphertext, context: &CkksOrigin) -> Self {
        let level = user_level(value.level(), context);
        Self::new(value, level)
    }
}

family_files! { Engine, CkksOrigin:
    SecretKey, PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
    Ciphertext,
}
