//! The parameters that a file carries: their family in the header, and right behind it the text of their literal.

use super::body::Source;
use super::header::{Header, LENGTH};
use super::Kind;
use crate::{presets, Error};
use aglet_rlwe::security::Security;
use aglet_rlwe::Context;
use aglet_schemes::ckks::{CkksLiteral, CkksParams};

/// The family of all types here, as in literals.
pub const FAMILY: &str = "ckks";
/// The longest text of a literal, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// The longest piece of a file in a message, in characters.
const MAX_SHOWN: usize = 300;

/// Where a thing is at home: it fits engines of these parameters and, most things, this number of slots.
#[derive(Clone)]
pub struct Origin<'a> {
    /// The parameters.
    pub params: CkksParams,
    /// Message slots.
    pub slots: usize,
    /// The tables of an engine, which only secret keys need.
    pub ctx: Option<&'a Context>,
}

impl Origin<'static> {
    /// The origin that data names: a preset that comes with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for a text that is no literal, or none of this fingerprint; the security gate's error for parameters
    /// below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &super::Summary, allow_insecure: bool) -> Result<Self, Error> {
        let literal = CkksLiteral::from_toml(&summary.literal).map_err(unusable)?;
        // What can be done with a preset below 128 bits is the engine's to say: without one nothing is done with what is read.
        let preset = presets::load(&literal.name, true).ok().filter(|p| p.fingerprint() == summary.fingerprint);
        let params = match preset {
            Some(params) => params,
            None if allow_insecure => CkksParams::new(literal, Security::NotChecked).map_err(unusable)?,
            None => CkksParams::new(literal, Security::Bits128).map_err(unusable)?,
        };
        if params.fingerprint() != summary.fingerprint {
            return Err(Error::Format(format!(
                "The parameters {} in this data are other ones in this version of Aglet; use the Aglet that wrote it.",
                shown(params.name())
            )));
        }
        let slots = summary.slots;
        if !slots.is_power_of_two() || slots > params.slots() {
            return Err(Error::Format(format!(
                "An engine of {slots} slots does not exist; this data was not made by Aglet."
            )));
        }
        Ok(Self { params, slots, ctx: None })
    }
}

/// A piece of a file in a message: quoted, escaped and cut.
fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(MAX_SHOWN).collect::<String>())
}

/// What is wrong with a literal out of a file.
fn unusable(e: aglet_rlwe::Error) -> Error {
    match e {
        aglet_rlwe::Error::BadParameters { reason } => {
            Error::Format(format!("The parameters in this data do not work: {}; write it again.", shown(&reason)))
        }
        e => e.into(),
    }
}

/// The text behind a header.
///
/// # Errors
/// [`Error::Format`] for another family, a text that is too long, cut short or not that of the header.
pub fn literal(header: &Header, source: &Source<'_>) -> Result<String, Error> {
    let refused = |sentence: String| Err(Error::Format(sentence));
    let family = String::from_utf8_lossy(&header.family);
    let family = family.trim_end_matches('\0');
    if family != FAMILY {
        return refused(format!(
            "This data is of the family {}, and this version of Aglet knows \"{FAMILY}\"; update Aglet.",
            shown(family)
        ));
    }
    let length = header.literal_length as usize;
    if length > MAX_TEXT {
        return refused(format!(
            "This data has {length} bytes of parameters, more than the {MAX_TEXT} that are read; make it again with Aglet."
        ));
    }
    let mut text = vec![0; length];
    if !source.copy_to(LENGTH, &mut text)? {
        return refused("This data is cut short: it ends within its parameters; write or send it again.".into());
    }
    if *blake3::hash(&text).as_bytes() != header.literal {
        return refused(
            "The parameters of this data are damaged: their checksum does not fit; write or send it again.".into(),
        );
    }
    String::from_utf8(text)
        .or_else(|_| refused("The parameters of this data are no text; make it again with Aglet.".into()))
}

/// Refuses data of other parameters or slots than an engine's. Equal fingerprints do, so that no parameters are made.
///
/// # Errors
/// [`Error::Foreign`], which names both sets.
pub fn check_origin(
    header: &Header,
    literal: &str,
    origin: &Origin<'_>,
    kind: Kind,
    slots_matter: bool,
) -> Result<(), Error> {
    let Origin { params, slots, .. } = origin;
    if header.fingerprint != params.fingerprint() {
        let theirs = CkksLiteral::from_toml(literal).map_err(unusable)?;
        let (our_name, name, levels) = (shown(params.name()), shown(&theirs.name), theirs.levels());
        let fix = if (params.name(), params.max_level()) == (&theirs.name[..], levels) {
            "use the version of Aglet that made it, or make it again".to_string()
        } else if theirs.name.starts_with("levels-") {
            format!("make the engine with max_level={levels}")
        } else {
            format!("make the engine with the options it was made with (preset={name})")
        };
        return Err(Error::Foreign(format!(
            "This {} was made with other parameters (preset {name}) than this engine's (preset {our_name}); {fix}.",
            kind.name
        )));
    }
    if slots_matter && header.slots != *slots as u64 {
        return Err(Error::Foreign(format!(
            "This {} is for {} slots and this engine has {slots}; make the engine with slot_count={}.",
            kind.name, header.slots, header.slots
        )));
    }
    Ok(())
}
