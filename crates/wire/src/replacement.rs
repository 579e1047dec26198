//! Files that appear whole or not at all.

use crate::error::Error;
use crate::file::{check_kind, error, options};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most writers of one file at a time. A name for each is looked at before every write.
const WRITERS: u32 = 64;

/// A file that is being written beside the one whose place it will take. Dropped before its end, it is removed; one whose
/// writer was killed is removed by the next writer of the same file. It is locked while it is written, which tells the two
/// apart.
pub struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl Replacement {
    /// Opens it. A link is followed: what it points to is replaced, and has then neither more readers nor more writers than
    /// before. A new file has those of every other program's, or its owner alone if it is secret.
    ///
    /// # Errors
    /// [`Error::File`] of the system, and for what is there and no file: a folder, a device, a FIFO, a link to nothing.
    pub fn new(path: &Path, secret: bool) -> Result<Self, Error> {
        let open = || {
            let target = destination(path)?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
                let before = fs::metadata(&target).map_or(0o777, |about| about.permissions().mode());
                options.mode(before & if secret { 0o600 } else { 0o666 });
            }
            #[cfg(not(unix))]
            let _ = secret; // a file there belongs to its user already
            let (temporary, file) = create(&target, &options)?;
            Ok(Self { target, temporary, file: Some(file) })
        };
        open().map_err(error(path, "writing"))
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
            fs::rename(&self.temporary, &self.target).map_err(&fail)?;
        }
        // It was locked until it had its name.
        self.file = None;
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
        if self.file.is_some() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// What is to be replaced or made: where all links lead.
fn destination(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => {
            check_kind(&fs::metadata(&target)?, "give the name of a file, and copy that there if you must")?;
            Ok(target)
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(_) => {
                let sentence = "it is a link to a file that does not exist; remove the link, or make the file first";
                Err(io::Error::new(io::ErrorKind::InvalidInput, sentence))
            }
            Err(_) => Ok(path.to_path_buf()),
        },
        Err(e) => Err(e),
    }
}

/// Opens a hidden file beside the target, after removing those that nobody writes any more.
fn create(target: &Path, options: &OpenOptions) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let names: Vec<PathBuf> = (0..WRITERS).map(|i| target.with_file_name(hidden(name, i))).collect();
    names.iter().for_each(|path| remove_abandoned(path));
    for path in names {
        match options.open(&path) {
            // Not if another writer took it for abandoned before it was locked, and removes it.
            Ok(file) => match file.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                _ if !stands_at(&file, &path) => {}
                _ => return Ok((path, file)),
            },
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    let sentence = format!("{WRITERS} writers are at it already; wait until one is done");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, sentence))
}

fn hidden(name: &OsStr, number: u32) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{number}.tmp"));
    hidden
}

/// Removes a file that is not locked. Where the system has no locks, it stays.
fn remove_abandoned(path: &Path) {
    let Ok(file) = options(false).read(true).open(path) else { return };
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    if is_file && file.try_lock().is_ok() && stands_at(&file, path) {
        let _ = fs::remove_file(path);
    }
}

/// Whether this file has this name still.
#[cfg(unix)]
fn stands_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |about: fs::Metadata| (about.dev(), about.ino());
    file.metadata().map(place).ok() == fs::symlink_metadata(path).map(place).ok()
}

#[cfg(not(unix))]
fn stands_at(_: &File, path: &Path) -> bool {
    path.exists()
}
