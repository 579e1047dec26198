//! The parameters that a file carries: their family in the header, and right behind it the text of their literal.

use super::body::Source;
use super::header::{Header, LENGTH};
use super::{Origin, Stored};
use crate::{Error, ForeignError, FormatError};

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
            FormatError::Unusable { reason: shown(&reason) }.into()
        }
        e => e,
    }
}

/// The text behind a header.
///
/// # Errors
/// [`Error::Format`] for another family, a text that is too long, cut short or not that of the header.
pub fn literal(header: &Header, source: &Source<'_>) -> Result<String, Error> {
    header.family()?;
    let length = header.literal_length as usize;
    if length > MAX_TEXT {
        return Err(FormatError::LongParameters { length, most: MAX_TEXT }.into());
    }
    let mut text = vec![0; length];
    if !source.copy_to(LENGTH, &mut text)? {
        return Err(FormatError::ShortStart { header: false }.into());
    }
    if *blake3::hash(&text).as_bytes() != header.literal {
        return Err(FormatError::Parameters.into());
    }
    Ok(String::from_utf8(text).map_err(|_| FormatError::NoText)?)
}

/// Refuses data of other parameters or slots than an engine's. Equal fingerprints do, so that no parameters are made.
///
/// # Errors
/// [`Error::Foreign`], which names both sets.
pub fn check_origin<O: Origin, T: Stored<O>>(header: &Header, literal: &str, origin: &O) -> Result<(), Error> {
    let kind = T::KIND.name;
    if header.fingerprint != origin.fingerprint() {
        let (name, fix) = origin.other(literal)?;
        return Err(ForeignError::Parameters { kind, name, own: shown(origin.name()), fix }.into());
    }
    if T::SLOTS && header.slots != origin.slots() as u64 {
        return Err(origin.other_slots(kind, header.slots).into());
    }
    Ok(())
}
