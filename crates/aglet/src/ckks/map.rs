//! Linear maps of users, given by diagonals: hoisted baby steps and giant steps, with a fixed rotation key for each.

use crate::ckks::arithmetic::at_scale;
use crate::ckks::engine::{Engine, FixedRotationKey};
use crate::ckks::matrix::Sums;
use crate::ckks::Ciphertext;
use crate::runtime::machine::check_memory;
use crate::{Control, Error, LevelError, RangeError};
use aglet_rlwe::{KeySet, KeySwitchSpec};
use aglet_schemes::ckks::approximate::same_scale;
use aglet_schemes::ckks::CkksTransform;
use aglet_schemes::linear_map::GiantStep;
use aglet_schemes::Evaluator;
use num_complex::Complex64;

/// A giant step of a map, by Horner's rule from the last to the first: the sum so far is rotated by the key of the step
/// before it, and the products of this step are added.
pub struct MapStep<'a> {
    /// Rotates the sum of this step to that of the step below it; None for the first.
    pub turn: Option<&'a FixedRotationKey>,
    /// A baby step and the diagonal that the rotated ciphertext is multiplied by, one period of it, rotated back by all
    /// turns from this step down. None stands for the ciphertext itself.
    pub terms: Vec<(Option<&'a FixedRotationKey>, Vec<Complex64>)>,
}

impl<'a> MapStep<'a> {
    fn keys(&self) -> impl Iterator<Item = &'a FixedRotationKey> + '_ {
        self.terms.iter().filter_map(|term| term.0).chain(self.turn)
    }
}

/// A map of a user for one user level and its keys, encoded, or for one use as integer coefficients.
pub struct EncodedMap {
    transform: CkksTransform,
    level: usize,
    /// Of the ciphertexts that it is for.
    scale: f64,
    real: bool,
    sums: Sums,
}

impl EncodedMap {
    /// The user level of the ciphertexts that it is for.
    pub fn level(&self) -> usize {
        self.level
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.transform.byte_count()
    }
}

impl Engine {
    /// Bytes in memory of a fixed rotation key for user levels up to `level`.
    ///
    /// # Errors
    /// [`Error::Level`] for a level that does not exist.
    pub fn fixed_rotation_key_bytes(&self, level: usize) -> Result<u64, Error> {
        let limbs = self.params().chain_level(self.check_level(level)?) + 1;
        Ok(KeySwitchSpec::balanced(self.params(), limbs)?.byte_count(self.params())? as u64)
    }

    /// Encodes a map for ciphertexts of a user level, to be used again and again. `real` says that every diagonal is real, and the
    /// result is marked so.
    ///
    /// # Errors
    /// [`Error::Range`] without a term, for a diagonal that is not finite or whose length is no period, [`Error::Level`] at level 0 or
    /// above that of a key, [`Error::Memory`] before anything is encoded, [`Error::Cancelled`].
    pub fn encode_map(
        &self,
        steps: &[MapStep<'_>],
        real: bool,
        level: usize,
        control: &Control,
    ) -> Result<EncodedMap, Error> {
        let (map, limbs) = self.map_coefficients(steps, real, level, control)?;
        check_memory("this linear map", (map.byte_count() * limbs) as u64)?;
        let keys = KeySet::new();
        self.fits_diagonals("this linear map", [&map.transform])?;
        let transform = self.run(|| Ok(map.transform.encoded(&self.evaluator(&keys, Some(control)))?))?;
        Ok(EncodedMap { transform, ..map })
    }

    /// The same map, to be used once: its diagonals are encoded limb by limb while it is applied, which takes less memory.
    ///
    /// # Errors
    /// As [`Engine::encode_map`].
    pub fn prepare_map(
        &self,
        steps: &[MapStep<'_>],
        real: bool,
        level: usize,
        control: &Control,
    ) -> Result<EncodedMap, Error> {
        Ok(self.map_coefficients(steps, real, level, control)?.0)
    }

    /// The map, and the limbs of its diagonals.
    fn map_coefficients(
        &self,
        steps: &[MapStep<'_>],
        real: bool,
        level: usize,
        control: &Control,
    ) -> Result<(EncodedMap, usize), Error> {
        let level = self.check_level(level)?;
        let Some(below) = level.checked_sub(1) else {
            return Err(LevelError::Encoding { what: "A linear map", operand: "the map" }.into());
        };
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level));
        let keys: Vec<&FixedRotationKey> = steps.iter().flat_map(MapStep::keys).collect();
        let spec = match keys.first() {
            Some(key) => key.key.key.spec().clone(),
            None => KeySwitchSpec::balanced(self.params(), chain + 1)?,
        };
        if let Some(key) = keys.iter().find(|key| key.limbs() != spec.q_limbs || chain >= key.limbs()) {
            return Err(LevelError::RotationKey { most: key.limbs() - 1 - self.params().hidden_levels(), level }.into());
        }
        let sums = self.map_sums(steps)?;
        let cut = spec.cut(chain + 1);
        let words: usize = steps.iter().flat_map(|step| &step.terms).map(|term| 2 * term.1.len()).sum();
        // The coefficients, and for each thread those of one limb.
        check_memory("this linear map", (words * (1 + self.threads()) * 8) as u64)?;
        let rotation = |key: Option<&FixedRotationKey>| key.map_or(0, |key| self.left(key));
        let giants = steps.iter().map(|step| GiantStep {
            rotation: rotation(step.turn),
            terms: step.terms.iter().map(|(key, diagonal)| (rotation(*key), diagonal.clone())).collect(),
        });
        let (giants, keys) = (giants.collect::<Vec<_>>(), KeySet::new());
        let transform = self.run(|| {
            let ratio = self.params().scale_at(below) / scale;
            Ok(self.evaluator(&keys, Some(control)).transform_for(&spec, &giants, chain, ratio)?)
        })?;
        Ok((EncodedMap { transform, level, scale, real, sums }, cut.q_limbs + cut.p_limbs))
    }

    /// `sum diagonal * rotated ciphertext`, one level lower, with one rescale. The keys are those that the map was encoded for.
    ///
    /// # Errors
    /// [`Error::Level`] for a ciphertext at another level, [`Error::MissingKey`], those of a key of another secret key,
    /// [`Error::Cancelled`].
    pub fn linear_map(
        &self,
        map: &EncodedMap,
        ct: &Ciphertext,
        keys: &[&FixedRotationKey],
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let below = self.spend_many(ct, 1, "A linear map")?;
        if below + 1 != map.level || !same_scale(ct.scale, map.scale) {
            return Err(LevelError::Matrix { what: "map", encoded: map.level, level: below + 1 }.into());
        }
        keys.iter().try_for_each(|key| self.check_rotation(ct, key))?;
        let held: KeySet = keys.iter().map(|key| key.key.with_role()).collect();
        let there = Some(map.transform.card_bytes_there());
        self.fits_map(("a linear map", there), (&held, 1), ct, || Ok(vec![(0, map.transform.cost())]))?;
        let made = self.run(|| Ok(self.evaluator(&held, Some(control)).transform(ct, &map.transform)?))?;
        Ok(self.told(at_scale(made, self.params().scale_at(below)), map.sums.known(ct), ct.real && map.real))
    }

    /// The rotation to the left, of the whole ring, that a key makes.
    fn left(&self, key: &FixedRotationKey) -> usize {
        let all = self.params().slots();
        (all - key.delta.rem_euclid(self.slots() as i64) as usize) % all
    }

    /// The largest sums of a map's rows and columns, which repeat with the longest period.
    fn map_sums(&self, steps: &[MapStep<'_>]) -> Result<Sums, Error> {
        let slots = self.slots();
        let diagonals = || steps.iter().flat_map(|step| &step.terms).map(|term| &term.1);
        if let Some(bad) = diagonals().find(|d| !d.len().is_power_of_two() || d.len() > slots) {
            return Err(RangeError::Diagonal { length: bad.len(), slots }.into());
        }
        if let Some(bad) = diagonals().flatten().find(|z| !z.is_finite()) {
            return Err(RangeError::NoneFinite { what: "entry of a diagonal", value: bad.to_string() }.into());
        }
        let Some(period) = diagonals().map(Vec::len).max() else {
            return Err(RangeError::EmptyMap.into());
        };
        let (mut rows, mut columns, mut turned) = (vec![0.0; period], vec![0.0; period], 0);
        for step in steps {
            turned += step.turn.map_or(0, |key| self.left(key));
            for (baby, diagonal) in &step.terms {
                let by = turned + baby.map_or(0, |key| self.left(key));
                for (j, row) in rows.iter_mut().enumerate() {
                    let size = diagonal[(j + turned) % diagonal.len()].norm();
                    *row += size;
                    columns[(j + by) % period] += size;
                }
            }
        }
        let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
        Ok(Sums { row: largest(&rows), column: largest(&columns), slots: slots as f64 })
    }
}
