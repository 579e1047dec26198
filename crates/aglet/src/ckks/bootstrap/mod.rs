//! Bootstraps of an engine: what is asked for, the route that answers, its keys, and the run.

mod iterated;
pub(crate) mod key;
mod many;
pub(crate) mod route;
mod run;

pub use iterated::MAX_ITERATIONS;
pub use key::BootstrapKey;
pub use route::{KeySize, Method, Request, Route};
pub(crate) use run::{working_bytes, BootstrapState};
pub use run::{BootstrapKeys, StageRun};
