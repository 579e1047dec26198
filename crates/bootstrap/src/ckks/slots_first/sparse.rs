//! Sparse slots: sums over their copies, and real and imaginary parts side by side.

use super::request::TRACE_STEP;
use super::Layout;
use crate::error::Error;
use aglet_schemes::LinearMap;
use num_complex::Complex64;
use std::collections::BTreeMap;

impl Layout {
    /// The sum of the first so many copies, in every copy: a map on all slots of the ring.
    pub(super) fn sum_of_copies(&self, copies: usize) -> Result<LinearMap, Error> {
        let one = vec![Complex64::new(1.0, 0.0)];
        let diagonals = (0..copies).map(|i| (i * self.request.slots, one.clone())).collect();
        Ok(LinearMap::new(self.ring_slots, diagonals, copies, self.request.slots)?)
    }

    /// Rotations whose sums run over all repetitions of the slots, if the sum of the first `done` is there.
    pub(super) fn trace(&self, done: usize) -> Vec<Vec<usize>> {
        let lengths = ((self.request.slots * done).ilog2()..self.ring_slots.ilog2()).map(|i| 1usize << i);
        let lengths: Vec<usize> = lengths.collect();
        let turned = |by: usize| if self.request.size.steps().right { self.ring_slots - by } else { by };
        // Eight at a time share a decomposition, for four keys more than two, two and two.
        let together = if self.request.size.steps().most < 1 << TRACE_STEP { 1 } else { TRACE_STEP as usize };
        let sums = lengths.chunks(together);
        sums.map(|sum| (1..1usize << sum.len()).map(|i| turned(i * sum[0])).collect()).collect()
    }

    /// Lets the last stage leave `(z, -i z)` in twice the slots, whose real parts are `(re z, im z)`.
    pub(super) fn pack(&self, maps: &mut [LinearMap]) -> Result<(), Error> {
        let Some(last) = maps.last_mut() else { return Ok(()) };
        let mask = self.halves(Complex64::new(1.0, 0.0), Complex64::new(0.0, -1.0));
        let mask =
            LinearMap::new(2 * self.request.slots, BTreeMap::from([(0, mask)]), last.baby(), 2 * self.request.slots)?;
        let packed = mask.compose(&last.clone().repeated(2 * self.request.slots)?)?;
        *last = if self.request.size.steps().right { packed.to_the_right() } else { packed };
        Ok(())
    }

    /// `(a, b)` to `(a + i b, a + i b)`.
    pub(super) fn unpack(&self) -> Result<LinearMap, Error> {
        let (one, i) = (Complex64::new(1.0, 0.0), Complex64::new(0.0, 1.0));
        let diagonals = BTreeMap::from([(0, self.halves(one, i)), (self.request.slots, self.halves(i, one))]);
        let map = LinearMap::new(2 * self.request.slots, diagonals, 2, self.request.slots)?;
        Ok(if self.request.size.steps().right { map.to_the_right() } else { map })
    }

    fn halves(&self, low: Complex64, high: Complex64) -> Vec<Complex64> {
        [vec![low; self.request.slots], vec![high; self.request.slots]].concat()
    }
}
