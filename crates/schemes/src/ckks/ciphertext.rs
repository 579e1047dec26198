//! Ciphertexts and plaintexts of CKKS: samples and polynomials, with the meaning of their coefficients.

use super::{Known, Stated};
use aglet_ring::{Eval, Poly};
use aglet_rlwe::{Context, Error, Sample};
use std::ops::Deref;

/// A CKKS ciphertext: an RLWE sample whose phase is `scale * message + noise`.
pub struct Ciphertext {
    /// The sample.
    pub sample: Sample,
    /// Coefficients are this times the value.
    pub scale: f64,
    /// Number of message slots.
    pub slots: usize,
    /// What this process knows of the message.
    pub known: Known,
    /// The public bounds on its size and noise.
    pub stated: Stated,
    /// The points that a sign or bit bootstrap has brought all slots to.
    pub points: Option<Points>,
    /// Whether every slot is known to be a real number.
    pub real: bool,
}

/// The points of a sign or bit bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Points {
    /// -1 and 1.
    Signs = 1,
    /// 0 and 1.
    Bits = 2,
}

impl Deref for Ciphertext {
    type Target = Sample;
    fn deref(&self) -> &Sample {
        &self.sample
    }
}

impl Ciphertext {
    /// Chain level: limbs minus one.
    pub fn level(&self) -> usize {
        self.limbs() - 1
    }
    /// The same ciphertext with other polynomials and scale. Nothing is known of its message any more.
    pub fn with(&self, polys: Vec<Poly<Eval>>, scale: f64) -> Self {
        let sample = Sample { polys, key: self.key };
        let (known, stated) = (Known::default(), Stated::default());
        Self { sample, scale, slots: self.slots, known, stated, points: None, real: false }
    }
    /// A ciphertext of the same values with other polynomials and an additional error of this variance in every
    /// coefficient.
    pub fn again(&self, polys: Vec<Poly<Eval>>, variance: f64) -> Self {
        let stated = self.with_error(variance, self.scale);
        Self { known: self.known, stated, points: self.points, ..self.with(polys, self.scale).real_if(self.real) }
    }
    /// The same with what is stated of it.
    #[must_use]
    pub fn stating(mut self, stated: Stated) -> Self {
        self.stated = stated;
        self
    }
    /// The same, known to be real if `real`.
    #[must_use]
    pub fn real_if(mut self, real: bool) -> Self {
        self.real = real;
        self
    }
    /// A copy of the first `limbs` limbs.
    ///
    /// # Errors
    /// Out of memory.
    pub fn truncated(&self, ctx: &Context, limbs: usize) -> Result<Self, Error> {
        Ok(Self { sample: self.sample.truncated(ctx, limbs)?, ..*self })
    }
    /// The plaintext after decryption to a phase, which contains the noise.
    pub fn decrypted(&self, phase: Poly<Eval>) -> Plaintext {
        Plaintext {
            poly: phase,
            scale: self.scale,
            slots: self.slots,
            known: Known::default(),
            stated: self.stated,
            real: self.real,
        }
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
    /// What this process knows of the message.
    pub known: Known,
    /// The public bounds on its size and on the error of encoding.
    pub stated: Stated,
    /// Whether every slot is known to be a real number.
    pub real: bool,
}

impl Plaintext {
    /// Chain level: limbs minus one.
    pub fn level(&self) -> usize {
        self.poly.q_limbs() - 1
    }
    /// The ciphertext after encryption to a sample with an error of this variance in every coefficient.
    pub fn encrypted(&self, sample: Sample, variance: f64) -> Ciphertext {
        let stated = self.stated.disturbed(super::stated::in_slots(self.slots, variance, self.scale));
        Ciphertext {
            sample,
            scale: self.scale,
            slots: self.slots,
            known: self.known,
            stated,
            points: None,
            real: self.real,
        }
    }
}
