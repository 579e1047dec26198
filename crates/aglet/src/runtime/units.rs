//! What a unit of each kind of work takes on this machine: from it and the work of a plan follows its time.

use super::on_threads;
use crate::Error;
use aglet_ring::bench::{self, KernelTimes};
use aglet_ring::{arch, primes, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Microseconds that work on one limb takes on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// A forward transform.
    pub forward: f64,
    /// An inverse transform.
    pub inverse: f64,
    /// A product outside of keys and maps.
    pub pointwise: f64,
    /// A product with a key, which comes from memory.
    pub key: f64,
    /// A product with a diagonal.
    pub diagonal: f64,
    /// What a limb of encoded diagonals adds that comes from memory.
    pub matrix: f64,
    /// A product of a base conversion.
    pub conversion: f64,
}

impl Units {
    /// From a value for each of its fields.
    ///
    /// # Errors
    /// [`Error::Parameter`] if one is missing, unknown, negative or not finite.
    pub fn named(values: &BTreeMap<String, f64>) -> Result<Self, Error> {
        let names = "forward, inverse, pointwise, key, diagonal, matrix, conversion";
        let wrong =
            || Error::Parameter(format!("Units are microseconds from 0 for each of {names}; give all of them."));
        if values.values().any(|us| !us.is_finite() || *us < 0.0) {
            return Err(wrong());
        }
        serde_json::from_value(serde_json::json!(values)).map_err(|_| wrong())
    }

    /// Seconds of this work in a ring of degree `n`.
    pub fn seconds(&self, work: &Tally, n: usize) -> f64 {
        let kinds = [
            (work.forward, self.forward),
            (work.inverse, self.inverse),
            (work.pointwise, self.pointwise),
            (work.key, self.key),
            (work.diagonal, self.diagonal),
            (work.matrix_read, self.matrix),
            (work.conversion, self.conversion),
        ];
        kinds.iter().map(|(words, us)| *words as f64 * us).sum::<f64>() / n as f64 * 1e-6
    }
}

impl Units {
    /// Measures them on one thread, for a ring of degree `2^log_n` with primes of `bits` bits: some tenths of a second, 130 MB at
    /// N = 2^16. The kernels are those of the bootstrap on rows that lie in memory as its rows do.
    ///
    /// # Errors
    /// An unknown backend, sizes without enough primes, memory that cannot be had.
    pub fn measure(log_n: u32, bits: u32) -> Result<Self, Error> {
        let refused =
            || Error::Parameter(format!("There are no rings of degree 2^{log_n} with primes of {bits} bits."));
        if !(8..=17).contains(&log_n) || !(30..=61).contains(&bits) {
            return Err(refused());
        }
        let top = 1u64 << bits;
        let primes: Vec<u64> = primes::ntt_primes(top as f64, log_n, &[], top).take(bench::PRIMES).collect();
        if primes.len() < bench::PRIMES {
            return Err(refused());
        }
        let kernels = arch::chosen()?;
        let measured = on_threads(1, || Ok(bench::kernel_times(log_n, &primes, kernels)?))?;
        let KernelTimes { forward, inverse, pointwise, key, diagonal, matrix, conversion } = measured;
        Ok(Self { forward, inverse, pointwise, key, diagonal, matrix, conversion })
    }
}
