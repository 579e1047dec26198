//! A series on any evaluator: products and sums, no scale.

use super::{d_0, Basis, Line, Series};
use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Scalar};
use std::collections::BTreeMap;

/// The elements of one variable, by index.
type Elements<E> = BTreeMap<usize, <E as Evaluator>::Ciphertext>;

impl<S: Scalar> Series<S> {
    /// Evaluates the polynomial at `b_1 = x`: the result is at most [`Series::depth`] levels below `x`. For schemes without
    /// scales; with them [`Series::evaluate_scaled`] takes its place.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator<Scalar = S>>(&self, e: &E, x: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        let (required, actual) = (self.depth(), e.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let mut elements: Elements<E> = BTreeMap::from([(1, x.clone())]);
        for &k in self.elements.iter().filter(|&&k| k > 1) {
            let product = e.mul(&elements[&k.div_ceil(2)], &elements[&(k / 2)])?;
            // D_k = D_a D_b - D_(a-b), where D_(a-b) is D_0 = 2 or D_1.
            let element = match (self.basis, k % 2) {
                (Basis::Power, _) => product,
                (Basis::Dickson, 1) => e.sub(&product, &e.level_down(x, e.level(&product))?)?,
                (Basis::Dickson, _) => e.add_scalar(&product, -d_0::<S>())?,
            };
            elements.insert(k, element);
        }
        line(e, &self.top, &elements)
    }
}

/// The value of a line, its factors first.
fn line<E: Evaluator>(e: &E, of: &Line<E::Scalar>, elements: &Elements<E>) -> Result<E::Ciphertext, Error> {
    let mut parts = Vec::with_capacity(of.products.len() + of.terms.len());
    for (k, factor) in &of.products {
        parts.push(e.mul(&elements[k], &line(e, factor, elements)?)?);
    }
    for (c, k) in &of.terms {
        parts.push(e.mul_scalar(&elements[k], *c)?);
    }
    let lowest = parts.iter().map(|part| e.level(part)).min().unwrap_or_default();
    let mut sum: Option<E::Ciphertext> = None;
    for part in &parts {
        let part = e.level_down(part, lowest)?;
        sum = Some(match sum {
            Some(sum) => e.add(&sum, &part)?,
            None => part,
        });
    }
    let sum = sum.ok_or(Error::ConstantPolynomial)?;
    Ok(e.add_scalar(&sum, of.constant)?)
}
