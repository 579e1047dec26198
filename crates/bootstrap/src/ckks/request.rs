//! The request for a bootstrap: method, key size, stages, slots.

use crate::error::Error;
use aglet_circuits::BabySteps;

/// How many rotations a bootstrap key holds: more keys make it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeySize {
    /// No rotation keys of its own: two baby steps, with the rotation key of the user, all to the right by powers of
    /// two.
    Small,
    /// As few rotation keys as baby and giant steps allow.
    Medium,
    /// As many rotation keys as make it fastest.
    Large,
}

/// Sizes and methods have the names that users type.
macro_rules! named {
    ($type:ident, $what:literal: $($variant:ident = $name:literal),*) => {
        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
            /// Their names.
            pub const NAMES: &[&str] = &[$($name),*];
            /// The size or method with this name.
            pub fn parse(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(Error::Name { what: $what, name: name.to_string(), choices: Self::NAMES.join(", ") }),
                }
            }
            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}
named!(KeySize, "bootstrap key of size": Small = "small", Medium = "medium", Large = "large");

impl KeySize {
    pub(crate) fn steps(self) -> BabySteps {
        match self {
            Self::Small => BabySteps { giant_cost: 1.0, most: 2, right: true },
            Self::Medium => BabySteps { giant_cost: 1.0, most: 64, right: false },
            Self::Large => BabySteps { giant_cost: 6.0, most: 64, right: false },
        }
    }
}

/// The method of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Takes any level; ends at [`CkksParams::regular_level`](aglet_schemes::ckks::CkksParams::regular_level).
    Regular,
    /// Takes `stage_count` levels or more; ends at the highest level of the chain.
    Lossy,
    /// As lossy, but takes any level. For values near -1 and 1; it squares their errors.
    Sign,
    /// As lossy, but takes any level. For values near 0 and 1; it squares their errors.
    Bits,
    /// Two real ciphertexts in one regular bootstrap.
    Merge,
    /// Two real ciphertexts in one lossy bootstrap.
    LossyMerge,
}
named!(Method, "method": Regular = "regular", Lossy = "lossy", Sign = "sign", Bits = "bits", Merge = "merge",
    LossyMerge = "lossy-merge");

impl Method {
    /// The method whose keys it uses.
    pub fn keys(self) -> Self {
        match self {
            Self::Regular | Self::Merge => Self::Regular,
            _ => Self::Lossy,
        }
    }
    /// Whether it takes two real ciphertexts.
    pub fn pairs(self) -> bool {
        matches!(self, Self::Merge | Self::LossyMerge)
    }
    /// Whether it brings values near given points closer to them.
    pub fn cleans(self) -> bool {
        matches!(self, Self::Sign | Self::Bits)
    }
}

/// The largest bound for which every constant of eval_mod stays below 2^63: the scale of its result grows with the
/// bound.
pub const MAX_BOUND: f64 = 262_144.0;

/// The possible numbers of stages of coeffs_to_slots.
pub const MAX_STAGES: usize = 5;

/// Which parts of the slots the result has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parts {
    /// Real and imaginary parts, as one complex result: two evaluations.
    Complex,
    /// Real parts only: one evaluation.
    Real,
    /// Real and imaginary parts as two real results: two evaluations.
    Pair,
}

/// The request for one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The number of stages of coeffs_to_slots; slots_to_coeffs has at most the hidden levels of the parameters.
    pub stage_count: usize,
    /// The size of the bootstrap key.
    pub size: KeySize,
    /// Message slots.
    pub slots: usize,
    /// The largest absolute value of messages.
    pub bound: f64,
    /// Whether the message is real: one evaluation of eval_mod instead of two.
    pub real: bool,
    /// The user level of the result, if not the highest possible.
    pub target_level: Option<usize>,
}

impl Request {
    /// A bootstrap of this method with keys of this size, of complex messages within the unit disc.
    pub fn new(method: Method, stage_count: usize, size: KeySize, slots: usize) -> Self {
        Self { method, stage_count, size, slots, bound: 1.0, real: false, target_level: None }
    }
    /// The parts of the message that the result has.
    pub fn parts(&self) -> Parts {
        match self {
            Self { method, .. } if method.pairs() => Parts::Pair,
            Self { real: true, .. } => Parts::Real,
            _ => Parts::Complex,
        }
    }
}
