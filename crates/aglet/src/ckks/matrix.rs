//! A plaintext matrix by an encrypted vector: diagonals, hoisted baby steps, giant steps.
//!
//! The maps of a bootstrap are few and encoded ahead. The diagonals of a user's matrix are encoded as they are needed, a few
//! giant steps at a time: memory stays bounded for a dense matrix of any size.

use crate::ckks::arithmetic::at_scale;
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::runtime::machine;
use crate::{Control, Error};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::{KeyId, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::CkksEvaluator;
use aglet_schemes::{Evaluator, LinearMap};
use num_complex::Complex64;
use std::collections::BTreeMap;

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

/// A matrix in rows, at most `slots` of each length at most `slots`.
pub struct Matrix<'a> {
    /// Row by row.
    pub entries: &'a [Complex64],
    /// Number of columns.
    pub columns: usize,
}

/// Consecutive giant steps that are evaluated together; `first` counts giant steps, beyond the end of the slots too.
struct Chunk {
    first: usize,
    count: usize,
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
    pub fn multiply_matrix(
        &self,
        matrix: &Matrix<'_>,
        ct: &Ciphertext,
        key: &MatrixKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let below = self.spend_many(ct, 1, "A product with a matrix")?;
        if ct.limbs() > key.spec.q_limbs {
            return Err(Error::Level(format!(
                "This matrix multiplication key serves levels up to {} and the ciphertext is at level {}; make the key for a higher level.",
                key.spec.q_limbs - 1 - self.params().hidden_levels(),
                below + 1
            )));
        }
        self.check_matrix(matrix)?;
        let used = diagonals_in_use(matrix, self.slots());
        if !used.contains(&true) {
            return self.multiply_scalar(ct, Complex64::default());
        }
        let (per_baby, level) = (key.spec.cut(ct.limbs()), ct.level());
        let diagonal_bytes = (per_baby.q_limbs + per_baby.p_limbs) * 2 * self.slots() * 8;
        let longest = (DIAGONAL_BYTES / diagonal_bytes / key.baby).max(1);
        let chunks = chunks(&used, key.baby, longest);
        let scale = self.params().scale_at(below);
        self.run(|| {
            let e = self.evaluator(&key.keys, Some(control));
            let mut sum: Option<(Ciphertext, usize)> = None;
            // Horner's rule from the last chunk to the first.
            for (done, chunk) in chunks.iter().rev().enumerate() {
                control.report(done, chunks.len(), "matrix");
                let map = chunk.map(matrix, &used, key.baby)?;
                let transform = e.encode_transform_for(&key.spec, &map, level, scale / ct.scale)?;
                let part = e.transform(ct, &transform)?;
                sum = Some(match sum {
                    None => (part, chunk.first),
                    Some((sum, at)) => (e.add(&turn(&e, sum, at - chunk.first, key.baby)?, &part)?, chunk.first),
                });
            }
            control.report(chunks.len(), chunks.len(), "matrix");
            let (sum, at) = sum.ok_or_else(|| Error::Range("The matrix has no entry.".into()))?;
            Ok(at_scale(turn(&e, sum, at, key.baby)?, scale))
        })
    }

    fn check_matrix(&self, matrix: &Matrix<'_>) -> Result<(), Error> {
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

/// Which diagonals `k`, entries `[j][(j + k) mod slots]`, have an entry that is not zero.
fn diagonals_in_use(matrix: &Matrix<'_>, slots: usize) -> Vec<bool> {
    let mut used = vec![false; slots];
    for (j, row) in matrix.entries.chunks(matrix.columns).enumerate() {
        for (i, z) in row.iter().enumerate() {
            if *z != Complex64::default() {
                used[(i + slots - j) % slots] = true;
            }
        }
    }
    used
}

/// Cuts the giant steps in use into runs of at most `longest`, beginning after the largest gap of the circle.
fn chunks(used: &[bool], baby: usize, longest: usize) -> Vec<Chunk> {
    let giants = used.len() / baby;
    let full: Vec<usize> = (0..giants).filter(|g| used[g * baby..(g + 1) * baby].contains(&true)).collect();
    let gap_before = |i: usize| match i {
        0 => full[0] + giants - full[full.len() - 1],
        _ => full[i] - full[i - 1],
    };
    let start = (0..full.len()).max_by_key(|&i| (gap_before(i), full.len() - i)).unwrap_or(0);
    let around = full[start..].iter().copied().chain(full[..start].iter().map(|g| g + giants));
    let mut out: Vec<Chunk> = Vec::new();
    for g in around {
        match out.last_mut() {
            Some(last) if last.first + last.count == g && last.count < longest => last.count += 1,
            _ => out.push(Chunk { first: g, count: 1 }),
        }
    }
    out
}

impl Chunk {
    /// The part of the matrix that belongs to these giant steps, turned back by the first of them.
    fn map(&self, matrix: &Matrix<'_>, used: &[bool], baby: usize) -> Result<LinearMap, Error> {
        let slots = used.len();
        let back = self.first * baby % slots;
        let mut diagonals = BTreeMap::new();
        for step in 0..self.count * baby {
            let k = (back + step) % slots;
            if !used[k] {
                continue;
            }
            let mut diagonal = vec![Complex64::default(); slots];
            for (j, row) in matrix.entries.chunks(matrix.columns).enumerate() {
                if let Some(z) = row.get((j + k) % slots) {
                    diagonal[(j + back) % slots] = *z;
                }
            }
            diagonals.insert(step, diagonal);
        }
        Ok(LinearMap::new(slots, diagonals, baby, 1)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_after_the_largest_gap() {
        let cut = |full: &[usize], longest| {
            let mut used = vec![false; 64];
            full.iter().for_each(|&g| used[4 * g + 1] = true);
            chunks(&used, 4, longest).iter().map(|c| (c.first, c.count)).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[0, 1, 15], 8), [(15, 3)]);
        assert_eq!(cut(&[0, 1, 15], 2), [(15, 2), (17, 1)]);
        assert_eq!(cut(&[3], 8), [(3, 1)]);
        assert_eq!(cut(&[0, 2, 3], 8), [(0, 1), (2, 2)]);
        let all: Vec<usize> = (0..16).collect();
        assert_eq!(cut(&all, 16), [(0, 16)]);
    }

    #[test]
    fn diagonals_are_found() {
        let zero = Complex64::default();
        let one = Complex64::new(1.0, 0.0);
        let entries = [one, zero, zero, one, one, zero];
        let used = diagonals_in_use(&Matrix { entries: &entries, columns: 2 }, 8);
        let found: Vec<usize> = (0..8).filter(|&k| used[k]).collect();
        assert_eq!(found, [0, 6]);
    }
}
