//! Secret keys.

use crate::context::Context;
use crate::error::Error;
use crate::security::Secret;
use aglet_ring::sample::{self, ChaChaSource, RandomSource};
use aglet_ring::{Eval, Poly};
use zeroize::{Zeroize, Zeroizing};

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
}

impl SecretKey {
    /// Draws a main secret as the parameters say (dense ternary, or of fixed weight).
    pub fn generate(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let mut s = Zeroizing::new(vec![0i8; ctx.ring().n()]);
        match ctx.params().secret() {
            Secret::Ternary => sample::ternary(source, &mut s),
            Secret::FixedWeight(h) => sample::fixed_weight(source, h, &mut s),
        }
        Self::from_coefficients(ctx, KeyId(source.next_u64()), s)
    }

    /// Draws the sparse ephemeral secret of a bootstrap. It may appear under `q0 p'` only; see
    /// [`KeySwitchSpec::to_sparse`](crate::keyswitch::KeySwitchSpec::to_sparse).
    pub fn generate_ephemeral(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let weight = ctx.params().ephemeral_weight().ok_or_else(|| {
            Error::bad_parameters("this set has no ephemeral secret; take one made for bootstrapping")
        })?;
        let mut s = Zeroizing::new(vec![0i8; ctx.ring().n()]);
        sample::fixed_weight(source, weight, &mut s);
        Self::from_coefficients(ctx, KeyId(source.next_u64()), s)
    }

    fn from_coefficients(ctx: &Context, id: KeyId, coefficients: Zeroizing<Vec<i8>>) -> Result<Self, Error> {
        let ring = ctx.ring();
        let wide = Zeroizing::new(coefficients.iter().map(|&c| i64::from(c)).collect::<Vec<_>>());
        let mut x = ring.lasting(ring.q_count(), ring.p_count())?;
        ring.for_limbs(&mut x, |prime, _, limb| {
            let m = ring.modulus(prime);
            limb.iter_mut().zip(wide.iter()).for_each(|(r, &c)| *r = m.reduce_i64(c));
        });
        Ok(Self { id, coefficients, eval: ring.to_eval(x) })
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

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.eval.words_mut().zeroize();
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey {{ id: {} }}", self.id)
    }
}
