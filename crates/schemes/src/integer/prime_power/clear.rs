//! Numbers modulo p and p^2 in the clear, with the levels and factors that ciphertexts have: exact.

use super::evaluator::mistaken;
use super::{
    check, coefficients, slots, Encoding, Pair, PairMap, PrimePower, PrimePowerEvaluator, PrimePowerForm, Residue,
};
use crate::evaluator::Evaluator;
use crate::forms::{Forms, Scale};
use crate::linear_map::LinearMap;
use crate::Error;

/// Numbers in the clear.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimePowerClear {
    /// The slots modulo p^2; modulo p they are read reduced.
    pub values: Vec<Pair>,
    /// The level.
    pub level: usize,
    /// What the values are modulo.
    pub power: PrimePower,
    /// The factor.
    pub correction_factor: Residue,
}

/// Exact arithmetic on numbers in the clear, on a chain of moduli.
#[derive(Clone, Debug)]
pub struct PrimePowerClearEvaluator {
    slots: usize,
    moduli: Vec<u64>,
    /// The low digits that raising adds to the coefficients, again and again.
    low: Vec<i64>,
}

impl PrimePowerClearEvaluator {
    /// For so many slots of pairs and these primes, bottom to top; raising adds these low digits to the coefficients, again and again.
    #[must_use]
    pub fn new(slots: usize, moduli: Vec<u64>, low: Vec<i64>) -> Self {
        Self { slots, moduli, low }
    }
    fn map(a: &PrimePowerClear, f: impl FnMut(&Pair) -> Pair) -> PrimePowerClear {
        PrimePowerClear { values: a.values.iter().map(f).collect(), ..*a }
    }
    fn zip(a: &PrimePowerClear, b: &PrimePowerClear, f: impl Fn(Pair, Pair) -> Pair) -> Result<PrimePowerClear, Error> {
        if a.level != b.level {
            return Err(Error::LevelMismatch { left: a.level, right: b.level });
        }
        if a.power != b.power || !a.power.same(a.correction_factor, b.correction_factor) {
            return Err(Error::InvalidParameters { reason: "operands of a sum have different factors" });
        }
        let values = a.values.iter().zip(&b.values).map(|(&x, &y)| f(x, y)).collect();
        Ok(PrimePowerClear { values, ..*a })
    }
    fn value(&self, form: &PrimePowerForm<'_, PrimePowerClear>) -> Result<PrimePowerClear, Error> {
        let power = check(self, form)?;
        let mut values = vec![form.constant; self.slots];
        for (j, sum) in values.iter_mut().enumerate() {
            form.products.iter().for_each(|p| *sum += p.left.values[j] * p.right.values[j]);
            form.terms.iter().for_each(|(c, x)| *sum += *c * x.values[j]);
        }
        Ok(PrimePowerClear { values, level: form.level - 1, power, correction_factor: form.scale })
    }
}

/// A map as it is applied: of slots, or of what is raised to a level.
pub enum ClearMap {
    /// Of slots.
    Slots(PairMap, Encoding),
    /// Of what is raised.
    Raise(LinearMap<Pair>, usize),
}

impl Evaluator for PrimePowerClearEvaluator {
    type Scalar = Pair;
    type Ciphertext = PrimePowerClear;
    type Transform = ClearMap;

    fn slots(&self) -> usize {
        self.slots
    }
    fn level(&self, ct: &PrimePowerClear) -> usize {
        ct.level
    }
    fn level_down(&self, a: &PrimePowerClear, level: usize) -> Result<PrimePowerClear, Error> {
        match a.level {
            actual if actual < level => Err(Error::LevelTooLow { required: level, actual }),
            _ => Ok(PrimePowerClear { level, ..a.clone() }),
        }
    }
    fn add(&self, a: &PrimePowerClear, b: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        Self::zip(a, b, |x, y| x + y)
    }
    fn sub(&self, a: &PrimePowerClear, b: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        Self::zip(a, b, |x, y| x - y)
    }
    fn negate(&self, a: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        Ok(Self::map(a, |x| -*x))
    }
    fn mul(&self, a: &PrimePowerClear, b: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        let level = a.level.min(b.level);
        let below = level.checked_sub(1).ok_or(Error::LevelTooLow { required: 1, actual: 0 })?;
        let correction_factor = (a.correction_factor * b.correction_factor).over(self.divisor(level));
        let values = a.values.iter().zip(&b.values).map(|(&x, &y)| x * y).collect();
        Ok(PrimePowerClear { values, level: below, power: a.power, correction_factor })
    }
    fn mul_scalar(&self, a: &PrimePowerClear, c: Pair) -> Result<PrimePowerClear, Error> {
        Ok(Self::map(a, |x| *x * c))
    }
    fn add_scalar(&self, a: &PrimePowerClear, c: Pair) -> Result<PrimePowerClear, Error> {
        Ok(Self::map(a, |x| *x + c))
    }
    fn rotate(&self, a: &PrimePowerClear, by: isize) -> Result<PrimePowerClear, Error> {
        let mut out = a.clone();
        out.values.rotate_left(by.rem_euclid(self.slots as isize) as usize);
        Ok(out)
    }
    fn encode_map(&self, map: &LinearMap<Pair>, level: usize) -> Result<ClearMap, Error> {
        self.encode_pairs(&map.clone().into(), Encoding { level, power: PrimePower::Two, gain: Residue::ONE, drop: 1 })
    }
    fn transform(&self, ct: &PrimePowerClear, t: &ClearMap) -> Result<PrimePowerClear, Error> {
        let ClearMap::Slots(map, Encoding { level, gain, drop, .. }) = t else { return Err(mistaken()) };
        let (level, gain, drop) = (*level, *gain, *drop);
        let correction_factor = (0..drop)
            .fold(ct.correction_factor * gain, |correction_factor, i| correction_factor.over(self.divisor(level - i)));
        let values = map.apply(&self.level_down(ct, level)?.values)?;
        Ok(PrimePowerClear { values, level: level - drop, power: ct.power, correction_factor })
    }
}

impl Forms for PrimePowerClearEvaluator {
    type Scale = Residue;

    fn scale_of(&self, ct: &PrimePowerClear) -> Residue {
        ct.correction_factor
    }
    fn divisor(&self, level: usize) -> Residue {
        Residue::from(self.moduli[level])
    }
    fn forms(&self, forms: &[PrimePowerForm<'_, PrimePowerClear>]) -> Result<Vec<PrimePowerClear>, Error> {
        forms.iter().map(|form| self.value(form)).collect()
    }
}

impl PrimePowerEvaluator for PrimePowerClearEvaluator {
    fn power(&self, ct: &PrimePowerClear) -> PrimePower {
        ct.power
    }
    fn modulo_p(&self, ct: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        Ok(PrimePowerClear { power: PrimePower::One, ..ct.clone() })
    }
    fn over_p(&self, ct: &PrimePowerClear) -> PrimePowerClear {
        let over = |x: Residue| Residue::from(x.word() / super::P);
        PrimePowerClear { power: PrimePower::One, ..Self::map(ct, |x| Pair(x.0.map(over))) }
    }
    fn unrescaled(&self, form: &PrimePowerForm<'_, PrimePowerClear>) -> Result<PrimePowerClear, Error> {
        let correction_factor = form.scale * self.divisor(form.level);
        Ok(PrimePowerClear { level: form.level, correction_factor, ..self.value(form)? })
    }
    fn encapsulate(&self, ct: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        match ct.level {
            0 => Ok(ct.clone()),
            left => Err(Error::LevelMismatch { left, right: 0 }),
        }
    }
    /// Numbers in the clear have no other parts.
    fn whole_parts(&self, ct: &PrimePowerClear) -> Result<PrimePowerClear, Error> {
        self.encapsulate(ct)
    }
    fn encode_raise(&self, map: &LinearMap<Pair>, level: usize) -> Result<ClearMap, Error> {
        Ok(ClearMap::Raise(map.clone(), level))
    }
    fn raise(&self, ct: &PrimePowerClear, map: &ClearMap) -> Result<PrimePowerClear, Error> {
        let ClearMap::Raise(map, level) = map else { return Err(mistaken()) };
        if ct.power != PrimePower::One || !PrimePower::One.same(ct.correction_factor, -self.divisor(0)) {
            return Err(Error::InvalidParameters {
                reason: "a message is raised with another correction factor than minus q0",
            });
        }
        let message = coefficients(&self.encapsulate(ct)?.values);
        let low = self.low.iter().cycle();
        let raised = message.iter().zip(low).map(|(m, &e)| Residue::from(super::P) * *m + Residue::new(e.into()));
        let values = map.apply(&slots(&raised.collect::<Vec<_>>()))?;
        Ok(PrimePowerClear { values, level: *level, power: PrimePower::Two, correction_factor: Residue::ONE })
    }
    fn mod_switch(&self, ct: &PrimePowerClear, level: usize, gain: Residue) -> Result<PrimePowerClear, Error> {
        Ok(PrimePowerClear { level, correction_factor: ct.correction_factor * gain, ..ct.clone() })
    }
    fn encode_pairs(&self, map: &PairMap, how: Encoding) -> Result<ClearMap, Error> {
        Ok(ClearMap::Slots(map.clone(), how))
    }
}
