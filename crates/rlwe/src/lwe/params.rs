//! Parameters of LWE and GLWE under one secret: unchecked numbers, and what has passed the security gate.

use super::method::Method;
use super::noise::Noise;
use crate::error::Error;
use crate::fault::LweFault;
use crate::security::{self, Secret, Security, SecurityReport};
use aglet_ring::blind::Gadget;
use aglet_ring::primes::is_prime;
use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_ring::small::SmallTable;
use std::sync::Arc;

/// What parameters are made of: plain data, nothing checked. [`LweParams::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct LweSpec {
    /// The blind rotation.
    pub method: Method,
    /// The prime Q below 2^48 that everything lives modulo: 1 modulo 2N, and modulo 128 for key switches.
    pub modulus: u64,
    /// log2 of the degree N of GLWE, 6 to 12.
    pub log_n: u32,
    /// Polynomials k of the GLWE secret, 1 to 3.
    pub rank: usize,
    /// Coordinates n of the LWE secret, the first of the kN: more than 192, whole blocks, fewer than kN.
    pub dimension: usize,
    /// Distribution of all kN coordinates: [`Secret::Binary`] or [`Secret::BlockBinary`] for blocks, [`Secret::Ternary`] for other methods.
    pub secret: Secret,
    /// Digits of the external product.
    pub gadget: Gadget,
    /// Signed bits of a coefficient in a key switch, 1 to 40.
    pub switch_digits: u32,
    /// log2 of the deviation of LWE errors over Q.
    pub lwe_error: f64,
    /// log2 of the deviation of GLWE errors over Q.
    pub glwe_error: f64,
}

/// How an error is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ErrorKind {
    /// Uniform in `[-w, w]`.
    Uniform(u64),
    /// The discrete Gaussian of sigma 3.2.
    Gaussian,
}

impl ErrorKind {
    /// The one of this deviation: the Gaussian at 3.2, else `w = round(sigma sqrt 3)`.
    fn of(sigma: f64) -> Self {
        if (sigma - GAUSSIAN_SIGMA).abs() < 0.05 {
            Self::Gaussian
        } else {
            Self::Uniform((sigma * 3f64.sqrt()).round() as u64)
        }
    }
    /// Its deviation.
    pub(crate) fn sigma(self) -> f64 {
        match self {
            Self::Gaussian => GAUSSIAN_SIGMA,
            Self::Uniform(w) => (w as f64 * (w as f64 + 1.0) / 3.0).sqrt(),
        }
    }
}

/// Checked, immutable parameters. Cloning shares them.
#[derive(Clone, Debug)]
pub struct LweParams(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: LweSpec,
    gate: Security,
    lwe: SecurityReport,
    glwe: SecurityReport,
}

impl LweSpec {
    /// Coordinates that a rotation takes together: the length of blocks, 1 for other secrets.
    fn block(&self) -> usize {
        match self.secret {
            Secret::BlockBinary(length) => length,
            _ => 1,
        }
    }

    /// Polynomials of a sample: one of NTRU, of GLWE as many as of the secret and a body.
    #[must_use]
    pub fn columns(&self) -> usize {
        if self.method == Method::Ntru {
            1
        } else {
            self.rank + 1
        }
    }

    fn check(&self) -> Result<(), Error> {
        let Self { modulus, log_n, rank, dimension, gadget, .. } = *self;
        if !(6..=12).contains(&log_n) || !(1..=3).contains(&rank) {
            return Err(LweFault::Shape { log_n, rank }.into());
        }
        let step = (2u64 << log_n).max(128);
        if modulus >= SmallTable::MODULUS_LIMIT || modulus % step != 1 || !is_prime(modulus) {
            return Err(LweFault::NotPrime { modulus, step }.into());
        }
        self.method.check(self.secret, self.rank).map_err(LweFault::from)?;
        let (coordinates, block) = (rank << log_n, self.block());
        self.secret.check(coordinates)?;
        if dimension <= 192 || dimension >= coordinates || dimension % block != 0 {
            return Err(LweFault::Dimension { found: dimension, block, most: coordinates - 1 }.into());
        }
        let keys = if self.method == Method::Ginx { 2 } else { block };
        let products = keys * self.columns() * gadget.levels;
        if gadget.levels == 0 || gadget.log_base == 0 || products > 16 {
            return Err(LweFault::Products { found: products }.into());
        }
        // The digits of the nearest number must be a number of at most 50 bits.
        let (bits, switch) = (gadget.log_base as usize * gadget.levels, self.switch_digits);
        if bits > 40 || !(1..=40).contains(&switch) {
            return Err(LweFault::Digits { gadget: bits, switch }.into());
        }
        let (lwe, glwe) = (self.lwe_error, self.glwe_error);
        if ![lwe, glwe].iter().all(|e| (-48.0..=-2.0).contains(e)) {
            return Err(LweFault::Deviations { lwe, glwe }.into());
        }
        Ok(())
    }
}

/// log2 of the modulus from which on NTRU of a degree is easier than its LWE: `0.004 N^2.484` (Ducas and van Woerden, eprint 2021/999).
fn fatigue_point(degree: usize) -> f64 {
    (0.004 * (degree as f64).powf(2.484)).log2()
}

impl LweParams {
    /// Checks what is given and passes the security gate twice: LWE in dimension n, GLWE in dimension kN.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if the data contradicts itself, [`Error::InsecureParameters`], [`Error::UnknownSecurity`] or
    /// [`Error::Ntru`] if 128 bits are asked for and not reached.
    pub fn new(spec: LweSpec, gate: Security) -> Result<Self, Error> {
        spec.check()?;
        let log_q = (spec.modulus as f64).log2();
        if spec.method == Method::Ntru && gate == Security::Bits128 {
            return Err(Error::Ntru { degree: 1 << spec.log_n, log_q, point: fatigue_point(1 << spec.log_n) });
        }
        let report = |dimension, error: f64| {
            let sigma = ErrorKind::of(spec.modulus as f64 * error.exp2()).sigma();
            match gate {
                Security::Bits128 => security::check(dimension, log_q, sigma, spec.secret),
                Security::NotChecked => Ok(SecurityReport::new(dimension, log_q, sigma, spec.secret)),
            }
        };
        let lwe = report(spec.dimension, spec.lwe_error)?;
        let glwe = report(spec.rank << spec.log_n, spec.glwe_error)?;
        Ok(Self(Arc::new(Inner { spec, gate, lwe, glwe })))
    }

    /// The numbers.
    #[must_use]
    pub fn spec(&self) -> &LweSpec {
        &self.0.spec
    }
    /// What was asked of the security gate.
    #[must_use]
    pub fn gate(&self) -> Security {
        self.0.gate
    }
    /// Security of the LWE secret.
    #[must_use]
    pub fn lwe_security(&self) -> &SecurityReport {
        &self.0.lwe
    }
    /// Security of the whole secret.
    #[must_use]
    pub fn glwe_security(&self) -> &SecurityReport {
        &self.0.glwe
    }
    /// Degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.0.spec.log_n
    }
    /// Coordinates of the whole secret, D = kN.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.0.spec.rank << self.0.spec.log_n
    }
    /// Coordinates that a rotation takes together: those of a block.
    #[must_use]
    pub fn block(&self) -> usize {
        self.0.spec.block()
    }
    /// log2 of the degree of the ring of public keys, which holds all coordinates; none where no transform is so large.
    #[must_use]
    pub fn public_log_n(&self) -> Option<u32> {
        Some(self.coordinates().next_power_of_two().ilog2()).filter(|log_n| (6..=12).contains(log_n))
    }
    /// Coordinates of the short vector that an encryption by a public key draws: all of the ring that are whole blocks.
    #[must_use]
    pub fn public_coordinates(&self) -> usize {
        let degree = self.coordinates().next_power_of_two();
        degree - degree % self.block()
    }
    /// Lowest bits of a coefficient of a public key that are no part of its RLWE sample: what is left are 40.
    #[must_use]
    pub fn public_dropped(&self) -> u32 {
        (64 - self.spec().modulus.leading_zeros()).saturating_sub(40)
    }
    /// Security of what a public key encrypts: the short vector that each encryption draws, as LWE. The key itself is as secure as
    /// [`LweParams::glwe_security`] says, its secret being the same.
    #[must_use]
    pub fn public_security(&self) -> SecurityReport {
        let log_q = (self.spec().modulus as f64).log2();
        SecurityReport::new(self.public_coordinates(), log_q, self.glwe_error().sigma(), self.spec().secret)
    }
    /// The mean of a coordinate of the secret.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.spec().secret == Secret::Ternary {
            0.0
        } else {
            self.second_moment()
        }
    }
    /// The mean of the square of a coordinate, which is how often it is not 0.
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        self.spec().secret.squared_norm(1)
    }
    pub(crate) fn lwe_error(&self) -> ErrorKind {
        ErrorKind::of(self.spec().modulus as f64 * self.spec().lwe_error.exp2())
    }
    pub(crate) fn glwe_error(&self) -> ErrorKind {
        ErrorKind::of(self.spec().modulus as f64 * self.spec().glwe_error.exp2())
    }
    /// The formulas of noise, for a secret whose first n coordinates are three deviations heavier than most.
    #[must_use]
    pub fn noise(&self) -> Noise {
        Noise::of(self, None)
    }
}
