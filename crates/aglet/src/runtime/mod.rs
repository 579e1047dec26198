//! What every family runs on: stopping and watching of work, the machine, what a unit of work takes on it.

mod control;
pub mod machine;
mod units;

pub use control::Control;
pub use units::Units;
