//! The errors of this crate.

use thiserror::Error;

/// Why a circuit could not be laid out or run.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] aglet_schemes::Error),
    /// A DFT cannot be cut into this many stages.
    #[error(
        "A DFT on {slots} slots has {layers} layers and cannot be split into {stage_count} stages; \
         choose between 1 and {layers} stages."
    )]
    StageCount {
        /// Number of slots.
        slots: usize,
        /// The layers there are: log2 of the slots.
        layers: u32,
        /// The stages asked for.
        stage_count: usize,
    },
    /// Stages of a DFT that have not its layers.
    #[error("The stages of a DFT on {slots} slots have {layers:?} layers; give as many in all as log2 of the slots.")]
    Layers {
        /// Number of slots.
        slots: usize,
        /// The layers of each stage.
        layers: Vec<u32>,
    },
    /// A DFT on a number of slots that is no power of two.
    #[error("The number of slots of a DFT must be a power of two and at least 2; {slots} is not.")]
    Slots {
        /// The number given.
        slots: usize,
    },
    /// A factor or ratio that is zero, not finite, or of the wrong sign.
    #[error("The {what} must be finite and {requirement}.")]
    Factor {
        /// Which number it is.
        what: &'static str,
        /// What it has to be, beyond finite.
        requirement: &'static str,
    },
    /// An element of the basis that a polynomial is written in and that was not given.
    #[error("Element {index} of the basis is missing; give element 1 and every element that the polynomial uses.")]
    MissingElement {
        /// Which.
        index: usize,
    },
    /// A polynomial that is constant, for which no circuit is needed.
    #[error(
        "A constant polynomial or table needs no circuit; give values that differ, or encode the constant instead."
    )]
    ConstantPolynomial,
    /// A table that is no polynomial, or too long.
    #[error(
        "A lookup table cannot have {values} values; give 2 to {most} values. For an index in several digits their number is a power of their base."
    )]
    Table {
        /// Values that were given.
        values: usize,
        /// The most there may be.
        most: usize,
    },
    /// Messages that are too close to be distinguished.
    #[error(
        "{count} messages cannot be rounded on a torus with room for {torus}, with errors of up to {bound} units; give an even number that the \
         torus has room for, and errors below half of what is between two."
    )]
    Rounding {
        /// Messages.
        count: u64,
        /// Messages that the torus has room for.
        torus: u64,
        /// The largest error.
        bound: u64,
    },
}
