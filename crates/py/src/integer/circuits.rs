//! Circuits of `IntegerEngine`: weighted sums, powers, polynomials, lookup tables, comparisons.

use super::objects::{IntegerBootstrapKey, IntegerCiphertext, IntegerPlaintext, IntegerRelinearizationKey};
use super::IntegerEngine;
use crate::errors::{count, exception, one_each, MANY_TERMS};
use crate::family::vector;
use aglet::integer::{Ciphertext, Comparison, Engine};
use aglet::{Control, Error};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

impl IntegerEngine {
    fn circuit(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&Engine, &Control) -> Result<Ciphertext, Error> + Send,
    ) -> PyResult<IntegerCiphertext> {
        Ok(IntegerCiphertext::new(&self.context, self.long(py, progress, work)?))
    }
}

fn comparison(py: Python<'_>, name: &str) -> PyResult<Comparison> {
    match name {
        "<" => Ok(Comparison::Less),
        "==" => Ok(Comparison::Equal),
        "maximum" => Ok(Comparison::Maximum),
        other => {
            let sentence = format!("There is no comparison \"{other}\"; choose one of <, ==, maximum.");
            Err(exception(py, "ParameterError", sentence))
        }
    }
}

#[pymethods]
impl IntegerEngine {
    /// One plaintext for each ciphertext.
    fn weighted_sum(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<PyRef<'_, IntegerCiphertext>>,
        weights: Vec<PyRef<'_, IntegerPlaintext>>,
    ) -> PyResult<IntegerCiphertext> {
        one_each(py, ciphertexts.len(), weights.len())?;
        let of = |(ct, pt): (&'_ PyRef<'_, IntegerCiphertext>, &'_ PyRef<'_, IntegerPlaintext>)| {
            Ok((ct.of(py, &self.context)?.clone(), pt.of(py, &self.context)?.clone()))
        };
        let held = ciphertexts.iter().zip(&weights).map(of).collect::<PyResult<Vec<_>>>()?;
        let terms: Vec<_> = held.iter().map(|(ct, pt)| (ct, pt)).collect();
        // A thread for each call would be felt where there is little to do.
        let made = match terms.len() {
            0..MANY_TERMS => self.quick(py, |e| e.weighted_sum(&terms, &Control::new())),
            _ => self.long(py, None, |e, control| e.weighted_sum(&terms, control)),
        }?;
        Ok(IntegerCiphertext::new(&self.context, made))
    }
    #[pyo3(signature = (ct, exponent, relin, progress = None))]
    fn power(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        exponent: i64,
        relin: &IntegerRelinearizationKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (ct, relin, exponent) =
            (ct.of(py, &self.context)?, relin.of(py, &self.context)?, count(py, "exponent", exponent)?);
        self.circuit(py, progress, |e, control| e.power(ct, exponent, relin, control))
    }
    #[pyo3(signature = (ct, coefficients, relin, progress = None))]
    fn evaluate_polynomial(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        coefficients: PyReadonlyArray1<'_, i64>,
        relin: &IntegerRelinearizationKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (ct, relin, coefficients) =
            (ct.of(py, &self.context)?, relin.of(py, &self.context)?, vector(&coefficients));
        self.circuit(py, progress, |e, control| e.evaluate_polynomial(ct, &coefficients, relin, control))
    }
    /// One ciphertext for each digit of the index, the lowest first.
    #[pyo3(signature = (digits, values, relin, progress = None))]
    fn lookup(
        &self,
        py: Python<'_>,
        digits: Vec<PyRef<'_, IntegerCiphertext>>,
        values: PyReadonlyArray1<'_, i64>,
        relin: &IntegerRelinearizationKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let digits: Vec<Ciphertext> =
            digits.iter().map(|x| x.of(py, &self.context).cloned()).collect::<PyResult<_>>()?;
        let (values, relin) = (vector(&values), relin.of(py, &self.context)?);
        self.circuit(py, progress, |e, control| e.lookup(&digits, &e.table(&values, digits.len())?, relin, control))
    }
    /// A table of one variable, with bootstraps of it and its powers where levels run out.
    #[pyo3(signature = (ct, values, relin, bootstrap, progress = None))]
    fn lookup_in_parts(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        values: PyReadonlyArray1<'_, i64>,
        relin: &IntegerRelinearizationKey,
        bootstrap: &IntegerBootstrapKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (ct, relin, bootstrap) =
            (ct.of(py, &self.context)?, relin.of(py, &self.context)?, bootstrap.of(py, &self.context)?);
        let values = vector(&values);
        self.circuit(py, progress, |e, control| {
            e.lookup_in_parts(ct, &e.table(&values, 1)?, (relin, bootstrap), control)
        })
    }
    /// Bootstraps, relinearizations and output level of a table of one variable at a level; None if no bootstraps suffice.
    fn plan_lookup_in_parts(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        level: i64,
    ) -> PyResult<Option<(usize, usize, usize)>> {
        let (values, level) = (vector(&values), count(py, "level", level)?);
        let parts = self.quick(py, |e| e.table_in_parts(&e.table(&values, 1)?, level))?;
        Ok(parts.map(|parts| (parts.bootstraps(), parts.relinearizations, parts.output_level)))
    }
    /// Levels and relinearizations of a lookup table.
    fn plan_lookup(&self, py: Python<'_>, values: PyReadonlyArray1<'_, i64>, digits: i64) -> PyResult<(usize, usize)> {
        let (values, digits) = (vector(&values), count(py, "digits", digits)?);
        let table = self.quick(py, |e| e.table(&values, digits))?;
        Ok((table.depth(), table.relinearizations()))
    }
    /// "<", "==" or "maximum" of integers that differ by less than `2^bits`.
    #[pyo3(signature = (what, a, b, bits, relin, progress = None))]
    #[allow(clippy::too_many_arguments)] // one for each choice
    fn compare(
        &self,
        py: Python<'_>,
        what: &str,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        bits: i64,
        relin: &IntegerRelinearizationKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (a, b, relin) = (a.of(py, &self.context)?, b.of(py, &self.context)?, relin.of(py, &self.context)?);
        let (what, bits) = (comparison(py, what)?, count(py, "bits", bits)?.min(64) as u32);
        self.circuit(py, progress, |e, control| e.compare(what, [a, b], bits, relin, control))
    }
    /// Levels and relinearizations of a comparison.
    fn plan_compare(&self, py: Python<'_>, what: &str, bits: i64) -> PyResult<(usize, usize)> {
        let (what, bits) = (comparison(py, what)?, count(py, "bits", bits)?.min(64) as u32);
        let table = self.quick(py, |e| e.comparison_table(what, bits))?;
        Ok((table.depth(), table.relinearizations()))
    }
}
