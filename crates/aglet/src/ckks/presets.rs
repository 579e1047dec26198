//! The parameter sets of CKKS: one TOML file each, checked when loaded.

use crate::presets::{text_of, texts};
use crate::Error;
/// The required security check.
pub use aglet_rlwe::security::Security;
use aglet_schemes::ckks::CkksParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 37] = texts! { "ckks":
    "regular", "regular-44", "compact", "to14", "to14-compact", "to15", "precise", "precise-45", "precise-single",
    "param15", "bits15", "levels-13", "levels-14", "levels-15", "levels-16", "levels-17", "seal-1", "seal-2",
    "seal-3", "seal-4", "seal-5", "seal-6", "seal-7", "seal-8", "seal-9", "seal-10", "seal-11", "seal-12", "ship14",
    "ship14-precise", "ship13", "ship13-bits", "ship13-published", "ship14-published", "toy", "toy-ship", "toy14"
};

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and what 128 bits of security refuse if they are asked for.
pub fn load(name: &str, security: Security) -> Result<CkksParams, Error> {
    from_text(text_of(&ALL, name)?, security)
}

/// The parameters of a literal of the user's own, in the form of a preset's file.
///
/// # Errors
/// Errors of the literal, and of the security check if 128 bits are required.
pub fn from_text(text: &str, security: Security) -> Result<CkksParams, Error> {
    Ok(aglet_bootstrap::ckks::params(text, security)?)
}

/// Whether the preset is made for bootstrapping.
pub fn can_bootstrap(params: &CkksParams) -> bool {
    params.ephemeral_weight().is_some()
}
