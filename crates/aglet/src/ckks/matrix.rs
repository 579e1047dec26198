//! A plaintext matrix by an encrypted vector: diagonals, hoisted baby steps, giant steps.
//!
//! The maps of a bootstrap are few and encoded ahead. The diagonals of a user's matrix are encoded as they are needed, a few
//! giant steps at a time: memory stays bounded for a dense matrix of any size.

use crate::ckks::arithmetic::{at_scale, check_owner, told};
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::runtime::machine;
use crate::{Control, Error};
use aglet_circuits::matrix::{Matrix, MatrixCut};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::{KeyId, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::{CkksEvaluator, Known, Number};
use aglet_schemes::Evaluator;
use num_complex::Complex64;

/// Baby steps of a key unless asked otherwise: more make dense matrices faster and the key larger.
const BABY_STEPS: usize = 32;

/// Bytes of encoded diagonals that are held at a time.
const DIAGONAL_BYTES: usize = 1 << 29;

/// Rotations for [`Engine::multiply_matrix`]: the baby steps `1 .. b - 1`, and giant steps `b`, `2b`, `4b` and so on.
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

    /// What tells its keys: baby steps and limbs.
    pub(crate) fn stored_words(&self) -> [u64; 2] {
        [self.baby as u64, self.spec.q_limbs as u64]
    }
    /// Its keys by Galois element.
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().map(|(_, key)| &**key).collect()
    }
    /// The key made of these.
    pub(crate) fn from_stored(id: KeyId, baby: usize, spec: KeySwitchSpec, keys: KeySet) -> Self {
        Self { id, baby, spec, keys }
    }
}

/// The steps of a key: baby steps, and the powers of two times their number.
pub(crate) fn steps(baby: usize, slots: usize) -> Vec<usize> {
    (1..baby).chain((0..).map(|i| baby << i).take_while(|&step| step < slots)).collect()
}

impl Engine {
    /// Makes the key that multiplies matrices at user levels up to `level` (all if not given).
    ///
    /// # Errors
    /// [`Error::Level`], [`Error::Parameter`] unless `baby_steps` is a power of two up to the slots, [`Error::KeyMemory`]
    /// before anything is allocated, [`Error::Cancelled`].
    pub fn create_matrix_key(
        &self,
        sk: &SecretKey,
        level: Option<usize>,
        baby_steps: Option<usize>,
        control: &Control,
    ) -> Result<MatrixKey, Error> {
        let level = self.check_level(level.unwrap_or(self.max_level()))?;
        let slots = self.slots();
        let baby = baby_steps.unwrap_or(BABY_STEPS.min(slots));
        if !baby.is_power_of_two() || baby > slots {
            return Err(Error::Parameter(format!(
                "baby_step_count = {baby} is not a power of two up to {slots}; choose one, such as {}.",
                BABY_STEPS.min(slots)
            )));
        }
        let steps = steps(baby, slots);
        let limbs = self.params().chain_level(level) + 1;
        let (n, spec) = (self.params().n(), KeySwitchSpec::balanced(self.params(), limbs)?);
        let needed = (steps.len() * spec.byte_count(n)) as u64;
        if let Some(available) = machine::memory_available().filter(|&free| needed > free) {
            return Err(Error::KeyMemory(format!(
                "This matrix multiplication key needs {:.1} GB and {:.1} GB of memory are free; free some, or give a lower level= or a smaller baby_step_count=.",
                needed as f64 / 1e9,
                available as f64 / 1e9
            )));
        }
        let mut keys = KeySet::new();
        for (done, &step) in steps.iter().enumerate() {
            control.check()?;
            control.report(done, steps.len(), "matrix keys");
            let galois = rotation_exponent(step as isize, n);
            keys.insert(KeyRole::Galois(galois), self.create_galois_key(sk, galois, limbs)?.key);
        }
        control.report(steps.len(), steps.len(), "matrix keys");
        Ok(MatrixKey { id: sk.id(), baby, spec, keys })
    }

    /// The matrix times the vector in the slots, one level below. A matrix smaller than `slots x slots` is padded with zeros.
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
        check_owner(ct, "matrix multiplication key", key.id)?;
        let below = self.spend_many(ct, 1, "A product with a matrix")?;
        if ct.limbs() > key.spec.q_limbs {
            return Err(Error::Level(format!(
                "This matrix multiplication key serves levels up to {} and the ciphertext is at level {}; make the key for a higher level.",
                key.spec.q_limbs - 1 - self.params().hidden_levels(),
                below + 1
            )));
        }
        self.check_matrix(matrix)?;
        let (per_baby, level) = (key.spec.cut(ct.limbs()), ct.level());
        let diagonal_bytes = (per_baby.q_limbs + per_baby.p_limbs) * 2 * self.slots() * 8;
        let longest = (DIAGONAL_BYTES / diagonal_bytes / key.baby).max(1);
        let Some(cut) = MatrixCut::new(matrix, self.slots(), key.baby, longest) else {
            return Ok(told(self.multiply_scalar(ct, 0.0)?, Known::default(), ct.real && T::REAL));
        };
        let runs = cut.runs();
        let scale = self.params().scale_at(below);
        self.run(|| {
            let e = self.evaluator(&key.keys, Some(control));
            let mut sum: Option<(Ciphertext, usize)> = None;
            // Horner's rule from the last run to the first.
            for (done, run) in runs.iter().rev().enumerate() {
                control.report(done, runs.len(), "matrix");
                let map = cut.map::<Complex64>(*run)?;
                let transform = e.encode_transform_for(&key.spec, &map, level, scale / ct.scale)?;
                let part = e.transform(ct, &transform)?;
                sum = Some(match sum {
                    None => (part, run.first),
                    Some((sum, at)) => (e.add(&turn(&e, sum, at - run.first, key.baby)?, &part)?, run.first),
                });
            }
            control.report(runs.len(), runs.len(), "matrix");
            let (sum, at) = sum.ok_or_else(|| Error::Range("The matrix has no entry.".into()))?;
            Ok(told(at_scale(turn(&e, sum, at, key.baby)?, scale), Known::default(), ct.real && T::REAL))
        })
    }

    fn check_matrix<T: Number>(&self, matrix: &Matrix<'_, T>) -> Result<(), Error> {
        let (slots, columns) = (self.slots(), matrix.columns);
        let rows = matrix.entries.len().checked_div(columns).unwrap_or(0);
        if rows == 0 || rows * columns != matrix.entries.len() || rows > slots || columns > slots {
            return Err(Error::Range(format!(
                "A matrix of {rows} rows and {columns} columns cannot be multiplied here; give 1 to {slots} of each."
            )));
        }
        if let Some(bad) = matrix.entries.iter().find(|z| !z.is_finite()) {
            return Err(Error::Range(format!("The matrix has the entry {bad}, which is not finite; replace it.")));
        }
        Ok(())
    }
}

/// Rotates to the left by a number of giant steps, composed of powers of two.
fn turn(e: &CkksEvaluator<'_>, ct: Ciphertext, giants: usize, baby: usize) -> Result<Ciphertext, Error> {
    let mut out = ct;
    let left = giants * baby % e.slots();
    let mut step = baby;
    while step <= left {
        if left & step != 0 {
            out = e.rotate_ring(&out, step as isize)?;
        }
        step <<= 1;
    }
    Ok(out)
}
