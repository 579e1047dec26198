//! The product of all factors of few slots, which stand side by side in one ciphertext: rotations by half of them, a quarter and so on.

use super::product::{multiplied, Product};
use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::Params;
use aglet_schemes::Approximate;

/// Multiplies every slot by those that stand `slots` and its multiples further, as many as there are factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gather {
    /// Message slots.
    pub slots: usize,
    /// How many factors, and how many levels they take.
    pub product: Product,
}

impl Gather {
    /// The rotations to the left, level by level.
    fn rotations_left(&self) -> impl Iterator<Item = usize> + use<> {
        let (slots, levels) = (self.slots, self.product.levels());
        (0..levels).rev().map(move |i| slots << i)
    }
}

impl Step for Gather {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        self.product.check(from, to, moduli)
    }
    fn keys_needed(&self, from: &Scaled, to: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let mut needs = self.product.keys_needed(from, to, params)?;
        for (i, by) in self.rotations_left().enumerate() {
            needs.extend(KeyNeed::rotations(params, from.level + 1 - i, [by])?);
        }
        Ok(needs)
    }
    fn describe(&self, params: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        self.product.describe(params, keys)
    }
    fn rotations(&self) -> Option<Vec<usize>> {
        Some(self.rotations_left().collect())
    }
}

impl<E: Approximate> RunOn<E> for Gather {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        let mut list = cts.to_vec();
        for by in self.rotations_left() {
            let rotated = each(&list, |ct| e.rotate(ct, by as isize))?;
            list = multiplied(e, list.iter().zip(&rotated))?;
        }
        Ok(list)
    }
}
