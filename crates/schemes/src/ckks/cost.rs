//! CKKS without numbers: an evaluator that only counts the work of the same operations on ciphertexts.
//!
//! A circuit that runs here tells its cost before a key exists: its work and its memory ([`SampleCost`]). A test compares both with what the
//! kernels and the pool counted (`crates/aglet/tests/cost.rs`).

use super::approximate::{check_scale, multiple, product, same_scale, Approximate};
use super::quadratic::TOGETHER;
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::forms::Quadratic;
use crate::linear_map::LinearMap;
use crate::sample_cost::{CountedMemory, SampleCost};
use crate::sample_map::{giant_steps_at_once, SampleMap};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_ring::Tally;
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use num_complex::Complex64;
use std::ops::Deref;
use std::sync::Arc;

/// A ciphertext without values: level, scale and memory.
#[derive(Debug, Clone)]
pub struct CostCiphertext {
    level: usize,
    scale: f64,
    _polys: Arc<[CountedMemory; 2]>,
}

impl CostCiphertext {
    /// With this level and scale.
    pub fn new(polys: [CountedMemory; 2], level: usize, scale: f64) -> Self {
        Self { level, scale, _polys: Arc::new(polys) }
    }
}

/// A linear map without values.
#[derive(Debug, Clone)]
pub struct CostTransform {
    level: usize,
    scale_ratio: f64,
    babies: Vec<usize>,
    /// Rotations of the giant steps, each once.
    turns: Vec<usize>,
    giant_steps: usize,
    diagonals: u64,
    /// Words of its encoded diagonals in one limb.
    words: u64,
    /// The shape of its keys where it was made for one.
    spec: Option<KeySwitchSpec>,
}

impl CostTransform {
    /// That of a map on samples.
    pub(super) fn of(map: &SampleMap, scale_ratio: f64) -> Self {
        let ((babies, giants), spec) = (map.steps(), map.spec().clone());
        let words = (map.card_bytes() / (8 * (spec.q_limbs + spec.p_limbs))) as u64;
        let mut turns: Vec<usize> = giants.iter().copied().filter(|&by| by != 0).collect();
        turns.sort_unstable();
        turns.dedup();
        let (level, giant_steps, diagonals) = (map.level(), giants.len(), map.diagonal_count() as u64);
        Self { level, scale_ratio, babies, turns, giant_steps, diagonals, words, spec: Some(spec) }
    }
    /// The same for keys of a shape that were perhaps made for a higher level.
    #[must_use]
    pub fn with_keys_of(self, spec: &KeySwitchSpec) -> Self {
        Self { spec: Some(spec.cut(self.level + 1)), ..self }
    }
    /// All rotations of the ring that need a key.
    pub fn rotations(&self) -> impl Iterator<Item = usize> + '_ {
        self.babies.iter().chain(&self.turns).copied()
    }
}

/// The evaluator that counts. On samples it is a [`SampleCost`].
pub struct CostEvaluator {
    samples: SampleCost,
}

impl Deref for CostEvaluator {
    type Target = SampleCost;
    fn deref(&self) -> &SampleCost {
        &self.samples
    }
}

impl CostEvaluator {
    /// Makes an evaluator on the slots of the ring, with keys of these shapes.
    pub fn new(params: Params, keys: KeySet<KeySwitchSpec>) -> Self {
        Self { samples: SampleCost::new(params, keys) }
    }
    /// A ciphertext that has cost nothing yet.
    pub fn encrypt(&self, level: usize, scale: f64) -> CostCiphertext {
        CostCiphertext::new(self.pair(level + 1), level, scale)
    }
    /// An automorphism of one ciphertext.
    ///
    /// # Errors
    /// A key that is missing.
    pub fn automorphism(&self, a: &CostCiphertext, galois: u64) -> Result<CostCiphertext, Error> {
        let spec = self.key(KeyRole::Galois(galois), a.level + 1)?;
        Ok(CostCiphertext::new(self.samples.automorphism(spec, a.level + 1), a.level, a.scale))
    }
    /// Several automorphisms of one ciphertext: keys of one shape share its digits.
    ///
    /// # Errors
    /// A key that is missing.
    pub fn automorphisms_of(&self, a: &CostCiphertext, galois: &[u64]) -> Result<Vec<CostCiphertext>, Error> {
        let (limbs, mut shared) = (a.level + 1, Vec::<(&KeySwitchSpec, _, Vec<CountedMemory>)>::new());
        let one = |&galois: &u64| {
            let spec = self.key(KeyRole::Galois(galois), limbs)?;
            if !shared.iter().any(|(other, ..)| *other == spec) {
                shared.push((spec, self.lift(limbs), self.digits(spec, limbs)));
            }
            let digits = shared.iter().find(|(other, ..)| *other == spec).map_or(0, |(.., digits)| digits.len());
            let _product = self.product(digits, limbs + spec.p_limbs, limbs);
            Ok(CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), a.level, a.scale))
        };
        galois.iter().map(one).collect()
    }
    /// A key switch of the second polynomials, with the first lifted and rotated along.
    fn automorphisms(&self, of: &[CostCiphertext], galois: u64) -> Result<Vec<CostCiphertext>, Error> {
        let Some(limbs) = of.first().map(|a| a.level + 1) else { return Ok(Vec::new()) };
        let spec = self.key(KeyRole::Galois(galois), limbs)?;
        let inputs: Vec<_> = of.iter().map(|_| (self.lift(limbs), self.digits(spec, limbs))).collect();
        let rotated = self.sharing(&inputs, |(_, d)| Ok(self.product(d.len(), limbs + spec.p_limbs, limbs)))?;
        drop(inputs);
        let finish = |a: &CostCiphertext| CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), a.level, a.scale);
        let out = of.iter().map(finish).collect();
        drop(rotated);
        Ok(out)
    }
    /// The shape of the keys that a map meets.
    fn shape_of(&self, t: &CostTransform) -> Result<KeySwitchSpec, Error> {
        match (t.rotations().next(), &t.spec) {
            (Some(by), _) => Ok(self.key(KeyRole::Galois(self.rotation(by)), t.level + 1)?.clone()),
            (None, Some(spec)) => Ok(spec.clone()),
            (None, None) => Ok(KeySwitchSpec::balanced(self.params(), t.level + 1)?),
        }
    }
    /// What a card has of the diagonals of a map.
    ///
    /// # Errors
    /// A key that is missing.
    pub fn diagonals(&self, t: &CostTransform) -> Result<CountedMemory, Error> {
        let spec = self.shape_of(t)?;
        Ok(self.hold_words_there(t.words as usize, t.level + 1 + spec.p_limbs))
    }
    /// Both polynomials times a constant.
    fn scaled(&self, a: &CostCiphertext) -> CostCiphertext {
        let polys = [(); 2].map(|()| self.poly_of_form(a.level + 1, 0, 1, false));
        CostCiphertext::new(polys, a.level, a.scale)
    }
    fn sum(&self, a: &CostCiphertext, b: &CostCiphertext) -> Result<CostCiphertext, Error> {
        if a.level != b.level {
            return Err(Error::LevelMismatch { left: a.level, right: b.level });
        }
        if !same_scale(a.scale, b.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        Ok(self.encrypt(a.level, a.scale))
    }
    /// Forms of one level, divided by the special primes and so many of the chain: the memory of each.
    fn divided(&self, forms: &[Quadratic<'_, CostCiphertext>], drop: usize) -> Result<Vec<[CountedMemory; 2]>, Error> {
        forms.iter().try_for_each(|form| form.check(self))?;
        let Some(limbs) = forms.first().map(|form| form.level + 1) else { return Ok(Vec::new()) };
        let keyed = forms.iter().any(|form| !form.products.is_empty());
        let key = if keyed { Some(self.key(KeyRole::Relinearization, limbs)?) } else { None };
        let shapes: Vec<(u64, u64)> = forms.iter().map(shape).collect();
        let products: Vec<_> = shapes.iter().copied().filter(|&(products, _)| products > 0).collect();
        let mut relinearized = Vec::new();
        if let Some(spec) = key {
            for some in products.chunks(TOGETHER) {
                relinearized.extend(self.relinearize(spec, some, (limbs, drop))?);
            }
        }
        let mut relinearized = relinearized.into_iter();
        let found: Vec<_> = shapes.iter().map(|&(n, _)| if n > 0 { relinearized.next() } else { None }).collect();
        let finish = |(found, (_, terms)): (Option<[CountedMemory; 2]>, &(u64, u64))| match found {
            Some(found) => found,
            None if drop == 0 => [(); 2].map(|()| self.poly_of_form(limbs, 0, *terms as usize, false)),
            None => self.divide_forms(*terms, (limbs, drop)),
        };
        Ok(found.into_iter().zip(&shapes).map(finish).collect())
    }
}

/// Products, each as often as it is taken, and terms.
fn shape(form: &Quadratic<'_, CostCiphertext>) -> (u64, u64) {
    (form.products.iter().map(|p| p.factor.unsigned_abs() as u64).sum(), form.terms.len() as u64)
}

impl Evaluator for CostEvaluator {
    type Scalar = Complex64;
    type Ciphertext = CostCiphertext;
    type Transform = CostTransform;
    fn slots(&self) -> usize {
        self.params().n() / 2
    }
    fn level(&self, ct: &CostCiphertext) -> usize {
        ct.level
    }
    fn add(&self, a: &CostCiphertext, b: &CostCiphertext) -> Result<CostCiphertext, Error> {
        self.sum(a, b)
    }
    fn sub(&self, a: &CostCiphertext, b: &CostCiphertext) -> Result<CostCiphertext, Error> {
        self.sum(a, b)
    }
    fn negate(&self, a: &CostCiphertext) -> Result<CostCiphertext, Error> {
        Ok(self.scaled(a))
    }
    fn level_down(&self, a: &CostCiphertext, level: usize) -> Result<CostCiphertext, Error> {
        match level {
            _ if level > a.level => Err(Error::LevelTooLow { required: level, actual: a.level }),
            _ if level == a.level => Ok(a.clone()),
            _ => Ok(self.encrypt(level, a.scale)),
        }
    }
    fn rotate(&self, a: &CostCiphertext, by: isize) -> Result<CostCiphertext, Error> {
        match by.rem_euclid(self.slots() as isize) as usize {
            0 => Ok(a.clone()),
            by => Ok(self.automorphisms(std::slice::from_ref(a), self.rotation(by))?.remove(0)),
        }
    }
    fn rotate_sum(&self, a: &CostCiphertext, by: &[usize]) -> Result<CostCiphertext, Error> {
        let (limbs, Some(&first)) = (a.level + 1, by.first()) else { return Ok(a.clone()) };
        let spec = self.key(KeyRole::Galois(self.rotation(first)), limbs)?;
        let (digits, all) = (self.digits(spec, limbs), limbs + spec.p_limbs);
        let _lifted = self.lift(limbs);
        self.count(Tally::rotated_sum(self.n(), digits.len() as u64, by.len() as u64).times(all as u64));
        self.count(Tally { ciphertext_read: self.n() * limbs as u64, ..Tally::NONE });
        let _sum = self.pair(all);
        Ok(CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), a.level, a.scale))
    }
    fn transform(&self, ct: &CostCiphertext, t: &CostTransform) -> Result<CostCiphertext, Error> {
        Ok(self.transforms(std::slice::from_ref(ct), t)?.remove(0))
    }
    fn transforms(&self, of: &[CostCiphertext], t: &CostTransform) -> Result<Vec<CostCiphertext>, Error> {
        let limbs = t.level + 1;
        let spec = self.shape_of(t)?;
        let (all, digits) = (limbs + spec.p_limbs, spec.cut(limbs).digits.len());
        let input = |ct: &CostCiphertext| {
            if t.level > ct.level {
                return Err(Error::LevelTooLow { required: t.level, actual: ct.level });
            }
            Ok(([(); 2].map(|()| self.lift(limbs)), self.digits(&spec, limbs)))
        };
        let mut inputs = of.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
        // The diagonals are met once, the keys of the baby steps by each part of the giant steps.
        let mut diagonals = (t.diagonals, t.words);
        let mut last = Vec::new();
        for steps in giant_steps_at_once(t.babies.len(), t.giant_steps) {
            let mut sums: Vec<Vec<_>> = steps.clone().map(|_| of.iter().map(|_| self.pair(all)).collect()).collect();
            self.sharing(of, |_| {
                let row = Tally::linear_map(self.n(), digits as u64, t.babies.len() as u64, diagonals, 0);
                self.count(row.times(all as u64));
                self.count(Tally { ciphertext_read: self.n() * 2 * limbs as u64, ..Tally::NONE });
                Ok(())
            })?;
            diagonals = (0, 0);
            if steps.start == 0 {
                inputs.clear();
            }
            while let Some(inner) = sums.pop() {
                last = if last.is_empty() { inner } else { self.giant_step(&spec, limbs, inner)? };
            }
        }
        let (level, scale) = (t.level - 1, t.scale_ratio);
        let finish =
            |ct: &CostCiphertext| CostCiphertext::new(self.divide(limbs, spec.p_limbs, 1), level, ct.scale * scale);
        Ok(of.iter().map(finish).collect())
    }
    fn mul(&self, a: &CostCiphertext, b: &CostCiphertext) -> Result<CostCiphertext, Error> {
        product(self, a, b)
    }
    fn mul_scalar(&self, a: &CostCiphertext, c: Complex64) -> Result<CostCiphertext, Error> {
        multiple(self, a, c)
    }
    fn add_scalar(&self, a: &CostCiphertext, _: Complex64) -> Result<CostCiphertext, Error> {
        Ok(self.scaled(a))
    }
    fn encode_map(&self, map: &LinearMap, level: usize) -> Result<CostTransform, Error> {
        self.encode_transform(map, level, 1.0)
    }
}

impl Approximate for CostEvaluator {
    fn scale(&self, ct: &CostCiphertext) -> f64 {
        ct.scale
    }
    fn modulus(&self, level: usize) -> f64 {
        self.params().q().get(level).map_or(f64::NAN, |&q| q as f64)
    }
    fn quadratic(&self, form: &Quadratic<'_, CostCiphertext>) -> Result<CostCiphertext, Error> {
        Ok(self.quadratics(std::slice::from_ref(form))?.remove(0))
    }
    fn quadratics(&self, forms: &[Quadratic<'_, CostCiphertext>]) -> Result<Vec<CostCiphertext>, Error> {
        let made = self.divided(forms, 1)?.into_iter().zip(forms);
        Ok(made.map(|(polys, form)| CostCiphertext::new(polys, form.level - 1, form.scale)).collect())
    }
    fn unrescaled(&self, forms: &[Quadratic<'_, CostCiphertext>]) -> Result<Vec<CostCiphertext>, Error> {
        let scale = |form: &Quadratic<'_, CostCiphertext>| form.scale * self.modulus(form.level);
        let made = self.divided(forms, 0)?.into_iter().zip(forms);
        Ok(made.map(|(polys, form)| CostCiphertext::new(polys, form.level, scale(form))).collect())
    }
    fn mul_i(&self, a: &CostCiphertext) -> Result<CostCiphertext, Error> {
        Ok(self.scaled(a))
    }
    fn conjugate(&self, a: &CostCiphertext) -> Result<CostCiphertext, Error> {
        Ok(self.conjugates(std::slice::from_ref(a))?.remove(0))
    }
    fn conjugates(&self, of: &[CostCiphertext]) -> Result<Vec<CostCiphertext>, Error> {
        self.automorphisms(of, conjugation_exponent(self.params().n()))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<CostTransform, Error> {
        check_scale(scale_ratio)?;
        if level == 0 || level >= self.params().q().len() {
            return Err(Error::NoSuchLevel { level, max: self.params().q().len() - 1 });
        }
        let ((babies, giant), n) = (map.rotations(), self.params().n());
        let turns = giant.into_iter().collect();
        Ok(CostTransform {
            level,
            scale_ratio,
            babies,
            turns,
            giant_steps: map.giant_step_count(),
            diagonals: map.diagonals().len() as u64,
            words: map.diagonals().values().map(|d| (2 * d.len()).min(n) as u64).sum(),
            spec: None,
        })
    }
}
