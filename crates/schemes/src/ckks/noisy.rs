//! CKKS without encryption, with its noise: every rounding and key switch adds an error of the size and distribution
//! that it has on ciphertexts. The precision of a circuit here is its precision on ciphertexts.
//!
//! A coefficient's error of deviation `d` is one of `d sqrt(N/2)` in each component of every slot, at the scale of the
//! ciphertext. The sources (`H` the weight of the main secret):
//!
//! * a rescale, or a division by P, rounds both polynomials: variance `(H + 1) / 12` (eprint 2016/421, lemma 2). Such an error is
//!   the roundings times the secret, slot by slot, so it is large where the secret is: its square there is exponential over
//!   the slots of a key, and the same for all roundings;
//! * a key switch of digits `D` under the special modulus `P`: `3.2^2 N/12 sum (D/P)^2`, which counts where no rescale
//!   follows: rotations inside linear maps, conjugations, the switches to and from the sparse secret;
//! * diagonals and constants are rounded at their own scales.

use super::approximate::{multiple, product, Approximate};
use super::clear::{ClearCiphertext, ClearEvaluator, SplitMix};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::forms::Quadratic;
use crate::linear_map::LinearMap;
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

/// Sizes of the errors of one parameter set, as variances of a coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Ring degree.
    pub n: usize,
    /// Weight of the main secret.
    pub weight: f64,
    /// Weight of the sparse secret.
    pub sparse_weight: f64,
    /// Of a key switch at each chain level, without its rounding.
    pub switch: Vec<f64>,
    /// Of the switch to the sparse secret, without its rounding; that of the switch back is the same.
    pub sparse_switch: f64,
    /// The special prime of these switches.
    pub special: f64,
}

impl Noise {
    /// Of a division: both polynomials are rounded.
    pub fn rounding(&self) -> f64 {
        (self.weight + 1.0) / 12.0
    }
}

/// A [`ClearEvaluator`] with noise, which can be switched off and on during a run, to measure each stage.
pub struct NoisyEvaluator {
    clear: ClearEvaluator,
    noise: Noise,
    /// The squares of an imagined secret in the slots of the ring, over their mean.
    secret: Vec<f64>,
    on: AtomicBool,
    random: Mutex<SplitMix>,
}

/// A linear map as it is, and with rounded diagonals.
pub struct NoisyTransform {
    exact: <ClearEvaluator as Evaluator>::Transform,
    rounded: <ClearEvaluator as Evaluator>::Transform,
    level: usize,
    /// Sum of the mean squares of the diagonals: by this the errors of the rotations grow.
    gain: f64,
}

/// Of mean 1: half of what the squares of two standard Gaussians are together.
fn exponential(random: &mut SplitMix) -> f64 {
    // 1/2 - u lies in (0, 1].
    -(0.5 - random.uniform()).ln()
}

impl NoisyEvaluator {
    /// Adds noise to an evaluator in the clear; `seed` makes it reproducible.
    pub fn new(clear: ClearEvaluator, noise: Noise, seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let secret = (0..clear.slots()).map(|_| exponential(&mut random)).collect();
        Self { clear, noise, secret, on: AtomicBool::new(true), random: Mutex::new(random) }
    }

    /// Takes values as a ciphertext, without an error.
    ///
    /// # Errors
    /// Those of [`ClearEvaluator::encrypt`].
    pub fn encrypt(&self, values: &[Complex64], level: usize, scale: f64) -> Result<ClearCiphertext, Error> {
        self.clear.encrypt(values, level, scale)
    }

    /// The evaluator without noise.
    pub fn clear(&self) -> &ClearEvaluator {
        &self.clear
    }
    /// The sizes of the errors.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }
    /// Whether there are errors at the moment.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
    /// Whether what follows has errors.
    pub fn switch(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// Complex Gaussians, each component with this deviation (Box and Muller).
    fn gaussians(&self, count: usize, deviation: f64) -> Vec<Complex64> {
        let mut random = self.random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut one = || {
            let radius = (2.0 * exponential(&mut random)).sqrt();
            Complex64::from_polar(deviation * radius, TAU * random.uniform())
        };
        (0..count).map(|_| one()).collect()
    }

    /// Adds errors to every coefficient: a Gaussian of variance `even`, alike in all slots, and roundings of variance `rounded`
    /// with the secret in them ([`Noise::rounding`]).
    pub fn disturbed(&self, ct: ClearCiphertext, even: f64, rounded: f64) -> ClearCiphertext {
        if !self.is_on() {
            return ct;
        }
        let unit = (self.noise.n as f64 / 2.0).sqrt() / self.scale(&ct);
        let errors = self.gaussians(ct.values().len(), unit);
        let mut errors = errors.iter().zip(&self.secret).map(|(e, square)| e * (even + rounded * square).sqrt());
        ct.map_values(|v| v + errors.next().unwrap_or_default())
    }

    /// A map whose diagonals were rounded at this scale: one of period p has 2p coefficients, each off by a uniform rounding,
    /// p/12 in a component of a slot.
    pub fn rounded(&self, map: &LinearMap, scale: f64) -> LinearMap {
        map.with_diagonals(|d| {
            let errors = self.gaussians(d.len(), (d.len() as f64 / 12.0).sqrt() / scale);
            d.iter().zip(errors).map(|(v, e)| v + e).collect()
        })
    }

    /// A form with its constants as they are encoded.
    fn encoded<'a>(&self, form: &Quadratic<'a, ClearCiphertext>) -> Quadratic<'a, ClearCiphertext> {
        let mut form = form.clone();
        if self.is_on() {
            let scale = form.scale * self.modulus(form.level);
            for (constant, term) in &mut form.terms {
                let unit = scale / self.scale(term);
                *constant = Complex64::new((constant.re * unit).round(), (constant.im * unit).round()) / unit;
            }
        }
        form
    }

    /// The variance of a key switch at a chain level.
    pub fn switched(&self, level: usize) -> f64 {
        self.noise.switch.get(level).copied().unwrap_or_default()
    }
}

impl Evaluator for NoisyEvaluator {
    type Scalar = Complex64;
    type Ciphertext = ClearCiphertext;
    type Transform = NoisyTransform;
    fn slots(&self) -> usize {
        self.clear.slots()
    }
    fn level(&self, ct: &ClearCiphertext) -> usize {
        self.clear.level(ct)
    }
    fn add(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.clear.add(a, b)
    }
    fn sub(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.clear.sub(a, b)
    }
    fn negate(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.clear.negate(a)
    }
    fn level_down(&self, a: &ClearCiphertext, level: usize) -> Result<ClearCiphertext, Error> {
        self.clear.level_down(a, level)
    }
    fn rotate(&self, a: &ClearCiphertext, by: isize) -> Result<ClearCiphertext, Error> {
        let switched = self.switched(self.level(a));
        Ok(self.disturbed(self.clear.rotate(a, by)?, switched, self.noise.rounding()))
    }
    fn rotate_sum(&self, a: &ClearCiphertext, by: &[usize]) -> Result<ClearCiphertext, Error> {
        let switched = by.len() as f64 * self.switched(self.level(a));
        Ok(self.disturbed(self.clear.rotate_sum(a, by)?, switched, self.noise.rounding()))
    }
    fn transform(&self, ct: &ClearCiphertext, t: &NoisyTransform) -> Result<ClearCiphertext, Error> {
        if !self.is_on() {
            return self.clear.transform(ct, &t.exact);
        }
        let out = self.clear.transform(ct, &t.rounded)?;
        // At the scale of the result, relative to what the rotations add at the scale of the input.
        let ratio = self.scale(&out) / self.scale(ct);
        let even = self.switched(t.level) * t.gain * ratio * ratio;
        Ok(self.disturbed(out, even, self.noise.rounding()))
    }
    fn mul(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        product(self, a, b)
    }
    fn mul_scalar(&self, a: &ClearCiphertext, c: Complex64) -> Result<ClearCiphertext, Error> {
        multiple(self, a, c)
    }
    fn add_scalar(&self, a: &ClearCiphertext, c: Complex64) -> Result<ClearCiphertext, Error> {
        self.clear.add_scalar(a, c)
    }
    fn encode_map(&self, map: &LinearMap, level: usize) -> Result<NoisyTransform, Error> {
        self.encode_transform(map, level, 1.0)
    }
}

impl Approximate for NoisyEvaluator {
    fn scale(&self, ct: &ClearCiphertext) -> f64 {
        self.clear.scale(ct)
    }
    fn modulus(&self, level: usize) -> f64 {
        self.clear.modulus(level)
    }
    fn quadratic(&self, form: &Quadratic<'_, ClearCiphertext>) -> Result<ClearCiphertext, Error> {
        Ok(self.disturbed(self.clear.quadratic(&self.encoded(form))?, 0.0, self.noise.rounding()))
    }
    fn unrescaled(&self, forms: &[Quadratic<'_, ClearCiphertext>]) -> Result<Vec<ClearCiphertext>, Error> {
        let encoded: Vec<_> = forms.iter().map(|form| self.encoded(form)).collect();
        let switched = forms.first().map_or(0.0, |form| self.switched(form.level));
        let exact = self.clear.unrescaled(&encoded)?;
        Ok(exact.into_iter().map(|ct| self.disturbed(ct, switched, self.noise.rounding())).collect())
    }
    fn mul_i(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        self.clear.mul_i(a)
    }
    fn conjugate(&self, a: &ClearCiphertext) -> Result<ClearCiphertext, Error> {
        let switched = self.switched(self.level(a));
        Ok(self.disturbed(self.clear.conjugate(a)?, switched, self.noise.rounding()))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<NoisyTransform, Error> {
        let rounded = self.rounded(map, scale_ratio * self.modulus(level));
        let square = |d: &Vec<Complex64>| d.iter().map(Complex64::norm_sqr).sum::<f64>() / d.len() as f64;
        Ok(NoisyTransform {
            exact: self.clear.encode_transform(map, level, scale_ratio)?,
            rounded: self.clear.encode_transform(&rounded, level, scale_ratio)?,
            level,
            gain: map.diagonals().values().map(square).sum(),
        })
    }
}
