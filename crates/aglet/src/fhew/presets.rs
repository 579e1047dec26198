//! The sets of gates and tables that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::text_of;
use crate::Error;
use aglet_rlwe::security::Security;
use aglet_schemes::fhew::FhewParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 10] = [
    ("gate", include_str!("../../presets/fhew/gate.toml")),
    ("cggi", include_str!("../../presets/fhew/cggi.toml")),
    ("ginx3", include_str!("../../presets/fhew/ginx3.toml")),
    ("lmkcdey", include_str!("../../presets/fhew/lmkcdey.toml")),
    ("dm", include_str!("../../presets/fhew/dm.toml")),
    ("ntru", include_str!("../../presets/fhew/ntru.toml")),
    ("lut2", include_str!("../../presets/fhew/lut2.toml")),
    ("lut3", include_str!("../../presets/fhew/lut3.toml")),
    ("lut4", include_str!("../../presets/fhew/lut4.toml")),
    ("wide", include_str!("../../presets/fhew/wide.toml")),
];

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and the security gate's error unless `allow_insecure`: "ntru" does not pass.
pub fn load(name: &str, allow_insecure: bool) -> Result<FhewParams, Error> {
    from_text(text_of(&ALL, name)?, allow_insecure)
}

/// The parameters of a literal of the user's own, in the form of a preset's file.
///
/// # Errors
/// What the literal lacks, and the security gate's error unless `allow_insecure`.
pub fn from_text(text: &str, allow_insecure: bool) -> Result<FhewParams, Error> {
    let security = if allow_insecure { Security::NotChecked } else { Security::Bits128 };
    Ok(FhewParams::from_toml(text, security)?)
}
