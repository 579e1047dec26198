//! Linear maps on ciphertexts: double hoisting (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, eprint 2020/1203) with
//! Horner giant steps and diagonals compressed to their subring.
//!
//! `c1` is decomposed once. Its products with the baby-step keys stay modulo QP, are multiplied by the diagonals there and
//! summed, so that a giant step divides by P once, and the whole map rounds once more at its end, together with the rescale.
//! A diagonal of period p is a polynomial in X^(N/2p): its values are constant on runs of N/2p words, and only 2p of them
//! are stored.

use super::encode::subring_coefficients;
use super::evaluator::CkksEvaluator;
use super::keys::missing;
use super::stated::{in_slots, rounding};
use super::{CkksCiphertext, Plaintext};
use crate::approximate::check_scale;
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use crate::samples::linear;
use crate::Error;
use aglet_ring::automorphism::{rotation_exponent, Automorphism};
use aglet_ring::fft::SpecialFft;
use aglet_ring::ops::{Diagonals, MapInput};
use aglet_ring::{Digits, Eval, KeyProduct, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, divide, lift_by_special};
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySwitchSpec, SwitchingKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// What a linear map needs at a level, without its numbers: for plans.
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
    pub fn key_bytes(&self, n: usize) -> usize {
        self.rotations().len() * self.spec.byte_count(n)
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

/// A linear map encoded for one level.
pub struct CkksTransform {
    slots: usize,
    level: usize,
    scale_ratio: f64,
    spec: KeySwitchSpec,
    giant: Option<usize>,
    /// Rotations of the baby steps, 0 for the ciphertext itself.
    babies: Vec<usize>,
    diagonals: Diagonals,
    /// The sum of the largest values of the diagonals, and the error of their encoding.
    gain: f64,
    error: f64,
}

impl CkksTransform {
    /// Bytes of the encoded diagonals.
    pub fn byte_count(&self) -> usize {
        self.diagonals.byte_count()
    }
    /// The level it starts from.
    pub fn level(&self) -> usize {
        self.level
    }
}

pub(super) fn encode(
    e: &CkksEvaluator<'_>,
    map: &LinearMap,
    level: usize,
    scale_ratio: f64,
    shape: Option<&KeySwitchSpec>,
) -> Result<CkksTransform, Error> {
    let ctx = e.context();
    let (ring, max) = (ctx.ring(), ctx.ring().q_count() - 1);
    check_scale(scale_ratio)?;
    if level == 0 {
        return Err(Error::LevelTooLow { required: 1, actual: 0 });
    }
    if level > max {
        return Err(Error::NoSuchLevel { level, max });
    }
    if map.slots() > ring.n() / 2 {
        return Err(Error::SlotMismatch { expected: ring.n() / 2, found: map.slots() });
    }
    let (rotations, steps) = (map.rotations(), map.giant_steps());
    // The diagonals have the special limbs of the keys that are there.
    let held = rotations.0.iter().chain(&rotations.1).next().and_then(|&by| {
        let galois = rotation_exponent(by as isize, ring.n());
        e.keys().find(KeyRole::Galois(galois), level + 1).map(|key| key.spec().cut(level + 1))
    });
    let spec = match shape.map(|spec| spec.cut(level + 1)).or(held) {
        Some(spec) => spec,
        None => KeySwitchSpec::balanced(ctx.params(), level + 1)?,
    };
    let babies: BTreeSet<usize> = steps.iter().flat_map(|s| s.terms.iter().map(|t| t.0)).chain([0]).collect();
    let babies: Vec<usize> = babies.into_iter().collect();
    let mut ffts = BTreeMap::new();
    let scale = scale_ratio * ctx.modulus(level);
    let mut entries = Vec::with_capacity(steps.len() * babies.len());
    let (mut gain, mut count) = (0.0, 0.0);
    for step in &steps {
        let start = entries.len();
        entries.extend(babies.iter().map(|_| None));
        for (rotation, values) in &step.terms {
            e.check_stop()?;
            let fft = ffts.entry(values.len()).or_insert_with(|| SpecialFft::new(values.len()));
            let coefficients = subring_coefficients(fft, values, scale)?;
            gain += values.iter().map(|z| z.norm_sqr()).fold(0.0, f64::max).sqrt();
            count += 1.0;
            let place = babies.binary_search(rotation).unwrap_or(0);
            entries[start + place] = Some(ring.diagonal(&coefficients, (spec.q_limbs, spec.p_limbs))?);
        }
    }
    let diagonals = Diagonals::new(babies.len(), entries);
    // Roundings of different diagonals have nothing to do with each other.
    let error = f64::sqrt(count) * Plaintext::encoding_error(map.slots(), scale);
    Ok(CkksTransform {
        slots: map.slots(),
        level,
        scale_ratio,
        spec,
        giant: rotations.1,
        babies,
        diagonals,
        gain,
        error,
    })
}

/// Looks up the key of a rotation and checks that it has the shape the diagonals were made for.
fn key_of<'a>(
    e: &CkksEvaluator<'a>,
    t: &CkksTransform,
    ct: &CkksCiphertext,
    by: usize,
) -> Result<(&'a SwitchingKey, Arc<Automorphism>), Error> {
    let galois = rotation_exponent(by as isize, e.context().ring().n());
    let role = KeyRole::Galois(galois);
    let key = e.key(role, t.level + 1)?;
    if key.spec().p_limbs != t.spec.p_limbs || key.spec().digits.len() < t.spec.digits.len() {
        return Err(missing(role, t.level + 1, e.context().ring().n()));
    }
    e.own(key, ct)?;
    Ok((key, e.context().ring().automorphism(galois)))
}

/// Applies a map to several ciphertexts, which meet in the kernels: keys and diagonals are read once.
pub(super) fn transforms(
    e: &CkksEvaluator<'_>,
    of: &[CkksCiphertext],
    t: &CkksTransform,
) -> Result<Vec<CkksCiphertext>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    let ctx = e.context();
    if t.slots != e.slots() {
        return Err(Error::SlotMismatch { expected: e.slots(), found: t.slots });
    }
    if let Some(low) = of.iter().find(|ct| ct.level() < t.level) {
        return Err(Error::LevelTooLow { required: t.level, actual: low.level() });
    }
    of.iter().try_for_each(|ct| e.same_key(first, ct))?;
    let keys: Vec<Option<(&SwitchingKey, Arc<Automorphism>)>> = t
        .babies
        .iter()
        .map(|&by| if by == 0 { Ok(None) } else { key_of(e, t, first, by).map(Some) })
        .collect::<Result<_, _>>()?;
    let giant = t.giant.map(|by| key_of(e, t, first, by)).transpose()?;
    let spec = keys.iter().flatten().chain(&giant).next().map_or(&t.spec, |(key, _)| key.spec());
    let mut inputs = of.iter().map(|ct| input(e, ct, t.level, spec)).collect::<Result<Vec<_>, _>>()?;
    let words: Vec<_> = keys.iter().map(|k| k.as_ref().map(|(key, phi)| (key.words(), &**phi))).collect();
    let mut last: Vec<Pair> = Vec::new();
    for steps in giant_steps_at_once(words.iter().flatten().count(), t.diagonals.giants()) {
        let lent: Vec<_> = inputs.iter().map(Input::lent).collect();
        let mut sums = ctx.ring().linear_map(&lent, &words, &t.diagonals, steps.clone())?;
        if steps.start == 0 {
            inputs.clear();
        }
        while let Some(inner) = sums.pop() {
            last = match (&giant, last.is_empty()) {
                (_, true) => inner,
                (Some(giant), _) => giant_step(e, giant, &last, &inner)?,
                (None, _) => return Err(Error::MissingKey { what: "giant-step key".into() }),
            };
        }
    }
    if last.is_empty() {
        return Err(Error::zero_map(t.slots));
    }
    let finish = |(ct, pair): (&CkksCiphertext, &Pair)| {
        let scale = ct.scale * t.scale_ratio;
        let turned = ct.stated.disturbed(in_slots(ct.slots, spec.noise(ctx.params(), t.level + 1), ct.scale));
        let stated = turned.times(t.gain, t.error).disturbed(in_slots(ct.slots, 2.0 * rounding(ctx, 2), scale));
        Ok(Arc::new(ct.with(e.divided(pair, 1)?, scale).stating(stated)))
    };
    of.iter().zip(&last).map(finish).collect()
}

/// Giant steps whose inner sums are made at once, the last first: as many as lie there at a time. The products with the keys of
/// the baby steps are made anew for each, so with more keys there are more; eight for a key make it a product in fifty.
pub(crate) fn giant_steps_at_once(keys: usize, giants: usize) -> impl Iterator<Item = Range<usize>> {
    let most = 8 * keys.max(1);
    (0..giants.div_ceil(most)).rev().map(move |i| i * most..giants.min((i + 1) * most))
}

/// By Horner's rule: the sums so far, rotated by a giant step, and the inner sums of the step below.
fn giant_step(
    e: &CkksEvaluator<'_>,
    (key, phi): &(&SwitchingKey, Arc<Automorphism>),
    last: &[Pair],
    inner: &[Pair],
) -> Result<Vec<Pair>, Error> {
    e.check_stop()?;
    let ctx = e.context();
    let digits = {
        let c1 = divide(ctx, &last.iter().map(|(_, a)| a).collect::<Vec<_>>(), 0)?;
        digits(ctx, key.spec(), &c1.iter().collect::<Vec<_>>())?
    };
    let steps = digits.iter().zip(last).zip(inner).map(|((digits, (b, _)), (x, y))| {
        let (added_before, added_after) = (Some(b), Some((x, y)));
        KeyProduct { digits, added_before, added_after }
    });
    Ok(ctx.ring().key_products(&steps.collect::<Vec<_>>(), key.words(), Some(phi))?)
}

/// A ciphertext as a map takes it: the digits of `c1`, and `P c0` and `P c1`.
struct Input {
    digits: Vec<Digits>,
    lifted: Vec<Poly<Eval>>,
}

impl Input {
    fn lent(&self) -> MapInput<'_> {
        MapInput { digits: &self.digits[0], lifted: (&self.lifted[0], &self.lifted[1]) }
    }
}

fn input(e: &CkksEvaluator<'_>, ct: &CkksCiphertext, level: usize, spec: &KeySwitchSpec) -> Result<Input, Error> {
    e.check_stop()?;
    if level > ct.level() {
        return Err(Error::LevelTooLow { required: level, actual: ct.level() });
    }
    let (ctx, [c0, c1]) = (e.context(), linear(ct)?.map(|poly| poly.prefix(level + 1)));
    let lifted = lift_by_special(ctx, &[&c0, &c1], spec.p_limbs)?;
    Ok(Input { digits: digits(ctx, spec, &[&c1])?, lifted })
}
