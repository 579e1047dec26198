//! Linear maps on slots as generalised diagonals, evaluated with baby steps and giant steps.
//!
//! A map is `out[j] = sum_k d_k[j mod len(d_k)] * in[(j + k) mod n]`. A diagonal is stored with the period it really
//! has: the merged stages of a homomorphic DFT repeat with small periods, which shrinks their plaintexts from
//! gigabytes to megabytes (Cerium, arXiv 2512.11269, uses a kindred compression).

use crate::error::Error;
use crate::scalar::Scalar;
use aglet_ring::ops::apply_diagonals;
use num_complex::Complex64;
use std::collections::BTreeMap;

/// A linear map on `slots` scalars, sparse in diagonals, each diagonal compressed to its period.
///
/// Every diagonal index is `k = stride * (baby * g + i)` with `0 <= i < baby`: the map is evaluated by the rotations
/// `stride * i` (baby steps, hoisted) and Horner's rule over `g` in rotations by `stride * baby` (giant steps, one key).
/// A map that steps [to the right](LinearMap::to_the_right) counts `-k` so.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearMap<S = Complex64> {
    slots: usize,
    diagonals: BTreeMap<usize, Vec<S>>,
    baby: usize,
    stride: usize,
    right: bool,
}

/// One giant step of a map.
///
/// A map is a list of them, by Horner's rule from the last to the first: `acc <- rotate(acc, rotation of the step before) + inner`, with
/// `inner = sum_i diagonal_i * rotate(in, i)`. The diagonals are already rotated back by all rotations that follow.
#[derive(Debug, Clone, PartialEq)]
pub struct GiantStep<S = Complex64> {
    /// The rotation that leads from this step to the one below it; 0 for the first.
    pub rotation: usize,
    /// `(rotation, diagonal)` pairs, rotations ascending, each diagonal one period long.
    pub terms: Vec<(usize, Vec<S>)>,
}

impl<S: Scalar> LinearMap<S> {
    /// Makes a map from its diagonals.
    ///
    /// `slots` is a power of two; a key `k < slots` is a multiple of `stride`; a diagonal is as long as its period, a
    /// power of two up to `slots`. `baby` (at least 1) is the number of baby steps. Periods are shortened where the
    /// entries allow it, and diagonals of zeros are left out.
    ///
    /// # Errors
    /// [`Error::InvalidLinearMap`] says which of these is violated.
    pub fn new(slots: usize, diagonals: BTreeMap<usize, Vec<S>>, baby: usize, stride: usize) -> Result<Self, Error> {
        let refuse = |reason| Err(Error::InvalidLinearMap { slots, reason });
        if !slots.is_power_of_two() {
            return refuse("the number of slots is not a power of two");
        }
        if baby == 0 || stride == 0 {
            return refuse("the number of baby steps and the stride must be at least 1");
        }
        for (k, d) in &diagonals {
            if *k >= slots || k % stride != 0 {
                return refuse("a diagonal index is not a multiple of the stride below the number of slots");
            }
            if !d.len().is_power_of_two() || d.len() > slots {
                return refuse("the period of a diagonal is not a power of two dividing the number of slots");
            }
            if d.iter().any(|c| !c.is_finite()) {
                return refuse("a diagonal has entries that are not finite");
            }
        }
        Ok(Self::compressed(slots, diagonals, baby, stride))
    }

    /// The identity on `slots`, with one baby step.
    ///
    /// # Errors
    /// [`Error::InvalidLinearMap`] when `slots` is not a power of two.
    pub fn identity(slots: usize) -> Result<Self, Error> {
        // Any stride fits the one index 0; the largest leaves the stride of what it is composed with as it is.
        Self::new(slots, BTreeMap::from([(0, vec![S::ONE])]), 1, slots.max(1))
    }

    /// Makes a map from diagonals known to be well formed.
    fn compressed(slots: usize, diagonals: BTreeMap<usize, Vec<S>>, baby: usize, stride: usize) -> Self {
        let diagonals = diagonals
            .into_iter()
            .filter(|(_, d)| d.iter().any(|c| *c != S::ZERO))
            .map(|(k, d)| (k, shortest_period(d)))
            .collect();
        LinearMap { slots, diagonals, baby, stride, right: false }
    }

    /// The same map with each diagonal changed by `f`, which keeps its length: what rounding makes of it.
    pub(crate) fn with_diagonals(&self, mut f: impl FnMut(&[S]) -> Vec<S>) -> Self {
        let diagonals = self.diagonals.iter().map(|(&k, d)| (k, f(d))).collect();
        LinearMap { diagonals, ..*self }
    }

    /// The number of slots it works on.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The diagonals by index; each vector is one period long.
    pub fn diagonals(&self) -> &BTreeMap<usize, Vec<S>> {
        &self.diagonals
    }

    /// The number of baby steps `n1`.
    pub fn baby(&self) -> usize {
        self.baby
    }

    /// The number that divides every diagonal index.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of stored scalars, which determines the memory of an encoded map.
    pub fn stored_entries(&self) -> usize {
        self.diagonals.values().map(Vec::len).sum()
    }

    /// The rotations (to the left) that evaluating the map needs: the baby steps in use (without 0), and the giant step if
    /// there is one.
    pub fn rotations(&self) -> (Vec<usize>, Option<usize>) {
        let places = || self.diagonals.keys().map(|&k| self.rotated(k));
        let mut babies: Vec<usize> =
            places().map(|k| k % self.giant()).filter(|&i| i != 0).map(|i| self.rotated(i)).collect();
        babies.sort_unstable();
        babies.dedup();
        let giant = places().any(|k| k >= self.giant()).then(|| self.rotated(self.giant()));
        (babies, giant)
    }

    /// The number of giant steps, empty ones included: what [`LinearMap::giant_steps`] has, without making it.
    pub fn giant_step_count(&self) -> usize {
        self.diagonals.keys().map(|&k| self.rotated(k)).max().map_or(0, |k| k / self.giant() + 1)
    }

    /// The length of one giant step.
    fn giant(&self) -> usize {
        self.stride.saturating_mul(self.baby)
    }

    /// An index counted in the direction of the steps, and back.
    fn rotated(&self, k: usize) -> usize {
        if self.right {
            (self.slots - k % self.slots) % self.slots
        } else {
            k
        }
    }

    /// The map cut into giant steps, ascending in `g`; steps without a diagonal are present and empty, so that one rotation
    /// serves between all of them.
    pub fn giant_steps(&self) -> Vec<GiantStep<S>> {
        let giant = self.giant();
        let place = |&k: &usize| self.rotated(k);
        let rotation = |g| if g == 0 { 0 } else { self.rotated(giant) };
        let mut steps: Vec<GiantStep<S>> =
            (0..self.giant_step_count()).map(|g| GiantStep { rotation: rotation(g), terms: Vec::new() }).collect();
        for (k, d) in &self.diagonals {
            let (g, baby) = (place(k) / giant, place(k) % giant);
            let (mut diagonal, back) = (d.clone(), (g * giant) % d.len());
            if self.right {
                diagonal.rotate_left(back);
            } else {
                diagonal.rotate_right(back);
            }
            steps[g].terms.push((self.rotated(baby), diagonal));
        }
        steps.iter_mut().for_each(|s| s.terms.sort_by_key(|t| t.0));
        steps
    }

    /// The same map, evaluated by rotations to the right: for keys that rotate so, and maps whose indices are
    /// `0, -stride, -2 stride, ...`.
    pub fn to_the_right(mut self) -> Self {
        self.right = true;
        self
    }

    /// The same map on more slots, which repeat its own.
    ///
    /// # Errors
    /// [`Error::InvalidLinearMap`] when `slots` is not a power of two times the slots that it has.
    pub fn repeated(mut self, slots: usize) -> Result<Self, Error> {
        if !slots.is_power_of_two() || slots < self.slots {
            return Err(Error::InvalidLinearMap {
                slots,
                reason: "a map is repeated on a power of two of slots or not at all",
            });
        }
        if self.right {
            let index = |k: usize| (slots - self.rotated(k)) % slots;
            self.diagonals = self.diagonals.clone().into_iter().map(|(k, d)| (index(k), d)).collect();
        }
        self.slots = slots;
        Ok(self)
    }

    /// The same map with another baby-step count.
    ///
    /// # Errors
    /// [`Error::InvalidLinearMap`] for 0.
    pub fn with_baby(mut self, baby: usize) -> Result<Self, Error> {
        if baby == 0 {
            return Err(Error::InvalidLinearMap {
                slots: self.slots,
                reason: "the number of baby steps must be at least 1",
            });
        }
        self.baby = baby;
        Ok(self)
    }

    /// The map `factor * self`.
    pub fn scaled(mut self, factor: S) -> Self {
        self.diagonals.values_mut().flatten().for_each(|c| *c = *c * factor);
        self
    }

    /// The map whose entries are the images of these under an automorphism of the scalars.
    #[must_use]
    pub fn conjugated(mut self, automorphism: impl Fn(S) -> S) -> Self {
        self.diagonals.values_mut().flatten().for_each(|c| *c = automorphism(*c));
        self
    }

    /// `rotate(by) after self`: what `self` produces, rotated left by `by`. `by` must be a multiple of the stride for
    /// the stride to survive; otherwise it shrinks to what still divides every index.
    pub fn then_rotated(&self, by: isize) -> Self {
        let by = by.rem_euclid(self.slots as isize) as usize;
        self.shifted(by, by)
    }

    /// `self after rotate(by)`: `self` of its input rotated left by `by`.
    pub fn of_rotated(&self, by: isize) -> Self {
        self.shifted(by.rem_euclid(self.slots as isize) as usize, 0)
    }

    /// Moves every index up by `index` and the entries of every diagonal left by `entries`.
    fn shifted(&self, index: usize, entries: usize) -> Self {
        let moved = self.diagonals.iter().map(|(&k, d)| {
            let mut d = d.clone();
            let shift = entries % d.len();
            d.rotate_left(shift);
            ((k + index) % self.slots, d)
        });
        LinearMap { diagonals: moved.collect(), stride: gcd(self.stride, index), ..*self }
    }

    /// The composition `self after inner`, computed on the compressed periods.
    ///
    /// The stride becomes the greatest common divisor of both, the baby-step count is that of `self`.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`] when the maps have different numbers of slots.
    pub fn compose(&self, inner: &Self) -> Result<Self, Error> {
        if inner.slots != self.slots {
            return Err(Error::SlotMismatch { expected: self.slots, found: inner.slots });
        }
        let mut sum: BTreeMap<usize, Vec<S>> = BTreeMap::new();
        for (a, outer) in &self.diagonals {
            for (b, inner_diagonal) in &inner.diagonals {
                let period = outer.len().max(inner_diagonal.len());
                let target = sum.entry((a + b) % self.slots).or_default();
                extend_periodically(target, period);
                // The longest period so far may exceed that of this pair; masks make every vector as long as needed.
                let (p, q) = (outer.len() - 1, inner_diagonal.len() - 1);
                for (j, t) in target.iter_mut().enumerate() {
                    *t += outer[j & p] * inner_diagonal[(j + a) & q];
                }
            }
        }
        Ok(Self::compressed(self.slots, sum, self.baby, gcd(self.stride, inner.stride)))
    }

    /// Applies the map to numbers in the clear, in time `slots * diagonals`.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`] when the vector is not `slots` long.
    pub fn apply(&self, values: &[S]) -> Result<Vec<S>, Error> {
        if values.len() != self.slots {
            return Err(Error::SlotMismatch { expected: self.slots, found: values.len() });
        }
        Ok(apply_diagonals(&self.diagonals, values, S::ZERO))
    }
}

/// Halves a vector while both halves are equal.
fn shortest_period<S: Scalar>(mut d: Vec<S>) -> Vec<S> {
    while d.len() > 1 && d[..d.len() / 2] == d[d.len() / 2..] {
        d.truncate(d.len() / 2);
    }
    d.shrink_to_fit();
    d
}

/// Repeats a vector (zeros when empty) until it is at least `period` long; both lengths are powers of two.
fn extend_periodically<S: Scalar>(d: &mut Vec<S>, period: usize) {
    if d.is_empty() {
        d.resize(period, S::ZERO);
    }
    while d.len() < period {
        d.extend_from_within(..);
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(x: f64) -> Complex64 {
        Complex64::new(x, -0.5 * x)
    }

    fn sample(slots: usize, parts: &[(usize, usize)], baby: usize) -> LinearMap {
        let diagonals =
            parts.iter().map(|&(k, p)| (k, (0..p).map(|j| c((k + 3 * j) as f64 + 1.0)).collect())).collect();
        LinearMap::new(slots, diagonals, baby, 1).unwrap()
    }

    #[test]
    fn composition_is_application_in_turn() {
        let (a, b) = (sample(16, &[(0, 4), (3, 16), (15, 1)], 4), sample(16, &[(1, 2), (14, 8)], 4));
        let v: Vec<_> = (0..16).map(|j| c(j as f64 * 0.25 - 1.0)).collect();
        let both = a.compose(&b).unwrap().apply(&v).unwrap();
        assert_eq!(both.len(), 16);
        for (x, y) in both.iter().zip(a.apply(&b.apply(&v).unwrap()).unwrap()) {
            assert!((x - y).norm() < 1e-9);
        }
    }

    #[test]
    fn rotations_can_be_pushed_in_from_either_side() {
        let a = sample(8, &[(0, 2), (2, 8), (5, 4)], 2);
        let v: Vec<_> = (0..8).map(|j| c(j as f64)).collect();
        let mut before = v.clone();
        before.rotate_left(3);
        assert_eq!(a.of_rotated(3).apply(&v).unwrap(), a.apply(&before).unwrap());
        let mut after = a.apply(&v).unwrap();
        after.rotate_right(3);
        for (x, y) in a.then_rotated(-3).apply(&v).unwrap().iter().zip(&after) {
            assert!((x - y).norm() < 1e-12);
        }
    }

    #[test]
    fn horner_over_giant_steps_is_the_map() {
        let a = sample(32, &[(0, 2), (2, 32), (5, 4), (13, 16), (30, 8)], 4);
        let v: Vec<_> = (0..32).map(|j| c((j * j % 7) as f64)).collect();
        let (babies, giant) = a.rotations();
        assert_eq!((babies, giant), (vec![1, 2], Some(4)));
        let mut acc = vec![Complex64::new(0.0, 0.0); 32];
        for step in a.giant_steps().iter().rev() {
            acc.rotate_left(4);
            for (rotation, d) in &step.terms {
                for j in 0..32 {
                    acc[j] += d[j % d.len()] * v[(j + rotation) % 32];
                }
            }
        }
        for (x, y) in acc.iter().zip(a.apply(&v).unwrap()) {
            assert!((x - y).norm() < 1e-9);
        }
    }

    #[test]
    fn periods_are_shortened_and_nonsense_is_refused() {
        let map = LinearMap::new(8, BTreeMap::from([(0, vec![c(1.0); 8]), (4, vec![c(0.0); 2])]), 1, 4).unwrap();
        assert_eq!(map.stored_entries(), 1);
        for (slots, key, period, baby, stride) in
            [(6, 0, 1, 1, 1), (8, 8, 1, 1, 1), (8, 3, 1, 1, 2), (8, 0, 3, 1, 1), (8, 0, 16, 1, 1), (8, 0, 1, 0, 1)]
        {
            let d = BTreeMap::from([(key, (0..period).map(|j| c(1.0 + j as f64)).collect())]);
            assert!(matches!(LinearMap::new(slots, d, baby, stride), Err(Error::InvalidLinearMap { .. })));
        }
    }
}
