//! What secrets are drawn from.

use aglet_ring::sample::GAUSSIAN_SIGMA;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Distribution of a secret key. `n` is its number of coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// Every coefficient uniform in {-1, 0, 1}: the default, and the choice for a main secret at full modulus.
    #[default]
    Ternary,
    /// Exactly this many coefficients are 1 or -1, the others 0; 1 to `n`.
    FixedWeight(usize),
    /// One coefficient that is 1 or -1 in each of this many blocks of about `n / blocks` coefficients; 1 to `n` blocks.
    BlockSparse(usize),
    /// Every coefficient uniform in {0, 1}.
    Binary,
    /// Blocks of this many coefficients (2 to `n`), each zero or with one coefficient that is 1, all equally likely (eprint
    /// 2023/958).
    BlockBinary(usize),
    /// Every coefficient from the discrete Gaussian of the errors, sigma 3.2.
    Gaussian,
}

impl Secret {
    /// The mean of the sum of its `n` squared coefficients, which noise grows with.
    #[must_use]
    pub fn squared_norm(self, n: usize) -> f64 {
        let of = |share: f64| share * n as f64;
        match self {
            Secret::Ternary => of(2.0) / 3.0,
            Secret::FixedWeight(h) | Secret::BlockSparse(h) => h as f64,
            Secret::Binary => of(0.5),
            Secret::BlockBinary(length) => of(1.0 / (length as f64 + 1.0)),
            Secret::Gaussian => of(GAUSSIAN_SIGMA * GAUSSIAN_SIGMA),
        }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Ternary => write!(f, "a uniform ternary secret"),
            Secret::FixedWeight(h) => write!(f, "a secret of weight {h}"),
            Secret::BlockSparse(blocks) => write!(f, "a secret with one non-zero in each of {blocks} blocks"),
            Secret::Binary => write!(f, "a uniform binary secret"),
            Secret::BlockBinary(length) => write!(f, "a binary secret with at most one 1 in each block of {length}"),
            Secret::Gaussian => write!(f, "a secret from the distribution of the errors"),
        }
    }
}
