//! Removes the low digit of numbers modulo p^2: `p m + e` becomes m modulo p, for every |e| up to a bound.
//!
//! The null polynomial `N(X) = prod_(|i| <= bound) (X - i)` vanishes modulo p at every e, so that `N(p m + e) = p m N'(e)` modulo p^2
//! (null polynomials: eprint 2024/115; the digits of BGV: eprint 2022/1364). N' is even: a polynomial H with `H(i^2) = 1 / N'(i)`
//! modulo p has half the degree, and `m = N(X) / p H(X^2)`. Both are made of the same powers of X.

use crate::error::Error;
use crate::polynomial::{depth, Basis, Series};
use aglet_schemes::integer::prime_power::{Pair, PrimePowerEvaluator, PrimePowerForm, Residue, P};
use aglet_schemes::{Product, Scalar, Scale};
use std::collections::BTreeMap;

/// Both polynomials.
#[derive(Debug, Clone, PartialEq)]
pub struct DigitExtraction {
    null: Series<Pair>,
    slope: Series<Pair>,
}

/// `c (X - root)` for a polynomial given by its coefficients.
fn times_root(c: &[Residue], root: Residue) -> Vec<Residue> {
    let shifted = std::iter::once(Residue::ZERO).chain(c.iter().copied());
    let scaled = c.iter().map(|&c| c * root).chain([Residue::ZERO]);
    shifted.zip(scaled).map(|(x, y)| x - y).collect()
}

fn value(c: &[Residue], x: Residue) -> Residue {
    c.iter().rev().fold(Residue::ZERO, |sum, &c| sum * x + c)
}

impl DigitExtraction {
    /// For low digits of at most this size, from 3 to 127.
    ///
    /// # Errors
    /// [`Error::Factor`] for another bound.
    pub fn new(bound: u32) -> Result<Self, Error> {
        if !(3..=127).contains(&bound) {
            return Err(Error::Factor { what: "bound on a low digit", requirement: "between 3 and 127" });
        }
        let bound = i128::from(bound);
        let null = (-bound..=bound).fold(vec![Residue::ONE], |c, i| times_root(&c, Residue::new(i)));
        let derivative: Vec<Residue> = (1..null.len()).map(|k| null[k] * Residue::new(k as i128)).collect();
        // Lagrange's interpolation at the squares of 0 to the bound.
        let mut slope = vec![Residue::ZERO; bound as usize + 1];
        for i in 0..=bound {
            let others = || (0..=bound).filter(|&j| j != i).map(|j| Residue::new(j * j));
            let product = others().fold(vec![Residue::ONE], |c, root| times_root(&c, root));
            let weight = Residue::ONE.over(value(&product, Residue::new(i * i)) * value(&derivative, Residue::new(i)));
            slope.iter_mut().zip(product).for_each(|(sum, c)| *sum = *sum + weight * c);
        }
        // H is needed modulo p only, and its coefficients are small there.
        let reduced = |c: &Residue| Pair::both(Residue::from(c.word() % P));
        let pairs: Vec<Pair> = null.into_iter().map(Pair::both).collect();
        Ok(Self {
            null: Series::new(Basis::Power, &pairs)?,
            slope: Series::new(Basis::Power, &slope.iter().map(reduced).collect::<Vec<_>>())?,
        })
    }

    /// Levels between the numbers and the product of both polynomials, which is left without its rescale.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.null.depth().max(1 + self.slope.depth())
    }

    /// The degrees of the null polynomial, and of H in X^2.
    #[must_use]
    pub fn degrees(&self) -> [usize; 2] {
        [self.null.degree(), self.slope.degree()]
    }

    /// The digit of one number: what [`DigitExtraction::extract`] does to every slot.
    #[must_use]
    pub fn value(&self, x: Residue) -> u64 {
        let x = Pair::both(x);
        let null = self.null.value(x).0[0].word();
        null / P * (self.slope.value(x * x).0[0].word() % P) % P
    }

    /// Takes numbers `p m + e` modulo p^2 to m modulo p, [`DigitExtraction::levels`] below, with this correction factor.
    ///
    /// # Errors
    /// `LevelTooLow`; otherwise what the evaluator refuses.
    pub fn extract<E: PrimePowerEvaluator>(
        &self,
        e: &E,
        x: &E::Ciphertext,
        correction_factor: Residue,
    ) -> Result<E::Ciphertext, Error> {
        let (required, actual) = (self.levels(), e.level(x));
        if actual < required {
            return Err(aglet_schemes::Error::LevelTooLow { required, actual }.into());
        }
        let mut powers = self.null.elements(e, x)?;
        let squares = self.slope.elements_used().map(|k| Ok((k, e.modulo_p(power(e, &mut powers, 2 * k, actual)?)?)));
        let squares = squares.collect::<Result<BTreeMap<_, _>, Error>>()?;
        let null = e.over_p(&self.null.evaluate_on(e, &powers, Residue::ONE)?);
        let level = actual - required;
        let slope = self.slope.evaluate_on(e, &squares, correction_factor)?;
        let products = vec![Product { factor: 1, left: &null, right: &slope }];
        let scale = correction_factor.over(e.divisor(level));
        Ok(e.unrescaled(&PrimePowerForm { products, terms: Vec::new(), constant: Pair::ZERO, level, scale })?)
    }
}

/// A power of a variable at a level, the square of another one if it is not there yet.
fn power<'a, E: PrimePowerEvaluator>(
    e: &E,
    powers: &'a mut BTreeMap<usize, E::Ciphertext>,
    k: usize,
    variable: usize,
) -> Result<&'a E::Ciphertext, Error> {
    if !powers.contains_key(&k) {
        let level = variable + 1 - depth(k - 1);
        let half = power(e, powers, k / 2, variable)?;
        let scale = (e.scale_of(half) * e.scale_of(half)).over(e.divisor(level));
        let products = vec![Product { factor: 1, left: half, right: half }];
        let form = PrimePowerForm { products, terms: Vec::new(), constant: Pair::ZERO, level, scale };
        let square = e.forms(&[form])?.remove(0);
        powers.insert(k, square);
    }
    Ok(&powers[&k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::integer::prime_power::{PrimePower, PrimePowerClear, PrimePowerClearEvaluator};

    #[test]
    fn every_message_with_every_error_is_found() {
        let digit_extraction = DigitExtraction::new(15).unwrap();
        for e in -15..=15 {
            for m in 0..P {
                assert_eq!(digit_extraction.value(Residue::new(i128::from(P * m) + e)), m, "{e}");
            }
        }
        // Beyond the bound the null polynomial is not 0 modulo p.
        assert!([-16, 16].iter().all(|&e| digit_extraction.value(Residue::new(5 * i128::from(P) + e)) != 5));
        assert!(DigitExtraction::new(2).is_err() && DigitExtraction::new(128).is_err());
    }

    #[test]
    fn the_circuit_is_the_polynomial_and_lands_on_its_factor() {
        let primes: Vec<u64> = (1..14).map(|i| (1 << 49) + 2 * i + 1).collect();
        let e = PrimePowerClearEvaluator::new(64, primes, vec![0]);
        for bound in [3, 15] {
            let digit_extraction = DigitExtraction::new(bound).unwrap();
            let one = |j: u64| {
                Residue::new(
                    i128::from(P * (j * j * 31 % P)) + i128::from(j % (2 * u64::from(bound) + 1)) - i128::from(bound),
                )
            };
            let values: Vec<Pair> = (0..64).map(|j| Pair([one(j), one(j + 64)])).collect();
            let x =
                PrimePowerClear { values, level: 12, power: PrimePower::Two, correction_factor: Residue::new(12345) };
            let y = digit_extraction.extract(&e, &x, Residue::new(777)).unwrap();
            assert_eq!(
                (y.level, y.power, y.correction_factor),
                (12 - digit_extraction.levels(), PrimePower::One, Residue::new(777))
            );
            for (j, y) in y.values.iter().enumerate() {
                let m = |j: u64| j * j * 31 % P;
                assert_eq!(y.0.map(|y| y.word() % P), [m(j as u64), m(j as u64 + 64)]);
            }
            let low = PrimePowerClear { level: digit_extraction.levels() - 1, ..x };
            assert!(digit_extraction.extract(&e, &low, Residue::ONE).is_err());
        }
    }
}
