//! The parameters that a file carries: their family in the header, and right behind it the text of their literal.

use super::{shown, Summary, FORMAT};
use crate::{Error, ForeignError, FormatError, OtherEngine, Security};

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
    FORMAT.check_family(summary.kind, summary.family, P::FAMILY)?;
    let literal = P::of_text(&summary.literal)?;
    // What can be done with a preset below 128 bits is the engine's to say: without one nothing is done with what is read.
    let preset = P::preset(P::named(&literal)).filter(|params| params.said().1 == summary.fingerprint);
    let params = preset.map_or_else(|| P::of(literal, gate(allow_insecure)), Ok)?;
    let (name, fingerprint) = params.said();
    summary.check_fingerprint(name, fingerprint)?;
    Ok(params)
}

/// What is wrong with a thing of other parameters: their name, quoted, and what to do about them.
pub fn foreign(kind: &'static str, own: &str, other: Result<(String, OtherEngine), Error>) -> Error {
    other.map_or_else(|e| e, |(name, fix)| ForeignError::Parameters { kind, name, own: shown(own), fix }.into())
}
