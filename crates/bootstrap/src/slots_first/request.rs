//! What is asked of a bootstrap: method, key size, stages, slots.

use super::steps::eval_mod::{Function, Parts};
use crate::error::Error;
use aglet_circuits::BabySteps;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;

/// How many rotations a bootstrap key holds: more keys make it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeySize {
    /// None of its own: two baby steps, with the rotation key of the user, all to the right by powers of two.
    Small,
    /// As few keys as baby and giant steps allow.
    Medium,
    /// As many as make it fastest.
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
            /// From its name.
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
            Self::Large => BabySteps { giant_cost: 4.0, most: 64, right: false },
        }
    }
    /// Diagonals at most of a map that the keys of mod_raise carry: as many keys of one digit take a fifth of the memory of
    /// others. 0 for a mod_raise without one.
    pub(super) fn carried_diagonals(self) -> usize {
        if self == Self::Small {
            0
        } else {
            64
        }
    }
}

/// What a bootstrap is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// From any level; leaves [`CkksParams::regular_level`].
    Regular,
    /// From `stage_count` levels or more; leaves as many as the chain has.
    Lossy,
    /// As lossy but from any level, on values near -1 and 1, whose errors it squares.
    Sign,
    /// As lossy but from any level, on values near 0 and 1, whose errors it squares.
    Bits,
    /// Two real ciphertexts in one regular bootstrap.
    Merge,
    /// Two real ciphertexts in one lossy bootstrap.
    LossyMerge,
}
named!(Method, "method": Regular = "regular", Lossy = "lossy", Sign = "sign", Bits = "bits", Merge = "merge",
    LossyMerge = "lossy-merge");

/// Bits of the scale from which a sign or bit bootstrap spends a level on the size of its exponential: the rounding of eval_mod
/// in primes of 50 bits is about that of the result at 2^42.
const NORMALIZED_FROM: u32 = 43;

impl Method {
    /// The method whose keys serve it.
    pub fn keys(self) -> Self {
        match self {
            Self::Regular | Self::Merge => Self::Regular,
            _ => Self::Lossy,
        }
    }
    /// The least user level of its inputs, for so many stages: slots_to_coeffs has primes of its own, but lossy bootstraps are
    /// documented to want a level for each stage.
    pub fn input_level(self, stage_count: usize) -> usize {
        match self {
            Self::Lossy | Self::LossyMerge => stage_count,
            _ => 0,
        }
    }
    /// Whether it takes two real ciphertexts.
    pub fn pairs(self) -> bool {
        matches!(self, Self::Merge | Self::LossyMerge)
    }
    /// Whether values near given points come closer to them.
    pub fn cleans(self) -> bool {
        matches!(self, Self::Sign | Self::Bits)
    }
    pub(super) fn function(self, params: &CkksParams) -> Function {
        let normalized = params.scale_bits() >= NORMALIZED_FROM && params.role(Role::EvalMod).len() > 8;
        match self {
            Self::Sign => Function::Sign { normalized },
            Self::Bits => Function::Bits { normalized },
            _ => Function::Identity { harmonics: if params.role(Role::EvalMod).len() > 8 { 2 } else { 1 } },
        }
    }
}

/// Choices of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// What it is for.
    pub method: Method,
    /// Parts that coeffs_to_slots is cut into; slots_to_coeffs has at most the hidden levels of the parameters.
    pub stage_count: usize,
    /// Which keys there are.
    pub size: KeySize,
    /// Message slots.
    pub slots: usize,
    /// Messages are at most this large.
    pub bound: f64,
    /// Whether the message is real: one evaluation of eval_mod instead of two.
    pub real: bool,
    /// The user level to leave, if not the highest possible.
    pub target_level: Option<usize>,
}

impl Request {
    /// A bootstrap of this method with keys of this size, of complex messages within the unit disc.
    pub fn new(method: Method, stage_count: usize, size: KeySize, slots: usize) -> Self {
        Self { method, stage_count, size, slots, bound: 1.0, real: false, target_level: None }
    }
    /// The request that the bootstrap key for this one is made for: it serves all that differ in nothing else.
    #[must_use]
    pub fn of_key(self) -> Self {
        Self { method: self.method.keys(), bound: 1.0, real: false, target_level: None, ..self }
    }
    /// Which parts of the message are wanted.
    pub fn parts(&self) -> Parts {
        match self {
            Self { method, .. } if method.pairs() => Parts::Pair,
            Self { real: true, .. } => Parts::Real,
            _ => Parts::Complex,
        }
    }

    /// Refuses slots and stages that a transform has not: one of few slots has few layers.
    pub(super) fn check(&self, ring_slots: usize) -> Result<(), Error> {
        let Self { slots, stage_count, .. } = *self;
        if !slots.is_power_of_two() || slots > ring_slots {
            return Err(Error::SlotCount { slots, most: ring_slots });
        }
        let layers = (slots.ilog2() as usize).max(1);
        let widest = slots.ilog2().div_ceil(stage_count.max(1) as u32);
        if !(1..=MAX_STAGES).contains(&stage_count) || stage_count > layers || widest > MAX_LAYERS {
            let fewest = (slots.ilog2().div_ceil(MAX_LAYERS) as usize).max(1);
            return Err(Error::Stages { stage_count, slots, fewest, most: layers.min(MAX_STAGES) });
        }
        Ok(())
    }

    /// Levels that coeffs_to_slots spends: its stages, but for a first one that mod_raise carries, and one more for a single map.
    pub(super) fn coeffs_to_slots_levels(&self, ring_slots: usize) -> usize {
        let carried = usize::from(self.carries_map(ring_slots));
        self.stage_count + usize::from(self.rescales_twice(ring_slots)) - carried
    }
    /// Whether coeffs_to_slots is a single map: its diagonals have the factors of all stages and of the trace, which makes them
    /// too small to be rounded at the size of one prime.
    pub(super) fn rescales_twice(&self, ring_slots: usize) -> bool {
        self.stage_count == 1 && !self.carries_map(ring_slots)
    }
    /// Whether mod_raise carries all of the trace and the first map of coeffs_to_slots.
    pub(super) fn carries_map(&self, ring_slots: usize) -> bool {
        let copies = ring_slots / self.slots;
        // The first map takes the most layers, and the longest distance among them wraps around.
        let layers = (self.slots.ilog2() as usize).div_ceil(self.stage_count.max(1));
        // The last map depends on what is wanted of the result, and keys should not.
        self.stage_count > 1 && copies << layers <= self.size.carried_diagonals()
    }
}

/// Stages that coeffs_to_slots can be cut into.
pub const MAX_STAGES: usize = 5;
/// Layers of the DFT that one stage takes, as many as published; ten make a thousand diagonals.
const MAX_LAYERS: u32 = 10;
