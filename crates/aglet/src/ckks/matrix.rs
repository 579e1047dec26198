//! The product of a plaintext matrix and an encrypted vector: diagonals, hoisted baby steps, giant steps.
//!
//! A bootstrap encodes its few linear maps in advance. The diagonals of a user's matrix are encoded when they are
//! needed, a few giant steps at a time, so memory stays bounded for a dense matrix of any size.

use crate::ckks::arithmetic::{at_scale, check_owner};
use crate::ckks::card_maps::turns;
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::runtime::machine;
use crate::{Control, Error, LevelError, MemoryError, ParameterError, RangeError};
use aglet_circuits::matrix::{Matrix, MatrixCut, Run};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::{KeyId, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::cost::CostEvaluator;
use aglet_schemes::ckks::{CkksEvaluator, CkksTransform, Known, Number, Size};
use aglet_schemes::{Approximate, Evaluator};
use num_complex::Complex64;

/// Baby steps of a key unless asked otherwise: more make dense matrices faster and the key larger.
const BABY_STEPS: usize = 32;

/// Bytes of encoded diagonals that are held at a time.
const DIAGONAL_BYTES: usize = 1 << 29;

/// The rotation keys for [`Engine::multiply_matrix`]: the baby steps `1 .. b - 1`, and giant steps `b`, `2b`, `4b` and
/// so on.
pub struct MatrixKey {
    id: KeyId,
    baby: usize,
    spec: KeySwitchSpec,
    keys: KeySet,
}

impl MatrixKey {
    /// The secret key that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.keys.byte_count()
    }
    /// Bytes when stored with seeds.
    pub fn stored_bytes(&self) -> usize {
        self.keys.stored_bytes()
    }

    /// What determines its keys: baby steps and limbs.
    pub(crate) fn stored_words(&self) -> [u64; 2] {
        [self.baby as u64, self.spec.q_limbs as u64]
    }
    /// Its keys by Galois element.
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().map(|(_, key)| &**key).collect()
    }
    /// Makes the key from stored keys.
    pub(crate) fn from_stored(id: KeyId, baby: usize, spec: KeySwitchSpec, keys: KeySet) -> Self {
        Self { id, baby, spec, keys }
    }
}

/// A matrix whose diagonals are encoded for one user level and one shape of keys. It can be used again and again.
pub struct EncodedMatrix {
    baby: usize,
    limbs: usize,
    level: usize,
    /// Of the ciphertexts that it is for.
    scale: f64,
    real: bool,
    sums: Sums,
    /// By their first giant step; none for a matrix of zeros.
    runs: Vec<(usize, CkksTransform)>,
}

impl EncodedMatrix {
    /// The user level of the ciphertexts that it is for.
    pub fn level(&self) -> usize {
        self.level
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.runs.iter().map(|run| run.1.byte_count()).sum()
    }
}

/// The largest sums of absolute values in a row and in a column.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) row: f64,
    pub(crate) column: f64,
    pub(crate) slots: f64,
}

impl Sums {
    fn of<T: Number>(matrix: &Matrix<'_, T>, slots: usize) -> Self {
        let (mut row, mut columns) = (0.0, vec![0.0; matrix.columns]);
        for entries in matrix.entries.chunks(matrix.columns.max(1)) {
            let sizes = entries.iter().map(|&z| z.into().norm());
            row = sizes.clone().sum::<f64>().max(row);
            sizes.zip(&mut columns).for_each(|(size, sum)| *sum += size);
        }
        Self { row, column: columns.into_iter().fold(0.0, f64::max), slots: slots as f64 }
    }
    /// What is known of the product.
    pub(crate) fn known(&self, ct: &Ciphertext) -> Known {
        let size = ct.known.size;
        let by = |sum: f64, size: f64| if size.is_finite() { sum * size } else { size };
        let mean = by(self.row, size.most).min(by(self.column, size.mean));
        let most = by(self.row, size.most).min(mean * self.slots);
        Known::sized(Size { mean, rest: mean, doubtful: size.doubtful, ..Size::up_to(most) })
    }
}

/// The steps of a key: baby steps, and the powers of two times their number.
pub(crate) fn steps(baby: usize, slots: usize) -> Vec<usize> {
    (1..baby).chain((0..).map(|i| baby << i).take_while(|&step| step < slots)).collect()
}

/// The keys of a matrix key before they exist: baby steps, all steps, limbs and the shape of each.
type Layout = (usize, Vec<usize>, usize, KeySwitchSpec);

impl Engine {
    fn matrix_layout(&self, level: Option<usize>, baby_steps: Option<usize>) -> Result<Layout, Error> {
        let level = self.check_level(level.unwrap_or(self.max_level()))?;
        let slots = self.slots();
        let baby = baby_steps.unwrap_or(BABY_STEPS.min(slots));
        if !baby.is_power_of_two() || baby > slots {
            return Err(ParameterError::BabySteps { count: baby, slots, fit: BABY_STEPS.min(slots) }.into());
        }
        let limbs = self.params().chain_level(level) + 1;
        Ok((baby, steps(baby, slots), limbs, KeySwitchSpec::balanced(self.params(), limbs)?))
    }

    /// Bytes in memory of the key that [`Engine::create_matrix_key`] makes.
    ///
    /// # Errors
    /// As there, for its level and its steps.
    pub fn matrix_key_bytes(&self, level: Option<usize>, baby_steps: Option<usize>) -> Result<u64, Error> {
        let (_, steps, _, spec) = self.matrix_layout(level, baby_steps)?;
        Ok((steps.len() * spec.byte_count(self.params())?) as u64)
    }

    /// Makes the key that multiplies matrices at user levels up to `level` (all if not given).
    ///
    /// # Errors
    /// [`Error::Level`], [`Error::Parameter`] unless `baby_steps` is a power of two up to the slots, [`Error::Memory`]
    /// before anything is allocated, [`Error::Cancelled`].
    pub fn create_matrix_key(
        &self,
        sk: &SecretKey,
        level: Option<usize>,
        baby_steps: Option<usize>,
        control: &Control,
    ) -> Result<MatrixKey, Error> {
        let (n, needed) = (self.params().n(), self.matrix_key_bytes(level, baby_steps)?);
        let (baby, steps, limbs, spec) = self.matrix_layout(level, baby_steps)?;
        if let Some(available) = machine::memory_available().filter(|&free| needed > free) {
            return Err(MemoryError::MatrixKey { needed, available }.into());
        }
        let mut keys = KeySet::new();
        for (done, &step) in steps.iter().enumerate() {
            control.check()?;
            control.report(done, steps.len(), "matrix keys");
            let galois = rotation_exponent(step as isize, n);
            keys.insert(KeyRole::Galois(galois), self.create_galois_key(sk, galois, limbs, control)?.key);
        }
        control.report(steps.len(), steps.len(), "matrix keys");
        Ok(MatrixKey { id: sk.id(), baby, spec, keys })
    }

    /// The product of the matrix and the vector in the slots, one level lower. A matrix smaller than `slots x slots` is
    /// padded with zeros.
    ///
    /// Diagonals without an entry cost nothing. A dense block of `d` rows and columns takes about `2d` diagonals.
    ///
    /// # Errors
    /// [`Error::Range`] for a matrix that is not finite, empty or larger than the slots, [`Error::Level`] at level 0 or above
    /// the level of the key, [`Error::Cancelled`].
    pub fn multiply_matrix<T: Number>(
        &self,
        matrix: &Matrix<'_, T>,
        ct: &Ciphertext,
        key: &MatrixKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let (below, sums) = (self.check_product(ct, key)?, Sums::of(matrix, self.slots()));
        let Some(cut) = self.cut(matrix, key, ct.limbs())? else {
            let zero = self.multiply_scalar(ct, 0.0)?;
            return Ok(self.told(zero, sums.known(ct), ct.real && T::REAL));
        };
        let ratio = self.params().scale_at(below) / ct.scale;
        let firsts: Vec<usize> = cut.runs().iter().map(|run| run.first).collect();
        self.fits_map(("a product with a matrix", None), (&key.keys, key.baby), ct, || {
            let part = |run: &Run| {
                let (e, map) = (CostEvaluator::new(self.params().rlwe().clone(), KeySet::new()), cut.map(*run)?);
                Ok((run.first, e.encode_transform(&map, ct.level(), ratio)?.with_keys_of(&key.spec)))
            };
            cut.runs().iter().map(part).collect()
        })?;
        let made = self.joined(key, &firsts, control, |e, i| {
            let map = cut.map::<Complex64>(cut.runs()[i])?;
            Ok(e.transform(ct, &e.transform_for(&key.spec, &map.giant_steps(), ct.level(), ratio)?)?)
        })?;
        Ok(self.told(at_scale(made, self.params().scale_at(below)), sums.known(ct), ct.real && T::REAL))
    }

    /// Encodes a matrix for products with ciphertexts at one user level, for keys of the shape of `key`.
    ///
    /// # Errors
    /// [`Error::Range`] as [`Engine::multiply_matrix`], [`Error::Level`] at level 0 or above that of the key, [`Error::Memory`]
    /// before anything is encoded, [`Error::Cancelled`].
    pub fn encode_matrix<T: Number>(
        &self,
        matrix: &Matrix<'_, T>,
        key: &MatrixKey,
        level: usize,
        control: &Control,
    ) -> Result<EncodedMatrix, Error> {
        let level = self.check_level(level)?;
        let Some(below) = level.checked_sub(1) else {
            return Err(LevelError::Encoding { what: "A product with a matrix", operand: "the matrix" }.into());
        };
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level));
        self.check_served(key, chain + 1, level)?;
        let (cut, sums) = (self.cut(matrix, key, chain + 1)?, Sums::of(matrix, self.slots()));
        let mut made = EncodedMatrix {
            baby: key.baby,
            limbs: key.spec.q_limbs,
            level,
            scale,
            real: T::REAL,
            sums,
            runs: Vec::new(),
        };
        let Some(cut) = cut else { return Ok(made) };
        let needed = (cut.diagonal_count() * self.diagonal_bytes(key, chain + 1)) as u64;
        if let Some(available) = machine::memory_available().filter(|&free| needed > free) {
            return Err(MemoryError::Matrix { needed, available }.into());
        }
        let keys = KeySet::new();
        self.run(|| {
            let e = self.evaluator(&keys, Some(control));
            let (mut maps, steps) = (Vec::with_capacity(cut.runs().len()), 2 * cut.runs().len());
            for (done, run) in cut.runs().iter().enumerate() {
                control.check()?;
                control.report(done, steps, "matrix");
                let map = cut.map::<Complex64>(*run)?;
                let ratio = self.params().scale_at(below) / scale;
                maps.push((run.first, e.transform_for(&key.spec, &map.giant_steps(), chain, ratio)?));
            }
            self.fits_diagonals("this matrix", maps.iter().map(|(_, map)| map))?;
            for (done, (first, map)) in maps.into_iter().enumerate() {
                control.check()?;
                control.report(cut.runs().len() + done, steps, "matrix");
                made.runs.push((first, map.encoded(&e)?));
            }
            control.report(steps, steps, "matrix");
            Ok(made)
        })
    }

    /// The same as [`Engine::multiply_matrix`], bit for bit, with a matrix that is already encoded.
    ///
    /// # Errors
    /// [`Error::Level`] for a ciphertext at another level or a key of another shape, [`Error::Cancelled`].
    pub fn multiply_encoded_matrix(
        &self,
        matrix: &EncodedMatrix,
        ct: &Ciphertext,
        key: &MatrixKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let below = self.check_product(ct, key)?;
        if below + 1 != matrix.level || ct.scale != matrix.scale {
            return Err(LevelError::Matrix { what: "matrix", encoded: matrix.level, level: below + 1 }.into());
        }
        if (matrix.baby, matrix.limbs) != (key.baby, key.spec.q_limbs) {
            return Err(LevelError::MatrixOfOtherKey.into());
        }
        let real = ct.real && matrix.real;
        if matrix.runs.is_empty() {
            return Ok(self.told(self.multiply_scalar(ct, 0.0)?, matrix.sums.known(ct), real));
        }
        let firsts: Vec<usize> = matrix.runs.iter().map(|run| run.0).collect();
        let there = Some(matrix.runs.iter().map(|run| run.1.card_bytes_there()).sum());
        self.fits_map(("a product with a matrix", there), (&key.keys, key.baby), ct, || {
            Ok(matrix.runs.iter().map(|(first, transform)| (*first, transform.cost())).collect())
        })?;
        let made = self.joined(key, &firsts, control, |e, i| Ok(e.transform(ct, &matrix.runs[i].1)?))?;
        Ok(self.told(at_scale(made, self.params().scale_at(below)), matrix.sums.known(ct), real))
    }

    /// Whether a key multiplies this ciphertext; the user level below it.
    fn check_product(&self, ct: &Ciphertext, key: &MatrixKey) -> Result<usize, Error> {
        check_owner(ct, "matrix multiplication key", key.id)?;
        let below = self.spend_many(ct, 1, "A product with a matrix")?;
        self.check_served(key, ct.limbs(), below + 1)?;
        Ok(below)
    }

    fn check_served(&self, key: &MatrixKey, limbs: usize, level: usize) -> Result<(), Error> {
        if limbs <= key.spec.q_limbs {
            return Ok(());
        }
        Err(LevelError::MatrixKey { most: key.spec.q_limbs - 1 - self.params().hidden_levels(), level }.into())
    }

    fn diagonal_bytes(&self, key: &MatrixKey, limbs: usize) -> usize {
        let cut = key.spec.cut(limbs);
        (cut.q_limbs + cut.p_limbs) * 2 * self.slots() * 8
    }

    /// The runs of a matrix whose diagonals are encoded at a time; None for a matrix of zeros.
    fn cut<'a, T: Number>(
        &self,
        matrix: &'a Matrix<'a, T>,
        key: &MatrixKey,
        limbs: usize,
    ) -> Result<Option<MatrixCut<'a, T>>, Error> {
        self.check_matrix(matrix)?;
        let longest = (DIAGONAL_BYTES / self.diagonal_bytes(key, limbs) / key.baby).max(1);
        Ok(MatrixCut::new(matrix, self.slots(), key.baby, longest))
    }

    /// Parts that begin at these giant steps, by Horner's rule from the last to the first.
    fn joined(
        &self,
        key: &MatrixKey,
        firsts: &[usize],
        control: &Control,
        part: impl Fn(&CkksEvaluator<'_>, usize) -> Result<Ciphertext, Error> + Send + Sync,
    ) -> Result<Ciphertext, Error> {
        self.run(|| {
            let e = self.evaluator(&key.keys, Some(control));
            let mut sum: Option<(Ciphertext, usize)> = None;
            for (done, (i, &first)) in firsts.iter().enumerate().rev().enumerate() {
                control.report(done, firsts.len(), "matrix");
                let part = part(&e, i)?;
                sum = Some(match sum {
                    None => (part, first),
                    Some((sum, at)) => (e.add(&rotate(&e, sum, at - first, key.baby)?, &part)?, first),
                });
            }
            control.report(firsts.len(), firsts.len(), "matrix");
            let (sum, at) = sum.ok_or(RangeError::EmptyMatrix)?;
            rotate(&e, sum, at, key.baby)
        })
    }

    fn check_matrix<T: Number>(&self, matrix: &Matrix<'_, T>) -> Result<(), Error> {
        let (slots, columns) = (self.slots(), matrix.columns);
        let rows = matrix.entries.len().checked_div(columns).unwrap_or(0);
        if rows == 0 || rows * columns != matrix.entries.len() || rows > slots || columns > slots {
            return Err(RangeError::MatrixShape { rows, columns, slots }.into());
        }
        if let Some(bad) = matrix.entries.iter().find(|z| !z.is_finite()) {
            return Err(RangeError::MatrixEntry { value: bad.to_string() }.into());
        }
        Ok(())
    }
}

/// Rotates to the left by a number of giant steps, composed of powers of two.
fn rotate(e: &CkksEvaluator<'_>, ct: Ciphertext, giants: usize, baby: usize) -> Result<Ciphertext, Error> {
    turns(giants, baby, e.slots()).try_fold(ct, |ct, step| Ok(e.rotate_ring(&ct, step as isize)?))
}
