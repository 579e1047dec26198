//! Tables of the small negacyclic transforms, degree 2^6 to 2^12, modulo one prime below 2^48: for blind rotation and LWE.
//!
//! Values stand in an order that belongs to the kernels (see `arch/generic/small.rs`): they are for products, and for the same
//! kernels. What leaves a machine is coefficients.

use crate::arch::Kernels;
use crate::constants::small::SmallConstants;
use crate::modulus::Modulus;
use crate::ntt::primitive_root;
pub use crate::words::Words;
use crate::Error;

/// The transform of one degree modulo one prime, with the kernels that its constants are shaped for.
pub struct SmallTable {
    constants: SmallConstants,
    kernels: &'static Kernels,
    psi: u64,
}

impl SmallTable {
    /// Largest modulus, exclusive.
    pub const MODULUS_LIMIT: u64 = 1 << 48;

    /// Tables of degree `2^log_n`.
    ///
    /// # Errors
    /// [`Error::BadSmallDegree`] unless `log_n` is 6 to 12, [`Error::BadModulus`] for a modulus of more than 48 bits,
    /// [`Error::NoRootOfUnity`] unless it is 1 modulo 2N.
    pub fn new(modulus: Modulus, log_n: u32, kernels: &'static Kernels) -> Result<Self, Error> {
        if !(6..=12).contains(&log_n) {
            return Err(Error::BadSmallDegree { log_n });
        }
        let q = modulus.value();
        if q >= Self::MODULUS_LIMIT {
            return Err(Error::BadModulus { q });
        }
        let n = 1usize << log_n;
        let psi = primitive_root(&modulus, n).ok_or(Error::NoRootOfUnity { q, n })?;
        Ok(Self { constants: SmallConstants::new(modulus, log_n, psi, kernels.shaper()), kernels, psi })
    }

    /// Canonical coefficients to canonical values, in place.
    ///
    /// # Panics
    /// If there are not N words.
    pub fn forward(&self, data: &mut [u64]) {
        self.kernels.small_forward(&self.constants, data);
    }

    /// Adds the coefficients of canonical `values`, which are overwritten, to `sum`.
    ///
    /// # Panics
    /// If there are not N words of each.
    pub fn inverse_add(&self, values: &mut [u64], sum: &mut [u64]) {
        self.kernels.small_inverse_add(&self.constants, values, sum);
    }

    /// The degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        self.constants.n()
    }
    /// log2 of the degree.
    #[must_use]
    pub fn log_n(&self) -> u32 {
        self.constants.log_n()
    }
    /// The modulus.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        self.constants.modulus()
    }
    /// The 2N-th root of unity that values are taken at odd powers of.
    #[must_use]
    pub fn psi(&self) -> u64 {
        self.psi
    }
    /// The kernels that shaped it.
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    /// What its kernels read.
    pub(crate) fn constants(&self) -> &SmallConstants {
        &self.constants
    }
}

#[cfg(test)]
#[path = "tests/small.rs"]
mod tests;
