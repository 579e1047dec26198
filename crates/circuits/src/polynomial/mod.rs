//! Polynomials on ciphertexts in the least depth.
//!
//! Paterson-Stockmeyer (Bossuat et al., eprint 2020/1203, section 4) in one of two bases: the powers `x^k`, or the Dickson
//! polynomials `D_k = 2 T_k`, `T_k` the Chebyshev polynomials. There `D_a D_b = D_(a+b) + D_|a-b|` without the factor 2 of
//! the Chebyshev basis, so that at equal scale every power carries half the relative rounding error. A polynomial is
//! divided by elements `m` of the basis into quotients and a remainder, and so on with all parts. Here all products that meet
//! at one level are summed into one form, a *line*: degree 31 takes 10 relinearizations and exactly 5 levels. `cut.rs` says by which
//! elements. Where it saves a relinearization, the first division of a Dickson series is by three times a power of two: degree
//! 24 by `D_12 = D_8 D_4 - D_4` takes 7, as quotient and remainder are a line each, and by `D_16` it would take 8.
//!
//! A [`Series`] is this tree of lines, and knows no scale. `exact.rs` walks it on any evaluator; `scaled.rs` plans a scale for
//! every line first, from the result backwards, so that nothing is ever added at a scale that is only almost right.
//!
//! A polynomial is never converted from one basis to the other: that costs up to 1.3 bits per degree, and outside
//! `[-1, 1]` the Chebyshev polynomials of a complex variable are huge.

mod cut;
mod exact;
mod scaled;

pub use exact::{power, power_products, powers};
pub use scaled::elements;

use crate::error::Error;
use aglet_schemes::Scalar;
use cut::Cut;
use num_complex::Complex64;
use std::collections::BTreeSet;

/// The value that `D_a D_a` has above `D_2a`: `D_0 = 2`.
fn d_0<S: Scalar>() -> S {
    S::ONE + S::ONE
}

/// The elements that a polynomial is written in. Element 0 is not used: the constant stands apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// `x^k`.
    Power,
    /// `D_k(x) = 2 T_k(x / 2)`, so that `D_k(2 cos u) = 2 cos k u`.
    Dickson,
}

/// A polynomial `c_0 + sum_(k >= 1) c_k b_k` in one basis, and how it will be evaluated.
///
/// In the Dickson basis the variable `D_1` has values in `[-2, 2]`. Degree `d` takes `depth = ceil(log2(d + 1))` levels.
/// Coefficients that are real, or imaginary, one by one, stay so if the even ones are of one kind and the odd ones of the
/// other (or all of one kind): then every constant of the circuit is of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<S = Complex64> {
    basis: Basis,
    coefficients: Vec<S>,
    top: Line<S>,
    /// The elements that occur, and those they are made from.
    elements: BTreeSet<usize>,
    centred: bool,
    depth: usize,
}

/// One quadratic form: `sum b_m * line + sum c_k b_k + constant`.
#[derive(Debug, Clone, PartialEq)]
struct Line<S> {
    products: Vec<(usize, Line<S>)>,
    terms: Vec<(S, usize)>,
    constant: S,
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

    /// The same for a variable that is near zero mostly. In the Dickson basis `D_2` is near its end at -2 there, and its
    /// rounding grows by four in `D_4 = D_2^2 - 2`; as `D_4 = (D_2 - 2 D_1)(D_2 + 2 D_1) + 4 D_2 + 6`, what is left of it is
    /// `2 D_1^2`. The scale of the variable has to be the modulus of its level, so that `D_2` has the scale of `D_1`.
    #[must_use]
    pub fn centred(self) -> Self {
        Self { centred: true, ..self }
    }
}

impl<S: Scalar> Series<S> {
    /// Plans the polynomial `coefficients[0] + sum_(k >= 1) coefficients[k] b_k`; zero coefficients are used where they save
    /// work.
    ///
    /// # Errors
    /// [`Error::ConstantPolynomial`] when no coefficient beyond the first differs from zero, [`Error::Factor`] when one is
    /// not finite.
    pub fn new(basis: Basis, coefficients: &[S]) -> Result<Self, Error> {
        Self::fewest((basis, cut::PRODUCT), vec![coefficients.to_vec()], 1, 0)?.pop().ok_or(Error::ConstantPolynomial)
    }

    /// Several polynomials in powers, which share these powers and end at one level: as many of each of so many variables. They are cut so
    /// that all of them together take the least time, where operands of products are brought to their level for nothing, as in CKKS.
    ///
    /// # Errors
    /// Those of [`Series::new`].
    pub fn together(polynomials: &[Vec<S>], variables: usize) -> Result<Vec<Self>, Error> {
        Self::fewest((Basis::Power, 0), polynomials.to_vec(), variables, 0)
    }

    /// [`Series::together`] of one variable, which may take so many levels more than the least if that saves products.
    ///
    /// # Errors
    /// Those of [`Series::new`].
    pub fn together_within(polynomials: &[Vec<S>], spare: usize) -> Result<Vec<Self>, Error> {
        Self::fewest((Basis::Power, cut::PRODUCT), polynomials.to_vec(), 1, spare)
    }

    fn fewest(
        (basis, product): (Basis, usize),
        polynomials: Vec<Vec<S>>,
        variables: usize,
        spare: usize,
    ) -> Result<Vec<Self>, Error> {
        if polynomials.iter().flatten().any(|c| !c.is_finite()) {
            return Err(Error::Factor { what: "coefficients of a polynomial", requirement: "complex numbers" });
        }
        let polynomials: Vec<_> = polynomials.into_iter().map(trimmed).collect();
        if polynomials.iter().any(|coefficients| coefficients.len() < 2) {
            return Err(Error::ConstantPolynomial);
        }
        let degree = polynomials.iter().map(|c| c.len() - 1).max().unwrap_or_default();
        // A third level more has not saved any.
        let levels = (0..=spare.min(2)).map(|more| depth(degree) + more);
        let cuts = levels.flat_map(|levels| Cut::all((basis, product), degree, levels).map(move |cut| (levels, cut)));
        let plans = cuts.map(|(levels, cut)| {
            let mut all: Vec<_> = polynomials.iter().map(|c| Self::planned(basis, c, &cut, levels)).collect();
            let elements: BTreeSet<usize> = all.iter().flat_map(|series| series.elements.clone()).collect();
            let lines: usize = all.iter().map(|series| series.top.cost(product)).sum();
            all.iter_mut().for_each(|series| series.elements.clone_from(&elements));
            (variables * cut::RELINEARIZATION * elements.iter().filter(|&&k| k > 1).count() + lines, all)
        });
        Ok(plans.min_by_key(|(cost, _)| *cost).map(|(_, all)| all).unwrap_or_default())
    }

    fn planned(basis: Basis, coefficients: &[S], cut: &Cut, levels: usize) -> Self {
        let (mut top, mut elements) = (Line::new(), BTreeSet::new());
        top.add_series((basis, cut), coefficients.to_vec(), levels - 1);
        top.collect_elements(basis, &mut elements);
        Self { basis, coefficients: coefficients.to_vec(), top, elements, centred: false, depth: levels }
    }

    /// The degree.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The levels that an evaluation takes.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The elements that it is written in, the variable first.
    pub fn elements_used(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(1).chain(self.elements.iter().copied().filter(|&k| k > 1))
    }

    /// The relinearizations that an evaluation takes.
    pub fn relinearizations(&self) -> usize {
        self.elements.iter().filter(|&&k| k > 1).count() + self.products()
    }

    /// Those of them that make no element: what another polynomial on the same elements takes.
    pub fn products(&self) -> usize {
        self.top.relinearizations()
    }

    /// The value at `b_1 = x`, by the recurrence of Horner or of Clenshaw, `D_(k+1) = D_1 D_k - D_(k-1)`.
    pub fn value(&self, x: S) -> S {
        let above = self.coefficients[1..].iter().rev();
        match self.basis {
            Basis::Power => self.coefficients[0] + x * above.fold(S::ZERO, |sum, c| *c + x * sum),
            Basis::Dickson => {
                let (b1, b2) = above.fold((S::ZERO, S::ZERO), |(b1, b2), d| (*d + x * b1 - b2, b1));
                self.coefficients[0] + x * b1 - d_0::<S>() * b2
            }
        }
    }
}

impl<S: Scalar> Line<S> {
    fn new() -> Self {
        Self { products: Vec::new(), terms: Vec::new(), constant: S::ZERO }
    }

    /// Adds a polynomial to the line, which is computed `drop` levels below the variable; its degree is below `2^(drop+1)`.
    fn add_series(&mut self, (basis, cut): (Basis, &Cut), series: Vec<S>, drop: usize) {
        let series = trimmed(series);
        let Some(m) = cut.divisor(series.len().saturating_sub(1), drop) else {
            self.constant += series.first().copied().unwrap_or(S::ZERO);
            let terms = series.into_iter().enumerate().skip(1).filter(|(_, c)| *c != S::ZERO);
            self.terms.extend(terms.map(|(k, c)| (c, k)));
            return;
        };
        let (quotient, remainder) = divide(basis, series, m);
        if let [constant] = quotient[..] {
            self.terms.push((constant, m));
        } else {
            let mut factor = Line::new();
            factor.add_series((basis, cut), quotient, drop - 1);
            self.products.push((m, factor));
        }
        self.add_series((basis, cut), remainder, drop);
    }

    /// In terms of what a [`Cut`] counts.
    fn cost(&self, product: usize) -> usize {
        let own = if self.products.is_empty() { 1 } else { cut::RELINEARIZATION };
        own + self.products.iter().map(|(_, factor)| product + factor.cost(product)).sum::<usize>()
    }

    fn relinearizations(&self) -> usize {
        usize::from(!self.products.is_empty()) + self.products.iter().map(|(_, l)| l.relinearizations()).sum::<usize>()
    }

    /// Collects the indices in use, together with those on the way to them.
    fn collect_elements(&self, basis: Basis, elements: &mut BTreeSet<usize>) {
        let mut wanted: Vec<usize> = self.terms.iter().map(|(_, k)| *k).collect();
        wanted.extend(self.products.iter().map(|(k, _)| k));
        while let Some(k) = wanted.pop() {
            if elements.insert(k) && k > 1 {
                let (left, right) = factors(k);
                wanted.extend([left, right]);
                if basis == Basis::Dickson && left > right {
                    wanted.push(left - right);
                }
            }
        }
        self.products.iter().for_each(|(_, line)| line.collect_elements(basis, elements));
    }
}

/// The elements that element k > 1 is the product of: halves of a power of two, or else the largest power of two and the rest. Then the
/// element `D_(a-b)` of a Dickson series is there too, as the elements of a [`Cut`] are.
fn factors(k: usize) -> (usize, usize) {
    match 1 << k.ilog2() {
        power if power == k => (k / 2, k / 2),
        power => (power, k - power),
    }
}

/// `ceil(log2(degree + 1))`: the levels for a degree, and for element `k` those for degree `k - 1`.
pub fn depth(degree: usize) -> usize {
    (usize::BITS - degree.leading_zeros()) as usize
}

/// Leaves out zero coefficients at the end.
fn trimmed<S: Scalar>(mut series: Vec<S>) -> Vec<S> {
    while series.last().is_some_and(|c| *c == S::ZERO) {
        series.pop();
    }
    series
}

/// Quotient and remainder by element `m`; `D_(m+k) = D_m D_k - D_(m-k)` for `k` from 1 to m.
fn divide<S: Scalar>(basis: Basis, mut series: Vec<S>, m: usize) -> (Vec<S>, Vec<S>) {
    let quotient = series.split_off(m);
    if basis == Basis::Dickson {
        for (k, d) in quotient.iter().enumerate().skip(1) {
            let d = if k == m { d_0::<S>() * *d } else { *d };
            series[m - k] = series[m - k] - d;
        }
    }
    (quotient, series)
}

#[cfg(test)]
mod tests;
