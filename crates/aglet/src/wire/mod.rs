//! Files and bytes of keys, plaintexts and ciphertexts. ARCHITECTURE.md, section "Files", describes the layout; the
//! file of the header describes the header.
//!
//! A file is a [`Header`](header::Header) of fixed size, the text of the parameters, and the parts of one thing, each with its
//! checksum. What parts there
//! are, and how long, follows from the parameters and a few words of the header: both are compared before anything is
//! allocated, and every byte is under a checksum. Checksums find accidents. They do not authenticate: whoever can write a
//! file can write one that passes, and gets keys or ciphertexts of its making, as with any other key it hands out.

mod body;
mod bootstrap;
mod ckks;
mod fhew;
mod file;
mod header;
mod integer;
mod parameters;
mod replacement;
mod rlwe;
mod scheme_switch;
mod shape;

pub use body::{Reader, Writer};
pub use ckks::CkksOrigin;
pub use integer::IntegerOrigin;
pub use rlwe::SlotOrigin;
pub use scheme_switch::{Ends, IntegerSchemeSwitchOrigin, SchemeSwitchOrigin, Side};
pub use shape::Shape;

use crate::runtime::{self, machine};
use crate::{Control, Error, ForeignError, FormatError, MemoryError, OtherEngine};
use aglet_rlwe::KeyId;
use body::Source;
use file::Input;
use header::Header;
use replacement::Replacement;
use std::ops::Deref;
use std::path::Path;
use zeroize::Zeroize;

/// Words of a header that say what parts a thing has.
pub const WORDS: usize = 9;
/// What is larger has its memory forecast before it is read.
const LARGE: usize = 1 << 20;

/// A type in files: its number, never used twice, and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// In the header.
    pub tag: u16,
    /// In sentences; with underscores, in the names of Python's methods.
    pub name: &'static str,
}

/// The types of a family of schemes.
struct Family {
    name: &'static str,
    kinds: &'static [Kind],
    /// The additional name of a type that the words of a header give, as in Python's methods.
    finer: fn(Kind, &[u64; WORDS]) -> Option<&'static str>,
}

const FAMILIES: [Family; 5] =
    [ckks::FAMILY, fhew::FAMILY, integer::FAMILY, scheme_switch::FAMILY, scheme_switch::INTEGERS];

/// The origin of stored data: parameters of one family, and what else engines must have in common to share it.
pub trait Origin: Sized {
    /// Its name in headers and literals.
    const FAMILY: &'static str;

    /// The name of the parameters.
    fn name(&self) -> &str;
    /// The parameters that keys and ciphertexts depend on.
    fn fingerprint(&self) -> [u8; 32];
    /// Message slots; zero where there are none.
    fn slots(&self) -> usize;
    /// What is wrong with a thing of another number of slots.
    fn other_slots(&self, kind: &'static str, slots: u64) -> ForeignError {
        ForeignError::Slots { kind, slots, own: self.slots() }
    }
    /// The text of the parameters.
    ///
    /// # Errors
    /// For parameters that cannot be written as text.
    fn literal(&self) -> Result<String, Error>;
    /// The name of other parameters by their text, quoted, and what to do about them.
    ///
    /// # Errors
    /// [`Error::Format`] for a text that is no literal.
    fn other(&self, literal: &str) -> Result<(String, OtherEngine), Error>;
}

/// A type that can be stored. Its parts follow from its origin and [`Stored::words`], and are written and read in
/// order.
pub trait Stored<O: Origin>: Sized + Send {
    /// Its type in files.
    const KIND: Kind;
    /// Whether it fits one number of slots only.
    const SLOTS: bool;
    /// Whether only its owner may read a file of it.
    const SECRET: bool = false;

    /// Bytes that its parts have at least. What takes long to lay out says so, and shorter data is refused before.
    fn least(_: &O) -> u64 {
        0
    }
    /// The secret key that it belongs to; zero for none.
    fn id(&self) -> KeyId;
    /// What determines its parts, besides the parameters.
    fn words(&self) -> Vec<u64>;
    /// Its parts.
    ///
    /// # Errors
    /// For words that no thing of these parameters has.
    fn shapes(origin: &O, words: &[u64; WORDS]) -> Result<Vec<Shape>, Error>;
    /// Hands over the parts.
    fn put(&self, origin: &O, out: &mut Writer<'_>) -> Result<(), Error>;
    /// Makes it of its parts.
    fn take(origin: &O, id: KeyId, words: &[u64; WORDS], parts: &mut Reader<'_>) -> Result<Self, Error>;
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
    fn check_fingerprint(&self, name: &str, found: [u8; 32]) -> Result<(), Error> {
        if self.fingerprint == found {
            return Ok(());
        }
        Err(FormatError::OtherParameters { name: parameters::shown(name) }.into())
    }
}

/// Refuses a thing of another family: types that several have bear one number.
fn check_family(kind: Kind, family: &str, wanted: &str) -> Result<(), Error> {
    if family == wanted {
        return Ok(());
    }
    Err(FormatError::OtherFamily { kind: kind.name, family: shown(family).into(), wanted: shown(wanted).into() }.into())
}

/// A family as users know it: files of scheme switches keep the name that the first version gave them.
fn shown(family: &str) -> &str {
    match family {
        "bridge" => "scheme switch",
        "integer-bridge" => "scheme switch of integers",
        other => other,
    }
}

/// Reads the header and the text of the parameters.
///
/// # Errors
/// [`Error::Format`] for what is no header of this version.
pub fn summary(bytes: &[u8]) -> Result<Summary, Error> {
    let source = Source::Bytes(bytes);
    let header = Header::read(&source)?;
    Ok(Summary {
        kind: header.kind()?,
        family: header.family()?.name,
        literal: parameters::literal(&header, &source)?,
        fingerprint: header.fingerprint,
        slots: header.slots as usize,
    })
}

/// The kind of the data in these bytes, such as "ciphertext" or "lossy bootstrap key". Only the header is read.
///
/// # Errors
/// [`Error::Format`] for what is no header of this version.
pub fn name(bytes: &[u8]) -> Result<&'static str, Error> {
    Header::read(&Source::Bytes(bytes))?.name()
}

/// [`name`] of a file.
///
/// # Errors
/// [`Error::File`] of the system, and as there.
pub fn name_of_file(path: &Path) -> Result<&'static str, Error> {
    Header::read(&Source::File(&Input::open(path)?))?.name()
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
    fn new(origin: &'a O, x: &'a T) -> Result<Self, Error> {
        let words = header::words(&x.words());
        let shapes = T::shapes(origin, &words)?;
        let literal = origin.literal()?;
        let header = Header::new::<O, T>((origin, &literal), x.id(), words, &shapes)?;
        Ok(Self { x, origin, header, literal, shapes })
    }
    fn len(&self) -> usize {
        self.header.parts_at() + self.header.payload as usize
    }
    fn write(self, control: &Control, sink: &mut (dyn FnMut(&[u8]) -> Result<(), Error> + Send)) -> Result<(), Error> {
        sink(&self.header.bytes())?;
        sink(self.literal.as_bytes())?;
        let mut writer = Writer::new(T::KIND, self.shapes, self.header.seal(), control, sink);
        self.x.put(self.origin, &mut writer)?;
        writer.finish()
    }
}

/// Reads a thing for this origin.
fn read<O: Origin, T: Stored<O>>(origin: &O, source: &Source<'_>, control: &Control) -> Result<T, Error> {
    let header = Header::read(source)?;
    header.check_kind(T::KIND)?;
    check_family(header.kind()?, header.family()?.name, O::FAMILY)?;
    let literal = parameters::literal(&header, source)?;
    parameters::check_origin::<O, T>(&header, &literal, origin)?;
    header.check_length(source, T::KIND)?;
    if header.payload < T::least(origin) {
        return Err(header::other_parts(T::KIND));
    }
    // Whatever the words ask for that these parameters cannot have is the fault of the data.
    let shapes = T::shapes(origin, &header.words).map_err(|e| match e {
        Error::Format(_) => e,
        e => FormatError::CannotBe { kind: T::KIND.name, reason: Box::new(e) }.into(),
    })?;
    header.check_parts(T::KIND, &shapes)?;
    forecast(T::KIND, shapes.iter().map(Shape::memory).sum())?;
    let mut parts = Reader::new(T::KIND, shapes, &header, control, source);
    let x = T::take(origin, KeyId(header.id), &header.words, &mut parts)?;
    parts.finish()?;
    // Words that its type gives no meaning, and the id of what has no key, are zero, as it would write them.
    if header::words(&x.words()) != header.words || x.id() != KeyId(header.id) {
        return Err(header::other_parts(T::KIND));
    }
    Ok(x)
}

/// Refuses what does not fit into memory, before it is allocated.
fn forecast(kind: Kind, needed: usize) -> Result<(), Error> {
    match machine::memory_available() {
        Some(available) if needed > LARGE && needed as u64 > available => {
            Err(MemoryError::Stored { kind: kind.name, needed: needed as u64, available }.into())
        }
        _ => Ok(()),
    }
}

/// The bytes of a thing.
///
/// # Errors
/// [`Error::Format`] for what is not of this origin, [`Error::Cancelled`].
pub fn serialize<O: Origin, T: Stored<O>>(origin: &O, x: &T, control: &Control) -> Result<Bytes, Error> {
    let draft = Draft::new(origin, x)?;
    let mut bytes = Bytes { bytes: Vec::new(), secret: T::SECRET };
    // At once: a buffer that grew would leave copies behind.
    bytes.bytes.try_reserve_exact(draft.len()).map_err(|_| aglet_ring::Error::OutOfMemory { bytes: draft.len() })?;
    draft.write(control, &mut |part| {
        bytes.bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

/// The thing of which these are the bytes.
///
/// # Errors
/// [`Error::Format`] for anything but the bytes of such a thing, [`Error::Foreign`] for one of another origin.
pub fn deserialize<O: Origin, T: Stored<O>>(origin: &O, bytes: &[u8], control: &Control) -> Result<T, Error> {
    read(origin, &Source::Bytes(bytes), control)
}

/// Runs work of an [`Origin`] without engine on threads of its own: one, or all cores for large things.
pub fn on_threads<T: Send>(bytes: usize, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    runtime::on_threads(usize::from(bytes < 64 * LARGE), work)
}

/// Engines write and read what is bound with them, on their own threads.
macro_rules! engines {
    ($($engine:ty: $origin:ty = $of:ident),*) => {$(
        impl $engine {
            /// The bytes of a thing of this engine.
            ///
            /// # Errors
            /// [`Error::Format`] for what is not of this engine's parameters, [`Error::Cancelled`].
            pub fn serialize<T: Stored<$origin> + Sync>(&self, x: &T, control: &Control) -> Result<Bytes, Error> {
                self.run(|| serialize(&self.$of(), x, control))
            }
            /// The thing of which these are the bytes.
            ///
            /// # Errors
            /// [`Error::Format`] for anything but the bytes of such a thing, [`Error::Foreign`] for one of other parameters,
            /// [`Error::Memory`], [`Error::Cancelled`].
            pub fn deserialize<T: Stored<$origin>>(&self, bytes: &[u8], control: &Control) -> Result<T, Error> {
                self.run(|| deserialize(&self.$of(), bytes, control))
            }
            /// Writes a thing of this engine to a file: under another name in the same folder, which then takes the place of a
            /// file that is there. A write that ends early leaves that as it was.
            ///
            /// # Errors
            /// [`Error::File`] of the system, otherwise as [`Self::serialize`].
            pub fn write<T: Stored<$origin> + Sync>(&self, x: &T, path: &Path, control: &Control) -> Result<(), Error> {
                self.run(|| write_file(&self.$of(), x, path, control))
            }
            /// Reads a thing from a file, part by part.
            ///
            /// # Errors
            /// [`Error::File`] of the system, otherwise as [`Self::deserialize`].
            pub fn read<T: Stored<$origin>>(&self, path: &Path, control: &Control) -> Result<T, Error> {
                self.run(|| read(&self.$of(), &Source::File(&Input::open(path)?), control))
            }
        }
    )*};
}

engines! {
    crate::ckks::Engine: CkksOrigin = origin,
    crate::fhew::Engine: crate::fhew::FhewContext = context,
    crate::integer::Engine: IntegerOrigin = origin,
    crate::scheme_switch::SchemeSwitch: SchemeSwitchOrigin = origin,
    crate::scheme_switch::IntegerSchemeSwitch: IntegerSchemeSwitchOrigin = origin
}

fn write_file<O: Origin, T: Stored<O>>(origin: &O, x: &T, path: &Path, control: &Control) -> Result<(), Error> {
    let draft = Draft::new(origin, x)?;
    let mut file = Replacement::new(path, T::SECRET)?;
    draft.write(control, &mut |part| file.write(part))?;
    file.finish()
}
