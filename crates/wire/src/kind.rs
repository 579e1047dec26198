//! Types in files and the families that they are of.

/// Words of a header that say what parts a thing has.
pub const WORDS: usize = 9;
/// The words of a header.
pub type Words = [u64; WORDS];

/// The longest piece of a file in a message, in characters.
const MAX_SHOWN: usize = 300;

/// A type in files: its number, never used twice, and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// In the header.
    pub tag: u16,
    /// In sentences; with underscores, in the names of Python's methods.
    pub name: &'static str,
}

/// The types of a family of schemes.
pub struct Family {
    /// In headers; at most 16 bytes.
    pub name: &'static str,
    /// In sentences.
    pub said: &'static str,
    /// Its types. Those that several families have bear one number.
    pub kinds: &'static [Kind],
    /// The additional name of a type that the words of a header give, as in Python's methods.
    pub finer: fn(Kind, &Words) -> Option<&'static str>,
}

/// A piece of a file in a message: quoted, escaped and cut.
#[must_use]
pub fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(MAX_SHOWN).collect::<String>())
}
