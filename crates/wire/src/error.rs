//! What is wrong with bytes and files.

use std::path::PathBuf;

/// An error of reading or writing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Invalid bytes.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A thing that does not have the parts that its origin gives it.
    #[error("This {kind} is not of this engine's parameters; write it with the engine that made it.")]
    Written {
        /// Its type.
        kind: &'static str,
    },
    /// The system's error for a file.
    #[error("{}: {doing} it failed: {source}.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// "reading" or "writing".
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Less memory than a thing takes, in bytes.
    #[error("This {kind} needs {} and {} of memory are free; free some.", readable_size(*needed), readable_size(*available))]
    Memory {
        /// Its type.
        kind: &'static str,
        /// What it takes.
        needed: u64,
        /// What is free.
        available: u64,
    },
    /// From the crate of RLWE; a stop as well.
    #[error(transparent)]
    Rlwe(#[from] aglet_rlwe::Error),
    /// From the crate of the ring.
    #[error(transparent)]
    Ring(#[from] aglet_ring::Error),
}

/// Bytes as people read them: GB, or MB below a tenth of one.
pub fn readable_size(bytes: u64) -> String {
    match bytes {
        0..100_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The errors of an origin: those of this crate, and what its family refuses.
pub trait Refusal: std::error::Error + From<Error> + Send + Sync + 'static {
    /// Whether it already says what is wrong with the bytes.
    fn of_bytes(&self) -> bool;
}

impl Refusal for Error {
    fn of_bytes(&self) -> bool {
        matches!(self, Self::Format(_))
    }
}

/// Invalid bytes: damaged, cut short, of another version or type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // of fields: the sentence says what they are
pub enum FormatError {
    /// Other first bytes than every file has.
    #[error(
        "This is not data of Aglet, or its first bytes are damaged; take what a write_ or serialize_ method made."
    )]
    NotAglet,
    /// A version of the layout.
    #[error(
        "This data is of format version {version}, and this Aglet reads version {own}; use the Aglet that wrote it, or make it again."
    )]
    Version { version: u16, own: u16 },
    /// An end within the header, or else within the parameters.
    #[error(
        "This data is cut short: it ends within {}; write or send it again.",
        if *header { "its first 256 bytes" } else { "its parameters" }
    )]
    ShortStart { header: bool },
    /// The checksum of the header.
    #[error("The header of this data is damaged: its checksum does not match; write or send it again.")]
    Header,
    /// A family that is not listed.
    #[error("This data is of the family {name}, and this version of Aglet knows {known}; update Aglet.")]
    Family { name: String, known: String },
    /// A type that its family does not list.
    #[error("This version of Aglet does not know what type {tag} is; update Aglet.")]
    Type { tag: u16 },
    /// A type that was not asked for.
    #[error("This is {found}, not {wanted}; read it with read or deserialize, which take every type.")]
    OtherType { found: String, wanted: String },
    /// A type that several families have, of another one.
    #[error("This {kind} is of the family \"{family}\", not \"{wanted}\"; read it with an engine of its family.")]
    OtherFamily { kind: &'static str, family: String, wanted: String },
    /// A text of parameters above the limit.
    #[error("This data has {length} bytes of parameters, and at most {most} are read; make it again with Aglet.")]
    LongParameters { length: usize, most: usize },
    /// The checksum of the parameters.
    #[error("The parameters of this data are damaged: their checksum does not match; write or send it again.")]
    Parameters,
    /// Parameters in no UTF-8.
    #[error("The parameters of this data are no text; make it again with Aglet.")]
    NoText,
    /// Parameters of one family, where a thing is bound to two.
    #[error("The parameters of this data are not those of two engines; it was not made by Aglet.")]
    OneLiteral,
    /// Parameters that cannot be, or are refused.
    #[error("The parameters in this data do not work: {reason}; write it again.")]
    Unusable { reason: String },
    /// Parameters that have another fingerprint than the header says.
    #[error(
        "The parameters {name} in this data are other ones in this version of Aglet; use the Aglet that wrote it."
    )]
    OtherParameters { name: String },
    /// A number of slots that no parameters have.
    #[error("An engine of {slots} slots does not exist; this data was not made by Aglet.")]
    Slots { slots: usize },
    /// Fewer bytes than the header claims.
    #[error("This {kind} is cut short: {found} of {claimed} bytes follow its parameters; write or send it again.")]
    Short { kind: &'static str, found: u64, claimed: u64 },
    /// More bytes than the header claims.
    #[error("After this {kind} there are {more} bytes that do not belong to it; write or send it again.")]
    Long { kind: &'static str, more: u64 },
    /// Other shapes than the parameters and words imply.
    #[error(
        "This {kind} has other parts than this version of Aglet gives it; use the version that made it, or make it again."
    )]
    OtherParts { kind: &'static str },
    /// A word that has no meaning.
    #[error("This {kind} has {what} that these parameters do not know; use the version of Aglet that made it.")]
    Unknown { kind: &'static str, what: &'static str },
    /// Words that the parameters refuse.
    #[error("This {kind} cannot be: {reason}")]
    CannotBe { kind: &'static str, reason: Box<dyn std::error::Error + Send + Sync> },
    /// A direction of switching keys.
    #[error("This switching key leads in a direction that this version does not know; update Aglet.")]
    Direction,
    /// The checksum of a section.
    #[error("This {kind} is damaged: a checksum does not match; write or send it again.")]
    Damaged { kind: &'static str },
    /// A file that another program cut.
    #[error("This file became shorter while it was read; write it again.")]
    Shrunk,
    /// A secret key without the tables of an engine.
    #[error("A secret key is read by an engine; use engine.deserialize_secret_key.")]
    NoEngine,
}
