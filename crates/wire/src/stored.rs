//! What callers say of their types: what they belong to, and what parts they have.

use crate::body::{Reader, Writer};
use crate::error::{Error, FormatError, Refusal};
use crate::kind::{Kind, Words};
use crate::shape::Shape;
use aglet_rlwe::KeyId;

/// The origin of stored data: parameters of one family, and what else engines must have in common to share it.
pub trait Origin: Sized {
    /// Its name in headers, as in its [`Family`](crate::Family).
    const FAMILY: &'static str;
    /// What its types fail with.
    type Error: Refusal;

    /// The fingerprint of the parameters that keys and ciphertexts depend on.
    fn fingerprint(&self) -> [u8; 32];
    /// Message slots; zero where there are none.
    fn slots(&self) -> usize;
    /// The text of the parameters.
    ///
    /// # Errors
    /// For parameters that cannot be written as text.
    fn literal(&self) -> Result<String, Self::Error>;
    /// What is wrong with a thing of other parameters, whose text is given.
    fn other_parameters(&self, kind: &'static str, literal: &str) -> Self::Error;
    /// What is wrong with a thing of another number of slots.
    fn other_slots(&self, kind: &'static str, slots: u64) -> Self::Error;
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
    fn shapes(origin: &O, words: &Words) -> Result<Vec<Shape>, O::Error>;
    /// Hands over the parts.
    ///
    /// # Errors
    /// For a thing of other parameters, and those of writing.
    fn put(&self, origin: &O, out: &mut Writer<'_>) -> Result<(), O::Error>;
    /// Makes it of its parts.
    ///
    /// # Errors
    /// For parts that no thing has, and those of reading.
    fn take(origin: &O, id: KeyId, words: &Words, parts: &mut Reader<'_>) -> Result<Self, O::Error>;
}

/// What is wrong with words that no thing has.
///
/// # Errors
/// Always: [`FormatError::Unknown`].
pub fn unknown<O: Origin, T: Stored<O>, U>(what: &'static str) -> Result<U, O::Error> {
    Err(Error::from(FormatError::Unknown { kind: T::KIND.name, what }).into())
}

/// A word as a number of things between bounds.
///
/// # Errors
/// [`FormatError::Unknown`] outside of them.
pub fn count<O: Origin, T: Stored<O>>(
    word: u64,
    least: usize,
    most: usize,
    what: &'static str,
) -> Result<usize, O::Error> {
    usize::try_from(word).ok().filter(|n| (least..=most).contains(n)).map_or_else(|| unknown::<O, T, _>(what), Ok)
}

/// A word as yes or no.
///
/// # Errors
/// [`FormatError::Unknown`] above 1.
pub fn flag<O: Origin, T: Stored<O>>(word: u64) -> Result<bool, O::Error> {
    Ok(count::<O, T>(word, 0, 1, "a mark")? == 1)
}
