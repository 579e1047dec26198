//! Functional bootstraps: lookup tables and Fourier series, and the part of `Engine` that evaluates them.

use super::bootstrap::request;
use super::engine::Engine;
use super::objects::{BootstrapKey, Ciphertext, ConjugationKey, Current, RelinearizationKey, RotationKey};
use crate::errors::{count, raise};
use crate::reports::object;
use aglet::ckks::{BootstrapKeys, KeySize, Limits, Request, Trigonometric};
use num_complex::Complex64;
use pyo3::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// What a functional bootstrap evaluates: lookup tables, or functions by their Fourier series.
#[pyclass(frozen, module = "aglet._core")]
pub struct Functional(pub(super) Arc<aglet::ckks::Functional>);

/// For each function the entries, or the coefficients, for real and for imaginary parts.
type Pairs<T> = Vec<(Vec<T>, Vec<T>)>;

#[pymethods]
impl Functional {
    /// Tables: `low + step m` becomes `entries[m]`.
    #[staticmethod]
    fn tables(py: Python<'_>, tables: Pairs<f64>, low: f64, step: f64, order: i64) -> PyResult<Self> {
        let order = count(py, "order", order)?;
        let pairs: Vec<[&[f64]; 2]> = tables.iter().map(|(re, im)| [&re[..], &im[..]]).collect();
        let made = aglet::ckks::Functional::tables(&pairs, low, step, order);
        Ok(Self(Arc::new(made.map_err(|error| raise(py, error.into()))?)))
    }
    /// Functions `2 Re sum c_k exp(2 pi i k v / period)` that are wanted at the points `v`.
    #[staticmethod]
    fn series(py: Python<'_>, period: f64, points: Vec<f64>, functions: Pairs<Complex64>) -> PyResult<Self> {
        let one = |coefficients: Vec<Complex64>| Trigonometric::new(coefficients).map_err(aglet_error);
        let pairs = functions.into_iter().map(|(re, im)| Ok([one(re)?, one(im)?]));
        let made = pairs.collect::<Result<Vec<_>, aglet::Error>>();
        let made = made.and_then(|pairs| Ok(aglet::ckks::Functional::new(period, points, pairs)?));
        Ok(Self(Arc::new(made.map_err(|error| raise(py, error))?)))
    }
    /// The levels that it takes below the exponential.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }
}

fn aglet_error(error: impl Into<aglet::Error>) -> aglet::Error {
    error.into()
}

fn limits(input_error: Option<f64>, max_failure: f64) -> Limits {
    Limits { input_error, log2_max_failure: max_failure.log2() }
}

#[pymethods]
impl Engine {
    /// One result for each function.
    #[pyo3(signature = (ct, functional, relin, conj, rotation, bootstrap_key, method, stage_count, real, target_level, input_error, max_failure, progress = None))]
    #[allow(clippy::too_many_arguments)] // that of a bootstrap
    fn functional_bootstrap(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        functional: &Functional,
        relin: &RelinearizationKey,
        conj: &ConjugationKey,
        rotation: Option<&RotationKey>,
        bootstrap_key: &BootstrapKey,
        method: &str,
        stage_count: Option<i64>,
        real: Option<bool>,
        target_level: Option<i64>,
        input_error: Option<f64>,
        max_failure: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Ciphertext>> {
        let ct = &ct.of(py, &self.context).map(Current::get)?;
        let key = bootstrap_key.of(py, &self.context)?;
        let keys = BootstrapKeys {
            relinearization: relin.of(py, &self.context)?,
            conjugation: conj.of(py, &self.context)?,
            rotation: rotation.map(|key| key.of(py, &self.context)).transpose()?,
            bootstrap: key,
        };
        let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
        // A small key serves any number of stages.
        let own = (key.size() != KeySize::Small).then(|| key.stage_count() as i64);
        let stages = stage_count.or(own);
        let asked = request(py, self.engine.params(), method, stages, key.size().name(), self.engine.slots())?;
        let request = Request { real: real.unwrap_or(ct.real), target_level, ..asked };
        let limits = limits(input_error, max_failure);
        let made = self.long(py, progress, |e, control| {
            e.functional_bootstrap(ct, &functional.0, keys, request, limits, control)
        })?;
        made.into_iter().map(|ct| self.wrap(py, ct)).collect()
    }

    /// What is known of the results of a functional bootstrap beforehand.
    #[allow(clippy::too_many_arguments)] // that of a bootstrap
    fn functional_estimate<'py>(
        &self,
        py: Python<'py>,
        functional: &Functional,
        method: &str,
        stage_count: Option<i64>,
        size: &str,
        real: bool,
        target_level: Option<i64>,
        input_error: f64,
        max_failure: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target_level = target_level.map(|l| count(py, "target_level", l)).transpose()?;
        let asked = request(py, self.engine.params(), method, stage_count, size, self.engine.slots())?;
        let request = Request { real, target_level, ..asked };
        let limits = limits(Some(input_error), max_failure);
        let found = self.quick(py, |e| {
            let circuit = e.functional_circuit(request, &functional.0)?;
            e.functional_estimate(&circuit, input_error, limits)
        })?;
        object(
            py,
            &json!({
                "level": found.level, "depth": found.depth, "noise": found.noise, "bound": found.bound,
                "log2_failure": found.log2_failure, "largest_input_error": found.largest_input_error,
            }),
        )
    }
}
