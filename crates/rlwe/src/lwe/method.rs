//! The published methods of blind rotation, as far as parameters differ by them: secrets, exponents, noise.

use super::params::{LweParams, LweSpec};
use crate::fault::MethodFault;
use crate::security::Secret;
use serde::{Deserialize, Serialize};

/// How accumulators are rotated by a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Blocks of a block-binary secret (eprint 2023/958); with a binary one, a block is a coordinate (CGGI, eprint 2018/421).
    #[default]
    Blocks,
    /// Two keys for each coordinate of a ternary secret, of which at most one encrypts 1 (GINX, eprint 2020/086).
    Ginx,
    /// A key for each digit of each exponent, which replaces the accumulator (Ducas and Micciancio, eprint 2014/816): digits in this base, 2 to 32 and
    /// a power of two. Ternary secret.
    Dm(u32),
    /// Automorphisms bring the exponents, odd ones all of them, to the keys (eprint 2022/198): keys for `X -> X^(5^j)` with j up to
    /// this window, 1 to 64. Ternary secret.
    Lmkcdey(u32),
    /// Samples of NTRU, one polynomial each, and automorphisms between coordinates, whose exponents are odd (Xiang and others, CRYPTO
    /// 2023). Ternary secret of rank 1. **Below 128 bits at every size that it is fast at**, so only where nothing is checked.
    Ntru,
}

impl Method {
    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Blocks => "blocks",
            Method::Ginx => "ginx",
            Method::Dm(_) => "dm",
            Method::Lmkcdey(_) => "lmkcdey",
            Method::Ntru => "ntru",
        }
    }

    /// Whether it rotates by odd exponents only.
    #[must_use]
    pub fn rotates_by_odd(self) -> bool {
        matches!(self, Method::Lmkcdey(_) | Method::Ntru)
    }

    /// Refuses parameters that it does not go with.
    pub(super) fn check(self, secret: Secret, rank: usize) -> Result<(), MethodFault> {
        let fits = match self {
            Method::Blocks => matches!(secret, Secret::Binary | Secret::BlockBinary(_)),
            _ => secret == Secret::Ternary,
        };
        if !fits {
            return Err(MethodFault::Secret { method: self.name(), secret });
        }
        match self {
            Method::Dm(base) if !base.is_power_of_two() || !(2..=32).contains(&base) => Err(MethodFault::Base { base }),
            Method::Lmkcdey(window) if !(1..=64).contains(&window) => Err(MethodFault::Window { window }),
            Method::Ntru if rank != 1 => Err(MethodFault::NtruRank { rank }),
            _ => Ok(()),
        }
    }

    /// Digits of an exponent below 2N, for [`Method::Dm`].
    #[must_use]
    pub fn digits(base: u32, log_n: u32) -> usize {
        (log_n + 1).div_ceil(base.trailing_zeros()) as usize
    }

    /// What a rotation adds up, on average over random exponents.
    pub(super) fn counts(self, spec: &LweSpec) -> Counts {
        let (n, degree) = (spec.dimension as f64, f64::from(spec.log_n).exp2());
        match self {
            // A factor X^a - 1 doubles a variance, and every key has one.
            Method::Blocks => Counts { keys: 2.0 * n, rotated: 2.0, ..Counts::default() },
            Method::Ginx => Counts { keys: 4.0 * n, rotated: 2.0, ..Counts::default() },
            Method::Dm(base) => {
                let digits = Self::digits(base, spec.log_n) as f64;
                let products = n * digits * (1.0 - 1.0 / f64::from(base));
                Counts { keys: products, replaced: products, ..Counts::default() }
            }
            Method::Lmkcdey(window) => {
                // N odd exponents: the share that some coordinate has, then the steps of at most `window` between two of them.
                let present = 1.0 - (1.0 - 1.0 / degree).powf(n);
                let steps = degree * present / (1.0 - (1.0 - present).powf(f64::from(window)));
                // Two more change signs.
                Counts { keys: n, replaced: n, automorphisms: steps + 2.0, ..Counts::default() }
            }
            // A product for each coordinate and one before them, an automorphism after each: of one polynomial, as a key switch.
            Method::Ntru => Counts { automorphisms: 2.0 * (n + 1.0), ..Counts::default() },
        }
    }
}

impl LweParams {
    /// What a rotation does, on average: times that an accumulator is cut into digits, transformed and transformed back, and keys that
    /// its digits meet there.
    #[must_use]
    pub fn products(&self) -> (f64, f64) {
        let (spec, n) = (self.spec(), self.spec().dimension as f64);
        let counts = spec.method.counts(spec);
        match spec.method {
            Method::Blocks => (n / self.block() as f64, n),
            Method::Ginx => (n, 2.0 * n),
            Method::Dm(_) | Method::Lmkcdey(_) | Method::Ntru => {
                (counts.keys + counts.automorphisms, counts.keys + counts.automorphisms)
            }
        }
    }
}

/// Noise that a rotation adds up, in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Of the errors of a GGSW sample met by digits.
    pub keys: f64,
    /// Of what rounding to digits leaves, for each non-zero coordinate.
    pub rotated: f64,
    /// The same, whatever the secret is: the accumulator was replaced.
    pub replaced: f64,
    /// Key switches after an automorphism.
    pub automorphisms: f64,
}
