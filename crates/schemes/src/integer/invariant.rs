//! The scale-invariant product of BFV, `round(t a b / Q)` (eprint 2012/144), on residues alone (eprint 2018/117).
//!
//! Products of centred coefficients do not fit Q. They are computed modulo Q R and divided by Q onto R; the quotient
//! fits R and is converted back to Q. This takes no level, but as much of the noise budget as a level has: the noise
//! grows by t times the size of the secret, whatever it was before. The product by modulus switching squares the noise
//! instead.

use super::{IntegerCiphertext, IntegerEvaluator, IntegerParams};
use crate::primes::largest_below;
use crate::samples::linear;
use crate::Error;
use aglet_ring::arch::Kernels;
use aglet_ring::pool::{Fit, Pool};
use aglet_ring::process::Lock;
use aglet_ring::{Eval, Form, Multiplier, Poly, Ring};
use std::collections::HashMap;
use std::sync::Arc;

/// Bits of the primes of R: as many as every kernel takes.
const BITS: u32 = 50;
/// Limbs that are extended together.
const MOST_LIMBS: usize = 32;

/// For each level the ring modulo R Q: first the primes of R, as many as products of that level want, then those of Q.
pub struct WideRings {
    /// With all primes of R.
    ring: Ring,
    /// Primes of R for each level.
    counts: Vec<usize>,
    made: Lock<HashMap<usize, Arc<Ring>>>,
}

impl WideRings {
    /// Makes the tables for all levels of a set that products are scaled at: where neither Q nor R has more than 32 primes.
    ///
    /// # Errors
    /// A ring with too few primes of 50 bits.
    pub fn new(params: &IntegerParams, kernels: &'static Kernels) -> Result<Self, Error> {
        // `t a b / Q` is below `t N Q / 2`, and R is twice as large and more.
        let log_t_n = (params.plain().value() as f64).log2() + f64::from(params.log_n());
        let count = |level: usize| ((params.log_q_at(level) + log_t_n + 1.0) / (f64::from(BITS) - 0.1)).ceil() as usize;
        let levels = 0..MOST_LIMBS.min(params.max_level() + 1);
        let counts: Vec<usize> = levels.map(count).take_while(|&count| count <= MOST_LIMBS).collect();
        let (q, most) = (&params.q()[..counts.len()], counts[counts.len() - 1]);
        let missing =
            Error::InvalidParameters { reason: "a ring of this degree has too few primes for scaled products" };
        let r = largest_below(params.log_n(), BITS, most, q).ok_or(missing)?;
        let primes: Vec<u64> = r.iter().chain(q).copied().collect();
        Ok(Self { ring: Ring::with_kernels(params.log_n(), &primes, &[], kernels)?, counts, made: Lock::default() })
    }

    /// The scratch pool of these rings.
    #[must_use]
    pub fn pool(&self) -> &Arc<Pool> {
        self.ring.pool()
    }

    /// The ring of a level, and the primes of R in it.
    fn at(&self, level: usize) -> Result<(Arc<Ring>, usize), Error> {
        let Some(&count) = self.counts.get(level) else {
            return Err(Error::InvalidParameters {
                reason: "scaled products take 32 primes at most; bring the ciphertext to a lower level, or multiply by modulus switching",
            });
        };
        let most = self.counts[self.counts.len() - 1];
        let primes = || (0..count).chain(most..=most + level).collect::<Vec<_>>();
        let ring = |_: &usize| Arc::new(self.ring.subset(&primes(), Fit::Larger));
        let mut made = self.made.lock();
        let found = made.entry(level).or_insert_with_key(ring);
        Ok((found.clone(), count))
    }
}

impl IntegerEvaluator<'_> {
    /// `round(t a b / Q)` as a ciphertext of degree 2 at the lower level of the two.
    ///
    /// # Errors
    /// Levels that have no wide ring, ciphertexts of two keys, [`Error::Noise`].
    pub fn scaled_product(
        &self,
        wide: &WideRings,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
    ) -> Result<IntegerCiphertext, Error> {
        self.same_key(a, b)?;
        linear(a)?;
        linear(b)?;
        // Factors may differ: what that of the product is follows.
        let (level, t) = (a.level().min(b.level()), self.params.plain());
        let at = |x: &IntegerCiphertext| if x.level() == level { Ok(x.clone()) } else { self.level_down(x, level) };
        let (a, b) = (at(a)?, at(b)?);
        let noise = a.noise.scaled_product(b.noise, self.params, t.value(), self.params.log_q_at(level));
        // BFV's k is `-f m / Q`, so that of the product has the factor `-f f' / Q`.
        let q = self.params.q()[..=level].iter().fold(1, |product, &q| t.mul(product, t.reduce(q)));
        let correction_factor = t.neg(t.mul(t.mul(a.correction_factor, b.correction_factor), t.inv(q)));
        self.check_stop()?;
        let polys = self.scaled_tensor(wide, level, [linear(&a)?, linear(&b)?])?;
        self.checked(a.with(polys, correction_factor, noise))
    }

    /// [`IntegerEvaluator::scaled_product`], relinearized at its level; takes no level.
    ///
    /// # Errors
    /// As there; a key that is missing or of another secret key.
    pub fn mul_scaled(
        &self,
        wide: &WideRings,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
    ) -> Result<IntegerCiphertext, Error> {
        let product = self.scaled_product(wide, a, b)?;
        let noise = product.noise.plus(self.params.key_switch());
        self.checked(product.with(self.relinearized(&product, 0)?, product.correction_factor, noise))
    }

    /// The three polynomials of a product, each times t / Q.
    fn scaled_tensor(
        &self,
        wide: &WideRings,
        level: usize,
        [a, b]: [[&Poly<Eval>; 2]; 2],
    ) -> Result<Vec<Poly<Eval>>, Error> {
        let (ring, count) = wide.at(level)?;
        let all: Vec<usize> = (0..=count + level).collect();
        let (r, q) = all.split_at(count);
        let onto = |x: [&Poly<Eval>; 2]| -> Result<Vec<Poly<Eval>>, Error> {
            x.into_iter().map(|x| Ok(ring.extend(x, q, r)?)).collect()
        };
        let same = a.iter().zip(&b).all(|(a, b)| std::ptr::eq(*a, *b));
        let a_r = onto(a)?;
        let b_r = if same { None } else { Some(onto(b)?) };
        let b_r = b_r.as_ref().unwrap_or(&a_r);
        // Modulo R and modulo Q apart: the limbs of the operands serve as they are.
        let factor = Some(Multiplier::integer(i128::from(self.params.plain().value())));
        let tensor_r = ring.forms(&tensor([&a_r[0], &a_r[1]], [&b_r[0], &b_r[1]], same, factor), count, 0)?;
        let tensor_q = self.forms(&tensor(a, b, same, factor), level + 1)?;
        // Every level has limbs that leave, and primes of R that stay.
        let Some(by_q) = ring.mod_switch(all.clone(), count, 0) else {
            return Err(Error::InvalidParameters { reason: "a level has a prime" });
        };
        let dividends: Vec<_> = tensor_r.iter().zip(&tensor_q).map(|(r, q)| [r, q]).collect();
        Ok(ring.divide_extended(&dividends, &by_q, q)?)
    }
}

/// The forms of a product of two linear polynomials in the secret, times a factor.
fn tensor<'a>(
    a: [&'a Poly<Eval>; 2],
    b: [&'a Poly<Eval>; 2],
    same: bool,
    factor: Option<Multiplier<'a>>,
) -> [Form<'a>; 3] {
    let of = |products| Form { products, factor, ..Form::default() };
    let middle = if same { vec![(2, a[0], a[1])] } else { vec![(1, a[0], b[1]), (1, a[1], b[0])] };
    [of(vec![(1, a[0], b[0])]), of(middle), of(vec![(1, a[1], b[1])])]
}
