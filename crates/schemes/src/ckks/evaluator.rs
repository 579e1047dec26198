//! The CKKS evaluator: [`Evaluator`] on ciphertexts.

use super::keys::missing;
use super::quadratic::divided;
use super::transform::{encode, transforms, CkksTransform};
use super::{Ciphertext, CkksCiphertext, Plaintext};
use crate::approximate::{multiple, product, same_scale, Approximate, Quadratic};
use crate::evaluator::Evaluator;
use crate::linear_map::LinearMap;
use crate::Error;
use aglet_ring::arch::Form;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::{Eval, Modulus, Poly};
use aglet_rlwe::keyswitch::{divide, lift_by_special, products, Pair, Switched};
use aglet_rlwe::{Context, Digits, KeyRole, KeySet, SwitchingKey};
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

/// A complex constant as the two values that `re + im X^(N/2)` takes, on the first and on the second half of a limb.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    re: i128,
    im: i128,
}

impl Constant {
    pub(super) const ZERO: Self = Self { re: 0, im: 0 };

    pub(super) fn new(c: Complex64, scale: f64) -> Result<Self, Error> {
        let round = |x: f64| {
            let x = x * scale;
            if x.is_nan() || x.abs() > 1e37 {
                return Err(Error::TooLarge { log2: x.abs().log2() });
            }
            Ok(x.round() as i128)
        };
        Ok(Self { re: round(c.re)?, im: round(c.im)? })
    }
    fn halves(self, m: &Modulus, imaginary_unit: u64) -> [u64; 2] {
        let (re, im) = (m.reduce_i128(self.re), m.mul(m.reduce_i128(self.im), imaginary_unit));
        [m.add(re, im), m.sub(re, im)]
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
    pub(super) fn check_stop(&self) -> Result<(), Error> {
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
    pub(super) fn key(&self, role: KeyRole, limbs: usize) -> Result<&'a SwitchingKey, Error> {
        let key = self.keys.find(role, limbs).map(|key| &**key);
        key.ok_or_else(|| missing(role, limbs, self.ctx.ring().n()))
    }

    /// One polynomial of a form: `(sum factor x y + sum c z + constant) special`, at `limbs` limbs. `special` is the number
    /// of special primes whose product multiplies the whole.
    pub(super) fn form(
        &self,
        limbs: usize,
        products: &[(i32, &Poly<Eval>, &Poly<Eval>)],
        terms: &[(Constant, &Poly<Eval>)],
        constant: Constant,
        special: usize,
    ) -> Result<Poly<Eval>, Error> {
        let ring = self.ctx.ring();
        let mut out = ring.scratch(limbs, 0)?;
        let half = ring.n() / 2;
        ring.for_limbs(&mut out, |prime, i, limb| {
            let (m, unit) = (ring.modulus(prime), ring.table(prime).imaginary_unit());
            let terms: Vec<_> = terms.iter().map(|(c, x)| (c.halves(m, unit), x.limb(i))).collect();
            let constant = constant.halves(m, unit);
            for (h, part) in limb.chunks_mut(half).enumerate() {
                let range = h * half..(h + 1) * half;
                let pairs = products.iter().flat_map(|&(factor, x, y)| {
                    let pair = (&x.limb(i)[range.clone()], &y.limb(i)[range.clone()]);
                    std::iter::repeat_n(pair, factor.unsigned_abs() as usize)
                });
                let form = Form {
                    products: pairs.collect(),
                    terms: terms.iter().map(|(c, x)| (&x[range.clone()], c[h])).collect(),
                    constant: constant[h],
                    factor: (special > 0).then(|| self.ctx.special(special, prime)),
                };
                ring.kernels().form(m, &form, part);
            }
        });
        Ok(out)
    }

    /// Applies X -> X^galois to ciphertexts of one level and returns to the secret key.
    fn automorphisms(&self, of: &[CkksCiphertext], galois: u64) -> Result<Vec<CkksCiphertext>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let (ctx, key) = (self.ctx, self.key(KeyRole::Galois(galois), first.limbs())?);
        let mut parts = Vec::with_capacity(of.len());
        for a in of {
            self.check_stop()?;
            self.own(key, a)?;
            if a.level() != first.level() {
                return Err(Error::LevelMismatch { left: first.level(), right: a.level() });
            }
            let [c0, c1] = linear(a)?;
            parts.push((Digits::new(ctx, key.spec(), c1)?, lift_by_special(ctx, c0, key.spec().p_limbs)?));
        }
        let inputs = parts.iter().map(|(digits, lifted)| Switched { digits, rotated: Some(lifted), plain: None });
        let turned = products(ctx, key, Some(&ctx.ring().automorphism(galois)), &inputs.collect::<Vec<_>>())?;
        let finish = |(a, (b, a1)): (&CkksCiphertext, &Pair)| {
            let mut out = a.with(vec![divide(ctx, b, 0)?, divide(ctx, a1, 0)?], a.scale).real_if(a.real);
            out.bound = a.bound;
            Ok(Arc::new(out))
        };
        of.iter().zip(&turned).map(finish).collect()
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
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && b.real)))
    }

    /// Rotates the N/2 slots of the ring, of which fewer slots are repetitions, to the left.
    pub fn rotate_ring(&self, a: &CkksCiphertext, by: isize) -> Result<CkksCiphertext, Error> {
        let n = self.ctx.ring().n();
        if by.rem_euclid(n as isize / 2) == 0 {
            return Ok(a.clone());
        }
        Ok(self.automorphisms(std::slice::from_ref(a), rotation_exponent(by, n))?.remove(0))
    }

    /// The product of two ciphertexts as a ciphertext of degree 2, neither relinearised nor rescaled.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless both stand at one level.
    pub fn tensor(&self, a: &CkksCiphertext, b: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        self.same_key(a, b)?;
        if a.level() != b.level() {
            return Err(Error::LevelMismatch { left: a.level(), right: b.level() });
        }
        let ([a0, a1], [b0, b1]) = (linear(a)?, linear(b)?);
        let zero = Constant { re: 0, im: 0 };
        let polys = vec![
            self.form(a.limbs(), &[(1, a0, b0)], &[], zero, 0)?,
            self.form(a.limbs(), &[(1, a0, b1), (1, a1, b0)], &[], zero, 0)?,
            self.form(a.limbs(), &[(1, a1, b1)], &[], zero, 0)?,
        ];
        Ok(Arc::new(a.with(polys, a.scale * b.scale).real_if(a.real && b.real)))
    }

    /// Brings a ciphertext of degree 2 back to degree 1; one of degree 1 is returned as it is.
    pub fn relinearise(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        let [c0, c1, c2] = &a.polys[..] else { return Ok(a.clone()) };
        self.check_stop()?;
        let key = self.key(KeyRole::Square, a.limbs())?;
        self.own(key, a)?;
        let p_limbs = key.spec().p_limbs;
        let digits = Digits::new(self.ctx, key.spec(), c2)?;
        let lifted = (lift_by_special(self.ctx, c0, p_limbs)?, lift_by_special(self.ctx, c1, p_limbs)?);
        let (b, a1) = digits.product(self.ctx, key, None, None, Some((&lifted.0, &lifted.1)))?;
        let polys = vec![divide(self.ctx, &b, 0)?, divide(self.ctx, &a1, 0)?];
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real)))
    }

    /// Divides value scale and modulus by the highest prime: one level.
    pub fn rescale(&self, a: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        if a.level() == 0 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        self.check_stop()?;
        let polys = a.polys.iter().map(|p| divide(self.ctx, p, 1)).collect::<Result<_, _>>()?;
        Ok(Arc::new(a.with(polys, a.scale / self.modulus(a.level())).real_if(a.real)))
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
        Ok(Arc::new(a.with(polys, a.scale).real_if(a.real && pt.real)))
    }

    /// `a * pt`, not rescaled; the plaintext stands at the level of `a` or higher.
    pub fn mul_plain(&self, a: &CkksCiphertext, pt: &Plaintext) -> Result<CkksCiphertext, Error> {
        if pt.level() < a.level() {
            return Err(Error::LevelTooLow { required: a.level(), actual: pt.level() });
        }
        let zero = Constant { re: 0, im: 0 };
        let polys = a.polys.iter().map(|p| self.form(a.limbs(), &[(1, p, &pt.poly)], &[], zero, 0));
        Ok(Arc::new(a.with(polys.collect::<Result<_, _>>()?, a.scale * pt.scale).real_if(a.real && pt.real)))
    }

    /// `c * a` with the constant encoded at `scale`, not rescaled: `scale` 1 and an integer cost nothing.
    pub fn mul_constant(&self, a: &CkksCiphertext, c: Complex64, scale: f64) -> Result<CkksCiphertext, Error> {
        let real = a.real && c.im == 0.0;
        let (c, zero) = (Constant::new(c, scale)?, Constant { re: 0, im: 0 });
        let polys = a.polys.iter().map(|p| self.form(a.limbs(), &[], &[(c, p)], zero, 0));
        Ok(Arc::new(a.with(polys.collect::<Result<_, _>>()?, a.scale * scale).real_if(real)))
    }

    /// `a + c` for a constant in every slot.
    pub fn add_constant(&self, a: &CkksCiphertext, c: Complex64) -> Result<CkksCiphertext, Error> {
        let real = a.real && c.im == 0.0;
        let (c, one) = (Constant::new(c, a.scale)?, Constant { re: 1, im: 0 });
        let zero = Constant { re: 0, im: 0 };
        let polys = a.polys.iter().enumerate();
        let polys = polys.map(|(i, p)| self.form(a.limbs(), &[], &[(one, p)], if i == 0 { c } else { zero }, 0));
        Ok(Arc::new(a.with(polys.collect::<Result<_, _>>()?, a.scale).real_if(real)))
    }
}

/// The two polynomials of a ciphertext of degree 1.
pub(super) fn linear(a: &Ciphertext) -> Result<[&Poly<Eval>; 2], Error> {
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
            x.bound = a.bound;
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
        let digits = Digits::new(ctx, first.spec(), c1)?;
        let lifted = lift_by_special(ctx, c0, first.spec().p_limbs)?;
        let mut sum: Option<(Poly<Eval>, Poly<Eval>)> = None;
        for (key, phi) in &keys {
            let before = sum.as_ref().map(|(b, c)| (b, c));
            sum = Some(digits.product(ctx, key, Some(phi), Some(&lifted), before)?);
        }
        let mut polys = Vec::with_capacity(2);
        for x in sum.iter().flat_map(|(b, c)| [b, c]) {
            polys.push(divide(ctx, x, 0)?);
        }
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
