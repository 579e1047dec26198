//! Lattice floor of Aglet: parameters and their security gate.
//!
//! Parameters are data: an unchecked [`params::ParamsLiteral`] becomes immutable [`params::Params`] only through the
//! security gate of [`security`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod params;
pub mod security;

pub use error::Error;
