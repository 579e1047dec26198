//! What a bootstrap method of a crate above adds to a set of parameters.

use super::literal::CkksLiteral;
use crate::fault::ExtensionFault;
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::Params;
use std::any::Any;
use std::fmt::Debug;

/// A table of its own in the text of a set, which the method reads, checks and writes. A set has one exactly if it has raised primes, and chooses
/// its message and `eval_mod` primes by other rules (`ckks/params/primes.rs`).
pub trait Extension: Any + Debug + Send + Sync {
    /// The table as text, with its name above it.
    ///
    /// # Errors
    /// What the writer of TOML says of what cannot be written.
    fn to_toml(&self) -> Result<String, toml::ser::Error>;
    /// Refuses a literal that it does not fit, as far as that needs no primes.
    ///
    /// # Errors
    /// The first contradiction found.
    fn check(&self, literal: &CkksLiteral) -> Result<(), ExtensionFault>;
    /// Refuses primes that it does not fit, and what is not secure.
    ///
    /// # Errors
    /// The first reason found.
    fn check_primes(&self, params: &Params, security: Security) -> Result<(), ExtensionFault>;
    /// What enters the fingerprint.
    fn words(&self) -> Vec<u64>;
    /// The distribution of a sparse secret of this weight.
    fn sparse_secret(&self, weight: usize) -> Secret;
}

impl PartialEq for dyn Extension {
    fn eq(&self, other: &Self) -> bool {
        let kind = |x: &dyn Any| x.type_id();
        kind(self) == kind(other) && self.words() == other.words()
    }
}
