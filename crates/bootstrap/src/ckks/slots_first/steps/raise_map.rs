//! The step that raises the modulus and applies a linear map in one (eprint 2025/1403).
//!
//! After the modulus is raised, `c1` is one short digit under the sparse secret `s'`. The first linear map of a bootstrap,
//! `sum_i m_i phi_i(c0 + c1 s')`, can therefore be taken together with the switch to the main secret: a key for `i`
//! encrypts `P m_i phi_i(s')`, has one digit and one special prime, and `sum_i phi_i(c1) key_i / P` is the part of `c1`. No
//! limb is spent on a rescale, as the division by P is one.

use super::encapsulate::at_bottom;
use super::mod_raise::{raisable, raise_one, ModRaise};
use crate::error::Error;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::ring::Ring;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, KeyProduct, Pair, Tally};
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, Params, SecretKey, SwitchingKey};
use aglet_schemes::ckks::approximate::check_scale;
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{too_large, CkksCiphertext, CkksEvaluator, Encoder};
use aglet_schemes::samples::linear;
use aglet_schemes::{Approximate, Error as SchemeError, LinearMap};
use std::sync::Arc;

/// Evaluators with keys from the sparse secret that carry the diagonals of a map.
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

/// Raises the modulus and applies a map, which the keys back to the main secret carry. Takes no level.
#[derive(Debug, Clone, PartialEq)]
pub struct RaiseMap {
    /// The map, on all slots of the ring.
    pub map: LinearMap,
    /// Output scale over input scale.
    pub scale_ratio: f64,
}

impl RaiseMap {
    /// The key for one of the diagonals, by its Galois element: from the sparse secret to the main one, carrying the diagonal at
    /// the scale `scale_ratio P`. `None` if the map has no such diagonal.
    ///
    /// # Errors
    /// [`SchemeError::SlotMismatch`] unless the map is on all slots of the ring; a diagonal too large for its scale.
    pub fn key(
        &self,
        ctx: &Context,
        spec: &KeySwitchSpec,
        galois: u64,
        (sparse, main): (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Option<SwitchingKey>, SchemeError> {
        let ring = ctx.ring();
        whole_ring(ring, &self.map)?;
        let found = self.map.diagonals().iter().find(|(&by, _)| rotation_exponent(by as isize, ring.n()) == galois);
        let Some((_, values)) = found else { return Ok(None) };
        let special = ctx.params().p()[..spec.p_limbs].iter().map(|&p| p as f64).product::<f64>();
        let limbs = (spec.q_limbs, spec.p_limbs);
        let plain = Encoder::new(ctx, values.len())?.polynomial(ctx, values, self.scale_ratio * special, limbs)?;
        let key = SwitchingKey::weighted_galois(ctx, spec.clone(), &plain, galois, (sparse, main), random)?;
        Ok(Some(key))
    }
}

/// Refuses a map that is not on all slots of the ring.
fn whole_ring(ring: &Ring, map: &LinearMap) -> Result<(), SchemeError> {
    match (ring.n() / 2, map.slots()) {
        (expected, found) if expected != found => Err(SchemeError::SlotMismatch { expected, found }),
        _ => Ok(()),
    }
}

impl Step for RaiseMap {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        from.level == 0 && to.level + 1 == moduli.len()
    }
    fn keys_needed(&self, _: &Scaled, to: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let role = |&by: &usize| KeyRole::SparseToDenseGalois(rotation_exponent(by as isize, params.n()));
        let spec = KeySwitchSpec::sparse_to_dense(to.level + 1);
        Ok(self.map.diagonals().keys().map(|by| KeyNeed { role: role(by), spec: spec.clone() }).collect())
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("{} diagonals, carried by the keys; 1 digit", keys.len()))
    }
}

impl<E: RaiseTransform> RunOn<E> for RaiseMap {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
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
        of.iter().try_for_each(|ct| at_bottom(ct))?;
        check_scale(scale_ratio)?;
        let ring = self.context().ring();
        raisable(ring, level)?;
        self.check_stop()?;
        let keys = map.diagonals().keys().map(|&by| {
            let galois = rotation_exponent(by as isize, ring.n());
            Ok((self.key(KeyRole::SparseToDenseGalois(galois), level + 1)?, ring.automorphism(galois)))
        });
        let keys = keys.collect::<Result<Vec<_>, SchemeError>>()?;
        whole_ring(ring, map)?;
        let (first, _) = keys.first().ok_or(SchemeError::zero_map(map.slots()))?;
        let c1 = of.iter().map(|ct| Ok(linear(ct)?[1])).collect::<Result<Vec<_>, SchemeError>>()?;
        let raised = ring.raise(&c1, level + 1, first.spec().p_limbs)?;
        let raised: Vec<Digits> = raised.into_iter().map(Digits::single).collect();
        let words: Vec<_> = keys.iter().map(|(key, phi)| (key.words(), &**phi)).collect();
        let products: Vec<_> = raised.iter().map(KeyProduct::of).collect();
        let sums = ring.rotated_sums(&products, &words)?;
        let finish = |(ct, pair): (&CkksCiphertext, &Pair)| {
            self.check_stop()?;
            let mut polys = self.divided(pair, 0)?;
            // The part of c0 is public and short, so doubles do.
            let public = ring.public_map(linear(ct)?[0], level + 1, map.diagonals(), scale_ratio);
            ring.add_assign(&mut polys[0], &public.map_err(too_large)?)?;
            let mut out = ct.with(polys, ct.scale * scale_ratio);
            out.sample.key = first.id();
            Ok(Arc::new(out))
        };
        of.iter().zip(&sums).map(finish).collect()
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
        let switched = map.diagonals().len() as f64 * self.noise().sparse_switch;
        let one = |ct: &ClearCiphertext| {
            let rounded = self.rounded(map, scale_ratio * self.noise().special);
            let raised = self.clear().raise_transforms(std::slice::from_ref(ct), level, &rounded, scale_ratio)?;
            Ok(self.disturbed(raised[0].clone(), switched, self.noise().rounding()))
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
        let keys = map.diagonals().keys().map(|&by| self.key(KeyRole::SparseToDenseGalois(self.rotation(by)), limbs));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let p_limbs = keys.first().ok_or(SchemeError::zero_map(map.slots()))?.p_limbs;
        let _raised: Vec<_> = of.iter().map(|_| raise_one(self, limbs + p_limbs)).collect();
        let row = Tally::rotated_sum(self.n(), 1, map.diagonals().len() as u64).times((limbs + p_limbs) as u64);
        let _sums = self.sharing(of, |_| {
            self.count(row);
            Ok([(); 2].map(|()| self.hold(limbs + p_limbs)))
        })?;
        let finish = |ct: &CostCiphertext| {
            let polys = self.divide(limbs, p_limbs, 0);
            // The part of c0 goes through the map in doubles.
            let _public = [self.hold(1), self.hold(limbs)];
            self.inverse(1);
            self.forward(limbs);
            CostCiphertext::new(polys, level, self.scale(ct) * scale_ratio)
        };
        Ok(of.iter().map(finish).collect())
    }
}
