//! CKKS without numbers: an evaluator that only counts the work that the same operations are on ciphertexts.
//!
//! A circuit that runs here tells what it will cost before a key exists. Each operation adds what [`crate::ckks`] does for it,
//! limb by limb, from the shapes of the keys that it would meet; a test compares the sums with what the kernels counted
//! (`crates/aglet/tests/cost.rs`). Sums, copies and permutations are not counted: they are a few per cent.

use crate::approximate::{check_scale, multiple, product, same_scale, Approximate, Quadratic};
use crate::ckks::keys::missing;
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::Tally;
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use num_complex::Complex64;
use std::sync::{Mutex, PoisonError};

/// What is left of a ciphertext where nobody looks at its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostCiphertext {
    level: usize,
    scale: f64,
}

/// What is left of a linear map.
#[derive(Debug, Clone)]
pub struct CostTransform {
    level: usize,
    scale_ratio: f64,
    babies: Vec<usize>,
    giant: Option<usize>,
    giant_steps: usize,
    diagonals: u64,
    /// Words of its encoded diagonals in one limb.
    words: u64,
}

/// The evaluator that counts.
pub struct CostEvaluator {
    params: Params,
    keys: KeySet<KeySwitchSpec>,
    tally: Mutex<Tally>,
}

impl CostEvaluator {
    /// An evaluator on the slots of the ring, with keys of these shapes.
    pub fn new(params: Params, keys: KeySet<KeySwitchSpec>) -> Self {
        Self { params, keys, tally: Mutex::default() }
    }
    /// Work on each of several that meet the same keys and diagonals side by side: these are read once.
    pub fn sharing<A, T>(&self, of: &[A], one: impl Fn(&A) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let before = self.take();
        let mut all = Tally::NONE;
        let mut out = Vec::with_capacity(of.len());
        for a in of {
            out.push(one(a)?);
            let work = self.take();
            // Of one kind, so that the largest reading of keys is that of all.
            let (key_read, matrix_read) = (work.key_read.max(all.key_read), work.matrix_read.max(all.matrix_read));
            all = Tally { key_read, matrix_read, ..all + work };
        }
        self.count(before + all);
        Ok(out)
    }
    /// A ciphertext that has cost nothing yet.
    pub fn encrypt(&self, level: usize, scale: f64) -> CostCiphertext {
        CostCiphertext { level, scale }
    }
    /// The work since this was last asked.
    pub fn take(&self) -> Tally {
        std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The primes of its chain, as the whole family of chains counts them.
    pub fn prime_indices(&self) -> &[usize] {
        self.params.prime_indices()
    }
    /// The degree of the ring.
    pub fn n(&self) -> u64 {
        self.params.n() as u64
    }
    /// The smallest shape of a role that serves so many limbs.
    pub fn key(&self, role: KeyRole, limbs: usize) -> Result<&KeySwitchSpec, Error> {
        self.keys.find(role, limbs).ok_or_else(|| missing(role, limbs, self.params.n()))
    }
    /// Adds work.
    pub fn count(&self, work: Tally) {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) += work;
    }
    /// Forward transforms of so many limbs.
    pub fn forward(&self, limbs: usize) {
        self.count(Tally::forward(self.n()).times(limbs as u64));
    }
    /// Inverse transforms of so many limbs.
    pub fn inverse(&self, limbs: usize) {
        self.count(Tally::inverse(self.n()).times(limbs as u64));
    }

    /// A base conversion with the transforms before and after it.
    pub fn convert(&self, sources: usize, targets: usize) {
        self.count(Tally::conversion(self.n(), sources as u64, targets as u64));
        self.forward(targets);
    }
    /// [`Digits::new`](aglet_rlwe::Digits::new); returns how many there are.
    pub fn digits(&self, spec: &KeySwitchSpec, limbs: usize) -> usize {
        let digits = spec.cut(limbs).digits;
        self.inverse(limbs);
        digits.iter().for_each(|own| self.convert(own.len(), limbs + spec.p_limbs - own.len()));
        digits.len()
    }
    /// [`Digits::product`](aglet_rlwe::Digits::product) over so many limbs, onto so many limbs of addends in all.
    pub fn product(&self, digits: usize, limbs: usize, addends: usize) {
        self.count(Tally::key_product(self.n(), digits as u64, 0).times(limbs as u64));
        self.count(Tally { ciphertext_read: self.n() * addends as u64, ..Tally::NONE });
    }
    /// [`divide`](aglet_rlwe::keyswitch::divide) of a pair.
    pub fn divide(&self, limbs: usize, p_limbs: usize, drop: usize) {
        for _ in 0..2 {
            self.divide_one(limbs, p_limbs, drop);
        }
    }
    fn divide_one(&self, limbs: usize, p_limbs: usize, drop: usize) {
        let kept = limbs - drop;
        self.inverse(drop + p_limbs);
        self.convert(drop + p_limbs, kept);
        self.count(Tally::rsub_mul(self.n()).times(kept as u64));
    }
    /// One polynomial of a form.
    pub fn form(&self, limbs: usize, products: usize, terms: usize, factor: bool) {
        self.count(Tally::form(self.n(), products as u64, terms as u64, factor).times(limbs as u64));
    }
    /// [`lift_by_special`](aglet_rlwe::keyswitch::lift_by_special).
    pub fn lift(&self, limbs: usize) {
        self.form(limbs, 0, 1, false);
    }
    /// A key switch of the second polynomial, with the first lifted and rotated along.
    fn automorphism(&self, a: &CostCiphertext, galois: u64) -> Result<CostCiphertext, Error> {
        let limbs = a.level + 1;
        let spec = self.key(KeyRole::Galois(galois), limbs)?;
        let digits = self.digits(spec, limbs);
        self.lift(limbs);
        self.product(digits, limbs + spec.p_limbs, limbs);
        self.divide(limbs, spec.p_limbs, 0);
        Ok(*a)
    }
    /// Both polynomials times a constant.
    fn scaled(&self, a: &CostCiphertext) -> CostCiphertext {
        (0..2).for_each(|_| self.form(a.level + 1, 0, 1, false));
        *a
    }
    fn sum(&self, a: &CostCiphertext, b: &CostCiphertext) -> Result<CostCiphertext, Error> {
        if a.level != b.level {
            return Err(Error::LevelMismatch { left: a.level, right: b.level });
        }
        if !same_scale(a.scale, b.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        Ok(*a)
    }
    /// The Galois element of a rotation to the left.
    pub fn rotation(&self, by: usize) -> u64 {
        rotation_exponent(by as isize, self.params.n())
    }
    /// A form, divided by the special primes and so many of the chain.
    fn divided(&self, form: &Quadratic<'_, CostCiphertext>, drop: usize) -> Result<(), Error> {
        form.check(self)?;
        let limbs = form.level + 1;
        let products: usize = form.products.iter().map(|p| p.factor.unsigned_abs() as usize).sum();
        let key = if products > 0 { Some(self.key(KeyRole::Square, limbs)?) } else { None };
        self.form(limbs, products, form.terms.len(), key.is_some());
        self.form(limbs, 2 * products, form.terms.len(), key.is_some());
        if let Some(spec) = key {
            self.form(limbs, products, 0, false);
            let digits = self.digits(spec, limbs);
            self.product(digits, limbs + spec.p_limbs, 2 * limbs);
        }
        let p_limbs = key.map_or(0, |spec| spec.p_limbs);
        if drop + p_limbs > 0 {
            self.divide(limbs, p_limbs, drop);
        }
        Ok(())
    }
}

impl Evaluator for CostEvaluator {
    type Scalar = Complex64;
    type Ciphertext = CostCiphertext;
    type Transform = CostTransform;
    fn slots(&self) -> usize {
        self.params.n() / 2
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
        if level > a.level {
            return Err(Error::LevelTooLow { required: level, actual: a.level });
        }
        Ok(CostCiphertext { level, ..*a })
    }
    fn rotate(&self, a: &CostCiphertext, by: isize) -> Result<CostCiphertext, Error> {
        match by.rem_euclid(self.slots() as isize) as usize {
            0 => Ok(*a),
            by => self.automorphism(a, self.rotation(by)),
        }
    }
    fn rotate_sum(&self, a: &CostCiphertext, by: &[usize]) -> Result<CostCiphertext, Error> {
        let (limbs, Some(&first)) = (a.level + 1, by.first()) else { return Ok(*a) };
        let spec = self.key(KeyRole::Galois(self.rotation(first)), limbs)?;
        let (digits, all) = (self.digits(spec, limbs), limbs + spec.p_limbs);
        self.lift(limbs);
        for i in 0..by.len() {
            self.product(digits, all, limbs + if i > 0 { 2 * all } else { 0 });
        }
        self.divide(limbs, spec.p_limbs, 0);
        Ok(*a)
    }
    fn transform(&self, ct: &CostCiphertext, t: &CostTransform) -> Result<CostCiphertext, Error> {
        let limbs = self.level_down(ct, t.level)?.level + 1;
        let spec = match t.babies.first().or(t.giant.as_ref()) {
            Some(&by) => self.key(KeyRole::Galois(self.rotation(by)), limbs)?.clone(),
            None => KeySwitchSpec::balanced(&self.params, limbs)?,
        };
        let (digits, all) = (self.digits(&spec, limbs), limbs + spec.p_limbs);
        (0..2).for_each(|_| self.lift(limbs));
        let row = Tally::linear_map(self.n(), digits as u64, t.babies.len() as u64, (t.diagonals, t.words), 0);
        self.count(row.times(all as u64));
        self.count(Tally { ciphertext_read: self.n() * 2 * limbs as u64, ..Tally::NONE });
        for _ in 1..t.giant_steps {
            self.divide_one(limbs, spec.p_limbs, 0);
            let digits = self.digits(&spec, limbs);
            self.product(digits, all, 3 * all);
        }
        self.divide(limbs, spec.p_limbs, 1);
        Ok(CostCiphertext { level: t.level - 1, scale: ct.scale * t.scale_ratio })
    }
    fn transforms(&self, of: &[CostCiphertext], t: &CostTransform) -> Result<Vec<CostCiphertext>, Error> {
        self.sharing(of, |ct| self.transform(ct, t))
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
        self.params.q().get(level).map_or(f64::NAN, |&q| q as f64)
    }
    fn quadratic(&self, form: &Quadratic<'_, CostCiphertext>) -> Result<CostCiphertext, Error> {
        self.divided(form, 1)?;
        Ok(CostCiphertext { level: form.level - 1, scale: form.scale })
    }
    fn quadratics(&self, forms: &[Quadratic<'_, CostCiphertext>]) -> Result<Vec<CostCiphertext>, Error> {
        self.sharing(forms, |form| self.quadratic(form))
    }
    fn unrescaled(&self, forms: &[Quadratic<'_, CostCiphertext>]) -> Result<Vec<CostCiphertext>, Error> {
        let one = |form: &Quadratic<'_, CostCiphertext>| {
            self.divided(form, 0)?;
            Ok(CostCiphertext { level: form.level, scale: form.scale * self.modulus(form.level) })
        };
        self.sharing(forms, one)
    }
    fn mul_i(&self, a: &CostCiphertext) -> Result<CostCiphertext, Error> {
        Ok(self.scaled(a))
    }
    fn conjugate(&self, a: &CostCiphertext) -> Result<CostCiphertext, Error> {
        self.automorphism(a, conjugation_exponent(self.params.n()))
    }
    fn conjugates(&self, of: &[CostCiphertext]) -> Result<Vec<CostCiphertext>, Error> {
        self.sharing(of, |a| self.conjugate(a))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<CostTransform, Error> {
        check_scale(scale_ratio)?;
        if level == 0 || level >= self.params.q().len() {
            return Err(Error::NoSuchLevel { level, max: self.params.q().len() - 1 });
        }
        let ((babies, giant), n) = (map.rotations(), self.params.n());
        Ok(CostTransform {
            level,
            scale_ratio,
            babies,
            giant,
            giant_steps: map.giant_step_count(),
            diagonals: map.diagonals().len() as u64,
            words: map.diagonals().values().map(|d| (2 * d.len()).min(n) as u64).sum(),
        })
    }
}
