//! The part of the class `Engine` with linear maps by diagonals, and sums of products.

use super::engine::{Engine, Slots};
use super::objects::{Ciphertext, EncodedMap, FixedRotationKey, RelinearizationKey};
use crate::errors::in_pairs;
use crate::family::vector;
use aglet::ckks::MapStep;
use num_complex::Complex64;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

type Progress<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// A giant step: the place of the key that leads to the step below it, and for each baby step the place of its key and
/// one period of the diagonal.
type Step<'py> = (Option<usize>, Vec<(Option<usize>, Slots<'py>)>);

fn complex(diagonal: &Slots<'_>) -> Vec<Complex64> {
    match diagonal {
        Slots::Real(values) => vector(values).into_iter().map(Complex64::from).collect(),
        Slots::Complex(values) => vector(values),
    }
}

#[pymethods]
impl Engine {
    /// Bytes in memory of a fixed rotation key for levels up to this one.
    fn fixed_rotation_key_bytes(&self, py: Python<'_>, level: usize) -> PyResult<u64> {
        self.quick(py, |e| e.fixed_rotation_key_bytes(level))
    }
    /// Encodes a linear map for ciphertexts of one level, to be used once or often. Steps name keys by their places.
    #[pyo3(signature = (keys, steps, level, progress = None, *, once = false))]
    fn encode_map(
        &self,
        py: Python<'_>,
        keys: Vec<PyRef<'_, FixedRotationKey>>,
        steps: Vec<Step<'_>>,
        level: usize,
        progress: Progress<'_, '_>,
        once: bool,
    ) -> PyResult<EncodedMap> {
        let keys = keys.iter().map(|key| key.of(py, &self.context)).collect::<PyResult<Vec<_>>>()?;
        let key = |place: Option<usize>| -> PyResult<Option<&aglet::ckks::FixedRotationKey>> {
            let found =
                place.map(|i| keys.get(i).copied().ok_or_else(|| PyIndexError::new_err("There is no such key.")));
            found.transpose()
        };
        let real = steps.iter().flat_map(|step| &step.1).all(|term| matches!(term.1, Slots::Real(_)));
        let step = |(turn, terms): &Step<'_>| -> PyResult<MapStep<'_>> {
            let terms = terms.iter().map(|(baby, diagonal)| Ok((key(*baby)?, complex(diagonal))));
            Ok(MapStep { turn: key(*turn)?, terms: terms.collect::<PyResult<_>>()? })
        };
        let steps = steps.iter().map(step).collect::<PyResult<Vec<_>>>()?;
        let made = self.long(py, progress, |e, control| match once {
            true => e.prepare_map(&steps, real, level, control),
            false => e.encode_map(&steps, real, level, control),
        })?;
        Ok(EncodedMap::new(&self.context, made))
    }
    /// Applies a linear map with the keys that it was encoded for. It takes one level.
    #[pyo3(signature = (map, ct, keys, progress = None))]
    fn linear_map(
        &self,
        py: Python<'_>,
        map: &EncodedMap,
        ct: &Ciphertext,
        keys: Vec<PyRef<'_, FixedRotationKey>>,
        progress: Progress<'_, '_>,
    ) -> PyResult<Ciphertext> {
        let (map, ct) = (map.of(py, &self.context)?, &ct.of(py, &self.context)?.get());
        let keys = keys.iter().map(|key| key.of(py, &self.context)).collect::<PyResult<Vec<_>>>()?;
        let made = self.long(py, progress, |e, control| e.linear_map(map, ct, &keys, control))?;
        self.wrap(py, made)
    }
    /// The sum of the products of two lists, with one relinearization and one rescale.
    fn product_sum(
        &self,
        py: Python<'_>,
        left: Vec<PyRef<'_, Ciphertext>>,
        right: Vec<PyRef<'_, Ciphertext>>,
        relin: &RelinearizationKey,
    ) -> PyResult<Ciphertext> {
        in_pairs(py, left.len(), right.len())?;
        let held = |all: &[PyRef<'_, Ciphertext>]| -> PyResult<Vec<_>> {
            all.iter().map(|ct| Ok(ct.of(py, &self.context)?.get())).collect()
        };
        let (left, right, relin) = (held(&left)?, held(&right)?, relin.of(py, &self.context)?);
        let pairs: Vec<_> = left.iter().zip(&right).collect();
        let made = self.quick(py, |e| e.product_sum(&pairs, relin))?;
        self.wrap(py, made)
    }
}
