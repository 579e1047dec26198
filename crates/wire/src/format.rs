//! Writing and reading of things: the one layout that bytes and files have.

use crate::body::{Reader, Writer};
use crate::error::{Error, FormatError, Refusal};
use crate::file::Input;
use crate::header::{digest, other_parts, padded, payload, Header};
use crate::kind::{shown, Family, Kind};
use crate::replacement::Replacement;
use crate::shape::Shape;
use crate::source::Source;
use crate::stored::{Origin, Stored};
use aglet_rlwe::{Control, KeyId};
use std::ops::Deref;
use std::path::Path;
use zeroize::Zeroize;

/// What is larger has its memory forecast before it is read.
const LARGE: usize = 1 << 20;

/// The format, for the families that a caller knows.
pub struct Format {
    /// In the order in which sentences name them.
    pub families: &'static [Family],
    /// Free memory in bytes, if the system says.
    pub memory_available: fn() -> Option<u64>,
}

/// The description in a file or byte string, from which its parameters can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its type.
    pub kind: Kind,
    /// The family of its parameters.
    pub family: &'static str,
    /// The text of its parameters.
    pub literal: String,
    /// The fingerprint of its parameters.
    pub fingerprint: [u8; 32],
    /// The slots that it was made for.
    pub slots: usize,
}

impl Summary {
    /// Refuses parameters of the given name that have another fingerprint.
    ///
    /// # Errors
    /// [`FormatError::OtherParameters`].
    pub fn check_fingerprint(&self, name: &str, found: [u8; 32]) -> Result<(), Error> {
        match self.fingerprint == found {
            true => Ok(()),
            false => Err(FormatError::OtherParameters { name: shown(name) }.into()),
        }
    }
}

/// The bytes of a thing. Those of a secret are wiped when dropped, also where the work ends early.
pub struct Bytes {
    bytes: Vec<u8>,
    secret: bool,
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.secret {
            self.bytes.zeroize();
        }
    }
}

/// A thing of this origin that is about to be written.
struct Draft<'a, O, T> {
    x: &'a T,
    origin: &'a O,
    header: Header,
    literal: String,
    shapes: Vec<Shape>,
}

impl<'a, O: Origin, T: Stored<O>> Draft<'a, O, T> {
    fn new(origin: &'a O, x: &'a T) -> Result<Self, O::Error> {
        let words = padded(&x.words());
        let shapes = T::shapes(origin, &words)?;
        let literal = origin.literal()?;
        let header = Header {
            tag: T::KIND.tag,
            literal_length: literal.len() as u32,
            payload: payload(&shapes)?,
            id: x.id().0,
            slots: origin.slots() as u64,
            fingerprint: origin.fingerprint(),
            shapes: digest(&shapes),
            family: padded(O::FAMILY.as_bytes()),
            literal: *blake3::hash(literal.as_bytes()).as_bytes(),
            words,
        };
        Ok(Self { x, origin, header, literal, shapes })
    }
    fn len(&self) -> usize {
        self.header.parts_at() + self.header.payload as usize
    }
    fn write(
        self,
        control: &Control,
        sink: &mut (dyn FnMut(&[u8]) -> Result<(), Error> + Send),
    ) -> Result<(), O::Error> {
        sink(&self.header.bytes())?;
        sink(self.literal.as_bytes())?;
        let mut writer = Writer::new(T::KIND, self.shapes, self.header.seal(), control, sink);
        self.x.put(self.origin, &mut writer)?;
        Ok(writer.finish()?)
    }
}

impl Format {
    /// Reads the header and the text of the parameters.
    ///
    /// # Errors
    /// [`Error::Format`] for what is no header of this version.
    pub fn summary(&self, bytes: &[u8]) -> Result<Summary, Error> {
        let source = Source::Bytes(bytes);
        let header = Header::read(&source)?;
        Ok(Summary {
            kind: header.kind(self.families)?,
            family: header.family(self.families)?.name,
            literal: header.literal(&source)?,
            fingerprint: header.fingerprint,
            slots: header.slots as usize,
        })
    }

    /// The kind of the data in these bytes, such as "ciphertext" or "lossy bootstrap key". Only the header is read.
    ///
    /// # Errors
    /// [`Error::Format`] for what is no header of this version.
    pub fn name(&self, bytes: &[u8]) -> Result<&'static str, Error> {
        Header::read(&Source::Bytes(bytes))?.name(self.families)
    }

    /// [`Self::name`] of a file.
    ///
    /// # Errors
    /// [`Error::File`] of the system, and as there.
    pub fn name_of_file(&self, path: &Path) -> Result<&'static str, Error> {
        Header::read(&Source::File(&Input::open(path)?))?.name(self.families)
    }

    /// Refuses a thing of another family: types that several have bear one number.
    ///
    /// # Errors
    /// [`FormatError::OtherFamily`].
    pub fn check_family(&self, kind: Kind, family: &str, wanted: &str) -> Result<(), Error> {
        if family == wanted {
            return Ok(());
        }
        let [family, wanted] = [family, wanted].map(|name| {
            let known = self.families.iter().find(|family| family.name == name);
            known.map_or(name, |family| family.said).to_string()
        });
        Err(FormatError::OtherFamily { kind: kind.name, family, wanted }.into())
    }

    /// The bytes of a thing.
    ///
    /// # Errors
    /// Those of its origin, for a thing that is not of it; a stop.
    pub fn serialize<O: Origin, T: Stored<O>>(&self, origin: &O, x: &T, control: &Control) -> Result<Bytes, O::Error> {
        let draft = Draft::new(origin, x)?;
        let mut bytes = Bytes { bytes: Vec::new(), secret: T::SECRET };
        // At once: a buffer that grew would leave copies behind.
        let reserved = bytes.bytes.try_reserve_exact(draft.len());
        reserved.map_err(|_| Error::from(aglet_ring::Error::OutOfMemory { bytes: draft.len() }))?;
        draft.write(control, &mut |part| {
            bytes.bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The thing of which these are the bytes.
    ///
    /// # Errors
    /// [`Error::Format`] for anything but the bytes of such a thing, [`Error::Memory`], a stop; those of its origin for one of another.
    pub fn deserialize<O: Origin, T: Stored<O>>(
        &self,
        origin: &O,
        bytes: &[u8],
        control: &Control,
    ) -> Result<T, O::Error> {
        self.take(origin, &Source::Bytes(bytes), control)
    }

    /// Writes a thing to a file: under another name in the same folder, which then takes the place of a file that is there. A write
    /// that ends early leaves that as it was.
    ///
    /// # Errors
    /// [`Error::File`] of the system, otherwise as [`Self::serialize`].
    pub fn write<O: Origin, T: Stored<O>>(
        &self,
        origin: &O,
        x: &T,
        path: &Path,
        control: &Control,
    ) -> Result<(), O::Error> {
        let draft = Draft::new(origin, x)?;
        let mut file = Replacement::new(path, T::SECRET)?;
        draft.write(control, &mut |part| file.write(part))?;
        Ok(file.finish()?)
    }

    /// Reads a thing from a file, part by part.
    ///
    /// # Errors
    /// [`Error::File`] of the system, otherwise as [`Self::deserialize`].
    pub fn read<O: Origin, T: Stored<O>>(&self, origin: &O, path: &Path, control: &Control) -> Result<T, O::Error> {
        self.take(origin, &Source::File(&Input::open(path)?), control)
    }

    fn take<O: Origin, T: Stored<O>>(&self, origin: &O, source: &Source<'_>, control: &Control) -> Result<T, O::Error> {
        let header = Header::read(source)?;
        header.check_kind(T::KIND, self.families)?;
        self.check_family(header.kind(self.families)?, header.family(self.families)?.name, O::FAMILY)?;
        let literal = header.literal(source)?;
        // Equal fingerprints do, so that no parameters are made.
        if header.fingerprint != origin.fingerprint() {
            return Err(origin.other_parameters(T::KIND.name, &literal));
        }
        if T::SLOTS && header.slots != origin.slots() as u64 {
            return Err(origin.other_slots(T::KIND.name, header.slots));
        }
        header.check_length(source, T::KIND)?;
        if header.payload < T::least(origin) {
            return Err(other_parts(T::KIND).into());
        }
        // Whatever the words ask for that these parameters cannot have is the fault of the data.
        let shapes = T::shapes(origin, &header.words).map_err(|e| match e.of_bytes() {
            true => e,
            false => Error::from(FormatError::CannotBe { kind: T::KIND.name, reason: Box::new(e) }).into(),
        })?;
        header.check_parts(T::KIND, &shapes)?;
        self.forecast(T::KIND, shapes.iter().map(Shape::memory).sum::<Result<_, _>>()?)?;
        let mut parts = Reader::new(T::KIND, shapes, &header, control, source);
        let x = T::take(origin, KeyId(header.id), &header.words, &mut parts)?;
        parts.finish()?;
        // Words that its type gives no meaning, and the id of what has no key, are zero, as it would write them.
        if padded(&x.words()) != header.words || x.id() != KeyId(header.id) {
            return Err(other_parts(T::KIND).into());
        }
        Ok(x)
    }

    /// Refuses what does not fit into memory, before it is allocated.
    fn forecast(&self, kind: Kind, needed: usize) -> Result<(), Error> {
        match (self.memory_available)() {
            Some(available) if needed > LARGE && needed as u64 > available => {
                Err(Error::Memory { kind: kind.name, needed: needed as u64, available })
            }
            _ => Ok(()),
        }
    }
}
