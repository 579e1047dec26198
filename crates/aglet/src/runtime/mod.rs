//! What every family runs on: randomness, stopping and watching of work, the machine, what a unit of work takes on it.

mod control;
pub mod machine;
mod randomness;
mod threads;
mod units;

pub use control::Control;
pub use randomness::Randomness;
pub(crate) use threads::{on_threads, Threads};
pub use units::Units;
