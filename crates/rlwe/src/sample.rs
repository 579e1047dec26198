//! RLWE samples: what every ciphertext of a scheme over the ring is made of.

use crate::context::Context;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::{Eval, Poly};

/// An RLWE sample of a phase, which a scheme gives a meaning: `sum_i polys[i] s^i = phase` modulo the first primes of the chain,
/// where the phase holds the noise.
///
/// Degree 1 (two polynomials), or 2 before relinearization.
pub struct Sample {
    /// The polynomials, equally many limbs of the chain each, no special limbs.
    pub polys: Vec<Poly<Eval>>,
    /// The secret key that decrypts it.
    pub key: KeyId,
}

impl Sample {
    /// Has samples on this machine. Those that one card alone has come together, with one wait for up to 16 MB.
    ///
    /// # Errors
    /// Memory that cannot be had, [`Error::Ring`] if the card fails: then none is here that was not before.
    pub fn fetch_all<'a>(of: impl IntoIterator<Item = &'a Self>) -> Result<(), Error> {
        Ok(Poly::fetch_all(of.into_iter().flat_map(|x| &x.polys))?)
    }
    /// Limbs of the chain.
    pub fn limbs(&self) -> usize {
        self.polys[0].q_limbs()
    }
    /// 1, or 2 before relinearization.
    pub fn degree(&self) -> usize {
        self.polys.len() - 1
    }
    /// Bytes of all limbs.
    pub fn byte_count(&self) -> usize {
        self.polys.iter().map(Poly::byte_count).sum()
    }
    /// A copy of the first `limbs` limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn truncated(&self, ctx: &Context, limbs: usize) -> Result<Self, Error> {
        let polys = self.polys.iter().map(|p| ctx.ring().copy(p, limbs)).collect::<Result<_, _>>()?;
        Ok(Self { polys, key: self.key })
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sample {{ degree: {}, limbs: {}, key: {} }}", self.degree(), self.limbs(), self.key)
    }
}
