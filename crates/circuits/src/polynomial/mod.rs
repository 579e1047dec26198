//! Polynomials on ciphertexts in the least depth, with every scale exact.
//!
//! Paterson-Stockmeyer (Bossuat et al., eprint 2020/1203, section 4) in one of two bases: the powers `x^k`, or the Dickson
//! polynomials `D_k = 2 T_k`, `T_k` the Chebyshev polynomials. There `D_a D_b = D_(a+b) + D_|a-b|` without the factor 2 of
//! the Chebyshev basis, so that at equal scale every power carries half the relative rounding error. A polynomial is
//! divided by the element `m` of the basis, `m` a power of two, into quotient and remainder, and so on with both parts. Here
//! all products that meet at one level are summed into one [`Quadratic`], a *line*: degree 31 takes 10 relinearisations and
//! exactly 5 levels. Scales are chosen from the result backwards, so that nothing is ever added at a scale that is only
//! almost right.
//!
//! A polynomial is never converted from one basis to the other: that costs up to 1.3 bits per degree, and outside
//! `[-1, 1]` the Chebyshev polynomials of a complex variable are huge.

use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::collections::{BTreeMap, BTreeSet};

/// The largest degree that is written as a sum of multiples of the elements 1, 2, 3 instead of being split further.
const LEAF_DEGREE: usize = 3;

/// The value that `D_a D_a` has above `D_2a`: `D_0`.
const D_0: f64 = 2.0;

/// The elements that a polynomial is written in. Element 0 is not used: the constant stands apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// `x^k`.
    Power,
    /// `D_k(x) = 2 T_k(x / 2)`, so that `D_k(2 cos u) = 2 cos k u`.
    Dickson,
}

/// A polynomial `c_0 + sum_(k >= 1) c_k b_k` with complex coefficients in one basis, and how it will be evaluated.
///
/// In the Dickson basis the variable `D_1` has values in `[-2, 2]`. Degree `d` takes `depth = ceil(log2(d + 1))` levels.
/// Coefficients that are real, or imaginary, one by one, stay so if the even ones are of one kind and the odd ones of the
/// other (or all of one kind): then every constant of the circuit is of one kind.
#[derive(Debug, Clone)]
pub struct Series {
    basis: Basis,
    coefficients: Vec<Complex64>,
    top: Line,
    /// The elements that occur, and those they are made from.
    elements: BTreeSet<usize>,
}

/// One quadratic form: `sum b_m * line + sum c_k b_k + constant`.
#[derive(Debug, Clone, Default)]
struct Line {
    products: Vec<(usize, Line)>,
    terms: Vec<(Complex64, usize)>,
    constant: Complex64,
}

impl Series {
    /// Plans the Chebyshev series `sum_k coefficients[k] T_k(t)` as a series in `D_1 = 2t`: all coefficients but the first
    /// are halved.
    ///
    /// # Errors
    /// Those of [`Series::new`].
    pub fn from_chebyshev(coefficients: &[Complex64]) -> Result<Self, Error> {
        let halved = coefficients.iter().enumerate().map(|(k, c)| if k == 0 { *c } else { 0.5 * c });
        Self::new(Basis::Dickson, &halved.collect::<Vec<_>>())
    }

    /// Plans the polynomial `coefficients[0] + sum_(k >= 1) coefficients[k] b_k`; zero coefficients are used where they save
    /// work.
    ///
    /// # Errors
    /// [`Error::ConstantPolynomial`] when no coefficient beyond the first differs from zero, [`Error::Factor`] when one is
    /// not finite.
    pub fn new(basis: Basis, coefficients: &[Complex64]) -> Result<Self, Error> {
        if coefficients.iter().any(|c| !c.is_finite()) {
            return Err(Error::Factor { what: "coefficients of a polynomial", requirement: "complex numbers" });
        }
        let coefficients = trimmed(coefficients.to_vec());
        if coefficients.len() < 2 {
            return Err(Error::ConstantPolynomial);
        }
        let mut top = Line::default();
        top.add_series(basis, coefficients.clone(), depth(coefficients.len() - 1) - 1);
        let mut elements = BTreeSet::new();
        top.collect_elements(&mut elements);
        Ok(Series { basis, coefficients, top, elements })
    }

    /// The degree.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The levels that an evaluation takes.
    pub fn depth(&self) -> usize {
        depth(self.degree())
    }

    /// The relinearisations that an evaluation takes.
    pub fn relinearizations(&self) -> usize {
        self.elements.iter().filter(|&&k| k > 1).count() + self.top.relinearizations()
    }

    /// The value at `b_1 = x`, by the recurrence of Horner or of Clenshaw, `D_(k+1) = D_1 D_k - D_(k-1)`.
    pub fn value(&self, x: Complex64) -> Complex64 {
        let zero = Complex64::new(0.0, 0.0);
        let above = self.coefficients[1..].iter().rev();
        match self.basis {
            Basis::Power => self.coefficients[0] + x * above.fold(zero, |sum, c| c + x * sum),
            Basis::Dickson => {
                let (b1, b2) = above.fold((zero, zero), |(b1, b2), d| (d + x * b1 - b2, b1));
                self.coefficients[0] + x * b1 - D_0 * b2
            }
        }
    }

    /// Evaluates the polynomial at `b_1 = x` (in the Dickson basis: slots in `[-2, 2]`): the result is [`Series::depth`]
    /// levels below `x` and has exactly the scale `scale`.
    ///
    /// The scale of `x` should be near the moduli but not above the one of its level: the elements inherit a distance of
    /// `2^d`, element `k` that of `2^(kd)`, and where they are too large their factors have to be too small.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator>(&self, e: &E, x: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        Ok(self.evaluate_all(e, std::slice::from_ref(x), scale)?.remove(0))
    }

    /// [`Series::evaluate`] at several variables of one level and scale, form by form: forms of one kind share what they can.
    ///
    /// # Errors
    /// Those of [`Series::evaluate`].
    pub fn evaluate_all<E: Evaluator>(
        &self,
        evaluator: &E,
        xs: &[E::Ciphertext],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(x) = xs.first() else { return Ok(Vec::new()) };
        let (required, actual) = (self.depth(), evaluator.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let run = Run { evaluator, top: actual, elements: self.elements(evaluator, xs)? };
        run.line(&self.top, required - 1, scale)
    }

    /// Computes the elements needed of each variable, element `k` at `ceil(log2 k)` levels below it; their scales follow from
    /// its scale.
    fn elements<E: Evaluator>(&self, e: &E, xs: &[E::Ciphertext]) -> Result<Vec<Elements<E>>, Error> {
        let mut all: Vec<Elements<E>> = xs.iter().map(|x| BTreeMap::from([(1, x.clone())])).collect();
        for &k in self.elements.iter().filter(|&&k| k > 1) {
            let forms = all.iter().map(|elements| {
                let (x, left, right) = (&elements[&1], &elements[&k.div_ceil(2)], &elements[&(k / 2)]);
                let level = e.level(x) + 1 - depth(k - 1);
                let scale = e.scale(left) * e.scale(right) / e.modulus(level);
                // D_k = D_a D_b - D_(a-b), where D_(a-b) is D_0 = 2 or D_1.
                let (terms, constant) = match (self.basis, k % 2) {
                    (Basis::Power, _) => (vec![], 0.0),
                    (Basis::Dickson, 1) => (vec![(Complex64::new(-1.0, 0.0), x)], 0.0),
                    (Basis::Dickson, _) => (vec![], -D_0),
                };
                let products = vec![Product { factor: 1, left, right }];
                Quadratic { products, terms, constant: Complex64::new(constant, 0.0), level, scale }
            });
            let found = e.quadratics(&forms.collect::<Vec<_>>())?;
            all.iter_mut().zip(found).for_each(|(elements, element)| {
                elements.insert(k, element);
            });
        }
        Ok(all)
    }
}

/// The elements of one variable, by index.
type Elements<E> = BTreeMap<usize, <E as Evaluator>::Ciphertext>;

impl Line {
    /// Adds a polynomial to the line, which is computed `drop` levels below the variable; its degree is below `2^(drop+1)`.
    fn add_series(&mut self, basis: Basis, series: Vec<Complex64>, drop: usize) {
        let series = trimmed(series);
        let degree = series.len().saturating_sub(1);
        if degree <= LEAF_DEGREE && (degree == 0 || depth(degree - 1) <= drop) {
            self.constant += series.first().copied().unwrap_or_default();
            let terms = series.into_iter().enumerate().skip(1).filter(|(_, c)| c.norm() != 0.0);
            self.terms.extend(terms.map(|(k, c)| (c, k)));
            return;
        }
        let power = 1 << degree.ilog2();
        let (quotient, remainder) = divide(basis, series, power);
        if let [constant] = quotient[..] {
            self.terms.push((constant, power));
        } else {
            let mut factor = Line::default();
            factor.add_series(basis, quotient, drop - 1);
            self.products.push((power, factor));
        }
        self.add_series(basis, remainder, drop);
    }

    fn relinearizations(&self) -> usize {
        usize::from(!self.products.is_empty()) + self.products.iter().map(|(_, l)| l.relinearizations()).sum::<usize>()
    }

    /// Collects the indices in use, together with those on the way to them.
    fn collect_elements(&self, elements: &mut BTreeSet<usize>) {
        for &k in self.terms.iter().map(|(_, k)| k).chain(self.products.iter().map(|(k, _)| k)) {
            elements.insert(k);
            elements.extend((1..=k.ilog2()).map(|i| k >> i));
            if k == LEAF_DEGREE {
                elements.insert(2);
            }
        }
        self.products.iter().for_each(|(_, line)| line.collect_elements(elements));
    }
}

/// One evaluation: the evaluator, the level of the variables and the elements of each.
struct Run<'e, E: Evaluator> {
    evaluator: &'e E,
    top: usize,
    elements: Vec<Elements<E>>,
}

impl<E: Evaluator> Run<'_, E> {
    /// Computes a line `drop` levels below the variables into results with `scale`, its factors first.
    fn line(&self, line: &Line, drop: usize, scale: f64) -> Result<Vec<E::Ciphertext>, Error> {
        let level = self.top - drop;
        let mut factors = Vec::with_capacity(line.products.len());
        for (power, factor) in &line.products {
            let scale = scale * self.evaluator.modulus(level) / self.evaluator.scale(&self.elements[0][power]);
            factors.push((power, self.line(factor, drop - 1, scale)?));
        }
        let forms = self.elements.iter().enumerate().map(|(i, elements)| Quadratic {
            products: factors
                .iter()
                .map(|(power, found)| Product { factor: 1, left: &elements[power], right: &found[i] })
                .collect(),
            terms: line.terms.iter().map(|(c, k)| (*c, &elements[k])).collect(),
            constant: line.constant,
            level,
            scale,
        });
        Ok(self.evaluator.quadratics(&forms.collect::<Vec<_>>())?)
    }
}

/// `ceil(log2(degree + 1))`: the levels for a degree, and for element `k` those for degree `k - 1`.
pub fn depth(degree: usize) -> usize {
    (usize::BITS - degree.leading_zeros()) as usize
}

/// Leaves out zero coefficients at the end.
fn trimmed(mut series: Vec<Complex64>) -> Vec<Complex64> {
    while series.last().is_some_and(|c| c.norm() == 0.0) {
        series.pop();
    }
    series
}

/// Quotient and remainder by element `m` of a polynomial of degree in `m..2m`; `D_(m+k) = D_m D_k - D_(m-k)` for `k >= 1`.
fn divide(basis: Basis, mut series: Vec<Complex64>, m: usize) -> (Vec<Complex64>, Vec<Complex64>) {
    let quotient = series.split_off(m);
    if basis == Basis::Dickson {
        for (k, d) in quotient.iter().enumerate().skip(1) {
            series[m - k] -= d;
        }
    }
    (quotient, series)
}

/// `[x, x^2, ..]` or `[T_1, T_2, ..]` up to a degree, as ciphertexts to compute with: element `k` stands `ceil(log2 k)`
/// levels below `x` at the scale `scale_at(level)`, and `scale_at(l - 1) = scale_at(l)^2 / modulus(l)` has to hold.
///
/// With [`Basis::Dickson`] these are the Chebyshev polynomials themselves, `T_k = 2 T_a T_b - T_(a-b)`.
///
/// # Errors
/// `LevelTooLow` when `x` has fewer levels than `ceil(log2 degree)`; otherwise what the evaluator refuses.
pub fn elements<E: Evaluator>(
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
fn lowered<E: Evaluator>(
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

#[cfg(test)]
mod tests;
