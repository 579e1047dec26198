//! What circuits on integers cost: the evaluator on slots that counts the work of its operations.
//!
//! Where a ciphertext is brought down depends on its factor and on the bound on its noise, so both are followed as
//! [`SlotEvaluator`](super::SlotEvaluator) follows them, and the work is that of the kernels, word for word.

use super::evaluator::SPARE_BITS;
use super::noise::{Division, Noise};
use super::{IntegerParams, RowMap};
use crate::cost::CostEvaluator;
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use crate::Error;
use aglet_ring::Tally;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};

/// What is left of a ciphertext where nobody looks at its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostInteger {
    level: usize,
    factor: u64,
    noise: Noise,
}

/// The relinearization key is the only one here.
fn no_rotations() -> Error {
    Error::MissingKey { what: "rotation key".into() }
}

/// The evaluator that counts.
pub struct SlotCost<'a> {
    params: &'a IntegerParams,
    ring: CostEvaluator,
}

impl<'a> SlotCost<'a> {
    /// With the relinearization key of a set.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`]; a set that was made passes.
    pub fn new(params: &'a IntegerParams) -> Result<Self, Error> {
        let spec = KeySwitchSpec::balanced(params, params.max_level() + 1)?;
        let keys = KeySet::new().with(KeyRole::Square, spec);
        Ok(Self { params, ring: CostEvaluator::new((**params).clone(), keys) })
    }
    /// A ciphertext that is fresh at a level.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`].
    pub fn encrypt(&self, level: usize) -> Result<CostInteger, Error> {
        match level <= self.params.max_level() {
            true => {
                Ok(CostInteger { level, factor: self.params.factor_at(level), noise: Noise::fresh(self.params, false) })
            }
            false => Err(Error::NoSuchLevel { level, max: self.params.max_level() }),
        }
    }
    /// The work since this was last asked.
    pub fn take(&self) -> Tally {
        self.ring.take()
    }

    fn multiple(&self, a: &CostInteger) {
        let _polys = [(); 2].map(|()| self.ring.form(a.level + 1, 0, 1, false));
    }
    fn rescaled_by(&self, a: &CostInteger, by: i64) -> CostInteger {
        let (t, q) = (self.params.plain(), self.params.q()[a.level]);
        if by != 1 {
            self.multiple(a);
        }
        let _out = self.ring.divide(a.level + 1, 0, 1);
        let factor = t.mul(t.mul(a.factor, t.reduce_i64(by)), t.inv(t.reduce(q)));
        let noise = a.noise.times(by.unsigned_abs() as f64).divided(self.params, q, Division::Switch);
        CostInteger { level: a.level - 1, factor, noise }
    }
    /// Both at the lower of their levels, with one factor.
    fn aligned(&self, a: &CostInteger, b: &CostInteger) -> Result<[CostInteger; 2], Error> {
        let level = a.level.min(b.level);
        match a.level == b.level && a.factor == b.factor {
            true => Ok([*a, *b]),
            false => Ok([self.level_down(a, level)?, self.level_down(b, level)?]),
        }
    }
    fn sum(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        let [a, b] = self.aligned(a, b)?;
        Ok(CostInteger { noise: a.noise.plus(b.noise), ..a })
    }
    fn product_noise(&self, a: &CostInteger, b: &CostInteger) -> Noise {
        a.noise.product(b.noise, self.params.plain().value())
    }
    /// Three polynomials become two, one level below.
    fn relinearized(&self, a: &CostInteger) -> Result<CostInteger, Error> {
        let (limbs, t, q) = (a.level + 1, self.params.plain(), self.params.q()[a.level]);
        let spec = self.ring.key(KeyRole::Square, limbs)?;
        let digits = self.ring.digits(spec, limbs);
        let _lifted = [self.ring.lift(limbs), self.ring.lift(limbs)];
        let _product = self.ring.product(digits.len(), limbs + spec.p_limbs, 2 * limbs);
        let _out = self.ring.divide(limbs, spec.p_limbs, 1);
        let noise = a.noise.plus(self.params.key_switch()).divided(self.params, q, Division::Product);
        Ok(CostInteger { level: a.level - 1, factor: t.mul(a.factor, t.inv(t.reduce(q))), noise })
    }
}

impl Evaluator for SlotCost<'_> {
    type Scalar = i64;
    type Ciphertext = CostInteger;
    type Transform = RowMap;

    fn slots(&self) -> usize {
        1 << (self.params.log_slots() - 1)
    }
    fn level(&self, ct: &CostInteger) -> usize {
        ct.level
    }
    fn level_down(&self, a: &CostInteger, level: usize) -> Result<CostInteger, Error> {
        let (t, factor) = (self.params.plain(), self.params.factor_at(level));
        if a.level < level {
            return Err(Error::LevelTooLow { required: level, actual: a.level });
        }
        let mut at = *a;
        while at.level > level + 1 {
            at = match self.params.budget_at(at.level - 1, at.noise) > SPARE_BITS {
                true => CostInteger { level: at.level - 1, ..at },
                false => self.rescaled_by(&at, 1),
            };
        }
        match at.level == level {
            true if at.factor == factor => Ok(at),
            true => {
                self.multiple(&at);
                let by = t.centre(t.mul(factor, t.inv(at.factor)));
                Ok(CostInteger { factor, noise: at.noise.times(by.unsigned_abs().max(1) as f64), ..at })
            }
            false => {
                let q = t.reduce(self.params.q()[level + 1]);
                Ok(self.rescaled_by(&at, t.centre(t.mul(t.mul(factor, q), t.inv(at.factor)))))
            }
        }
    }
    fn add(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        self.sum(a, b)
    }
    fn sub(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        self.sum(a, b)
    }
    fn negate(&self, a: &CostInteger) -> Result<CostInteger, Error> {
        self.multiple(a);
        Ok(*a)
    }
    fn mul(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        if a.level.min(b.level) == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let [a, b] = self.aligned(a, b)?;
        let _tensor = [1, 2, 1].map(|products| self.ring.form(a.level + 1, products, 0, true));
        let (factor, noise) = (self.params.plain().mul(a.factor, b.factor), self.product_noise(&a, &b));
        self.relinearized(&CostInteger { factor, noise, ..a })
    }
    fn mul_scalar(&self, a: &CostInteger, c: i64) -> Result<CostInteger, Error> {
        self.form(&[], &[(c, a)], 0)
    }
    fn add_scalar(&self, a: &CostInteger, c: i64) -> Result<CostInteger, Error> {
        if self.params.plain().reduce_i64(c) == 0 {
            return Ok(*a);
        }
        self.ring.forward(a.level + 1);
        let _phase = self.ring.lift(a.level + 1);
        Ok(CostInteger { noise: a.noise.plus(Noise::constant(self.params)), ..*a })
    }
    fn form(
        &self,
        products: &[(&CostInteger, &CostInteger)],
        terms: &[(i64, &CostInteger)],
        constant: i64,
    ) -> Result<CostInteger, Error> {
        let all = products.iter().flat_map(|(a, b)| [*a, *b]).chain(terms.iter().map(|(_, x)| *x));
        let level = all.map(|x| x.level).min().ok_or(Error::EmptyQuadratic)?;
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let (t, q) = (self.params.plain(), self.params.q()[level]);
        let factor = t.mul(self.params.factor_at(level - 1), t.reduce(q));
        let mut noise: Option<Noise> = None;
        let mut join = |part: Noise| noise = Some(noise.map_or(part, |sum| sum.plus(part)));
        let mut left = 0;
        for (c, x) in terms {
            let by = t.centre(t.mul(t.mul(t.reduce_i64(*c), factor), t.inv(x.factor)));
            left += usize::from(by != 0);
            join(x.noise.times(by.unsigned_abs() as f64));
        }
        for (a, b) in products {
            join(self.product_noise(&self.level_down(a, level)?, &self.level_down(b, level)?));
        }
        let sum = CostInteger { level, factor, noise: noise.ok_or(Error::EmptyQuadratic)? };
        let (limbs, count) = (level + 1, products.len());
        let _halves = [count, 2 * count].map(|products| self.ring.form(limbs, products, left, count > 0));
        let out = match count {
            0 => self.rescaled_by(&sum, 1),
            _ => {
                let _square = self.ring.form(limbs, count, 0, true);
                self.relinearized(&sum)?
            }
        };
        self.add_scalar(&out, constant)
    }
    fn rotate(&self, _: &CostInteger, _: isize) -> Result<CostInteger, Error> {
        Err(no_rotations())
    }
    fn encode_map(&self, _: &LinearMap<i64>, _: usize) -> Result<RowMap, Error> {
        Err(no_rotations())
    }
    fn transform(&self, _: &CostInteger, _: &RowMap) -> Result<CostInteger, Error> {
        Err(no_rotations())
    }
}
