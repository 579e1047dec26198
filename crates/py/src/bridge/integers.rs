//! The bridge between integers and look-ups for Python, and its key. `python/aglet/bridge/integers.py` is the face of it.

use super::{reading, results};
use crate::errors::{count, raise};
use crate::family::{homed_files, homed_keys, homed_pickles, unchanging, works};
use crate::integer::{IntegerBootstrapKey, IntegerCiphertext, IntegerEngine, IntegerSecretKey};
use crate::lookup::{LookupEngine, LweArray, LweSecretKey};
use crate::reports::{named, reported};
use aglet::fhew::Array;
use aglet::wire::IntegerBridgeOrigin;
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;
use std::collections::BTreeMap;

homed_keys! { seeded IntegerBridgeOrigin:
    /// What leads from the secret key of integers to that of look-ups, and back.
    IntegerBridgeKey(aglet::bridge::IntegerBridgeKey), "bridge key" {
        /// Short id of the secret key of look-ups.
        #[getter]
        fn lookup_key_id(&self) -> String {
            self.value.lookup_id().to_string()
        }
        /// Whether it leads up as well.
        #[getter]
        fn leads_up(&self) -> bool {
            self.value.leads_up()
        }
    }
}

homed_pickles! { IntegerBridgeOrigin: IntegerBridgeKey }
unchanging! { IntegerBridgeKey }
homed_files! { IntegerBridge, IntegerBridgeOrigin: IntegerBridgeKey }

/// An engine of integers and one of look-ups. All methods are safe to call from many threads.
#[pyclass(frozen, module = "aglet._core")]
pub struct IntegerBridge {
    home: IntegerBridgeOrigin,
    numbers: aglet::wire::IntegerOrigin,
    lookups: aglet::fhew::Home,
    engine: aglet::bridge::IntegerBridge,
}

works! { IntegerBridge: aglet::bridge::IntegerBridge }

/// Bits of messages that go up, if not all are in use.
fn of_messages(py: Python<'_>, bits: Option<i64>) -> PyResult<Option<u32>> {
    let bits = bits.map(|bits| count(py, "bits", bits)).transpose()?;
    Ok(bits.map(|bits| u32::try_from(bits).unwrap_or(u32::MAX)))
}

#[pymethods]
impl IntegerBridge {
    #[new]
    fn new(py: Python<'_>, numbers: &IntegerEngine, lookups: &LookupEngine) -> PyResult<Self> {
        let made = py.detach(|| aglet::bridge::IntegerBridge::new(numbers.engine.clone(), lookups.engine.clone()));
        let engine = made.map_err(|error| raise(py, error))?;
        Ok(Self { home: engine.origin(), numbers: numbers.home.clone(), lookups: lookups.home.clone(), engine })
    }
    /// Bytes in memory that its key takes.
    #[getter]
    fn key_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.quick(py, aglet::bridge::IntegerBridge::key_bytes)
    }
    /// Bytes that so many values take on their way up, beside keys and what a bootstrap takes.
    fn packing_bytes(&self, values: usize) -> u64 {
        self.engine.packing_bytes(values)
    }
    #[pyo3(signature = (sk, lookup_sk, memory_limit_bytes = None, progress = None))]
    fn create_bridge_key(
        &self,
        py: Python<'_>,
        sk: &IntegerSecretKey,
        lookup_sk: &LweSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerBridgeKey> {
        let (sk, lookup_sk) = (sk.of(py, &self.numbers)?, lookup_sk.of(py, &self.lookups)?);
        let limit = memory_limit_bytes.map(|n| count(py, "memory_limit_bytes", n)).transpose()?.map(|n| n as u64);
        let key = self.long(py, progress, |bridge, control| bridge.create_key(sk, lookup_sk, limit, control))?;
        Ok(IntegerBridgeKey::new(&self.home, key))
    }

    /// The variance, in turns squared, of what comes down, read as `to_lookup` does.
    #[pyo3(signature = (bits = None))]
    fn variance(&self, py: Python<'_>, bits: Option<i64>) -> PyResult<f64> {
        let (reading, _) = reading(py, &self.lookups, bits, (false, 1.0))?;
        Ok(self.engine.variance(reading))
    }

    /// What results of tables or gates would go through on their way up, if they have this variance; given units, in how many seconds.
    #[pyo3(signature = (variance, bits = None, units = None))]
    fn plan_up<'py>(
        &self,
        py: Python<'py>,
        variance: f64,
        bits: Option<i64>,
        units: Option<BTreeMap<String, f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (bits, units) = (of_messages(py, bits)?, named(py, units)?);
        reported(py, || self.engine.plan_up(results(&self.lookups), bits, variance, units.as_ref()))
    }

    /// Slots as messages of the look-up engine (bits, if they are of gates), or as words of so many `bits`.
    #[pyo3(signature = (ct, indices, shape, key, bootstrap_key, bits = None, progress = None))]
    #[allow(clippy::too_many_arguments)] // what a call of Python names
    fn to_lookup(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        indices: Vec<usize>,
        shape: Vec<usize>,
        key: &IntegerBridgeKey,
        bootstrap_key: &IntegerBootstrapKey,
        bits: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LweArray> {
        let ct = ct.of(py, &self.numbers)?;
        let (key, bootstrap) = (key.of(py, &self.home)?, bootstrap_key.of(py, &self.numbers)?);
        let (reading, form) = reading(py, &self.lookups, bits, (false, 1.0))?;
        let array = self.long(py, progress, |bridge, control| {
            let cells = bridge.to_lookup(ct, &indices, reading, (key, bootstrap), control)?;
            Array::new(&self.lookups, form, shape, key.lookup_id(), cells)
        })?;
        Ok(LweArray::new(&self.lookups, array))
    }

    /// Messages, or bits of gates, as the first slots, in the order of C; of so many `bits`, if not all are in use.
    #[pyo3(signature = (x, key, bootstrap_key, bits = None, progress = None))]
    #[allow(clippy::too_many_arguments, clippy::wrong_self_convention)] // what a call of Python names
    fn from_lookup(
        &self,
        py: Python<'_>,
        x: &LweArray,
        key: &IntegerBridgeKey,
        bootstrap_key: &IntegerBootstrapKey,
        bits: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (key, bootstrap) = (key.of(py, &self.home)?, bootstrap_key.of(py, &self.numbers)?);
        let (x, bits) = (x.of(py, &self.lookups)?, of_messages(py, bits)?);
        let found = self.long(py, progress, |bridge, control| {
            bridge.from_lookup((x.form(), x.cells()), bits, (key, bootstrap), control)
        })?;
        Ok(IntegerCiphertext::new(&self.numbers, found))
    }
}
