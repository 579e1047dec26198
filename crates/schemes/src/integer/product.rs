//! Products of integers by modulus switching, and sums of them with one relinearization and one rescale.

use super::noise::{Division, Noise};
use super::{Ciphertext, IntegerCiphertext, IntegerEvaluator};
use crate::samples::{linear, SHARING};
use crate::Error;
use aglet_ring::{Eval, Form, Multiplier, Poly};
use aglet_rlwe::keyswitch::divide_forms;
use aglet_rlwe::Sample;

/// Two ciphertexts at one level, to be multiplied.
type Pair = (IntegerCiphertext, IntegerCiphertext);

/// Multiples of ciphertexts, to be added at a level.
struct Terms<'a> {
    first: &'a Ciphertext,
    level: usize,
    /// What the division by the prime of the level makes canonical.
    correction_factor: u64,
    /// Each with the centred integer that it is multiplied by.
    multiples: Vec<(i64, &'a Ciphertext)>,
    noise: Option<Noise>,
}

impl IntegerEvaluator<'_> {
    /// `a b` as a ciphertext of degree 2 at the lower level of the two. [`IntegerEvaluator::relinearize`] brings it one
    /// level down; until then it can only be added and subtracted.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] at level 0, [`Error::Noise`], ciphertexts of two keys.
    pub fn product(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        let level = a.level().min(b.level());
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        linear(a)?;
        linear(b)?;
        // Factors may differ at one level: that of the product is theirs.
        let (a, b) = self.at_one_level(a, b)?;
        let noise = self.product_noise(&a, &b);
        let t = self.params.plain();
        let tensor = self.tensor(&a, &b, Some(Multiplier::integer(i128::from(t.value()))))?;
        self.checked(a.with(tensor, t.mul(a.correction_factor, b.correction_factor), noise))
    }

    /// Relinearizes a product to two polynomials, one level lower. A ciphertext that has two already stays as it is.
    ///
    /// # Errors
    /// A key that is missing or of another secret key, [`Error::LevelTooLow`] at level 0.
    pub fn relinearize(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        if a.degree() == 1 {
            return Ok(a.clone());
        }
        if a.level() == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let polys = self.relinearized(a, 1)?;
        let noise = a.noise.plus(self.params.key_switch());
        self.divided_once(a, polys, a.correction_factor, (noise, Division::Product))
    }

    /// `a b`, relinearized, one level below the lower of the two.
    ///
    /// # Errors
    /// Those of both.
    pub fn mul(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.relinearize(&self.product(a, b)?)
    }

    fn product_noise(&self, a: &Ciphertext, b: &Ciphertext) -> Noise {
        a.noise.product(b.noise, self.params.plain().value())
    }

    /// Polynomials that are divided by the prime of a level, with what becomes of factor and noise.
    fn divided_once(
        &self,
        a: &Ciphertext,
        polys: Vec<Poly<Eval>>,
        correction_factor: u64,
        (noise, ends): (Noise, Division),
    ) -> Result<IntegerCiphertext, Error> {
        let (t, q) = (self.params.plain(), self.params.q()[polys[0].q_limbs()]);
        let noise = noise.divided(self.params, q, ends);
        self.checked(a.with(polys, t.mul(correction_factor, t.inv(t.reduce(q))), noise))
    }

    /// `sum a b + sum c x` for residues c modulo t: one relinearization if there are products, one rescale, one level below the lowest
    /// operand, with the canonical correction factor of that level.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`], [`Error::LevelTooLow`] at level 0, a key that is missing, ciphertexts of two keys, [`Error::Noise`].
    pub fn sum_of_products(
        &self,
        products: &[(&IntegerCiphertext, &IntegerCiphertext)],
        terms: &[(i64, &IntegerCiphertext)],
    ) -> Result<IntegerCiphertext, Error> {
        if products.is_empty() {
            return Ok(self.sums_of_terms(&[terms])?.remove(0));
        }
        let all = products.iter().flat_map(|(a, b)| [*a, *b]).chain(terms.iter().map(|(_, x)| *x));
        let (first, level) = self.lowest(all)?;
        let terms = self.multiples(first, level, terms);
        let down = |x| self.level_down(x, level);
        let pairs = products.iter().map(|(a, b)| Ok((down(a)?, down(b)?))).collect::<Result<Vec<Pair>, Error>>()?;
        let noise = pairs.iter().fold(terms.noise, |sum, (a, b)| join(sum, self.product_noise(a, b)));
        let noise = noise.unwrap_or(first.noise).plus(self.params.key_switch());
        let sample = Sample { polys: self.combined(&pairs, &terms)?, key: first.key };
        let polys = self.relinearized(&sample, 1)?;
        self.divided_once(first, polys, terms.correction_factor, (noise, Division::Product))
    }

    /// [`IntegerEvaluator::sum_of_products`] of several sums without products. Neighbours that have terms of the same ciphertexts read them
    /// together.
    ///
    /// # Errors
    /// As there.
    pub fn sums_of_terms(&self, sums: &[&[(i64, &IntegerCiphertext)]]) -> Result<Vec<IntegerCiphertext>, Error> {
        let sums = sums.iter().map(|terms| {
            let (first, level) = self.lowest(terms.iter().map(|(_, x)| *x))?;
            Ok::<_, Error>(self.multiples(first, level, terms))
        });
        self.divided_together(&sums.collect::<Result<Vec<_>, _>>()?)
    }

    /// The first of these operands, all of one key and of degree 1, and the lowest level, which must not be 0.
    fn lowest<'x>(
        &self,
        all: impl Iterator<Item = &'x IntegerCiphertext> + Clone,
    ) -> Result<(&'x Ciphertext, usize), Error> {
        let first = all.clone().next().ok_or(Error::EmptyQuadratic)?;
        let level = all.clone().map(|x| x.level()).min().unwrap_or_default();
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        for x in all {
            self.same_key(first, x)?;
            linear(x)?;
        }
        Ok((first, level))
    }

    /// Terms before their sum.
    fn multiples<'t>(&self, first: &'t Ciphertext, level: usize, terms: &[(i64, &'t IntegerCiphertext)]) -> Terms<'t> {
        let t = self.params.plain();
        let correction_factor = t.mul(self.params.correction_factor_at(level - 1), t.reduce(self.params.q()[level]));
        let times = |c: i64, x: &Ciphertext| {
            self.centred(t.mul(t.mul(t.reduce_i64(c), correction_factor), t.inv(x.correction_factor)))
        };
        let multiples: Vec<(i64, &Ciphertext)> = terms.iter().map(|&(c, x)| (times(c, x), &**x)).collect();
        let noise = multiples.iter().fold(None, |sum, (by, x)| join(sum, x.noise.times(by.unsigned_abs() as f64)));
        Terms { first, level, correction_factor, multiples, noise }
    }

    /// Sums of terms, divided by the prime of their level.
    fn divided_together(&self, sums: &[Terms<'_>]) -> Result<Vec<IntegerCiphertext>, Error> {
        let mut out = Vec::with_capacity(sums.len());
        for group in sums.chunk_by(Terms::shares).flat_map(|group| group.chunks(SHARING)) {
            self.check_stop()?;
            let limbs = group[0].level + 1;
            let residues: Vec<_> = group.iter().map(|sum| self.residues(sum, 1)).collect();
            let both = group.iter().zip(&residues).flat_map(|(sum, by)| [sum.times(by, 0), sum.times(by, 1)]);
            let halves: Vec<_> = both.map(|terms| Form { terms, ..Form::default() }).collect();
            let mut divided = divide_forms(self.context(), &halves, (limbs, 1))?.into_iter();
            for sum in group {
                let noise = (sum.noise.unwrap_or(sum.first.noise), Division::Switch);
                let polys = divided.by_ref().take(2).collect();
                out.push(self.divided_once(sum.first, polys, sum.correction_factor, noise)?);
            }
        }
        Ok(out)
    }

    /// The multipliers of terms over an integer, modulo each prime of their level.
    fn residues(&self, terms: &Terms<'_>, over: u64) -> Vec<Vec<u64>> {
        let moduli = || (0..=terms.level).map(|i| self.context().ring().modulus(i));
        let over: Vec<u64> = moduli().map(|m| m.inv(m.reduce(over))).collect();
        let one = |by: i64| moduli().zip(&over).map(|(m, &over)| m.mul(m.reduce_i64(by), over)).collect();
        terms.multiples.iter().map(|(by, _)| one(*by)).collect()
    }

    /// `t sum a b + sum by x` before it is divided, three polynomials.
    fn combined(&self, pairs: &[Pair], terms: &Terms<'_>) -> Result<Vec<Poly<Eval>>, Error> {
        // The whole is multiplied by t, and terms are divided by it before.
        let (t, limbs) = (self.params.plain().value(), terms.level + 1);
        let residues = self.residues(terms, t);
        let factor = Some(Multiplier::integer(i128::from(t)));
        // So many at once that nobody waits long for a stop. The last ones meet the terms, and the factor.
        let (parts, last) = pairs.split_at(pairs.len().saturating_sub(1) / PAIRS_AT_ONCE * PAIRS_AT_ONCE);
        let mut before: Option<Vec<Poly<Eval>>> = None;
        for part in parts.chunks(PAIRS_AT_ONCE) {
            self.check_stop()?;
            let [low, middle, high] = tensor(part);
            let sum = |i: usize| before.iter().map(|sum| (Multiplier::integer(1), &sum[i])).collect::<Vec<_>>();
            let form = |products, i| Form { products, terms: sum(i), ..Form::default() };
            before = Some(self.forms(&[form(low, 0), form(middle, 1), form(high, 2)], limbs)?);
        }
        let all = |i: usize| {
            let sum = before.iter().map(|sum| (Multiplier::integer(1), &sum[i]));
            sum.chain(if i < 2 { terms.times(&residues, i) } else { vec![] }).collect::<Vec<_>>()
        };
        let [low, middle, high] = tensor(last);
        let form = |products, i| Form { products, terms: all(i), factor, ..Form::default() };
        self.forms(&[form(low, 0), form(middle, 1), form(high, 2)], limbs)
    }
}

impl<'a> Terms<'a> {
    /// Whether another sum begins with the same ciphertext at the same level, as sums of powers of one variable do.
    fn shares(&self, other: &Self) -> bool {
        let first = |sum: &Self| sum.multiples.first().map(|(_, x)| std::ptr::from_ref(*x));
        (first(self), self.level) == (first(other), other.level)
    }

    /// One polynomial of each term that is not 0, with its multiplier.
    fn times<'r>(&self, residues: &'r [Vec<u64>], i: usize) -> Vec<(Multiplier<'r>, &'r Poly<Eval>)>
    where
        'a: 'r,
    {
        let of = residues.iter().zip(&self.multiples).filter(|(_, (by, _))| *by != 0);
        of.map(|(by, &(_, x))| (Multiplier::Residues(by), &x.polys[i])).collect()
    }
}

/// A product, so many times.
type Multiple<'a> = (u32, &'a Poly<Eval>, &'a Poly<Eval>);

/// Pairs whose products are added in one operation.
const PAIRS_AT_ONCE: usize = 64;

/// The products of pairs of ciphertexts, for each of the three polynomials.
fn tensor(pairs: &[Pair]) -> [Vec<Multiple<'_>>; 3] {
    let (mut low, mut middle, mut high) = (vec![], vec![], vec![]);
    for (a, b) in pairs {
        low.push((1, &a.polys[0], &b.polys[0]));
        match std::sync::Arc::ptr_eq(a, b) {
            true => middle.push((2, &a.polys[0], &a.polys[1])),
            false => middle.extend([(1, &a.polys[0], &b.polys[1]), (1, &a.polys[1], &b.polys[0])]),
        }
        high.push((1, &a.polys[1], &b.polys[1]));
    }
    [low, middle, high]
}

/// The noise of one more part of a sum.
pub(super) fn join(sum: Option<Noise>, part: Noise) -> Option<Noise> {
    Some(sum.map_or(part, |sum| sum.plus(part)))
}
