//! Linear maps on ciphertexts: [`SampleMap`] with scales, and the tracking of their errors.

use super::approximate::check_scale;
use super::cost::CostTransform;
use super::encode::subring_coefficients;
use super::evaluator::CkksEvaluator;
use super::stated::{in_slots, rounding};
use super::{CkksCiphertext, Plaintext};
use crate::evaluator::Evaluator;
use crate::linear_map::{GiantStep, LinearMap};
use crate::sample_map::SampleMap;
use crate::Error;
use aglet_ring::fft::SpecialFft;
use aglet_ring::Pair;
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeySwitchSpec, Sample};
use num_complex::Complex64;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The shape of a linear map at a level, without its numbers, for plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformShape {
    /// The level it starts from.
    pub level: usize,
    /// Rotations of the baby steps, without 0.
    pub babies: Vec<usize>,
    /// The rotation of the giant steps, if there is more than one.
    pub giant: Option<usize>,
    /// Number of giant steps, at least 1.
    pub giant_steps: usize,
    /// The shape of every key.
    pub spec: KeySwitchSpec,
    /// Bytes of the encoded diagonals.
    pub matrix_bytes: usize,
}

impl TransformShape {
    /// All rotations that need a key.
    pub fn rotations(&self) -> Vec<usize> {
        self.babies.iter().copied().chain(self.giant).collect()
    }
    /// Bytes of all keys.
    pub fn key_bytes(&self, params: &Params) -> Result<usize, Error> {
        Ok(self.rotations().len() * self.spec.byte_count(params)?)
    }
}

/// The shape of `map` at `level`, with keys made for it or, if they are given, larger ones.
pub fn transform_shape(
    params: &Params,
    map: &LinearMap,
    level: usize,
    keys: Option<&KeySwitchSpec>,
) -> Result<TransformShape, Error> {
    let spec = keys.map_or_else(|| KeySwitchSpec::balanced(params, level + 1), |spec| Ok(spec.cut(level + 1)))?;
    let (babies, giant) = map.rotations();
    let words: usize = map.diagonals().values().map(|d| (2 * d.len()).min(params.n())).sum();
    let matrix_bytes = words * (spec.q_limbs + spec.p_limbs) * 8;
    Ok(TransformShape { level, babies, giant, giant_steps: map.giant_step_count(), spec, matrix_bytes })
}

/// A linear map for one level.
pub struct CkksTransform {
    map: SampleMap,
    scale_ratio: f64,
    /// The sum of the largest values of the diagonals, and the error of their encoding.
    gain: f64,
    error: f64,
}

impl CkksTransform {
    /// With the diagonals encoded for all limbs, for a map that is applied again and again.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn encoded(self, e: &CkksEvaluator<'_>) -> Result<Self, Error> {
        Ok(Self { map: self.map.encoded(e)?, ..self })
    }
    /// Bytes of the diagonals.
    pub fn byte_count(&self) -> usize {
        self.map.byte_count()
    }
    /// Bytes of the diagonals on a card, which has them encoded.
    pub fn card_bytes(&self) -> usize {
        self.map.card_bytes()
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        self.map.card_bytes_there()
    }
    /// The same map without values.
    pub fn cost(&self) -> CostTransform {
        CostTransform::of(&self.map, self.scale_ratio)
    }
}

pub(super) fn transform(
    e: &CkksEvaluator<'_>,
    (slots, steps): (usize, &[GiantStep]),
    level: usize,
    scale_ratio: f64,
    shape: Option<&KeySwitchSpec>,
) -> Result<CkksTransform, Error> {
    check_scale(scale_ratio)?;
    let scale = scale_ratio * e.context().modulus(level);
    let diagonals: Vec<_> = steps.iter().flat_map(|step| step.terms.iter().map(|term| &term.1)).collect();
    let lengths: BTreeSet<usize> = diagonals.iter().map(|d| d.len()).collect();
    let ffts: BTreeMap<_, _> = lengths.into_iter().map(|length| (length, SpecialFft::new(length))).collect();
    let largest = |d: &Vec<Complex64>| d.iter().map(Complex64::norm_sqr).fold(0.0, f64::max).sqrt();
    let gain = diagonals.iter().map(|d| largest(d)).sum();
    let polynomial = |values: &[_]| subring_coefficients(&ffts[&values.len()], values, scale);
    let map = SampleMap::new(e, (slots, &[steps]), level, shape, polynomial)?;
    // Roundings of different diagonals have nothing to do with each other.
    let error = (diagonals.len() as f64).sqrt() * Plaintext::encoding_error(slots, scale);
    Ok(CkksTransform { map, scale_ratio, gain, error })
}

/// Applies a map to several ciphertexts, which meet in the kernels: keys and diagonals are read once.
pub(super) fn transforms(
    e: &CkksEvaluator<'_>,
    of: &[CkksCiphertext],
    t: &CkksTransform,
) -> Result<Vec<CkksCiphertext>, Error> {
    if t.map.slots() != e.slots() {
        return Err(Error::SlotMismatch { expected: e.slots(), found: t.map.slots() });
    }
    let samples: Vec<&Sample> = of.iter().map(|ct| &ct.sample).collect();
    let (sums, spec) = t.map.apply(e, &samples)?;
    let ctx = e.context();
    let finish = |(ct, pair): (&CkksCiphertext, &Pair)| {
        let scale = ct.scale * t.scale_ratio;
        let rotated = ct.stated.disturbed(in_slots(ct.slots, spec.noise(ctx.params(), t.map.level() + 1), ct.scale));
        let stated = rotated.times(t.gain, t.error).disturbed(in_slots(ct.slots, 2.0 * rounding(ctx, 2), scale));
        Ok(Arc::new(ct.with(e.divided(pair, 1)?, scale).stating(stated)))
    };
    of.iter().zip(&sums).map(finish).collect()
}
