//! Files, bytes and pickles of CKKS; the Python methods stand in `python/aglet/files.py`.

use super::objects::{
    BootstrapKey, Ciphertext, ConjugationKey, Current, FixedRotationKey, Levelled, MatrixMultiplicationKey, Plaintext,
    PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
use super::Engine;
use crate::family::{homed_files, Held, Home};
use aglet::ckks;
use aglet::wire::CkksOrigin;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl Home for CkksOrigin {
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

/// The user's level of what has the level of the chain.
fn user_level(level: usize, home: &CkksOrigin) -> usize {
    level.saturating_sub(home.params.hidden_levels())
}

impl Held<CkksOrigin> for Levelled<ckks::Plaintext> {
    type Stored = ckks::Plaintext;
    type Look<'a> = &'a ckks::Plaintext;
    fn as_stored(&self) -> &ckks::Plaintext {
        &self.value
    }
    fn restored(value: ckks::Plaintext, home: &CkksOrigin) -> Self {
        let level = user_level(value.level(), home);
        Self { value, level }
    }
}

impl Held<CkksOrigin> for Current {
    type Stored = ckks::Ciphertext;
    type Look<'a> = Box<ckks::Ciphertext>;
    fn as_stored(&self) -> Box<ckks::Ciphertext> {
        Box::new(self.get())
    }
    fn restored(value: ckks::Ciphertext, home: &CkksOrigin) -> Self {
        let level = user_level(value.level(), home);
        Self::new(value, level)
    }
}

homed_files! { Engine, CkksOrigin:
    SecretKey, PublicKey, RelinearizationKey, ConjugationKey, RotationKey, FixedRotationKey, MatrixMultiplicationKey, BootstrapKey, Plaintext,
    Ciphertext,
}
