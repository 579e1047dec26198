//! Linear maps on samples, for every scheme: double hoisting (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, eprint 2020/1203) with
//! Horner giant steps and diagonals compressed to their subring.
//!
//! `c1` is decomposed once. Its products with the baby-step keys stay modulo QP, are multiplied by the diagonals there and
//! summed, so that a giant step divides by P once, and the whole map rounds once more at its end, together with the rescale.
//! A diagonal of period p is a polynomial in X^(N/2p): its values are constant on runs of N/2p words, and only 2p of them
//! are stored. What a diagonal is as a polynomial is all that a scheme says.

use crate::linear_map::GiantStep;
use crate::missing_keys::missing;
use crate::samples::{linear, SampleEvaluator};
use crate::scalar::Scalar;
use crate::Error;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent, Automorphism};
use aglet_ring::ops::{Diagonals, MapInput};
use aglet_ring::{Digits, Eval, KeyProduct, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, divide, lift_by_special};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Sample, SwitchingKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A key with the automorphism that it is for.
type KeyedAutomorphism<'a> = (&'a SwitchingKey, Arc<Automorphism>);

/// A linear map encoded for one level, and beside it, if there is one, a map whose result is conjugated: X -> X^-1, which
/// switches the rows of integers.
pub struct SampleMap {
    slots: usize,
    level: usize,
    spec: KeySwitchSpec,
    /// For each giant step the rotation to the step below it, 0 for the first of a map.
    giants: Vec<usize>,
    /// Rotations of the baby steps, 0 for the sample itself.
    babies: Vec<usize>,
    /// Giant steps of the map itself; those of the other follow.
    direct: usize,
    diagonals: Diagonals,
}

impl SampleMap {
    /// Maps on so many slots from their giant steps: the first is the map itself, the second the one whose result is
    /// conjugated. `shape` is that of the keys it will meet, if they are not there yet; `polynomial` gives the coefficients of a
    /// diagonal in X^(N / their number), two for each of its values.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] at level 0, [`Error::NoSuchLevel`], [`Error::SlotMismatch`], those of `polynomial`.
    pub fn new<S: Scalar + Sync>(
        e: &SampleEvaluator<'_>,
        (slots, maps): (usize, &[&[GiantStep<S>]]),
        level: usize,
        shape: Option<&KeySwitchSpec>,
        polynomial: impl Fn(&[S]) -> Result<Vec<i64>, Error> + Sync,
    ) -> Result<Self, Error> {
        let ctx = e.context();
        let (ring, max) = (ctx.ring(), ctx.ring().q_count() - 1);
        let direct = maps.first().ok_or(Error::zero_map(slots))?.len();
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        if slots > ring.n() / 2 {
            return Err(Error::SlotMismatch { expected: ring.n() / 2, found: slots });
        }
        let steps: Vec<&GiantStep<S>> = maps.iter().copied().flatten().collect();
        let babies: BTreeSet<usize> = steps.iter().flat_map(|s| s.terms.iter().map(|t| t.0)).chain([0]).collect();
        let babies: Vec<usize> = babies.into_iter().collect();
        let giants: Vec<usize> = steps.iter().map(|step| step.rotation).collect();
        // The diagonals have the special limbs of the keys that are there.
        let held = babies.iter().chain(&giants).find(|&&by| by != 0).and_then(|&by| {
            let galois = rotation_exponent(by as isize, ring.n());
            e.keys().find(KeyRole::Galois(galois), level + 1).map(|key| key.spec().cut(level + 1))
        });
        let spec = match shape.map(|spec| spec.cut(level + 1)).or(held) {
            Some(spec) => spec,
            None => KeySwitchSpec::balanced(ctx.params(), level + 1)?,
        };
        let mut entries: Vec<Option<&[S]>> = vec![None; steps.len() * babies.len()];
        for (step, row) in steps.iter().zip(entries.chunks_exact_mut(babies.len())) {
            for (rotation, values) in &step.terms {
                row[babies.binary_search(rotation).unwrap_or(0)] = Some(values);
            }
        }
        let words: Vec<_> = entries.iter().map(|values| values.map(|values| 2 * values.len())).collect();
        let diagonals = ring.diagonals(babies.len(), &words, (spec.q_limbs, spec.p_limbs), |k| {
            e.check_stop()?;
            polynomial(entries[k].unwrap_or_default())
        })?;
        Ok(Self { slots, level, spec, giants, babies, direct, diagonals })
    }

    /// The same, with the diagonals encoded for all limbs: for a map that is applied again and again. Without it, each application encodes
    /// them limb by limb, and the map takes a word for a coefficient.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn encoded(self, e: &SampleEvaluator<'_>) -> Result<Self, Error> {
        Ok(Self { diagonals: e.context().ring().encoded(self.diagonals)?, ..self })
    }

    /// Bytes of the diagonals.
    pub fn byte_count(&self) -> usize {
        self.diagonals.byte_count()
    }
    /// Bytes of the diagonals on a card, which has them encoded.
    pub fn card_bytes(&self) -> usize {
        self.diagonals.card_bytes()
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        self.diagonals.card_bytes_there()
    }
    /// The level it starts from.
    pub fn level(&self) -> usize {
        self.level
    }
    /// Diagonals that are not all zeros.
    pub(crate) fn diagonal_count(&self) -> usize {
        self.diagonals.count()
    }
    /// The shape of the keys that it meets.
    pub(crate) fn spec(&self) -> &KeySwitchSpec {
        &self.spec
    }
    /// Rotations of the baby steps, without 0, and of the giant steps, 0 for the first of a map.
    pub(crate) fn steps(&self) -> (Vec<usize>, &[usize]) {
        (self.babies.iter().copied().filter(|&by| by != 0).collect(), &self.giants)
    }
    /// Slots that it is on.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Looks up the key of an automorphism and checks that it has the shape the diagonals were made for.
    fn key_of<'a>(
        &self,
        e: &SampleEvaluator<'a>,
        sample: &Sample,
        galois: u64,
    ) -> Result<KeyedAutomorphism<'a>, Error> {
        let role = KeyRole::Galois(galois);
        let key = e.key(role, self.level + 1)?;
        if key.spec().p_limbs != self.spec.p_limbs || key.spec().digits.len() < self.spec.digits.len() {
            return Err(missing(role, self.level + 1, e.context().ring().n()));
        }
        e.own(key, sample)?;
        Ok((key, e.context().ring().automorphism(galois)))
    }

    /// Applies the map to several samples, which meet in the kernels: keys and diagonals are read once. The results are modulo QP,
    /// with the shape of the keys that they met.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`], samples of two keys, a key that is missing.
    pub fn apply<'a>(
        &'a self,
        e: &SampleEvaluator<'a>,
        of: &[&Sample],
    ) -> Result<(Vec<Pair>, &'a KeySwitchSpec), Error> {
        let Some(first) = of.first() else { return Ok((Vec::new(), &self.spec)) };
        let (ctx, n) = (e.context(), e.context().ring().n());
        if let Some(low) = of.iter().find(|x| x.limbs() <= self.level) {
            return Err(Error::LevelTooLow { required: self.level, actual: low.limbs() - 1 });
        }
        of.iter().try_for_each(|x| e.same_key(first, x))?;
        let key_at = |by: usize| self.key_of(e, first, rotation_exponent(by as isize, n));
        let keys: Vec<Option<KeyedAutomorphism<'_>>> = self
            .babies
            .iter()
            .map(|&by| if by == 0 { Ok(None) } else { key_at(by).map(Some) })
            .collect::<Result<_, _>>()?;
        let turns: BTreeSet<usize> = self.giants.iter().copied().filter(|&by| by != 0).collect();
        let turns: BTreeMap<usize, KeyedAutomorphism<'_>> =
            turns.into_iter().map(|by| Ok((by, key_at(by)?))).collect::<Result<_, Error>>()?;
        let spec = keys.iter().flatten().chain(turns.values()).next().map_or(&self.spec, |(key, _)| key.spec());
        let mut inputs = of.iter().map(|x| input(e, x, self.level, spec)).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<_> = keys.iter().map(|k| k.as_ref().map(|(key, phi)| (key.words(), &**phi))).collect();
        // Horner's rule over giant steps, from the last down.
        let mut horner = |giants: Range<usize>, last_of_all: bool| -> Result<Vec<Pair>, Error> {
            let mut last: Vec<Pair> = Vec::new();
            for steps in giant_steps_at_once(words.iter().flatten().count(), giants.len()) {
                let steps = giants.start + steps.start..giants.start + steps.end;
                let lent: Vec<_> = inputs.iter().map(Input::lent).collect();
                let sums = ctx.ring().linear_map(&lent, &words, &self.diagonals, steps.clone())?;
                if last_of_all && steps.start == giants.start {
                    inputs.clear();
                }
                for (at, inner) in steps.zip(sums).rev() {
                    last = match (last.is_empty(), self.giants.get(at + 1).and_then(|by| turns.get(by))) {
                        (true, _) => inner,
                        (_, Some(giant)) => giant_step(e, giant, &last, &inner)?,
                        (_, None) => return Err(Error::MissingKey { what: "giant-step key".into() }),
                    };
                }
            }
            Ok(last)
        };
        let other = horner(self.direct..self.diagonals.giants(), false)?;
        let mut out = horner(0..self.direct, true)?;
        if !other.is_empty() {
            out = giant_step(e, &self.key_of(e, first, conjugation_exponent(n))?, &other, &out)?;
        }
        match out.is_empty() {
            true => Err(Error::zero_map(self.slots)),
            false => Ok((out, spec)),
        }
    }
}

/// Giant steps whose inner sums are made at once, the last first: as many as lie there at a time. The products with the keys of
/// the baby steps are made anew for each, so with more keys there are more; eight for a key make it a product in fifty.
pub(crate) fn giant_steps_at_once(keys: usize, giants: usize) -> impl Iterator<Item = Range<usize>> {
    let most = 8 * keys.max(1);
    (0..giants.div_ceil(most)).rev().map(move |i| i * most..giants.min((i + 1) * most))
}

/// By Horner's rule: the sums so far, rotated by a giant step, and the inner sums of the step below.
fn giant_step(
    e: &SampleEvaluator<'_>,
    (key, phi): &KeyedAutomorphism<'_>,
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

/// A sample as a map takes it: the digits of `c1`, and `P c0` and `P c1`.
struct Input {
    digits: Vec<Digits>,
    lifted: Vec<Poly<Eval>>,
}

impl Input {
    fn lent(&self) -> MapInput<'_> {
        MapInput { digits: &self.digits[0], lifted: (&self.lifted[0], &self.lifted[1]) }
    }
}

fn input(e: &SampleEvaluator<'_>, x: &Sample, level: usize, spec: &KeySwitchSpec) -> Result<Input, Error> {
    e.check_stop()?;
    let (ctx, [c0, c1]) = (e.context(), linear(x)?.map(|poly| poly.prefix(level + 1)));
    let lifted = lift_by_special(ctx, &[&c0, &c1], spec.p_limbs)?;
    Ok(Input { digits: digits(ctx, spec, &[&c1])?, lifted })
}
