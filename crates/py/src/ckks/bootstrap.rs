//! The part of `Engine` that bootstraps.

use super::engine::Engine;
use super::objects::{BootstrapKey, Ciphertext, ConjugationKey, Current, RelinearizationKey, RotationKey, SecretKey};
use crate::errors::{count, raise};
use crate::reports::object;
use aglet::ckks::cost::work_json;
use aglet::ckks::{BootstrapKeys, BootstrapKind, CkksParams, KeySize, Method, Request, StageRun};
use pyo3::prelude::*;
use serde_json::json;

#[pymethods]
impl Engine {
    /// Also encodes the linear maps, so that the first bootstrap is as fast as the others.
    #[pyo3(signature = (sk, method, stage_count, size, memory_limit_bytes, progress = None))]
    #[allow(clippy::too_many_arguments)] // the published call
    fn create_bootstrap_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        method: &str,
        stage_count: Option<i64>,
        size: &str,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BootstrapKey> {
        let sk = sk.of(py, &self.context)?;
        let limit = memory_limit_bytes.map(|n| count(py, "memory_limit_bytes", n)).transpose()?.map(|n| n as u64);
        let request = request(py, self.engine.params(), method, stage_count, size, self.engine.slots())?;
        let key = self.long(py, progress, |e, control| {
            let key = e.create_bootstrap_key(sk, request, limit, control)?;
            control.report(0, 1, "linear maps");
            e.prepare_bootstrap(&key, control)?;
            control.report(1, 1, "linear maps");
            Ok(key)
        })?;
        Ok(BootstrapKey::new(&self.context, key))
    }

    /// Bootstraps one ciphertext, or two for the merging methods, or any number separately with `many`. With `real`
    /// None the ciphertexts decide.
    #[pyo3(signature = (cts, relin, conj, rotation, bootstrap_key, method, stage_count, bound, real, target_level, progress = None, iterations = 1, many = false))]
    #[allow(clippy::too_many_arguments)] // the published call
    fn bootstrap(
        &self,
        py: Python<'_>,
        cts: Vec<PyRef<'_, Ciphertext>>,
        relin: &RelinearizationKey,
        conj: &ConjugationKey,
        rotation: Option<&RotationKey>,
        bootstrap_key: &BootstrapKey,
        method: &str,
        stage_count: Option<i64>,
        bound: f64,
        real: Option<bool>,
        target_level: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
        iterations: i64,
        many: bool,
    ) -> PyResult<Vec<Ciphertext>> {
        let own = |(index, ct): (usize, &'_ PyRef<'_, Ciphertext>)| {
            let found = ct.of(py, &self.context).map(Current::get);
            found.map_err(|error| if many { at_place(py, index, &error) } else { error })
        };
        let cts = cts.iter().enumerate().map(own).collect::<PyResult<Vec<_>>>()?;
        let key = bootstrap_key.of(py, &self.context)?;
        let keys = BootstrapKeys {
            relinearization: relin.of(py, &self.context)?,
            conjugation: conj.of(py, &self.context)?,
            rotation: rotation.map(|key| key.of(py, &self.context)).transpose()?,
            bootstrap: key,
        };
        let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
        let iterations = count(py, "iterations", iterations)?;
        let cts: Vec<_> = cts.iter().collect();
        // A small key serves any number of stages.
        let own = (key.size() != KeySize::Small).then(|| key.stage_count() as i64);
        let stages = stage_count.or(own);
        let request = request(py, self.engine.params(), method, stages, key.size().name(), self.engine.slots())?;
        let request_of = |cts: &[&aglet::ckks::Ciphertext]| {
            let real = real.unwrap_or_else(|| cts.iter().all(|ct| ct.real));
            Request { bound, real, target_level, ..request }
        };
        let made = self.long(py, progress, |e, control| {
            if many {
                let inputs: Vec<_> = cts.iter().map(|ct| (*ct, request_of(&[*ct]))).collect();
                return e.bootstrap_many(&inputs, keys, iterations, control);
            }
            e.bootstrap_iterated(&cts, keys, request_of(&cts), iterations, control)
        })?;
        made.into_iter().map(|ct| self.wrap(py, ct)).collect()
    }

    /// The level after a bootstrap.
    fn bootstrap_output_level(
        &self,
        py: Python<'_>,
        method: &str,
        stage_count: Option<i64>,
        size: &str,
    ) -> PyResult<usize> {
        let request = request(py, self.engine.params(), method, stage_count, size, self.engine.slots())?;
        self.quick(py, |e| e.bootstrap_output_level(request))
    }
    /// Name and seconds of each stage of the last bootstrap on this engine.
    fn stage_times(&self) -> Vec<(String, f64)> {
        self.engine.stage_times()
    }
    /// Name, seconds, work and, on a card, calls of each stage of the last bootstrap.
    fn stage_runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let n = self.engine.params().n();
        let row = |run: &StageRun| {
            json!({
                "name": run.name, "seconds": run.seconds, "work": work_json(&run.work, n), "launches": run.traffic.launches,
                "synchronous_copies": run.traffic.synchronous(), "other_copies": run.traffic.writes - run.traffic.waits,
            })
        };
        object(py, &self.engine.stage_runs().iter().map(row).collect())
    }
}

/// The same exception, with the index of the ciphertext that caused it.
fn at_place(py: Python<'_>, index: usize, error: &PyErr) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("ciphertexts[{index}]: {}", error.value(py)))
}

/// Makes a request from Python's arguments. Without a number of stages, the parameters choose it.
pub(super) fn request(
    py: Python<'_>,
    params: &CkksParams,
    method: &str,
    stage_count: Option<i64>,
    size: &str,
    slots: usize,
) -> PyResult<Request> {
    let stages = stage_count.map(|stages| count(py, "stage_count", stages)).transpose()?;
    let read = || {
        let method = Method::parse(method)?;
        let stages = stages.unwrap_or_else(|| BootstrapKind::of(params).rules().default_stages(method, slots));
        Ok(Request::new(method, stages, KeySize::parse(size)?, slots))
    };
    read().map_err(|error| raise(py, error))
}
