//! The text of a parameter set, among those of its family. Each family lists its own.

use crate::Error;

/// The names of the presets of a family, each with the text of its file.
macro_rules! texts {
    ($family:literal: $($name:literal),*) => {
        [$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/presets/", $family, "/", $name, ".toml")))),*]
    };
}
pub(crate) use texts;

/// The text of the preset of this name among those of a family.
pub(crate) fn text_of(all: &[(&str, &'static str)], name: &str) -> Result<&'static str, Error> {
    all.iter().find(|preset| preset.0 == name).map(|preset| preset.1).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|preset| preset.0).collect();
        aglet_bootstrap::Error::Name { what: "preset", name: name.into(), choices: names.join(", ") }.into()
    })
}
