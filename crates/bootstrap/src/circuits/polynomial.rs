//! Polynomials on ciphertexts in the least depth, with every scale exact.
//!
//! Paterson-Stockmeyer (Bossuat et al., eprint 2020/1203, section 4) in the Dickson basis `D_k = 2 T_k`, `T_k` the
//! Chebyshev polynomials. There `D_a D_b = D_(a+b) + D_|a-b|` without the factor 2 of the Chebyshev basis, so that at
//! equal scale every power carries half the relative rounding error. A polynomial is divided by `D_m`, `m` a power of
//! two, into `D_m q + r`, and so on with both parts. Here all products that meet at one level are summed into one
//! [`Quadratic`], a *line*: degree 31 takes 10 relinearisations and exactly 5 levels. Scales are chosen from the result
//! backwards, so that nothing is ever added at a scale that is only almost right.

use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::collections::{BTreeMap, BTreeSet};

/// The largest degree that is written as a sum of multiples of `D_1, D_2, D_3` instead of being split further.
const LEAF_DEGREE: usize = 3;

/// The value that `D_a D_a` has above `D_2a`: `D_0`.
const D_0: f64 = 2.0;

/// A Dickson series `d_0 + sum_(k >= 1) d_k D_k` with complex coefficients, and how it will be evaluated.
///
/// `D_1` is the variable, with values in `[-2, 2]`; `D_k(2 cos u) = 2 cos k u`. A series of degree `d` takes
/// `depth = ceil(log2(d + 1))` levels. Coefficients that are real, or imaginary, one by one, stay so if the even ones are
/// of one kind and the odd ones of the other (or all of one kind): then every constant of the circuit is of one kind.
#[derive(Debug, Clone)]
pub struct DicksonSeries {
    coefficients: Vec<Complex64>,
    top: Line,
    /// The `D_k` that occur, and those they are made from.
    basis: BTreeSet<usize>,
}

/// One quadratic form: `sum D_m * line + sum d_k D_k + constant`.
#[derive(Debug, Clone, Default)]
struct Line {
    products: Vec<(usize, Line)>,
    terms: Vec<(Complex64, usize)>,
    constant: Complex64,
}

impl DicksonSeries {
    /// Plans the Chebyshev series `sum_k coefficients[k] T_k(t)` as a series in `D_1 = 2t`: all coefficients but the first
    /// are halved.
    ///
    /// # Errors
    /// Those of [`DicksonSeries::new`].
    pub fn from_chebyshev(coefficients: &[Complex64]) -> Result<Self, Error> {
        let halved = coefficients.iter().enumerate().map(|(k, c)| if k == 0 { *c } else { 0.5 * c });
        Self::new(&halved.collect::<Vec<_>>())
    }

    /// Plans the series `coefficients[0] + sum_(k >= 1) coefficients[k] D_k`; zero coefficients are used where they save
    /// work.
    ///
    /// # Errors
    /// [`Error::ConstantPolynomial`] when no coefficient beyond the first differs from zero, [`Error::Factor`] when one is
    /// not finite.
    pub fn new(coefficients: &[Complex64]) -> Result<Self, Error> {
        if coefficients.iter().any(|c| !c.is_finite()) {
            return Err(Error::Factor { what: "coefficients of a series", requirement: "complex numbers" });
        }
        let coefficients = trimmed(coefficients.to_vec());
        if coefficients.len() < 2 {
            return Err(Error::ConstantPolynomial);
        }
        let mut top = Line::default();
        top.add_series(coefficients.clone(), depth(coefficients.len() - 1) - 1);
        let mut basis = BTreeSet::new();
        top.collect_basis(&mut basis);
        Ok(DicksonSeries { coefficients, top, basis })
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
        self.basis.iter().filter(|&&k| k > 1).count() + self.top.relinearizations()
    }

    /// The value at `D_1 = x`, by Clenshaw's recurrence `D_(k+1) = D_1 D_k - D_(k-1)`.
    pub fn value(&self, x: Complex64) -> Complex64 {
        let zero = Complex64::new(0.0, 0.0);
        let (b1, b2) = self.coefficients[1..].iter().rev().fold((zero, zero), |(b1, b2), d| (d + x * b1 - b2, b1));
        self.coefficients[0] + x * b1 - D_0 * b2
    }

    /// Evaluates the series at `D_1 = x` (slots in the interval `[-2, 2]`): the result is [`DicksonSeries::depth`] levels
    /// below `x` and has exactly the scale `scale`.
    ///
    /// The scale of `x` should be near the moduli but not above the one of its level: the powers inherit a distance of
    /// `2^d`, `D_k` that of `2^(kd)`, and where they are too large their factors have to be too small.
    ///
    /// # Errors
    /// `LevelTooLow` when `x` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let (required, actual) = (self.depth(), evaluator.level(x));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let run = Run { evaluator, top: actual, basis: self.basis(evaluator, x)? };
        run.line(&self.top, required - 1, scale)
    }

    /// Computes the `D_k` needed, `D_k` at `ceil(log2 k)` levels below `x`; their scales follow from that of `x`.
    fn basis<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<BTreeMap<usize, E::Ciphertext>, Error> {
        let mut basis = BTreeMap::from([(1, x.clone())]);
        for &k in self.basis.iter().filter(|&&k| k > 1) {
            // D_k = D_a D_b - D_(a-b), where D_(a-b) is D_0 = 2 or D_1.
            let (left, right) = (&basis[&k.div_ceil(2)], &basis[&(k / 2)]);
            let level = evaluator.level(x) + 1 - depth(k - 1);
            let scale = evaluator.scale(left) * evaluator.scale(right) / evaluator.modulus(level);
            let odd = k % 2 == 1;
            let power = evaluator.quadratic(&Quadratic {
                products: vec![Product { factor: 1, left, right }],
                terms: if odd { vec![(Complex64::new(-1.0, 0.0), x)] } else { vec![] },
                constant: Complex64::new(if odd { 0.0 } else { -D_0 }, 0.0),
                level,
                scale,
            })?;
            basis.insert(k, power);
        }
        Ok(basis)
    }
}

impl Line {
    /// Adds a series to the line, which is computed `drop` levels below `D_1`; its degree is below `2^(drop+1)`.
    fn add_series(&mut self, series: Vec<Complex64>, drop: usize) {
        let series = trimmed(series);
        let degree = series.len().saturating_sub(1);
        if degree <= LEAF_DEGREE && (degree == 0 || depth(degree - 1) <= drop) {
            self.constant += series.first().copied().unwrap_or_default();
            let terms = series.into_iter().enumerate().skip(1).filter(|(_, c)| c.norm() != 0.0);
            self.terms.extend(terms.map(|(k, c)| (c, k)));
            return;
        }
        let power = 1 << degree.ilog2();
        let (quotient, remainder) = divide(series, power);
        if let [constant] = quotient[..] {
            self.terms.push((constant, power));
        } else {
            let mut factor = Line::default();
            factor.add_series(quotient, drop - 1);
            self.products.push((power, factor));
        }
        self.add_series(remainder, drop);
    }

    fn relinearizations(&self) -> usize {
        usize::from(!self.products.is_empty()) + self.products.iter().map(|(_, l)| l.relinearizations()).sum::<usize>()
    }

    /// Collects the indices in use, together with those on the way to them.
    fn collect_basis(&self, basis: &mut BTreeSet<usize>) {
        for &k in self.terms.iter().map(|(_, k)| k).chain(self.products.iter().map(|(k, _)| k)) {
            basis.insert(k);
            basis.extend((1..=k.ilog2()).map(|i| k >> i));
            if k == LEAF_DEGREE {
                basis.insert(2);
            }
        }
        self.products.iter().for_each(|(_, line)| line.collect_basis(basis));
    }
}

/// One evaluation: the evaluator, the level of `D_1` and the powers.
struct Run<'e, E: Evaluator> {
    evaluator: &'e E,
    top: usize,
    basis: BTreeMap<usize, E::Ciphertext>,
}

impl<E: Evaluator> Run<'_, E> {
    /// Computes a line `drop` levels below `D_1` into a result with `scale`, its factors first.
    fn line(&self, line: &Line, drop: usize, scale: f64) -> Result<E::Ciphertext, Error> {
        let level = self.top - drop;
        let mut factors = Vec::with_capacity(line.products.len());
        for (power, factor) in &line.products {
            let power = &self.basis[power];
            let scale = scale * self.evaluator.modulus(level) / self.evaluator.scale(power);
            factors.push((power, self.line(factor, drop - 1, scale)?));
        }
        Ok(self.evaluator.quadratic(&Quadratic {
            products: factors
                .iter()
                .map(|(power, factor)| Product { factor: 1, left: *power, right: factor })
                .collect(),
            terms: line.terms.iter().map(|(c, k)| (*c, &self.basis[k])).collect(),
            constant: line.constant,
            level,
            scale,
        })?)
    }
}

/// `ceil(log2(degree + 1))`: the levels for a degree, and for `D_k` those for degree `k - 1`.
fn depth(degree: usize) -> usize {
    (usize::BITS - degree.leading_zeros()) as usize
}

/// Leaves out zero coefficients at the end.
fn trimmed(mut series: Vec<Complex64>) -> Vec<Complex64> {
    while series.last().is_some_and(|c| c.norm() == 0.0) {
        series.pop();
    }
    series
}

/// Quotient and remainder by `D_m` of a series of degree in `m..2m`: `D_(m+k) = D_m D_k - D_(m-k)` for `k >= 1`.
fn divide(mut series: Vec<Complex64>, m: usize) -> (Vec<Complex64>, Vec<Complex64>) {
    let quotient = series.split_off(m);
    for (k, d) in quotient.iter().enumerate().skip(1) {
        series[m - k] -= d;
    }
    (quotient, series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::clear::ClearEvaluator;

    const TOP: usize = 7;

    fn evaluator() -> ClearEvaluator {
        let moduli = (0..=TOP).map(|i| 2f64.powi(50) * (1.0 - 1e-6 * (i as f64 * 2.3).sin())).collect();
        ClearEvaluator::new(8, moduli, 32, 1).unwrap()
    }

    fn points() -> Vec<Complex64> {
        [-2.0, -1.66, -0.4, 0.0, 0.2, 1.1, 1.8, 2.0].map(|x| Complex64::new(x, 0.0)).to_vec()
    }

    /// Irregular coefficients; `keep` decides which are not zero.
    fn series(degree: usize, keep: impl Fn(usize) -> bool) -> Vec<Complex64> {
        (0..=degree)
            .map(|k| if keep(k) { Complex64::new((k as f64 + 0.7).sin(), (2.1 * k as f64).cos()) } else { 0.0.into() })
            .collect()
    }

    /// Evaluates and compares with the definition `D_k(2 cos u) = 2 cos k u`; asserts level and scale.
    fn check(coefficients: &[Complex64]) -> DicksonSeries {
        let (e, plan) = (evaluator(), DicksonSeries::new(coefficients).unwrap());
        let x = e.encrypt(&points(), TOP, 2f64.powi(50) * 0.96).unwrap();
        let scale = 2f64.powi(49) * 1.01;
        let y = plan.evaluate(&e, &x, scale).unwrap();
        assert_eq!((e.level(&y), e.scale(&y)), (TOP - plan.depth(), scale));
        for (x, y) in points().iter().zip(y.values()) {
            let cosine = |k: usize| (k as f64 * (0.5 * x.re).acos()).cos();
            let powers = coefficients.iter().enumerate().skip(1).map(|(k, d)| 2.0 * d * cosine(k));
            let exact = coefficients[0] + powers.sum::<Complex64>();
            assert!((y - exact).norm() < 1e-11, "{y} for {exact} at {x}");
            assert!((plan.value(*x) - exact).norm() < 2e-12);
        }
        plan
    }

    /// All constants of a line and of its factors.
    fn constants(line: &Line) -> Vec<Complex64> {
        let own = line.terms.iter().map(|(c, _)| *c).chain([line.constant]);
        own.chain(line.products.iter().flat_map(|(_, factor)| constants(factor))).collect()
    }

    #[test]
    fn full_degrees_take_the_depth_and_products_promised() {
        for (degree, depth, relinearizations) in [(1, 1, 0), (3, 2, 2), (7, 3, 5), (15, 4, 7), (31, 5, 10), (63, 6, 15)]
        {
            let plan = check(&series(degree, |_| true));
            assert_eq!((plan.degree(), plan.depth()), (degree, depth));
            assert_eq!(plan.relinearizations(), relinearizations, "degree {degree}");
        }
    }

    #[test]
    fn any_degree_and_any_gap_works() {
        for degree in 1..=63 {
            check(&series(degree, |_| true));
            check(&series(degree, |k| k == degree));
            check(&series(degree, |k| (k + degree) % 2 == 0));
            check(&series(degree, |k| k == 0 || (k * k + degree) % 3 == 0 || k == degree));
            check(&series(degree, |k| k % 8 == 0 || k == degree));
        }
    }

    #[test]
    fn even_and_odd_series_save_work() {
        assert!(check(&series(30, |k| k % 2 == 0)).relinearizations() < 10);
        assert_eq!(check(&series(16, |k| k == 16)).relinearizations(), 4);
    }

    #[test]
    fn constants_stay_real_or_imaginary() {
        for degree in 1..=63 {
            let kind = |(k, c): (usize, Complex64)| [Complex64::new(c.re, 0.0), Complex64::new(0.0, c.im)][k % 2];
            let mixed: Vec<_> = series(degree, |_| true).into_iter().enumerate().map(kind).collect();
            let plan = check(&mixed);
            assert!(constants(&plan.top).iter().all(|c| c.re == 0.0 || c.im == 0.0), "degree {degree}");
        }
    }

    #[test]
    fn a_chebyshev_series_is_the_same_polynomial_at_twice_the_argument() {
        let coefficients = series(13, |_| true);
        let plan = DicksonSeries::from_chebyshev(&coefficients).unwrap();
        for t in [-1.0f64, -0.3, 0.0, 0.8, 1.0] {
            let exact: Complex64 = coefficients.iter().enumerate().map(|(k, c)| c * (k as f64 * t.acos()).cos()).sum();
            assert!((plan.value((2.0 * t).into()) - exact).norm() < 1e-12);
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_refused() {
        let e = evaluator();
        let constant = [Complex64::new(2.0, 0.0), Complex64::new(0.0, 0.0)];
        assert_eq!(DicksonSeries::new(&constant).unwrap_err(), Error::ConstantPolynomial);
        assert!(matches!(DicksonSeries::new(&[f64::NAN.into(), 1.0.into()]), Err(Error::Factor { .. })));
        let low = e.encrypt(&points(), 4, 2f64.powi(50)).unwrap();
        let refused = DicksonSeries::new(&series(31, |_| true)).unwrap().evaluate(&e, &low, 1e15);
        assert_eq!(refused.unwrap_err(), SchemeError::LevelTooLow { required: 5, actual: 4 }.into());
    }
}
