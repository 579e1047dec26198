//! Numbers of `LookupEngine`: signs and comparisons.

use super::objects::{LookupKey, LweArray};
use super::LookupEngine;
use crate::errors::exception;
use aglet::fhew::{Array, Domain, Form, Integer, Order};
use pyo3::prelude::*;

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
}

#[pymethods]
impl LookupEngine {
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
}
