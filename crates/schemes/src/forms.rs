//! Quadratic forms that land on a scale, whatever scales are: doubles, or the factors of exact integers.

use crate::approximate::{Approximate, Quadratic};
use crate::evaluator::Evaluator;
use crate::Error;

/// What stands beside a level: it is multiplied in products and divided by what a rescale divides by.
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

    /// What a rescale at a level divides by, as a scale.
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
