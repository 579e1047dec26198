//! Decomposition into RNS digits: the part of a key switch that comes before the key.

use crate::basis::BaseConverter;
use crate::poly::{Coeff, Eval, Poly};
use crate::ring::Ring;
use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

/// The digits of a polynomial, each raised to more limbs, as values.
pub struct Digits {
    /// One polynomial for each digit, at least one, all of one shape.
    polys: Vec<Poly<Eval>>,
}

impl Digits {
    /// A polynomial that is one short digit already: its coefficients, centred, at all limbs of a key.
    pub fn single(poly: Poly<Eval>) -> Self {
        Self { polys: vec![poly] }
    }
    #[cfg(test)]
    pub(super) fn of(polys: Vec<Poly<Eval>>) -> Self {
        Self { polys }
    }
    /// How many there are.
    pub fn count(&self) -> usize {
        self.polys.len()
    }
    /// Limbs of the chain and special limbs of each.
    pub fn shape(&self) -> (usize, usize) {
        (self.polys[0].q_limbs(), self.polys[0].p_limbs())
    }
    /// Limb `i` of every digit.
    pub(super) fn limbs(&self, i: usize) -> impl Iterator<Item = &[u64]> {
        self.polys.iter().map(move |p| p.limb(i))
    }
}

/// How polynomials with so many limbs of the chain are cut into digits, and what each is raised to.
pub(crate) struct Decomposition {
    /// For each limb of the polynomial the digit that it is of and its place among the limbs of that digit.
    places: Vec<Option<(usize, usize)>>,
    digits: Vec<Digit>,
}

struct Digit {
    /// The limbs of the result that it has of its own.
    own: Vec<usize>,
    /// The primes of the other limbs of the result, and the conversion to them if there are any.
    others: Vec<usize>,
    converter: Option<Arc<BaseConverter>>,
}

impl Decomposition {
    fn new(ring: &Ring, limbs: usize, (q_limbs, p_limbs): (usize, usize), digits: &[Vec<usize>]) -> Self {
        let mut places = vec![None; limbs];
        for (d, own) in digits.iter().enumerate() {
            own.iter().enumerate().for_each(|(k, &i)| places[i] = Some((d, k)));
        }
        let digit = |own: &Vec<usize>| {
            let others = (0..q_limbs + p_limbs).filter(|i| !own.contains(i));
            let others: Vec<usize> = others.map(|i| ring.prime_of(q_limbs, i)).collect();
            let converter = (!others.is_empty()).then(|| ring.converter(own, &others));
            Digit { own: own.clone(), others, converter }
        };
        Self { places, digits: digits.iter().map(digit).collect() }
    }

    /// What limb `k` of digit `d` is multiplied by on its way to coefficients.
    fn source_factor(&self, (d, k): (usize, usize)) -> u64 {
        self.digits[d].converter.as_ref().map_or(1, |c| c.source_factors()[k])
    }
}

impl Ring {
    /// Cuts polynomials (of one number of limbs, no special ones) into digits of these limbs, ascending, and raises each
    /// digit to `q_limbs` and `p_limbs` limbs. The limbs of a digit are those of the polynomial itself; modulo the other
    /// primes it is the centred number.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn digits(
        &self,
        of: &[&Poly<Eval>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, Error> {
        let Some(limbs) = of.first().map(|c| c.q_limbs()) else { return Ok(Vec::new()) };
        assert!(of.iter().all(|c| (c.q_limbs(), c.p_limbs()) == (limbs, 0)) && limbs <= q_limbs);
        let plan = self.plans.decompositions.get((limbs, q_limbs, p_limbs, digits.to_vec()), |_| {
            Decomposition::new(self, limbs, (q_limbs, p_limbs), digits)
        });
        of.iter().map(|c| Ok(Digits { polys: self.decompose(c, (q_limbs, p_limbs), &plan)? })).collect()
    }

    /// The centred coefficients of polynomials modulo the lowest prime, at more limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn raise(&self, of: &[&Poly<Eval>], q_limbs: usize, p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        let raised = self.digits(of, (q_limbs, p_limbs), &[vec![0]])?;
        Ok(raised.into_iter().flat_map(|digits| digits.polys).collect())
    }

    fn decompose(
        &self,
        c: &Poly<Eval>,
        (q_limbs, p_limbs): (usize, usize),
        plan: &Decomposition,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        let scratch = || self.scratch(q_limbs, p_limbs);
        let mut raised: Vec<Poly<Coeff>> = plan.digits.iter().map(|_| scratch()).collect::<Result<_, _>>()?;
        let mut y: Poly<Coeff> = self.scratch(c.q_limbs(), 0)?;
        // For every limb of `c` its row in its digit; for every digit the other rows.
        let mut own_rows: Vec<Option<&mut [u64]>> = (0..c.q_limbs()).map(|_| None).collect();
        let mut other_rows: Vec<Vec<&mut [u64]>> = Vec::with_capacity(plan.digits.len());
        for (d, (digit, out)) in plan.digits.iter().zip(&mut raised).enumerate() {
            let mut others = Vec::with_capacity(digit.others.len());
            for (i, row) in out.limbs_mut().enumerate() {
                match plan.places.get(i) {
                    Some(Some(place)) if place.0 == d => own_rows[i] = Some(row),
                    _ => others.push(row),
                }
            }
            other_rows.push(others);
        }
        y.par_limbs_mut().zip(own_rows).enumerate().for_each(|(i, (limb, row))| {
            let (Some(place), Some(row)) = (plan.places[i], row) else { return };
            // Coefficients, times what the conversion of their digit wants. The digit modulo its own primes is `c` itself,
            // which is in the cache now.
            self.table(i).inverse_scaled_to(c.limb(i), limb, plan.source_factor(place));
            row.copy_from_slice(c.limb(i));
        });
        for (digit, rows) in plan.digits.iter().zip(other_rows) {
            let Some(converter) = &digit.converter else { continue };
            let sources = y.limbs_mut().enumerate().filter(|(i, _)| digit.own.contains(i)).map(|(_, row)| row);
            self.convert(converter, sources.collect(), rows, |t, row| self.table(digit.others[t]).forward(row))?;
        }
        Ok(raised.into_iter().map(Poly::transformed).collect())
    }
}
