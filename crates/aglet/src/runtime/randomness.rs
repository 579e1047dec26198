//! Where the randomness of keys and encryptions comes from.

use crate::Error;
use aglet_ring::sample::ChaChaSource;
#[cfg(feature = "seeded")]
use std::{collections::BTreeMap, sync::Mutex};

/// What an engine draws from: the operating system, always, but for tests of a build with the feature `seeded`.
pub struct Randomness(Origin);

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
    pub fn system() -> Self {
        Self(Origin::System)
    }

    /// Sources that follow from this seed: the n-th for a purpose is the same in every run, whatever is drawn for others between
    /// them. **For tests only**: whoever knows the seed knows every secret key and reads every ciphertext.
    #[cfg(feature = "seeded")]
    #[must_use]
    pub fn seeded(seed: [u8; 32]) -> Self {
        Self(Origin::Seeded { root: ChaChaSource::from_seed(seed), drawn: Mutex::default() })
    }

    /// A source for one key, one encryption or whatever the purpose names, to be used once; `number` tells purposes of one name
    /// apart, such as keys by their automorphism.
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub(crate) fn source(&self, purpose: &'static str, number: u64) -> Result<ChaChaSource, Error> {
        let what = || format!("{purpose} {number}");
        match &self.0 {
            Origin::System => ChaChaSource::from_os().map_err(|e| {
                let reason = format!("{e} (for {})", what());
                aglet_ring::Error::Randomness { reason }.into()
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
