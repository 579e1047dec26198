//! The first 256 bytes. Integers are little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0 to 9 | `AGLET`, 9F, 0D, 0A; version of the format: 1 |
//! | 10, 11 | type: 1 secret, 2 public, 3 relinearization, 4 conjugation, 5 rotation, 6 fixed rotation, 7 bootstrap key, 8 plaintext, 9 ciphertext, 10 matrix multiplication key; 11 FHEW secret, 12 FHEW bootstrap key, 13 array of LWE ciphertexts, 14 packing key; 15 integer plaintext, 16 integer ciphertext; 17 scheme switch key, 18 that of integers; 19 FHEW public key |
//! | 12 to 39 | bytes of the parameters, at most 16 KiB; bytes of the parts; id of the secret key; a word of the family (slots, or zero) |
//! | 40 to 151 | fingerprint of the parameters; BLAKE3 of the shapes of all parts; the family, padded with zeros; BLAKE3 of the parameters |
//! | 152 to 223 | nine words that the type gives its own meaning (level, scale, bound and noise, stages), zero otherwise |
//! | 224 to 255 | BLAKE3 of bytes 0 to 223, which keys all later checksums |

use crate::error::{Error, FormatError};
use crate::kind::{shown, Family, Kind, Words, WORDS};
use crate::shape::Shape;
use crate::source::Source;

/// Tells Aglet's files from others, and shows when a program has changed line ends or cut the eighth bit.
const MAGIC: [u8; 8] = *b"AGLET\x9f\r\n";
/// The version of the layout, and of all that is not in it: the order of values, the expansion of seeds.
const VERSION: u16 = 1;
/// The longest text of a literal, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// Bytes of a header.
const LENGTH: usize = 256;
/// Bytes that its own checksum covers.
const COVERED: usize = LENGTH - 32;
/// Bytes for the name of the family, padded with zeros.
const FAMILY_LENGTH: usize = 16;

/// The header, which precedes the parts. All integers are little-endian.
#[derive(Debug, Clone)]
pub struct Header {
    pub tag: u16,
    /// Bytes of the text of the parameters, which follows the header.
    pub literal_length: u32,
    /// Bytes that follow that text.
    pub payload: u64,
    pub id: u64,
    /// A word of the family: for CKKS the message slots, else zero.
    pub slots: u64,
    pub fingerprint: [u8; 32],
    /// BLAKE3 of the parts' shapes: files of circuits that a later version builds otherwise are not misread.
    pub shapes: [u8; 32],
    pub family: [u8; FAMILY_LENGTH],
    /// BLAKE3 of the text of the parameters.
    pub literal: [u8; 32],
    pub words: Words,
}

/// A field that few values begin and zeros fill up.
pub fn padded<T: Copy + Default, const N: usize>(few: &[T]) -> [T; N] {
    let mut field = [T::default(); N];
    field.iter_mut().zip(few).for_each(|(place, &x)| *place = x);
    field
}

/// Takes fields off the front of a header.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut field = [0; N];
        let (now, later) = self.0.split_at(N.min(self.0.len()));
        field[..now.len()].copy_from_slice(now);
        self.0 = later;
        field
    }
    fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

impl Header {
    pub fn bytes(&self) -> [u8; LENGTH] {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.tag.to_le_bytes());
        bytes.extend(self.literal_length.to_le_bytes());
        [self.payload, self.id, self.slots].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(self.fingerprint);
        bytes.extend(self.shapes);
        bytes.extend(self.family);
        bytes.extend(self.literal);
        self.words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(blake3::hash(&bytes).as_bytes());
        let mut fixed = [0; LENGTH];
        fixed.copy_from_slice(&bytes);
        fixed
    }

    /// Its checksum: the key of those of the parts, so that no part can stand under another header.
    pub fn seal(&self) -> [u8; 32] {
        let mut seal = [0; 32];
        seal.copy_from_slice(&self.bytes()[COVERED..]);
        seal
    }

    /// Reads a header. What is checked first gives the most telling error.
    pub fn read(source: &Source<'_>) -> Result<Self, Error> {
        let mut bytes = [0; LENGTH];
        let mut start = [0; 10];
        let magic = source.copy_to(0, &mut start[..8])?;
        if !magic || start[..8] != MAGIC {
            return Err(FormatError::NotAglet.into());
        }
        if !source.copy_to(0, &mut start)? || !source.copy_to(0, &mut bytes)? {
            return Err(FormatError::ShortStart { header: true }.into());
        }
        let version = u16::from_le_bytes([start[8], start[9]]);
        if version != VERSION {
            return Err(FormatError::Version { version, own: VERSION }.into());
        }
        if blake3::hash(&bytes[..COVERED]) != bytes[COVERED..] {
            return Err(FormatError::Header.into());
        }
        let mut fields = Fields(&bytes[10..COVERED]);
        let tag = u16::from_le_bytes(fields.take());
        let literal_length = u32::from_le_bytes(fields.take());
        let (payload, id, slots) = (fields.word(), fields.word(), fields.word());
        let (fingerprint, shapes) = (fields.take(), fields.take());
        let (family, literal) = (fields.take(), fields.take());
        let words = [(); WORDS].map(|()| fields.word());
        Ok(Self { tag, literal_length, payload, id, slots, fingerprint, shapes, family, literal, words })
    }

    /// Where the parts begin.
    pub fn parts_at(&self) -> usize {
        LENGTH + self.literal_length as usize
    }

    /// The text behind it.
    ///
    /// # Errors
    /// [`Error::Format`] for a text that is too long, cut short or not that of the header.
    pub fn literal(&self, source: &Source<'_>) -> Result<String, Error> {
        let length = self.literal_length as usize;
        if length > MAX_TEXT {
            return Err(FormatError::LongParameters { length, most: MAX_TEXT }.into());
        }
        let mut text = vec![0; length];
        if !source.copy_to(LENGTH, &mut text)? {
            return Err(FormatError::ShortStart { header: false }.into());
        }
        if *blake3::hash(&text).as_bytes() != self.literal {
            return Err(FormatError::Parameters.into());
        }
        Ok(String::from_utf8(text).map_err(|_| FormatError::NoText)?)
    }

    pub fn check_kind(&self, wanted: Kind, families: &'static [Family]) -> Result<(), Error> {
        if self.tag == wanted.tag {
            return Ok(());
        }
        let [found, wanted] = [self.name(families)?, wanted.name].map(with_article);
        Err(FormatError::OtherType { found, wanted }.into())
    }

    /// Its family, of those that a caller knows.
    pub fn family(&self, families: &'static [Family]) -> Result<&'static Family, Error> {
        let name = String::from_utf8_lossy(&self.family);
        let name = name.trim_end_matches('\0');
        families.iter().find(|family| family.name == name).ok_or_else(|| {
            let known: Vec<String> = families.iter().map(|family| format!("\"{}\"", family.name)).collect();
            FormatError::Family { name: shown(name), known: known.join(" and ") }.into()
        })
    }

    /// Its type.
    pub fn kind(&self, families: &'static [Family]) -> Result<Kind, Error> {
        let mut kinds = self.family(families)?.kinds.iter().copied();
        kinds.find(|kind| kind.tag == self.tag).ok_or_else(|| FormatError::Type { tag: self.tag }.into())
    }

    /// Its type in the words of Python's methods, which may tell more than the type does.
    pub fn name(&self, families: &'static [Family]) -> Result<&'static str, Error> {
        let kind = self.kind(families)?;
        Ok((self.family(families)?.finer)(kind, &self.words).unwrap_or(kind.name))
    }

    /// Compares the length that the header claims with what there is.
    pub fn check_length(&self, source: &Source<'_>, kind: Kind) -> Result<(), Error> {
        let (found, claimed) = (source.len().saturating_sub(self.parts_at()) as u64, self.payload);
        if found < claimed {
            return Err(FormatError::Short { kind: kind.name, found, claimed }.into());
        }
        if found > claimed {
            return Err(FormatError::Long { kind: kind.name, more: found - claimed }.into());
        }
        Ok(())
    }

    /// Compares what the header claims with what the parameters imply.
    pub fn check_parts(&self, kind: Kind, shapes: &[Shape]) -> Result<(), Error> {
        if self.shapes == digest(shapes) && self.payload == payload(shapes)? {
            return Ok(());
        }
        Err(other_parts(kind))
    }
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

pub fn other_parts(kind: Kind) -> Error {
    FormatError::OtherParts { kind: kind.name }.into()
}

/// Bytes of all parts with their checksums.
pub fn payload(shapes: &[Shape]) -> Result<u64, Error> {
    Ok(shapes.iter().map(Shape::stored).collect::<Result<Vec<_>, _>>()?.iter().sum::<usize>() as u64)
}

/// What a header says of the shapes of all parts.
pub fn digest(shapes: &[Shape]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("aglet 2026-11 shapes of stored parts v1");
    let mut word = |word: u64| {
        hasher.update(&word.to_le_bytes());
    };
    shapes.iter().for_each(|shape| shape.describe(&mut word));
    *hasher.finalize().as_bytes()
}
