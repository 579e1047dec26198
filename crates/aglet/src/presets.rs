//! The parameter sets that come with Aglet: one TOML file each, checked when loaded.

use crate::Error;
use aglet_rlwe::security::Security;
use aglet_schemes::ckks::CkksParams;

/// Name and text of every preset.
pub const ALL: [(&str, &str); 36] = [
    ("regular", include_str!("../presets/regular.toml")),
    ("regular-44", include_str!("../presets/regular-44.toml")),
    ("compact", include_str!("../presets/compact.toml")),
    ("to14", include_str!("../presets/to14.toml")),
    ("to14-compact", include_str!("../presets/to14-compact.toml")),
    ("precise", include_str!("../presets/precise.toml")),
    ("precise-45", include_str!("../presets/precise-45.toml")),
    ("precise-single", include_str!("../presets/precise-single.toml")),
    ("param15", include_str!("../presets/param15.toml")),
    ("bits15", include_str!("../presets/bits15.toml")),
    ("levels-13", include_str!("../presets/levels-13.toml")),
    ("levels-14", include_str!("../presets/levels-14.toml")),
    ("levels-15", include_str!("../presets/levels-15.toml")),
    ("levels-16", include_str!("../presets/levels-16.toml")),
    ("levels-17", include_str!("../presets/levels-17.toml")),
    ("seal-1", include_str!("../presets/seal-1.toml")),
    ("seal-2", include_str!("../presets/seal-2.toml")),
    ("seal-3", include_str!("../presets/seal-3.toml")),
    ("seal-4", include_str!("../presets/seal-4.toml")),
    ("seal-5", include_str!("../presets/seal-5.toml")),
    ("seal-6", include_str!("../presets/seal-6.toml")),
    ("seal-7", include_str!("../presets/seal-7.toml")),
    ("seal-8", include_str!("../presets/seal-8.toml")),
    ("seal-9", include_str!("../presets/seal-9.toml")),
    ("seal-10", include_str!("../presets/seal-10.toml")),
    ("seal-11", include_str!("../presets/seal-11.toml")),
    ("seal-12", include_str!("../presets/seal-12.toml")),
    ("ship14", include_str!("../presets/ship14.toml")),
    ("ship14-precise", include_str!("../presets/ship14-precise.toml")),
    ("ship13", include_str!("../presets/ship13.toml")),
    ("ship13-bits", include_str!("../presets/ship13-bits.toml")),
    ("ship13-published", include_str!("../presets/ship13-published.toml")),
    ("ship14-published", include_str!("../presets/ship14-published.toml")),
    ("toy", include_str!("../presets/toy.toml")),
    ("toy-ship", include_str!("../presets/toy-ship.toml")),
    ("toy14", include_str!("../presets/toy14.toml")),
];

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and the security gate's error unless `allow_insecure`.
pub fn load(name: &str, allow_insecure: bool) -> Result<CkksParams, Error> {
    from_text(text_of(&ALL, name)?, allow_insecure)
}

/// The text of the preset of this name among those of a family.
pub(crate) fn text_of(all: &[(&str, &'static str)], name: &str) -> Result<&'static str, Error> {
    all.iter().find(|preset| preset.0 == name).map(|preset| preset.1).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|preset| preset.0).collect();
        Error::Parameter(format!("There is no preset \"{name}\"; choose one of {}.", names.join(", ")))
    })
}

/// The parameters of a literal of the user's own, in the form of a preset's file.
///
/// # Errors
/// What the literal lacks, and the security gate's error unless `allow_insecure`.
pub fn from_text(text: &str, allow_insecure: bool) -> Result<CkksParams, Error> {
    let security = if allow_insecure { Security::NotChecked } else { Security::Bits128 };
    Ok(CkksParams::from_toml(text, security)?)
}

/// Whether the preset is made for bootstrapping.
pub fn can_bootstrap(params: &CkksParams) -> bool {
    params.ephemeral_weight().is_some()
}
