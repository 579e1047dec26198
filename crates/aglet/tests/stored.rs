//! What files of every family have to pass: things come back as they were, and nothing else is taken for them. And the folders of files
//! of every version of the format under `tests/vectors`: what users may have is never written again.

use aglet::wire::{self, CkksOrigin, IntegerOrigin, Origin, SchemeSwitchOrigin, Stored};
use aglet::{ckks, fhew, integer, scheme_switch};
use aglet::{Control, Error, ErrorKind};
use std::path::{Path, PathBuf};

pub fn now() -> Control {
    Control::new()
}

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("aglet-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
    pub fn names(&self) -> Vec<String> {
        std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An engine that stores what belongs to it.
pub trait Store {
    type Origin: Origin;

    fn bytes<T: Stored<Self::Origin> + Sync>(&self, x: &T) -> Vec<u8>;
    fn thing<T: Stored<Self::Origin>>(&self, bytes: &[u8]) -> Result<T, Error>;
    fn put<T: Stored<Self::Origin> + Sync>(&self, x: &T, path: &Path);
    fn found<T: Stored<Self::Origin>>(&self, path: &Path) -> Result<T, Error>;

    /// Writes and reads a thing both ways.
    fn through<T: Stored<Self::Origin> + Sync>(&self, x: &T) -> T {
        let folder = Folder::new(&format!("{}-{:?}", Self::Origin::FAMILY, std::thread::current().id()));
        let (path, bytes) = (folder.0.join(T::KIND.name), self.bytes(x));
        self.put(x, &path);
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "the file of a {} is its bytes", T::KIND.name);
        let said = wire::FORMAT.summary(&bytes).unwrap();
        assert_eq!((said.kind, said.family), (T::KIND, Self::Origin::FAMILY));
        let read = self.found::<T>(&path).unwrap();
        assert_eq!(self.bytes(&read), bytes, "a {} comes back as it was", T::KIND.name);
        self.thing(&bytes).unwrap()
    }

    /// Why these bytes are no such thing.
    fn refused<T: Stored<Self::Origin>>(&self, bytes: &[u8]) -> (ErrorKind, String) {
        match self.thing::<T>(bytes) {
            Ok(_) => panic!("a {} was read that should not be", T::KIND.name),
            Err(e) => (e.kind(), e.to_string()),
        }
    }

    /// Every single flipped bit of the header and the parameters is seen, one in every section behind it, and many elsewhere; and so is
    /// every `cut`-th end.
    fn damage_is_seen<T: Stored<Self::Origin> + Sync>(&self, x: &T, (flip, cut): (usize, usize)) {
        let mut bytes = self.bytes(x);
        let head = 8 * parts_at(&bytes);
        let places = (0..head).chain((head..bytes.len() * 8).step_by(flip)).chain([bytes.len() * 8 - 1]);
        for place in places {
            bytes[place / 8] ^= 1 << (place % 8);
            let (kind, said) = self.refused::<T>(&bytes);
            assert_eq!(kind, ErrorKind::Serialization, "{} with bit {place} flipped: {said}", T::KIND.name);
            bytes[place / 8] ^= 1 << (place % 8);
        }
        for length in (0..bytes.len()).step_by(cut) {
            assert_eq!(self.refused::<T>(&bytes[..length]).0, ErrorKind::Serialization, "{length} bytes");
        }
        bytes.push(0);
        assert!(self.refused::<T>(&bytes).1.contains("1 bytes that do not belong"));
        assert!(self.thing::<T>(&bytes[..bytes.len() - 1]).is_ok());
    }
}

macro_rules! stores {
    ($($engine:ty: $origin:ty),*) => {$(
        impl Store for $engine {
            type Origin = $origin;

            fn bytes<T: Stored<$origin> + Sync>(&self, x: &T) -> Vec<u8> {
                self.serialize(x, &now()).unwrap().to_vec()
            }
            fn thing<T: Stored<$origin>>(&self, bytes: &[u8]) -> Result<T, Error> {
                self.deserialize(bytes, &now())
            }
            fn put<T: Stored<$origin> + Sync>(&self, x: &T, path: &Path) {
                self.write(x, path, &now()).unwrap();
            }
            fn found<T: Stored<$origin>>(&self, path: &Path) -> Result<T, Error> {
                self.read(path, &now())
            }
        }
    )*};
}

stores! {
    ckks::Engine: CkksOrigin,
    fhew::Engine: fhew::FhewContext,
    integer::Engine: IntegerOrigin,
    scheme_switch::SchemeSwitch: SchemeSwitchOrigin
}

/// Where the parts begin: behind the header and the text of the parameters.
pub fn parts_at(bytes: &[u8]) -> usize {
    256 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}

/// The same bytes with this change of the header and a checksum that fits it.
pub fn forged(bytes: &[u8], change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    change(&mut forged[..224]);
    let check = *blake3::hash(&forged[..224]).as_bytes();
    forged[224..256].copy_from_slice(&check);
    forged
}

/// The same bytes with another word of those that say what parts there are.
pub fn with_word(bytes: &[u8], word: usize, value: u64) -> Vec<u8> {
    forged(bytes, |header| header[152 + 8 * word..][..8].copy_from_slice(&value.to_le_bytes()))
}

/// The files of one version.
pub struct Corpus<'a> {
    pub folder: &'a Path,
}

impl Corpus<'_> {
    /// The folder of the version that these bytes are of.
    pub fn of_today(prefix: &str, bytes: &[u8], end: &str) -> PathBuf {
        vectors().join(format!("{prefix}{}{end}", u16::from_le_bytes([bytes[8], bytes[9]])))
    }

    /// Checks every folder of a name, after writing that of today if `AGLET_WIRE=record` asks for it.
    pub fn each(prefix: &str, record: impl Fn(), check: impl Fn(&Corpus<'_>)) {
        if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
            record();
        }
        let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
        let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        let folders: Vec<PathBuf> = paths.filter(ours).collect();
        assert!(!folders.is_empty(), "the files are gone");
        folders.iter().for_each(|folder| check(&Corpus { folder }));
    }

    /// What a file says.
    pub fn said(&self, name: &str) -> wire::Summary {
        wire::FORMAT.summary(&std::fs::read(self.folder.join(name)).unwrap()).unwrap()
    }

    pub fn read<S: Store, T: Stored<S::Origin>>(&self, engine: &S, name: &str) -> T {
        engine.found(&self.folder.join(name)).unwrap_or_else(|e| panic!("{:?}, {name}: {e}", self.folder))
    }

    /// Writes a file that is not there yet.
    pub fn write<S: Store, T: Stored<S::Origin> + Sync>(&self, engine: &S, name: &str, x: &T) {
        let path = self.folder.join(name);
        if !path.exists() {
            engine.put(x, &path);
        }
    }
}

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}
