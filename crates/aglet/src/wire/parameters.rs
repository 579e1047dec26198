//! The parameters that a file carries: their family in the header, and right behind it the text of their literal.

use super::body::Source;
use super::header::{Header, LENGTH};
use super::{Origin, Stored};
use crate::Error;

/// The longest text of a literal, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// The longest piece of a file in a message, in characters.
const MAX_SHOWN: usize = 300;

/// A piece of a file in a message: quoted, escaped and cut.
pub fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(MAX_SHOWN).collect::<String>())
}

/// What is wrong with a literal out of a file.
pub fn unusable(e: impl Into<Error>) -> Error {
    match e.into() {
        Error::Rlwe(aglet_rlwe::Error::BadParameters { reason }) => {
            Error::Format(format!("The parameters in this data do not work: {}; write it again.", shown(&reason)))
        }
        e => e,
    }
}

/// The text behind a header.
///
/// # Errors
/// [`Error::Format`] for another family, a text that is too long, cut short or not that of the header.
pub fn literal(header: &Header, source: &Source<'_>) -> Result<String, Error> {
    let refused = |sentence: String| Err(Error::Format(sentence));
    header.family()?;
    let length = header.literal_length as usize;
    if length > MAX_TEXT {
        return refused(format!(
            "This data has {length} bytes of parameters, and at most {MAX_TEXT} are read; make it again with Aglet."
        ));
    }
    let mut text = vec![0; length];
    if !source.copy_to(LENGTH, &mut text)? {
        return refused("This data is cut short: it ends within its parameters; write or send it again.".into());
    }
    if *blake3::hash(&text).as_bytes() != header.literal {
        return refused(
            "The parameters of this data are damaged: their checksum does not match; write or send it again.".into(),
        );
    }
    String::from_utf8(text)
        .or_else(|_| refused("The parameters of this data are no text; make it again with Aglet.".into()))
}

/// Refuses data of other parameters or slots than an engine's. Equal fingerprints do, so that no parameters are made.
///
/// # Errors
/// [`Error::Foreign`], which names both sets.
pub fn check_origin<O: Origin, T: Stored<O>>(header: &Header, literal: &str, origin: &O) -> Result<(), Error> {
    let kind = T::KIND.name;
    if header.fingerprint != origin.fingerprint() {
        let (name, fix) = origin.other(literal)?;
        return Err(Error::Foreign(format!(
            "This {kind} was made with other parameters (preset {name}) than this engine's (preset {}); {fix}.",
            shown(origin.name())
        )));
    }
    if T::SLOTS && header.slots != origin.slots() as u64 {
        return Err(Error::Foreign(format!("This {kind} {}.", origin.other_slots(header.slots))));
    }
    Ok(())
}
