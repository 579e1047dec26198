//! Ciphertexts and plaintexts.

use crate::context::Context;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::{Eval, Poly};

/// An RLWE ciphertext: `sum_i polys[i] s^i = scale * message + noise` modulo the first `level + 1` primes.
///
/// Degree 1 (two polynomials), or 2 before relinearisation. `level` is the chain level: limbs minus one.
pub struct Ciphertext {
    /// The polynomials, equally many limbs of the chain each, no special limbs.
    pub polys: Vec<Poly<Eval>>,
    /// Coefficients are this times the value.
    pub scale: f64,
    /// Number of message slots.
    pub slots: usize,
    /// The secret key that decrypts it.
    pub key: KeyId,
    /// An upper bound on the absolute value of the message where one is known: fresh encryptions only.
    pub bound: Option<f64>,
    /// Whether every slot is known to be a real number.
    pub real: bool,
}

impl Ciphertext {
    /// Chain level: limbs minus one.
    pub fn level(&self) -> usize {
        self.polys[0].q_limbs() - 1
    }
    /// Limbs of the chain.
    pub fn limbs(&self) -> usize {
        self.polys[0].q_limbs()
    }
    /// 1, or 2 before relinearisation.
    pub fn degree(&self) -> usize {
        self.polys.len() - 1
    }
    /// Bytes of all limbs.
    pub fn byte_count(&self) -> usize {
        self.polys.iter().map(Poly::byte_count).sum()
    }
    /// A ciphertext with other polynomials and scale, and the rest as here; nothing is known of its message any more.
    pub fn with(&self, polys: Vec<Poly<Eval>>, scale: f64) -> Self {
        Self { polys, scale, slots: self.slots, key: self.key, bound: None, real: false }
    }
    /// The same, known to be real if `real`.
    #[must_use]
    pub fn real_if(mut self, real: bool) -> Self {
        self.real = real;
        self
    }
    /// A copy of the first `limbs` limbs.
    pub fn truncated(&self, ctx: &Context, limbs: usize) -> Result<Self, Error> {
        let polys = self.polys.iter().map(|p| ctx.ring().copy(p, limbs)).collect::<Result<_, _>>()?;
        Ok(Self { bound: self.bound, real: self.real, ..self.with(polys, self.scale) })
    }
}

impl std::fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Ciphertext {{ degree: {}, chain level: {}, scale: 2^{:.3}, key: {} }}",
            self.degree(),
            self.level(),
            self.scale.log2(),
            self.key
        )
    }
}

/// An encoded message: `scale * message` modulo the first `level + 1` primes.
pub struct Plaintext {
    /// The polynomial.
    pub poly: Poly<Eval>,
    /// Coefficients are this times the value.
    pub scale: f64,
    /// Number of message slots.
    pub slots: usize,
    /// An upper bound on the absolute value of the message where one is known.
    pub bound: Option<f64>,
    /// Whether every slot is known to be a real number.
    pub real: bool,
}

impl Plaintext {
    /// Chain level: limbs minus one.
    pub fn level(&self) -> usize {
        self.poly.q_limbs() - 1
    }
}
