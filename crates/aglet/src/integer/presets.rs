//! The sets of integers that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::text_of;
use crate::{Error, ParameterError};
/// The required security check.
pub use aglet_rlwe::security::Security;
use aglet_schemes::integer::{IntegerLiteral, IntegerParams};

/// Name and text of every preset, smallest first, then those with a bootstrap, then toys.
pub const ALL: [(&str, &str); 8] = [
    ("int-levels-13", include_str!("../../presets/integer/int-levels-13.toml")),
    ("int-levels-14", include_str!("../../presets/integer/int-levels-14.toml")),
    ("int-levels-15", include_str!("../../presets/integer/int-levels-15.toml")),
    ("int-levels-16", include_str!("../../presets/integer/int-levels-16.toml")),
    ("int16", include_str!("../../presets/integer/int16.toml")),
    ("int16-deep", include_str!("../../presets/integer/int16-deep.toml")),
    ("toy-int16", include_str!("../../presets/integer/toy-int16.toml")),
    ("toy-int16-deep", include_str!("../../presets/integer/toy-int16-deep.toml")),
];

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and the security gate's error for toys where 128 bits are asked for.
pub fn load(name: &str, security: Security) -> Result<IntegerParams, Error> {
    Ok(IntegerParams::from_toml(text_of(&ALL, name)?, security)?)
}

/// [`load`] with another plaintext modulus.
///
/// # Errors
/// As there, and a modulus that is even, too large, or leaves a level no room.
pub fn with_modulus(name: &str, t: u64, security: Security) -> Result<IntegerParams, Error> {
    let literal = IntegerLiteral { plaintext_modulus: t, ..load(name, security)?.literal().clone() };
    Ok(IntegerParams::new(literal, security)?)
}

/// The smallest set without a bootstrap that has this depth, for numbers modulo `t`.
///
/// # Errors
/// [`Error::Parameter`] if there are not as many levels, or t leaves them no room.
pub fn with_depth(depth: usize, t: u64) -> Result<IntegerParams, Error> {
    let mut most = 0;
    for (name, _) in ALL {
        // Toys have a bootstrap, so that none is taken here.
        let params = load(name, Security::NotChecked)?;
        if params.literal().bootstrap.is_some() {
            continue;
        }
        most = params.max_level();
        if most >= depth {
            return with_modulus(name, t, Security::Bits128);
        }
    }
    Err(ParameterError::Depth { depth, most }.into())
}
