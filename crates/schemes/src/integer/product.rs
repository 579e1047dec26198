//! Products of integers by modulus switching, and sums of them with one relinearization and one rescale.

use super::noise::{Division, Noise};
use super::{Ciphertext, IntegerCiphertext, IntegerEvaluator};
use crate::samples::linear;
use crate::Error;
use aglet_ring::{Eval, Form, Multiplier, Poly};
use aglet_rlwe::Sample;

/// Two ciphertexts at one level, to be multiplied.
type Pair = (IntegerCiphertext, IntegerCiphertext);

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
        let all = || products.iter().flat_map(|(a, b)| [*a, *b]).chain(terms.iter().map(|(_, x)| *x));
        let first = all().next().ok_or(Error::EmptyQuadratic)?;
        let level = all().map(|x| x.level()).min().unwrap_or_default();
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        for x in all() {
            self.same_key(first, x)?;
            linear(x)?;
        }
        let down = |x| self.level_down(x, level);
        let pairs = products.iter().map(|(a, b)| Ok((down(a)?, down(b)?))).collect::<Result<Vec<Pair>, Error>>()?;
        let t = self.params.plain();
        // What the division by the prime of the level makes canonical.
        let correction_factor = t.mul(self.params.correction_factor_at(level - 1), t.reduce(self.params.q()[level]));
        let terms: Vec<_> = terms.iter().map(|&(c, x)| (self.times_to(c, x, correction_factor), x)).collect();
        let mut noise = terms.iter().fold(None, |sum, (by, x)| join(sum, x.noise.times(by.unsigned_abs() as f64)));
        for (a, b) in &pairs {
            noise = join(noise, self.product_noise(a, b));
        }
        let noise = noise.unwrap_or(first.noise);
        let polys = self.combined(&pairs, &terms, level + 1)?;
        match pairs.is_empty() {
            true => self.divided_once(first, self.rescaled(&polys)?, correction_factor, (noise, Division::Switch)),
            false => {
                let sample = Sample { polys, key: first.key };
                let noise = noise.plus(self.params.key_switch());
                self.divided_once(first, self.relinearized(&sample, 1)?, correction_factor, (noise, Division::Product))
            }
        }
    }

    /// The centred integer that turns `x` into `c x` with a factor.
    fn times_to(&self, c: i64, x: &Ciphertext, correction_factor: u64) -> i64 {
        let t = self.params.plain();
        self.centred(t.mul(t.mul(t.reduce_i64(c), correction_factor), t.inv(x.correction_factor)))
    }

    /// `t sum a b + sum by x` before it is divided: three polynomials if there are products, else two.
    fn combined(
        &self,
        pairs: &[Pair],
        terms: &[(i64, &IntegerCiphertext)],
        limbs: usize,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        // The whole is multiplied by t where there are products, and terms are divided by it before.
        let t = self.params.plain().value();
        let by = |(by, _): &(i64, _)| -> Vec<u64> {
            let one = |m: &aglet_ring::Modulus| match pairs.is_empty() {
                true => m.reduce_i64(*by),
                false => m.mul(m.reduce_i64(*by), m.inv(m.reduce(t))),
            };
            (0..limbs).map(|i| one(self.context().ring().modulus(i))).collect()
        };
        let residues: Vec<Vec<u64>> = terms.iter().map(by).collect();
        let term = |i: usize| {
            let of = residues.iter().zip(terms).filter(|(_, (by, _))| *by != 0);
            of.map(|(by, (_, x))| (Multiplier::Residues(by), &x.polys[i])).collect::<Vec<_>>()
        };
        let factor = (!pairs.is_empty()).then_some(Multiplier::integer(i128::from(t)));
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
            sum.chain(if i < 2 { term(i) } else { vec![] }).collect::<Vec<_>>()
        };
        let [low, middle, high] = tensor(last);
        let form = |products, i| Form { products, terms: all(i), factor, ..Form::default() };
        let mut forms = vec![form(low, 0), form(middle, 1)];
        if !pairs.is_empty() {
            forms.push(form(high, 2));
        }
        self.forms(&forms, limbs)
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
