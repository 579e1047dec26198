//! The errors of this crate.

use crate::fault::ParameterFault;
use thiserror::Error;

/// Why a bootstrap could not be planned or run.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A functional bootstrap with parameters whose bootstrap has none.
    #[error("The bootstrap of preset {preset} multiplies roots of unity and keeps one level, so it has none for tables of more than two entries; take a preset such as regular.")]
    NoFunctional {
        /// The preset.
        preset: String,
    },
    /// A functional bootstrap by the keys of another method.
    #[error("A functional bootstrap takes the key of a regular or lossy bootstrap, not of a {method} one.")]
    FunctionalMethod {
        /// The method asked for.
        method: &'static str,
    },
    /// Functions that take more levels than there are.
    #[error("These functions take {levels} levels below the exponential, and a {method} bootstrap key of this preset has none left for them; give fewer entries or a lower degree, or a lossy bootstrap key.")]
    FunctionalLevels {
        /// The method whose key is used.
        method: &'static str,
        /// The levels that the functions take.
        levels: usize,
    },
    /// Keys of a bootstrap that do not go with what they are given.
    #[error("These parameters do not work: {0}.")]
    BadParameters(#[source] ParameterFault),
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] aglet_schemes::Error),
    /// A circuit could not be laid out.
    #[error(transparent)]
    Circuit(aglet_circuits::Error),
    /// Sparse slots that cannot share one evaluation.
    #[error(
        "{slots} slots leave no room to pack real and imaginary parts side by side; this plan cannot run on this ring."
    )]
    Packed {
        /// The slots of the message.
        slots: usize,
    },
    /// The chain is too short for the stages.
    #[error(
        "A chain of {primes} primes is too short for this bootstrap, which needs {needed}; use a preset made for bootstrapping."
    )]
    Chain {
        /// Primes there are.
        primes: usize,
        /// Primes needed at least.
        needed: usize,
    },
    /// A bound on messages that is too large or not positive.
    #[error(
        "bound= must be positive and at most {max}; {bound:e} is not. Scale the message down before you encrypt it."
    )]
    Bound {
        /// The bound asked for.
        bound: f64,
        /// The largest one served.
        max: f64,
    },
    /// A name that does not exist.
    #[error("There is no {what} \"{name}\"; choose one of {choices}.")]
    Name {
        /// What was to be named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        choices: String,
    },
    /// A number of slots that the ring does not have.
    #[error("slot_count = {slots} is not a power of two up to {most}; choose one.")]
    SlotCount {
        /// The number given.
        slots: usize,
        /// The slots of the ring.
        most: usize,
    },
    /// A number of stages that does not suit the slots.
    #[error("stage_count = {stage_count} does not suit {slots} slots; choose {fewest} to {most}.")]
    Stages {
        /// The number given.
        stage_count: usize,
        /// The slots of the message.
        slots: usize,
        /// The fewest.
        fewest: usize,
        /// The most.
        most: usize,
    },
    /// A parameter set without the primes of a bootstrap.
    #[error("The preset \"{preset}\" has no bootstrap; give use_bootstrap=True.")]
    NotForBootstrap {
        /// Its name.
        preset: String,
    },
    /// A parameter set whose message primes are only those of a regular bootstrap.
    #[error("The preset \"{preset}\" has no levels for lossy and sign bootstraps; give use_bootstrap=True.")]
    NotForLossy {
        /// Its name.
        preset: String,
    },
    /// A parameter set that has too few primes for a request.
    #[error(
        "The preset \"{preset}\" has too few levels for this bootstrap; use fewer stages or a lower target_level."
    )]
    TooFewLevels {
        /// Its name.
        preset: String,
    },
    /// A request that the method of a preset does not support.
    #[error("The preset \"{preset}\" bootstraps by {method}, which {what}.")]
    NotByMethod {
        /// Its name.
        preset: String,
        /// That of its method.
        method: &'static str,
        /// What the method is like, and what to ask for.
        what: String,
    },
    /// A level that a bootstrap cannot end at.
    #[error(
        "A {method} bootstrap of {stages} stages ends at level {highest} at most, not {level}; ask for a lower level."
    )]
    OutputLevel {
        /// The method.
        method: &'static str,
        /// Stages of coeffs_to_slots.
        stages: usize,
        /// The highest level possible.
        highest: usize,
        /// The level asked for.
        level: usize,
    },
    /// A stage that does not fit its neighbours or did not end where it was planned to.
    #[error("The stage {stage} does not end where the next one starts; this plan cannot run on this chain.")]
    Broken {
        /// Name of the stage.
        stage: String,
    },
    /// A stage with a linear map was run without its encoding.
    #[error("A linear map was applied before it was encoded; run the plan through a pipeline.")]
    NotEncoded,
    /// The caller stopped the run.
    #[error("The bootstrap was stopped.")]
    Cancelled,
}

impl<F: Into<ParameterFault>> From<F> for Error {
    fn from(fault: F) -> Self {
        Self::BadParameters(fault.into())
    }
}
impl From<aglet_rlwe::Error> for Error {
    fn from(e: aglet_rlwe::Error) -> Self {
        Self::Scheme(e.into())
    }
}
impl From<aglet_ring::Error> for Error {
    fn from(e: aglet_ring::Error) -> Self {
        Self::Scheme(e.into())
    }
}
impl From<aglet_circuits::Error> for Error {
    fn from(e: aglet_circuits::Error) -> Self {
        match e {
            aglet_circuits::Error::Scheme(e) => Self::Scheme(e),
            e => Self::Circuit(e),
        }
    }
}
