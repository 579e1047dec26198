//! Rotations for users with the rotation keys of a bootstrap key.

use super::{BootstrapKey, KeySize};
use crate::ckks::arithmetic::check_owner;
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::{Error, LevelError, MissingKeyError};
use aglet_bootstrap::ckks::slots_first::steps::mod_switch::{ModSwitch, SwitchModulus};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::{KeyRole, KeySet};
use aglet_schemes::ckks::CkksEvaluator;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Engine {
    /// Rotates by `delta` slots to the right, as `numpy.roll`, with as few steps of the key as possible. Its keys are
    /// on the chain of its bootstrap. They work at the levels that this chain shares with the users' chain, from the
    /// bottom up: only level 0 if spare primes replace those of messages. If they replace those of slots_to_coeffs too, ciphertexts
    /// of level 0 are switched to them and back.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a small key, which has no rotations, and for what its steps do not make up, [`Error::Level`]
    /// above its levels, and those of a key of another secret key.
    pub fn rotate_by_bootstrap_key(&self, a: &Ciphertext, key: &BootstrapKey, delta: i64) -> Result<Ciphertext, Error> {
        if key.size() == KeySize::Small {
            return Err(MissingKeyError::NoRotations.into());
        }
        check_owner(a, "bootstrap key", key.id())?;
        let slots = self.slots();
        let left = (slots - delta.rem_euclid(slots as i64) as usize) % slots;
        if left == 0 {
            return Ok(a.clone());
        }
        let (circuit, level) = (self.circuit(key.request())?, self.level(a)?);
        let switches_in =
            circuit.layout.as_ref().filter(|_| level == 0).and_then(|layout| layout.switches_in(a.level()));
        let keys = key.on_chain(if switches_in.is_some() { &circuit.params } else { self.params() });
        let steps = self.steps(&keys);
        let here: Vec<usize> = steps.iter().filter(|(_, limbs)| **limbs >= a.limbs()).map(|(left, _)| *left).collect();
        if here.is_empty() {
            let limbs = steps.values().max().copied().unwrap_or_default();
            return Err(LevelError::BootstrapKey {
                most: limbs.saturating_sub(1 + self.params().hidden_levels()),
                level,
            }
            .into());
        }
        let path = fewest(&here, left, slots).ok_or_else(|| {
            let steps = here.iter().map(|left| format!("-{left}")).collect::<Vec<_>>().join(", ");
            MissingKeyError::Steps { steps, level, delta }
        })?;
        let met = path.iter().filter_map(|&left| {
            let role = KeyRole::Galois(rotation_exponent(left as isize, self.params().n()));
            keys.find(role, a.limbs()).map(|key| (role, key.clone()))
        });
        self.fits_automorphisms(a, met, false)?;
        let rotated = |e: &CkksEvaluator<'_>, a: Ciphertext| -> Result<Ciphertext, Error> {
            path.iter().try_fold(a, |ct, &left| Ok(e.rotate_ring(&ct, left as isize)?))
        };
        let Some(there) = switches_in else {
            let e = self.evaluator(&keys, None);
            return self.run(|| rotated(&e, a.clone()));
        };
        let ctx = self.context_of(&circuit.params)?;
        let back = ModSwitch { level: a.level(), shift: 0, scale_ratio: 1.0 / there.scale_ratio };
        self.run(|| {
            let e = CkksEvaluator::new(&ctx, &keys, slots);
            let out = e.mod_switch(&rotated(&e, e.mod_switch_in(a, there)?)?, back)?;
            let polys =
                out.polys.iter().map(|poly| self.ctx.ring().kept(poly, out.limbs())).collect::<Result<_, _>>()?;
            Ok(Arc::new(out.with(polys, a.scale).real_if(a.real)))
        })
    }

    /// The steps to the left for which there is a key, with the most limbs that it serves.
    fn steps(&self, keys: &KeySet) -> BTreeMap<usize, usize> {
        // Keys of one role come in the order of their limbs.
        let most: BTreeMap<KeyRole, usize> = keys.iter().map(|(role, key)| (role, key.spec().q_limbs)).collect();
        let role = |left: usize| KeyRole::Galois(rotation_exponent(left as isize, self.params().n()));
        (1..self.slots()).filter_map(|left| Some((left, *most.get(&role(left))?))).collect()
    }
}

/// The fewest steps that add up to `target` modulo `slots`.
fn fewest(steps: &[usize], target: usize, slots: usize) -> Option<Vec<usize>> {
    // The last step on a shortest way to each sum, by length.
    let mut last = vec![0; slots];
    let (mut reached, mut next) = (vec![0], Vec::new());
    while !reached.is_empty() && target != 0 && last[target] == 0 {
        for &sum in &reached {
            for &step in steps {
                let further = (sum + step) % slots;
                if further != 0 && last[further] == 0 {
                    last[further] = step;
                    next.push(further);
                }
            }
        }
        reached = std::mem::take(&mut next);
    }
    let (mut path, mut sum) = (Vec::new(), target);
    while sum != 0 {
        match last[sum] {
            0 => return None,
            step => {
                path.push(step);
                sum = (sum + slots - step) % slots;
            }
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::fewest;

    #[test]
    fn sums_are_as_short_as_can_be() {
        let steps = [1, 2, 3, 4, 16, 32];
        let length = |target| fewest(&steps, target, 64).map(|path| path.len());
        assert_eq!([0, 4, 20, 48, 63].map(length), [Some(0), Some(1), Some(2), Some(2), Some(6)]);
        let path = fewest(&steps, 39, 64).unwrap();
        assert_eq!((path.iter().sum::<usize>() % 64, path.len()), (39, 3));
        // What cannot be reached, and a detour around the whole circle.
        assert_eq!(fewest(&[16, 32], 8, 64), None);
        assert_eq!(fewest(&[], 1, 64), None);
        assert_eq!(fewest(&[48], 32, 64), Some(vec![48, 48]));
    }
}
