//! Bytes to read, in memory or in a file, and the checksums of their sections.

use crate::error::{Error, FormatError};
use crate::file::Input;
use crate::shape::CHECK;

/// The checksum of a section: keyed with that of the header, so that it fits this place of this file only.
pub fn check(seal: &[u8; 32], section: u64, bytes: &[u8]) -> [u8; CHECK] {
    *blake3::Hasher::new_keyed(seal).update(&section.to_le_bytes()).update(bytes).finalize().as_bytes()
}

/// Where the bytes are. They are copied out before they are judged: a file may change meanwhile.
pub enum Source<'a> {
    Bytes(&'a [u8]),
    File(&'a Input),
}

impl Source<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(file) => file.len(),
        }
    }
    /// Copies bytes from `at` on; `false` if there are too few.
    ///
    /// # Errors
    /// [`Error::File`] of the system.
    pub fn copy_to(&self, at: usize, out: &mut [u8]) -> Result<bool, Error> {
        match self {
            Self::File(file) => file.read_at(at, out),
            Self::Bytes(bytes) => {
                let found = at.checked_add(out.len()).and_then(|end| bytes.get(at..end));
                found.iter().for_each(|found| out.copy_from_slice(found));
                Ok(found.is_some())
            }
        }
    }
    /// Copies a section; `false` if its checksum does not fit.
    pub fn section(&self, seal: &[u8; 32], (number, at): (u64, usize), out: &mut [u8]) -> Result<bool, Error> {
        if !self.copy_to(at, out)? {
            return Err(FormatError::Shrunk.into());
        }
        let (bytes, found) = out.split_at(out.len() - CHECK);
        Ok(check(seal, number, bytes) == found)
    }
}
