//! CKKS without encryption: the same levels, scales and refusals, on complex numbers in the clear.
//!
//! Circuits are tested here against plain arithmetic. The approximation error of a bootstrap is measured here, apart
//! from the noise. A value `v` at scale `s` stands for coefficients `s * v`; nothing is rounded.

use super::approximate::{check_scale, multiple, product, same_scale, Approximate};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::forms::Quadratic;
use crate::linear_map::LinearMap;
use aglet_ring::fft::SpecialFft;
use num_complex::Complex64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers with the level and scale that a ciphertext of them would have.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearCiphertext {
    values: Vec<Complex64>,
    level: usize,
    scale: f64,
}

impl ClearCiphertext {
    /// The numbers in the slots, in natural order.
    pub fn values(&self) -> &[Complex64] {
        &self.values
    }
    /// The same numbers at another level and scale.
    #[must_use]
    pub fn placed(self, level: usize, scale: f64) -> Self {
        Self { level, scale, ..self }
    }
    /// Refuses a ciphertext above chain level 0.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`].
    pub fn at_bottom(&self) -> Result<(), Error> {
        (self.level == 0).then_some(()).ok_or(Error::LevelMismatch { left: self.level, right: 0 })
    }
    /// The same with other numbers, slot by slot.
    pub(crate) fn map_values(mut self, mut f: impl FnMut(Complex64) -> Complex64) -> Self {
        self.values.iter_mut().for_each(|v| *v = f(*v));
        self
    }
}

/// A linear map with the level and scale ratio it was encoded for.
#[derive(Debug, Clone)]
pub struct ClearTransform {
    map: LinearMap,
    level: usize,
    scale_ratio: f64,
}

/// The evaluator on numbers in the clear.
#[derive(Debug)]
pub struct ClearEvaluator {
    fft: SpecialFft,
    moduli: Vec<f64>,
    sparse_weight: usize,
    seed: u64,
    raises: AtomicU64,
}

impl ClearEvaluator {
    /// Makes an evaluator on `slots` (a power of two) with the primes `moduli`, `q0` first.
    ///
    /// `sparse_weight` is the Hamming weight `h` of the imagined ephemeral secret, which shapes the multiples of `q0` that
    /// a raised modulus adds; `seed` makes them reproducible.
    ///
    /// # Errors
    /// [`Error::InvalidParameters`] for a slot count that is no power of two, an empty chain or a modulus that is not
    /// finite and above 1.
    pub fn new(slots: usize, moduli: Vec<f64>, sparse_weight: usize, seed: u64) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::InvalidParameters { reason });
        if !slots.is_power_of_two() {
            return refuse("the number of slots must be a power of two");
        }
        if moduli.is_empty() || moduli.iter().any(|q| !(q.is_finite() && *q > 1.0)) {
            return refuse("the modulus chain must have at least one modulus, each finite and above 1");
        }
        Ok(ClearEvaluator { fft: SpecialFft::new(slots), moduli, sparse_weight, seed, raises: AtomicU64::new(0) })
    }

    /// Takes `values`, one per slot, as a ciphertext at `level` with `scale`.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::NoSuchLevel`], [`Error::InvalidScale`].
    pub fn encrypt(&self, values: &[Complex64], level: usize, scale: f64) -> Result<ClearCiphertext, Error> {
        self.check_slots(values.len())?;
        self.check_level(level)?;
        check_scale(scale)?;
        Ok(ClearCiphertext { values: values.to_vec(), level, scale })
    }

    /// The transform from pairs of coefficients to slots.
    pub fn fft(&self) -> &SpecialFft {
        &self.fft
    }

    /// The weight of the imagined sparse secret.
    pub fn sparse_weight(&self) -> usize {
        self.sparse_weight
    }

    /// Numbers for one more simulated overflow; every call gives new ones.
    pub fn fresh_random(&self) -> SplitMix {
        SplitMix(self.seed ^ self.raises.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9))
    }

    /// The chain level of a fresh ciphertext.
    pub fn max_level(&self) -> usize {
        self.moduli.len() - 1
    }

    fn check_slots(&self, found: usize) -> Result<(), Error> {
        let expected = self.slots();
        (found == expected).then_some(()).ok_or(Error::SlotMismatch { expected, found })
    }

    /// Refuses a level above the chain.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`].
    pub fn check_level(&self, level: usize) -> Result<(), Error> {
        let max = self.max_level();
        (level <= max).then_some(()).ok_or(Error::NoSuchLevel { level, max })
    }

    /// Adds or subtracts slot by slot.
    fn sum(&self, a: &ClearCiphertext, b: &ClearCiphertext, sign: f64) -> Result<ClearCiphertext, Error> {
        if a.level != b.level {
            return Err(Error::LevelMismatch { left: a.level, right: b.level });
        }
        if !same_scale(a.scale, b.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        let values = a.values.iter().zip(&b.values).map(|(x, y)| x + sign * y).collect();
        Ok(ClearCiphertext { values, ..*a })
    }

    fn map(&self, a: &ClearCiphertext, f: impl Fn(&Complex64) -> Complex64) -> ClearCiphertext {
        ClearCiphertext { values: a.values.iter().map(f).collect(), ..*a }
    }
}

impl Evaluator for ClearEvaluator {
    type Scalar = Complex64;

    type Ciphertext = ClearCiphertext;

    type Transform = ClearTransform;

    fn slots(&self) -> usize {
        self.fft.slots()
    }

    fn level(&self, ct: &ClearCiphertext) -> usize {
        ct.level
    }

    fn add(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.sum(a, b, 1.0)
    }

    fn sub(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.sum(a, b, -1.0)
    }

    fn negate(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        Ok(self.map(a, |x| -x))
    }

    fn level_down(&self, a: &ClearCiphertext, level: usize) -> Result<ClearCiphertext, Error> {
        if a.level < level {
            return Err(Error::LevelTooLow { required: level, actual: a.level });
        }
        Ok(ClearCiphertext { level, ..a.clone() })
    }

    fn rotate(&self, a: &ClearCiphertext, by: isize) -> Result<ClearCiphertext, Error> {
        let mut rotated = a.clone();
        rotated.values.rotate_left(by.rem_euclid(self.slots() as isize) as usize);
        Ok(rotated)
    }

    fn transform(&self, ct: &ClearCiphertext, transform: &ClearTransform) -> Result<ClearCiphertext, Error> {
        if ct.level < transform.level {
            return Err(Error::LevelTooLow { required: transform.level, actual: ct.level });
        }
        let values = transform.map.apply(&ct.values)?;
        Ok(ClearCiphertext { values, level: transform.level - 1, scale: ct.scale * transform.scale_ratio })
    }

    fn mul(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        product(self, a, b)
    }
    fn mul_scalar(&self, a: &ClearCiphertext, c: Complex64) -> Result<ClearCiphertext, Error> {
        multiple(self, a, c)
    }
    fn add_scalar(&self, a: &ClearCiphertext, c: Complex64) -> Result<ClearCiphertext, Error> {
        Ok(self.map(a, |x| x + c))
    }
    fn encode_map(&self, map: &LinearMap, level: usize) -> Result<ClearTransform, Error> {
        self.encode_transform(map, level, 1.0)
    }
}

impl Approximate for ClearEvaluator {
    fn scale(&self, ct: &ClearCiphertext) -> f64 {
        ct.scale
    }

    fn modulus(&self, level: usize) -> f64 {
        self.moduli.get(level).copied().unwrap_or(f64::NAN)
    }

    fn quadratic(&self, form: &Quadratic<'_, ClearCiphertext>) -> Result<ClearCiphertext, Error> {
        form.check(self)?;
        let mut values = vec![form.constant; self.slots()];
        for p in &form.products {
            let factor = f64::from(p.factor);
            for ((v, x), y) in values.iter_mut().zip(&p.left.values).zip(&p.right.values) {
                *v += factor * x * y;
            }
        }
        for (constant, term) in &form.terms {
            values.iter_mut().zip(&term.values).for_each(|(v, x)| *v += constant * x);
        }
        Ok(ClearCiphertext { values, level: form.level - 1, scale: form.scale })
    }

    fn unrescaled(&self, forms: &[Quadratic<'_, ClearCiphertext>]) -> Result<Vec<ClearCiphertext>, Error> {
        let one = |form: &Quadratic<'_, ClearCiphertext>| {
            let scale = form.scale * self.modulus(form.level);
            Ok(ClearCiphertext { level: form.level, scale, ..self.quadratic(form)? })
        };
        forms.iter().map(one).collect()
    }

    fn mul_i(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        Ok(self.map(a, |x| Complex64::new(-x.im, x.re)))
    }

    fn conjugate(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        Ok(self.map(a, Complex64::conj))
    }

    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<ClearTransform, Error> {
        self.check_slots(map.slots())?;
        self.check_level(level)?;
        check_scale(scale_ratio)?;
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        Ok(ClearTransform { map: map.clone(), level, scale_ratio })
    }
}

/// Sebastiano Vigna's SplitMix64: small, and good enough to imitate the overflow. Nothing secret depends on it.
#[derive(Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// Uniform in `[-1/2, 1/2)`.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Product;

    const Q: [f64; 3] = [1024.0, 500.0, 520.0];

    fn evaluator() -> ClearEvaluator {
        ClearEvaluator::new(4, Q.to_vec(), 32, 1).unwrap()
    }

    fn c(x: f64) -> Complex64 {
        Complex64::new(x, 1.0 - x)
    }

    #[test]
    fn a_quadratic_form_is_what_it_says_and_lands_on_its_scale() {
        let e = evaluator();
        let a = e.encrypt(&[1.0, 2.0, 3.0, 4.0].map(c), 2, 512.0).unwrap();
        let b = e.encrypt(&[0.5; 4].map(c), 2, 128.0).unwrap();
        let form = Quadratic {
            products: vec![Product { factor: 2, left: &a, right: &a }],
            terms: vec![(c(3.0), &b)],
            constant: c(-1.0),
            level: 2,
            scale: 512.0 * 512.0 / 520.0,
        };
        let out = e.quadratic(&form).unwrap();
        assert_eq!((e.level(&out), e.scale(&out)), (1, 512.0 * 512.0 / 520.0));
        for (o, x) in out.values().iter().zip(a.values()) {
            assert!((o - (2.0 * x * x + c(3.0) * c(0.5) + c(-1.0))).norm() < 1e-12);
        }
        let off = Quadratic { scale: 512.0, ..form.clone() };
        assert!(matches!(e.quadratic(&off), Err(Error::ScaleMismatch { .. })));
        let low = e.level_down(&b, 1).unwrap();
        let low_term = Quadratic { terms: vec![(c(1.0), &low)], ..form.clone() };
        assert_eq!(e.quadratic(&low_term), Err(Error::LevelTooLow { required: 2, actual: 1 }));
        let bottom = Quadratic { products: vec![], level: 0, ..form.clone() };
        assert_eq!(e.quadratic(&bottom), Err(Error::LevelTooLow { required: 1, actual: 0 }));
        for factor in [0, -1, 17] {
            let products = vec![Product { factor, left: &a, right: &a }];
            let refused = e.quadratic(&Quadratic { products, ..form.clone() });
            assert!(matches!(refused, Err(Error::InvalidParameters { .. })), "factor {factor}");
        }
        let empty = Quadratic { products: vec![], terms: vec![], ..form };
        assert_eq!(e.quadratic(&empty), Err(Error::EmptyQuadratic));
    }

    #[test]
    fn sums_refuse_what_ckks_refuses() {
        let e = evaluator();
        let a = e.encrypt(&[0.0; 4].map(c), 2, 512.0).unwrap();
        assert!(matches!(e.add(&a, &e.level_down(&a, 1).unwrap()), Err(Error::LevelMismatch { left: 2, right: 1 })));
        let other = e.encrypt(&[0.0; 4].map(c), 2, 512.0 * (1.0 + 1e-9)).unwrap();
        assert!(matches!(e.sub(&a, &other), Err(Error::ScaleMismatch { .. })));
        assert!(matches!(e.level_down(&e.level_down(&a, 0).unwrap(), 1), Err(Error::LevelTooLow { .. })));
        assert!(matches!(e.encrypt(a.values(), 3, 1.0), Err(Error::NoSuchLevel { level: 3, max: 2 })));
        assert!(matches!(e.encrypt(&a.values()[1..], 0, 1.0), Err(Error::SlotMismatch { .. })));
        assert!(matches!(e.encrypt(a.values(), 0, f64::NAN), Err(Error::InvalidScale { .. })));
    }

    #[test]
    fn rotation_is_to_the_left_and_i_is_free() {
        let e = evaluator();
        let a = e.encrypt(&[1.0, 2.0, 3.0, 4.0].map(c), 1, 512.0).unwrap();
        assert_eq!(e.rotate(&a, 1).unwrap().values()[0], c(2.0));
        assert_eq!(e.rotate(&a, -1).unwrap().values()[0], c(4.0));
        assert_eq!(e.mul_i(&e.mul_i(&a).unwrap()).unwrap(), e.negate(&a).unwrap());
    }
}
