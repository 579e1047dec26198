//! A dense matrix of any shape cut into linear maps that fit the memory: runs of giant steps, joined by Horner's rule.

use crate::error::Error;
use aglet_schemes::{LinearMap, Scalar};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// A matrix in rows, at most `slots` of each length at most `slots`; what is missing is zero.
pub struct Matrix<'a, S = Complex64> {
    /// Row by row.
    pub entries: &'a [S],
    /// Number of columns.
    pub columns: usize,
}

/// A matrix laid out on slots: which diagonals it has, and the runs of giant steps that are evaluated together.
pub struct MatrixCut<'a, S = Complex64> {
    matrix: &'a Matrix<'a, S>,
    baby: usize,
    used: Vec<bool>,
    runs: Vec<Run>,
}

/// Consecutive giant steps; `first` counts giant steps, beyond the end of the slots too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first giant step.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

impl<S: Scalar> Matrix<'_, S> {
    /// Which diagonals `k`, entries `[j][(j + k) mod slots]`, have an entry that is not zero.
    fn diagonals_in_use(&self, slots: usize) -> Vec<bool> {
        let mut used = vec![false; slots];
        for (j, row) in self.entries.chunks(self.columns).enumerate() {
            for (i, z) in row.iter().enumerate() {
                if *z != S::ZERO {
                    used[(i + slots - j) % slots] = true;
                }
            }
        }
        used
    }
}

impl<'a, S: Scalar> MatrixCut<'a, S> {
    /// Cuts a matrix of `slots` rows and columns at most (both powers of two: `slots` and `baby`, the number of baby steps)
    /// into runs of at most `longest` giant steps. None for a matrix of zeros.
    pub fn new(matrix: &'a Matrix<'a, S>, slots: usize, baby: usize, longest: usize) -> Option<Self> {
        let used = matrix.diagonals_in_use(slots);
        let runs = used.contains(&true).then(|| runs(&used, baby, longest))?;
        Some(Self { matrix, baby, used, runs })
    }

    /// The runs, in ascending order. By Horner's rule from the last to the first: rotate the sum to the left by the giant
    /// steps between two runs, add the map of the next; at the end rotate by the first giant step of all.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many diagonals have an entry that is not zero.
    pub fn diagonal_count(&self) -> usize {
        self.used.iter().filter(|&&used| used).count()
    }

    /// The part of the matrix that belongs to a run, rotated back by its first giant step, over the scalars of the matrix or
    /// over others that hold them.
    ///
    /// # Errors
    /// Those of [`LinearMap::new`].
    pub fn map<T: Scalar>(&self, run: Run) -> Result<LinearMap<T>, Error>
    where
        S: Into<T>,
    {
        let (slots, baby) = (self.used.len(), self.baby);
        let back = run.first * baby % slots;
        let mut diagonals = BTreeMap::new();
        for step in 0..run.count * baby {
            let k = (back + step) % slots;
            if !self.used[k] {
                continue;
            }
            let mut diagonal = vec![T::ZERO; slots];
            for (j, row) in self.matrix.entries.chunks(self.matrix.columns).enumerate() {
                if let Some(&z) = row.get((j + k) % slots) {
                    diagonal[(j + back) % slots] = z.into();
                }
            }
            diagonals.insert(step, diagonal);
        }
        Ok(LinearMap::new(slots, diagonals, baby, 1)?)
    }
}

/// Cuts the giant steps in use into runs of at most `longest`, beginning after the largest gap of the circle.
fn runs(used: &[bool], baby: usize, longest: usize) -> Vec<Run> {
    let giants = used.len() / baby;
    let full: Vec<usize> = (0..giants).filter(|g| used[g * baby..(g + 1) * baby].contains(&true)).collect();
    let gap_before = |i: usize| match i {
        0 => full[0] + giants - full[full.len() - 1],
        _ => full[i] - full[i - 1],
    };
    let start = (0..full.len()).max_by_key(|&i| (gap_before(i), full.len() - i)).unwrap_or(0);
    let around = full[start..].iter().copied().chain(full[..start].iter().map(|g| g + giants));
    let mut out: Vec<Run> = Vec::new();
    for g in around {
        match out.last_mut() {
            Some(last) if last.first + last.count == g && last.count < longest => last.count += 1,
            _ => out.push(Run { first: g, count: 1 }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_after_the_largest_gap() {
        let cut = |full: &[usize], longest| {
            let mut used = vec![false; 64];
            full.iter().for_each(|&g| used[4 * g + 1] = true);
            runs(&used, 4, longest).iter().map(|c| (c.first, c.count)).collect::<Vec<_>>()
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
        let used = Matrix { entries: &entries, columns: 2 }.diagonals_in_use(8);
        let found: Vec<usize> = (0..8).filter(|&k| used[k]).collect();
        assert_eq!(found, [0, 6]);
        assert!(MatrixCut::new(&Matrix { entries: &[zero; 4], columns: 2 }, 8, 2, 1).is_none());
    }

    #[test]
    fn runs_joined_by_rotations_are_the_matrix() {
        let slots = 16;
        let entries: Vec<_> = (0..slots * slots).map(|i| Complex64::new((i * i % 11) as f64, 0.0)).collect();
        let matrix = Matrix { entries: &entries, columns: slots };
        let z: Vec<_> = (0..slots).map(|j| Complex64::new(j as f64 - 3.0, 1.0)).collect();
        let cut = MatrixCut::new(&matrix, slots, 4, 2).unwrap();
        let (mut sum, mut at) = (vec![Complex64::default(); slots], 0);
        for run in cut.runs().iter().rev() {
            sum.rotate_left((if at > 0 { at - run.first } else { 0 }) * 4);
            let part = cut.map(*run).unwrap().apply(&z).unwrap();
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            at = run.first;
        }
        sum.rotate_left(at * 4 % slots);
        for (j, found) in sum.iter().enumerate() {
            let wanted: Complex64 = (0..slots).map(|i| entries[j * slots + i] * z[i]).sum();
            assert!((found - wanted).norm() < 1e-9);
        }
    }
}
