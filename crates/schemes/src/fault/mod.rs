//! What is wrong with the parameters of a scheme: a variant with fields for each, by family.
//!
//! Faults of RLWE under a scheme are those of its floor, [`aglet_rlwe::fault`]. The sentences have no full stop, since
//! they stand inside that of [`Error::BadParameters`](crate::Error).

mod ckks;
mod integer;
#[cfg(test)]
mod tests;

pub use ckks::CkksFault;
pub use integer::IntegerFault;

use std::sync::Arc;
use thiserror::Error;

/// Why this floor refuses parameters.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterFault {
    /// Of a text, whatever its family.
    #[error(transparent)]
    Text(#[from] TextFault),
    /// Of a literal of CKKS.
    #[error(transparent)]
    Ckks(#[from] CkksFault),
    /// Of what a bootstrap method adds to one.
    #[error(transparent)]
    Extension(#[from] ExtensionFault),
    /// Of a literal of integers.
    #[error(transparent)]
    Integer(#[from] IntegerFault),
}

/// Why a text is no literal, or a literal has no text.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TextFault {
    /// A text that is no TOML, or with fields that a literal does not have.
    #[error("{message}")]
    Unreadable {
        /// What the reader of TOML says, with the place.
        message: String,
    },
    /// The same, in one line.
    #[error("the text is not a parameter set: {message} in line {line}")]
    Line {
        /// What the reader of TOML says.
        message: String,
        /// The line, from 1; 0 for none in particular.
        line: usize,
    },
    /// A literal that cannot be written.
    #[error("they cannot be written as text: {message}")]
    Unwritable {
        /// What the writer of TOML says.
        message: String,
    },
}

impl From<toml::de::Error> for TextFault {
    fn from(error: toml::de::Error) -> Self {
        Self::Unreadable { message: error.to_string() }
    }
}
impl From<toml::ser::Error> for TextFault {
    fn from(error: toml::ser::Error) -> Self {
        Self::Unwritable { message: error.to_string() }
    }
}

/// What an [`Extension`](crate::ckks::params::Extension) of a floor above found, in a type of that floor.
#[derive(Clone, Debug, Error)]
#[error(transparent)]
pub struct ExtensionFault(Arc<dyn std::error::Error + Send + Sync>);

impl ExtensionFault {
    /// That of an extension. Its sentence has no full stop.
    pub fn new(fault: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(fault))
    }
    /// The extension's own fault, if it is of this type.
    #[must_use]
    pub fn of<F: std::error::Error + 'static>(&self) -> Option<&F> {
        self.0.downcast_ref()
    }
}

impl PartialEq for ExtensionFault {
    /// Equal sentences.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
