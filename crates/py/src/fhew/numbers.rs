//! Larger integers of `FhewEngine`: signs and comparisons of signed ones, floors and digits of unsigned ones.

use super::objects::{EncryptingKey, FhewArray, FhewBootstrapKey};
use super::FhewEngine;
use crate::errors::{count, exception};
use aglet::fhew::{Array, Domain, Form, Integer, Order, Unsigned};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// A small whole number.
pub fn small(py: Python<'_>, name: &str, value: i64) -> PyResult<u32> {
    Ok(u32::try_from(count(py, name, value)?).unwrap_or(u32::MAX))
}

impl FhewEngine {
    /// Checks that the arrays hold signed integers with the same number of bits.
    fn integers_of<'a>(
        &self,
        py: Python<'_>,
        inputs: &'a [PyRef<'_, FhewArray>],
    ) -> PyResult<(Vec<&'a Array>, Integer)> {
        const REFUSAL: &str =
            "sign and compare take signed integers with the same number of bits; encrypt them with bits=, 2 to 20.";
        let arrays = self.inputs(py, |form| matches!(form, Form::Integers(_)), REFUSAL, inputs)?;
        match arrays.first().map(|x| x.form()) {
            Some(Form::Integers(integer)) => Ok((arrays, integer)),
            _ => Err(exception(py, "ParameterError", REFUSAL.into())),
        }
    }
    /// Checks that the array holds unsigned integers.
    fn unsigned_of<'a>(&self, py: Python<'_>, ct: &'a FhewArray) -> PyResult<(&'a Array, Unsigned)> {
        let array = ct.of(py, &self.context)?;
        match array.form() {
            Form::Unsigned(unsigned) => Ok((array, unsigned)),
            _ => {
                let sentence =
                    "floor and digits take unsigned integers; encrypt them with bits=, 1 to 20, and signed=False.";
                Err(exception(py, "ParameterError", sentence.into()))
            }
        }
    }
}

#[pymethods]
impl FhewEngine {
    /// Encrypts signed integers.
    fn encrypt_integers(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        shape: Vec<usize>,
        key: EncryptingKey<'_>,
        bits: i64,
    ) -> PyResult<FhewArray> {
        let (key, values) = (key.of(py, &self.context)?, values.as_array().to_vec());
        let bits = small(py, "bits", bits)?;
        let array = self.quick(py, |e| {
            let integer = Integer::new(bits)?;
            let cells = e.encrypt_integers(&values, integer, key)?;
            Array::new(&self.context, Form::Integers(integer), shape, key.id(), cells)
        })?;
        Ok(FhewArray::new(&self.context, array))
    }
    /// Encrypts unsigned integers, which wrap around.
    fn encrypt_unsigned(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        shape: Vec<usize>,
        key: EncryptingKey<'_>,
        bits: i64,
    ) -> PyResult<FhewArray> {
        let (key, values) =
            (key.of(py, &self.context)?, values.as_array().iter().map(|&x| x as u64).collect::<Vec<_>>());
        let bits = small(py, "bits", bits)?;
        let array = self.quick(py, |e| {
            let unsigned = Unsigned::new(bits)?;
            let cells = e.encrypt_unsigned(&values, unsigned, key)?;
            Array::new(&self.context, Form::Unsigned(unsigned), shape, key.id(), cells)
        })?;
        Ok(FhewArray::new(&self.context, array))
    }
    /// 1 for integers or sums of padded messages of 0 or more, else 0, as padded messages.
    #[pyo3(signature = (ct, key, max_log2_failure = None, progress = None))]
    fn sign(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, FhewArray>,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let (inputs, own, padded) = ([ct], key.of(py, &self.context)?, Form::Messages(Domain::Padded));
        let array = inputs[0].of(py, &self.context)?;
        let cells = array.cells();
        let out = if array.form() == padded {
            self.long(py, progress, |e, control| e.sign_of_messages(cells, own, max_log2_failure, control))?
        } else {
            let (_, integer) = self.integers_of(py, &inputs)?;
            self.long(py, progress, |e, control| e.sign(cells, integer, own, max_log2_failure, control))?
        };
        self.made(py, padded, array.shape(), key, out)
    }
    /// Compares arrays of one shape by the order of this name.
    #[pyo3(signature = (order, inputs, key, max_log2_failure = None, progress = None))]
    fn compare(
        &self,
        py: Python<'_>,
        order: &str,
        inputs: [PyRef<'_, FhewArray>; 2],
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let ((arrays, integer), own) = (self.integers_of(py, &inputs)?, key.of(py, &self.context)?);
        let pair = [arrays[0].cells(), arrays[1].cells()];
        let order = match order {
            "<" => Some(Order::Less),
            "<=" => Some(Order::LessEqual),
            ">" => Some(Order::Greater),
            ">=" => Some(Order::GreaterEqual),
            "==" => None,
            other => {
                let sentence = format!("There is no comparison \"{other}\"; choose one of <, <=, >, >=, ==.");
                return Err(exception(py, "ParameterError", sentence));
            }
        };
        let out = self.long(py, progress, |e, control| match order {
            Some(order) => e.compare(pair, order, integer, own, max_log2_failure, control),
            None => e.equal(pair, integer, own, max_log2_failure, control),
        })?;
        self.made(py, Form::Messages(Domain::Padded), arrays[0].shape(), key, out)
    }
    /// Unsigned integers without their low bits.
    #[pyo3(signature = (ct, bits, key, max_log2_failure = None, progress = None))]
    fn floor(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, FhewArray>,
        bits: i64,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let ((array, unsigned), own, bits) =
            (self.unsigned_of(py, &ct)?, key.of(py, &self.context)?, small(py, "bits", bits)?);
        let left = unsigned
            .bits()
            .checked_sub(bits)
            .filter(|&left| bits > 0 && left > 0)
            .and_then(|left| Unsigned::new(left).ok());
        let Some(left) = left else {
            let sentence = match unsigned.bits() {
                1 => "floor leaves at least one bit, and this integer has no more; encrypt it with more bits.".into(),
                all => format!("floor removes 1 to {} of {all} bits, not {bits}; give one of these.", all - 1),
            };
            return Err(exception(py, "RangeError", sentence));
        };
        let cells = array.cells();
        let out =
            self.long(py, progress, |e, control| e.floor(cells, unsigned, bits, own, max_log2_failure, control))?;
        self.made(py, Form::Unsigned(left), array.shape(), key, out)
    }
    /// The digits of unsigned integers as padded messages: one array for each digit, the lowest first.
    #[pyo3(signature = (ct, key, max_log2_failure = None, progress = None))]
    fn digits(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, FhewArray>,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<FhewArray>> {
        let ((array, unsigned), own) = (self.unsigned_of(py, &ct)?, key.of(py, &self.context)?);
        let cells = array.cells();
        let out = self.long(py, progress, |e, control| e.digits(cells, unsigned, own, max_log2_failure, control))?;
        let padded = Form::Messages(Domain::Padded);
        out.into_iter().map(|digit| self.made(py, padded, array.shape(), key, digit)).collect()
    }
    /// The lowest digits of two bits of the whole numbers nearest to unsigned numbers, as padded messages: one array for each, the lowest first.
    #[pyo3(signature = (ct, digits, key, max_log2_failure = None, progress = None))]
    fn nearest(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, FhewArray>,
        digits: i64,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<FhewArray>> {
        let ((array, unsigned), own) = (self.unsigned_of(py, &ct)?, key.of(py, &self.context)?);
        let (cells, read) = (array.cells(), (unsigned, small(py, "digits", digits)?));
        let out = self.long(py, progress, |e, control| e.nearest(cells, read, own, max_log2_failure, control))?;
        let padded = Form::Messages(Domain::Padded);
        out.into_iter().map(|digit| self.made(py, padded, array.shape(), key, digit)).collect()
    }
    /// How near to half way between two numbers of so many bits a value of this variance may lie, and become the farther one too often.
    #[pyo3(signature = (bits, variance, max_log2_failure = None))]
    fn half_way(&self, py: Python<'_>, bits: i64, variance: f64, max_log2_failure: Option<f64>) -> PyResult<f64> {
        let bits = small(py, "bits", bits)?;
        self.quick(py, |e| e.half_way(Unsigned::new(bits)?, variance, max_log2_failure))
    }
}
