//! The CKKS evaluator: [`Evaluator`] on ciphertexts.

use super::approximate::{multiple, product, same_scale, Approximate};
use super::quadratic::divided;
use super::stated::rounding;
use super::transform::{transform, transforms, CkksTransform};
use super::{Ciphertext, CkksCiphertext, Plaintext, Stated};
use crate::evaluator::Evaluator;
use crate::forms::Quadratic;
use crate::linear_map::LinearMap;
use crate::samples::{linear, SampleEvaluator};
use crate::Error;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::{Constant, Eval, Form, KeyProduct, Multiplier, Poly};
use aglet_rlwe::keyswitch::{digits, lift_by_special};
use aglet_rlwe::{Context, KeyRole, KeySet};
use num_complex::Complex64;
use std::any::Any;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// Arithmetic on CKKS ciphertexts of one context with one set of keys. It never changes its inputs. On phases it is a
/// [`SampleEvaluator`].
#[derive(Clone, Copy)]
pub struct CkksEvaluator<'a> {
    samples: SampleEvaluator<'a>,
    slots: usize,
    /// Keys of a kind that only a crate above knows.
    others: Option<&'a (dyn Any + Send + Sync)>,
}

impl<'a> Deref for CkksEvaluator<'a> {
    type Target = SampleEvaluator<'a>;
    fn deref(&self) -> &SampleEvaluator<'a> {
        &self.samples
    }
}

/// The nearest constant to `c` at a scale.
pub(super) fn constant(c: Complex64, scale: f64) -> Result<Constant, Error> {
    let round = |x: f64| {
        let x = x * scale;
        if x.is_nan() || x.abs() > 1e37 {
            return Err(Error::TooLarge { log2: x.abs().log2() });
        }
        Ok(x.round() as i128)
    };
    Ok(Constant { re: round(c.re)?, im: round(c.im)? })
}

/// By how much [`constant`] may be off, whatever the number: what is stated tells nothing of it but its size. At the scale 1 it is
/// given integers.
pub(super) fn encoding_error(scale: f64) -> f64 {
    if scale == 1.0 {
        0.0
    } else {
        std::f64::consts::FRAC_1_SQRT_2 / scale
    }
}

impl<'a> CkksEvaluator<'a> {
    /// An evaluator on vectors of `slots` numbers.
    pub fn new(ctx: &'a Context, keys: &'a KeySet, slots: usize) -> Self {
        Self { samples: SampleEvaluator::new(ctx, keys), slots, others: None }
    }
    /// [`SampleEvaluator::stopped_by`].
    #[must_use]
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Self { samples: self.samples.stopped_by(flag), ..self }
    }

    /// With keys beside the switching keys, of a kind that only a crate above knows.
    #[must_use]
    pub fn with_others(self, keys: Option<&'a (dyn Any + Send + Sync)>) -> Self {
        Self { others: keys, ..self }
    }
    /// These keys, if they are of this kind.
    #[must_use]
    pub fn others<K: Any>(&self) -> Option<&'a K> {
        self.others?.downcast_ref()
    }

    /// Applies X -> X^galois to ciphertexts of one level and returns to the secret key.
    fn automorphisms(&self, of: &[CkksCiphertext], galois: u64) -> Result<Vec<CkksCiphertext>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let key = self.key(KeyRole::Galois(galois), first.limbs())?;
        let (ctx, samples) = (self.context(), of.iter().map(|a| &a.sample).collect::<Vec<_>>());
        let noise = key.spec().noise(ctx.params(), first.limbs()) + rounding(ctx, 2);
        let finish = |(a, polys): (&CkksCiphertext, _)| {
            let known = match galois == conjugation_exponent(ctx.ring().n()) {
                true => a.known.conjugate(),
                false => a.known.rotated(galois),
            };
            Arc::new(Ciphertext { known, ..a.again(polys, noise) })
        };
        Ok(of.iter().zip(self.samples.automorphisms(&samples, galois)?).map(finish).collect())
    }

    fn sum(
        &self,
        a: &CkksCiphertext,
        b: &CkksCiphertext,
        f: impl Fn(&mut Poly<Eval>, &Poly<Eval>) -> Result<(), aglet_ring::Error>,
    ) -> Result<CkksCiphertext, Error> {
        if a.level() == b.level() && !same_scale(a.scale, b.scale) {
            self.same_key(a, b)?;
            return Err(Error::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        let polys = self.samples.sum(a, b, f)?;
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && b.real).stating(a.stated.plus(&b.stated))))
    }

    /// Rotates the N/2 slots of the ring to the left. Fewer message slots repeat through them.
    pub fn rotate_ring(&self, a: &CkksCiphertext, by: isize) -> Result<CkksCiphertext, Error> {
        let n = self.context().ring().n();
        if by.rem_euclid(n as isize / 2) == 0 {
            return Ok(a.clone());
        }
        Ok(self.automorphisms(std::slice::from_ref(a), rotation_exponent(by, n))?.remove(0))
    }

    /// The product of two ciphertexts as a ciphertext of degree 2, neither relinearized nor rescaled.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless both have the same level.
    pub fn tensor(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        let polys = self.samples.tensor(a, b, None)?;
        let stated = a.stated.product(&b.stated, a.repeated(self.context()));
        Ok(Arc::new(a.with(polys, a.scale * b.scale).real_if(a.real && b.real).stating(stated)))
    }

    /// Brings a ciphertext of degree 2 back to degree 1; one of degree 1 is returned as it is.
    pub fn relinearize(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        if a.degree() == 1 {
            return Ok(a.clone());
        }
        let (ctx, polys) = (self.context(), self.relinearized(a, 0)?);
        let key = self.key(KeyRole::Relinearization, a.limbs())?;
        Ok(Arc::new(a.again(polys, key.spec().noise(ctx.params(), a.limbs()) + rounding(ctx, 2))))
    }

    /// Rescales: divides scale and modulus by the highest prime. Takes one level.
    pub fn rescale(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        let (polys, scale) = (self.rescaled(&a.polys)?, a.scale / self.modulus(a.level()));
        let stated = a.with_error(rounding(self.context(), a.polys.len()), scale);
        Ok(Arc::new(a.with(polys, scale).real_if(a.real).stating(stated)))
    }

    /// `a + pt`. Level and scale must agree, or the plaintext has a higher level.
    pub fn add_plain(&self, a: &CkksCiphertext, pt: &Plaintext) -> Result<CkksCiphertext, Error> {
        if pt.level() < a.level() {
            return Err(Error::LevelTooLow { required: a.level(), actual: pt.level() });
        }
        if !same_scale(a.scale, pt.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: pt.scale });
        }
        let ring = self.context().ring();
        let mut polys = a.polys.iter().map(|p| ring.copy(p, a.limbs())).collect::<Result<Vec<_>, _>>()?;
        ring.add_assign(&mut polys[0], &pt.poly)?;
        let stated = a.stated.plus(&pt.as_operand());
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && pt.real).stating(stated)))
    }

    /// `a * pt`, not rescaled. The plaintext has the level of `a` or a higher one.
    pub fn mul_plain(&self, a: &CkksCiphertext, pt: &Plaintext) -> Result<CkksCiphertext, Error> {
        if pt.level() < a.level() {
            return Err(Error::LevelTooLow { required: a.level(), actual: pt.level() });
        }
        let forms: Vec<_> = a.polys.iter().map(|p| Form::product(p, &pt.poly)).collect();
        let stated = a.stated.product(&pt.as_operand(), a.repeated(self.context()));
        let polys = self.forms(&forms, a.limbs())?;
        Ok(Arc::new(a.with(polys, a.scale * pt.scale).real_if(a.real && pt.real).stating(stated)))
    }

    /// `c * a` with the constant encoded at `scale`, not rescaled. `scale` 1 and an integer take no level.
    pub fn mul_constant(&self, a: &CkksCiphertext, c: Complex64, scale: f64) -> Result<CkksCiphertext, Error> {
        let real = a.real && c.im == 0.0;
        let stated = a.stated.times(c.norm(), encoding_error(scale));
        let c = Multiplier::Constant(constant(c, scale)?);
        let forms: Vec<_> = a.polys.iter().map(|p| Form::multiple(c, p)).collect();
        Ok(Arc::new(a.with(self.forms(&forms, a.limbs())?, a.scale * scale).real_if(real).stating(stated)))
    }

    /// `a + c` for a constant in every slot.
    pub fn add_constant(&self, a: &CkksCiphertext, c: Complex64) -> Result<CkksCiphertext, Error> {
        let real = a.real && c.im == 0.0;
        let one = |p| Form::multiple(Multiplier::integer(1), p);
        let mut forms: Vec<_> = a.polys.iter().map(one).collect();
        forms[0].constant = Multiplier::Constant(constant(c, a.scale)?);
        let stated = a.stated.plus(&Stated::new(c.norm(), 1.0 / a.scale));
        Ok(Arc::new(a.with(self.forms(&forms, a.limbs())?, a.scale).real_if(real).stating(stated)))
    }
}

impl Evaluator for CkksEvaluator<'_> {
    type Scalar = Complex64;
    type Ciphertext = CkksCiphertext;
    type Transform = CkksTransform;
    fn slots(&self) -> usize {
        self.slots
    }
    fn level(&self, ct: &CkksCiphertext) -> usize {
        ct.level()
    }
    fn add(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.sum(a, b, |x, y| self.context().ring().add_assign(x, y))
    }
    fn sub(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.sum(a, b, |x, y| self.context().ring().sub_assign(x, y))
    }
    fn negate(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        let mut out = self.mul_constant(a, Complex64::new(-1.0, 0.0), 1.0)?;
        if let Some(x) = Arc::get_mut(&mut out) {
            x.known = a.known.times(Complex64::new(-1.0, 0.0));
        }
        Ok(out)
    }
    fn level_down(&self, a: &CkksCiphertext, level: usize) -> Result<CkksCiphertext, Error> {
        if level > a.level() {
            return Err(Error::LevelTooLow { required: level, actual: a.level() });
        }
        if level == a.level() {
            return Ok(a.clone());
        }
        Ok(Arc::new(a.truncated(self.context(), level + 1)?))
    }
    fn rotate(&self, a: &CkksCiphertext, by: isize) -> Result<CkksCiphertext, Error> {
        self.rotate_ring(a, by.rem_euclid(self.slots as isize))
    }
    fn rotate_sum(&self, a: &CkksCiphertext, by: &[usize]) -> Result<CkksCiphertext, Error> {
        self.check_stop()?;
        let (ctx, n, limbs, [c0, c1]) = (self.context(), self.context().ring().n(), a.limbs(), linear(a)?);
        let key_of = |by: usize| {
            let galois = rotation_exponent(by as isize, n);
            let key = self.key(KeyRole::Galois(galois), limbs)?;
            self.own(key, a)?;
            Ok::<_, Error>((key, ctx.ring().automorphism(galois)))
        };
        let keys = by.iter().map(|&by| key_of(by)).collect::<Result<Vec<_>, _>>()?;
        let Some((first, _)) = keys.first() else { return Ok(a.clone()) };
        if keys.iter().any(|(key, _)| key.spec().cut(limbs) != first.spec().cut(limbs)) {
            return Err(Error::MissingKey {
                what: format!("keys of one shape that rotate by {by:?} at {limbs} limbs"),
            });
        }
        // The keys share the digits; their sum stays modulo QP.
        let digits = digits(ctx, first.spec(), &[c1])?;
        let lifted = lift_by_special(ctx, &[c0], first.spec().p_limbs)?;
        let rotated = KeyProduct { digits: &digits[0], added_before: lifted.first(), added_after: None };
        let words: Vec<_> = keys.iter().map(|(key, phi)| (key.words(), &**phi)).collect();
        let sums = ctx.ring().rotated_sums(&[rotated], &words)?;
        let mut polys = self.divided(&sums[0], 0)?;
        polys.iter_mut().zip(&a.polys).try_for_each(|(x, y)| ctx.ring().add_assign(x, y))?;
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real)))
    }
    fn transform(&self, ct: &CkksCiphertext, t: &CkksTransform) -> Result<CkksCiphertext, Error> {
        Ok(self.transforms(std::slice::from_ref(ct), t)?.remove(0))
    }
    fn transforms(&self, of: &[CkksCiphertext], t: &CkksTransform) -> Result<Vec<CkksCiphertext>, Error> {
        transforms(self, of, t)
    }
    fn mul(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        product(self, a, b)
    }
    fn mul_scalar(&self, a: &CkksCiphertext, c: Complex64) -> Result<CkksCiphertext, Error> {
        multiple(self, a, c)
    }
    fn add_scalar(&self, a: &CkksCiphertext, c: Complex64) -> Result<CkksCiphertext, Error> {
        self.add_constant(a, c)
    }
    fn encode_map(&self, map: &LinearMap, level: usize) -> Result<CkksTransform, Error> {
        self.encode_transform(map, level, 1.0)
    }
}

impl Approximate for CkksEvaluator<'_> {
    fn scale(&self, ct: &CkksCiphertext) -> f64 {
        ct.scale
    }
    fn modulus(&self, level: usize) -> f64 {
        self.context().modulus(level)
    }
    fn quadratic(&self, form: &Quadratic<'_, CkksCiphertext>) -> Result<CkksCiphertext, Error> {
        Ok(self.quadratics(std::slice::from_ref(form))?.remove(0))
    }
    fn unrescaled(&self, forms: &[Quadratic<'_, CkksCiphertext>]) -> Result<Vec<CkksCiphertext>, Error> {
        divided(self, forms, 0)
    }
    fn quadratics(&self, forms: &[Quadratic<'_, CkksCiphertext>]) -> Result<Vec<CkksCiphertext>, Error> {
        divided(self, forms, 1)
    }
    fn mul_i(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.mul_constant(a, Complex64::new(0.0, 1.0), 1.0)
    }
    fn conjugate(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        Ok(self.conjugates(std::slice::from_ref(a))?.remove(0))
    }
    fn conjugates(&self, of: &[CkksCiphertext]) -> Result<Vec<CkksCiphertext>, Error> {
        self.automorphisms(of, conjugation_exponent(self.context().ring().n()))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<CkksTransform, Error> {
        transform(self, (map.slots(), &map.giant_steps()), level, scale_ratio, None)?.encoded(self)
    }
}
