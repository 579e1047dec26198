//! The part of the class `Engine` with polynomials, weighted sums, batches of rotations and matrices.

use super::engine::{Engine, Scalar, Slots};
use super::objects::{
    Ciphertext, EncodedDiagonals, EncodedWeights, FixedRotationKey, MatrixMultiplicationKey, Plaintext,
    RelinearizationKey, RotationKey, SecretKey,
};
use crate::errors::{count, one_each, MANY_TERMS};
use crate::family::vector;
use aglet::ckks::{Matrix, PolynomialBasis, SumWeight};
use num_complex::Complex64;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

type Progress<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// The weight of one ciphertext in a weighted sum.
#[derive(FromPyObject)]
pub enum Weight<'py> {
    Plaintext(Bound<'py, Plaintext>),
    Encoded(Bound<'py, EncodedWeights>),
    Slots(Slots<'py>),
    Number(Scalar),
}

/// A matrix; its dtype says whether it is real or complex.
#[derive(FromPyObject)]
pub enum Entries<'py> {
    Real(PyReadonlyArray2<'py, f64>),
    Complex(PyReadonlyArray2<'py, Complex64>),
}

/// The matrix of a product, plain or encoded.
#[derive(FromPyObject)]
pub enum Factor<'py> {
    Encoded(Bound<'py, EncodedDiagonals>),
    Entries(Entries<'py>),
}

/// Evaluates one expression for real and for complex numbers.
macro_rules! either {
    ($kind:ident, $given:expr, |$array:ident| $body:expr) => {
        match $given {
            $kind::Real($array) => $body,
            $kind::Complex($array) => $body,
        }
    };
}

fn rows<T: Copy + numpy::Element>(matrix: &PyReadonlyArray2<'_, T>) -> (Vec<T>, usize) {
    let array = matrix.as_array();
    (array.iter().copied().collect(), array.ncols())
}

impl Engine {
    fn wrap_all(&self, py: Python<'_>, all: Vec<aglet::ckks::Ciphertext>) -> PyResult<Vec<Ciphertext>> {
        all.into_iter().map(|ct| self.wrap(py, ct)).collect()
    }
}

#[pymethods]
impl Engine {
    /// `basis` is "power", "chebyshev", or "half-chebyshev" for Chebyshev polynomials of half the value.
    #[pyo3(signature = (ct, coefficients, basis, relin, progress = None))]
    fn evaluate_polynomial(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        coefficients: PyReadonlyArray1<'_, Complex64>,
        basis: &str,
        relin: &RelinearizationKey,
        progress: Progress<'_, '_>,
    ) -> PyResult<Ciphertext> {
        let (ct, relin) = (&ct.of(py, &self.context)?.get(), relin.of(py, &self.context)?);
        let coefficients = vector(&coefficients);
        let made = self.long(py, progress, |e, control| {
            e.evaluate_polynomial(ct, &coefficients, PolynomialBasis::parse(basis)?, relin, control)
        })?;
        self.wrap(py, made)
    }
    /// The elements 1 to `degree` of a basis, "power" or "chebyshev".
    #[pyo3(signature = (ct, degree, basis, relin, progress = None))]
    fn make_basis(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        degree: i64,
        basis: &str,
        relin: &RelinearizationKey,
        progress: Progress<'_, '_>,
    ) -> PyResult<Vec<Ciphertext>> {
        let (ct, relin) = (&ct.of(py, &self.context)?.get(), relin.of(py, &self.context)?);
        let degree = count(py, "degree", degree)?;
        let made = self.long(py, progress, |e, control| {
            e.make_basis(ct, degree, PolynomialBasis::parse(basis)?, relin, control)
        })?;
        self.wrap_all(py, made)
    }
    /// One weight for each ciphertext: a number, an array over all slots, or a plaintext.
    fn weighted_sum(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        weights: Vec<Weight<'_>>,
    ) -> PyResult<Ciphertext> {
        one_each(py, ciphertexts.len(), weights.len())?;
        let held = ciphertexts.iter().map(|ct| Ok(ct.of(py, &self.context)?.get())).collect::<PyResult<Vec<_>>>()?;
        let mut terms = Vec::with_capacity(weights.len());
        for (ct, weight) in held.iter().zip(&weights) {
            let weight = match weight {
                Weight::Plaintext(pt) => SumWeight::Plaintext(&pt.get().of(py, &self.context)?.value),
                Weight::Encoded(weights) => SumWeight::Encoded(weights.get().of(py, &self.context)?),
                Weight::Slots(Slots::Real(values)) => SumWeight::RealSlots(vector(values)),
                Weight::Slots(Slots::Complex(values)) => SumWeight::ComplexSlots(vector(values)),
                Weight::Number(Scalar::Real(c)) => SumWeight::Real(*c),
                Weight::Number(Scalar::Complex(c)) => SumWeight::Complex(*c),
            };
            terms.push((ct, weight));
        }
        // A thread for each call would be felt where there is little to do.
        let made = match terms.len() {
            0..MANY_TERMS => self.quick(py, |e| e.weighted_sum(&terms)),
            _ => self.long(py, None, |e, control| e.weighted_sum_until(&terms, control)),
        }?;
        self.wrap(py, made)
    }

    /// Encodes weights for sums at one level.
    fn encode_weights(&self, py: Python<'_>, weights: Slots<'_>, level: usize) -> PyResult<EncodedWeights> {
        let made = either!(Slots, weights, |values| {
            let values = vector(&values);
            self.quick(py, |e| e.encode_weights(&values, level))?
        });
        Ok(EncodedWeights::new(&self.context, made))
    }

    /// `deltas` as in `numpy.roll`.
    #[pyo3(signature = (ct, key, deltas, progress = None))]
    fn rotate_batch(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        key: &RotationKey,
        deltas: Vec<i64>,
        progress: Progress<'_, '_>,
    ) -> PyResult<Vec<Ciphertext>> {
        let (ct, key) = (&ct.of(py, &self.context)?.get(), key.of(py, &self.context)?);
        let made = self.long(py, progress, |e, control| e.rotate_batch(ct, key, &deltas, control))?;
        self.wrap_all(py, made)
    }
    /// Rotates by the step of each key.
    #[pyo3(signature = (ct, keys, progress = None))]
    fn rotate_batch_fixed(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        keys: Vec<PyRef<'_, FixedRotationKey>>,
        progress: Progress<'_, '_>,
    ) -> PyResult<Vec<Ciphertext>> {
        let ct = &ct.of(py, &self.context)?.get();
        let keys = keys.iter().map(|key| key.of(py, &self.context)).collect::<PyResult<Vec<_>>>()?;
        let made = self.long(py, progress, |e, control| e.rotate_batch_fixed(ct, &keys, control))?;
        self.wrap_all(py, made)
    }

    /// Bytes in memory of the matrix multiplication key for all levels.
    #[getter]
    fn matrix_key_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.quick(py, |e| e.matrix_key_bytes(None, None))
    }
    #[pyo3(signature = (sk, level, baby_step_count, progress = None))]
    fn create_matrix_multiplication_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        level: Option<i64>,
        baby_step_count: Option<i64>,
        progress: Progress<'_, '_>,
    ) -> PyResult<MatrixMultiplicationKey> {
        let sk = sk.of(py, &self.context)?;
        let level = level.map(|l| count(py, "level", l)).transpose()?;
        let baby = baby_step_count.map(|b| count(py, "baby_step_count", b)).transpose()?;
        let key = self.long(py, progress, |e, control| e.create_matrix_key(sk, level, baby, control))?;
        Ok(MatrixMultiplicationKey::new(&self.context, key))
    }
    /// The product of the matrix and the vector in the slots. It takes one level.
    #[pyo3(signature = (matrix, ct, key, progress = None))]
    fn multiply_matrix(
        &self,
        py: Python<'_>,
        matrix: Factor<'_>,
        ct: &Ciphertext,
        key: &MatrixMultiplicationKey,
        progress: Progress<'_, '_>,
    ) -> PyResult<Ciphertext> {
        let (ct, key) = (&ct.of(py, &self.context)?.get(), key.of(py, &self.context)?);
        let made = match matrix {
            Factor::Encoded(matrix) => {
                let matrix = matrix.get().of(py, &self.context)?;
                self.long(py, progress, |e, control| e.multiply_encoded_matrix(matrix, ct, key, control))?
            }
            Factor::Entries(entries) => either!(Entries, entries, |matrix| {
                let (entries, columns) = rows(&matrix);
                let matrix = Matrix { entries: &entries, columns };
                self.long(py, progress, |e, control| e.multiply_matrix(&matrix, ct, key, control))?
            }),
        };
        self.wrap(py, made)
    }

    /// Encodes a matrix for products at one level, with keys of the shape of `key`.
    #[pyo3(signature = (matrix, key, level, progress = None))]
    fn encode_matrix(
        &self,
        py: Python<'_>,
        matrix: Entries<'_>,
        key: &MatrixMultiplicationKey,
        level: usize,
        progress: Progress<'_, '_>,
    ) -> PyResult<EncodedDiagonals> {
        let key = key.of(py, &self.context)?;
        let made = either!(Entries, matrix, |matrix| {
            let (entries, columns) = rows(&matrix);
            let matrix = Matrix { entries: &entries, columns };
            self.long(py, progress, |e, control| e.encode_matrix(&matrix, key, level, control))?
        });
        Ok(EncodedDiagonals::new(&self.context, made))
    }
}
