//! The interface of circuits on approximate numbers: scales, conjugates, and quadratic forms with an exact scale.

use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::forms::{Forms, Product, Quadratic};
use crate::linear_map::LinearMap;
use num_complex::Complex64;

/// Relative difference up to which two scales count as equal.
///
/// Scales are `f64` and chosen exactly, so they differ only by the rounding of their own computation.
pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 45) as f64;

impl<C> Quadratic<'_, C> {
    /// Refuses a form that `evaluator` could not compute exactly as written; every implementation begins with it.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`], [`Error::InvalidScale`], [`Error::LevelTooLow`] (an operand below `level`, or
    /// `level = 0`), [`Error::InvalidParameters`] (a factor that is not 1 to 16), [`Error::ScaleMismatch`] (a product off
    /// the scale).
    pub fn check<E: Approximate<Ciphertext = C>>(&self, evaluator: &E) -> Result<(), Error> {
        if self.products.is_empty() && self.terms.is_empty() {
            return Err(Error::EmptyQuadratic);
        }
        check_scale(self.scale)?;
        if self.level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let factors = self.products.iter().flat_map(|p| [p.left, p.right]);
        for operand in factors.chain(self.terms.iter().map(|(_, term)| *term)) {
            let actual = evaluator.level(operand);
            if actual < self.level {
                return Err(Error::LevelTooLow { required: self.level, actual });
            }
        }
        let expected = self.scale * evaluator.modulus(self.level);
        for product in &self.products {
            if !(1..=16).contains(&product.factor) {
                return Err(Error::InvalidParameters { reason: "the factor of a product is not between 1 and 16" });
            }
            let found = evaluator.scale(product.left) * evaluator.scale(product.right);
            if !same_scale(expected, found) {
                return Err(Error::ScaleMismatch { expected, found });
            }
        }
        Ok(())
    }
}

/// What schemes for approximate numbers add: complex numbers in the slots, and an exact scale at every level.
///
/// The caller chooses every scale, and gets exactly this scale or an error.
pub trait Approximate: Evaluator<Scalar = Complex64> {
    /// The scale of `ct`: coefficients are this times the value.
    fn scale(&self, ct: &Self::Ciphertext) -> f64;

    /// The prime by which a rescale at `level` divides; NaN for a level above the chain.
    fn modulus(&self, level: usize) -> f64;

    /// Evaluates a quadratic form: one relinearization (none without products), one rescale, one level.
    ///
    /// # Errors
    /// Those of [`Quadratic::check`].
    fn quadratic(&self, form: &Quadratic<'_, Self::Ciphertext>) -> Result<Self::Ciphertext, Error>;

    /// Quadratic forms of one level without their rescale: results stand at `form.level` with the scale
    /// `form.scale * modulus(form.level)`.
    ///
    /// # Errors
    /// Those of [`Approximate::quadratic`].
    fn unrescaled(&self, forms: &[Quadratic<'_, Self::Ciphertext>]) -> Result<Vec<Self::Ciphertext>, Error>;

    /// Evaluates several quadratic forms of one level, which may share the reading of keys.
    ///
    /// # Errors
    /// Those of [`Approximate::quadratic`].
    fn quadratics(&self, forms: &[Quadratic<'_, Self::Ciphertext>]) -> Result<Vec<Self::Ciphertext>, Error> {
        forms.iter().map(|form| self.quadratic(form)).collect()
    }

    /// `i * a`, a multiplication by the monomial `X^(N/2)`: exact, no level.
    ///
    /// # Errors
    /// None but a lack of memory.
    fn mul_i(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Complex conjugate of every slot; no level, one key switch.
    ///
    /// # Errors
    /// Whatever the implementation says about a key that is missing.
    fn conjugate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// [`Approximate::conjugate`] of several of one level, which may share the reading of the key.
    ///
    /// # Errors
    /// Those of [`Approximate::conjugate`].
    fn conjugates(&self, of: &[Self::Ciphertext]) -> Result<Vec<Self::Ciphertext>, Error> {
        of.iter().map(|a| self.conjugate(a)).collect()
    }

    /// Encodes `map` for use at `level` with plaintext scale `scale_ratio * modulus(level)`.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::NoSuchLevel`], [`Error::LevelTooLow`] (level 0 cannot be rescaled),
    /// [`Error::InvalidScale`].
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<Self::Transform, Error>;
}

impl<E: Approximate> Forms for E {
    type Scale = f64;

    fn scale_of(&self, ct: &Self::Ciphertext) -> f64 {
        self.scale(ct)
    }
    fn divisor(&self, level: usize) -> f64 {
        self.modulus(level)
    }
    fn forms(&self, forms: &[Quadratic<'_, Self::Ciphertext>]) -> Result<Vec<Self::Ciphertext>, Error> {
        self.quadratics(forms)
    }
}

/// [`Evaluator::mul`] of an approximate scheme: the new scale is the product of both scales over the prime.
///
/// # Errors
/// Those of [`Approximate::quadratic`].
pub fn product<E: Approximate>(e: &E, left: &E::Ciphertext, right: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
    let level = e.level(left).min(e.level(right));
    let scale = e.scale(left) * e.scale(right) / e.modulus(level);
    let products = vec![Product { factor: 1, left, right }];
    e.quadratic(&Quadratic { products, terms: Vec::new(), constant: Complex64::ZERO, level, scale })
}

/// [`Evaluator::mul_scalar`] of an approximate scheme: one level, the same scale.
///
/// # Errors
/// Those of [`Approximate::quadratic`].
pub fn multiple<E: Approximate>(e: &E, a: &E::Ciphertext, c: Complex64) -> Result<E::Ciphertext, Error> {
    let (level, scale) = (e.level(a), e.scale(a));
    e.quadratic(&Quadratic { products: Vec::new(), terms: vec![(c, a)], constant: Complex64::ZERO, level, scale })
}

/// Whether two scales agree to [`SCALE_TOLERANCE`].
pub fn same_scale(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < SCALE_TOLERANCE
}

/// Refuses a scale that is not positive and finite.
///
/// # Errors
/// [`Error::InvalidScale`].
pub fn check_scale(scale: f64) -> Result<(), Error> {
    if scale.is_finite() && scale > 0.0 {
        Ok(())
    } else {
        Err(Error::InvalidScale { scale })
    }
}
