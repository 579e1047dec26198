//! The cost of circuits on integers: an evaluator on slots that counts the work of its operations.
//!
//! Modulus switching depends on the correction factor and on the noise bound of a ciphertext, so both are tracked as in
//! [`SlotEvaluator`](super::SlotEvaluator). The work is that of the kernels, word for word. Polynomials are held as long as those of a run.

use super::evaluator::{SPARE_BITS, TERMS_AT_ONCE};
use super::noise::{Division, Noise};
use super::{Ciphertext, IntegerParams, RowMap};
use crate::evaluator::{Evaluator, Sum};
use crate::linear_map::LinearMap;
use crate::sample_cost::{CountedMemory, SampleCost};
use crate::samples::SHARING;
use crate::Error;
use aglet_ring::Tally;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use std::sync::Arc;

/// A ciphertext without values, with the memory of its polynomials.
#[derive(Clone, Debug)]
pub struct CostInteger {
    level: usize,
    correction_factor: u64,
    noise: Noise,
    _polys: Arc<[CountedMemory; 2]>,
}

impl CostInteger {
    /// The same of other polynomials, which have its level.
    fn with(&self, polys: [CountedMemory; 2]) -> Self {
        Self { _polys: Arc::new(polys), ..*self }
    }
}

/// The relinearization key is the only one of circuits.
fn no_rotations() -> Error {
    Error::MissingKey { what: "rotation key".into() }
}

/// The evaluator that counts.
pub struct SlotCost<'a> {
    params: &'a IntegerParams,
    ring: SampleCost,
}

impl<'a> SlotCost<'a> {
    /// With the relinearization key of a set.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`]; a set that was made passes.
    pub fn new(params: &'a IntegerParams) -> Result<Self, Error> {
        let spec = KeySwitchSpec::balanced(params, params.max_level() + 1)?;
        let keys = KeySet::new().with(KeyRole::Relinearization, spec);
        Ok(Self { params, ring: SampleCost::new((**params).clone(), keys) })
    }
    /// A fresh ciphertext at a level.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`].
    pub fn encrypt(&self, level: usize) -> Result<CostInteger, Error> {
        match level <= self.params.max_level() {
            true => Ok(CostInteger {
                level,
                correction_factor: self.params.correction_factor_at(level),
                noise: Noise::fresh(self.params, false),
                _polys: Arc::new(self.ring.pair(level + 1)),
            }),
            false => Err(Error::NoSuchLevel { level, max: self.params.max_level() }),
        }
    }
    /// What costs as much as a ciphertext of two polynomials.
    #[must_use]
    pub fn of(&self, ct: &Ciphertext) -> CostInteger {
        let (level, polys) = (ct.level(), Arc::new(self.ring.pair(ct.level() + 1)));
        CostInteger { level, correction_factor: ct.correction_factor, noise: ct.noise, _polys: polys }
    }
    /// The most bytes that polynomials take on a card at one time.
    #[must_use]
    pub fn card_bytes(&self) -> usize {
        self.ring.card_bytes()
    }
    /// A rotation of rows, or their swap, by a key of this shape.
    #[must_use]
    pub fn rotated(&self, a: &CostInteger, spec: &KeySwitchSpec) -> CostInteger {
        let polys = self.ring.automorphism(spec, a.level + 1);
        CostInteger { noise: a.noise.plus(self.params.key_switch()), ..a.with(polys) }
    }
    /// A product that stays at degree 2.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`].
    pub fn product(&self, a: &CostInteger, b: &CostInteger) -> Result<(), Error> {
        let both = self.at_one_level(a, b)?;
        let _made = [1, 2, 1].map(|products| self.ring.poly_of_form(both[0].level + 1, products, 0, true));
        Ok(())
    }
    /// The relinearization of a product that is there, at a level.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`].
    pub fn relinearization(&self, ct: &Ciphertext) -> Result<(), Error> {
        if ct.level() == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let _square: Vec<_> = ct.sample.polys.iter().skip(2).map(|_| self.ring.hold(ct.level() + 1)).collect();
        self.relinearized(&self.of(ct)).map(drop)
    }
    /// A sum of ciphertexts times messages. Those that a card has no part of are brought to one level before they go there.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`].
    pub fn weighted_sum(&self, terms: &[&Ciphertext]) -> Result<(), Error> {
        let first = terms.iter().min_by_key(|a| a.level()).ok_or(Error::EmptyQuadratic)?;
        let (level, factor) = (first.level(), first.correction_factor);
        let stays = |a: &Ciphertext| {
            (a.level(), a.correction_factor) == (level, factor) || a.sample.polys.iter().any(|x| x.card().is_some())
        };
        let held: Vec<Option<CostInteger>> = terms.iter().map(|a| stays(a).then(|| self.of(a))).collect();
        let mut sum = None;
        for part in held.chunks(TERMS_AT_ONCE) {
            let brought = part.iter().map(|there| match there {
                Some(there) => Ok(self.brought_to(there, level, factor)?._polys),
                None => Ok(Arc::new(self.ring.pair(level + 1))),
            });
            let _brought = brought.collect::<Result<Vec<_>, Error>>()?;
            let _messages: Vec<_> = part.iter().map(|_| self.ring.hold(level + 1)).collect();
            let more = usize::from(sum.is_some());
            sum = Some([(); 2].map(|()| self.ring.poly_of_form(level + 1, part.len(), more, false)));
        }
        Ok(())
    }
    /// The work since the last call.
    pub fn take(&self) -> Tally {
        self.ring.take()
    }

    fn multiple(&self, a: &CostInteger) -> [CountedMemory; 2] {
        [(); 2].map(|()| self.ring.poly_of_form(a.level + 1, 0, 1, false))
    }
    fn rescaled_by(&self, a: &CostInteger, by: i64) -> CostInteger {
        let (t, q) = (self.params.plain(), self.params.q()[a.level]);
        let _multiple = (by != 1).then(|| self.multiple(a));
        let polys = Arc::new(self.ring.divide(a.level + 1, 0, 1));
        let correction_factor = t.mul(t.mul(a.correction_factor, t.reduce_i64(by)), t.inv(t.reduce(q)));
        let noise = a.noise.times(by.unsigned_abs() as f64).divided(self.params, q, Division::Switch);
        CostInteger { level: a.level - 1, correction_factor, noise, _polys: polys }
    }
    /// Both at the lower of their levels; the higher one takes the correction factor of the other.
    fn at_one_level(&self, a: &CostInteger, b: &CostInteger) -> Result<[CostInteger; 2], Error> {
        let (level, factor) =
            if a.level <= b.level { (a.level, a.correction_factor) } else { (b.level, b.correction_factor) };
        let brought = |x: &CostInteger| match x.level == level {
            true => Ok(x.clone()),
            false => self.brought_to(x, level, factor),
        };
        Ok([brought(a)?, brought(b)?])
    }
    /// The same with one correction factor.
    fn aligned(&self, a: &CostInteger, b: &CostInteger) -> Result<[CostInteger; 2], Error> {
        let [a, b] = self.at_one_level(a, b)?;
        match b.correction_factor == self.params.correction_factor_at(b.level) {
            true => Ok([self.brought_to(&a, a.level, b.correction_factor)?, b]),
            false => {
                let b = self.brought_to(&b, b.level, a.correction_factor)?;
                Ok([a, b])
            }
        }
    }
    fn brought_to(&self, a: &CostInteger, level: usize, correction_factor: u64) -> Result<CostInteger, Error> {
        let t = self.params.plain();
        if a.level < level {
            return Err(Error::LevelTooLow { required: level, actual: a.level });
        }
        let mut at = a.clone();
        while at.level > level + 1 {
            at = match self.params.budget_at(at.level - 1, at.noise) > SPARE_BITS {
                true => CostInteger { level: at.level - 1, ..at.with(self.ring.pair(at.level)) },
                false => self.rescaled_by(&at, 1),
            };
        }
        match at.level == level {
            true if at.correction_factor == correction_factor => Ok(at),
            true => {
                let by = t.centre(t.mul(correction_factor, t.inv(at.correction_factor)));
                let noise = at.noise.times(by.unsigned_abs().max(1) as f64);
                Ok(CostInteger { correction_factor, noise, ..at.with(self.multiple(&at)) })
            }
            false => {
                let q = t.reduce(self.params.q()[level + 1]);
                Ok(self.rescaled_by(&at, t.centre(t.mul(t.mul(correction_factor, q), t.inv(at.correction_factor)))))
            }
        }
    }
    fn sum(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        let [a, b] = self.aligned(a, b)?;
        Ok(CostInteger { noise: a.noise.plus(b.noise), ..a.with(self.summed(a.level + 1)) })
    }
    /// Copies to which something is added: on a card one more polynomial at a time.
    fn summed(&self, limbs: usize) -> [CountedMemory; 2] {
        let _copy = self.ring.hold(limbs);
        self.ring.pair(limbs)
    }
    fn product_noise(&self, a: &CostInteger, b: &CostInteger) -> Noise {
        a.noise.product(b.noise, self.params.plain().value())
    }
    /// Three polynomials become two, one level below.
    fn relinearized(&self, a: &CostInteger) -> Result<CostInteger, Error> {
        let (limbs, t, q) = (a.level + 1, self.params.plain(), self.params.q()[a.level]);
        let polys = Arc::new(self.ring.relinearize_one(limbs, 1)?);
        let noise = a.noise.plus(self.params.key_switch()).divided(self.params, q, Division::Product);
        let correction_factor = t.mul(a.correction_factor, t.inv(t.reduce(q)));
        Ok(CostInteger { level: a.level - 1, correction_factor, noise, _polys: polys })
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
        self.brought_to(a, level, self.params.correction_factor_at(level))
    }
    fn add(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        self.sum(a, b)
    }
    fn sub(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        self.sum(a, b)
    }
    fn negate(&self, a: &CostInteger) -> Result<CostInteger, Error> {
        Ok(a.with(self.multiple(a)))
    }
    fn mul(&self, a: &CostInteger, b: &CostInteger) -> Result<CostInteger, Error> {
        if a.level.min(b.level) == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let [a, b] = self.at_one_level(a, b)?;
        let [low, middle, _high] = [1, 2, 1].map(|products| self.ring.poly_of_form(a.level + 1, products, 0, true));
        let (correction_factor, noise) =
            (self.params.plain().mul(a.correction_factor, b.correction_factor), self.product_noise(&a, &b));
        let product = CostInteger { correction_factor, noise, ..a.with([low, middle]) };
        // What was brought to the level of the other goes before the key is met.
        drop((a, b));
        self.relinearized(&product)
    }
    fn mul_scalar(&self, a: &CostInteger, c: i64) -> Result<CostInteger, Error> {
        self.form(&[], &[(c, a)], 0)
    }
    fn add_scalar(&self, a: &CostInteger, c: i64) -> Result<CostInteger, Error> {
        if self.params.plain().reduce_i64(c) == 0 {
            return Ok(a.clone());
        }
        let noise = a.noise.plus(Noise::constant(self.params));
        Ok(CostInteger { noise, ..a.with(self.multiple(a)) })
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
        let correction_factor = t.mul(self.params.correction_factor_at(level - 1), t.reduce(q));
        let mut noise: Option<Noise> = None;
        let mut join = |part: Noise| noise = Some(noise.map_or(part, |sum| sum.plus(part)));
        let mut left = 0;
        for (c, x) in terms {
            let by = t.centre(t.mul(t.mul(t.reduce_i64(*c), correction_factor), t.inv(x.correction_factor)));
            left += usize::from(by != 0);
            join(x.noise.times(by.unsigned_abs() as f64));
        }
        let down = |x| self.level_down(x, level);
        let pairs = products.iter().map(|(a, b)| Ok([down(a)?, down(b)?])).collect::<Result<Vec<_>, Error>>()?;
        pairs.iter().for_each(|[a, b]| join(self.product_noise(a, b)));
        let (limbs, count) = (level + 1, products.len());
        let noise = noise.ok_or(Error::EmptyQuadratic)?;
        if count == 0 {
            let correction_factor = t.mul(correction_factor, t.inv(t.reduce(q)));
            let noise = noise.divided(self.params, q, Division::Switch);
            let polys = Arc::new(self.ring.divide_forms(left as u64, (limbs, 1)));
            return self
                .add_scalar(&CostInteger { level: level - 1, correction_factor, noise, _polys: polys }, constant);
        }
        let halves = [count, 2 * count].map(|products| self.ring.poly_of_form(limbs, products, left, true));
        let sum = CostInteger { level, correction_factor, noise, _polys: Arc::new(halves) };
        let _square = self.ring.poly_of_form(limbs, count, 0, true);
        let out = self.relinearized(&sum)?;
        self.add_scalar(&out, constant)
    }
    fn sums(&self, sums: &[Sum<'_, CostInteger, i64>]) -> Result<Vec<CostInteger>, Error> {
        let mut out = Vec::with_capacity(sums.len());
        for group in sums.chunks(SHARING) {
            // What leaves by the divisions of all of them is there at once; `form` has two of these polynomials.
            let _leaving: Vec<_> = (2..2 * group.len()).map(|_| self.ring.hold_here(1)).collect();
            for sum in group {
                out.push(self.form(&[], &sum.terms, sum.constant)?);
            }
        }
        Ok(out)
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
