//! The randomness of keys and encryptions.

use aglet_ring::sample::ChaChaSource;
#[cfg(feature = "seeded")]
use std::{collections::BTreeMap, sync::Mutex};

/// What a [`Runtime`](super::Runtime) draws from: the operating system, always, but for tests of a build with the feature
/// `seeded`.
pub(crate) struct Randomness(Origin);

enum Origin {
    System,
    #[cfg(feature = "seeded")]
    Seeded {
        root: ChaChaSource,
        /// How many sources each purpose has had.
        drawn: Mutex<BTreeMap<(&'static str, u64), u64>>,
    },
}

impl Randomness {
    /// A fresh seed of the operating system for every source.
    pub(crate) fn system() -> Self {
        Self(Origin::System)
    }

    /// Sources that follow from this seed, see [`Runtime::seeded`](super::Runtime::seeded).
    #[cfg(feature = "seeded")]
    pub(crate) fn seeded(seed: [u8; 32]) -> Self {
        Self(Origin::Seeded { root: ChaChaSource::from_seed(seed), drawn: Mutex::default() })
    }

    /// See [`Runtime::random`](super::Runtime::random).
    pub(crate) fn source(&self, purpose: &'static str, number: u64) -> Result<ChaChaSource, aglet_ring::Error> {
        let what = || format!("{purpose} {number}");
        match &self.0 {
            Origin::System => ChaChaSource::from_os().map_err(|e| {
                let reason = format!("{e} (for {})", what());
                aglet_ring::Error::Randomness { reason }
            }),
            #[cfg(feature = "seeded")]
            Origin::Seeded { root, drawn } => {
                let mut drawn = drawn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let count = drawn.entry((purpose, number)).or_insert(0);
                *count += 1;
                Ok(root.fork(format!("{}, {count}", what()).as_bytes()))
            }
        }
    }
}
