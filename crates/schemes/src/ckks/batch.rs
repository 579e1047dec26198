//! Operations on several ciphertexts, or with several results, that share work.

use super::approximate::{check_scale, same_scale, Approximate};
use super::evaluator::{constant, encoding_error};
use super::stated::{in_slots, rounding};
use super::transform::{transform, CkksTransform};
use super::{Ciphertext, CkksCiphertext, CkksEvaluator, Plaintext, Stated};
use crate::evaluator::Evaluator;
use crate::linear_map::GiantStep;
use crate::samples::linear;
use crate::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::{Form, KeyProduct, Multiplier};
use aglet_rlwe::keyswitch::{digits, divide_forms, lift_by_special};
use aglet_rlwe::{KeyRole, KeySwitchSpec};
use num_complex::Complex64;
use std::sync::Arc;

/// The weight of one ciphertext in a weighted sum.
pub enum Weight {
    /// One number for all slots.
    Number(Complex64),
    /// One number for each slot, encoded at the level of the sum. Its scale times that of the ciphertext is the scale
    /// before the rescale. It is shared, because it may be used again.
    Slots(Arc<Plaintext>),
}

impl CkksEvaluator<'_> {
    /// Rotates one ciphertext by several steps to the left (of the N/2 slots of the ring). All keys of one shape share
    /// one decomposition (hoisting), so each step takes only a key product and a division by P.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a step without a key of its own.
    pub fn rotate_each(&self, a: &CkksCiphertext, steps: &[isize]) -> Result<Vec<CkksCiphertext>, Error> {
        let (ctx, limbs) = (self.context(), a.limbs());
        let (ring, [c0, c1]) = (ctx.ring(), linear(a)?);
        let mut shared: Vec<(&KeySwitchSpec, Vec<_>, Vec<_>)> = Vec::new();
        let mut out = Vec::with_capacity(steps.len());
        for &by in steps {
            self.check_stop()?;
            if by.rem_euclid(ring.n() as isize / 2) == 0 {
                out.push(a.clone());
                continue;
            }
            let galois = rotation_exponent(by, ring.n());
            let key = self.key(KeyRole::Galois(galois), limbs)?;
            self.own(key, a)?;
            let place = match shared.iter().position(|(spec, ..)| *spec == key.spec()) {
                Some(place) => place,
                None => {
                    let lifted = lift_by_special(ctx, &[c0], key.spec().p_limbs)?;
                    shared.push((key.spec(), digits(ctx, key.spec(), &[c1])?, lifted));
                    shared.len() - 1
                }
            };
            let (_, digits, lifted) = &shared[place];
            let product = KeyProduct { added_before: lifted.first(), ..KeyProduct::of(&digits[0]) };
            let pairs = ring.key_products(&[product], key.words(), Some(&ring.automorphism(galois)))?;
            let noise = key.spec().noise(ctx.params(), limbs) + rounding(ctx, 2);
            let rotated = a.again(self.divided(&pairs[0], 0)?, noise);
            out.push(Arc::new(Ciphertext { known: a.known.rotated(galois), ..rotated }));
        }
        Ok(out)
    }

    /// A linear map on all slots, cut into giant steps, for keys of a given shape, which may have been made for a higher level.
    /// [`Evaluator::encode_transform`] makes it for keys made at `level`, and encodes it for many applications.
    ///
    /// # Errors
    /// As there.
    pub fn transform_for(
        &self,
        spec: &KeySwitchSpec,
        steps: &[GiantStep],
        level: usize,
        scale_ratio: f64,
    ) -> Result<CkksTransform, Error> {
        transform(self, (self.slots(), steps), level, scale_ratio, Some(spec))
    }

    /// `sum weight * ciphertext` at a level, with one rescale to exactly `scale` one level below. The ciphertexts are
    /// at the level or above.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`], [`Error::InvalidScale`], [`Error::ScaleMismatch`], [`Error::LevelTooLow`], [`Error::TooLarge`].
    pub fn weighted_sum(
        &self,
        terms: &[(&CkksCiphertext, Weight)],
        level: usize,
        scale: f64,
    ) -> Result<CkksCiphertext, Error> {
        let any = terms.first().ok_or(Error::EmptyQuadratic)?.0;
        check_scale(scale)?;
        self.check_stop()?;
        if level == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        let encoded = scale * self.modulus(level);
        let mut constants = Vec::new();
        for (ct, weight) in terms {
            self.same_key(any, ct)?;
            linear(ct)?;
            let found = match weight {
                Weight::Number(_) => ct.level(),
                Weight::Slots(pt) => ct.level().min(pt.level()),
            };
            if found < level {
                return Err(Error::LevelTooLow { required: level, actual: found });
            }
            match weight {
                Weight::Number(c) => constants.push((Multiplier::Constant(constant(*c, encoded / ct.scale)?), *ct)),
                Weight::Slots(pt) if same_scale(encoded, pt.scale * ct.scale) => (),
                Weight::Slots(pt) => {
                    return Err(Error::ScaleMismatch { expected: encoded, found: pt.scale * ct.scale });
                }
            }
        }
        let form = |i: usize| {
            let vectors = terms.iter().filter_map(|(ct, weight)| match weight {
                Weight::Number(_) => None,
                Weight::Slots(pt) => Some((1, &ct.polys[i], &pt.poly)),
            });
            let numbers = constants.iter().map(|(c, ct)| (*c, &ct.polys[i]));
            Form { products: vectors.collect(), terms: numbers.collect(), ..Form::default() }
        };
        let weighted = |(ct, weight): &(&CkksCiphertext, Weight)| match weight {
            Weight::Number(c) => ct.stated.times(c.norm(), encoding_error(encoded / ct.scale)),
            Weight::Slots(pt) => ct.stated.product(&pt.as_operand(), ct.repeated(self.context())),
        };
        let stated = terms.iter().map(weighted).fold(Stated::new(0.0, 0.0), |sum, term| sum.plus(&term));
        let mut out = any.with(divide_forms(self.context(), &[form(0), form(1)], (level + 1, 1))?, scale);
        out.stated = stated.disturbed(in_slots(any.slots, rounding(self.context(), 2), scale));
        Ok(Arc::new(out))
    }
}
