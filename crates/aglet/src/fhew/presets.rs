//! The sets of FHEW that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::{text_of, texts};
use crate::Error;
/// The required security check.
pub use aglet_rlwe::security::Security;
use aglet_schemes::fhew::FhewParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 11] = texts! { "fhew":
    "gate", "cggi", "ginx3", "lmkcdey", "dm", "ntru", "lut2", "lut3", "lut4", "wide", "toy-lut4"
};

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and what 128 bits of security refuse if they are asked for: "ntru" does not pass.
pub fn load(name: &str, security: Security) -> Result<FhewParams, Error> {
    from_text(text_of(&ALL, name)?, security)
}

/// Parameters from a user's own literal, in the form of a preset's file.
///
/// # Errors
/// Errors of the literal, and of the security check if 128 bits are required.
pub fn from_text(text: &str, security: Security) -> Result<FhewParams, Error> {
    Ok(FhewParams::from_toml(text, security)?)
}
