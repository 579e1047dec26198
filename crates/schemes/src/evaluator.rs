//! The arithmetic interface of circuits, for every scheme.
//!
//! A circuit (a polynomial, a homomorphic DFT, a whole bootstrap) is generic over [`Evaluator`], or over the trait of
//! approximate schemes ([`Approximate`](crate::ckks::approximate::Approximate)). So the same code runs on ciphertexts and on
//! numbers in the clear ([`crate::ckks::clear::ClearEvaluator`]). Levels are always *chain levels*: the number of `Q` limbs
//! minus one.

use crate::error::Error;
use crate::linear_map::LinearMap;
use crate::scalar::Scalar;

/// `sum c x + constant`.
#[derive(Debug, Clone)]
pub struct Sum<'a, C, S> {
    /// Multiples of ciphertexts, one at least.
    pub terms: Vec<(S, &'a C)>,
    /// Added to every slot.
    pub constant: S,
}

/// Slotwise arithmetic on vectors of scalars with levels, which every scheme has.
///
/// Inputs never change. Operands must have the same level unless an operation says otherwise.
pub trait Evaluator {
    /// What stands in a slot.
    type Scalar: Scalar;
    /// A vector of [`Evaluator::slots`] scalars.
    type Ciphertext: Clone;
    /// A linear map, encoded for one level.
    type Transform;

    /// The number of slots, a power of two.
    fn slots(&self) -> usize;

    /// The chain level of `ct`: its number of limbs minus one.
    fn level(&self, ct: &Self::Ciphertext) -> usize;

    /// Drops limbs until `a` is at `level`; the value stays.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] when `a` is below `level` already.
    fn level_down(&self, a: &Self::Ciphertext, level: usize) -> Result<Self::Ciphertext, Error>;

    /// `a + b`; no level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless both operands agree in level, [`Error::ScaleMismatch`] where they have scales that do
    /// not.
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `a - b`; no level.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `-a`; no level.
    ///
    /// # Errors
    /// None but a lack of memory.
    fn negate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `a * b`, relinearized: at most one level below the lower of both operands.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] at level 0, whatever the implementation says about a key that is missing.
    fn mul(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `c * a`, the same scalar for every slot: at most one level below.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] at level 0, if it takes a level.
    fn mul_scalar(&self, a: &Self::Ciphertext, c: Self::Scalar) -> Result<Self::Ciphertext, Error>;

    /// `a + c`, the same scalar for every slot; no level.
    ///
    /// # Errors
    /// None but a lack of memory, or a scalar that cannot be encoded.
    fn add_scalar(&self, a: &Self::Ciphertext, c: Self::Scalar) -> Result<Self::Ciphertext, Error>;

    /// `sum a b + sum c x + constant` for products `a b` and terms `c x`: at most one level below the lowest operand. Schemes that
    /// relinearize and rescale do it once; this is for schemes without scales.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`] without products and terms, [`Error::LevelTooLow`] at level 0.
    fn form(
        &self,
        products: &[(&Self::Ciphertext, &Self::Ciphertext)],
        terms: &[(Self::Scalar, &Self::Ciphertext)],
        constant: Self::Scalar,
    ) -> Result<Self::Ciphertext, Error> {
        let products = products.iter().map(|(a, b)| self.mul(a, b));
        let parts = products.chain(terms.iter().map(|(c, x)| self.mul_scalar(x, *c))).collect::<Result<Vec<_>, _>>()?;
        let lowest = parts.iter().map(|part| self.level(part)).min().ok_or(Error::EmptyQuadratic)?;
        let mut parts = parts.iter().map(|part| self.level_down(part, lowest));
        let first = parts.next().ok_or(Error::EmptyQuadratic)??;
        self.add_scalar(&parts.try_fold(first, |sum, part| self.add(&sum, &part?))?, constant)
    }

    /// [`Evaluator::form`] of each of these sums, which may share the reading of what they have in common.
    ///
    /// # Errors
    /// As there.
    fn sums(&self, sums: &[Sum<'_, Self::Ciphertext, Self::Scalar>]) -> Result<Vec<Self::Ciphertext>, Error> {
        sums.iter().map(|sum| self.form(&[], &sum.terms, sum.constant)).collect()
    }

    /// Rotates to the left: `out[j] = in[(j + by) mod slots]`; no level, one key switch.
    ///
    /// # Errors
    /// Whatever the implementation says about a key that is missing.
    fn rotate(&self, a: &Self::Ciphertext, by: isize) -> Result<Self::Ciphertext, Error>;

    /// The sum of `a` and its rotations to the left by each of `by`; no level. Schemes that decompose share one decomposition.
    ///
    /// # Errors
    /// Whatever the implementation says about a key that is missing.
    fn rotate_sum(&self, a: &Self::Ciphertext, by: &[usize]) -> Result<Self::Ciphertext, Error> {
        by.iter().try_fold(a.clone(), |sum, &by| self.add(&sum, &self.rotate(a, by as isize)?))
    }

    /// Encodes `map` for use at `level`; a scheme with scales keeps them.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::NoSuchLevel`], [`Error::LevelTooLow`] at level 0, if a map takes a level.
    fn encode_map(&self, map: &LinearMap<Self::Scalar>, level: usize) -> Result<Self::Transform, Error>;

    /// Applies an encoded linear map at its level: at most one level.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] when `ct` is below the level of the transform.
    fn transform(&self, ct: &Self::Ciphertext, transform: &Self::Transform) -> Result<Self::Ciphertext, Error>;

    /// [`Evaluator::transform`] of several, which may share the reading of keys and diagonals.
    ///
    /// # Errors
    /// Those of [`Evaluator::transform`].
    fn transforms(&self, of: &[Self::Ciphertext], transform: &Self::Transform) -> Result<Vec<Self::Ciphertext>, Error> {
        of.iter().map(|ct| self.transform(ct, transform)).collect()
    }
}
