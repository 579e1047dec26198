//! The sets of integers that come with Aglet: one TOML file each, checked when loaded.

use crate::presets::{text_of, texts};
use crate::{Error, ParameterError};
/// The required security check.
pub use aglet_rlwe::security::Security;
use aglet_schemes::integer::{IntegerLiteral, IntegerParams};

/// Name and text of every preset, smallest first, then those with a bootstrap, then toys.
pub const ALL: [(&str, &str); 8] = texts! { "integer":
    "int-levels-13", "int-levels-14", "int-levels-15", "int-levels-16", "int16", "int16-deep", "toy-int16",
    "toy-int16-deep"
};

/// The parameters of this name.
///
/// # Errors
/// [`Error::Parameter`] for a name that does not exist, and the security gate's error for toys where 128 bits are asked for.
pub fn load(name: &str, security: Security) -> Result<IntegerParams, Error> {
    from_text(text_of(&ALL, name)?, security)
}

/// The parameters of a literal of the user's own, in the form of a preset's file.
///
/// # Errors
/// Errors of the literal, and of the security check if 128 bits are required.
pub fn from_text(text: &str, security: Security) -> Result<IntegerParams, Error> {
    Ok(IntegerParams::from_toml(text, security)?)
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
