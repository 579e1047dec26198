//! A series on any evaluator: products and sums, no scale.

use super::{d_0, factors, Basis, Line, Series};
use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Scalar, Sum};
use std::collections::{BTreeMap, BTreeSet};

/// The elements of one variable, by index.
type Elements<E> = BTreeMap<usize, <E as Evaluator>::Ciphertext>;

impl<S: Scalar> Series<S> {
    /// Evaluates the polynomial at `b_1 = x`: the result is at most [`Series::depth`] levels below `x`. For schemes without
    /// scales; with them [`Series::evaluate_scaled`] takes its place.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator<Scalar = S>>(&self, e: &E, x: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        Ok(Self::evaluate_all(std::slice::from_ref(self), e, x)?.remove(0))
    }

    /// [`Series::evaluate`] of several polynomials in one basis, which share their elements: those of [`Series::together`] end at one level.
    ///
    /// # Errors
    /// As there.
    pub fn evaluate_all<E: Evaluator<Scalar = S>>(
        all: &[Self],
        e: &E,
        x: &E::Ciphertext,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let (required, actual) = (all.iter().map(Self::depth).max().unwrap_or_default(), e.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let mut elements: Elements<E> = BTreeMap::from([(1, x.clone())]);
        for series in all {
            for &k in &series.elements {
                if elements.contains_key(&k) {
                    continue;
                }
                let (left, right) = factors(k);
                let product = e.mul(&elements[&left], &elements[&right])?;
                // D_k = D_a D_b - D_(a-b).
                let element = match (series.basis, left - right) {
                    (Basis::Power, _) => product,
                    (Basis::Dickson, 0) => e.add_scalar(&product, -d_0::<S>())?,
                    (Basis::Dickson, apart) => e.sub(&product, &e.level_down(&elements[&apart], e.level(&product))?)?,
                };
                elements.insert(k, element);
            }
        }
        lines(e, &all.iter().map(|series| &series.top).collect::<Vec<_>>(), &elements)
    }
}

/// The values of lines, their factors first. Those that are sums of terms go side by side, as they share the elements.
fn lines<E: Evaluator>(e: &E, all: &[&Line<E::Scalar>], elements: &Elements<E>) -> Result<Vec<E::Ciphertext>, Error> {
    let terms = |line: &Line<E::Scalar>| line.terms.iter().map(|(c, k)| (*c, &elements[k])).collect::<Vec<_>>();
    let (sums, others): (Vec<_>, Vec<_>) = (0..).zip(all).partition(|(_, line)| line.products.is_empty());
    let mut values = BTreeMap::new();
    for (place, line) in others {
        let factors: Vec<_> = line.products.iter().map(|(_, factor)| factor).collect();
        let factors = lines(e, &factors, elements)?;
        let products: Vec<_> = line.products.iter().zip(&factors).map(|((k, _), by)| (&elements[k], by)).collect();
        values.insert(place, e.form(&products, &terms(line), line.constant)?);
    }
    let each: Vec<_> = sums.iter().map(|(_, line)| Sum { terms: terms(line), constant: line.constant }).collect();
    values.extend(sums.iter().map(|(place, _)| *place).zip(e.sums(&each)?));
    Ok(values.into_values().collect())
}

/// `x^exponent`, `ceil(log2(exponent))` levels below `x`, for an exponent of 1 or more.
///
/// # Errors
/// [`Error::ConstantPolynomial`] for exponent 0, `LevelTooLow`, otherwise what the evaluator refuses.
pub fn power<E: Evaluator>(e: &E, x: &E::Ciphertext, exponent: usize) -> Result<E::Ciphertext, Error> {
    let (Some(below), actual) = (exponent.checked_sub(1), e.level(x)) else { return Err(Error::ConstantPolynomial) };
    let required = super::depth(below);
    if actual < required {
        return Err(SchemeError::LevelTooLow { required, actual }.into());
    }
    let mut known = BTreeMap::from([(1, x.clone())]);
    power_among(e, &mut known, exponent)
}

/// The products that [`power`] takes.
pub fn power_products(exponent: usize) -> usize {
    let (mut made, mut wanted) = (BTreeSet::new(), vec![exponent]);
    while let Some(k) = wanted.pop() {
        if k > 1 && made.insert(k) {
            wanted.extend([k.div_ceil(2), k / 2]);
        }
    }
    made.len()
}

/// `x` to `x^count`, in order: the k-th stands `ceil(log2 k)` levels below `x`.
///
/// # Errors
/// `LevelTooLow`, otherwise what the evaluator refuses.
pub fn powers<E: Evaluator>(e: &E, x: &E::Ciphertext, count: usize) -> Result<Vec<E::Ciphertext>, Error> {
    let mut known = BTreeMap::from([(1, x.clone())]);
    (1..=count).map(|k| power_among(e, &mut known, k)).collect()
}

/// A power by halves, which are kept.
fn power_among<E: Evaluator>(e: &E, known: &mut Elements<E>, k: usize) -> Result<E::Ciphertext, Error> {
    if let Some(found) = known.get(&k) {
        return Ok(found.clone());
    }
    let (large, small) = (power_among(e, known, k.div_ceil(2))?, power_among(e, known, k / 2)?);
    let product = e.mul(&large, &small)?;
    known.insert(k, product.clone());
    Ok(product)
}
