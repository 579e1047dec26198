//! Files that appear whole or not at all, and large ones as memory.

use super::body::Source;
use super::LARGE;
use crate::runtime::Randomness;
use crate::Error;
use aglet_ring::arch::FileMap;
use aglet_ring::sample::RandomSource;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

fn error<'a>(path: &'a Path, doing: &'static str) -> impl Fn(io::Error) -> Error + 'a {
    move |source| Error::File { path: path.to_path_buf(), doing, source }
}

/// A file that is being written beside the one whose place it will take. Dropped before its end, it is removed.
pub struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl Replacement {
    /// Opens it. A link is followed: what it points to is replaced.
    pub fn new(path: &Path, secret: bool) -> Result<Self, Error> {
        let fail = error(path, "writing");
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if target.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let name = target.file_name().ok_or_else(|| fail(io::ErrorKind::InvalidInput.into()))?;
        let number = Randomness::system().source("file name", 0)?.next_u64();
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{number:016x}.tmp"));
        let temporary = target.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if secret {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = secret; // a file there belongs to its user already
        let file = Some(options.open(&temporary).map_err(&fail)?);
        drop(fail);
        Ok(Self { target, temporary, file })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let fail = error(&self.target, "writing");
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(fail),
            None => Err(fail(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Brings everything to the disk, then takes the place of the file.
    pub fn finish(mut self) -> Result<(), Error> {
        let fail = error(&self.target, "writing");
        if let Some(file) = &self.file {
            file.sync_all().map_err(&fail)?;
        }
        // Closed before it is renamed: some systems refuse otherwise.
        self.file = None;
        let renamed = fs::rename(&self.temporary, &self.target);
        if let Err(source) = renamed {
            let failed = fail(source);
            let _ = fs::remove_file(&self.temporary);
            return Err(failed);
        }
        #[cfg(unix)]
        if let Some(folder) = self.target.parent() {
            // The file is whole either way; this only makes the new name survive a power cut.
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let _ = File::open(folder).and_then(|f| f.sync_all());
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The bytes of a file: mapped if it is large, else read.
pub enum Contents {
    Map(FileMap),
    /// Wiped when dropped: it may be a secret key.
    Bytes(Zeroizing<Vec<u8>>),
}

impl Contents {
    pub fn source(&self) -> Source<'_> {
        match self {
            Self::Map(map) => Source::Map(map),
            Self::Bytes(bytes) => Source::Bytes(bytes),
        }
    }
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<Contents, Error> {
    let fail = error(path, "reading");
    let file = File::open(path).map_err(&fail)?;
    let about = file.metadata().map_err(&fail)?;
    if about.is_dir() {
        return Err(fail(io::ErrorKind::IsADirectory.into()));
    }
    if about.is_file() && about.len() >= LARGE as u64 {
        return Ok(Contents::Map(FileMap::new(&file).map_err(&fail)?));
    }
    // One byte more than a small file has: a pipe that never ends is refused for its length.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LARGE + 1));
    file.take(LARGE as u64 + 1).read_to_end(&mut bytes).map_err(&fail)?;
    Ok(Contents::Bytes(bytes))
}
