//! The weights of sums of ciphertexts.

use aglet_schemes::ckks::{Known, Plaintext};
use num_complex::Complex64;
use std::sync::Arc;

/// The weight of one ciphertext in [`Engine::weighted_sum`](super::Engine::weighted_sum).
pub enum SumWeight<'a> {
    /// One real number for all slots.
    Real(f64),
    /// One number for all slots.
    Complex(Complex64),
    /// One real number for each slot.
    RealSlots(Vec<f64>),
    /// One number for each slot.
    ComplexSlots(Vec<Complex64>),
    /// One number for each slot, encoded already (at any level).
    Plaintext(&'a Plaintext),
    /// One number for each slot, encoded for sums at the level of this one.
    Encoded(&'a EncodedWeights),
}

/// One number for each slot, encoded for [`Engine::weighted_sum`](super::Engine::weighted_sum) at one level. It can be used again and again.
pub struct EncodedWeights {
    pub(super) encoded: Arc<Plaintext>,
    pub(super) level: usize,
    /// Of the ciphertexts that it is for.
    pub(super) scale: f64,
}

impl EncodedWeights {
    /// The user level of the sums that it is for.
    pub fn level(&self) -> usize {
        self.level
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.encoded.poly.byte_count()
    }
}

impl SumWeight<'_> {
    pub(in crate::ckks) fn is_number(&self) -> bool {
        matches!(self, Self::Real(_) | Self::Complex(_))
    }
    pub(super) fn is_real(&self) -> bool {
        match self {
            Self::Real(_) | Self::RealSlots(_) => true,
            Self::Complex(_) | Self::ComplexSlots(_) => false,
            Self::Plaintext(pt) => pt.real,
            Self::Encoded(weights) => weights.encoded.real,
        }
    }
    /// The known size and noise of the product with a message.
    pub(super) fn weighed(&self, known: &Known) -> Known {
        let slots = match self {
            Self::Real(c) => return known.times((*c).into()),
            Self::Complex(c) => return known.times(*c),
            Self::RealSlots(values) => Known::of(values.iter().map(|&v| v.into())),
            Self::ComplexSlots(values) => Known::of(values.iter().copied()),
            Self::Plaintext(pt) => pt.known,
            Self::Encoded(weights) => weights.encoded.known,
        };
        known.product(&slots)
    }
}
