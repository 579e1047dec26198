//! Secret keys.

use crate::context::Context;
use crate::error::Error;
use crate::security::Secret;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::{Eval, Poly};
use zeroize::Zeroizing;

/// Names a secret key without telling anything of it: drawn at random beside the key, carried by all that depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub u64);

impl KeyId {
    /// Everybody sees it, so it is no part of the stream that the key is drawn from.
    fn draw(source: &mut ChaChaSource) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = source.public_seed();
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }
}

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
        Self::from_coefficients(ctx, KeyId::draw(source), s, false)
    }

    /// Draws the sparse ephemeral secret of a bootstrap. It may appear under `q0 p'` only, the shape of
    /// [`KeySwitchSpec::to_sparse`](crate::keyswitch::KeySwitchSpec::to_sparse); keys and encryptions under it refuse more.
    pub fn generate_ephemeral(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let weight = ctx.params().ephemeral_weight().ok_or_else(|| {
            Error::bad_parameters("this set has no ephemeral secret; take one made for bootstrapping")
        })?;
        let mut s = Zeroizing::new(vec![0i8; ctx.ring().n()]);
        sample::fixed_weight(source, weight, &mut s);
        Self::from_coefficients(ctx, KeyId::draw(source), s, true)
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

    /// The same key for another context of the family that it was made for.
    pub fn restricted(&self, subset: &Context) -> Result<Self, Error> {
        Self::from_coefficients(subset, self.id, self.coefficients.clone(), self.ephemeral)
    }

    /// Refuses to show the sparse secret under more than `q0 p'`, where alone it is secure.
    pub(crate) fn may_appear(&self, q_limbs: usize, p_limbs: usize) -> Result<(), Error> {
        if self.ephemeral && (q_limbs > 1 || p_limbs > 1) {
            return Err(Error::SparseSecret { q_limbs, p_limbs });
        }
        Ok(())
    }

    /// The coefficients, two bits each (0, 1, and 3 for -1), four to a byte from the low bits up. Constant time.
    ///
    /// # Errors
    /// [`Error::Stored`] for the sparse secret of a bootstrap, which is forgotten and not kept.
    pub fn packed(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        if self.ephemeral {
            return Err(Error::Stored { what: "sparse secret of a bootstrap is never written" });
        }
        let byte = |c: &[i8]| c.iter().rev().fold(0, |byte, &c| byte << 2 | (c as u8 & 3));
        Ok(Zeroizing::new(self.coefficients.chunks(4).map(byte).collect()))
    }

    /// The key of which these are the packed coefficients.
    ///
    /// # Errors
    /// [`Error::Stored`] if there are too few or too many, or they are none that the parameters draw.
    pub fn from_packed(ctx: &Context, id: KeyId, bytes: &[u8]) -> Result<Self, Error> {
        let n = ctx.ring().n();
        if bytes.len() != n / 4 {
            return Err(Error::Stored { what: "secret key has another length than its parameters give it" });
        }
        let mut s = Zeroizing::new(vec![0i8; n]);
        for (four, byte) in s.chunks_mut(4).zip(bytes) {
            four.iter_mut().enumerate().for_each(|(i, c)| *c = (byte >> (2 * i) << 6) as i8 >> 6);
        }
        let weight = s.iter().filter(|&&c| c != 0).count();
        let drawn = match ctx.params().secret() {
            Secret::Ternary => true,
            Secret::FixedWeight(h) => weight == h,
        };
        if s.contains(&-2) || !drawn {
            return Err(Error::Stored { what: "secret key has coefficients that these parameters never draw" });
        }
        Self::from_coefficients(ctx, id, s, false)
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
