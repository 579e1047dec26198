//! Scheme switching between integers and FHEW for Python, and its key. `python/aglet/scheme_switch/integers.py` is the face of it.

use super::{reading, results};
use crate::errors::{count, raise};
use crate::family::{family_files, family_keys, family_pickles, unchanging, works};
use crate::fhew::{FhewArray, FhewEngine, FhewSecretKey};
use crate::integer::{IntegerBootstrapKey, IntegerCiphertext, IntegerEngine, IntegerSecretKey};
use crate::reports::{named, reported};
use aglet::fhew::Array;
use aglet::wire::IntegerSchemeSwitchOrigin;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;
use std::collections::BTreeMap;

family_keys! { seeded IntegerSchemeSwitchOrigin:
    /// The keys that switch between the secret key of integers and that of FHEW.
    IntegerSchemeSwitchKey(aglet::scheme_switch::IntegerSchemeSwitchKey), "switching key" {
        /// Short id of the secret key of FHEW.
        #[getter]
        fn fhew_key_id(&self) -> String {
            self.value.fhew_key_id().to_string()
        }
        /// Whether it leads back as well.
        #[getter]
        fn both_ways(&self) -> bool {
            self.value.both_ways()
        }
    }
}

family_pickles! { IntegerSchemeSwitchOrigin: IntegerSchemeSwitchKey }
unchanging! { IntegerSchemeSwitchKey }
family_files! { IntegerSchemeSwitch, IntegerSchemeSwitchOrigin: IntegerSchemeSwitchKey }

/// An engine of integers and one of FHEW. All methods are safe to call from many threads.
#[pyclass(frozen, module = "aglet._core")]
pub struct IntegerSchemeSwitch {
    context: IntegerSchemeSwitchOrigin,
    numbers: aglet::wire::IntegerOrigin,
    fhew: aglet::fhew::FhewContext,
    engine: aglet::scheme_switch::IntegerSchemeSwitch,
}

works! { IntegerSchemeSwitch: aglet::scheme_switch::IntegerSchemeSwitch }

/// Bits of messages that go back, if not all are in use.
fn of_messages(py: Python<'_>, bits: Option<i64>) -> PyResult<Option<u32>> {
    let bits = bits.map(|bits| count(py, "bits", bits)).transpose()?;
    Ok(bits.map(|bits| u32::try_from(bits).unwrap_or(u32::MAX)))
}

#[pymethods]
impl IntegerSchemeSwitch {
    #[new]
    fn new(py: Python<'_>, numbers: &IntegerEngine, fhew: &FhewEngine) -> PyResult<Self> {
        let made =
            py.detach(|| aglet::scheme_switch::IntegerSchemeSwitch::new(numbers.engine.clone(), fhew.engine.clone()));
        let engine = made.map_err(|error| raise(py, error))?;
        Ok(Self { context: engine.origin(), numbers: numbers.context.clone(), fhew: fhew.context.clone(), engine })
    }
    /// Bytes in memory that its key takes.
    #[getter]
    fn key_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.quick(py, aglet::scheme_switch::IntegerSchemeSwitch::key_bytes)
    }
    /// Bytes that so many values take in the conversion from FHEW, beside keys and what a bootstrap takes.
    fn packing_bytes(&self, values: usize) -> u64 {
        self.engine.packing_bytes(values)
    }
    #[pyo3(signature = (sk, fhew_secret_key, memory_limit_bytes = None, progress = None))]
    fn create_switch_key(
        &self,
        py: Python<'_>,
        sk: &IntegerSecretKey,
        fhew_secret_key: &FhewSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerSchemeSwitchKey> {
        let (sk, fhew_secret_key) = (sk.of(py, &self.numbers)?, fhew_secret_key.of(py, &self.fhew)?);
        let limit = memory_limit_bytes.map(|n| count(py, "memory_limit_bytes", n)).transpose()?.map(|n| n as u64);
        let key = self.long(py, progress, |switch, control| switch.create_key(sk, fhew_secret_key, limit, control))?;
        Ok(IntegerSchemeSwitchKey::new(&self.context, key))
    }

    /// The variance, on the torus, of what goes to FHEW, read as `to_fhew` does.
    #[pyo3(signature = (bits = None))]
    fn variance(&self, py: Python<'_>, bits: Option<i64>) -> PyResult<f64> {
        let (reading, _) = reading(py, &self.fhew, bits, (false, 1.0))?;
        Ok(self.engine.variance(reading))
    }

    /// What results of tables or gates would go through in the conversion from FHEW, if they have this variance; given units, in how many seconds.
    #[pyo3(signature = (variance, bits = None, units = None))]
    fn plan_from_fhew<'py>(
        &self,
        py: Python<'py>,
        variance: f64,
        bits: Option<i64>,
        units: Option<BTreeMap<String, f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (bits, units) = (of_messages(py, bits)?, named(py, units)?);
        reported(py, || self.engine.plan_from_fhew(results(&self.fhew), bits, variance, units.as_ref()))
    }

    /// Slots as messages of the FHEW engine (bits, if they are of gates), or as unsigned integers of so many `bits`.
    #[pyo3(signature = (ct, indices, shape, key, bootstrap_key, bits = None, progress = None))]
    #[allow(clippy::too_many_arguments)] // what a call of Python names
    fn to_fhew(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        indices: Vec<usize>,
        shape: Vec<usize>,
        key: &IntegerSchemeSwitchKey,
        bootstrap_key: &IntegerBootstrapKey,
        bits: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let ct = ct.of(py, &self.numbers)?;
        let (key, bootstrap) = (key.of(py, &self.context)?, bootstrap_key.of(py, &self.numbers)?);
        let (reading, form) = reading(py, &self.fhew, bits, (false, 1.0))?;
        let array = self.long(py, progress, |switch, control| {
            let cells = switch.to_fhew(ct, &indices, reading, (key, bootstrap), control)?;
            Array::new(&self.fhew, form, shape, key.fhew_key_id(), cells)
        })?;
        Ok(FhewArray::new(&self.fhew, array))
    }

    /// Messages, or bits of gates, as the first slots, in the order of C; of so many `bits`, if not all are in use.
    #[pyo3(signature = (x, key, bootstrap_key, bits = None, progress = None))]
    #[allow(clippy::too_many_arguments, clippy::wrong_self_convention)] // what a call of Python names
    fn from_fhew(
        &self,
        py: Python<'_>,
        x: &FhewArray,
        key: &IntegerSchemeSwitchKey,
        bootstrap_key: &IntegerBootstrapKey,
        bits: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (key, bootstrap) = (key.of(py, &self.context)?, bootstrap_key.of(py, &self.numbers)?);
        let (x, bits) = (x.of(py, &self.fhew)?, of_messages(py, bits)?);
        let found = self.long(py, progress, |switch, control| {
            switch.from_fhew((x.form(), x.cells()), bits, (key, bootstrap), control)
        })?;
        Ok(IntegerCiphertext::new(&self.numbers, found))
    }
}
