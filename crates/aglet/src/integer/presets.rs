//! The sets of integers that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::text_of;
use crate::Error;
use aglet_rlwe::security::Security;
use aglet_schemes::integer::{IntegerLiteral, IntegerParams};

/// Name and text of every preset, smallest first, those with a bootstrap last.
pub const ALL: [(&str, &str); 6] = [
    ("int-levels-13", include_str!("../../presets/integer/int-levels-13.toml")),
    ("int-levels-14", include_str!("../../presets/integer/int-levels-14.toml")),
    ("int-levels-15", include_str!("../../presets/integer/int-levels-15.toml")),
    ("int-levels-16", include_str!("../../presets/integer/int-levels-16.toml")),
    ("int16", include_str!("../../presets/integer/int16.toml")),
    ("int16-deep", include_str!("../../presets/integer/int16-deep.toml")),
];

/// The parameters of this name, which have 128 bits of security by the table.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist.
pub fn load(name: &str) -> Result<IntegerParams, Error> {
    Ok(IntegerParams::from_toml(text_of(&ALL, name)?, Security::Bits128)?)
}

/// [`load`] with another plaintext modulus.
///
/// # Errors
/// As there, and a modulus that is even, too large, or leaves a level no room.
pub fn with_modulus(name: &str, t: u64) -> Result<IntegerParams, Error> {
    let literal = IntegerLiteral { plaintext_modulus: t, ..load(name)?.literal().clone() };
    Ok(IntegerParams::new(literal, Security::Bits128)?)
}

/// The smallest set without a bootstrap that has so many levels, for numbers modulo `t`.
///
/// # Errors
/// [`Error::Parameter`] if there are not as many levels, or t leaves them no room.
pub fn with_depth(depth: usize, t: u64) -> Result<IntegerParams, Error> {
    let mut most = 0;
    for (name, _) in ALL {
        let params = load(name)?;
        if params.literal().bootstrap.is_some() {
            continue;
        }
        most = params.max_level();
        if most >= depth {
            return with_modulus(name, t);
        }
    }
    Err(Error::Parameter(format!(
        "There is no set of integers with {depth} levels; the largest has {most}; the sets int16 and int16-deep bootstrap, so that products go on."
    )))
}
