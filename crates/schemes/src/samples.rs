//! Arithmetic on RLWE samples, which schemes over the ring share: what it does to phases is the same whatever they mean.

use crate::missing_keys::missing;
use crate::Error;
use aglet_ring::{Eval, Form, KeyProduct, Multiplier, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, divide, lift_by_special};
use aglet_rlwe::{Context, KeyRole, KeySet, Sample, SwitchingKey};
use std::sync::atomic::{AtomicBool, Ordering};

/// Sums without products that are divided together: tiles of what they share stay in a cache.
pub(crate) const SHARING: usize = 16;

/// Samples of one context with one set of keys. Inputs are never changed.
#[derive(Clone, Copy)]
pub struct SampleEvaluator<'a> {
    ctx: &'a Context,
    keys: &'a KeySet,
    stop: Option<&'a AtomicBool>,
}

/// The two polynomials of a sample of degree 1.
///
/// # Errors
/// That of its degree.
pub fn linear(a: &Sample) -> Result<[&Poly<Eval>; 2], Error> {
    match &a.polys[..] {
        [c0, c1] => Ok([c0, c1]),
        _ => Err(aglet_rlwe::Error::Degree { degree: a.degree() }.into()),
    }
}

impl<'a> SampleEvaluator<'a> {
    /// For one context and its keys.
    pub fn new(ctx: &'a Context, keys: &'a KeySet) -> Self {
        Self { ctx, keys, stop: None }
    }
    /// The same, whose operations end with [`Error::Cancelled`] once `flag` is set: checked before each key switch, rescale, giant step
    /// and encoded diagonal, so within a tenth of a second at the largest sizes.
    #[must_use]
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Self { stop: Some(flag), ..self }
    }
    /// [`Error::Cancelled`] once the flag is set.
    ///
    /// # Errors
    /// That.
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
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn key(&self, role: KeyRole, limbs: usize) -> Result<&'a SwitchingKey, Error> {
        let key = self.keys.find(role, limbs).map(|key| &**key);
        key.ok_or_else(|| missing(role, limbs, self.ctx.ring().n()))
    }
    /// Refuses a key of another secret key.
    ///
    /// # Errors
    /// [`aglet_rlwe::Error::KeyMismatch`].
    pub fn own(&self, key: &SwitchingKey, a: &Sample) -> Result<(), Error> {
        match key.id() == a.key {
            true => Ok(()),
            false => {
                let e = aglet_rlwe::Error::KeyMismatch { what: "evaluation key", found: key.id(), expected: a.key };
                Err(e.into())
            }
        }
    }
    /// Refuses samples of two secret keys.
    pub(crate) fn same_key(&self, a: &Sample, b: &Sample) -> Result<(), Error> {
        match a.key == b.key {
            true => Ok(()),
            false => Err(aglet_rlwe::Error::KeyMismatch { what: "ciphertext", found: b.key, expected: a.key }.into()),
        }
    }

    /// Evaluates forms at `limbs` limbs.
    pub(crate) fn forms(&self, forms: &[Form<'_>], limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        Ok(self.ctx.ring().forms(forms, limbs, 0)?)
    }
    /// The halves of a product with a key, divided by its special primes and the `drop` highest ones of the chain.
    ///
    /// # Errors
    /// Those of [`divide`].
    pub fn divided(&self, (b, a): &Pair, drop: usize) -> Result<Vec<Poly<Eval>>, Error> {
        Ok(divide(self.ctx, &[b, a], drop)?)
    }

    /// The sum of two samples of equally many limbs, or what else `f` does to a polynomial. One of degree 2 may meet one of degree 1.
    pub(crate) fn sum(
        &self,
        a: &Sample,
        b: &Sample,
        f: impl Fn(&mut Poly<Eval>, &Poly<Eval>) -> Result<(), aglet_ring::Error>,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        self.same_key(a, b)?;
        if a.limbs() != b.limbs() {
            return Err(Error::LevelMismatch { left: a.limbs() - 1, right: b.limbs() - 1 });
        }
        let ring = self.ctx.ring();
        let one = |i: usize| {
            let mut x = match a.polys.get(i) {
                Some(p) => ring.copy(p, a.limbs())?,
                None => ring.zero(a.limbs(), 0)?,
            };
            if let Some(y) = b.polys.get(i) {
                f(&mut x, y)?;
            }
            Ok(x)
        };
        (0..a.polys.len().max(b.polys.len())).map(one).collect()
    }

    /// The product of two samples as one of degree 2, times a factor.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless both have equally many limbs.
    pub(crate) fn tensor(
        &self,
        a: &Sample,
        b: &Sample,
        factor: Option<Multiplier<'_>>,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        self.same_key(a, b)?;
        if a.limbs() != b.limbs() {
            return Err(Error::LevelMismatch { left: a.limbs() - 1, right: b.limbs() - 1 });
        }
        let ([a0, a1], [b0, b1]) = (linear(a)?, linear(b)?);
        let of = |products| Form { products, factor, ..Form::default() };
        let forms = [of(vec![(1, a0, b0)]), of(vec![(1, a0, b1), (1, a1, b0)]), of(vec![(1, a1, b1)])];
        self.forms(&forms, a.limbs())
    }

    /// Applies X -> X^galois to samples of equally many limbs and returns to the secret key.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], a key that is missing or of another secret key.
    pub(crate) fn automorphisms(&self, of: &[&Sample], galois: u64) -> Result<Vec<Vec<Poly<Eval>>>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let (ctx, key) = (self.ctx, self.key(KeyRole::Galois(galois), first.limbs())?);
        let (mut c0, mut c1) = (Vec::with_capacity(of.len()), Vec::with_capacity(of.len()));
        for a in of {
            self.check_stop()?;
            self.own(key, a)?;
            if a.limbs() != first.limbs() {
                return Err(Error::LevelMismatch { left: first.limbs() - 1, right: a.limbs() - 1 });
            }
            c0.push(linear(a)?[0]);
            c1.push(linear(a)?[1]);
        }
        let lifted = lift_by_special(ctx, &c0, key.spec().p_limbs)?;
        let digits = digits(ctx, key.spec(), &c1)?;
        let with = |(digits, lifted)| KeyProduct { added_before: Some(lifted), ..KeyProduct::of(digits) };
        let inputs: Vec<_> = digits.iter().zip(&lifted).map(with).collect();
        let rotated = ctx.ring().key_products(&inputs, key.words(), Some(&ctx.ring().automorphism(galois)))?;
        drop((digits, lifted));
        rotated.iter().map(|pair| self.divided(pair, 0)).collect()
    }

    /// Brings a sample of degree 2 back to degree 1, divided by the `drop` highest primes of the chain on the way.
    ///
    /// # Errors
    /// A sample of degree 1; a key that is missing or of another secret key.
    pub(crate) fn relinearized(&self, a: &Sample, drop: usize) -> Result<Vec<Poly<Eval>>, Error> {
        let [c0, c1, c2] = &a.polys[..] else {
            return Err(aglet_rlwe::Error::Degree { degree: a.degree() }.into());
        };
        self.check_stop()?;
        let key = self.key(KeyRole::Relinearization, a.limbs())?;
        self.own(key, a)?;
        let digits = digits(self.ctx, key.spec(), &[c2])?;
        let lifted = lift_by_special(self.ctx, &[c0, c1], key.spec().p_limbs)?;
        let product = KeyProduct { added_after: Some((&lifted[0], &lifted[1])), ..KeyProduct::of(&digits[0]) };
        let pairs = self.ctx.ring().key_products(&[product], key.words(), None)?;
        std::mem::drop((digits, lifted));
        self.divided(&pairs[0], drop)
    }

    /// Switches a sample at the lowest modulus to the sparse secret of a bootstrap.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] above the lowest modulus (a key for a higher one must never exist), a key that is missing.
    pub fn dense_to_sparse(&self, a: &Sample) -> Result<Sample, Error> {
        if a.limbs() != 1 {
            return Err(Error::LevelMismatch { left: a.limbs() - 1, right: 0 });
        }
        self.check_stop()?;
        let ([c0, c1], key) = (linear(a)?, self.key(KeyRole::DenseToSparse, 1)?);
        let lifted = lift_by_special(self.ctx, &[c0], key.spec().p_limbs)?;
        let digits = digits(self.ctx, key.spec(), &[c1])?;
        let product = KeyProduct { added_before: lifted.first(), ..KeyProduct::of(&digits[0]) };
        let pairs = self.ctx.ring().key_products(&[product], key.words(), None)?;
        Ok(Sample { polys: self.divided(&pairs[0], 0)?, key: key.id() })
    }

    /// Divides by the highest prime.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] if it is the only one.
    pub(crate) fn rescaled(&self, polys: &[Poly<Eval>]) -> Result<Vec<Poly<Eval>>, Error> {
        if polys[0].q_limbs() == 1 {
            return Err(Error::LevelTooLow { required: 1, actual: 0 });
        }
        self.check_stop()?;
        Ok(divide(self.ctx, &polys.iter().collect::<Vec<_>>(), 1)?)
    }
}
