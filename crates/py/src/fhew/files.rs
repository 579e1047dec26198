//! Files, bytes and pickles of FHEW. The Python methods are in `python/aglet/fhew/files.py`.

use super::objects::{FhewArray, FhewBootstrapKey, FhewPublicKey, FhewSecretKey, PackingKey};
use super::FhewEngine;
use crate::family::{family_files, FamilyContext};
use aglet::fhew;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl FamilyContext for fhew::FhewContext {
    fn preset(&self) -> &str {
        &self.params().literal().name
    }
    fn said(&self) -> String {
        format!("preset {:?}", self.preset())
    }
    fn named_by(summary: &aglet::wire::Summary) -> Result<Self, aglet::Error> {
        Self::find(summary, false)
    }
}

family_files! { FhewEngine, fhew::FhewContext:
    FhewSecretKey,
    FhewPublicKey,
    FhewBootstrapKey,
    PackingKey,
    FhewArray,
}
