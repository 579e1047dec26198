//! A series on an evaluator with scales: a scale for every element and line, then one quadratic form for each.

use super::{d_0, depth, factors, Basis, Line, Series};
use crate::error::Error;
use aglet_schemes::{Approximate, Error as SchemeError, Forms, Product, Quadratic, Scalar, Scale};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// Where a form is computed, and the scale of its result, a level below.
#[derive(Debug, Clone, Copy)]
struct Place<F> {
    level: usize,
    scale: F,
}

/// A series with a place for each of its forms.
struct Scaled<'s, S, F> {
    /// The elements above the first, in the order in which they are computed.
    elements: Vec<(usize, Place<F>)>,
    top: ScaledLine<'s, S, F>,
}

/// A line with its place and those of its factors.
struct ScaledLine<'s, S, F> {
    line: &'s Line<S>,
    place: Place<F>,
    factors: Vec<ScaledLine<'s, S, F>>,
}

impl<S: Scalar> Series<S> {
    /// Evaluates the polynomial at `b_1 = x` (in the Dickson basis: slots in `[-2, 2]`): the result is [`Series::depth`]
    /// levels below `x` and has exactly the scale `scale`.
    ///
    /// The scale of `x` should be near the moduli but not above the one of its level: the elements inherit a distance of
    /// `2^d`, element `k` that of `2^(kd)`, and where they are too large their factors have to be too small.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate_scaled<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        x: &E::Ciphertext,
        scale: E::Scale,
    ) -> Result<E::Ciphertext, Error> {
        Ok(self.evaluate_all_scaled(e, std::slice::from_ref(x), scale)?.remove(0))
    }

    /// [`Series::evaluate_scaled`] at several variables of one level and scale, form by form: forms of one kind share what
    /// they can.
    ///
    /// # Errors
    /// Those of [`Series::evaluate_scaled`].
    pub fn evaluate_all_scaled<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        xs: &[E::Ciphertext],
        scale: E::Scale,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(x) = xs.first() else { return Ok(Vec::new()) };
        let (required, actual) = (self.depth(), e.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let plan = self.scaled(&|level| e.divisor(level), Place { level: actual, scale: e.scale_of(x) }, scale);
        let elements = self.elements_of(e, xs, &plan.elements)?;
        evaluate_line(e, &plan.top, &elements, &|forms: &[Quadratic<'_, E::Ciphertext, S, E::Scale>]| {
            Ok(e.forms(forms)?)
        })
    }

    /// The elements that [`Series::evaluate_on`] takes, of `b_1 = x`: where other polynomials want some of them too.
    ///
    /// # Errors
    /// What the evaluator refuses.
    pub fn elements<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        x: &E::Ciphertext,
    ) -> Result<BTreeMap<usize, E::Ciphertext>, Error> {
        Ok(self.elements_of_all(e, std::slice::from_ref(x))?.remove(0))
    }

    /// [`Series::elements`] of several variables of one level and scale.
    ///
    /// # Errors
    /// What the evaluator refuses.
    pub fn elements_of_all<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        xs: &[E::Ciphertext],
    ) -> Result<Vec<BTreeMap<usize, E::Ciphertext>>, Error> {
        let Some(x) = xs.first() else { return Ok(Vec::new()) };
        let at = Place { level: e.level(x), scale: e.scale_of(x) };
        let plan = self.scaled(&|level| e.divisor(level), at, e.scale_of(x));
        self.elements_of(e, xs, &plan.elements)
    }

    /// [`Series::evaluate_scaled`] on elements that are there already, each where [`Series::elements`] has it or above.
    ///
    /// # Errors
    /// [`Error::MissingElement`]; otherwise what the evaluator refuses.
    pub fn evaluate_on<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        elements: &BTreeMap<usize, E::Ciphertext>,
        scale: E::Scale,
    ) -> Result<E::Ciphertext, Error> {
        let ends = |forms: &[Quadratic<'_, E::Ciphertext, S, E::Scale>]| Ok(e.forms(forms)?);
        Ok(self.evaluate_all_on(e, std::slice::from_ref(elements), scale, &ends)?.remove(0))
    }

    /// [`Series::evaluate_on`] for the elements of several variables. `ends` makes the results of the last forms: with a rescale, to the
    /// scale of the form, or without.
    ///
    /// # Errors
    /// As there, and those of `ends`.
    pub fn evaluate_all_on<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        all: &[BTreeMap<usize, E::Ciphertext>],
        scale: E::Scale,
        ends: &Ends<'_, E>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(elements) = all.first() else { return Ok(Vec::new()) };
        let wanted = || self.elements.iter().chain(&[1]);
        if let Some(&index) = all.iter().find_map(|elements| wanted().find(|k| !elements.contains_key(k))) {
            return Err(Error::MissingElement { index });
        }
        let scales = elements.iter().map(|(&k, ct)| (k, e.scale_of(ct))).collect();
        let level = (e.level(&elements[&1]) + 1).saturating_sub(self.depth());
        let top = self.top.scaled(&|level| e.divisor(level), &scales, Place { level, scale });
        evaluate_line(e, &top, all, ends)
    }

    /// Plans levels and scales, for a variable at a place and a result of a scale: those of the elements follow from the
    /// variable, those of the lines from the result backwards.
    fn scaled<F: Scale>(&self, modulus: &dyn Fn(usize) -> F, x: Place<F>, scale: F) -> Scaled<'_, S, F> {
        let mut scales = BTreeMap::from([(1, x.scale)]);
        let mut elements = Vec::new();
        for &k in self.elements.iter().filter(|&&k| k > 1) {
            let level = x.level + 1 - depth(k - 1);
            let (left, right) = factors(k);
            let scale = scales[&left].times(scales[&right]).over(modulus(level));
            scales.insert(k, scale);
            elements.push((k, Place { level, scale }));
        }
        let top = self.top.scaled(modulus, &scales, Place { level: x.level + 1 - self.depth(), scale });
        Scaled { elements, top }
    }

    /// Computes the elements needed of each variable.
    fn elements_of<E: Forms<Scalar = S>>(
        &self,
        e: &E,
        xs: &[E::Ciphertext],
        places: &[(usize, Place<E::Scale>)],
    ) -> Result<Vec<Elements<E>>, Error> {
        let mut all: Vec<Elements<E>> = xs.iter().map(|x| BTreeMap::from([(1, x.clone())])).collect();
        for &(k, Place { level, scale }) in places {
            let inner = k == 4 && self.centred && self.basis == Basis::Dickson;
            // (D_2 - 2 D_1) (D_2 + 2 D_1), whose error is small where D_1 is near 2: see `Series::centred`.
            let negated = |elements: &Elements<E>| e.negate(&elements[&1]);
            let negated = if inner { all.iter().map(negated).collect::<Result<_, _>>()? } else { vec![] };
            let forms = all.iter().enumerate().map(|(i, elements)| {
                let (left, right) = factors(k);
                let apart = left - right;
                let (x, left, right) = (&elements[&1], &elements[&left], &elements[&right]);
                // D_k = D_a D_b - D_(a-b).
                let (terms, constant) = match (self.basis, apart) {
                    (Basis::Power, _) => (vec![], S::ZERO),
                    (Basis::Dickson, 0) if inner => (vec![(d_0::<S>() * d_0(), left)], (S::ONE + d_0()) * d_0()),
                    (Basis::Dickson, 0) => (vec![], S::ZERO - d_0::<S>()),
                    (Basis::Dickson, _) => (vec![(S::ZERO - S::ONE, &elements[&apart])], S::ZERO),
                };
                let mut products = vec![Product { factor: 1, left, right }];
                products.extend(negated.get(i).map(|negated| Product { factor: 4, left: x, right: negated }));
                Quadratic { products, terms, constant, level, scale }
            });
            let found = e.forms(&forms.collect::<Vec<_>>())?;
            all.iter_mut().zip(found).for_each(|(elements, element)| {
                elements.insert(k, element);
            });
        }
        Ok(all)
    }
}

impl<S: Scalar> Line<S> {
    /// The line computed at a place, and its factors so that every product lands on the scale there.
    fn scaled<F: Scale>(
        &self,
        modulus: &dyn Fn(usize) -> F,
        elements: &BTreeMap<usize, F>,
        place: Place<F>,
    ) -> ScaledLine<'_, S, F> {
        let factors = self.products.iter().map(|(k, factor)| {
            let scale = place.scale.times(modulus(place.level)).over(elements[k]);
            factor.scaled(modulus, elements, Place { level: place.level + 1, scale })
        });
        ScaledLine { line: self, place, factors: factors.collect() }
    }
}

/// What makes results of the last forms of a polynomial.
pub type Ends<'e, E> = dyn Fn(
        &[Quadratic<
            '_,
            <E as aglet_schemes::Evaluator>::Ciphertext,
            <E as aglet_schemes::Evaluator>::Scalar,
            <E as Forms>::Scale,
        >],
    ) -> Result<Vec<<E as aglet_schemes::Evaluator>::Ciphertext>, Error>
    + 'e;

/// The elements of one variable, by index.
type Elements<E> = BTreeMap<usize, <E as aglet_schemes::Evaluator>::Ciphertext>;

/// The values of a line for the elements of each variable, its factors first.
fn evaluate_line<E: Forms>(
    e: &E,
    of: &ScaledLine<'_, E::Scalar, E::Scale>,
    elements: &[Elements<E>],
    ends: &Ends<'_, E>,
) -> Result<Vec<E::Ciphertext>, Error> {
    let mut factors: Vec<Vec<E::Ciphertext>> = vec![Vec::new(); of.factors.len()];
    // Sums of terms share the elements: all of a variable go side by side.
    let (sums, lines): (Vec<_>, Vec<_>) = (0..).zip(&of.factors).partition(|(_, factor)| factor.factors.is_empty());
    let inner = |forms: &[Quadratic<'_, E::Ciphertext, E::Scalar, E::Scale>]| Ok(e.forms(forms)?);
    for (place, line) in lines {
        factors[place] = evaluate_line(e, line, elements, &inner)?;
    }
    let of_variable = |elements| sums.iter().map(move |(_, sum)| sum.form(elements, &[]));
    let found = inner(&elements.iter().flat_map(of_variable).collect::<Vec<_>>())?;
    for (number, found) in found.into_iter().enumerate() {
        factors[sums[number % sums.len()].0].push(found);
    }
    let forms = elements.iter().enumerate().map(|(i, elements)| {
        let factors: Vec<_> = factors.iter().map(|found| &found[i]).collect();
        of.form(elements, &factors)
    });
    ends(&forms.collect::<Vec<_>>())
}

impl<S: Scalar, F: Scale> ScaledLine<'_, S, F> {
    /// The form of one variable.
    fn form<'e, C>(&self, elements: &'e BTreeMap<usize, C>, factors: &[&'e C]) -> Quadratic<'e, C, S, F> {
        let pairs = self.line.products.iter().zip(factors);
        Quadratic {
            products: pairs.map(|((k, _), right)| Product { factor: 1, left: &elements[k], right }).collect(),
            terms: self.line.terms.iter().map(|(c, k)| (*c, &elements[k])).collect(),
            constant: self.line.constant,
            level: self.place.level,
            scale: self.place.scale,
        }
    }
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
