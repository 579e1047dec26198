//! A series on an approximate evaluator: a scale for every element and line, then one quadratic form for each.

use super::{d_0, depth, Basis, Line, Series};
use crate::error::Error;
use aglet_schemes::{Approximate, Error as SchemeError, Product, Quadratic};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// Where a form is computed, and the scale of its result, a level below.
#[derive(Debug, Clone, Copy)]
struct Place {
    level: usize,
    scale: f64,
}

/// A series with a place for each of its forms.
struct Scaled<'s> {
    /// The elements above the first, in the order in which they are computed.
    elements: Vec<(usize, Place)>,
    top: ScaledLine<'s>,
}

/// A line with its place and those of its factors.
struct ScaledLine<'s> {
    line: &'s Line<Complex64>,
    place: Place,
    factors: Vec<ScaledLine<'s>>,
}

impl Series {
    /// Evaluates the polynomial at `b_1 = x` (in the Dickson basis: slots in `[-2, 2]`): the result is [`Series::depth`]
    /// levels below `x` and has exactly the scale `scale`.
    ///
    /// The scale of `x` should be near the moduli but not above the one of its level: the elements inherit a distance of
    /// `2^d`, element `k` that of `2^(kd)`, and where they are too large their factors have to be too small.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate_scaled<E: Approximate>(
        &self,
        e: &E,
        x: &E::Ciphertext,
        scale: f64,
    ) -> Result<E::Ciphertext, Error> {
        Ok(self.evaluate_all_scaled(e, std::slice::from_ref(x), scale)?.remove(0))
    }

    /// [`Series::evaluate_scaled`] at several variables of one level and scale, form by form: forms of one kind share what
    /// they can.
    ///
    /// # Errors
    /// Those of [`Series::evaluate_scaled`].
    pub fn evaluate_all_scaled<E: Approximate>(
        &self,
        e: &E,
        xs: &[E::Ciphertext],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(x) = xs.first() else { return Ok(Vec::new()) };
        let (required, actual) = (self.depth(), e.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let plan = self.scaled(&|level| e.modulus(level), Place { level: actual, scale: e.scale(x) }, scale);
        let elements = self.elements_of(e, xs, &plan.elements)?;
        evaluate_line(e, &plan.top, &elements)
    }

    /// Plans levels and scales, for a variable at a place and a result of a scale: those of the elements follow from the
    /// variable, those of the lines from the result backwards.
    fn scaled(&self, modulus: &dyn Fn(usize) -> f64, x: Place, scale: f64) -> Scaled<'_> {
        let mut scales = BTreeMap::from([(1, x.scale)]);
        let mut elements = Vec::new();
        for &k in self.elements.iter().filter(|&&k| k > 1) {
            let level = x.level + 1 - depth(k - 1);
            let scale = scales[&k.div_ceil(2)] * scales[&(k / 2)] / modulus(level);
            scales.insert(k, scale);
            elements.push((k, Place { level, scale }));
        }
        let top = self.top.scaled(modulus, &scales, Place { level: x.level + 1 - self.depth(), scale });
        Scaled { elements, top }
    }

    /// Computes the elements needed of each variable.
    fn elements_of<E: Approximate>(
        &self,
        e: &E,
        xs: &[E::Ciphertext],
        places: &[(usize, Place)],
    ) -> Result<Vec<Elements<E>>, Error> {
        let mut all: Vec<Elements<E>> = xs.iter().map(|x| BTreeMap::from([(1, x.clone())])).collect();
        for &(k, Place { level, scale }) in places {
            let inner = k == 4 && self.centred && self.basis == Basis::Dickson;
            // (D_2 - 2 D_1) (D_2 + 2 D_1), whose error is small where D_1 is near 2: see `Series::centred`.
            let negated = |elements: &Elements<E>| e.negate(&elements[&1]);
            let negated = if inner { all.iter().map(negated).collect::<Result<_, _>>()? } else { vec![] };
            let forms = all.iter().enumerate().map(|(i, elements)| {
                let (x, left, right) = (&elements[&1], &elements[&k.div_ceil(2)], &elements[&(k / 2)]);
                // D_k = D_a D_b - D_(a-b), where D_(a-b) is D_0 = 2 or D_1.
                let (terms, constant) = match (self.basis, k % 2) {
                    (Basis::Power, _) => (vec![], Complex64::ZERO),
                    (Basis::Dickson, 1) => (vec![(Complex64::new(-1.0, 0.0), x)], Complex64::ZERO),
                    (Basis::Dickson, _) if inner => (vec![(Complex64::new(4.0, 0.0), left)], Complex64::new(6.0, 0.0)),
                    (Basis::Dickson, _) => (vec![], Complex64::ZERO - d_0::<Complex64>()),
                };
                let mut products = vec![Product { factor: 1, left, right }];
                products.extend(negated.get(i).map(|negated| Product { factor: 4, left: x, right: negated }));
                Quadratic { products, terms, constant, level, scale }
            });
            let found = e.quadratics(&forms.collect::<Vec<_>>())?;
            all.iter_mut().zip(found).for_each(|(elements, element)| {
                elements.insert(k, element);
            });
        }
        Ok(all)
    }
}

impl Line<Complex64> {
    /// The line computed at a place, and its factors so that every product lands on the scale there.
    fn scaled(&self, modulus: &dyn Fn(usize) -> f64, elements: &BTreeMap<usize, f64>, place: Place) -> ScaledLine<'_> {
        let factors = self.products.iter().map(|(k, factor)| {
            let scale = place.scale * modulus(place.level) / elements[k];
            factor.scaled(modulus, elements, Place { level: place.level + 1, scale })
        });
        ScaledLine { line: self, place, factors: factors.collect() }
    }
}

/// The elements of one variable, by index.
type Elements<E> = BTreeMap<usize, <E as aglet_schemes::Evaluator>::Ciphertext>;

/// The values of a line for the elements of each variable, its factors first.
fn evaluate_line<E: Approximate>(
    e: &E,
    of: &ScaledLine<'_>,
    elements: &[Elements<E>],
) -> Result<Vec<E::Ciphertext>, Error> {
    let factors = of.factors.iter().map(|factor| evaluate_line(e, factor, elements)).collect::<Result<Vec<_>, _>>()?;
    let forms = elements.iter().enumerate().map(|(i, elements)| {
        let pairs = of.line.products.iter().zip(&factors);
        let products = pairs.map(|((k, _), found)| Product { factor: 1, left: &elements[k], right: &found[i] });
        Quadratic {
            products: products.collect(),
            terms: of.line.terms.iter().map(|(c, k)| (*c, &elements[k])).collect(),
            constant: of.line.constant,
            level: of.place.level,
            scale: of.place.scale,
        }
    });
    Ok(e.quadratics(&forms.collect::<Vec<_>>())?)
}

/// `[x, x^2, ..]` or `[T_1, T_2, ..]` up to a degree, as ciphertexts to compute with: element `k` stands `ceil(log2 k)`
/// levels below `x` at the scale `scale_at(level)`, and `scale_at(l - 1) = scale_at(l)^2 / modulus(l)` has to hold.
///
/// With [`Basis::Dickson`] these are the Chebyshev polynomials themselves, `T_k = 2 T_a T_b - T_(a-b)`.
///
/// # Errors
/// `LevelTooLow` when `x` has fewer levels than `ceil(log2 degree)`; otherwise what the evaluator refuses.
pub fn elements<E: Approximate>(
    e: &E,
    basis: Basis,
    x: &E::Ciphertext,
    degree: usize,
    scale_at: &dyn Fn(usize) -> f64,
) -> Result<Vec<E::Ciphertext>, Error> {
    let (required, actual) = (depth(degree.saturating_sub(1)), e.level(x));
    if actual < required {
        return Err(SchemeError::LevelTooLow { required, actual }.into());
    }
    let mut all: Vec<E::Ciphertext> = Vec::with_capacity(degree);
    all.extend((degree > 0).then(|| x.clone()));
    for k in 2..=degree {
        let level = actual + 1 - depth(k - 1);
        let (left, right) = (lowered(e, &all[k.div_ceil(2) - 1], level, scale_at)?, &all[k / 2 - 1]);
        let right = lowered(e, right, level, scale_at)?;
        let (factor, terms, constant) = match (basis, k % 2) {
            (Basis::Power, _) => (1, vec![], 0.0),
            (Basis::Dickson, 1) => (2, vec![(Complex64::new(-1.0, 0.0), x)], 0.0),
            (Basis::Dickson, _) => (2, vec![], -1.0),
        };
        let form = Quadratic {
            products: vec![Product { factor, left: &left, right: &right }],
            terms,
            constant: Complex64::new(constant, 0.0),
            level,
            scale: scale_at(level - 1),
        };
        all.push(e.quadratic(&form)?);
    }
    Ok(all)
}

/// The same value at a level and at its scale.
fn lowered<E: Approximate>(
    e: &E,
    x: &E::Ciphertext,
    level: usize,
    scale_at: &dyn Fn(usize) -> f64,
) -> Result<E::Ciphertext, Error> {
    if e.level(x) == level {
        return Ok(x.clone());
    }
    let terms = vec![(Complex64::new(1.0, 0.0), x)];
    let constant = Complex64::new(0.0, 0.0);
    Ok(e.quadratic(&Quadratic { products: vec![], terms, constant, level: level + 1, scale: scale_at(level) })?)
}
