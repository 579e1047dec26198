//! Keys and arrays of ciphertexts of FHEW. They never change, and belong to every engine with their parameters.

use crate::errors::raise;
use crate::family::{family_keys, family_pickles, fits, never_pickled, unchanging, vector, Class};
use aglet::fhew::{Array, EncryptionKey, FhewContext, Form};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

family_keys! { FhewContext:
    /// The secret key of FHEW. It is wiped from memory when dropped and cannot be pickled.
    FhewSecretKey(aglet::fhew::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write")
        }
    }
}

family_keys! { FhewContext:
    /// The compact public key of FHEW, one RLWE sample: who has no secret key encrypts with it.
    FhewPublicKey(aglet::fhew::PublicKey), "public key" {}
}

family_keys! { seeded FhewContext:
    /// The bootstrap key of FHEW: keys of the blind rotation and of the key switch.
    FhewBootstrapKey(aglet::fhew::BootstrapKey), "FHEW bootstrap key" {}

    /// The key that LUTs on two messages need beside the bootstrap key. It packs LWE ciphertexts by automorphisms.
    PackingKey(aglet::fhew::PackingKey), "packing key" {
        /// The same key, whose tables leave the least noise and take longer.
        fn precise(&self) -> Self {
            Self::new(&self.context, self.value.precise())
        }
    }
}

family_pickles! { FhewContext: FhewPublicKey, FhewBootstrapKey, PackingKey, FhewArray }

unchanging! { FhewPublicKey, FhewBootstrapKey, PackingKey, FhewArray }

/// The key that an encryption takes: the secret one or the public one.
#[derive(FromPyObject)]
pub enum EncryptingKey<'py> {
    Secret(PyRef<'py, FhewSecretKey>),
    Public(PyRef<'py, FhewPublicKey>),
}

impl EncryptingKey<'_> {
    pub fn of(&self, py: Python<'_>, engine: &FhewContext) -> PyResult<EncryptionKey<'_>> {
        match self {
            Self::Secret(key) => key.of(py, engine).map(EncryptionKey::Secret),
            Self::Public(key) => key.of(py, engine).map(EncryptionKey::Public),
        }
    }
}

/// An array of FHEW ciphertexts with its shape. The public class is `aglet.FhewCiphertext`.
#[pyclass(frozen, module = "aglet._core")]
pub struct FhewArray {
    context: FhewContext,
    value: Array,
}

impl Class for FhewArray {
    type Context = FhewContext;
    type Value = Array;
}

impl FhewArray {
    pub fn new(context: &FhewContext, value: Array) -> Self {
        Self { context: context.clone(), value }
    }
    pub fn of(&self, py: Python<'_>, engine: &FhewContext) -> PyResult<&Array> {
        fits(py, &self.context, engine, "ciphertext")?;
        Ok(&self.value)
    }
    fn made(&self, py: Python<'_>, work: impl FnOnce(&Array) -> Result<Array, aglet::Error> + Send) -> PyResult<Self> {
        let made = py.detach(|| work(&self.value));
        made.map(|value| Self::new(&self.context, value)).map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl FhewArray {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.value.shape().to_vec()
    }
    /// True if it holds bits for gates, false if it holds integers.
    #[getter]
    fn is_bits(&self) -> bool {
        self.value.form() == Form::Bits
    }
    /// "bits", "padded", "full", "negacyclic", "signed" or "unsigned".
    #[getter]
    fn form(&self) -> &'static str {
        self.value.form().name()
    }
    /// Bits of a value.
    #[getter]
    fn bits(&self) -> u32 {
        match self.value.form() {
            Form::Bits => 1,
            Form::Messages(_) => self.value.context().params().message().space().ilog2(),
            Form::Integers(integer) => integer.bits(),
            Form::Unsigned(unsigned) => unsigned.bits(),
        }
    }
    /// Short id of the secret key that decrypts it.
    #[getter]
    fn key_id(&self) -> String {
        self.value.key().to_string()
    }
    /// The name of the parameter set.
    #[getter]
    fn preset(&self) -> &str {
        &self.value.context().params().literal().name
    }
    #[getter]
    fn byte_count(&self) -> usize {
        self.value.byte_count()
    }
    /// The largest variance of the noise of a ciphertext, on the torus; 0 of an empty array.
    #[getter]
    fn variance(&self) -> f64 {
        self.value.variance()
    }
    /// The ciphertexts at these positions, with another shape.
    fn take(&self, py: Python<'_>, places: PyReadonlyArray1<'_, i64>, shape: Vec<usize>) -> PyResult<Self> {
        let places: Vec<usize> = places.as_array().iter().map(|&at| at as usize).collect();
        self.made(py, |array| array.take(&places, shape))
    }
    /// Joins arrays: their ciphertexts one after the other.
    #[staticmethod]
    fn joined(py: Python<'_>, arrays: Vec<PyRef<'_, FhewArray>>) -> PyResult<Self> {
        let arrays: Vec<&Array> = arrays.iter().map(|array| &array.value).collect();
        let joined = py.detach(|| Array::joined(&arrays)).map_err(|error| raise(py, error))?;
        Ok(Self::new(&joined.context().clone(), joined))
    }
    /// Adds `weight` times another array of the same shape.
    fn plus(&self, py: Python<'_>, other: &Self, weight: i64) -> PyResult<Self> {
        self.made(py, |array| array.plus(&other.value, weight))
    }
    /// The sum of each `count` consecutive ciphertexts.
    fn sums(&self, py: Python<'_>, count: usize) -> PyResult<Self> {
        self.made(py, |array| array.sums(count))
    }
    /// Adds numbers in the clear.
    fn plus_clear(&self, py: Python<'_>, numbers: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let numbers = vector(&numbers);
        self.made(py, |array| array.plus_clear(&numbers))
    }
    /// Multiplies by numbers in the clear.
    fn times(&self, py: Python<'_>, factors: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let factors = vector(&factors);
        self.made(py, |array| array.times(&factors))
    }
    /// Padded messages as those of the full domain.
    fn without_padding(&self, py: Python<'_>) -> PyResult<Self> {
        self.made(py, Array::without_padding)
    }
    /// Negates bits.
    fn negated(&self, py: Python<'_>) -> PyResult<Self> {
        self.made(py, Array::negated)
    }
}
