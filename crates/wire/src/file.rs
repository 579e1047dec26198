//! Files that are read at offsets: what another program does to one meanwhile is an error here and nothing worse.

use crate::error::Error;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The error of a file, for what was being done to it.
pub fn error<'a>(path: &'a Path, doing: &'static str) -> impl Fn(io::Error) -> Error + 'a {
    move |source| Error::File { path: path.to_path_buf(), doing, source }
}

/// Refuses what holds no bytes of its own.
pub fn check_kind(about: &Metadata, instead: &str) -> io::Result<()> {
    let what = match about.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        #[cfg(unix)]
        kind if std::os::unix::fs::FileTypeExt::is_fifo(&kind) => "a FIFO",
        #[cfg(unix)]
        kind if std::os::unix::fs::FileTypeExt::is_socket(&kind) => "a socket",
        _ => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what} and not a file; {instead}")))
}

/// Options that neither wait for the other end of a FIFO nor, on request, follow a link.
pub fn options(follow: bool) -> OpenOptions {
    #[allow(unused_mut)] // only Unix has the flags
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | if follow { 0 } else { libc::O_NOFOLLOW },
    );
    #[cfg(not(unix))]
    let _ = follow;
    options
}

/// A file that is open for reading.
pub struct Input {
    path: PathBuf,
    file: File,
    length: usize,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let open = || {
            let instead = "copy what comes out of it to a file first, or hand it to deserialize_";
            // Looked at before and after: opening a device may do something, and a name may change hands.
            check_kind(&fs::metadata(path)?, instead)?;
            let file = options(true).read(true).open(path)?;
            let about = file.metadata()?;
            check_kind(&about, instead)?;
            let length = usize::try_from(about.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            Ok(Self { path: path.to_path_buf(), file, length })
        };
        open().map_err(error(path, "reading"))
    }

    /// Bytes of the file when it was opened.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Reads the bytes from `at` on, from any number of threads; `false` if the file ends before `out` does.
    pub fn read_at(&self, at: usize, out: &mut [u8]) -> Result<bool, Error> {
        match read_exact_at(&self.file, at as u64, out) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(error(&self.path, "reading")(e)),
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

/// One after the other, as an open file has one place to read from.
#[cfg(not(unix))]
fn read_exact_at(mut file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    static PLACE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _mine = PLACE.lock();
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(out)
}
