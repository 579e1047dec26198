//! Models of a bootstrap before a key exists: cost, memory, precision, failure.

pub mod cost;
pub mod failure;
pub mod memory;
pub mod precision;
pub mod report;
