//! Models of a bootstrap before a key exists: cost, memory, that of a card, precision, failure.

pub mod card;
pub mod cost;
pub mod failure;
pub mod memory;
pub mod precision;
pub mod report;
