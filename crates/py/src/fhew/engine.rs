//! The class `FhewEngine`. Each method checks that its arguments belong to this engine, then calls the engine without
//! the GIL.

use super::objects::{EncryptingKey, FhewArray, FhewBootstrapKey, FhewPublicKey, FhewSecretKey, PackingKey};
use crate::errors::{count, exception, raise};
use crate::family::{self, gate, works};
use crate::reports::reported;
use crate::wait::wait;
use aglet::fhew::{presets, report, Array, Ciphertext, Domain, Engine, FhewContext, Form, Gate, Message};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// An engine of FHEW/TFHE. Many threads may call its methods at once.
#[pyclass(frozen, module = "aglet._core")]
pub struct FhewEngine {
    pub(crate) context: FhewContext,
    /// Shared with scheme switches.
    pub(crate) engine: Arc<Engine>,
}

works! { FhewEngine: Engine }

impl FhewEngine {
    /// Makes an array of this shape from the results of a bootstrap.
    pub(super) fn made(
        &self,
        py: Python<'_>,
        form: Form,
        shape: &[usize],
        key: &FhewBootstrapKey,
        cells: Vec<Ciphertext>,
    ) -> PyResult<FhewArray> {
        let id = key.of(py, &self.context)?.id();
        let array = Array::new(&self.context, form, shape.to_vec(), id, cells);
        array.map(|array| FhewArray::new(&self.context, array)).map_err(|error| raise(py, error))
    }
    /// The arrays of a call. All must have one form, and the call must take it.
    pub(super) fn inputs<'a>(
        &self,
        py: Python<'_>,
        takes: fn(Form) -> bool,
        refusal: &str,
        inputs: &'a [PyRef<'_, FhewArray>],
    ) -> PyResult<Vec<&'a Array>> {
        let arrays = inputs.iter().map(|x| x.of(py, &self.context)).collect::<PyResult<Vec<_>>>()?;
        if arrays.iter().all(|x| takes(x.form()) && x.form() == arrays[0].form()) {
            return Ok(arrays);
        }
        Err(exception(py, "ParameterError", refusal.into()))
    }
    fn bits_of<'a>(&self, py: Python<'_>, inputs: &'a [PyRef<'_, FhewArray>]) -> PyResult<Vec<&'a Array>> {
        const REFUSAL: &str =
            "Gates take bits, and these are integers; encrypt booleans, as in engine.encrypt([True, False], secret_key).";
        self.inputs(py, |form| form == Form::Bits, REFUSAL, inputs)
    }
    pub(super) fn message(&self, py: Python<'_>, domain: &str) -> PyResult<Message> {
        let names = Domain::ALL.map(Domain::name);
        let found = Domain::ALL.into_iter().find(|d| d.name() == domain).ok_or_else(|| {
            let sentence = format!("There is no domain \"{domain}\"; choose one of {}.", names.join(", "));
            exception(py, "ParameterError", sentence)
        })?;
        Ok(self.engine.params().message().within(found))
    }
}

#[pymethods]
impl FhewEngine {
    /// `machine` is the number of threads, and that of a card. `parameters` is the text of an own parameter set and replaces the preset.
    #[new]
    #[pyo3(signature = (preset, machine, *, parameters = None, allow_insecure = false))]
    fn new(
        py: Python<'_>,
        preset: &str,
        machine: (i64, Option<i64>),
        parameters: Option<&str>,
        allow_insecure: bool,
    ) -> PyResult<Self> {
        let machine = family::machine(py, machine)?;
        let engine = wait(py, None, |_| {
            let params = match parameters {
                Some(text) => presets::from_text(text, gate(allow_insecure))?,
                None => presets::load(preset, gate(allow_insecure))?,
            };
            Engine::on(family::runtime(machine)?, params)
        })?;
        Ok(Self { context: engine.context(), engine: Arc::new(engine) })
    }
    /// Who rotates by blocks.
    #[getter]
    fn device(&self) -> String {
        self.engine.device()
    }
    /// Why the security check would refuse these parameters; None if it does not.
    #[getter]
    fn insecurity(&self) -> Option<String> {
        self.engine.params().insecurity().map(|why| why.to_string())
    }

    /// Whether a card would rotate by these parameters.
    #[getter]
    fn on_card(&self) -> bool {
        report::on_card(self.engine.params())
    }

    #[getter]
    fn preset(&self) -> &str {
        &self.engine.params().literal().name
    }
    /// The number of messages, without the padding bit.
    #[getter]
    fn messages(&self) -> u64 {
        self.engine.params().message().space()
    }
    /// The kind of the secret key.
    #[getter]
    fn secret(&self) -> String {
        self.engine.params().literal().secret.to_string()
    }
    /// The method of blind rotation.
    #[getter]
    fn method(&self) -> &'static str {
        report::method_name(self.engine.params())
    }
    /// Of the weaker of the two secrets.
    #[getter]
    fn security_bits(&self) -> f64 {
        let lwe = self.engine.params().lwe();
        lwe.lwe_security().bits.min(lwe.glwe_security().bits)
    }
    /// Base-2 logarithm of the probability that a bootstrap of the heaviest allowed sum is wrong.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.engine.params().log2_failure()
    }

    fn create_secret_key(&self, py: Python<'_>) -> PyResult<FhewSecretKey> {
        Ok(FhewSecretKey::new(&self.context, self.quick(py, Engine::create_secret_key)?))
    }
    fn create_public_key(&self, py: Python<'_>, sk: &FhewSecretKey) -> PyResult<FhewPublicKey> {
        let sk = sk.of(py, &self.context)?;
        Ok(FhewPublicKey::new(&self.context, self.quick(py, |e| e.create_public_key(sk))?))
    }
    #[pyo3(signature = (sk, memory_limit_bytes = None, progress = None))]
    fn create_bootstrap_key(
        &self,
        py: Python<'_>,
        sk: &FhewSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewBootstrapKey> {
        let (sk, limit) = (sk.of(py, &self.context)?, bytes(py, memory_limit_bytes)?);
        let key = self.long(py, progress, |e, control| {
            e.check_memory(limit)?;
            e.create_bootstrap_key(sk, control)
        })?;
        Ok(FhewBootstrapKey::new(&self.context, key))
    }
    #[pyo3(signature = (sk, memory_limit_bytes = None, progress = None))]
    fn create_packing_key(
        &self,
        py: Python<'_>,
        sk: &FhewSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PackingKey> {
        let (sk, limit) = (sk.of(py, &self.context)?, bytes(py, memory_limit_bytes)?);
        let key = self.long(py, progress, |e, control| {
            e.check_packing_memory(limit)?;
            e.create_packing_key(sk, control)
        })?;
        Ok(PackingKey::new(&self.context, key))
    }

    /// Bytes of the public key in memory; None for a set that has none.
    #[getter]
    fn public_key_bytes(&self) -> Option<usize> {
        self.engine.public_key_bytes()
    }
    /// Bytes of the packing key in memory.
    #[getter]
    fn packing_key_bytes(&self) -> usize {
        self.engine.packing_key_bytes()
    }

    fn encrypt_bits(
        &self,
        py: Python<'_>,
        bits: PyReadonlyArray1<'_, bool>,
        shape: Vec<usize>,
        key: EncryptingKey<'_>,
    ) -> PyResult<FhewArray> {
        let (key, bits) = (key.of(py, &self.context)?, bits.as_array().to_vec());
        let array =
            self.quick(py, |e| Array::new(&self.context, Form::Bits, shape, key.id(), e.encrypt_bits(&bits, key)?))?;
        Ok(FhewArray::new(&self.context, array))
    }
    fn encrypt_messages(
        &self,
        py: Python<'_>,
        messages: PyReadonlyArray1<'_, i64>,
        shape: Vec<usize>,
        key: EncryptingKey<'_>,
        domain: &str,
    ) -> PyResult<FhewArray> {
        let (key, message) = (key.of(py, &self.context)?, self.message(py, domain)?);
        let messages: Vec<u64> = messages.as_array().iter().map(|&m| m as u64).collect();
        let array = self.quick(py, |e| {
            let cells = e.encrypt(&messages, message, key)?;
            Array::new(&self.context, Form::Messages(message.domain()), shape, key.id(), cells)
        })?;
        Ok(FhewArray::new(&self.context, array))
    }
    /// The same array, packed and rounded for sending.
    #[pyo3(signature = (ct, packing_key, max_log2_failure = None, progress = None))]
    fn compress(
        &self,
        py: Python<'_>,
        ct: &FhewArray,
        packing_key: &PackingKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let (ct, key) = (ct.of(py, &self.context)?, packing_key.of(py, &self.context)?);
        let array = self.long(py, progress, |e, control| e.compress(ct, key, max_log2_failure, control))?;
        Ok(FhewArray::new(&self.context, array))
    }
    /// Values in C order; bits are 0 and 1.
    #[pyo3(signature = (ct, sk, max_log2_failure = None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ct: &FhewArray,
        sk: &FhewSecretKey,
        max_log2_failure: Option<f64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (ct, sk) = (ct.of(py, &self.context)?, sk.of(py, &self.context)?);
        let found = self.quick(py, |e| e.decrypt_array(ct, sk, max_log2_failure))?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Evaluates the gate of this name on arrays of one shape.
    #[pyo3(signature = (name, inputs, key, max_log2_failure = None, progress = None))]
    fn gate(
        &self,
        py: Python<'_>,
        name: &str,
        inputs: Vec<PyRef<'_, FhewArray>>,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let (arrays, own) = (self.bits_of(py, &inputs)?, key.of(py, &self.context)?);
        let Some(gate) = Gate::ALL.into_iter().find(|gate| gate.name() == name) else {
            let names = Gate::ALL.map(Gate::name).join(", ");
            return Err(exception(
                py,
                "ParameterError",
                format!("There is no gate \"{name}\"; choose one of {names}."),
            ));
        };
        let cells: Vec<&[Ciphertext]> = arrays.iter().map(|x| x.cells()).collect();
        let out = self.long(py, progress, |e, control| e.gate(gate, &cells, own, max_log2_failure, control))?;
        self.made(py, Form::Bits, arrays.first().map_or(&[], |x| x.shape()), key, out)
    }
    /// Bootstraps bits or messages: the values stay, the noise becomes that of one bootstrap.
    #[pyo3(signature = (ct, key, max_log2_failure = None, progress = None))]
    fn refresh(
        &self,
        py: Python<'_>,
        ct: &FhewArray,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let (array, own) = (ct.of(py, &self.context)?, key.of(py, &self.context)?);
        let out = self.long(py, progress, |e, control| e.refresh_array(array, own, max_log2_failure, control))?;
        self.made(py, array.form(), array.shape(), key, out)
    }
    /// Takes arrays of one shape.
    #[pyo3(signature = (inputs, key, max_log2_failure = None, progress = None))]
    fn mux(
        &self,
        py: Python<'_>,
        inputs: [PyRef<'_, FhewArray>; 3],
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let (arrays, own) = (self.bits_of(py, &inputs)?, key.of(py, &self.context)?);
        let cells = [0, 1, 2].map(|i| arrays[i].cells());
        let out = self.long(py, progress, |e, control| e.mux(cells, own, max_log2_failure, control))?;
        self.made(py, Form::Bits, arrays[0].shape(), key, out)
    }
}

/// A memory limit in bytes, if there is one.
fn bytes(py: Python<'_>, limit: Option<i64>) -> PyResult<Option<u64>> {
    limit.map(|n| count(py, "memory_limit_bytes", n).map(|n| n as u64)).transpose()
}

/// All parameter sets of FHEW.
#[pyfunction]
pub fn fhew_presets(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    reported(py, report::presets)
}
