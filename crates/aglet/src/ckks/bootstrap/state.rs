//! What an engine of CKKS keeps between bootstraps.

use crate::bootstraps::Bootstraps;
use aglet_bootstrap::{BootstrapCircuit, CkksStep, Pipeline};
use aglet_schemes::ckks::CkksTransform;

pub(super) type CkksPipeline = Pipeline<CkksStep, CkksTransform>;

/// Bootstraps that are kept.
const KEPT: usize = 6;

pub(crate) type BootstrapState = Bootstraps<BootstrapCircuit, CkksTransform, KEPT>;
