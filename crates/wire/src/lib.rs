//! The container of keys, plaintexts and ciphertexts, in files and in bytes. ARCHITECTURE.md, section "Files", describes the layout; the
//! file of the header describes the header.
//!
//! A file is a header of fixed size, the text of the parameters, and the parts of one thing, each with its checksum. What parts there
//! are, and how long, follows from the parameters and a few words of the header: both are compared before anything is
//! allocated, and every byte is under a checksum. Checksums find accidents. They do not authenticate: whoever can write a
//! file can write one that passes, and gets keys or ciphertexts of its making, as with any other key it hands out.
//!
//! No family of schemes is known here. A caller lists its types ([`Family`]), says what they belong to ([`Origin`]) and what parts each
//! has ([`Stored`]); [`Format`] writes and reads them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod body;
mod error;
mod file;
mod format;
mod header;
mod kind;
mod replacement;
mod shape;
mod source;
mod stored;

pub use body::{Reader, Writer};
pub use error::{readable_size, Error, FormatError, Refusal};
pub use format::{Bytes, Format, Summary};
pub use kind::{shown, Family, Kind, Words, WORDS};
pub use shape::Shape;
pub use stored::{count, flag, unknown, Origin, Stored};
