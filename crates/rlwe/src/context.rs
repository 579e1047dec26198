//! Parameters with their ring: what every key, ciphertext and operation shares.

use crate::error::Error;
use crate::params::Params;
use aglet_ring::arch::Kernels;
use aglet_ring::pool::Fit;
use aglet_ring::{Backend, Host, Ring};
use std::sync::Arc;

/// Checked parameters and the ring with all tables made. Shared by `Arc`, never changed.
pub struct Context {
    params: Params,
    ring: Ring,
    /// On all primes: those of the chain, then the spare ones; a context and its subsets share it.
    all: Arc<Ring>,
}

impl Context {
    /// Makes the tables, with the kernels that `AGLET_BACKEND` or the CPU chooses.
    pub fn new(params: Params) -> Result<Arc<Self>, Error> {
        let kernels = aglet_ring::arch::chosen()?;
        Self::with_kernels(params, kernels)
    }

    /// Makes the tables for given kernels.
    pub fn with_kernels(params: Params, kernels: &'static Kernels) -> Result<Arc<Self>, Error> {
        Self::with_backend(params, (kernels, Arc::new(Host)))
    }

    /// Makes the tables for given kernels and what computes the macro-operations.
    ///
    /// # Errors
    /// Those of the ring.
    pub fn with_backend(params: Params, machine: (&'static Kernels, Arc<dyn Backend>)) -> Result<Arc<Self>, Error> {
        let primes: Vec<u64> = params.q().iter().chain(params.spare()).copied().collect();
        let all = Arc::new(Ring::with_backend(params.log_n(), &primes, params.p(), machine)?);
        Ok(Self::of_ring(params, all, Fit::Exact))
    }

    /// The context on some primes, in the order given ([`Params::subset`]). Tables are shared, so this costs
    /// little; polynomials, keys and ciphertexts of this context count their limbs in its order. What is made here lives shortly:
    /// it may be in buffers larger than it needs.
    pub fn subset(&self, primes: &[usize]) -> Result<Arc<Self>, Error> {
        Ok(Self::of_ring(self.params.subset(primes)?, self.all.clone(), Fit::Larger))
    }

    fn of_ring(params: Params, all: Arc<Ring>, fit: Fit) -> Arc<Self> {
        let ring = all.subset(params.prime_indices(), fit);
        Arc::new(Self { params, ring, all })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }
    /// The ring on all primes of the whole set: limb `i` of this context is its prime [`Params::prime_indices`]`[i]`.
    pub fn all(&self) -> &Ring {
        &self.all
    }
    /// Prime `level` of the chain, as a double: what a rescale at this chain level divides by.
    pub fn modulus(&self, level: usize) -> f64 {
        self.params.q().get(level).map_or(f64::NAN, |&q| q as f64)
    }
}
