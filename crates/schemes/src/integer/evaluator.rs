//! Arithmetic on integers: sums across levels, products with numbers in the clear, rotations of rows and columns.

use super::encrypt::{phase, phase_of_number, too_noisy};
use super::noise::{Division, Noise};
use super::product::join;
use super::{Ciphertext, IntegerCiphertext, IntegerParams};
use crate::samples::{linear, SampleEvaluator};
use crate::Error;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::{Eval, Form, Multiplier, Poly};
use aglet_rlwe::{Context, KeySet};
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// Bits that the budget of a ciphertext must keep where its limbs are only dropped.
pub(super) const SPARE_BITS: f64 = 10.0;
/// Messages of a weighted sum that are encoded at a time: they take as much memory as eight ciphertexts.
pub(super) const TERMS_AT_ONCE: usize = 16;

/// Arithmetic on integers of one context with one set of keys. It never changes its inputs. On phases it is a
/// [`SampleEvaluator`].
///
/// Operands may have any levels and correction factors. The higher one is brought down to the level and factor of the
/// other, so the result of a sum or product is never scaled.
#[derive(Clone, Copy)]
pub struct IntegerEvaluator<'a> {
    samples: SampleEvaluator<'a>,
    pub(super) params: &'a IntegerParams,
}

impl<'a> Deref for IntegerEvaluator<'a> {
    type Target = SampleEvaluator<'a>;
    fn deref(&self) -> &SampleEvaluator<'a> {
        &self.samples
    }
}

impl<'a> IntegerEvaluator<'a> {
    /// For the parameters of a context.
    pub fn new(ctx: &'a Context, params: &'a IntegerParams, keys: &'a KeySet) -> Self {
        Self { samples: SampleEvaluator::new(ctx, keys), params }
    }
    /// [`SampleEvaluator::stopped_by`].
    #[must_use]
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Self { samples: self.samples.stopped_by(flag), ..self }
    }

    /// Bits of modulus that are free by the bound on the noise; 0 or below is lost.
    #[must_use]
    pub fn budget(&self, ct: &Ciphertext) -> f64 {
        self.params.budget_at(ct.level(), ct.noise)
    }

    /// Refuses a result that would not decrypt.
    pub(super) fn checked(&self, ct: Ciphertext) -> Result<IntegerCiphertext, Error> {
        match self.budget(&ct) > 0.0 {
            true => Ok(Arc::new(ct)),
            false => Err(too_noisy(self.params, &ct)),
        }
    }

    /// The centred residue of a number modulo t.
    pub(super) fn centred(&self, x: u64) -> i64 {
        self.params.plain().centre(x)
    }

    fn multiple(&self, polys: &[Poly<Eval>], by: i64) -> Result<Vec<Poly<Eval>>, Error> {
        let one = |poly| Form::multiple(Multiplier::integer(i128::from(by)), poly);
        self.forms(&polys.iter().map(one).collect::<Vec<_>>(), polys[0].q_limbs())
    }

    /// The same message with another correction factor, at the same level: the noise grows by up to t/2.
    fn with_correction_factor(
        &self,
        a: &IntegerCiphertext,
        correction_factor: u64,
    ) -> Result<IntegerCiphertext, Error> {
        if a.correction_factor == correction_factor {
            return Ok(a.clone());
        }
        let t = self.params.plain();
        let by = self.centred(t.mul(correction_factor, t.inv(a.correction_factor)));
        self.checked(a.with(
            self.multiple(&a.polys, by)?,
            correction_factor,
            a.noise.times(by.unsigned_abs().max(1) as f64),
        ))
    }

    /// The same sample, read as a multiple of its message with the canonical correction factor of its level, and the residue by which the
    /// multiple is multiplied to be the message: a polynomial of it takes that into its coefficients, and no noise comes of the factor.
    ///
    /// # Errors
    /// Out of memory.
    pub fn as_multiple(&self, a: &IntegerCiphertext) -> Result<(IntegerCiphertext, u64), Error> {
        let (t, canonical) = (self.params.plain(), self.params.correction_factor_at(a.level()));
        if a.correction_factor == canonical {
            return Ok((a.clone(), 1));
        }
        let sample = a.sample.truncated(self.context(), a.limbs())?;
        let multiple = Ciphertext { sample, correction_factor: canonical, noise: a.noise };
        Ok((Arc::new(multiple), t.mul(canonical, t.inv(a.correction_factor))))
    }

    /// Modulus switching: brings a ciphertext down to a level, with the canonical correction factor of that level. The
    /// multiplication that this takes is undone by a rescale.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] if it is below.
    pub fn level_down(&self, a: &IntegerCiphertext, level: usize) -> Result<IntegerCiphertext, Error> {
        self.brought_to(a, level, self.params.correction_factor_at(level))
    }

    /// At a level with a correction factor: if it comes from above, the multiplication is undone by a rescale.
    pub(super) fn brought_to(
        &self,
        a: &IntegerCiphertext,
        level: usize,
        correction_factor: u64,
    ) -> Result<IntegerCiphertext, Error> {
        let t = self.params.plain();
        linear(a)?;
        if a.level() < level {
            return Err(Error::LevelTooLow { required: level, actual: a.level() });
        }
        let mut at = a.clone();
        while at.level() > level + 1 {
            let below = at.level() - 1;
            at = match self.params.budget_at(below, at.noise) > SPARE_BITS {
                true => Arc::new(Ciphertext { sample: at.sample.truncated(self.context(), below + 1)?, ..*at }),
                false => self.rescaled_by(&at, 1)?,
            };
        }
        match at.level() == level {
            true => self.with_correction_factor(&at, correction_factor),
            false => {
                let q = t.reduce(self.context().params().q()[level + 1]);
                let by = self.centred(t.mul(t.mul(correction_factor, q), t.inv(at.correction_factor)));
                self.rescaled_by(&at, by)
            }
        }
    }

    /// The same message one level lower, divided by the highest prime. Its correction factor changes with it: nothing is multiplied, so
    /// noise falls by the whole prime.
    ///
    /// # Errors
    /// [`Error::LevelTooLow`] at level 0, a product that is not relinearized.
    pub fn rescale(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        linear(a)?;
        match a.level() {
            0 => Err(Error::LevelTooLow { required: 1, actual: 0 }),
            _ => self.rescaled_by(a, 1),
        }
    }

    /// A multiple of the message, divided by the highest prime.
    fn rescaled_by(&self, a: &IntegerCiphertext, by: i64) -> Result<IntegerCiphertext, Error> {
        let (t, q) = (self.params.plain(), self.context().params().q()[a.level()]);
        let polys = match by {
            1 => self.rescaled(&a.polys)?,
            _ => self.rescaled(&self.multiple(&a.polys, by)?)?,
        };
        let correction_factor = t.mul(t.mul(a.correction_factor, t.reduce_i64(by)), t.inv(t.reduce(q)));
        let noise = a.noise.times(by.unsigned_abs() as f64).divided(self.params, q, Division::Switch);
        self.checked(a.with(polys, correction_factor, noise))
    }

    /// Both at the lower of their levels. The higher one takes the correction factor of the other, which costs nothing.
    pub(super) fn at_one_level(
        &self,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
    ) -> Result<(IntegerCiphertext, IntegerCiphertext), Error> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match a.level().cmp(&b.level()) {
            Equal => Ok((a.clone(), b.clone())),
            Less => Ok((a.clone(), self.brought_to(b, a.level(), a.correction_factor)?)),
            Greater => Ok((self.brought_to(a, b.level(), b.correction_factor)?, b.clone())),
        }
    }

    /// Both at the lower of their levels, with one correction factor. A product that is not relinearized keeps its correction factor, and noise that is large
    /// beside what a multiple has.
    pub(super) fn aligned(
        &self,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
    ) -> Result<(IntegerCiphertext, IntegerCiphertext), Error> {
        let level = a.level().min(b.level());
        if a.level() == b.level() && a.correction_factor == b.correction_factor {
            return Ok((a.clone(), b.clone()));
        }
        match (a.degree(), b.degree()) {
            (1, 1) => {
                let (a, b) = self.at_one_level(a, b)?;
                match b.correction_factor == self.params.correction_factor_at(level) {
                    true => Ok((self.with_correction_factor(&a, b.correction_factor)?, b)),
                    false => Ok((a.clone(), self.with_correction_factor(&b, a.correction_factor)?)),
                }
            }
            (1, _) => Ok((
                self.with_correction_factor(&self.lowered(a, level)?, b.correction_factor)?,
                self.lowered(b, level)?,
            )),
            _ => Ok((
                self.lowered(a, level)?,
                self.with_correction_factor(&self.lowered(b, level)?, a.correction_factor)?,
            )),
        }
    }

    /// Limbs dropped down to a level, where there are more: the factor stays, and so does the noise.
    fn lowered(&self, a: &IntegerCiphertext, level: usize) -> Result<IntegerCiphertext, Error> {
        match a.level() == level {
            true => Ok(a.clone()),
            false => self.checked(Ciphertext { sample: a.sample.truncated(self.context(), level + 1)?, ..**a }),
        }
    }

    /// `a + b`.
    ///
    /// # Errors
    /// Ciphertexts of two keys; [`Error::Noise`].
    pub fn add(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        let (a, b) = self.aligned(a, b)?;
        let polys = self.sum(&a, &b, |x, y| self.context().ring().add_assign(x, y))?;
        self.checked(a.with(polys, a.correction_factor, a.noise.plus(b.noise)))
    }

    /// `a - b`.
    ///
    /// # Errors
    /// Those of [`IntegerEvaluator::add`].
    pub fn sub(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        let (a, b) = self.aligned(a, b)?;
        let polys = self.sum(&a, &b, |x, y| self.context().ring().sub_assign(x, y))?;
        self.checked(a.with(polys, a.correction_factor, a.noise.plus(b.noise)))
    }

    /// `-a`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn negate(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        Ok(Arc::new(a.with(self.multiple(&a.polys, -1)?, a.correction_factor, a.noise)))
    }

    /// `c a` for the same number in every slot, a residue modulo t; takes no level.
    ///
    /// # Errors
    /// [`Error::Noise`].
    pub fn mul_number(&self, a: &IntegerCiphertext, c: u64) -> Result<IntegerCiphertext, Error> {
        let c = self.centred(self.params.plain().reduce(c));
        let noise = a.noise.times(c.unsigned_abs().max(1) as f64);
        self.checked(a.with(self.multiple(&a.polys, c)?, a.correction_factor, noise))
    }

    /// The product with a message, given by its coefficients and their largest size at the roots
    /// ([`Encoder::largest_value`](super::Encoder::largest_value)). It takes no level, but adds noise.
    ///
    /// # Errors
    /// [`Error::Noise`].
    pub fn mul_plain(
        &self,
        a: &IntegerCiphertext,
        (coefficients, largest): (&[i64], f64),
    ) -> Result<IntegerCiphertext, Error> {
        let ring = self.context().ring();
        let plain = ring.public_values(coefficients, ring.scratch(a.limbs(), 0)?);
        let forms: Vec<_> = a.polys.iter().map(|poly| Form::product(poly, &plain)).collect();
        self.checked(a.with(self.forms(&forms, a.limbs())?, a.correction_factor, a.noise.times(largest)))
    }

    /// `sum m a` at the lowest level, for messages m as [`IntegerEvaluator::mul_plain`] takes them. It takes no level, but adds noise.
    ///
    /// # Errors
    /// [`Error::EmptyQuadratic`], products that are not relinearized, ciphertexts of two keys, [`Error::Noise`].
    pub fn weighted_sum(&self, terms: &[(&IntegerCiphertext, (&[i64], f64))]) -> Result<IntegerCiphertext, Error> {
        let (first, _) = terms.iter().min_by_key(|(a, _)| a.level()).ok_or(Error::EmptyQuadratic)?;
        let (ring, limbs) = (self.context().ring(), first.limbs());
        let (mut polys, mut noise): (Option<Vec<Poly<Eval>>>, Option<Noise>) = (None, None);
        for part in terms.chunks(TERMS_AT_ONCE) {
            self.check_stop()?;
            let mut factors = Vec::with_capacity(part.len());
            for (a, (coefficients, largest)) in part {
                self.same_key(first, a)?;
                linear(a)?;
                let a = match a.level() > first.level() {
                    true => self.brought_to(a, first.level(), first.correction_factor)?,
                    false => self.with_correction_factor(a, first.correction_factor)?,
                };
                noise = join(noise, a.noise.times(*largest));
                factors.push((a, ring.public_values(coefficients, ring.scratch(limbs, 0)?)));
            }
            let form = |i: usize| {
                let products = factors.iter().map(|(a, plain)| (1, &a.polys[i], plain)).collect();
                let before = polys.iter().map(|sum| (Multiplier::integer(1), &sum[i])).collect();
                Form { products, terms: before, ..Form::default() }
            };
            polys = Some(self.forms(&[form(0), form(1)], limbs)?);
        }
        let (polys, noise) = polys.zip(noise).ok_or(Error::EmptyQuadratic)?;
        self.checked(first.with(polys, first.correction_factor, noise))
    }

    /// The sum with a message, given by its coefficients.
    ///
    /// # Errors
    /// [`Error::Noise`].
    pub fn add_plain(&self, a: &IntegerCiphertext, coefficients: &[i64]) -> Result<IntegerCiphertext, Error> {
        let ring = self.context().ring();
        let mut polys = a.polys.iter().map(|p| ring.copy(p, a.limbs())).collect::<Result<Vec<_>, _>>()?;
        ring.add_assign(
            &mut polys[0],
            &phase(self.context(), self.params, coefficients, (a.correction_factor, a.level()))?,
        )?;
        self.checked(a.with(polys, a.correction_factor, a.noise.plus(Noise::message(self.params))))
    }

    /// The sum with the same number in every slot.
    ///
    /// # Errors
    /// [`Error::Noise`].
    pub fn add_number(&self, a: &IntegerCiphertext, c: i64) -> Result<IntegerCiphertext, Error> {
        match self.params.plain().reduce_i64(c) {
            0 => Ok(a.clone()),
            c => {
                // A number in every slot is a constant polynomial, which has one value everywhere.
                let constant = phase_of_number(self.context(), self.params, c, (a.correction_factor, a.level()));
                let one = |poly| Form::multiple(Multiplier::integer(1), poly);
                let mut forms: Vec<_> = a.polys.iter().map(one).collect();
                forms[0].constant = Multiplier::Residues(&constant);
                let polys = self.forms(&forms, a.limbs())?;
                self.checked(a.with(polys, a.correction_factor, a.noise.plus(Noise::constant(self.params))))
            }
        }
    }

    /// Rotates both rows to the left: slot j receives the value of slot `j + by`.
    ///
    /// # Errors
    /// A key that is missing.
    pub fn rotate_rows(&self, a: &IntegerCiphertext, by: isize) -> Result<IntegerCiphertext, Error> {
        let n = self.context().ring().n();
        match by.rem_euclid(n as isize / 2) {
            0 => Ok(a.clone()),
            by => self.automorphism(a, rotation_exponent(by, n)),
        }
    }

    /// Swaps the two rows.
    ///
    /// # Errors
    /// A key that is missing.
    pub fn rotate_columns(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.automorphism(a, conjugation_exponent(self.context().ring().n()))
    }

    fn automorphism(&self, a: &IntegerCiphertext, galois: u64) -> Result<IntegerCiphertext, Error> {
        let polys = self.automorphisms(&[&a.sample], galois)?.remove(0);
        self.checked(a.with(polys, a.correction_factor, a.noise.plus(self.params.key_switch())))
    }
}
