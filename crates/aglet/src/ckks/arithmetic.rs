//! Encryption and arithmetic as users see it: levels are user levels, scales are canonical, and operands are aligned.
//!
//! Every user level has one scale, `scale(l - 1) = scale(l)^2 / q_l`, so a rescaled product has exactly the scale of
//! its level. To lower a level without a product, a ciphertext is multiplied by one at the matching scale.

use crate::ckks::engine::{Engine, FixedRotationKey, GaloisKey, RelinearizationKey, RotationKey};
use crate::ckks::Ciphertext;
use crate::{Error, LevelError, RangeError};
use aglet_rlwe::{KeyId, KeyRole, KeySet, PublicKey, Sample, SecretKey};
use aglet_schemes::ckks::stated::fresh;
use aglet_schemes::ckks::{self, Known, Number, Plaintext, Stated};
use aglet_schemes::{Approximate, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::sync::Arc;

const ONE: Complex64 = Complex64::new(1.0, 0.0);

impl Engine {
    /// The user level of a ciphertext.
    ///
    /// # Errors
    /// [`Error::Level`] for one inside a bootstrap, below user level 0.
    pub fn level(&self, ct: &Ciphertext) -> Result<usize, Error> {
        Ok(ct.level().checked_sub(self.params().hidden_levels()).ok_or(LevelError::Below)?)
    }
    /// The user level of a plaintext.
    pub fn plaintext_level(&self, pt: &Plaintext) -> usize {
        pt.level().saturating_sub(self.params().hidden_levels())
    }

    /// Encodes one value for each slot. The type decides whether the message is real (`f64`) or complex (`Complex64`),
    /// whatever the values are.
    ///
    /// # Errors
    /// [`Error::Range`] for values that are not finite or so large that they could wrap around at this level,
    /// [`Error::Level`] for a level that does not exist.
    pub fn encode<T: Number>(&self, values: &[T], level: usize) -> Result<Plaintext, Error> {
        let level = self.check_level(level)?;
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level));
        values.iter().try_for_each(|&z| finite(z.into()).map(drop))?;
        let room = self.room(level);
        let largest = values.iter().map(|&z| z.into().norm()).fold(0.0, f64::max);
        if largest >= room {
            return Err(RangeError::Value { value: largest, level, room }.into());
        }
        self.run(|| Ok(self.encoder.encode(&self.ctx, values, chain, scale)?))
    }
    /// Declares a public bound on the values of a message. A ciphertext of it then also tracks its noise through
    /// products.
    ///
    /// # Errors
    /// [`Error::Range`] for a bound that is not positive and finite, or that the message is known to exceed.
    pub fn declare(&self, pt: Plaintext, bound: f64) -> Result<Plaintext, Error> {
        if !(bound > 0.0 && bound.is_finite()) {
            return Err(RangeError::Bound { bound }.into());
        }
        if pt.known.largest.is_some_and(|largest| largest > bound) {
            return Err(RangeError::AboveDeclared { bound }.into());
        }
        Ok(Plaintext { stated: Stated { bound, ..pt.stated }, ..pt })
    }
    /// The values of a plaintext.
    pub fn decode(&self, pt: &Plaintext) -> Result<Vec<Complex64>, Error> {
        self.run(|| Ok(self.encoder.decode(&self.ctx, pt)?))
    }
    /// Encrypts with a public key.
    pub fn encrypt(&self, pt: &Plaintext, key: &PublicKey) -> Result<Ciphertext, Error> {
        let mut random = self.runtime.random("encryption", 0)?;
        let noise = fresh(&self.ctx, false);
        self.run(|| Ok(Arc::new(pt.encrypted(key.encrypt(&self.ctx, &pt.poly, &mut random)?, noise))))
    }
    /// Encrypts with the secret key, with less noise.
    pub fn encrypt_with_secret(&self, pt: &Plaintext, key: &SecretKey) -> Result<Ciphertext, Error> {
        let mut random = self.runtime.random("encryption", 0)?;
        let noise = fresh(&self.ctx, true);
        self.run(|| Ok(Arc::new(pt.encrypted(key.encrypt(&self.ctx, &pt.poly, &mut random)?, noise))))
    }
    /// Decrypts and decodes.
    ///
    /// # Errors
    /// [`Error::Range`] for values that do not fit the modulus of the ciphertext, or may not by what is known of their size and is seen
    /// of their coefficients.
    pub fn decrypt(&self, ct: &Ciphertext, key: &SecretKey) -> Result<Vec<Complex64>, Error> {
        let values = self.decoded(ct, || Ok(key.decrypt(&self.ctx, ct)?))?;
        Self::within_bound(ct, &values)?;
        Ok(values)
    }
    /// The same without the size check: values that do not fit come out reduced modulo the modulus.
    pub fn decrypt_unchecked(&self, ct: &Ciphertext, key: &SecretKey) -> Result<Vec<Complex64>, Error> {
        let all = f64::INFINITY;
        self.run(|| Ok(self.encoder.decode_within(&self.ctx, &ct.decrypted(key.decrypt(&self.ctx, ct)?), all)?))
    }

    /// The same value at a lower user level (or the same).
    pub fn level_down(&self, ct: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        let now = self.level(ct)?;
        if level > now {
            return Err(LevelError::Up { now, level }.into());
        }
        self.fitting(ct.known, level)?;
        self.run(|| self.adjust(ct, level))
    }

    /// Brings a ciphertext to the canonical scale of this level, which is not above its own. Does not run on the thread
    /// pool.
    pub(crate) fn adjust(&self, ct: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        if self.level(ct)? == level {
            return Ok(ct.clone());
        }
        let keys = KeySet::new();
        let e = self.evaluator(&keys, None);
        let chain = self.params().chain_level(level) + 1;
        let scale = self.params().scale_at(level);
        if ct.degree() == 1 {
            let form = Quadratic {
                products: vec![],
                terms: vec![(ONE, ct)],
                constant: Complex64::default(),
                level: chain,
                scale,
            };
            let mut out = self.told(e.quadratic(&form)?, ct.known, ct.real);
            if let Some(x) = Arc::get_mut(&mut out) {
                x.points = ct.points;
            }
            return Ok(out);
        }
        let lower = e.level_down(ct, chain)?;
        let encoded = scale * e.modulus(chain) / lower.scale;
        let scaled = e.mul_constant(&lower, ONE, encoded)?;
        let out = e.rescale(&scaled)?;
        Ok(self.told(at_scale(out, scale), ct.known, ct.real))
    }

    /// The level below, or the error that says there is none.
    fn spend(&self, level: usize) -> Result<usize, Error> {
        Ok(level.checked_sub(1).ok_or(LevelError::NoneLeft)?)
    }

    fn aligned(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(Ciphertext, Ciphertext, usize), Error> {
        let level = self.level(a)?.min(self.level(b)?);
        Ok((self.adjust(a, level)?, self.adjust(b, level)?, level))
    }

    /// A plaintext as a ciphertext without secret part, so that it can be aligned like one.
    fn trivial(&self, pt: &Plaintext, key: KeyId) -> Result<Ciphertext, Error> {
        let ring = self.ctx.ring();
        let polys = vec![ring.copy(&pt.poly, pt.poly.q_limbs())?, ring.zero(pt.poly.q_limbs(), 0)?];
        let (sample, stated) = (Sample { polys, key }, pt.as_operand());
        let Plaintext { scale, slots, known, real, .. } = *pt;
        Ok(Arc::new(ckks::Ciphertext { sample, scale, slots, known, stated, points: None, real }))
    }

    /// A ciphertext and a plaintext at their common level.
    fn aligned_plain(&self, ct: &Ciphertext, pt: &Plaintext) -> Result<(Ciphertext, Plaintext, usize), Error> {
        let trivial = self.trivial(pt, ct.key)?;
        let (ct, trivial, level) = self.aligned(ct, &trivial)?;
        let poly = self.ctx.ring().copy(&trivial.polys[0], trivial.limbs())?;
        let ckks::Ciphertext { scale, slots, known, stated, real, .. } = *trivial;
        Ok((ct, Plaintext { poly, scale, slots, known, stated, real }, level))
    }

    /// `a + b`.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let sum = if Arc::ptr_eq(a, b) { a.known.times(2.0.into()) } else { a.known.plus(&b.known) };
        self.combine(a, b, sum, |e, a, b| e.add(a, b))
    }
    /// `a - b`.
    pub fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.combine(a, b, a.known.plus(&b.known.times(-ONE)), |e, a, b| e.sub(a, b))
    }
    fn combine(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        known: Known,
        f: impl Fn(
                &aglet_schemes::ckks::CkksEvaluator<'_>,
                &Ciphertext,
                &Ciphertext,
            ) -> Result<Ciphertext, aglet_schemes::Error>
            + Send
            + Sync,
    ) -> Result<Ciphertext, Error> {
        let known = self.fitting(known, self.level(a)?.min(self.level(b)?))?;
        self.run(|| {
            let (a, b, _) = self.aligned(a, b)?;
            let (keys, known) = (KeySet::new(), Self::known_beside(known, &[&a, &b]));
            Ok(self.told(f(&self.evaluator(&keys, None), &a, &b)?, known, a.real && b.real))
        })
    }
    /// `a + pt`.
    pub fn add_plain(&self, a: &Ciphertext, pt: &Plaintext) -> Result<Ciphertext, Error> {
        let known = self.fitting(a.known.plus(&pt.known), self.level(a)?.min(self.plaintext_level(pt)))?;
        self.run(|| {
            let (a, pt, _) = self.aligned_plain(a, pt)?;
            let (keys, known) = (KeySet::new(), Self::known_beside(known, &[&a]));
            Ok(self.told(self.evaluator(&keys, None).add_plain(&a, &pt)?, known, a.real && pt.real))
        })
    }
    /// `a - pt`.
    pub fn subtract_plain(&self, a: &Ciphertext, pt: &Plaintext) -> Result<Ciphertext, Error> {
        self.negate(&self.add_plain(&self.negate(a)?, pt)?)
    }
    /// `a + c` for one number in every slot.
    pub fn add_scalar<T: Number>(&self, a: &Ciphertext, c: T) -> Result<Ciphertext, Error> {
        let c = finite(c.into())?;
        let known = self.fitting(a.known.plus_number(c), self.level(a)?)?;
        let keys = KeySet::new();
        self.run(|| Ok(self.told(self.evaluator(&keys, None).add_constant(a, c)?, known, a.real && T::REAL)))
    }
    /// `-a`.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        let keys = KeySet::new();
        self.run(|| Ok(self.told(self.evaluator(&keys, None).negate(a)?, a.known.times(-ONE), a.real)))
    }
    /// A copy.
    pub fn duplicate(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(Arc::new(a.again(copies(self, a)?, 0.0)))
    }

    /// `a * b`; takes one level. With a key the result has degree 1. Without a key it has degree 2 and can be
    /// relinearized later.
    pub fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: Option<&RelinearizationKey>,
    ) -> Result<Ciphertext, Error> {
        let below = self.spend(self.level(a)?.min(self.level(b)?))?;
        [a, b].into_iter().try_for_each(|x| self.fitting(x.known, below + 1).map(drop))?;
        let known = if Arc::ptr_eq(a, b) { a.known.square() } else { a.known.product(&b.known) };
        let known = self.fitting(known, below)?;
        match key {
            Some(key) => self.fits_products("a product", &[(a, b)], below + 1, key)?,
            None => self.fits_tensor([a, b], below + 1)?,
        }
        self.run(|| {
            let (a, b, level) = self.aligned(a, b)?;
            let (scale, real) = (self.params().scale_at(below), a.real && b.real);
            let known = Self::known_beside(known, &[&a, &b]);
            if let Some(key) = key {
                let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
                let products = vec![Product { factor: 1, left: &a, right: &b }];
                let form = Quadratic {
                    products,
                    terms: vec![],
                    constant: Complex64::default(),
                    level: self.params().chain_level(level),
                    scale,
                };
                return Ok(self.told(self.evaluator(&keys, None).quadratic(&form)?, known, real));
            }
            let keys = KeySet::new();
            let e = self.evaluator(&keys, None);
            let out = e.rescale(&e.tensor(&a, &b)?)?;
            Ok(self.told(at_scale(out, scale), known, real))
        })
    }
    /// `a * pt`; takes one level.
    pub fn multiply_plain(&self, a: &Ciphertext, pt: &Plaintext) -> Result<Ciphertext, Error> {
        let below = self.spend(self.level(a)?.min(self.plaintext_level(pt)))?;
        let (known, real) = (self.fitting(a.known.product(&pt.known), below)?, a.real && pt.real);
        self.run(|| {
            let (a, pt, _) = self.aligned_plain(a, pt)?;
            let (keys, known) = (KeySet::new(), Self::known_beside(known, &[&a]));
            let e = self.evaluator(&keys, None);
            let out = e.rescale(&e.mul_plain(&a, &pt)?)?;
            Ok(self.told(at_scale(out, self.params().scale_at(below)), known, real))
        })
    }
    /// `c * a` for one number; takes one level.
    pub fn multiply_scalar<T: Number>(&self, a: &Ciphertext, c: T) -> Result<Ciphertext, Error> {
        let c = finite(c.into())?;
        let level = self.level(a)?;
        let below = self.spend(level)?;
        let known = self.fitting(a.known.times(c), below)?;
        self.run(|| {
            let keys = KeySet::new();
            let e = self.evaluator(&keys, None);
            let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(below));
            let scaled = e.mul_constant(a, c, scale * e.modulus(chain) / a.scale)?;
            let out = e.rescale(&scaled)?;
            Ok(self.told(at_scale(out, scale), known, a.real && T::REAL))
        })
    }
    /// `c * a` for an integer; takes no level.
    pub fn multiply_integer(&self, a: &Ciphertext, c: i64) -> Result<Ciphertext, Error> {
        if c.unsigned_abs() >= 1 << 53 {
            return Err(RangeError::Multiplier { value: c }.into());
        }
        let c = Complex64::new(c as f64, 0.0);
        let known = self.fitting(a.known.times(c), self.level(a)?)?;
        let keys = KeySet::new();
        self.run(|| {
            let out = self.evaluator(&keys, None).mul_constant(a, c, 1.0)?;
            Ok(self.told(out, known, a.real))
        })
    }
    /// `i c a` for an integer; takes no level.
    pub fn multiply_imaginary_integer(&self, a: &Ciphertext, c: i64) -> Result<Ciphertext, Error> {
        let multiple = self.multiply_integer(a, c)?;
        let keys = KeySet::new();
        let known = multiple.known.times(Complex64::I);
        self.run(|| Ok(self.told(self.evaluator(&keys, None).mul_i(&multiple)?, known, false)))
    }
    /// Relinearizes to degree 1; takes no level.
    pub fn relinearize(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext, Error> {
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        self.fits_relinearization(a, key)?;
        self.run(|| Ok(self.evaluator(&keys, None).relinearize(a)?))
    }
    /// The complex conjugate of every slot; takes no level.
    pub fn conjugate(&self, a: &Ciphertext, key: &GaloisKey) -> Result<Ciphertext, Error> {
        self.fits_automorphisms(a, [key.with_role()], false)?;
        let keys = [key.with_role()].into_iter().collect();
        self.run(|| Ok(self.evaluator(&keys, None).conjugate(a)?))
    }
    /// The real parts of all slots, or the imaginary ones, as real numbers. It uses a level.
    pub fn part(&self, a: &Ciphertext, imaginary: bool, key: &GaloisKey) -> Result<Ciphertext, Error> {
        let turned = self.conjugate(a, key)?;
        let twice = match imaginary {
            true => self.multiply_imaginary_integer(&self.subtract(a, &turned)?, -1)?,
            false => self.add(a, &turned)?,
        };
        let mut half = self.multiply_scalar(&twice, 0.5)?;
        // Nobody else has what was just made.
        if let Some(own) = Arc::get_mut(&mut half) {
            own.real = true;
        }
        Ok(half)
    }
    /// Rotates by the key's own delta.
    pub fn rotate_fixed(&self, a: &Ciphertext, key: &FixedRotationKey) -> Result<Ciphertext, Error> {
        self.check_rotation(a, key)?;
        self.fits_automorphisms(a, [key.key.with_role()], false)?;
        self.rotate_by(a, key.delta, &key.key)
    }
    /// Refuses a key that was made for lower levels, or for another secret key.
    pub(crate) fn check_rotation(&self, a: &Ciphertext, key: &FixedRotationKey) -> Result<(), Error> {
        check_owner(a, "fixed rotation key", key.id())?;
        if a.limbs() > key.limbs() {
            let most = key.limbs() - 1 - self.params().hidden_levels();
            return Err(LevelError::RotationKey { most, level: self.level(a)? }.into());
        }
        Ok(())
    }
    /// Rotates by any number of slots to the right, as `numpy.roll`. The rotation is composed of powers of two.
    pub fn rotate(&self, a: &Ciphertext, key: &RotationKey, delta: i64) -> Result<Ciphertext, Error> {
        check_owner(a, "rotation key", key.id())?;
        let mut out = a.clone();
        let delta = delta.rem_euclid(self.slots() as i64);
        let steps = || key.steps.iter().filter(|(step, _)| delta & step != 0);
        self.fits_automorphisms(a, steps().map(|(_, key)| key.with_role()), false)?;
        for (step, key) in steps() {
            out = self.rotate_by(&out, *step, key)?;
        }
        Ok(out)
    }
    fn rotate_by(&self, a: &Ciphertext, delta: i64, key: &GaloisKey) -> Result<Ciphertext, Error> {
        let keys = [key.with_role()].into_iter().collect();
        let left = -(delta.rem_euclid(self.slots() as i64)) as isize;
        // Keys are made for the rotation of the whole ring, of which sparse slots are repetitions.
        self.run(|| Ok(self.evaluator(&keys, None).rotate_ring(a, left)?))
    }
}

/// Refuses a key of another secret key, even if the key has nothing to do (a step of 0, a matrix of one diagonal). A
/// rotation key of one slot may come from an old file, in which such keys have no id.
pub(crate) fn check_owner(ct: &Ciphertext, what: &'static str, found: KeyId) -> Result<(), Error> {
    if found == ct.key || found == KeyId(0) {
        return Ok(());
    }
    Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: ct.key }.into())
}

fn finite(c: Complex64) -> Result<Complex64, Error> {
    if c.is_finite() {
        return Ok(c);
    }
    Err(RangeError::NotFinite { value: c.to_string() }.into())
}

/// Sets a new result to the canonical scale of its level. The scale is the same to 2^-45; this removes its rounding
/// errors.
pub(crate) fn at_scale(mut ct: Ciphertext, scale: f64) -> Ciphertext {
    if let Some(own) = Arc::get_mut(&mut ct) {
        own.scale = scale;
    }
    ct
}

fn copies(engine: &Engine, ct: &Ciphertext) -> Result<Vec<aglet_ring::Poly<aglet_ring::Eval>>, Error> {
    Ok(ct.polys.iter().map(|p| engine.ctx.ring().copy(p, p.q_limbs())).collect::<Result<_, _>>()?)
}
