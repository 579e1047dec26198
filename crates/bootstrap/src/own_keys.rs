//! The keys of a bootstrap that it makes itself, as only it knows how.

use crate::error::Error;
use crate::packed::PackedKeys;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, SecretKey, SwitchingKey};
use std::sync::Arc;

/// Where the randomness of a packed key comes from, by its number.
pub type Sources<'a> = &'a (dyn Fn(u64) -> Result<ChaChaSource, Error> + Sync);

/// Draws the sparse secret of one bootstrap key, and makes those of its keys that are not made as usual.
pub trait OwnKeys: Sync {
    /// Draws the sparse secret, once.
    ///
    /// # Errors
    /// Parameters without one; memory that cannot be had.
    fn draw(&self, ctx: &Context, random: &mut ChaChaSource) -> Result<SecretKey, Error> {
        Ok(SecretKey::generate_sparse(ctx, random)?)
    }
    /// The key of this role and shape, of the sparse and the main secret; `None` if it is made as usual.
    ///
    /// # Errors
    /// Those of keys.
    fn key(
        &self,
        _ctx: &Context,
        _of: (KeyRole, &KeySwitchSpec),
        _secrets: (&SecretKey, &SecretKey),
        _random: &mut ChaChaSource,
    ) -> Result<Option<SwitchingKey>, Error> {
        Ok(None)
    }
    /// The packed keys on the chain of `ctx`, of the sparse secret that was drawn and the main one there; `None` if there are none.
    ///
    /// # Errors
    /// Those of `random`, in no certain order, and of keys.
    fn packed(
        &self,
        _ctx: &Arc<Context>,
        _main: &SecretKey,
        _random: Sources<'_>,
    ) -> Result<Option<PackedKeys>, Error> {
        Ok(None)
    }
}
