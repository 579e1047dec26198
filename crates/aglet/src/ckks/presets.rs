//! The parameter sets of CKKS: one TOML file each, checked when loaded.

use crate::presets::text_of;
use crate::Error;
/// The required security check.
pub use aglet_rlwe::security::Security;
use aglet_schemes::ckks::CkksParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 37] = [
    ("regular", include_str!("../../presets/ckks/regular.toml")),
    ("regular-44", include_str!("../../presets/ckks/regular-44.toml")),
    ("compact", include_str!("../../presets/ckks/compact.toml")),
    ("to14", include_str!("../../presets/ckks/to14.toml")),
    ("to14-compact", include_str!("../../presets/ckks/to14-compact.toml")),
    ("to15", include_str!("../../presets/ckks/to15.toml")),
    ("precise", include_str!("../../presets/ckks/precise.toml")),
    ("precise-45", include_str!("../../presets/ckks/precise-45.toml")),
    ("precise-single", include_str!("../../presets/ckks/precise-single.toml")),
    ("param15", include_str!("../../presets/ckks/param15.toml")),
    ("bits15", include_str!("../../presets/ckks/bits15.toml")),
    ("levels-13", include_str!("../../presets/ckks/levels-13.toml")),
    ("levels-14", include_str!("../../presets/ckks/levels-14.toml")),
    ("levels-15", include_str!("../../presets/ckks/levels-15.toml")),
    ("levels-16", include_str!("../../presets/ckks/levels-16.toml")),
    ("levels-17", include_str!("../../presets/ckks/levels-17.toml")),
    ("seal-1", include_str!("../../presets/ckks/seal-1.toml")),
    ("seal-2", include_str!("../../presets/ckks/seal-2.toml")),
    ("seal-3", include_str!("../../presets/ckks/seal-3.toml")),
    ("seal-4", include_str!("../../presets/ckks/seal-4.toml")),
    ("seal-5", include_str!("../../presets/ckks/seal-5.toml")),
    ("seal-6", include_str!("../../presets/ckks/seal-6.toml")),
    ("seal-7", include_str!("../../presets/ckks/seal-7.toml")),
    ("seal-8", include_str!("../../presets/ckks/seal-8.toml")),
    ("seal-9", include_str!("../../presets/ckks/seal-9.toml")),
    ("seal-10", include_str!("../../presets/ckks/seal-10.toml")),
    ("seal-11", include_str!("../../presets/ckks/seal-11.toml")),
    ("seal-12", include_str!("../../presets/ckks/seal-12.toml")),
    ("ship14", include_str!("../../presets/ckks/ship14.toml")),
    ("ship14-precise", include_str!("../../presets/ckks/ship14-precise.toml")),
    ("ship13", include_str!("../../presets/ckks/ship13.toml")),
    ("ship13-bits", include_str!("../../presets/ckks/ship13-bits.toml")),
    ("ship13-published", include_str!("../../presets/ckks/ship13-published.toml")),
    ("ship14-published", include_str!("../../presets/ckks/ship14-published.toml")),
    ("toy", include_str!("../../presets/ckks/toy.toml")),
    ("toy-ship", include_str!("../../presets/ckks/toy-ship.toml")),
    ("toy14", include_str!("../../presets/ckks/toy14.toml")),
];

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
