//! The step onto the subring of sparse slots: a trace, as a product of sums of rotations.

use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::Params;
use aglet_schemes::Approximate;

/// The sum of the rotations by all multiples of the number of sparse slots, as a product of sums of two to eight. Multiplies by
/// the number of rotations.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Rotations that are added to what came before, sum by sum.
    pub sums: Vec<Vec<usize>>,
}

impl Step for Trace {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == to.level
    }
    fn keys_needed(&self, from: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::rotations(params, from.level + 1, self.sums.concat())
    }
    fn rotations(&self) -> Option<Vec<usize>> {
        Some(self.sums.concat())
    }
}

impl<E: Approximate> RunOn<E> for Trace {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| self.sums.iter().try_fold(ct.clone(), |ct, by| e.rotate_sum(&ct, by)))
    }
}
