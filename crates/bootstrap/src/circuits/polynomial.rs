//! Chebyshev series on ciphertexts in the least depth, with every scale exact.
//!
//! Paterson-Stockmeyer in the Chebyshev basis (Bossuat et al., eprint 2020/1203, section 4): with `2 T_a T_b = T_(a+b) +
//! T_|a-b|` a series is divided by `T_m`, `m` a power of two, into `T_m q + r`, and so on with both parts. Here all
//! products that meet at one level are summed into one [`Quadratic`], a *line*: degree 31 takes 10 relinearisations and
//! exactly 5 levels. Scales are chosen from the result backwards, so that nothing is ever added at a scale that is only
//! almost right.

use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::collections::{BTreeMap, BTreeSet};

/// The largest degree that is written as a sum of multiples of `T_1, T_2, T_3` instead of being split further.
const LEAF_DEGREE: usize = 3;

/// A Chebyshev series with complex coefficients, and how it will be evaluated.
///
/// A series of degree `d` takes `depth = ceil(log2(d + 1))` levels.
#[derive(Debug, Clone)]
pub struct ChebyshevSeries {
    coefficients: Vec<Complex64>,
    top: Line,
    /// The `T_k` that occur, and those they are made from.
    basis: BTreeSet<usize>,
}

/// One quadratic form: `sum T_m * line + sum c_k T_k + constant`.
#[derive(Debug, Clone, Default)]
struct Line {
    products: Vec<(usize, Line)>,
    terms: Vec<(Complex64, usize)>,
    constant: Complex64,
}

impl ChebyshevSeries {
    /// Plans the series `sum_k coefficients[k] T_k`; zero coefficients are used where they save work.
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
        Ok(ChebyshevSeries { coefficients, top, basis })
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

    /// The value at `t`, by Clenshaw's recurrence.
    pub fn value(&self, t: Complex64) -> Complex64 {
        let zero = Complex64::new(0.0, 0.0);
        let (b1, b2) =
            self.coefficients[1..].iter().rev().fold((zero, zero), |(b1, b2), c| (c + 2.0 * t * b1 - b2, b1));
        self.coefficients[0] + t * b1 - b2
    }

    /// Evaluates the series at `t` (slots in the interval `[-1, 1]`, any scale near the moduli): the result is
    /// [`ChebyshevSeries::depth`] levels below `t` and has exactly the scale `scale`.
    ///
    /// # Errors
    /// `LevelTooLow` when `t` has fewer levels than the depth; otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator>(&self, evaluator: &E, t: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let (required, actual) = (self.depth(), evaluator.level(t));
        if actual < required {
            return Err(SchemeError::LevelTooLow { required, actual }.into());
        }
        let run = Run { evaluator, top: actual, basis: self.basis(evaluator, t)? };
        run.line(&self.top, required - 1, scale)
    }

    /// Computes the `T_k` needed, `T_k` at `ceil(log2 k)` levels below `t`; their scales follow from that of `t`.
    fn basis<E: Evaluator>(&self, evaluator: &E, t: &E::Ciphertext) -> Result<BTreeMap<usize, E::Ciphertext>, Error> {
        let mut basis = BTreeMap::from([(1, t.clone())]);
        for &k in self.basis.iter().filter(|&&k| k > 1) {
            // T_k = 2 T_a T_b - T_(a-b), where T_(a-b) is T_0 = 1 or T_1.
            let (left, right) = (&basis[&k.div_ceil(2)], &basis[&(k / 2)]);
            let level = evaluator.level(t) + 1 - depth(k - 1);
            let scale = evaluator.scale(left) * evaluator.scale(right) / evaluator.modulus(level);
            let odd = k % 2 == 1;
            let power = evaluator.quadratic(&Quadratic {
                products: vec![Product { factor: 2, left, right }],
                terms: if odd { vec![(Complex64::new(-1.0, 0.0), t)] } else { vec![] },
                constant: Complex64::new(if odd { 0.0 } else { -1.0 }, 0.0),
                level,
                scale,
            })?;
            basis.insert(k, power);
        }
        Ok(basis)
    }
}

impl Line {
    /// Adds a series to the line, which is computed `drop` levels below `T_1`; its degree is below `2^(drop+1)`.
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

/// One evaluation: the evaluator, the level of `T_1` and the powers.
struct Run<'e, E: Evaluator> {
    evaluator: &'e E,
    top: usize,
    basis: BTreeMap<usize, E::Ciphertext>,
}

impl<E: Evaluator> Run<'_, E> {
    /// Computes a line `drop` levels below `T_1` into a result with `scale`, its factors first.
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

/// `ceil(log2(degree + 1))`: the levels for a degree, and for `T_k` those for degree `k - 1`.
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

/// Quotient and remainder by `T_m` of a series of degree in `m..2m`: `c T_(m+k) = 2c T_m T_k - c T_(m-k)`.
fn divide(mut series: Vec<Complex64>, m: usize) -> (Vec<Complex64>, Vec<Complex64>) {
    let high = series.split_off(m);
    let mut quotient = vec![high[0]];
    for (k, c) in high.into_iter().enumerate().skip(1) {
        quotient.push(2.0 * c);
        series[m - k] -= c;
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
        [-1.0, -0.83, -0.2, 0.0, 0.1, 0.55, 0.9, 1.0].map(|x| Complex64::new(x, 0.0)).to_vec()
    }

    /// Irregular coefficients; `keep` decides which are not zero.
    fn series(degree: usize, keep: impl Fn(usize) -> bool) -> Vec<Complex64> {
        (0..=degree)
            .map(|k| if keep(k) { Complex64::new((k as f64 + 0.7).sin(), (2.1 * k as f64).cos()) } else { 0.0.into() })
            .collect()
    }

    /// Evaluates and compares with the definition `T_k(cos u) = cos k u`; asserts level and scale.
    fn check(coefficients: &[Complex64]) -> ChebyshevSeries {
        let (e, plan) = (evaluator(), ChebyshevSeries::new(coefficients).unwrap());
        let t = e.encrypt(&points(), TOP, 2f64.powi(50) * 1.000001).unwrap();
        let scale = 2f64.powi(49) * 1.01;
        let y = plan.evaluate(&e, &t, scale).unwrap();
        assert_eq!((e.level(&y), e.scale(&y)), (TOP - plan.depth(), scale));
        for (x, y) in points().iter().zip(y.values()) {
            let exact: Complex64 =
                coefficients.iter().enumerate().map(|(k, c)| c * (k as f64 * x.re.acos()).cos()).sum();
            assert!((y - exact).norm() < 1e-11, "{y} for {exact} at {x}");
            assert!((plan.value(*x) - exact).norm() < 1e-12);
        }
        plan
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
    fn what_cannot_be_evaluated_is_refused() {
        let e = evaluator();
        let constant = [Complex64::new(2.0, 0.0), Complex64::new(0.0, 0.0)];
        assert_eq!(ChebyshevSeries::new(&constant).unwrap_err(), Error::ConstantPolynomial);
        assert!(matches!(ChebyshevSeries::new(&[f64::NAN.into(), 1.0.into()]), Err(Error::Factor { .. })));
        let low = e.encrypt(&points(), 4, 2f64.powi(50)).unwrap();
        let refused = ChebyshevSeries::new(&series(31, |_| true)).unwrap().evaluate(&e, &low, 1e15);
        assert_eq!(refused.unwrap_err(), SchemeError::LevelTooLow { required: 5, actual: 4 }.into());
    }
}
