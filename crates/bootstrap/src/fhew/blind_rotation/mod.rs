//! Programmable bootstrapping of LWE ciphertexts. Blind rotation rotates a lookup table by the encrypted phase; sample
//! extraction takes its constant coefficient, the result.

mod blocks;
mod dm;
mod key;
mod lmkcdey;
mod ntru;

pub use blocks::Blocks;
pub use dm::Dm;
pub use key::FhewBootstrapKey;
pub use lmkcdey::Lmkcdey;
pub use ntru::Ntru;

use aglet_ring::small::Words;
use aglet_ring::{Backend, BlockRotation};
use aglet_rlwe::lwe::{LweContext, LweSwitchingKey, SeededKey, Switched};
use aglet_rlwe::Error;
use std::sync::Arc;

/// The keys of one method of blind rotation, and how they rotate accumulators.
pub trait BlindRotation: Send + Sync {
    /// Its keys, as files hold them.
    fn keys(&self) -> Vec<&SeededKey>;

    /// Multiplies each accumulator, the columns of a GLWE sample, by `X^(<a, s>)` for the mask a of its input and the secret s, in
    /// place. There are as many accumulators for each input, one after the other, tables in the clear or encrypted. All share each part of
    /// the key while it is in the cache.
    ///
    /// Inputs are switched by the same context, so their exponents are of the kind that its method wants.
    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]);

    /// Its keys on a backend such as a card, with that of the key switch before it; none where the host rotates by this method.
    ///
    /// # Errors
    /// Those of the backend.
    fn on(
        &self,
        _: &LweContext,
        _: &dyn Backend,
        _: &LweSwitchingKey,
    ) -> Result<Option<Arc<dyn BlockRotation>>, Error> {
        Ok(None)
    }
}
