//! Parameter sets of CKKS: the purposes of primes, levels and scales.
//!
//! The chain of primes of Q runs bottom to top: base, slots_to_coeffs, message, eval_mod, coeffs_to_slots. A *chain level* is
//! the number of Q limbs minus one. A *user level* counts the multiplications left to the user; user level 0 lies above the
//! hidden slots_to_coeffs primes, so user level `l` is chain level `hidden_levels() + l`.

mod extension;
mod fingerprint;
mod literal;
mod primes;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

pub use extension::Extension;
pub use literal::{CkksLiteral, Claims, Family, ModuliGroup, Role, MAX_EPHEMERAL_WEIGHT};

use crate::Error;
use aglet_rlwe::security::Security;
use aglet_rlwe::Params;

/// A checked, immutable parameter set of CKKS. It dereferences to its [`Params`]. Clones share it.
#[derive(Clone)]
pub struct CkksParams(Arc<Inner>);

struct Inner {
    literal: CkksLiteral,
    rlwe: Params,
    /// Canonical scale of each user level, level 0 first.
    scales: Vec<f64>,
    fingerprint: [u8; 32],
}

impl Deref for CkksParams {
    type Target = Params;
    fn deref(&self) -> &Params {
        &self.0.rlwe
    }
}

impl CkksParams {
    /// Checks a literal, chooses its primes (the rule stands in `ckks/params/primes.rs`) and passes the security gate of
    /// [`Params::new`].
    ///
    /// Deterministic: the same literal gives the same primes everywhere. Takes milliseconds.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if the literal contradicts itself or the primes do not exist, and those of [`Params::new`].
    pub fn new(literal: CkksLiteral, security: Security) -> Result<Self, Error> {
        literal.check()?;
        let (spec, scales) = primes::choose(&literal)?;
        let fingerprint = fingerprint::of(&literal, &spec);
        let rlwe = Params::new(spec, security)?;
        if let Some(extension) = &literal.extension {
            extension.check_primes(&rlwe, security)?;
        }
        Ok(Self(Arc::new(Inner { literal, rlwe, scales, fingerprint })))
    }

    /// [`CkksLiteral::from_toml`], then [`CkksParams::new`].
    ///
    /// # Errors
    /// As those two.
    pub fn from_toml(text: &str, security: Security) -> Result<Self, Error> {
        CkksParams::new(CkksLiteral::from_toml(text)?, security)
    }

    /// The parameters without what CKKS makes of them.
    #[must_use]
    pub fn rlwe(&self) -> &Params {
        &self.0.rlwe
    }

    /// The literal this set was built from.
    #[must_use]
    pub fn literal(&self) -> &CkksLiteral {
        &self.0.literal
    }

    /// Name of the set.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.literal.name
    }

    /// Number of complex slots, N/2.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// Indices of the primes of a role: into [`Params::p`] for [`Role::Special`], into [`Params::q`] and what follows it,
    /// [`Params::spare`], for every other. Empty if the set has no such primes.
    #[must_use]
    pub fn role(&self, role: Role) -> Range<usize> {
        let count = |wanted: &dyn Fn(Role) -> bool| -> usize {
            self.0.literal.moduli.iter().filter(|g| wanted(g.role)).map(|g| g.count).sum()
        };
        let start = if role == Role::Special { 0 } else { count(&|r| r < role) };
        start..start + count(&|r| r == role)
    }

    /// Number of chain levels hidden below user level 0 (the slots_to_coeffs primes).
    #[must_use]
    pub fn hidden_levels(&self) -> usize {
        self.role(Role::SlotsToCoeffs).len()
    }

    /// The highest user level: the number of message primes.
    #[must_use]
    pub fn max_level(&self) -> usize {
        self.role(Role::Message).len()
    }

    /// Chain level of a user level, `hidden_levels() + user_level`. Its number of limbs is one more. No range check.
    #[must_use]
    pub fn chain_level(&self, user_level: usize) -> usize {
        self.hidden_levels() + user_level
    }

    /// Canonical scale of a user level: `2^bits` at [`CkksParams::max_level`] (and, for lack of another, above it), then
    /// `scale(l-1) = scale(l)^2 / q_l`, so that products of canonical ciphertexts are canonical again after a rescale.
    #[must_use]
    pub fn scale_at(&self, user_level: usize) -> f64 {
        self.0.scales[user_level.min(self.max_level())]
    }

    /// log2 of the wanted message scale: the size of the message primes.
    #[must_use]
    pub fn scale_bits(&self) -> u32 {
        self.0.literal.bits_of(Role::Message)
    }

    /// Weight of the sparse secret of a bootstrap; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn ephemeral_weight(&self) -> Option<usize> {
        self.0.literal.ephemeral_weight
    }

    /// log2 of the message ratio of a bootstrap; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn message_ratio_log2(&self) -> Option<f64> {
        self.0.literal.message_ratio_log2
    }

    /// The raised primes as a chain of their own, for sets with an [`Extension`].
    ///
    /// # Errors
    /// [`aglet_rlwe::Error::BadParameters`] for a set without any.
    pub fn raised(&self) -> Result<Params, aglet_rlwe::Error> {
        self.subset(&self.role(Role::Raised).collect::<Vec<_>>())
    }

    /// User level that a regular bootstrap leaves; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn regular_level(&self) -> Option<usize> {
        self.0.literal.regular_level
    }

    /// BLAKE3 of everything that keys and ciphertexts depend on: ring, secrets, message ratio and primes with their roles.
    /// Name, source, claims and gate do not enter: sets that differ only there are interchangeable.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
}

impl fmt::Debug for CkksParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CkksParams {{ name: {:?}, {:?} }}", self.name(), self.rlwe())
    }
}

impl PartialEq for CkksParams {
    /// Equal fingerprints: keys and ciphertexts of one are those of the other.
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for CkksParams {}
