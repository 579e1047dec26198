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
use aglet_ring::{Demand, Tally};
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A ciphertext without values, with the memory of its polynomials.
#[derive(Clone, Debug)]
pub struct PrimePowerCostCiphertext {
    /// The level.
    pub level: usize,
    /// What it is modulo.
    pub power: PrimePower,
    /// The factor.
    pub correction_factor: Residue,
    _polys: Arc<[CountedMemory; 2]>,
}

impl PrimePowerCostCiphertext {
    /// The same of other polynomials.
    fn with(&self, polys: [CountedMemory; 2]) -> Self {
        Self { _polys: Arc::new(polys), ..*self }
    }
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

/// The memory of what a map takes of a ciphertext: both polynomials lifted, and digits.
type Input = ([CountedMemory; 2], Vec<CountedMemory>);

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
    /// A ciphertext that has cost nothing yet.
    #[must_use]
    pub fn encrypt(&self, level: usize, power: PrimePower, correction_factor: Residue) -> PrimePowerCostCiphertext {
        PrimePowerCostCiphertext { level, power, correction_factor, _polys: Arc::new(self.ring.pair(level + 1)) }
    }
    /// The most bytes that polynomials take on a card at one time.
    #[must_use]
    pub fn card_bytes(&self) -> usize {
        self.ring.card_bytes()
    }
    /// The largest memory in use at one time.
    #[must_use]
    pub fn demand(&self) -> Demand {
        self.ring.demand()
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
        a.with([terms, 1].map(|terms| self.ring.poly_of_form(a.level + 1, 0, terms, false)))
    }

    /// A form, divided by the special primes and so many of the chain.
    fn divided_form(
        &self,
        form: &PrimePowerForm<'_, PrimePowerCostCiphertext>,
        drop: usize,
    ) -> Result<(PrimePower, Arc<[CountedMemory; 2]>), Error> {
        let (power, limbs, products) = (check(self, form)?, form.level + 1, form.products.len());
        let full = form.scale * self.divisor(form.level);
        let left =
            |(c, x): &&(Pair, &PrimePowerCostCiphertext)| power.centred(c.0[0] * full.over(x.correction_factor)) != 0;
        let terms = form.terms.iter().filter(left).count();
        let halves = [products, 2 * products].map(|count| self.ring.poly_of_form(limbs, count, terms, true));
        if products == 0 {
            return Ok((power, Arc::new(if drop > 0 { self.ring.divide(limbs, 0, drop) } else { halves })));
        }
        let spec = self.ring.key(KeyRole::Relinearization, limbs)?;
        let _square = self.ring.poly_of_form(limbs, products, 0, true);
        let digits = self.ring.digits(spec, limbs);
        let _product = self.ring.product(digits.len(), limbs + spec.p_limbs, 2 * limbs);
        Ok((power, Arc::new(self.ring.divide(limbs, spec.p_limbs, drop))))
    }

    /// Horner's rule over the giant steps of one map: the sums of each input. Inputs go once they were met the `last` time.
    fn horner(
        &self,
        (inputs, last): (&mut Vec<Input>, bool),
        (limbs, babies): (usize, usize),
        spec: &KeySwitchSpec,
        (giants, diagonals, words): (usize, u64, u64),
    ) -> Result<Vec<[CountedMemory; 2]>, Error> {
        let (all, digits, count) = (limbs + spec.p_limbs, spec.cut(limbs).digits.len(), inputs.len());
        let (mut diagonals, mut sums) = ((diagonals, words), Vec::new());
        for steps in giant_steps_at_once(babies, giants) {
            let mut inner: Vec<Vec<_>> =
                steps.clone().map(|_| (0..count).map(|_| self.ring.pair(all)).collect()).collect();
            self.ring.sharing(&vec![(); count], |()| {
                let row = Tally::linear_map(self.ring.n(), digits as u64, babies as u64, diagonals, 0);
                self.ring.count(row.times(all as u64));
                self.ring.count(Tally { ciphertext_read: self.ring.n() * 2 * limbs as u64, ..Tally::NONE });
                Ok(())
            })?;
            diagonals = (0, 0);
            if last && steps.start == 0 {
                inputs.clear();
            }
            while let Some(inner) = inner.pop() {
                sums = if sums.is_empty() { inner } else { self.ring.giant_step(spec, limbs, inner)? };
            }
        }
        Ok(sums)
    }

    /// One polynomial modulo p^2 at so many limbs of the chain.
    fn lifted(&self, limbs: usize) -> CountedMemory {
        self.ring.count(Tally::inverse(self.plain_n()));
        self.ring.convert(1, limbs);
        self.ring.hold(limbs)
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
            _ => Ok(self.encrypt(level, a.power, a.correction_factor)),
        }
    }
    fn add(
        &self,
        a: &PrimePowerCostCiphertext,
        _: &PrimePowerCostCiphertext,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(a.with(self.ring.pair(a.level + 1)))
    }
    fn sub(
        &self,
        a: &PrimePowerCostCiphertext,
        _: &PrimePowerCostCiphertext,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(a.with(self.ring.pair(a.level + 1)))
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
        let _plain = self.ring.hold(a.level + 1);
        Ok(self.scaled(a, 2))
    }
    fn rotate(&self, a: &PrimePowerCostCiphertext, by: isize) -> Result<PrimePowerCostCiphertext, Error> {
        let n = self.params.n() as isize;
        if by.rem_euclid(n / 2) == 0 {
            return Ok(a.clone());
        }
        let limbs = a.level + 1;
        let spec = self.ring.key(KeyRole::Galois(self.ring.rotation(by.rem_euclid(n / 2) as usize)), limbs)?;
        let (_lifted, digits) = (self.ring.lift(limbs), self.ring.digits(spec, limbs));
        let _turned = self.ring.product(digits.len(), limbs + spec.p_limbs, limbs);
        Ok(a.with(self.ring.divide(limbs, spec.p_limbs, 0)))
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
        let lifted = |_| ([(); 2].map(|()| self.ring.lift(limbs)), self.ring.digits(&spec, limbs));
        let mut inputs: Vec<Input> = of.iter().map(lifted).collect();
        let shape = (limbs, babies.len());
        let (direct, other) = (parts[0], parts.get(1));
        let other = other.map(|&part| self.horner((&mut inputs, false), shape, &spec, part)).transpose()?;
        let mut sums = self.horner((&mut inputs, true), shape, &spec, direct)?;
        if let Some(_other) = other {
            let swap = self.ring.key(KeyRole::Galois(conjugation_exponent(self.params.n())), limbs)?;
            sums = self.ring.giant_step(swap, limbs, sums)?;
        }
        let gain = (0..how.drop).fold(how.gain, |gain, i| gain.over(self.divisor(how.level - i)));
        let finish = |ct: &PrimePowerCostCiphertext| PrimePowerCostCiphertext {
            level: how.level - how.drop,
            correction_factor: ct.correction_factor * gain,
            ..ct.with(self.ring.divide(limbs, spec.p_limbs, how.drop))
        };
        let out = of.iter().map(finish).collect();
        drop(sums);
        Ok(out)
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
            let (power, polys) = self.divided_form(form, 1)?;
            Ok(PrimePowerCostCiphertext { level: form.level - 1, power, correction_factor: form.scale, _polys: polys })
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
        PrimePowerCostCiphertext { power: PrimePower::One, ..ct.clone() }
    }
    fn unrescaled(
        &self,
        form: &PrimePowerForm<'_, PrimePowerCostCiphertext>,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        let ((power, polys), correction_factor) = (self.divided_form(form, 0)?, form.scale * self.divisor(form.level));
        Ok(PrimePowerCostCiphertext { level: form.level, power, correction_factor, _polys: polys })
    }
    fn encapsulate(&self, ct: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        Ok(ct.with(self.ring.dense_to_sparse()?))
    }
    fn whole_parts(&self, ct: &PrimePowerCostCiphertext) -> Result<PrimePowerCostCiphertext, Error> {
        self.ring.inverse(2);
        self.ring.forward(2);
        Ok(ct.with([(); 2].map(|()| self.ring.hold_here(1))))
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
        let digits: Vec<_> = (0..diagonals).map(|_| self.lifted(limbs + 1)).collect();
        let sum = self.ring.product(diagonals, limbs + 1, 0);
        let [_carried, c1] = self.ring.divide(limbs, 1, 0);
        drop((sum, digits));
        // The part of c0.
        self.ring.count(Tally::form(n, diagonals as u64, 0, false));
        let _public = self.lifted(limbs);
        let polys = Arc::new([self.ring.poly_of_form(limbs, 0, 2, false), c1]);
        Ok(PrimePowerCostCiphertext { level, power: PrimePower::Two, correction_factor: Residue::ONE, _polys: polys })
    }
    fn mod_switch(
        &self,
        ct: &PrimePowerCostCiphertext,
        level: usize,
        gain: Residue,
    ) -> Result<PrimePowerCostCiphertext, Error> {
        let polys = Arc::new(self.ring.mod_switch(ct.level + 1, level + 1));
        Ok(PrimePowerCostCiphertext { level, correction_factor: ct.correction_factor * gain, _polys: polys, ..*ct })
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
