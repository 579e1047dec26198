//! Secret keys.

use crate::context::Context;
use crate::error::Error;
use crate::security::Secret;
use aglet_ring::sample::{self, ChaChaSource, RandomSource};
use aglet_ring::{Eval, Poly};
use zeroize::Zeroizing;

/// Names a secret key without telling anything of it: drawn at random beside the key, carried by all that depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub u64);

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A secret polynomial `s`. Erased from memory when dropped; shows only its id.
pub struct SecretKey {
    id: KeyId,
    coefficients: Zeroizing<Vec<i8>>,
    /// `s` at every prime of the ring.
    eval: Poly<Eval>,
    /// The sparse secret of a bootstrap.
    ephemeral: bool,
}

impl SecretKey {
    /// Draws a main secret as the parameters say (dense ternary, or of fixed weight).
    pub fn generate(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let mut s = Zeroizing::new(vec![0i8; ctx.ring().n()]);
        match ctx.params().secret() {
            Secret::Ternary => sample::ternary(source, &mut s),
            Secret::FixedWeight(h) => sample::fixed_weight(source, h, &mut s),
        }
        Self::from_coefficients(ctx, KeyId(source.next_u64()), s, false)
    }

    /// Draws the sparse ephemeral secret of a bootstrap. It may appear under `q0 p'` only, the shape of
    /// [`KeySwitchSpec::to_sparse`](crate::keyswitch::KeySwitchSpec::to_sparse); keys and encryptions under it refuse more.
    pub fn generate_ephemeral(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let weight = ctx.params().ephemeral_weight().ok_or_else(|| {
            Error::bad_parameters("this set has no ephemeral secret; take one made for bootstrapping")
        })?;
        let mut s = Zeroizing::new(vec![0i8; ctx.ring().n()]);
        sample::fixed_weight(source, weight, &mut s);
        Self::from_coefficients(ctx, KeyId(source.next_u64()), s, true)
    }

    fn from_coefficients(
        ctx: &Context,
        id: KeyId,
        coefficients: Zeroizing<Vec<i8>>,
        ephemeral: bool,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let wide = Zeroizing::new(coefficients.iter().map(|&c| i64::from(c)).collect::<Vec<_>>());
        let x = ring.lift(&wide, ring.lasting(ring.q_count(), ring.p_count())?.secret());
        Ok(Self { id, coefficients, eval: ring.to_eval(x), ephemeral })
    }

    /// Refuses to show the sparse secret under more than `q0 p'`, where alone it is secure.
    pub(crate) fn may_appear(&self, q_limbs: usize, p_limbs: usize) -> Result<(), Error> {
        if self.ephemeral && (q_limbs > 1 || p_limbs > 1) {
            return Err(Error::SparseSecret { q_limbs, p_limbs });
        }
        Ok(())
    }

    /// The name of this key.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.coefficients.len() + self.eval.byte_count()
    }
    pub(crate) fn eval(&self) -> &Poly<Eval> {
        &self.eval
    }
    /// Number of non-zero coefficients, for tests of the distribution.
    pub fn weight(&self) -> usize {
        self.coefficients.iter().filter(|&&c| c != 0).count()
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey {{ id: {} }}", self.id)
    }
}
