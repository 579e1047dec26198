//! What a call of `LookupEngine` would take, and the noise of its set.

use super::numbers::small;
use super::LookupEngine;
use crate::errors::count;
use crate::reports::reported;
use aglet::fhew::{report, Gate, Integer, PairTable, Table, Word, Work};
use aglet::Error;
use pyo3::prelude::*;

/// Rotations, seconds, bytes of the lookup key and beside it, log2 of the failure.
type Estimate = (usize, f64, u64, u64, f64);

#[pymethods]
impl LookupEngine {
    /// By the name of what is called; tables, bits and the low bits of a floor as it takes them. On fresh ciphertexts, if no other
    /// `variance` is given.
    #[pyo3(signature = (what, batch, domain, tables, bits, low, variance = None))]
    #[allow(clippy::too_many_arguments)]
    fn estimate(
        &self,
        py: Python<'_>,
        what: &str,
        batch: i64,
        domain: &str,
        tables: Vec<Vec<u64>>,
        bits: i64,
        low: i64,
        variance: Option<f64>,
    ) -> PyResult<Estimate> {
        let (batch, message) = (count(py, "batch", batch)?, self.message(py, domain)?);
        let (bits, low) = (small(py, "bits", bits)?, small(py, "low", low)?);
        let gate = Gate::ALL.into_iter().find(|gate| gate.name() == what);
        self.quick(py, |e| {
            let (one, two): (Vec<Table>, Vec<PairTable>);
            let work = match (gate, what) {
                (Some(gate), _) => Work::Gate(gate),
                (_, "mux") => Work::Mux,
                (_, "lookup") => {
                    let made = tables.iter().map(|v| Ok(Table::new(message, message, v)?));
                    one = made.collect::<Result<_, Error>>()?;
                    Work::Lookup(&one)
                }
                (_, "lookup2") => {
                    let made = tables.iter().map(|v| Ok(PairTable::new(message, message, v)?));
                    two = made.collect::<Result<_, Error>>()?;
                    Work::LookupPairs(&two)
                }
                (_, "sign" | "<" | "<=" | ">" | ">=") => Work::Sign(Integer::new(bits)?),
                (_, "==") => Work::Equal(Integer::new(bits)?),
                (_, "floor") => Work::Floor(Word::new(bits)?, low),
                (_, "digits") => Work::Digits(Word::new(bits)?),
                _ => return Err(Error::Parameter(format!("There is no estimate of \"{what}\"; name a call."))),
            };
            let found = match variance {
                Some(variance) => e.estimate_on(work, batch, variance)?,
                None => e.estimate(work, batch)?,
            };
            Ok((found.rotations, found.seconds, found.key_bytes, found.working_bytes, found.log2_failure))
        })
    }

    /// The variance, in turns squared, of results of tables of two padded messages that are read together.
    fn pair_variance(&self, py: Python<'_>, tables: Vec<Vec<u64>>) -> PyResult<f64> {
        let message = self.message(py, "padded")?;
        self.quick(py, |e| {
            let made = tables.iter().map(|v| Ok(PairTable::new(message, message, v)?));
            Ok(e.pair_variance(&made.collect::<Result<Vec<_>, Error>>()?))
        })
    }

    /// Deviations of noise and distances of messages, in turns.
    fn noise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reported(py, || Ok(report::noise(self.engine.params())))
    }
}
