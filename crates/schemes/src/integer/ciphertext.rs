//! Ciphertexts of integers: samples with the correction factor of their message and a bound on their noise.

use super::Noise;
use aglet_ring::{Eval, Poly};
use aglet_rlwe::Sample;
use std::ops::Deref;

/// An RLWE sample whose phase is `t^-1 [f m]_t + e`.
pub struct Ciphertext {
    /// The sample.
    pub sample: Sample,
    /// The correction factor f of the message, a unit modulo t.
    pub correction_factor: u64,
    /// A bound on e.
    pub noise: Noise,
}

impl Deref for Ciphertext {
    type Target = Sample;
    fn deref(&self) -> &Sample {
        &self.sample
    }
}

impl Ciphertext {
    /// Chain level: limbs minus one.
    #[must_use]
    pub fn level(&self) -> usize {
        self.limbs() - 1
    }
    /// With other polynomials, factor and noise, under the same key.
    #[must_use]
    pub fn with(&self, polys: Vec<Poly<Eval>>, correction_factor: u64, noise: Noise) -> Self {
        Self { sample: Sample { polys, key: self.key }, correction_factor, noise }
    }
}

impl std::fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Ciphertext {{ degree: {}, level: {}, noise: 2^{:.1}, key: {} }}",
            self.degree(),
            self.level(),
            self.noise.log2(),
            self.key
        )
    }
}
