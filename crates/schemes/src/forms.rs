//! Quadratic forms with an exact scale, for every kind of scale: doubles, or the correction factors of exact integers.

use crate::evaluator::Evaluator;
use crate::Error;
use num_complex::Complex64;

/// One term `factor * left * right` of a [`Quadratic`].
#[derive(Debug, Clone, Copy)]
pub struct Product<'a, C> {
    /// A small integer, 1 to 16. It needs no scale and adds no noise of its own.
    pub factor: i32,
    /// Left operand, at or above the level of the form.
    pub left: &'a C,
    /// Right operand; may be the left one, which makes it a square.
    pub right: &'a C,
}

/// A quadratic form in ciphertexts, evaluated with one relinearization and one rescale.
///
/// Scalars are complex numbers and scales are doubles, unless a scheme of exact numbers has others
/// ([`Forms`]).
///
/// The value is `sum factor * left * right + sum constant * ciphertext + constant`, slot by slot. Operands are first
/// dropped to `level`; the result is at `level - 1` with exactly the scale `scale`. For every product
/// `left.scale * right.scale = scale * modulus(level)` must hold to [`SCALE_TOLERANCE`](crate::ckks::approximate::SCALE_TOLERANCE); the constants of `terms` are
/// encoded at exactly `scale * modulus(level) / term.scale`, so the terms may have any scale.
#[derive(Debug, Clone)]
pub struct Quadratic<'a, C, S = Complex64, F = f64> {
    /// The products; with none of them nothing is relinearized.
    pub products: Vec<Product<'a, C>>,
    /// Multiples of single ciphertexts.
    pub terms: Vec<(S, &'a C)>,
    /// Added to every slot.
    pub constant: S,
    /// The chain level at which the form is computed, at least 1.
    pub level: usize,
    /// The scale of the result.
    pub scale: F,
}

/// The scale of a ciphertext beside its level. Products multiply it; a rescale divides it.
pub trait Scale: Copy {
    /// The scale of a product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The scale that times the other is this one.
    #[must_use]
    fn over(self, other: Self) -> Self;
}

impl Scale for f64 {
    fn times(self, other: Self) -> Self {
        self * other
    }
    fn over(self, other: Self) -> Self {
        self / other
    }
}

/// Evaluators of [`Quadratic`] forms: every approximate one, and those of exact integers.
pub trait Forms: Evaluator {
    /// A scale.
    type Scale: Scale;

    /// The scale of a ciphertext.
    fn scale_of(&self, ct: &Self::Ciphertext) -> Self::Scale;

    /// The divisor of a rescale at a level, as a scale.
    fn divisor(&self, level: usize) -> Self::Scale;

    /// Evaluates forms of one level, which may share the reading of keys: one relinearization and one rescale each.
    ///
    /// # Errors
    /// A form that contradicts itself, operands below its level, a key that is missing.
    fn forms(
        &self,
        forms: &[Quadratic<'_, Self::Ciphertext, Self::Scalar, Self::Scale>],
    ) -> Result<Vec<Self::Ciphertext>, Error>;
}
