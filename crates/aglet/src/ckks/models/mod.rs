//! What a bootstrap will take and give, before a key exists.

pub mod cost;
pub mod failure;
pub mod memory;
pub mod precision;
pub mod report;
