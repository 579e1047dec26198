//! Circuits of `IntegerEngine`: weighted sums, powers, polynomials, lookup tables, comparisons.

use super::objects::{IntegerBootstrapKey, IntegerCiphertext, IntegerPlaintext, IntegerRelinearizationKey};
use super::IntegerEngine;
use crate::errors::{count, exception, in_pairs, one_each, MANY_TERMS};
use crate::family::vector;
use aglet::integer::{Ciphertext, Comparison, Engine, InParts, Table};
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

    /// Bootstraps, relinearizations, output level and bits of noise of tables of one variable at a level; None if no bootstraps suffice.
    fn in_parts(
        &self,
        py: Python<'_>,
        level: i64,
        tables: impl FnOnce(&Engine) -> Result<Vec<Table>, Error> + Send,
    ) -> PyResult<Option<Parts>> {
        let level = count(py, "level", level)?;
        let found = self.quick(py, |e| {
            let tables = tables(e)?;
            let parts = e.table_in_parts(&tables.iter().collect::<Vec<_>>(), level)?;
            Ok::<_, Error>(parts.map(|parts| (e.excess_in_parts(&parts), parts)))
        })?;
        let row =
            |(excess, parts): (f64, InParts)| (parts.bootstraps(), parts.relinearizations, parts.output_level, excess);
        Ok(found.map(row))
    }
}

/// What a table in parts takes, as Python has it.
type Parts = (usize, usize, usize, f64);

/// Tables of one length in so many digits.
fn tables_of(e: &Engine, values: &[Vec<i64>], digits: usize) -> Result<Vec<Table>, Error> {
    values.iter().map(|values| e.table(values, digits)).collect()
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
    /// The sum of the products of pairs, relinearized once.
    fn product_sum(
        &self,
        py: Python<'_>,
        left: Vec<PyRef<'_, IntegerCiphertext>>,
        right: Vec<PyRef<'_, IntegerCiphertext>>,
        relin: &IntegerRelinearizationKey,
    ) -> PyResult<IntegerCiphertext> {
        in_pairs(py, left.len(), right.len())?;
        let held = |all: &[PyRef<'_, IntegerCiphertext>]| -> PyResult<Vec<_>> {
            all.iter().map(|ct| ct.of(py, &self.context).cloned()).collect()
        };
        let (left, right, relin) = (held(&left)?, held(&right)?, relin.of(py, &self.context)?);
        let pairs: Vec<_> = left.iter().zip(&right).collect();
        let made = match pairs.len() {
            0..MANY_TERMS => self.quick(py, |e| e.product_sum(&pairs, relin, &Control::new())),
            _ => self.long(py, None, |e, control| e.product_sum(&pairs, relin, control)),
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
    #[pyo3(signature = (ct, coefficients, relin, bootstrap = None, progress = None))]
    fn evaluate_polynomial(
        &self,
        py: Python<'_>,
        ct: &IntegerCiphertext,
        coefficients: PyReadonlyArray1<'_, i64>,
        relin: &IntegerRelinearizationKey,
        bootstrap: Option<&IntegerBootstrapKey>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (ct, relin, coefficients) =
            (ct.of(py, &self.context)?, relin.of(py, &self.context)?, vector(&coefficients));
        let again = bootstrap.map(|key| key.of(py, &self.context)).transpose()?;
        self.circuit(py, progress, |e, control| e.evaluate_polynomial(ct, &coefficients, (relin, again), control))
    }
    /// Numbers, each one ciphertext for each digit, the lowest first, by each of these tables of one length. With a bootstrap key numbers
    /// have one digit, and they and their powers are bootstrapped where levels run out. Without one, tables may take `spare` levels more.
    #[pyo3(signature = (numbers, values, spare, relin, bootstrap = None, progress = None))]
    #[allow(clippy::too_many_arguments)] // one for each choice
    fn lookup_many(
        &self,
        py: Python<'_>,
        numbers: Vec<Vec<PyRef<'_, IntegerCiphertext>>>,
        values: Vec<PyReadonlyArray1<'_, i64>>,
        spare: i64,
        relin: &IntegerRelinearizationKey,
        bootstrap: Option<&IntegerBootstrapKey>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Vec<IntegerCiphertext>>> {
        let spare = count(py, "spare_levels", spare)?;
        let of = |x: &PyRef<'_, IntegerCiphertext>| x.of(py, &self.context).cloned();
        let numbers = numbers.iter().map(|digits| digits.iter().map(of).collect());
        let numbers: Vec<Vec<Ciphertext>> = numbers.collect::<PyResult<_>>()?;
        let (values, relin): (Vec<_>, _) = (values.iter().map(vector).collect(), relin.of(py, &self.context)?);
        let again = bootstrap.map(|key| key.of(py, &self.context)).transpose()?;
        let found = self.long(py, progress, |e, control| {
            let tables = tables_of(e, &values, numbers.first().map_or(1, Vec::len))?;
            let tables: Vec<&Table> = tables.iter().collect();
            match again {
                Some(again) => e.lookup_in_parts(&numbers.concat(), &tables, (relin, again), control),
                None => numbers.iter().map(|digits| e.lookup_many(digits, &tables, spare, relin, control)).collect(),
            }
        })?;
        let row = |row: Vec<Ciphertext>| row.into_iter().map(|ct| IntegerCiphertext::new(&self.context, ct)).collect();
        Ok(found.into_iter().map(row).collect())
    }
    /// Bootstraps, relinearizations, output level and bits of noise of tables of one variable at a level; None if no bootstraps suffice.
    fn plan_lookup_in_parts(
        &self,
        py: Python<'_>,
        values: Vec<PyReadonlyArray1<'_, i64>>,
        level: i64,
    ) -> PyResult<Option<Parts>> {
        let values: Vec<_> = values.iter().map(vector).collect();
        self.in_parts(py, level, |e| tables_of(e, &values, 1))
    }
    /// The same of a polynomial.
    fn plan_polynomial_in_parts(
        &self,
        py: Python<'_>,
        coefficients: PyReadonlyArray1<'_, i64>,
        level: i64,
    ) -> PyResult<Option<Parts>> {
        let coefficients = vector(&coefficients);
        self.in_parts(py, level, |e| Ok(vec![e.polynomial_table(&coefficients)?]))
    }
    /// The same of a comparison.
    fn plan_compare_in_parts(&self, py: Python<'_>, what: &str, bits: i64, level: i64) -> PyResult<Option<Parts>> {
        let (what, bits) = (comparison(py, what)?, count(py, "bits", bits)?.min(64) as u32);
        self.in_parts(py, level, |e| Ok(vec![e.comparison_table(what, bits)?]))
    }
    /// Levels and relinearizations of lookup tables of one length.
    fn plan_lookup(
        &self,
        py: Python<'_>,
        values: Vec<PyReadonlyArray1<'_, i64>>,
        digits: i64,
        spare: i64,
    ) -> PyResult<(usize, usize)> {
        let (values, digits): (Vec<_>, _) = (values.iter().map(vector).collect(), count(py, "digits", digits)?);
        let spare = count(py, "spare_levels", spare)?;
        let tables = self.quick(py, |e| tables_of(e, &values, digits))?;
        let all: Vec<&Table> = tables.iter().collect();
        Ok((Table::depth_of(&all, spare), Table::relinearizations_of(&all, spare)))
    }
    /// "<", "==" or "maximum" of integers that differ by less than `2^bits`.
    #[pyo3(signature = (what, a, b, bits, relin, bootstrap = None, progress = None))]
    #[allow(clippy::too_many_arguments)] // one for each choice
    fn compare(
        &self,
        py: Python<'_>,
        what: &str,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        bits: i64,
        relin: &IntegerRelinearizationKey,
        bootstrap: Option<&IntegerBootstrapKey>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IntegerCiphertext> {
        let (a, b, relin) = (a.of(py, &self.context)?, b.of(py, &self.context)?, relin.of(py, &self.context)?);
        let (what, bits) = (comparison(py, what)?, count(py, "bits", bits)?.min(64) as u32);
        let again = bootstrap.map(|key| key.of(py, &self.context)).transpose()?;
        self.circuit(py, progress, |e, control| e.compare(what, [a, b], bits, (relin, again), control))
    }
    /// Levels and relinearizations of a comparison.
    fn plan_compare(&self, py: Python<'_>, what: &str, bits: i64) -> PyResult<(usize, usize)> {
        let (what, bits) = (comparison(py, what)?, count(py, "bits", bits)?.min(64) as u32);
        let table = self.quick(py, |e| e.comparison_table(what, bits))?;
        Ok((table.depth(), table.relinearizations()))
    }
}
