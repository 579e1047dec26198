//! Files as memory, for keys of gigabytes: pages come when they are read, and the system may drop them again.

use memmap2::MmapRaw;
use std::fs::File;
use std::io;

/// A file mapped for reading. Its bytes are copied out and never lent, since another program may change the file.
///
/// Aglet writes files under another name and renames them: what it has mapped it does not change. A program that cuts the
/// file short while it is read ends this process (SIGBUS), as with every mapped file.
pub struct FileMap(MmapRaw);

impl FileMap {
    /// Maps all of an open file.
    ///
    /// # Errors
    /// Those of the system, also for what cannot be mapped: a pipe, an empty file.
    pub fn new(file: &File) -> io::Result<Self> {
        let map = memmap2::MmapOptions::new().map_raw_read_only(file)?;
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::Sequential); // only makes it faster
        Ok(Self(map))
    }

    /// Bytes of the file when it was mapped.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the bytes from `at` on; `false`, and nothing done, if the file ends before `out` does.
    #[must_use]
    pub fn copy_to(&self, at: usize, out: &mut [u8]) -> bool {
        if at.checked_add(out.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        // SAFETY: `at + out.len()` bytes from the start of the map are mapped for as long as `self` lives, and `out` is
        // memory of our own, so the two do not overlap. Bytes that change meanwhile are copied as they are.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr().add(at), out.as_mut_ptr(), out.len()) };
        true
    }

    /// Says that bytes of the file will not be read soon: their pages no longer count as memory of this process.
    pub fn forget(&self, at: usize, length: usize) {
        #[cfg(unix)]
        if at.checked_add(length).is_some_and(|end| end <= self.len()) {
            // SAFETY: the map is of a file and never written to, and nothing borrows from it: a page that is dropped comes
            // back with the bytes of the file when it is copied from again. A system that refuses keeps the page.
            let _ = unsafe { self.0.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, at, length) };
        }
        #[cfg(not(unix))]
        let _ = (at, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_the_file_and_ends_where_it_ends() {
        let path = std::env::temp_dir().join(format!("aglet-map-{}", std::process::id()));
        let bytes: Vec<u8> = (0..9000).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let map = FileMap::new(&File::open(&path).unwrap()).unwrap();
        assert!(map.len() == 9000 && !map.is_empty());
        let mut part = [0; 100];
        assert!(map.copy_to(8900, &mut part) && part == bytes[8900..]);
        map.forget(0, 9000);
        map.forget(8000, usize::MAX);
        assert!(map.copy_to(8900, &mut part) && part == bytes[8900..], "what was forgotten is read again");
        assert!(!map.copy_to(8901, &mut part) && !map.copy_to(usize::MAX, &mut part));
        std::fs::remove_file(&path).unwrap();
    }
}
