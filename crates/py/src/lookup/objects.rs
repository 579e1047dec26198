//! Keys and arrays of ciphertexts of gates and tables: never changed, and at home in every engine of their parameters.

use crate::errors::raise;
use crate::family::{fits, homed_keys, homed_pickles, never_pickled, unchanging, vector, Class};
use aglet::fhew::{Array, Form, Home};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

homed_keys! { Home:
    /// The secret key of gates and tables, wiped from memory when dropped. It refuses to be pickled.
    LweSecretKey(aglet::fhew::SecretKey), "secret key" {
        fn __reduce__(&self) -> PyResult<()> {
            never_pickled("write_lwe_secret_key")
        }
        /// Bytes in memory.
        #[getter]
        fn byte_count(&self) -> usize {
            self.value.byte_count()
        }
    }
}

homed_keys! { seeded Home:
    /// What bootstraps need: the keys of a blind rotation and of a key switch.
    LookupKey(aglet::fhew::LookupKey), "lookup key" {}

    /// What tables of two messages need beside a lookup key: the automorphisms that pack samples.
    PackingKey(aglet::fhew::PackingKey), "packing key" {}
}

homed_pickles! { Home: LookupKey, PackingKey, LweArray }

unchanging! { LookupKey, PackingKey, LweArray }

/// Ciphertexts in a row, with the shape that they stand for; `aglet.LweCiphertext` is the face of it.
#[pyclass(frozen, module = "aglet._core")]
pub struct LweArray {
    home: Home,
    value: Array,
}

impl Class for LweArray {
    type Home = Home;
    type Value = Array;
}

impl LweArray {
    pub fn new(home: &Home, value: Array) -> Self {
        Self { home: home.clone(), value }
    }
    pub fn of(&self, py: Python<'_>, engine: &Home) -> PyResult<&Array> {
        fits(py, &self.home, engine, "ciphertext")?;
        Ok(&self.value)
    }
    fn made(&self, py: Python<'_>, work: impl FnOnce(&Array) -> Result<Array, aglet::Error> + Send) -> PyResult<Self> {
        let made = py.detach(|| work(&self.value));
        made.map(|value| Self::new(&self.home, value)).map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl LweArray {
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.value.shape().to_vec()
    }
    /// Whether it holds bits of gates; integers of tables else.
    #[getter]
    fn is_bits(&self) -> bool {
        self.value.form() == Form::Bits
    }
    /// What its phases stand for: "bits", "padded", "full", "negacyclic", "signed" or "unsigned".
    #[getter]
    fn form(&self) -> &'static str {
        self.value.form().name()
    }
    /// Bits of a value.
    #[getter]
    fn bits(&self) -> u32 {
        match self.value.form() {
            Form::Bits => 1,
            Form::Messages(_) => self.value.home().params().message().space().ilog2(),
            Form::Integers(integer) => integer.bits(),
            Form::Words(word) => word.bits(),
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
        &self.value.home().params().literal().name
    }
    #[getter]
    fn byte_count(&self) -> usize {
        self.value.byte_count()
    }
    /// The ciphertexts at these places, in another shape.
    fn take(&self, py: Python<'_>, places: PyReadonlyArray1<'_, i64>, shape: Vec<usize>) -> PyResult<Self> {
        let places: Vec<usize> = places.as_array().iter().map(|&at| at as usize).collect();
        self.made(py, |array| array.take(&places, shape))
    }
    /// All ciphertexts of several, one after the other.
    #[staticmethod]
    fn joined(py: Python<'_>, arrays: Vec<PyRef<'_, LweArray>>) -> PyResult<Self> {
        let arrays: Vec<&Array> = arrays.iter().map(|array| &array.value).collect();
        let joined = py.detach(|| Array::joined(&arrays)).map_err(|error| raise(py, error))?;
        Ok(Self::new(&joined.home().clone(), joined))
    }
    /// Plus another one of its shape, as often as the weight says.
    fn plus(&self, py: Python<'_>, other: &Self, weight: i64) -> PyResult<Self> {
        self.made(py, |array| array.plus(&other.value, weight))
    }
    /// The sums of each `count` that follow one another.
    fn sums(&self, py: Python<'_>, count: usize) -> PyResult<Self> {
        self.made(py, |array| array.sums(count))
    }
    /// Plus numbers in the clear.
    fn plus_clear(&self, py: Python<'_>, numbers: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let numbers = vector(&numbers);
        self.made(py, |array| array.plus_clear(&numbers))
    }
    /// Times numbers in the clear.
    fn times(&self, py: Python<'_>, factors: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let factors = vector(&factors);
        self.made(py, |array| array.times(&factors))
    }
    /// Bits negated.
    fn negated(&self, py: Python<'_>) -> PyResult<Self> {
        self.made(py, Array::negated)
    }
}
