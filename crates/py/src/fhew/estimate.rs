//! Estimates of calls of `FhewEngine`, and the noise of its set.

use super::numbers::small;
use super::tables::Values;
use super::FhewEngine;
use crate::errors::count;
use crate::reports::reported;
use aglet::fhew::{report, Gate, Integer, Table, TreeTable, Unsigned, Work};
use aglet::Error;
use pyo3::prelude::*;

/// Rotations, seconds, bytes of the bootstrap key, other working bytes, bytes on a card, and log2 of the failure probability.
type Estimate = (usize, f64, u64, u64, u64, f64);

#[pymethods]
impl FhewEngine {
    /// Estimates the call of this name; tables, bits and low bits are those of the call. Inputs are fresh unless a
    /// noise `variance` is given. Tables of one message take multiples of `step`.
    #[pyo3(signature = (what, batch, domain, tables, bits, low, variance = None, step = 1))]
    #[allow(clippy::too_many_arguments)]
    fn estimate(
        &self,
        py: Python<'_>,
        what: &str,
        batch: i64,
        domain: &str,
        tables: Vec<Values>,
        bits: i64,
        low: i64,
        variance: Option<f64>,
        step: u64,
    ) -> PyResult<Estimate> {
        let (batch, message) = (count(py, "batch", batch)?, self.message(py, domain)?);
        let (bits, low) = (small(py, "bits", bits)?, small(py, "low", low)?);
        let gate = Gate::ALL.into_iter().find(|gate| gate.name() == what);
        self.quick(py, |e| {
            let (one, two): (Vec<Table>, Vec<TreeTable>);
            let work = match (gate, what) {
                (Some(gate), _) => Work::Gate(gate),
                (_, "mux") => Work::Mux,
                (_, "lookup") => {
                    let from = message.every(step)?;
                    let made = tables.iter().map(|v| Ok(Table::new(from, message, &v.numbers())?));
                    one = made.collect::<Result<_, Error>>()?;
                    Work::Lookup(&one)
                }
                (_, "lookup2" | "lookup_split") => {
                    let made = tables.iter().map(|v| Ok(TreeTable::new(message, message, &v.numbers())?));
                    two = made.collect::<Result<_, Error>>()?;
                    Work::LookupTree(&two, what != "lookup2")
                }
                (_, "sign" | "<" | "<=" | ">" | ">=") => Work::Sign(Integer::new(bits)?),
                (_, "==") => Work::Equal(Integer::new(bits)?),
                (_, "floor") => Work::Floor(Unsigned::new(bits)?, low),
                (_, "digits") => Work::Digits(Unsigned::new(bits)?),
                (_, "nearest") => Work::Nearest(Unsigned::new(bits)?, low),
                _ => return Err(aglet::ParameterError::NoEstimate { what: what.into() }.into()),
            };
            let found = match variance {
                Some(variance) => e.estimate_on(work, batch, variance)?,
                None => e.estimate(work, batch)?,
            };
            let bytes = (found.key_bytes, found.working_bytes, found.card_bytes);
            Ok((found.rotations, found.seconds, bytes.0, bytes.1, bytes.2, found.log2_failure))
        })
    }

    /// The noise variance, on the torus, of results of LUTs on several padded messages that are evaluated together.
    #[pyo3(signature = (tables, split = false, precise = false))]
    fn tree_variance(&self, py: Python<'_>, tables: Vec<Values>, split: bool, precise: bool) -> PyResult<f64> {
        let message = self.message(py, "padded")?;
        self.quick(py, |e| {
            let made = tables.iter().map(|v| Ok(TreeTable::new(message, message, &v.numbers())?));
            Ok(e.tree_variance(&made.collect::<Result<Vec<_>, Error>>()?, split, precise))
        })
    }

    /// Standard deviations of noise, and distances between messages, on the torus.
    fn noise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reported(py, || Ok(report::noise(self.engine.params())))
    }
}
