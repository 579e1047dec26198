//! Integers modulo p = 65537 and modulo p^2, which a bootstrap of integers computes with.
//!
//! A ciphertext modulo p^k has the phase `p^-k [f m] + e`, with a correction factor f like ciphertexts of users. A
//! ciphertext modulo p^2, multiplied by p, is one modulo p of the same number. If all numbers are multiples of p, it
//! is, word for word, one modulo p of their quotients by p. Correction factors are kept modulo p^2 and reduced where
//! they are used modulo p.

mod clear;
mod cost;
mod evaluator;
mod raise;
mod residue;

pub use clear::{ClearMap, PrimePowerClear, PrimePowerClearEvaluator};
pub use cost::{CostPowerMap, PrimePowerCostCiphertext, PrimePowerCostEvaluator};
pub use evaluator::{PrimePowerCiphertext, PrimePowerCiphertextEvaluator, PrimePowerMap};
pub use raise::{raising_key, RaiseMap};
pub use residue::{coefficients, slots, Pair, Residue, P};

use crate::forms::Forms;
use crate::forms::Quadratic;
use crate::linear_map::LinearMap;
use crate::Error;

/// The power of p that a ciphertext is modulo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimePower {
    /// p.
    One,
    /// p^2.
    Two,
}

impl PrimePower {
    /// The modulus.
    #[must_use]
    pub const fn modulus(self) -> u64 {
        match self {
            Self::One => P,
            Self::Two => P * P,
        }
    }
    /// The residue modulo it, centred.
    #[must_use]
    pub fn centred(self, x: Residue) -> i64 {
        let (t, word) = (self.modulus() as i64, (x.word() % self.modulus()) as i64);
        if word > t / 2 {
            word - t
        } else {
            word
        }
    }
    /// Whether two residues are one modulo it.
    #[must_use]
    pub fn same(self, a: Residue, b: Residue) -> bool {
        (a - b).word().is_multiple_of(self.modulus())
    }
}

/// A linear map on pairs, and one whose rows are swapped afterwards. Together they make every linear map of both rows
/// whose diagonals are pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairMap {
    /// The map itself.
    pub direct: LinearMap<Pair>,
    /// The map that is added with its rows swapped; it has the steps of the map itself.
    pub swapped: Option<LinearMap<Pair>>,
}

impl From<LinearMap<Pair>> for PairMap {
    fn from(direct: LinearMap<Pair>) -> Self {
        Self { direct, swapped: None }
    }
}

impl PairMap {
    /// `map (a z + b swap(z))`.
    #[must_use]
    pub fn after(map: &LinearMap<Pair>, a: Pair, b: Pair) -> Self {
        Self { direct: map.clone().scaled(a), swapped: Some(map.clone().scaled(b).conjugated(Pair::swapped)) }
    }
    /// `a map(z) + b swap(map(z))`.
    #[must_use]
    pub fn before(map: &LinearMap<Pair>, a: Pair, b: Pair) -> Self {
        Self { direct: map.clone().scaled(a), swapped: Some(map.clone().scaled(b.swapped())) }
    }
    /// Its maps, the direct one first.
    #[must_use]
    pub fn maps(&self) -> Vec<&LinearMap<Pair>> {
        std::iter::once(&self.direct).chain(&self.swapped).collect()
    }
    /// Applies it to numbers in the clear.
    ///
    /// # Errors
    /// Those of [`LinearMap::apply`].
    pub fn apply(&self, values: &[Pair]) -> Result<Vec<Pair>, Error> {
        let mut out = self.direct.apply(values)?;
        if let Some(map) = &self.swapped {
            out.iter_mut().zip(map.apply(values)?).for_each(|(x, y)| *x += y.swapped());
        }
        Ok(out)
    }
}

/// How a map is encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoding {
    /// The level that it is applied at.
    pub level: usize,
    /// The power of p that its diagonals are modulo.
    pub power: PrimePower,
    /// Multiplies the factor.
    pub gain: Residue,
    /// Primes that are divided by.
    pub drop: usize,
}

/// Evaluators on numbers modulo p and p^2.
pub trait PrimePowerEvaluator: Forms<Scalar = Pair, Scale = Residue> {
    /// What a ciphertext is modulo.
    fn power(&self, ct: &Self::Ciphertext) -> PrimePower;

    /// One modulo p^2, modulo p.
    ///
    /// # Errors
    /// Out of memory.
    fn modulo_p(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// One modulo p^2 whose numbers are multiples of p, over p: modulo p.
    fn over_p(&self, ct: &Self::Ciphertext) -> Self::Ciphertext;

    /// A form without its rescale: the result stands at `form.level` with the factor `form.scale * divisor(form.level)`.
    ///
    /// # Errors
    /// As [`Forms::forms`].
    fn unrescaled(&self, form: &PrimePowerForm<'_, Self::Ciphertext>) -> Result<Self::Ciphertext, Error>;

    /// A ciphertext modulo p at the lowest modulus, under the sparse secret of a bootstrap.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] above it, a key that is missing.
    fn encapsulate(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The same at the lowest modulus with phases rounded to whole parts of p of the torus, under whatever secret it is: raised, its numbers are
    /// multiples of p, without a low digit.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] above it.
    fn whole_parts(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Encodes a map of [`PrimePowerEvaluator::raise`], on all slots of the ring, to a level.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::NoSuchLevel`].
    fn encode_raise(&self, map: &LinearMap<Pair>, level: usize) -> Result<Self::Transform, Error>;

    /// Messages m modulo p at the lowest modulus, with the factor `-q_0`, become the map of `p m + e` modulo p^2 at the level of the map,
    /// with the factor 1, for low digits e of the coefficients that are at most half the weight of the sparse secret and its one.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], another correction factor, a key that is missing.
    fn raise(&self, ct: &Self::Ciphertext, map: &Self::Transform) -> Result<Self::Ciphertext, Error>;

    /// Switches the primes of a bootstrap for those of users up to a level, which divides by all that leave: the factor is multiplied
    /// by `gain`, what comes over what leaves.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`], limbs that do not exist.
    fn mod_switch(&self, ct: &Self::Ciphertext, level: usize, gain: Residue) -> Result<Self::Ciphertext, Error>;

    /// Encodes a map.
    ///
    /// # Errors
    /// As [`Evaluator::encode_map`](crate::Evaluator::encode_map).
    fn encode_pairs(&self, map: &PairMap, how: Encoding) -> Result<Self::Transform, Error>;
}

/// A form with factors for scales.
pub type PrimePowerForm<'a, C> = Quadratic<'a, C, Pair, Residue>;

/// Refuses a form that contradicts itself; what it is modulo.
fn check<E: PrimePowerEvaluator>(e: &E, form: &PrimePowerForm<'_, E::Ciphertext>) -> Result<PrimePower, Error> {
    let refuse = |reason| Err(Error::InvalidParameters { reason });
    let operands = form.products.iter().flat_map(|p| [p.left, p.right]).chain(form.terms.iter().map(|t| t.1));
    let power = operands.clone().next().map(|ct| e.power(ct)).ok_or(Error::EmptyQuadratic)?;
    if form.level == 0 {
        return Err(Error::LevelTooLow { required: 1, actual: 0 });
    }
    for ct in operands {
        if e.level(ct) < form.level {
            return Err(Error::LevelTooLow { required: form.level, actual: e.level(ct) });
        }
        if e.power(ct) != power {
            return refuse("operands of a form are modulo different powers of p");
        }
    }
    let correction_factor = form.scale * e.divisor(form.level);
    let lands = |left, right| power.same(e.scale_of(left) * e.scale_of(right), correction_factor);
    match form.products.iter().all(|p| p.factor == 1 && lands(p.left, p.right)) {
        true => Ok(power),
        false => refuse("a product of a form does not have its correction factor"),
    }
}
