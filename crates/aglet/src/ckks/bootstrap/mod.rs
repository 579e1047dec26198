//! Bootstraps of an engine: what is asked for, the route that answers, its keys, and the run.

mod iterated;
pub(crate) mod key;
mod many;
mod raised;
mod rotation;
mod run;

pub use crate::runtime::StageRun;
pub use aglet_bootstrap::slots_first::{KeySize, Method, Request};
pub use aglet_bootstrap::Route;
pub(crate) use iterated::gained;
pub use iterated::MAX_ITERATIONS;
pub use key::BootstrapKey;
pub use run::BootstrapKeys;
pub(crate) use run::BootstrapState;
