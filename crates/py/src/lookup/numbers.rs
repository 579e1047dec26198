//! Numbers of `LookupEngine`: signs and comparisons of integers, floors and digits of words.

use super::objects::{LookupKey, LweArray, LweSecretKey};
use super::LookupEngine;
use crate::errors::{count, exception};
use aglet::fhew::{Array, Domain, Form, Integer, Order, Word};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// A small whole number.
pub fn small(py: Python<'_>, name: &str, value: i64) -> PyResult<u32> {
    Ok(u32::try_from(count(py, name, value)?).unwrap_or(u32::MAX))
}

impl LookupEngine {
    /// Integers with a sign, of one number of bits.
    fn integers_of<'a>(
        &self,
        py: Python<'_>,
        inputs: &'a [PyRef<'_, LweArray>],
    ) -> PyResult<(Vec<&'a Array>, Integer)> {
        const REFUSAL: &str =
            "Signs and comparisons take integers with a sign, of one number of bits; encrypt them with bits=, 2 to 20.";
        let arrays = self.inputs(py, |form| matches!(form, Form::Integers(_)), REFUSAL, inputs)?;
        match arrays.first().map(|x| x.form()) {
            Some(Form::Integers(integer)) => Ok((arrays, integer)),
            _ => Err(exception(py, "ParameterError", REFUSAL.into())),
        }
    }
    /// Integers without a sign.
    fn words_of<'a>(&self, py: Python<'_>, ct: &'a LweArray) -> PyResult<(&'a Array, Word)> {
        let array = ct.of(py, &self.home)?;
        match array.form() {
            Form::Words(word) => Ok((array, word)),
            _ => {
                let sentence = "Floors and digits are taken of integers without a sign; encrypt them with bits=, 1 to 20, and signed=False.";
                Err(exception(py, "ParameterError", sentence.into()))
            }
        }
    }
}

#[pymethods]
impl LookupEngine {
    /// Integers with a sign.
    fn encrypt_integers(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        shape: Vec<usize>,
        sk: &LweSecretKey,
        bits: i64,
    ) -> PyResult<LweArray> {
        let (sk, values) = (sk.of(py, &self.home)?, values.as_array().to_vec());
        let bits = small(py, "bits", bits)?;
        let array = self.quick(py, |e| {
            let integer = Integer::new(bits)?;
            let cells = e.encrypt_integers(&values, integer, sk)?;
            Array::new(&self.home, Form::Integers(integer), shape, sk.id(), cells)
        })?;
        Ok(LweArray::new(&self.home, array))
    }
    /// Integers without a sign, which wrap around.
    fn encrypt_words(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        shape: Vec<usize>,
        sk: &LweSecretKey,
        bits: i64,
    ) -> PyResult<LweArray> {
        let (sk, values) = (sk.of(py, &self.home)?, values.as_array().iter().map(|&x| x as u64).collect::<Vec<_>>());
        let bits = small(py, "bits", bits)?;
        let array = self.quick(py, |e| {
            let word = Word::new(bits)?;
            let cells = e.encrypt_words(&values, word, sk)?;
            Array::new(&self.home, Form::Words(word), shape, sk.id(), cells)
        })?;
        Ok(LweArray::new(&self.home, array))
    }
    /// 1 for integers from 0 on and 0 for others, as padded messages.
    #[pyo3(signature = (ct, key, max_log2_failure = None, progress = None))]
    fn sign(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, LweArray>,
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LweArray> {
        let inputs = [ct];
        let ((arrays, integer), own) = (self.integers_of(py, &inputs)?, key.of(py, &self.home)?);
        let cells = arrays[0].cells();
        let out = self.long(py, progress, |e, control| e.sign(cells, integer, own, max_log2_failure, control))?;
        self.made(py, Form::Messages(Domain::Padded), arrays[0].shape(), key, out)
    }
    /// By the name of the order; arrays of one shape.
    #[pyo3(signature = (order, inputs, key, max_log2_failure = None, progress = None))]
    fn compare(
        &self,
        py: Python<'_>,
        order: &str,
        inputs: [PyRef<'_, LweArray>; 2],
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LweArray> {
        let ((arrays, integer), own) = (self.integers_of(py, &inputs)?, key.of(py, &self.home)?);
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
    /// Words without their low bits.
    #[pyo3(signature = (ct, bits, key, max_log2_failure = None, progress = None))]
    fn floor(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, LweArray>,
        bits: i64,
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LweArray> {
        let ((array, word), own, bits) = (self.words_of(py, &ct)?, key.of(py, &self.home)?, small(py, "bits", bits)?);
        let left =
            word.bits().checked_sub(bits).filter(|&left| bits > 0 && left > 0).and_then(|left| Word::new(left).ok());
        let Some(left) = left else {
            let sentence = match word.bits() {
                1 => "An integer of one bit has no floor but itself; encrypt it with more bits.".into(),
                all => format!("A floor takes off 1 to {} of {all} bits, not {bits}; give one of them.", all - 1),
            };
            return Err(exception(py, "RangeError", sentence));
        };
        let cells = array.cells();
        let out = self.long(py, progress, |e, control| e.floor(cells, word, bits, own, max_log2_failure, control))?;
        self.made(py, Form::Words(left), array.shape(), key, out)
    }
    /// The digits of words as padded messages, an array for each, the lowest first.
    #[pyo3(signature = (ct, key, max_log2_failure = None, progress = None))]
    fn digits(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, LweArray>,
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<LweArray>> {
        let ((array, word), own) = (self.words_of(py, &ct)?, key.of(py, &self.home)?);
        let cells = array.cells();
        let out = self.long(py, progress, |e, control| e.digits(cells, word, own, max_log2_failure, control))?;
        let padded = Form::Messages(Domain::Padded);
        out.into_iter().map(|digit| self.made(py, padded, array.shape(), key, digit)).collect()
    }
}
