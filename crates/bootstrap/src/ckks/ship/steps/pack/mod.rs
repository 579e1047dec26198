//! All slots into coefficients, in one level.

mod ciphertexts;
mod cost;

pub use ciphertexts::EncodedPack;

use crate::error::Error;
use crate::step::{Encoded, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::ops::KeyStream;
use aglet_rlwe::wire::primes;
use aglet_rlwe::Params;
use aglet_schemes::ckks::approximate::{check_scale, same_scale};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};

/// The chain level that packing begins at.
pub const PACK_LEVEL: usize = 1;

/// Limbs of what is packed.
const LIMBS: usize = PACK_LEVEL + 1;

/// Sums of giant steps that are made side by side: the steps of one go one after the other.
const PARTS: usize = 4;

/// Moves all slots of the ring into its coefficients at once: coefficient `i` becomes the real part of slot `i`, and `i + N/2` its
/// imaginary part. Takes one level, from chain level 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pack {
    /// Every number is multiplied by this.
    pub factor: f64,
    /// Output scale over input scale.
    pub scale_ratio: f64,
}

/// The baby and giant steps of a [`Pack`], for plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackShape {
    /// Baby steps, of which the first does not rotate.
    pub babies: usize,
    /// Giant steps, of which the first does not rotate.
    pub giants: usize,
    /// Bytes of the encoded diagonals.
    pub matrix_bytes: usize,
}

impl PackShape {
    /// That on a set of parameters.
    ///
    /// # Errors
    /// Limbs that the parameters lack.
    pub fn of(params: &Params) -> Result<Self, SchemeError> {
        let slots = params.n() / 2;
        let babies = 1usize << slots.ilog2().div_ceil(2);
        let (giants, moduli) = (slots / babies, primes(params, LIMBS, 0)?);
        let one = KeyStream::forecast(params.n(), moduli.iter().map(|(_, m)| m), babies, 1);
        Ok(Self { babies, giants, matrix_bytes: giants * one })
    }
    /// The giant steps of each sum, the first and the one behind the last.
    fn parts(&self) -> Vec<(usize, usize)> {
        // At least two: the first step of all does not rotate and has no special limbs.
        let count = (self.giants / 2).clamp(1, PARTS);
        (0..count).map(|i| (i * self.giants / count, (i + 1) * self.giants / count)).collect()
    }
    /// All rotations that need a key: to the left.
    pub fn rotations(&self) -> Vec<usize> {
        (1..self.babies).chain((1..self.giants).map(|g| g * self.babies)).collect()
    }
}

/// Evaluators that can move all slots into coefficients.
pub trait Packing: Approximate {
    /// A [`Pack`] that is encoded.
    type Packed: Send + Sync + 'static;

    /// Encodes a [`Pack`].
    ///
    /// # Errors
    /// [`SchemeError::InvalidScale`], a key that is missing.
    fn encode_pack(&self, pack: &Pack) -> Result<Self::Packed, SchemeError>;

    /// Packs ciphertexts, which may share the reading of keys and diagonals.
    ///
    /// # Errors
    /// [`SchemeError::LevelTooLow`], a key that is missing.
    fn pack(&self, of: &[Self::Ciphertext], by: &Self::Packed) -> Result<Vec<Self::Ciphertext>, SchemeError>;
}

/// Coefficient `i` becomes the real part of slot `i`, coefficient `i + N/2` its imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackSlots(pub Pack);

impl Step for PackSlots {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == PACK_LEVEL && to.level + 1 == from.level && same_scale(to.scale, from.scale * self.0.scale_ratio)
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::rotations(params, PACK_LEVEL + 1, PackShape::of(params)?.rotations())
    }
    fn describe(&self, params: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let shape = PackShape::of(params)?;
        let (diagonals, megabytes) = (shape.babies * shape.giants, shape.matrix_bytes as f64 / 1e6);
        Ok(format!("{diagonals} diagonals, {megabytes:.1} MB"))
    }
    fn encoded_bytes(&self, params: &Params, _: &[KeyNeed]) -> Result<usize, Error> {
        Ok(PackShape::of(params)?.matrix_bytes)
    }
}

impl<E: Packing> RunOn<E> for PackSlots {
    fn encode(&self, e: &E) -> Result<Option<Encoded<E::Transform>>, Error> {
        Ok(Some(Encoded::Own(Box::new(e.encode_pack(&self.0)?))))
    }
    fn run_on(&self, e: &E, Run { cts, encoded, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.pack(cts, Encoded::own::<E::Packed>(encoded)?)?)
    }
}

impl Packing for ClearEvaluator {
    type Packed = Pack;

    fn encode_pack(&self, pack: &Pack) -> Result<Pack, SchemeError> {
        self.check_level(PACK_LEVEL)?;
        check_scale(pack.scale_ratio)?;
        Ok(*pack)
    }
    fn pack(&self, of: &[ClearCiphertext], by: &Pack) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let one = |ct: &ClearCiphertext| {
            if self.level(ct) < PACK_LEVEL {
                return Err(SchemeError::LevelTooLow { required: PACK_LEVEL, actual: self.level(ct) });
            }
            let mut values: Vec<_> = ct.values().iter().map(|v| v * by.factor).collect();
            self.fft().forward(&mut values);
            self.encrypt(&values, PACK_LEVEL - 1, self.scale(ct) * by.scale_ratio)
        };
        of.iter().map(one).collect()
    }
}

impl Packing for NoisyEvaluator {
    type Packed = Pack;

    fn encode_pack(&self, pack: &Pack) -> Result<Pack, SchemeError> {
        self.clear().encode_pack(pack)
    }
    /// Baby steps are divided on their own, so each of N/2 terms has a rounding and a key switch of the size of an input; and each diagonal is
    /// rounded, which a uniform message of the size that the factor brings to 1 meets.
    fn pack(&self, of: &[ClearCiphertext], by: &Pack) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let (n, switched, rounding) = (self.noise().n as f64, self.switched(PACK_LEVEL), self.noise().rounding());
        let diagonal = by.scale_ratio * self.modulus(PACK_LEVEL) * by.factor;
        let gain = (n / 2.0) * by.factor * by.factor * (1.0 + rounding / switched);
        let noisy = |(out, ct): (ClearCiphertext, &ClearCiphertext)| {
            // At the scale of the result, relative to what the rotations add at the scale of the input.
            let ratio = self.scale(&out) / self.scale(ct);
            let off = n / 72.0 / (diagonal * diagonal) * self.scale(&out).powi(2);
            self.disturbed(out, switched * gain * ratio * ratio + off, rounding)
        };
        Ok(self.clear().pack(of, by)?.into_iter().zip(of).map(noisy).collect())
    }
}
