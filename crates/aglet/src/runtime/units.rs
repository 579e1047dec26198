//! Unit costs: the time of a unit of each kind of work on this machine. With the work of a plan they give its time.

use super::on_threads;
use crate::{Error, ParameterError};
use aglet_ring::bench::{self, KernelTimes};
use aglet_ring::{arch, primes, Tally};
use std::collections::BTreeMap;

/// Microseconds that work on one limb takes on one thread.
#[derive(Debug, Clone, Copy)]
pub struct Units(pub KernelTimes);

impl Units {
    /// Makes unit costs from a value for each kind of work, by name.
    ///
    /// # Errors
    /// [`Error::Parameter`] if one is missing, unknown, negative or not finite.
    pub fn named(values: &BTreeMap<String, f64>) -> Result<Self, Error> {
        let known = values.keys().all(|name| KernelTimes::NAMES.contains(&name.as_str()));
        let value = |name: &str| values.get(name).copied().filter(|us| us.is_finite() && *us >= 0.0);
        let times = KernelTimes::try_from_fn(|name| if known { value(name) } else { None });
        Ok(times.map(Self).ok_or_else(|| ParameterError::Units { names: KernelTimes::NAMES.join(", ") })?)
    }

    /// The value of each kind of work.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter()
    }

    /// Seconds of this work in a ring of degree `n`.
    pub fn seconds(&self, work: &Tally, n: usize) -> f64 {
        let kinds = [
            (work.forward, self.0.forward),
            (work.inverse, self.0.inverse),
            (work.pointwise, self.0.pointwise),
            (work.key, self.0.key),
            (work.diagonal, self.0.diagonal),
            (work.matrix_read, self.0.matrix),
            (work.conversion, self.0.conversion),
        ];
        kinds.iter().map(|(words, us)| *words as f64 * us).sum::<f64>() / n as f64 * 1e-6
    }
}

impl Units {
    /// Measures them on one thread, for a ring of degree `2^log_n` with primes of `bits` bits: some tenths of a second, 130 MB at
    /// N = 2^16. The kernels are those of the bootstrap on rows that lie in memory as its rows do.
    ///
    /// # Errors
    /// An unknown backend, sizes without enough primes, out of memory.
    pub fn measure(log_n: u32, bits: u32) -> Result<Self, Error> {
        let refused = || ParameterError::NoRing { log_n, bits }.into();
        if !(8..=17).contains(&log_n) || !(30..=61).contains(&bits) {
            return Err(refused());
        }
        let top = 1u64 << bits;
        let primes: Vec<u64> = primes::ntt_primes(top as f64, log_n, &[], top).take(bench::PRIMES).collect();
        if primes.len() < bench::PRIMES {
            return Err(refused());
        }
        let kernels = arch::chosen()?;
        Ok(Self(on_threads(1, || Ok(bench::kernel_times(log_n, &primes, kernels)?))?))
    }
}
