//! Files, bytes and pickles of gates and tables; the Python methods stand in `python/aglet/lookup/files.py`.

use super::objects::{LookupKey, LweArray, LweSecretKey, PackingKey};
use super::LookupEngine;
use crate::family::{homed_files, Home};
use aglet::fhew;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl Home for fhew::Home {
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

homed_files! { LookupEngine, fhew::Home:
    LweSecretKey,
    LookupKey,
    PackingKey,
    LweArray,
}
