//! The step that raises the modulus and applies a linear map in one (eprint 2025/1403).
//!
//! After the modulus is raised, `c1` is one short digit under the sparse secret `s'`. The first linear map of a bootstrap,
//! `sum_i m_i phi_i(c0 + c1 s')`, can therefore be taken together with the switch to the main secret: a key for `i`
//! encrypts `P m_i phi_i(s')`, has one digit and one special prime, and no limb is spent on a rescale.

use super::mod_raise::{raise_one, ModRaise};
use crate::error::Error;
use crate::step::{KeyNeed, RunOn, Scaled, Step};
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::Tally;
use aglet_rlwe::Params;
use aglet_rlwe::{KeyRole, KeySwitchSpec};
use aglet_schemes::approximate::check_scale;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::noisy::NoisyEvaluator;
use aglet_schemes::{Approximate, Error as SchemeError, LinearMap};

/// Evaluators that have keys from the sparse secret which carry the diagonals of a map.
pub trait RaiseTransform: ModRaise {
    /// [`ModRaise::mod_raise`] and a linear map on all slots of the ring in one, of several, which may share the reading of
    /// keys: no level, and `out.scale = in.scale * scale_ratio`.
    ///
    /// # Errors
    /// Those of [`ModRaise::mod_raise`], [`SchemeError::SlotMismatch`], [`SchemeError::InvalidScale`], a missing key.
    fn raise_transforms(
        &self,
        of: &[Self::Ciphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError>;
}

/// Raises the modulus through a map that the keys back to the main secret carry; no level is spent.
#[derive(Debug, Clone, PartialEq)]
pub struct RaiseMap {
    /// The map, on all slots of the ring.
    pub map: LinearMap,
    /// Output scale over input scale.
    pub scale_ratio: f64,
}

impl Step for RaiseMap {
    type Place = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        from.level == 0 && to.level + 1 == moduli.len()
    }
    fn keys_needed(&self, _: &Scaled, to: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let role = |&by: &usize| KeyRole::FromSparseGalois(rotation_exponent(by as isize, params.n()));
        let spec = KeySwitchSpec::from_sparse(to.level + 1);
        Ok(self.map.diagonals().keys().map(|by| KeyNeed { role: role(by), spec: spec.clone() }).collect())
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("{} diagonals, carried by the keys; 1 digit", keys.len()))
    }
}

impl<E: RaiseTransform> RunOn<E> for RaiseMap {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Scaled,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.raise_transforms(cts, to.level, &self.map, self.scale_ratio)?)
    }
}

impl RaiseTransform for CkksEvaluator<'_> {
    fn raise_transforms(
        &self,
        of: &[CkksCiphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<CkksCiphertext>, SchemeError> {
        self.raise_through(of, level, map, scale_ratio)
    }
}

impl RaiseTransform for ClearEvaluator {
    fn raise_transforms(
        &self,
        of: &[ClearCiphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<ClearCiphertext>, SchemeError> {
        check_scale(scale_ratio)?;
        let one = |ct: &ClearCiphertext| {
            let raised = self.mod_raise(ct, level)?;
            self.encrypt(&map.apply(raised.values())?, level, self.scale(ct) * scale_ratio)
        };
        of.iter().map(one).collect()
    }
}

impl RaiseTransform for NoisyEvaluator {
    fn raise_transforms(
        &self,
        of: &[ClearCiphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<ClearCiphertext>, SchemeError> {
        // One switch for each diagonal, which is in its key.
        let variance = map.diagonals().len() as f64 * self.noise().sparse_switch + self.noise().rounding();
        let one = |ct: &ClearCiphertext| {
            let rounded = self.rounded(map, scale_ratio * self.noise().special);
            let raised = self.clear().raise_transforms(std::slice::from_ref(ct), level, &rounded, scale_ratio)?;
            Ok(self.disturbed(raised[0].clone(), variance))
        };
        match self.is_on() {
            true => of.iter().map(one).collect(),
            false => self.clear().raise_transforms(of, level, map, scale_ratio),
        }
    }
}

impl RaiseTransform for CostEvaluator {
    fn raise_transforms(
        &self,
        of: &[CostCiphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<CostCiphertext>, SchemeError> {
        check_scale(scale_ratio)?;
        let limbs = level + 1;
        self.sharing(of, |ct| {
            let keys = map.diagonals().keys().map(|&by| self.key(KeyRole::FromSparseGalois(self.rotation(by)), limbs));
            let keys = keys.collect::<Result<Vec<_>, _>>()?;
            let spec = *keys.first().ok_or(SchemeError::zero_map(map.slots()))?;
            raise_one(self, limbs + spec.p_limbs);
            let row = Tally::rotated_sum(self.n(), map.diagonals().len() as u64);
            self.count(row.times((limbs + spec.p_limbs) as u64));
            self.divide(limbs, spec.p_limbs, 0);
            // The part of c0 goes through the map in doubles.
            self.inverse(1);
            self.forward(limbs);
            Ok(self.encrypt(level, self.scale(ct) * scale_ratio))
        })
    }
}
