//! Bootstraps of an engine: the request, its circuit, its keys, and the run.

mod functional;
mod iterated;
pub(crate) mod key;
mod many;
mod raised;
mod room;
mod rotation;
mod run;
mod state;

pub use crate::runtime::StageRun;
pub use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
pub use aglet_bootstrap::ckks::slots_first::steps::eval_mod::Functional;
pub use aglet_bootstrap::ckks::BootstrapKind;
pub use aglet_bootstrap::BootstrapCircuit;
pub use functional::{FunctionalEstimate, Limits};
pub(crate) use iterated::gained;
pub use iterated::MAX_ITERATIONS;
pub use key::BootstrapKey;
pub use run::BootstrapKeys;
pub(crate) use state::BootstrapState;
