//! The parameters that a file carries: their family in the header, and right behind it the text of their literal.

use super::body::Source;
use super::header::{Header, LENGTH};
use super::{check_family, Origin, Stored, Summary};
use crate::{Error, ForeignError, FormatError, Security};

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
    let reason = match e.into() {
        Error::Rlwe(aglet_rlwe::Error::BadParameters(fault)) => fault.to_string(),
        Error::Scheme(aglet_schemes::Error::BadParameters(fault)) => fault.to_string(),
        e => return e,
    };
    FormatError::Unusable { reason: shown(&reason) }.into()
}

/// Parameters of a family as files carry them: a literal as text, whose name may be that of a preset.
pub trait Parameters: Clone + PartialEq + Send + Sync {
    /// Their family in headers.
    const FAMILY: &'static str;
    /// What they are made of.
    type Literal;

    /// # Errors
    /// [`Error::Format`] for a text that is no literal.
    fn of_text(text: &str) -> Result<Self::Literal, Error>;
    /// The name that a literal gives itself.
    fn named(literal: &Self::Literal) -> &str;
    /// The preset of a name, whatever it is for.
    fn preset(name: &str) -> Option<Self>;
    /// # Errors
    /// What the parameters and the security gate refuse.
    fn of(literal: Self::Literal, security: Security) -> Result<Self, Error>;
    /// Their name and fingerprint.
    fn said(&self) -> (&str, [u8; 32]);
    /// # Errors
    /// Those of writing TOML.
    fn text(&self) -> Result<String, Error>;
}

/// [`Parameters`] of a family: their literal, its name in headers, how a text is read and a preset is loaded.
macro_rules! parameters {
    ($params:ty, $literal:ty, $family:literal, $read:expr, $load:expr) => {
        impl $crate::wire::parameters::Parameters for $params {
            const FAMILY: &'static str = $family;
            type Literal = $literal;

            fn of_text(text: &str) -> Result<$literal, $crate::Error> {
                $read(text).map_err($crate::wire::parameters::unusable)
            }
            fn named(literal: &$literal) -> &str {
                &literal.name
            }
            fn preset(name: &str) -> Option<Self> {
                $load(name, $crate::Security::NotChecked).ok()
            }
            fn of(literal: $literal, security: $crate::Security) -> Result<Self, $crate::Error> {
                Self::new(literal, security).map_err($crate::wire::parameters::unusable)
            }
            fn said(&self) -> (&str, [u8; 32]) {
                (&self.literal().name, self.fingerprint())
            }
            fn text(&self) -> Result<String, $crate::Error> {
                Ok(self.literal().to_toml()?)
            }
        }
    };
}
pub(super) use parameters;

/// The security that parameters of a text must have.
pub fn gate(allow_insecure: bool) -> Security {
    if allow_insecure {
        Security::NotChecked
    } else {
        Security::Bits128
    }
}

/// The parameters that data names: a preset that comes with Aglet, or those of the text.
///
/// # Errors
/// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
/// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
pub fn found<P: Parameters>(summary: &Summary, allow_insecure: bool) -> Result<P, Error> {
    check_family(summary.kind, summary.family, P::FAMILY)?;
    let literal = P::of_text(&summary.literal)?;
    // What can be done with a preset below 128 bits is the engine's to say: without one nothing is done with what is read.
    let preset = P::preset(P::named(&literal)).filter(|params| params.said().1 == summary.fingerprint);
    let params = preset.map_or_else(|| P::of(literal, gate(allow_insecure)), Ok)?;
    let (name, fingerprint) = params.said();
    summary.check_fingerprint(name, fingerprint)?;
    Ok(params)
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
