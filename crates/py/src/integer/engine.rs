//! The class `IntegerEngine`. Each method checks that its arguments belong to this engine, then calls the engine
//! without the GIL.

use super::objects::{
    AnyRotationKey, IntegerBootstrapKey, IntegerCiphertext, IntegerFixedRotationKey, IntegerPlaintext,
    IntegerPublicKey, IntegerRelinearizationKey, IntegerRotationKey, IntegerSecretKey,
};
use crate::errors::count;
use crate::family::{self, gate, ring_figures, vector, works};
use crate::reports::{named, reported};
use crate::wait::wait;
use aglet::integer::{presets, report, Ciphertext, Engine, Packing};
use aglet::wire::IntegerOrigin;
use aglet::Error;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

type Integers<'py> = Bound<'py, PyArray1<i64>>;

/// An engine of exact integers (BGV/BFV). Many threads may call its methods at once.
#[pyclass(frozen, module = "aglet._core")]
pub struct IntegerEngine {
    pub(crate) context: IntegerOrigin,
    /// Shared with scheme switches.
    pub(crate) engine: Arc<Engine>,
}

works! { IntegerEngine: Engine }
ring_figures! { IntegerEngine }

/// A key that can encrypt.
#[derive(FromPyObject)]
pub enum Encrypts<'py> {
    Public(Bound<'py, IntegerPublicKey>),
    Secret(Bound<'py, IntegerSecretKey>),
}

impl IntegerEngine {
    /// A ciphertext that was computed from another.
    fn map(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        work: impl FnOnce(&Engine, &Ciphertext) -> Result<Ciphertext, Error> + Send,
    ) -> PyResult<IntegerCiphertext> {
        let ct = ct.of(py, &self.context)?;
        Ok(IntegerCiphertext::new(&self.context, self.quick(py, |e| work(e, ct))?))
    }
}

#[pymethods]
impl IntegerEngine {
    /// Chooses the set by name, or else the smallest set with this depth. `parameters` is the text of an own parameter set: it
    /// replaces both, and the modulus.
    #[new]
    #[pyo3(signature = (choice, plaintext_modulus, in_slots, machine, *, parameters = None, allow_insecure = false))]
    fn new(
        py: Python<'_>,
        choice: (Option<&str>, i64),
        plaintext_modulus: i64,
        in_slots: bool,
        machine: (i64, Option<i64>),
        parameters: Option<&str>,
        allow_insecure: bool,
    ) -> PyResult<Self> {
        let (preset, depth) = choice;
        let (depth, machine) = (count(py, "depth", depth)?, family::machine(py, machine)?);
        let t = count(py, "plaintext_modulus", plaintext_modulus)? as u64;
        let packing = if in_slots { Packing::Slots } else { Packing::Coefficients };
        let engine = wait(py, None, |_| {
            let params = match (parameters, preset) {
                (Some(text), _) => presets::from_text(text, gate(allow_insecure))?,
                (None, Some(name)) => presets::with_modulus(name, t, gate(allow_insecure))?,
                (None, None) => presets::with_depth(depth, t)?,
            };
            Engine::on(family::runtime(machine)?, params, packing)
        })?;
        let context = IntegerOrigin { ctx: None, ..engine.origin() };
        Ok(Self { context, engine: Arc::new(engine) })
    }

    /// Who does the macro-operations.
    #[getter]
    fn device(&self) -> String {
        self.engine.device()
    }
    /// Whether the set has 128 bits of security.
    #[getter]
    fn is_secure(&self) -> bool {
        self.engine.params().security().is_secure()
    }
    #[getter]
    fn plaintext_modulus(&self) -> u64 {
        self.engine.params().plain().value()
    }
    /// The number of integers in a message.
    #[getter]
    fn count(&self) -> usize {
        self.engine.count()
    }
    #[getter]
    fn max_level(&self) -> usize {
        self.engine.params().max_level()
    }

    fn create_secret_key(&self, py: Python<'_>) -> PyResult<IntegerSecretKey> {
        Ok(IntegerSecretKey::new(&self.context, self.quick(py, Engine::create_secret_key)?))
    }
    fn create_public_key(&self, py: Python<'_>, sk: &IntegerSecretKey) -> PyResult<IntegerPublicKey> {
        let sk = sk.of(py, &self.context)?;
        Ok(IntegerPublicKey::new(&self.context, self.quick(py, |e| e.create_public_key(sk))?))
    }
    fn create_relinearization_key(&self, py: Python<'_>, sk: &IntegerSecretKey) -> PyResult<IntegerRelinearizationKey> {
        let sk = sk.of(py, &self.context)?;
        let key = self.long(py, None, |e, control| e.create_relinearization_key_until(sk, control))?;
        Ok(IntegerRelinearizationKey::new(&self.context, key))
    }
    #[pyo3(signature = (sk, progress = None))]
    fn create_rotation_key(
        &self,
        py: Python<'_>,
        sk: &IntegerSecretKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerRotationKey> {
        let sk = sk.of(py, &self.context)?;
        let key = self.long(py, progress, |e, control| e.create_rotation_key(sk, control))?;
        Ok(IntegerRotationKey::new(&self.context, key))
    }

    #[pyo3(signature = (sk, delta, level, progress = None))]
    fn create_fixed_rotation_key(
        &self,
        py: Python<'_>,
        sk: &IntegerSecretKey,
        delta: i64,
        level: i64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerFixedRotationKey> {
        let (sk, level) = (sk.of(py, &self.context)?, count(py, "level", level)?);
        let key = self.long(py, progress, |e, control| e.create_fixed_rotation_key(sk, delta, level, control))?;
        Ok(IntegerFixedRotationKey::new(&self.context, key))
    }

    fn encode(&self, py: Python<'_>, values: PyReadonlyArray1<'_, i64>) -> PyResult<IntegerPlaintext> {
        let values = vector(&values);
        Ok(IntegerPlaintext::new(&self.context, self.quick(py, |e| e.encode(&values))?))
    }
    /// In `[-t/2, t/2]`.
    fn decode<'py>(&self, py: Python<'py>, pt: &IntegerPlaintext) -> PyResult<Integers<'py>> {
        let pt = pt.of(py, &self.context)?;
        Ok(PyArray1::from_vec(py, self.quick(py, |e| e.decode(pt))?))
    }
    fn encrypt(
        &self,
        py: Python<'_>,
        pt: &IntegerPlaintext,
        key: Encrypts<'_>,
        level: i64,
    ) -> PyResult<IntegerCiphertext> {
        let (pt, level) = (pt.of(py, &self.context)?, count(py, "level", level)?);
        let made = match &key {
            Encrypts::Public(key) => {
                let key = key.get().of(py, &self.context)?;
                self.quick(py, |e| e.encrypt(pt, level, key))?
            }
            Encrypts::Secret(key) => {
                let key = key.get().of(py, &self.context)?;
                self.quick(py, |e| e.encrypt_with_secret(pt, level, key))?
            }
        };
        Ok(IntegerCiphertext::new(&self.context, made))
    }
    /// Has ciphertexts here that a card made, together.
    fn fetch(&self, py: Python<'_>, cts: Vec<PyRef<'_, IntegerCiphertext>>) -> PyResult<()> {
        let cts = cts.iter().map(|ct| ct.of(py, &self.context)).collect::<PyResult<Vec<_>>>()?;
        self.quick(py, |e| e.fetch(&cts))
    }
    /// In `[-t/2, t/2]`.
    fn decrypt<'py>(&self, py: Python<'py>, ct: &IntegerCiphertext, sk: &IntegerSecretKey) -> PyResult<Integers<'py>> {
        let (ct, sk) = (ct.of(py, &self.context)?, sk.of(py, &self.context)?);
        Ok(PyArray1::from_vec(py, self.quick(py, |e| e.decrypt(ct, sk))?))
    }
    /// The noise budget that the secret key measures, in whole bits.
    fn noise_budget(&self, py: Python<'_>, ct: &IntegerCiphertext, sk: &IntegerSecretKey) -> PyResult<f64> {
        let (ct, sk) = (ct.of(py, &self.context)?, sk.of(py, &self.context)?);
        self.quick(py, |e| e.noise_budget(ct, sk))
    }
    /// Bits by which the bound on the noise is above that of a rounding.
    fn noise_excess(&self, py: Python<'_>, ct: &IntegerCiphertext) -> PyResult<f64> {
        Ok(self.engine.noise_excess(ct.of(py, &self.context)?))
    }

    fn add(&self, py: Python<'_>, a: &IntegerCiphertext, b: &IntegerCiphertext) -> PyResult<IntegerCiphertext> {
        let b = b.of(py, &self.context)?;
        self.map(py, a, |e, a| e.add(a, b))
    }
    fn subtract(&self, py: Python<'_>, a: &IntegerCiphertext, b: &IntegerCiphertext) -> PyResult<IntegerCiphertext> {
        let b = b.of(py, &self.context)?;
        self.map(py, a, |e, a| e.subtract(a, b))
    }
    fn negate(&self, py: Python<'_>, ct: &IntegerCiphertext) -> PyResult<IntegerCiphertext> {
        self.map(py, ct, Engine::negate)
    }
    fn add_plain(&self, py: Python<'_>, ct: &IntegerCiphertext, pt: &IntegerPlaintext) -> PyResult<IntegerCiphertext> {
        let pt = pt.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.add_plain(ct, pt))
    }
    fn add_number(&self, py: Python<'_>, ct: &IntegerCiphertext, number: i64) -> PyResult<IntegerCiphertext> {
        self.map(py, ct, |e, ct| e.add_number(ct, number))
    }
    fn multiply_plain(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        pt: &IntegerPlaintext,
    ) -> PyResult<IntegerCiphertext> {
        let pt = pt.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.multiply_plain(ct, pt))
    }
    fn multiply_number(&self, py: Python<'_>, ct: &IntegerCiphertext, number: i64) -> PyResult<IntegerCiphertext> {
        self.map(py, ct, |e, ct| e.multiply_number(ct, number))
    }
    /// Without a key the product has three polynomials and the lower level of the two.
    #[pyo3(signature = (a, b, relin = None))]
    fn multiply(
        &self,
        py: Python<'_>,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        relin: Option<&IntegerRelinearizationKey>,
    ) -> PyResult<IntegerCiphertext> {
        let (b, relin) = (b.of(py, &self.context)?, relin.map(|key| key.of(py, &self.context)).transpose()?);
        self.map(py, a, |e, a| match relin {
            Some(key) => e.multiply(a, b, key),
            None => e.multiply_only(a, b),
        })
    }
    /// The product of BFV; it stays at the lower level of the two.
    fn multiply_scaled(
        &self,
        py: Python<'_>,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        relin: &IntegerRelinearizationKey,
    ) -> PyResult<IntegerCiphertext> {
        let (b, relin) = (b.of(py, &self.context)?, relin.of(py, &self.context)?);
        self.map(py, a, |e, a| e.multiply_scaled(a, b, relin))
    }
    fn relinearize(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        relin: &IntegerRelinearizationKey,
    ) -> PyResult<IntegerCiphertext> {
        let relin = relin.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.relinearize(ct, relin))
    }
    fn level_down(&self, py: Python<'_>, ct: &IntegerCiphertext, level: i64) -> PyResult<IntegerCiphertext> {
        let level = count(py, "level", level)?;
        self.map(py, ct, |e, ct| e.level_down(ct, level))
    }
    fn rescale(&self, py: Python<'_>, ct: &IntegerCiphertext) -> PyResult<IntegerCiphertext> {
        self.map(py, ct, |e, ct| e.rescale(ct))
    }
    /// Rotates to the right, as `numpy.roll` along the second axis of two rows. A fixed key has its own step.
    fn rotate_rows(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        key: AnyRotationKey<'_>,
        delta: i64,
    ) -> PyResult<IntegerCiphertext> {
        match &key {
            AnyRotationKey::Fixed(key) => {
                let key = key.get().of(py, &self.context)?;
                self.map(py, ct, |e, ct| e.rotate_fixed(ct, key))
            }
            AnyRotationKey::Any(key) => {
                let key = key.get().of(py, &self.context)?;
                self.map(py, ct, |e, ct| e.rotate_rows(ct, key, delta))
            }
        }
    }
    fn rotate_columns(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        key: &IntegerRotationKey,
    ) -> PyResult<IntegerCiphertext> {
        let key = key.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.rotate_columns(ct, key))
    }
    fn sum_slots(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        key: &IntegerRotationKey,
    ) -> PyResult<IntegerCiphertext> {
        let key = key.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.sum_slots(ct, key))
    }
}

#[pymethods]
impl IntegerEngine {
    /// The level after a bootstrap; None if the set has no bootstrap.
    #[getter]
    fn bootstrap_output_level(&self) -> Option<usize> {
        self.engine.bootstrap_output_level().ok()
    }
    /// Bytes of the bootstrap key, and of the encoded linear maps.
    fn bootstrap_forecast(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let forecast = self.quick(py, Engine::bootstrap_forecast)?;
        Ok((forecast.key, forecast.maps))
    }
    #[pyo3(signature = (sk, memory_limit, progress = None))]
    fn create_bootstrap_key(
        &self,
        py: Python<'_>,
        sk: &IntegerSecretKey,
        memory_limit: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerBootstrapKey> {
        let sk = sk.of(py, &self.context)?;
        let limit =
            memory_limit.map(|limit| count(py, "memory_limit_bytes", limit)).transpose()?.map(|limit| limit as u64);
        let key = self.long(py, progress, |e, control| e.create_bootstrap_key(sk, limit, control))?;
        Ok(IntegerBootstrapKey::new(&self.context, key))
    }
    #[pyo3(signature = (cts, key, progress = None))]
    fn bootstrap(
        &self,
        py: Python<'_>,
        cts: Vec<Bound<'_, IntegerCiphertext>>,
        key: &IntegerBootstrapKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<IntegerCiphertext>> {
        let key = key.of(py, &self.context)?;
        let cts = cts.iter().map(|ct| Ok(ct.get().of(py, &self.context)?.clone())).collect::<PyResult<Vec<_>>>()?;
        let made = self.long(py, progress, |e, control| e.bootstrap_many(&cts, key, control))?;
        Ok(made.into_iter().map(|ct| IntegerCiphertext::new(&self.context, ct)).collect())
    }
    /// The figures of its parameters.
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        reported(py, || report::figures(self.engine.params()))
    }
    /// What its parameters can do.
    #[pyo3(signature = (units = None))]
    fn plan<'py>(&self, py: Python<'py>, units: Option<BTreeMap<String, f64>>) -> PyResult<Bound<'py, PyAny>> {
        let units = named(py, units)?;
        reported(py, || report::plan_of(self.engine.params(), units.as_ref()))
    }
    /// Name and seconds of each stage of the last bootstrap.
    fn stage_times(&self) -> Vec<(String, f64)> {
        self.engine.stage_runs().into_iter().map(|run| (run.name, run.seconds)).collect()
    }
}

/// All parameter sets of integers.
#[pyfunction]
pub fn integer_presets(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::presets)
}

/// What a set of integers can do, computed before a key exists; with unit costs also the seconds.
#[pyfunction]
#[pyo3(signature = (preset, units = None))]
pub fn integer_plan<'py>(
    py: Python<'py>,
    preset: &str,
    units: Option<BTreeMap<String, f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let units = named(py, units)?;
    reported(py, || report::plan(preset, units.as_ref()))
}
