//! The CKKS evaluator: [`Evaluator`] on ciphertexts.

use super::keys::missing;
use super::quadratic::divided;
use super::stated::rounding;
use super::transform::{encode, transforms, CkksTransform};
use super::{Ciphertext, CkksCiphertext, Plaintext, Stated};
use crate::approximate::{multiple, product, same_scale, Approximate, Quadratic};
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use crate::Error;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::{Constant, Eval, Form, KeyProduct, Multiplier, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, divide, lift_by_special};
use aglet_rlwe::{Context, KeyRole, KeySet, SwitchingKey};
use num_complex::Complex64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Arithmetic on CKKS ciphertexts of one context with one set of keys. Inputs are never changed.
#[derive(Clone, Copy)]
pub struct CkksEvaluator<'a> {
    ctx: &'a Context,
    keys: &'a KeySet,
    slots: usize,
    stop: Option<&'a AtomicBool>,
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
        Self { ctx, keys, slots, stop: None }
    }
    /// The same evaluator, whose operations end with [`Error::Cancelled`] once `flag` is set: checked before each
    /// key switch, rescale, giant step and encoded diagonal, so within a tenth of a second at the largest sizes.
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Self { stop: Some(flag), ..self }
    }
    /// [`Error::Cancelled`] once the flag is set.
    pub fn check_stop(&self) -> Result<(), Error> {
        match self.stop {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
    /// The context.
    pub fn context(&self) -> &'a Context {
        self.ctx
    }
    /// The keys.
    pub fn keys(&self) -> &'a KeySet {
        self.keys
    }
    /// The smallest key of a role that serves so many limbs.
    pub fn key(&self, role: KeyRole, limbs: usize) -> Result<&'a SwitchingKey, Error> {
        let key = self.keys.find(role, limbs).map(|key| &**key);
        key.ok_or_else(|| missing(role, limbs, self.ctx.ring().n()))
    }

    /// Evaluates forms at `limbs` limbs.
    pub(super) fn forms(&self, forms: &[Form<'_>], limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        Ok(self.ctx.ring().forms(forms, limbs, 0)?)
    }

    /// Applies X -> X^galois to ciphertexts of one level and returns to the secret key.
    fn automorphisms(&self, of: &[CkksCiphertext], galois: u64) -> Result<Vec<CkksCiphertext>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let (ctx, key) = (self.ctx, self.key(KeyRole::Galois(galois), first.limbs())?);
        let (mut c0, mut c1) = (Vec::with_capacity(of.len()), Vec::with_capacity(of.len()));
        for a in of {
            self.check_stop()?;
            self.own(key, a)?;
            if a.level() != first.level() {
                return Err(Error::LevelMismatch { left: first.level(), right: a.level() });
            }
            c0.push(linear(a)?[0]);
            c1.push(linear(a)?[1]);
        }
        let lifted = lift_by_special(ctx, &c0, key.spec().p_limbs)?;
        let digits = digits(ctx, key.spec(), &c1)?;
        let inputs: Vec<_> = digits
            .iter()
            .zip(&lifted)
            .map(|(digits, lifted)| KeyProduct { added_before: Some(lifted), ..KeyProduct::of(digits) })
            .collect();
        let turned = ctx.ring().key_products(&inputs, key.words(), Some(&ctx.ring().automorphism(galois)))?;
        drop((digits, lifted));
        let noise = key.spec().noise(ctx.params(), first.limbs()) + rounding(ctx, 2);
        let finish = |(a, pair): (&CkksCiphertext, &Pair)| {
            let mut out = a.again(self.divided(pair, 0)?, noise);
            if galois == conjugation_exponent(ctx.ring().n()) {
                out.known = a.known.conjugate();
            }
            Ok(Arc::new(out))
        };
        of.iter().zip(&turned).map(finish).collect()
    }

    /// The halves of a product with a key, divided by its special primes and the `drop` highest ones of the chain.
    pub fn divided(&self, (b, a): &Pair, drop: usize) -> Result<Vec<Poly<Eval>>, Error> {
        Ok(divide(self.ctx, &[b, a], drop)?)
    }

    /// Refuses a key of another secret key.
    pub(super) fn own(&self, key: &SwitchingKey, a: &Ciphertext) -> Result<(), Error> {
        if key.id() != a.key {
            let e = aglet_rlwe::Error::KeyMismatch { what: "evaluation key", found: key.id(), expected: a.key };
            return Err(e.into());
        }
        Ok(())
    }

    pub(super) fn same_key(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), Error> {
        if a.key != b.key {
            let e = aglet_rlwe::Error::KeyMismatch { what: "ciphertext", found: b.key, expected: a.key };
            return Err(e.into());
        }
        Ok(())
    }

    fn sum(
        &self,
        a: &CkksCiphertext,
        b: &CkksCiphertext,
        f: impl Fn(&mut Poly<Eval>, &Poly<Eval>),
    ) -> Result<CkksCiphertext, Error> {
        self.same_key(a, b)?;
        if a.level() != b.level() {
            return Err(Error::LevelMismatch { left: a.level(), right: b.level() });
        }
        if !same_scale(a.scale, b.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        let ring = self.ctx.ring();
        let longest = a.polys.len().max(b.polys.len());
        let mut polys = Vec::with_capacity(longest);
        for i in 0..longest {
            let mut x = match a.polys.get(i) {
                Some(p) => ring.copy(p, a.limbs())?,
                None => ring.zero(a.limbs(), 0)?,
            };
            if let Some(y) = b.polys.get(i) {
                f(&mut x, y);
            }
            polys.push(x);
        }
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && b.real).stating(a.stated.plus(&b.stated))))
    }

    /// Rotates the N/2 slots of the ring, of which fewer slots are repetitions, to the left.
    pub fn rotate_ring(&self, a: &CkksCiphertext, by: isize) -> Result<CkksCiphertext, Error> {
        let n = self.ctx.ring().n();
        if by.rem_euclid(n as isize / 2) == 0 {
            return Ok(a.clone());
        }
        Ok(self.automorphisms(std::slice::from_ref(a), rotation_exponent(by, n))?.remove(0))
    }

    /// The product of two ciphertexts as a ciphertext of degree 2, neither relinearized nor rescaled.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless both stand at one level.
    pub fn tensor(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.same_key(a, b)?;
        if a.level() != b.level() {
            return Err(Error::LevelMismatch { left: a.level(), right: b.level() });
        }
        let ([a0, a1], [b0, b1]) = (linear(a)?, linear(b)?);
        let cross = Form { products: vec![(1, a0, b1), (1, a1, b0)], ..Form::default() };
        let polys = self.forms(&[Form::product(a0, b0), cross, Form::product(a1, b1)], a.limbs())?;
        let stated = a.stated.product(&b.stated, a.repeated(self.ctx));
        Ok(Arc::new(a.with(polys, a.scale * b.scale).real_if(a.real && b.real).stating(stated)))
    }

    /// Brings a ciphertext of degree 2 back to degree 1; one of degree 1 is returned as it is.
    pub fn relinearize(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        let [c0, c1, c2] = &a.polys[..] else { return Ok(a.clone()) };
        self.check_stop()?;
        let key = self.key(KeyRole::Square, a.limbs())?;
        self.own(key, a)?;
        let digits = digits(self.ctx, key.spec(), &[c2])?;
        let lifted = lift_by_special(self.ctx, &[c0, c1], key.spec().p_limbs)?;
        let product = KeyProduct { added_after: Some((&lifted[0], &lifted[1])), ..KeyProduct::of(&digits[0]) };
        let mut pairs = self.ctx.ring().key_products(&[product], key.words(), None)?;
        let polys = self.divided(&pairs.remove(0), 0)?;
        Ok(Arc::new(a.again(polys, key.spec().noise(self.ctx.params(), a.limbs()) + rounding(self.ctx, 2))))
    }

    /// Divides value scale and modulus by the highest prime: one level.
    pub fn rescale(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        if a.level() == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        self.check_stop()?;
        let polys = divide(self.ctx, &a.polys.iter().collect::<Vec<_>>(), 1)?;
        let scale = a.scale / self.modulus(a.level());
        let stated = a.with_error(rounding(self.ctx, a.polys.len()), scale);
        Ok(Arc::new(a.with(polys, scale).real_if(a.real).stating(stated)))
    }

    /// `a + pt`; level and scale must agree, or the plaintext stand higher.
    pub fn add_plain(&self, a: &CkksCiphertext, pt: &Plaintext) -> Result<CkksCiphertext, Error> {
        if pt.level() < a.level() {
            return Err(Error::LevelTooLow { required: a.level(), actual: pt.level() });
        }
        if !same_scale(a.scale, pt.scale) {
            return Err(Error::ScaleMismatch { expected: a.scale, found: pt.scale });
        }
        let ring = self.ctx.ring();
        let mut polys = a.polys.iter().map(|p| ring.copy(p, a.limbs())).collect::<Result<Vec<_>, _>>()?;
        ring.add_assign(&mut polys[0], &pt.poly);
        let stated = a.stated.plus(&pt.as_operand());
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && pt.real).stating(stated)))
    }

    /// `a * pt`, not rescaled; the plaintext stands at the level of `a` or higher.
    pub fn mul_plain(&self, a: &CkksCiphertext, pt: &Plaintext) -> Result<CkksCiphertext, Error> {
        if pt.level() < a.level() {
            return Err(Error::LevelTooLow { required: a.level(), actual: pt.level() });
        }
        let forms: Vec<_> = a.polys.iter().map(|p| Form::product(p, &pt.poly)).collect();
        let stated = a.stated.product(&pt.as_operand(), a.repeated(self.ctx));
        let polys = self.forms(&forms, a.limbs())?;
        Ok(Arc::new(a.with(polys, a.scale * pt.scale).real_if(a.real && pt.real).stating(stated)))
    }

    /// `c * a` with the constant encoded at `scale`, not rescaled: `scale` 1 and an integer cost nothing.
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
        forms[0].constant = constant(c, a.scale)?;
        let stated = a.stated.plus(&Stated::new(c.norm(), 1.0 / a.scale));
        Ok(Arc::new(a.with(self.forms(&forms, a.limbs())?, a.scale).real_if(real).stating(stated)))
    }
}

/// The two polynomials of a ciphertext of degree 1.
///
/// # Errors
/// That of its degree.
pub fn linear(a: &Ciphertext) -> Result<[&Poly<Eval>; 2], Error> {
    match &a.polys[..] {
        [c0, c1] => Ok([c0, c1]),
        _ => Err(aglet_rlwe::Error::Degree { degree: a.degree() }.into()),
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
        self.sum(a, b, |x, y| self.ctx.ring().add_assign(x, y))
    }
    fn sub(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.sum(a, b, |x, y| self.ctx.ring().sub_assign(x, y))
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
        Ok(Arc::new(a.truncated(self.ctx, level + 1)?))
    }
    fn rotate(&self, a: &CkksCiphertext, by: isize) -> Result<CkksCiphertext, Error> {
        self.rotate_ring(a, by.rem_euclid(self.slots as isize))
    }
    fn rotate_sum(&self, a: &CkksCiphertext, by: &[usize]) -> Result<CkksCiphertext, Error> {
        self.check_stop()?;
        let (ctx, n, limbs, [c0, c1]) = (self.ctx, self.ctx.ring().n(), a.limbs(), linear(a)?);
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
        let mut sum: Option<Pair> = None;
        for (key, phi) in &keys {
            let turned = KeyProduct {
                digits: &digits[0],
                added_before: lifted.first(),
                added_after: sum.as_ref().map(|(b, a)| (b, a)),
            };
            sum = ctx.ring().key_products(&[turned], key.words(), Some(phi))?.pop();
        }
        let mut polys = match &sum {
            Some(sum) => self.divided(sum, 0)?,
            None => return Ok(a.clone()),
        };
        polys.iter_mut().zip(&a.polys).for_each(|(x, y)| ctx.ring().add_assign(x, y));
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real)))
    }
    fn transform(&self, ct: &CkksCiphertext, t: &CkksTransform) -> Result<CkksCiphertext, Error> {
        Ok(transforms(self, std::slice::from_ref(ct), t)?.remove(0))
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
        self.ctx.modulus(level)
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
        self.automorphisms(of, conjugation_exponent(self.ctx.ring().n()))
    }
    fn encode_transform(&self, map: &LinearMap, level: usize, scale_ratio: f64) -> Result<CkksTransform, Error> {
        encode(self, map, level, scale_ratio, None)
    }
}
