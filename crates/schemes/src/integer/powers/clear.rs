//! Numbers modulo p and p^2 in the clear, with the levels and factors that ciphertexts have: exact.

use super::evaluator::mistaken;
use super::{check, coefficients, slots, Encoding, Pair, PairMap, Power, PowerForm, PrimePowers, Residue};
use crate::evaluator::Evaluator;
use crate::forms::{Forms, Scale};
use crate::linear_map::LinearMap;
use crate::Error;

/// Numbers in the clear.
#[derive(Clone, Debug, PartialEq)]
pub struct ClearPower {
    /// What stands in the slots, modulo p^2; modulo p it is read reduced.
    pub values: Vec<Pair>,
    /// The level.
    pub level: usize,
    /// What the values are modulo.
    pub power: Power,
    /// The factor.
    pub factor: Residue,
}

/// Exact arithmetic on numbers in the clear, on a chain of moduli.
#[derive(Clone, Debug)]
pub struct ClearPowers {
    slots: usize,
    moduli: Vec<u64>,
    /// The low digits that raising adds to the coefficients, again and again.
    low: Vec<i64>,
}

impl ClearPowers {
    /// For so many slots of pairs and these primes, bottom to top; raising adds these low digits to the coefficients, again and again.
    #[must_use]
    pub fn new(slots: usize, moduli: Vec<u64>, low: Vec<i64>) -> Self {
        Self { slots, moduli, low }
    }
    fn map(a: &ClearPower, f: impl FnMut(&Pair) -> Pair) -> ClearPower {
        ClearPower { values: a.values.iter().map(f).collect(), ..*a }
    }
    fn zip(a: &ClearPower, b: &ClearPower, f: impl Fn(Pair, Pair) -> Pair) -> Result<ClearPower, Error> {
        if a.level != b.level {
            return Err(Error::LevelMismatch { left: a.level, right: b.level });
        }
        if a.power != b.power || !a.power.same(a.factor, b.factor) {
            return Err(Error::InvalidParameters { reason: "operands of a sum have different factors" });
        }
        let values = a.values.iter().zip(&b.values).map(|(&x, &y)| f(x, y)).collect();
        Ok(ClearPower { values, ..*a })
    }
    fn value(&self, form: &PowerForm<'_, ClearPower>) -> Result<ClearPower, Error> {
        let power = check(self, form)?;
        let mut values = vec![form.constant; self.slots];
        for (j, sum) in values.iter_mut().enumerate() {
            form.products.iter().for_each(|p| *sum += p.left.values[j] * p.right.values[j]);
            form.terms.iter().for_each(|(c, x)| *sum += *c * x.values[j]);
        }
        Ok(ClearPower { values, level: form.level - 1, power, factor: form.scale })
    }
}

/// A map as it is applied: of slots, or of what is raised to a level.
pub enum ClearMap {
    /// Of slots.
    Slots(PairMap, Encoding),
    /// Of what is raised.
    Raise(LinearMap<Pair>, usize),
}

impl Evaluator for ClearPowers {
    type Scalar = Pair;
    type Ciphertext = ClearPower;
    type Transform = ClearMap;

    fn slots(&self) -> usize {
        self.slots
    }
    fn level(&self, ct: &ClearPower) -> usize {
        ct.level
    }
    fn level_down(&self, a: &ClearPower, level: usize) -> Result<ClearPower, Error> {
        match a.level {
            actual if actual < level => Err(Error::LevelTooLow { required: level, actual }),
            _ => Ok(ClearPower { level, ..a.clone() }),
        }
    }
    fn add(&self, a: &ClearPower, b: &ClearPower) -> Result<ClearPower, Error> {
        Self::zip(a, b, |x, y| x + y)
    }
    fn sub(&self, a: &ClearPower, b: &ClearPower) -> Result<ClearPower, Error> {
        Self::zip(a, b, |x, y| x - y)
    }
    fn negate(&self, a: &ClearPower) -> Result<ClearPower, Error> {
        Ok(Self::map(a, |x| -*x))
    }
    fn mul(&self, a: &ClearPower, b: &ClearPower) -> Result<ClearPower, Error> {
        let level = a.level.min(b.level);
        let below = level.checked_sub(1).ok_or(Error::LevelTooLow { required: 1, actual: 0 })?;
        let factor = (a.factor * b.factor).over(self.divisor(level));
        let values = a.values.iter().zip(&b.values).map(|(&x, &y)| x * y).collect();
        Ok(ClearPower { values, level: below, power: a.power, factor })
    }
    fn mul_scalar(&self, a: &ClearPower, c: Pair) -> Result<ClearPower, Error> {
        Ok(Self::map(a, |x| *x * c))
    }
    fn add_scalar(&self, a: &ClearPower, c: Pair) -> Result<ClearPower, Error> {
        Ok(Self::map(a, |x| *x + c))
    }
    fn rotate(&self, a: &ClearPower, by: isize) -> Result<ClearPower, Error> {
        let mut out = a.clone();
        out.values.rotate_left(by.rem_euclid(self.slots as isize) as usize);
        Ok(out)
    }
    fn encode_map(&self, map: &LinearMap<Pair>, level: usize) -> Result<ClearMap, Error> {
        self.encode_pairs(&map.clone().into(), Encoding { level, power: Power::Two, gain: Residue::ONE, drop: 1 })
    }
    fn transform(&self, ct: &ClearPower, t: &ClearMap) -> Result<ClearPower, Error> {
        let ClearMap::Slots(map, Encoding { level, gain, drop, .. }) = t else { return Err(mistaken()) };
        let (level, gain, drop) = (*level, *gain, *drop);
        let factor = (0..drop).fold(ct.factor * gain, |factor, i| factor.over(self.divisor(level - i)));
        let values = map.apply(&self.level_down(ct, level)?.values)?;
        Ok(ClearPower { values, level: level - drop, power: ct.power, factor })
    }
}

impl Forms for ClearPowers {
    type Scale = Residue;

    fn scale_of(&self, ct: &ClearPower) -> Residue {
        ct.factor
    }
    fn divisor(&self, level: usize) -> Residue {
        Residue::from(self.moduli[level])
    }
    fn forms(&self, forms: &[PowerForm<'_, ClearPower>]) -> Result<Vec<ClearPower>, Error> {
        forms.iter().map(|form| self.value(form)).collect()
    }
}

impl PrimePowers for ClearPowers {
    fn power(&self, ct: &ClearPower) -> Power {
        ct.power
    }
    fn modulo_p(&self, ct: &ClearPower) -> Result<ClearPower, Error> {
        Ok(ClearPower { power: Power::One, ..ct.clone() })
    }
    fn over_p(&self, ct: &ClearPower) -> ClearPower {
        let over = |x: Residue| Residue::from(x.word() / super::P);
        ClearPower { power: Power::One, ..Self::map(ct, |x| Pair(x.0.map(over))) }
    }
    fn unrescaled(&self, form: &PowerForm<'_, ClearPower>) -> Result<ClearPower, Error> {
        let factor = form.scale * self.divisor(form.level);
        Ok(ClearPower { level: form.level, factor, ..self.value(form)? })
    }
    fn to_sparse(&self, ct: &ClearPower) -> Result<ClearPower, Error> {
        match ct.level {
            0 => Ok(ct.clone()),
            left => Err(Error::LevelMismatch { left, right: 0 }),
        }
    }
    /// Numbers in the clear have no other parts.
    fn whole_parts(&self, ct: &ClearPower) -> Result<ClearPower, Error> {
        self.to_sparse(ct)
    }
    fn encode_raise(&self, map: &LinearMap<Pair>, level: usize) -> Result<ClearMap, Error> {
        Ok(ClearMap::Raise(map.clone(), level))
    }
    fn raise(&self, ct: &ClearPower, map: &ClearMap) -> Result<ClearPower, Error> {
        let ClearMap::Raise(map, level) = map else { return Err(mistaken()) };
        if ct.power != Power::One || !Power::One.same(ct.factor, -self.divisor(0)) {
            return Err(Error::InvalidParameters { reason: "a message is raised with another factor than minus q0" });
        }
        let message = coefficients(&self.to_sparse(ct)?.values);
        let low = self.low.iter().cycle();
        let raised = message.iter().zip(low).map(|(m, &e)| Residue::from(super::P) * *m + Residue::new(e.into()));
        let values = map.apply(&slots(&raised.collect::<Vec<_>>()))?;
        Ok(ClearPower { values, level: *level, power: Power::Two, factor: Residue::ONE })
    }
    fn exchange(&self, ct: &ClearPower, level: usize, gain: Residue) -> Result<ClearPower, Error> {
        Ok(ClearPower { level, factor: ct.factor * gain, ..ct.clone() })
    }
    fn encode_pairs(&self, map: &PairMap, how: Encoding) -> Result<ClearMap, Error> {
        Ok(ClearMap::Slots(map.clone(), how))
    }
}
