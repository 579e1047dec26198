//! What is wrong with parameters of a bootstrap, or with what its keys are given: a variant with fields for each.
//!
//! Their sentences have no full stop, since they stand inside that of `BadParameters`, of this floor or the one below.

mod ship;
#[cfg(test)]
mod tests;

pub use ship::ShipFault;
