//! What an engine keeps between bootstraps.

use crate::runtime::{Cache, StageRun};
use aglet_bootstrap::{BootstrapCircuit, CkksStep, Pipeline};
use aglet_ring::process::Lock;
use aglet_rlwe::Context;
use aglet_schemes::ckks::CkksTransform;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) type CkksPipeline = Pipeline<CkksStep, CkksTransform>;

/// What an engine keeps between bootstraps: contexts of the chains that it raised to, circuits that ran with their
/// encoded linear maps (the latest first), and what the stages of the last run took.
#[derive(Default)]
pub(crate) struct BootstrapState {
    pub(super) contexts: Lock<BTreeMap<Vec<usize>, Arc<Context>>>,
    pub(super) pipelines: Cache<Arc<BootstrapCircuit>, CkksPipeline, PIPELINES>,
    pub(super) ran: Lock<Vec<StageRun>>,
}

/// Pipelines that an engine keeps. Those on one chain share what they have in common.
const PIPELINES: usize = 6;
