//! How kernels want primes, numbers and multipliers: the host side of `kernels/arithmetic.cu`.

use aglet_ring::Modulus;

/// The two arithmetics of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Balanced doubles with exact products by FMA, for primes below 2^50.
    F50,
    /// Words with Shoup's products, for all primes below 2^61.
    S64,
}

impl Arithmetic {
    /// Both.
    pub const ALL: [Self; 2] = [Self::F50, Self::S64];

    /// What kernels of this arithmetic end their names with.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F50 => "F50",
            Self::S64 => "S64",
        }
    }
    /// This arithmetic where it serves a prime, else that for all primes.
    pub(crate) fn for_modulus(self, m: &Modulus) -> Self {
        match self {
            Self::F50 if m.bits() <= 50 => Self::F50,
            _ => Self::S64,
        }
    }
    /// Words of a multiplier modulo a prime where this arithmetic is wanted.
    #[must_use]
    pub fn multiplier_words(self, m: &Modulus) -> usize {
        match self.for_modulus(m) {
            Self::F50 => 1,
            Self::S64 => 2,
        }
    }
    /// `Q` of the kernels.
    pub(crate) fn prime(self, m: &Modulus) -> Vec<u64> {
        let q = m.value();
        match self {
            Self::F50 => vec![(q as f64).to_bits(), (1.0 / q as f64).to_bits()],
            Self::S64 => {
                // 2^128 is no multiple of an odd prime: the quotient is that of 2^128 - 1.
                let ratio = u128::MAX / u128::from(q);
                vec![q, (ratio >> 64) as u64, ratio as u64]
            }
        }
    }
    /// `T` of the kernels for a canonical residue: what products and sums take.
    pub(crate) fn number(self, m: &Modulus, x: u64) -> u64 {
        match self {
            Self::F50 => (m.centre(x) as f64).to_bits(),
            Self::S64 => x,
        }
    }
    /// `W` of the kernels for a canonical residue.
    pub(crate) fn multiplier(self, m: &Modulus, w: u64) -> Vec<u64> {
        match self {
            Self::F50 => vec![self.number(m, w)],
            Self::S64 => vec![w, ((u128::from(w) << 64) / u128::from(m.value())) as u64],
        }
    }
}
