//! The cost of a bootstrap of integers: an evaluator modulo p and p^2 that counts the work of its operations.
//!
//! It stands on the [`SampleCost`] of rings and keys, and adds what [`PrimePowerCiphertextEvaluator`](super::PrimePowerCiphertextEvaluator) does for each operation,
//! word for word (`crates/aglet/tests/integer_cost.rs`). Work in the ring modulo p^2 is of the degree of that ring.

use super::evaluator::mistaken;
use super::{check, Encoding, Pair, PairMap, PrimePower, PrimePowerEvaluator, PrimePowerForm, Residue};
use crate::evaluator::Evaluator;
use crate::forms::{Forms, Scale};
use crate::linear_map::LinearMap;
use crate::sample_cost::{CountedMemory, SampleCost};
use crate::sample_map::giant_steps_at_once;
use crate::Error;
use aglet_ring::automorphism::conjugation_exponent;
use aglet_ring::Tally;
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use std::collections::BTreeSet;

/// A ciphertext without values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrimePowerCostCiphertext {
    /// The level.
    pub level: usize,
    /// What it is modulo.
    pub power: PrimePower,
    /// The factor.
    pub correction_factor: Residue,
}

/// An encoded map without values.
#[derive(Clone, Debug)]
pub enum CostPowerMap {
    /// Of slots.
    Slots {
        /// How it is encoded.
        how: Encoding,
        /// Rotations of the baby steps.
        babies: BTreeSet<usize>,
        /// The rotation of a giant step.
        giant: Option<usize>,
        /// Of the map itself, then of the one whose rows are switched: giant steps, diagonals, and their words in one limb.
        parts: Vec<(usize, u64, u64)>,
    },
    /// Of what is raised, by so many diagonals to a level.
    Raise(usize, usize),
}

/// The evaluator that counts.
pub struct PrimePowerCostEvaluator {
    params: Params,
    ring: SampleCost,
}

impl PrimePowerCostEvaluator {
    /// For the limbs that a bootstrap raises to, and keys of these shapes.
    #[must_use]
    pub fn new(params: Params, keys: KeySet<KeySwitchSpec>) -> Self {
        Self { ring: SampleCost::new(params.clone(), keys), params }
    }
    /// The work since the last call.
    pub fn take(&self) -> Tally {
        self.ring.take()
    }
    /// Words of a polynomial modulo p^2.
    fn plain_n(&self) -> u64 {
        self.params.sparse_n() as u64
    }
    fn scaled(&self, a: &PrimePowerCostCiphertext, terms: usize) -> PrimePowerCostCiphertext {
        let _polys =
            [self.ring.poly_of_form(a.level + 1, 0, terms, false), self.ring.poly_of_form(a.level + 1, 0, 1, false)];
        *a
    }

    /// A form, divided by the special primes and so many of the chain.
    fn divided_form(
        &self,
        form: &PrimePowerForm<'_, PrimePowerCostCiphertext>,
        drop: usize,
    ) -> Result<PrimePower, Error> {
        let (power, limbs, products) = (check(self, form)?, form.level + 1, form.products.len());
        let full = form.scale * self.divisor(form.level);
        let left =
            |(c, x): &&(Pair, &PrimePowerCostCiphertext)| power.centred(c.0[0] * full.over(x.correction_factor)) != 0;
        let terms = form.terms.iter().filter(left).count();
        let _halves = [products, 2 * products].map(|count| self.ring.poly_of_form(limbs, count, terms, true));
        if products == 0 {
            if drop > 0 {
                let _out = self.ring.divide(limbs, 0, drop);
            }
            return Ok(power);
        }
        let spec = self.ring.key(KeyRole::Relinearization, limbs)?;
        let _square = self.ring.poly_of_form(limbs, products, 0, true);
        let digits = self.ring.digits(spec, limbs);
        let _product = self.ring.product(digits.len(), limbs + spec.p_limbs, 2 * limbs);
        let _out = self.ring.divide(limbs, spec.p_limbs, drop);
        Ok(power)
    }

    /// Horner's rule over the giant steps of one map: the sums of each input.
    fn horner(
        &self,
        (inputs, limbs, babies): (usize, usize, usize),
        spec: &KeySwitchSpec,
        (giants, diagonals, words): (usize, u64, u64),
    ) -> Result<Vec<[CountedMemory; 2]>, Error> {
        let (all, digits) = (limbs + spec.p_limbs, spec.cut(limbs).digits.len());
        let (mut diagonals, mut last) = ((diagonals, words), Vec::new());
        for steps in giant_steps_at_once(babies, giants) {
            self.ring.sharing(&vec![(); inputs], |()| {
                let row = Tally::linear_map(self.ring.n(), digits as u64, babies as u64, diagonals, 0);
                self.ring.count(row.times(all as u64));
                self.ring.count(Tally { ciphertext_read: self.ring.n() * 2 * limbs as u64, ..Tally::NONE });
                Ok(())
            })?;
            diagonals = (0, 0);
            for _ in steps {
                let inner = (0..inputs).map(|_| self.ring.pair(all)).collect();
                last = if last.is_empty() { inner } else { self.ring.giant_step(spec, limbs, inner)? };
            }
        }
        Ok(last)
    }

    /// One polynomial modulo p^2 at so many limbs of the chain.
    fn lifted(&self, limbs: usize) {
        self.ring.count(Tally::inverse(self.plain_n()));
        self.ring.convert(1, limbs);
    }
}

impl Evaluator for PrimePowerCostEvaluator {
    type Scalar = Pair;
    type Ciphertext = PrimePowerCostCiphertext;
    type Transform = CostPowerMap;

    fn slots(&self) -> usize {
        self.params.sparse_n() / 2
    }
    fn level(&self, ct: &PrimePowerCostCiphertext) -> usize {
        ct.level
    }
    fn level_down(&self, a: &PrimePowerCostCiphertext, level: usize) -> Result<PrimePowerCostCiphertext, Error> {
        match a.level {
            actual if actual < level => Err(Error::LevelTooLow { required: level, actual }),
            _ => Ok(PrimePowerCostCiphertext { level, ..*a }),
        }
    }
    fn add(
        &self,
        a: &PrimePowerCostCiphertext,
        _: &PrimePowerCostCiphertext,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(*a)
    }
    fn sub(
        &self,
        a: &PrimePowerCostCiphertext,
        _: &PrimePowerCostCiphertext,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(*a)
    }
    fn negate(&self, a: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(self.scaled(a, 1))
    }
    fn mul(
        &self,
        a: &PrimePowerCostCiphertext,
        b: &PrimePowerCostCiphertext,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        let level = a.level.min(b.level);
        let scale = (a.correction_factor * b.correction_factor).over(self.divisor(level));
        let products = vec![crate::forms::Product { factor: 1, left: a, right: b }];
        let form = PrimePowerForm { products, terms: Vec::new(), constant: Pair::both(Residue::ZERO), level, scale };
        Ok(self.forms(&[form])?.remove(0))
    }
    fn mul_scalar(&self, a: &PrimePowerCostCiphertext, _: Pair) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(self.scaled(a, 1))
    }
    fn add_scalar(&self, a: &PrimePowerCostCiphertext, _: Pair) -> Result<PrimePowerCostCiphertext, Error> {
        self.ring.forward(a.level + 1);
        Ok(self.scaled(a, 2))
    }
    fn rotate(&self, a: &PrimePowerCostCiphertext, by: isize) -> Result<PrimePowerCostCiphertext, Error> {
        let n = self.params.n() as isize;
        if by.rem_euclid(n / 2) == 0 {
            return Ok(*a);
        }
        let limbs = a.level + 1;
        let spec = self.ring.key(KeyRole::Galois(self.ring.rotation(by.rem_euclid(n / 2) as usize)), limbs)?;
        let (_lifted, digits) = (self.ring.lift(limbs), self.ring.digits(spec, limbs));
        let _turned = self.ring.product(digits.len(), limbs + spec.p_limbs, limbs);
        let _out = self.ring.divide(limbs, spec.p_limbs, 0);
        Ok(*a)
    }
    fn encode_map(&self, map: &LinearMap<Pair>, level: usize) -> Result<CostPowerMap, Error> {
        self.encode_pairs(&map.clone().into(), Encoding { level, power: PrimePower::Two, gain: Residue::ONE, drop: 1 })
    }
    fn transform(&self, ct: &PrimePowerCostCiphertext, t: &CostPowerMap) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(self.transforms(std::slice::from_ref(ct), t)?.remove(0))
    }
    fn transforms(
        &self,
        of: &[PrimePowerCostCiphertext],
        t: &CostPowerMap,
    ) -> Result<Vec<PrimePowerCostCiphertext>, Error> {
        let CostPowerMap::Slots { how, babies, giant, parts } = t else { return Err(mistaken()) };
        let limbs = how.level + 1;
        let role = |by: &usize| KeyRole::Galois(self.ring.rotation(*by));
        let spec = match babies.first().or(giant.as_ref()) {
            Some(by) => self.ring.key(role(by), limbs)?.clone(),
            None => KeySwitchSpec::balanced(&self.params, limbs)?,
        };
        if let Some(low) = of.iter().find(|ct| ct.level < how.level) {
            return Err(Error::LevelTooLow { required: how.level, actual: low.level });
        }
        let inputs = (of.len(), limbs, babies.len());
        for _ in of {
            let _input = ([self.ring.lift(limbs), self.ring.lift(limbs)], self.ring.digits(&spec, limbs));
        }
        let (direct, other) = (parts[0], parts.get(1));
        let other = other.map(|&part| self.horner(inputs, &spec, part)).transpose()?;
        let mut sums = self.horner(inputs, &spec, direct)?;
        if other.is_some() {
            let swap = self.ring.key(KeyRole::Galois(conjugation_exponent(self.params.n())), limbs)?;
            sums = self.ring.giant_step(swap, limbs, sums)?;
        }
        let gain = (0..how.drop).fold(how.gain, |gain, i| gain.over(self.divisor(how.level - i)));
        let finish = |(ct, _sums): (&PrimePowerCostCiphertext, [CountedMemory; 2])| {
            let _out = self.ring.divide(limbs, spec.p_limbs, how.drop);
            PrimePowerCostCiphertext {
                level: how.level - how.drop,
                correction_factor: ct.correction_factor * gain,
                ..*ct
            }
        };
        Ok(of.iter().zip(sums).map(finish).collect())
    }
}

impl Forms for PrimePowerCostEvaluator {
    type Scale = Residue;

    fn scale_of(&self, ct: &PrimePowerCostCiphertext) -> Residue {
        ct.correction_factor
    }
    fn divisor(&self, level: usize) -> Residue {
        Residue::from(self.params.q()[level])
    }
    fn forms(
        &self,
        forms: &[PrimePowerForm<'_, PrimePowerCostCiphertext>],
    ) -> Result<Vec<PrimePowerCostCiphertext>, Error> {
        let one = |form: &PrimePowerForm<'_, PrimePowerCostCiphertext>| {
            Ok(PrimePowerCostCiphertext {
                level: form.level - 1,
                power: self.divided_form(form, 1)?,
                correction_factor: form.scale,
            })
        };
        forms.iter().map(one).collect()
    }
}

impl PrimePowerEvaluator for PrimePowerCostEvaluator {
    fn power(&self, ct: &PrimePowerCostCiphertext) -> PrimePower {
        ct.power
    }
    fn modulo_p(&self, ct: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(PrimePowerCostCiphertext { power: PrimePower::One, ..self.scaled(ct, 1) })
    }
    fn over_p(&self, ct: &PrimePowerCostCiphertext) -> PrimePowerCostCiphertext {
        PrimePowerCostCiphertext { power: PrimePower::One, ..*ct }
    }
    fn unrescaled(
        &self,
        form: &PrimePowerForm<'_, PrimePowerCostCiphertext>,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        let (power, correction_factor) = (self.divided_form(form, 0)?, form.scale * self.divisor(form.level));
        Ok(PrimePowerCostCiphertext { level: form.level, power, correction_factor })
    }
    fn encapsulate(&self, ct: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        let _polys = self.ring.dense_to_sparse()?;
        Ok(*ct)
    }
    fn whole_parts(&self, ct: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        self.ring.inverse(2);
        self.ring.forward(2);
        Ok(*ct)
    }
    fn encode_raise(&self, map: &LinearMap<Pair>, level: usize) -> Result<CostPowerMap, Error> {
        Ok(CostPowerMap::Raise(map.diagonals().len(), level))
    }
    fn raise(&self, _: &PrimePowerCostCiphertext, map: &CostPowerMap) -> Result<PrimePowerCostCiphertext, Error> {
        let CostPowerMap::Raise(diagonals, level) = *map else { return Err(mistaken()) };
        let (limbs, n) = (level + 1, self.plain_n());
        // To p^2, and there one product for each digit.
        self.ring.inverse(2);
        self.ring.count(Tally::forward(n).times(2));
        self.ring.count(Tally::form(n, 1, 0, false).times(diagonals as u64));
        (0..diagonals).for_each(|_| self.lifted(limbs + 1));
        let _sum = self.ring.product(diagonals, limbs + 1, 0);
        let _out = self.ring.divide(limbs, 1, 0);
        // The part of c0.
        self.ring.count(Tally::form(n, diagonals as u64, 0, false));
        self.lifted(limbs);
        let _first = self.ring.poly_of_form(limbs, 0, 2, false);
        Ok(PrimePowerCostCiphertext { level, power: PrimePower::Two, correction_factor: Residue::ONE })
    }
    fn mod_switch(
        &self,
        ct: &PrimePowerCostCiphertext,
        level: usize,
        gain: Residue,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        let _polys = self.ring.mod_switch(ct.level + 1, level + 1);
        Ok(PrimePowerCostCiphertext { level, correction_factor: ct.correction_factor * gain, ..*ct })
    }
    fn encode_pairs(&self, map: &PairMap, how: Encoding) -> Result<CostPowerMap, Error> {
        let maps = map.maps();
        let steps = maps.iter().flat_map(|map| map.giant_steps()).collect::<Vec<_>>();
        let babies = steps.iter().flat_map(|s| s.terms.iter().map(|t| t.0)).filter(|&by| by != 0).collect();
        let words = |d: &Vec<Pair>| (2 * d.len()).min(self.params.n()) as u64;
        let part = |map: &&LinearMap<Pair>| {
            let words = map.diagonals().values().map(words).sum();
            (map.giant_step_count(), map.diagonals().len() as u64, words)
        };
        Ok(CostPowerMap::Slots { how, babies, giant: map.direct.rotations().1, parts: maps.iter().map(part).collect() })
    }
}
