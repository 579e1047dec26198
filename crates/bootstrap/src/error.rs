//! Everything that can be refused on this floor.

use thiserror::Error;

/// Why a bootstrap could not be planned or run.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The scheme refused an operation.
    #[error(transparent)]
    Scheme(#[from] aglet_schemes::Error),
    /// A circuit could not be laid out.
    #[error(transparent)]
    Circuit(aglet_circuits::Error),
    /// Sparse slots that cannot share one evaluation.
    #[error(
        "{slots} slots leave no room for real and imaginary parts side by side; this plan cannot run on this ring."
    )]
    Packed {
        /// The slots of the message.
        slots: usize,
    },
    /// The chain is too short for the stages.
    #[error(
        "A chain of {primes} primes is too short for this bootstrap, which needs {needed}; take a preset made for it."
    )]
    Chain {
        /// Primes there are.
        primes: usize,
        /// Primes needed at least.
        needed: usize,
    },
    /// A bound on the messages that cannot be served.
    #[error("bound= must be positive and at most {max}; {bound} is not. Scale the message down before encrypting it.")]
    Bound {
        /// The bound asked for.
        bound: f64,
        /// The largest one served.
        max: f64,
    },
    /// A stage that does not fit its neighbours or did not end where it was planned to.
    #[error("The stage {stage} does not end where the next one starts; this plan cannot run on this chain.")]
    Broken {
        /// Name of the stage.
        stage: String,
    },
    /// A stage with a linear map was run without its encoding.
    #[error("A linear map is applied before it was encoded; run the plan through a pipeline.")]
    NotEncoded,
    /// The caller stopped the run.
    #[error("The bootstrap was stopped.")]
    Cancelled,
}

impl From<aglet_circuits::Error> for Error {
    fn from(e: aglet_circuits::Error) -> Self {
        match e {
            aglet_circuits::Error::Scheme(e) => Self::Scheme(e),
            e => Self::Circuit(e),
        }
    }
}
