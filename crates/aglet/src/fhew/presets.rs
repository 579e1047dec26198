//! The sets of gates and tables that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::text_of;
use crate::Error;
use aglet_rlwe::security::Security;
use aglet_schemes::fhew::FhewParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 9] = [
    ("gate", include_str!("../../presets/fhew/gate.toml")),
    ("cggi", include_str!("../../presets/fhew/cggi.toml")),
    ("ginx3", include_str!("../../presets/fhew/ginx3.toml")),
    ("lmkcdey", include_str!("../../presets/fhew/lmkcdey.toml")),
    ("dm", include_str!("../../presets/fhew/dm.toml")),
    ("lut2", include_str!("../../presets/fhew/lut2.toml")),
    ("lut3", include_str!("../../presets/fhew/lut3.toml")),
    ("lut4", include_str!("../../presets/fhew/lut4.toml")),
    ("wide", include_str!("../../presets/fhew/wide.toml")),
];

/// The parameters of this name, which have 128 bits of security by the table.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist.
pub fn load(name: &str) -> Result<FhewParams, Error> {
    Ok(FhewParams::from_toml(text_of(&ALL, name)?, Security::Bits128)?)
}
