//! What the tests of Aglet share. A development dependency only: it panics where a library would return an error, and its
//! engines keep no secret.
#![forbid(unsafe_code)]

pub mod fixture;
pub mod golden;
pub mod messages;
