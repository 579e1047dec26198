//! CKKS without numbers: an evaluator that only counts the work that the same operations are on ciphertexts.
//!
//! A circuit that runs here tells what it will cost before a key exists. Each operation adds what [`crate::ckks`] does for it,
//! limb by limb, from the shapes of the keys that it would meet, and holds memory for every polynomial as long as it would live;
//! a test compares both with what the kernels and the pool counted (`crates/aglet/tests/cost.rs`). The work of sums, copies and
//! permutations is not counted: it is a few per cent.

mod held;
mod pack;

pub use held::Held;

use crate::approximate::{check_scale, multiple, product, same_scale, Approximate, Pack, Quadratic};
use crate::ckks::keys::missing;
use crate::ckks::{pack_shape, PackShape};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use crate::sample_map::giant_steps_at_once;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::{Demand, Tally};
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, RotorShape};
use held::Ledger;
use num_complex::Complex64;
use pack::packs;
use std::sync::{Arc, Mutex, PoisonError};

/// What is left of a ciphertext where nobody looks at its value.
#[derive(Debug, Clone)]
pub struct CostCiphertext {
    level: usize,
    scale: f64,
    _polys: Arc<[Held; 2]>,
}

impl CostCiphertext {
    /// With this level and scale.
    pub fn new(polys: [Held; 2], level: usize, scale: f64) -> Self {
        Self { level, scale, _polys: Arc::new(polys) }
    }
}

/// What is left of what is encoded.
#[derive(Debug, Clone)]
pub enum CostTransform {
    /// A linear map.
    Map(CostMap),
    /// All slots into coefficients.
    Pack {
        /// Steps and bytes.
        shape: PackShape,
        /// Output scale over input scale.
        scale_ratio: f64,
    },
}

/// What is left of a linear map.
#[derive(Debug, Clone)]
pub struct CostMap {
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
    rotor: Option<RotorShape>,
    tally: Mutex<Tally>,
    ledger: Ledger,
}

impl CostEvaluator {
    /// An evaluator on the slots of the ring, with keys of these shapes.
    pub fn new(params: Params, keys: KeySet<KeySwitchSpec>) -> Self {
        Self { params, keys, rotor: None, tally: Mutex::default(), ledger: Ledger::default() }
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
        CostCiphertext::new(self.pair(level + 1), level, scale)
    }
    /// The memory of a polynomial of so many limbs.
    pub fn hold(&self, limbs: usize) -> Held {
        self.ledger.lend(self.params.n(), limbs)
    }
    /// The memory of two.
    pub fn pair(&self, limbs: usize) -> [Held; 2] {
        [self.hold(limbs), self.hold(limbs)]
    }
    /// The memory that all that ran here wanted at one time.
    pub fn demand(&self) -> Demand {
        self.ledger.so_far()
    }
    /// The work since this was last asked.
    pub fn take(&self) -> Tally {
        std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// With keys of roots of unity on raised primes, of this shape.
    #[must_use]
    pub fn with_rotor(self, rotor: Option<RotorShape>) -> Self {
        Self { rotor, ..self }
    }
    /// Their shape.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn rotor(&self) -> Result<&RotorShape, Error> {
        self.rotor.as_ref().ok_or_else(|| Error::MissingKey { what: "keys of roots of unity".into() })
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
        let _quotients = self.hold(1);
        self.count(Tally::conversion(self.n(), sources as u64, targets as u64));
        self.forward(targets);
    }
    /// [`digits`](aglet_rlwe::keyswitch::digits), which share the limbs of the polynomial itself.
    pub fn digits(&self, spec: &KeySwitchSpec, limbs: usize) -> Vec<Held> {
        let (digits, all) = (spec.cut(limbs).digits, limbs + spec.p_limbs);
        let _coefficients = self.hold(limbs);
        self.inverse(limbs);
        let raised = digits.iter().map(|own| {
            let others = all - own.len();
            let rows = self.hold(others);
            if others > 0 {
                self.convert(own.len(), others);
            }
            rows
        });
        raised.collect()
    }
    /// [`key_products`](aglet_ring::Ring::key_products) of one input over so many limbs, onto so many limbs of addends in all.
    pub fn product(&self, digits: usize, limbs: usize, addends: usize) -> [Held; 2] {
        self.count(Tally::key_product(self.n(), digits as u64, 0).times(limbs as u64));
        self.count(Tally { ciphertext_read: self.n() * addends as u64, ..Tally::NONE });
        self.pair(limbs)
    }
    /// [`divide`](aglet_rlwe::keyswitch::divide) of a pair.
    pub fn divide(&self, limbs: usize, p_limbs: usize, drop: usize) -> [Held; 2] {
        [(); 2].map(|()| self.divide_one(limbs, p_limbs, drop))
    }
    /// The same of one polynomial.
    pub fn divide_one(&self, limbs: usize, p_limbs: usize, drop: usize) -> Held {
        let kept = limbs - drop;
        let (_leaving, quotient) = (self.hold(drop + p_limbs), self.hold(kept));
        self.inverse(drop + p_limbs);
        self.convert(drop + p_limbs, kept);
        self.count(Tally::rsub_mul(self.n()).times(kept as u64));
        quotient
    }
    /// [`exchange`](aglet_rlwe::exchange::exchange) of a pair.
    pub fn exchange(&self, from: usize, limbs: usize) -> [Held; 2] {
        let leaving = self.prime_indices()[..from].iter().filter(|&&l| l >= limbs).count();
        [(); 2].map(|()| {
            let (_leaving, _coming) = (self.hold(leaving), self.hold(limbs));
            self.inverse(leaving);
            self.count(Tally::form(self.n(), 0, 1, false).times((from - leaving) as u64));
            let quotient = self.hold(limbs);
            self.convert(leaving, limbs);
            self.count(Tally::rsub_mul(self.n()).times(limbs as u64));
            quotient
        })
    }
    /// A switch at the lowest modulus to the sparse secret.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn to_sparse(&self) -> Result<[Held; 2], Error> {
        let spec = self.key(KeyRole::ToSparse, 1)?;
        let (_lifted, digits) = (self.lift(1), self.digits(spec, 1));
        let _product = self.product(digits.len(), 1 + spec.p_limbs, 1);
        Ok(self.divide(1, spec.p_limbs, 0))
    }
    /// One polynomial of a form.
    pub fn form(&self, limbs: usize, products: usize, terms: usize, factor: bool) -> Held {
        self.count(Tally::form(self.n(), products as u64, terms as u64, factor).times(limbs as u64));
        self.hold(limbs)
    }
    /// [`lift_by_special`](aglet_rlwe::keyswitch::lift_by_special).
    pub fn lift(&self, limbs: usize) -> Held {
        self.form(limbs, 0, 1, false)
    }
    /// A key switch of the second polynomials, with the first lifted and rotated along.
    fn automorphisms(&self, of: &[CostCiphertext], galois: u64) -> Result<Vec<CostCiphertext>, Error> {
        let Some(limbs) = of.first().map(|a| a.level + 1) else { return Ok(Vec::new()) };
        let spec = self.key(KeyRole::Galois(galois), limbs)?;
        let inputs: Vec<_> = of.iter().map(|_| (self.lift(limbs), self.digits(spec, limbs))).collect();
        let turned = self.sharing(&inputs, |(_, d)| Ok(self.product(d.len(), limbs + spec.p_limbs, limbs)))?;
        drop(inputs);
        let finish = |a: &CostCiphertext| CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), a.level, a.scale);
        let out = of.iter().map(finish).collect();
        drop(turned);
        Ok(out)
    }
    /// Both polynomials times a constant.
    fn scaled(&self, a: &CostCiphertext) -> CostCiphertext {
        let polys = [(); 2].map(|()| self.form(a.level + 1, 0, 1, false));
        CostCiphertext::new(polys, a.level, a.scale)
    }
    /// A giant step onto these inner sums.
    pub(crate) fn giant_step(
        &self,
        spec: &KeySwitchSpec,
        limbs: usize,
        inner: Vec<[Held; 2]>,
    ) -> Result<Vec<[Held; 2]>, Error> {
        let all = limbs + spec.p_limbs;
        let c1: Vec<Held> = inner.iter().map(|_| self.divide_one(limbs, spec.p_limbs, 0)).collect();
        let digits: Vec<_> = c1.into_iter().map(|c1| (self.digits(spec, limbs), c1)).collect();
        self.sharing(&digits, |(digits, _)| Ok(self.product(digits.len(), all, 3 * all)))
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
    /// The Galois element of a rotation to the left.
    pub fn rotation(&self, by: usize) -> u64 {
        rotation_exponent(by as isize, self.params.n())
    }
    /// Forms of one level, divided by the special primes and so many of the chain: the memory of each.
    fn divided(&self, forms: &[Quadratic<'_, CostCiphertext>], drop: usize) -> Result<Vec<[Held; 2]>, Error> {
        forms.iter().try_for_each(|form| form.check(self))?;
        let Some(limbs) = forms.first().map(|form| form.level + 1) else { return Ok(Vec::new()) };
        let keyed = forms.iter().any(|form| !form.products.is_empty());
        let key = if keyed { Some(self.key(KeyRole::Square, limbs)?) } else { None };
        let tensor = |form: &Quadratic<'_, CostCiphertext>| {
            let products: usize = form.products.iter().map(|p| p.factor.unsigned_abs() as usize).sum();
            let (terms, key) = (form.terms.len(), key.filter(|_| products > 0));
            let lifted = [products, 2 * products].map(|count| self.form(limbs, count, terms, key.is_some()));
            let digits = key.map(|spec| {
                let square = self.form(limbs, products, 0, false);
                (spec, self.digits(spec, limbs), square)
            });
            (lifted, digits)
        };
        let mut tensors: Vec<_> = forms.iter().map(tensor).collect();
        let switched = self.sharing(&tensors, |(_, digits)| {
            let product = |(spec, digits, _): &(&KeySwitchSpec, Vec<Held>, Held)| {
                (spec.p_limbs, self.product(digits.len(), limbs + spec.p_limbs, 2 * limbs))
            };
            Ok(digits.as_ref().map(product))
        })?;
        tensors.iter_mut().for_each(|(_, digits)| *digits = None);
        let finish = |switched: &Option<(usize, [Held; 2])>| match switched.as_ref().map_or(0, |(p, _)| *p) {
            0 if drop == 0 => self.pair(limbs),
            p_limbs => self.divide(limbs, p_limbs, drop),
        };
        Ok(switched.iter().map(finish).collect())
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
        let mut sum = None;
        for _ in by {
            let addends = limbs + if sum.is_some() { 2 * all } else { 0 };
            sum = Some(self.product(digits.len(), all, addends));
        }
        Ok(CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), a.level, a.scale))
    }
    fn transform(&self, ct: &CostCiphertext, t: &CostTransform) -> Result<CostCiphertext, Error> {
        Ok(self.transforms(std::slice::from_ref(ct), t)?.remove(0))
    }
    fn transforms(&self, of: &[CostCiphertext], t: &CostTransform) -> Result<Vec<CostCiphertext>, Error> {
        let t = match t {
            CostTransform::Map(map) => map,
            CostTransform::Pack { shape, scale_ratio } => return packs(self, of, shape, *scale_ratio),
        };
        let limbs = t.level + 1;
        let spec = match t.babies.first().or(t.giant.as_ref()) {
            Some(&by) => self.key(KeyRole::Galois(self.rotation(by)), limbs)?.clone(),
            None => KeySwitchSpec::balanced(&self.params, limbs)?,
        };
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
        self.params.q().get(level).map_or(f64::NAN, |&q| q as f64)
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
        self.automorphisms(of, conjugation_exponent(self.params.n()))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<CostTransform, Error> {
        check_scale(scale_ratio)?;
        if level == 0 || level >= self.params.q().len() {
            return Err(Error::NoSuchLevel { level, max: self.params.q().len() - 1 });
        }
        let ((babies, giant), n) = (map.rotations(), self.params.n());
        Ok(CostTransform::Map(CostMap {
            level,
            scale_ratio,
            babies,
            giant,
            giant_steps: map.giant_step_count(),
            diagonals: map.diagonals().len() as u64,
            words: map.diagonals().values().map(|d| (2 * d.len()).min(n) as u64).sum(),
        }))
    }
    fn encode_pack(&self, pack: &Pack) -> Result<CostTransform, Error> {
        check_scale(pack.scale_ratio)?;
        Ok(CostTransform::Pack { shape: pack_shape(&self.params)?, scale_ratio: pack.scale_ratio })
    }
}
