//! Matrices and linear maps of users that a card has no room for are refused before anything goes up.

use super::{Ciphertext, Engine};
use crate::{Error, MemoryError};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::{KeyRole, KeySet};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator, CostTransform};
use aglet_schemes::ckks::CkksTransform;
use aglet_schemes::Evaluator;

/// A part of a map: the giant step that it begins with, and what it is without values.
pub(super) type Part = (usize, CostTransform);

/// The rotations to the left that make up a number of giant steps: baby steps times powers of two.
pub(super) fn turns(giants: usize, baby: usize, slots: usize) -> impl Iterator<Item = usize> {
    let left = giants * baby % slots;
    (0..).map(move |i| baby << i).take_while(move |&step| step <= left).filter(move |step| left & step != 0)
}

impl Engine {
    /// Refuses encoded diagonals that do not fit into what a card has left.
    pub(super) fn fits_diagonals<'a>(
        &self,
        what: &'static str,
        of: impl IntoIterator<Item = &'a CkksTransform>,
    ) -> Result<(), Error> {
        let needed = of.into_iter().map(CkksTransform::card_bytes).sum::<usize>() as u64;
        match self.ctx.ring().backend().lacks(needed, &[])? {
            Some((needed, free)) => Err(MemoryError::CardMap { what, needed, free }.into()),
            None => Ok(()),
        }
    }

    /// Refuses a map whose parts are joined by Horner's rule, from the last to the first. `there` are the bytes of the diagonals that
    /// are there already, where those of all parts stay; if not, those of one part are there.
    pub(super) fn fits_map(
        &self,
        (what, there): (&'static str, Option<usize>),
        (keys, baby): (&KeySet, usize),
        a: &Ciphertext,
        parts: impl FnOnce() -> Result<Vec<Part>, Error>,
    ) -> Result<(), Error> {
        if !self.fitted.on_card(&**self.ctx.ring().backend())? {
            return Ok(());
        }
        let (parts, slots) = (parts()?, self.slots());
        let below = |i: usize| parts[i].0 - i.checked_sub(1).map_or(0, |i| parts[i].0);
        let steps = parts.iter().enumerate().map(|(i, part)| turns(below(i), baby, slots).chain(part.1.rotations()));
        let met = steps.flatten().filter_map(|by| {
            let role = KeyRole::Galois(rotation_exponent(by as isize, self.params().n()));
            keys.find(role, a.limbs()).map(|key| (role, key.clone()))
        });
        let encoded = there.is_some();
        self.fits_beside((what, there.unwrap_or_default()), &met.collect(), &[a], |e, of| {
            let diagonals = |part: &Part| e.diagonals(&part.1);
            let _encoded =
                if encoded { parts.iter().map(diagonals).collect::<Result<Vec<_>, _>>()? } else { Vec::new() };
            let mut sum: Option<CostCiphertext> = None;
            for (i, part) in parts.iter().enumerate().rev() {
                let made = {
                    let _own = if encoded { None } else { Some(diagonals(part)?) };
                    e.transform(&of[0], &part.1)?
                };
                let joined = match sum {
                    Some(sum) => e.add(&sum, &made)?,
                    None => made,
                };
                sum = Some(rotated(e, joined, turns(below(i), baby, slots))?);
            }
            Ok::<_, aglet_schemes::Error>(())
        })
    }
}

fn rotated(
    e: &CostEvaluator,
    x: CostCiphertext,
    mut by: impl Iterator<Item = usize>,
) -> Result<CostCiphertext, aglet_schemes::Error> {
    by.try_fold(x, |x, by| e.automorphism(&x, rotation_exponent(by as isize, e.params().n())))
}
