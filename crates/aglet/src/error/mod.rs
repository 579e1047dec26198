//! Errors of the engine, by the class that users tell apart: each class is an enum of its own, with fields. Those of lower crates are wrapped.

/// An enum of errors, each with its sentence, as `format!` takes it.
macro_rules! sentences {
    ($(#[$doc:meta])* $name:ident: $($variant:ident $({ $($field:ident: $type:ty),* })? => $sentence:literal $(, $value:expr)*;)*) => {
        $(#[$doc])*
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum $name {
            $(
                #[doc = $sentence]
                #[error($sentence $(, $value)*)]
                $variant $({ $($field: $type),* })?,
            )*
        }
    };
}

mod keys;
mod level;
mod parameter;
mod range;
mod stored;

pub use keys::{MemoryError, MissingKeyError, Served};
pub use level::{LevelError, NoiseError};
pub use parameter::ParameterError;
pub use range::RangeError;
pub use stored::{ForeignError, OtherEngine};

use aglet_wire::FormatError;

/// An error of an engine. [`Error::kind`] gives its class for the Python exceptions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter, option or combination that does not exist.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A level at which the operation does not work.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// A value or bound out of range.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// Noise that is too large for an exact result.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A key that was not given or does not have what is needed.
    #[error(transparent)]
    MissingKey(#[from] MissingKeyError),
    /// A card that is not there, or cannot be used.
    #[error("The card cannot be used: {0}.")]
    Device(#[from] aglet_cuda::Error),
    /// Not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Invalid bytes: damaged, cut short, of another version or type.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Stored data of other parameters.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// An error of one ciphertext of several.
    #[error("ciphertexts[{index}]: {source}")]
    Input {
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// The caller stopped the work.
    #[error("The work was stopped.")]
    Cancelled,
    /// From the crate of files.
    #[error(transparent)]
    Wire(aglet_wire::Error),
    /// From the crate of bootstraps.
    #[error(transparent)]
    Bootstrap(aglet_bootstrap::Error),
    /// From the crate of circuits.
    #[error(transparent)]
    Circuit(aglet_circuits::Error),
    /// From the crate of schemes.
    #[error(transparent)]
    Scheme(aglet_schemes::Error),
    /// From the crate of RLWE.
    #[error(transparent)]
    Rlwe(aglet_rlwe::Error),
    /// From the crate of the ring.
    #[error(transparent)]
    Ring(aglet_ring::Error),
}

/// Errors of lower crates: what they have from crates below them is unwrapped, and a stop is a stop.
macro_rules! lower {
    ($($crate_:ident: $variant:ident $(unwraps $($inner:ident)*)? $(, $stop:ident)?;)*) => {$(
        impl From<$crate_::Error> for Error {
            fn from(e: $crate_::Error) -> Self {
                match e {
                    $($($crate_::Error::$inner(e) => e.into(),)*)?
                    $($crate_::Error::$stop => Self::$stop,)?
                    e => Self::$variant(e),
                }
            }
        }
    )*};
}
lower! {
    aglet_wire: Wire unwraps Format Rlwe Ring;
    aglet_bootstrap: Bootstrap unwraps Scheme Circuit, Cancelled;
    aglet_circuits: Circuit unwraps Scheme;
    aglet_schemes: Scheme unwraps Rlwe Ring, Cancelled;
    aglet_rlwe: Rlwe unwraps Ring, Cancelled;
    aglet_ring: Ring;
}

impl aglet_wire::Refusal for Error {
    fn of_bytes(&self) -> bool {
        matches!(self, Self::Format(_))
    }
}

/// The classes of errors that users tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Levels.
    Level,
    /// Values and bounds.
    Range,
    /// Missing keys.
    MissingKey,
    /// Exact results that would not decrypt.
    Noise,
    /// Keys or ciphertexts of another secret key.
    KeyMismatch,
    /// Parameters and options.
    Parameter,
    /// The security check.
    Insecure,
    /// Memory.
    Memory,
    /// Backends and devices.
    Device,
    /// Stored data that cannot be read or written.
    Serialization,
    /// Files, as the system sees them.
    File,
    /// Stopped by the caller.
    Cancelled,
    /// Anything else.
    Other,
}

impl Error {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        use aglet_schemes::Error as S;
        match self {
            Self::Parameter(_) => ErrorKind::Parameter,
            Self::Level(_) => ErrorKind::Level,
            Self::Range(_) => ErrorKind::Range,
            Self::MissingKey(_) => ErrorKind::MissingKey,
            Self::Memory(_) => ErrorKind::Memory,
            Self::Format(_) | Self::Rlwe(aglet_rlwe::Error::Stored { .. }) => ErrorKind::Serialization,
            Self::Foreign(_) | Self::Wire(aglet_wire::Error::Written { .. }) => ErrorKind::KeyMismatch,
            Self::Wire(aglet_wire::Error::File { .. }) => ErrorKind::File,
            Self::Wire(aglet_wire::Error::Memory { .. }) => ErrorKind::Memory,
            Self::Wire(_) => ErrorKind::Other,
            Self::Input { source, .. } => source.kind(),
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Bootstrap(aglet_bootstrap::Error::Bound { .. }) => ErrorKind::Range,
            Self::Bootstrap(
                aglet_bootstrap::Error::OutputLevel { .. } | aglet_bootstrap::Error::FunctionalLevels { .. },
            ) => ErrorKind::Level,
            Self::Circuit(aglet_circuits::Error::Table { .. }) => ErrorKind::Range,
            Self::Bootstrap(_) | Self::Circuit(_) => ErrorKind::Parameter,
            Self::Scheme(S::LevelTooLow { .. } | S::LevelMismatch { .. } | S::NoSuchLevel { .. }) => ErrorKind::Level,
            Self::Scheme(S::MissingKey { .. }) => ErrorKind::MissingKey,
            Self::Scheme(S::TooLarge { .. } | S::Wrapped { .. } | S::Failure { .. }) => ErrorKind::Range,
            Self::Noise(_) | Self::Scheme(S::Noise { .. } | S::UsedUp { .. }) => ErrorKind::Noise,
            Self::Scheme(S::Message { .. } | S::Integer { .. } | S::Residue { .. }) => ErrorKind::Range,
            Self::Scheme(_) => ErrorKind::Parameter,
            Self::Rlwe(
                aglet_rlwe::Error::InsecureParameters { .. }
                | aglet_rlwe::Error::Ntru { .. }
                | aglet_rlwe::Error::SparseSecret { .. },
            ) => ErrorKind::Insecure,
            Self::Rlwe(aglet_rlwe::Error::KeyMismatch { .. }) => ErrorKind::KeyMismatch,
            Self::Rlwe(aglet_rlwe::Error::Level { .. }) => ErrorKind::Level,
            Self::Rlwe(aglet_rlwe::Error::Degree { .. }) => ErrorKind::Other,
            Self::Rlwe(_) => ErrorKind::Parameter,
            Self::Device(_)
            | Self::Ring(
                aglet_ring::Error::Backend { .. }
                | aglet_ring::Error::Device { .. }
                | aglet_ring::Error::DeviceMemory { .. },
            ) => ErrorKind::Device,
            Self::Ring(aglet_ring::Error::OutOfMemory { .. }) => ErrorKind::Memory,
            Self::Ring(_) => ErrorKind::Other,
        }
    }
}
