//! From p at the lowest modulus to p^2 at all limbs, through a linear map that the keys back to the main secret carry.
//!
//! Under the sparse secret s' the phase of `w_i = round(p^2 c_i / q_0)` is `p m + e + p^2 I`, whose low digit e is the rounding: at most
//! half the weight of s' and its one. Modulo p^2 the sum `sum_k d_k phi_k(w0 + w1 s')` is taken with `x_k = [d_k phi_k(w1)]` modulo p^2,
//! which is public and short, and so one digit of a key that encrypts `P p^-2 phi_k(s')`: nothing is rounded but the division by P
//! (eprint 2025/1403 with plaintexts modulo p^2).
//!
//! p^2 has roots for degrees up to 2^15. In a larger ring messages, maps and s' are polynomials in X^(N/n), n being that degree: so the
//! coefficients of other powers, where nothing but noise stands, are left out of w0 and w1, and all that follows is a raise from degree n.

use super::{coefficients, Pair, PrimePower, PrimePowerCiphertext, Residue};
use crate::linear_map::LinearMap;
use crate::samples::{linear, SampleEvaluator};
use crate::spread::spread;
use crate::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::ops::Lift;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Eval, Form, Modulus, Multiplier, Poly, Ring};
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, Sample, SecretKey, SwitchingKey};
use rayon::prelude::*;
use std::sync::Arc;

const POWER: PrimePower = PrimePower::Two;

/// The map, encoded.
pub struct RaiseMap {
    /// The ring modulo p^2, of the degree of the sparse secret.
    plain: Ring,
    /// For each diagonal its automorphism and its polynomial there.
    diagonals: Vec<(u64, Poly<Eval>)>,
    /// To all limbs of keys, and to those of the chain.
    digits: Lift,
    public: Lift,
    level: usize,
}

/// The key for one diagonal, by its Galois element: of one digit, it takes `x phi(s') / p^2` from the sparse secret to the main one.
///
/// # Errors
/// Those of [`SwitchingKey::weighted_galois`].
pub fn raising_key(
    ctx: &Context,
    spec: &KeySwitchSpec,
    galois: u64,
    (sparse, main): (&SecretKey, &SecretKey),
    random: &mut ChaChaSource,
) -> Result<SwitchingKey, Error> {
    let (ring, (q_limbs, p_limbs)) = (ctx.ring(), (spec.q_limbs, spec.p_limbs));
    let one = ring.to_eval(ring.lift(&spread(&[1], ring.n()), ring.scratch(q_limbs, p_limbs)?));
    // P is 0 modulo the special primes.
    let weight = |i: usize| match i < q_limbs {
        true => over_square(ring.modulus(i), ring.special_product(p_limbs)[i]),
        false => 0,
    };
    let weights: Vec<u64> = (0..q_limbs + p_limbs).map(weight).collect();
    let plain = ring.forms(&[Form::multiple(Multiplier::Residues(&weights), &one)], q_limbs, p_limbs)?;
    Ok(SwitchingKey::weighted_galois(ctx, spec.clone(), &plain[0], galois, (sparse, main), random)?)
}

fn over_square(m: &Modulus, x: u64) -> u64 {
    m.mul(x, m.inv(m.reduce(POWER.modulus())))
}

impl RaiseMap {
    /// For a map on all slots of the subring that the sparse secret is in, to a level.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::NoSuchLevel`].
    pub fn encode(ctx: &Context, map: &LinearMap<Pair>, level: usize) -> Result<Self, Error> {
        let (ring, max) = (ctx.ring(), ctx.ring().q_count() - 1);
        let n = ctx.params().sparse_n();
        if map.slots() != n / 2 {
            return Err(Error::SlotMismatch { expected: n / 2, found: map.slots() });
        }
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        let plain = ring.modulo(Modulus::new(POWER.modulus())?, n.ilog2(), Residue::root(2 * n as u64).word())?;
        let diagonal = |(&by, values): (&usize, &Vec<Pair>)| {
            let small: Vec<i64> = coefficients(values).into_iter().map(|c| POWER.centred(c)).collect();
            let poly = plain.to_eval(plain.lift(&spread(&small, n), plain.lasting(1, 0)?));
            Ok((rotation_exponent(by as isize, ring.n()), poly))
        };
        let diagonals = map.diagonals().iter().map(diagonal).collect::<Result<Vec<_>, Error>>()?;
        let (digits, public) = (ring.lift_plan(&plain, level + 1, 1), ring.lift_plan(&plain, level + 1, 0));
        Ok(Self { plain, diagonals, digits, public, level })
    }

    /// Bytes of the encoded diagonals.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.diagonals.iter().map(|(_, poly)| poly.byte_count()).sum()
    }

    /// Raises a ciphertext under the sparse secret, at the lowest modulus and with the factor `-q_0` modulo p, so that the numbers are
    /// those of the message: the result has the factor 1 modulo p^2.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], another correction factor, a key that is missing.
    pub fn raise(
        &self,
        e: &SampleEvaluator<'_>,
        ct: &PrimePowerCiphertext,
    ) -> Result<Arc<PrimePowerCiphertext>, Error> {
        let ring = e.context().ring();
        if ct.limbs() != 1 {
            return Err(Error::LevelMismatch { left: ct.limbs() - 1, right: 0 });
        }
        let wanted = -Residue::from(ring.modulus(0).value());
        if ct.power != PrimePower::One || !PrimePower::One.same(ct.correction_factor, wanted) {
            return Err(Error::InvalidParameters {
                reason: "a message is raised with another correction factor than minus q0",
            });
        }
        let [c0, c1] = linear(&ct.sample)?;
        self.raise_switched(e, [self.plain.switch_from(ring, c0)?, self.plain.switch_from(ring, c1)?])
    }

    /// The ring modulo p^2.
    #[must_use]
    pub fn plain(&self) -> &Ring {
        &self.plain
    }

    /// [`RaiseMap::raise`] of `w0` and `w1`, polynomials of [`RaiseMap::plain`].
    ///
    /// # Errors
    /// A key that is missing; out of memory.
    pub fn raise_switched(
        &self,
        e: &SampleEvaluator<'_>,
        [w0, w1]: [Poly<Eval>; 2],
    ) -> Result<Arc<PrimePowerCiphertext>, Error> {
        let (ctx, plain, limbs) = (e.context(), &self.plain, self.level + 1);
        let ring = ctx.ring();
        let keys = self.diagonals.iter().map(|(galois, _)| e.key(KeyRole::SparseToDenseGalois(*galois), limbs));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let first = keys.first().ok_or(Error::zero_map(plain.n() / 2))?;
        let image = |x: &Poly<Eval>, galois: u64| {
            let mut out = plain.scratch(1, 0)?;
            plain.permute(x, &plain.automorphism(galois % (2 * plain.n() as u64)), &mut out)?;
            Ok::<_, Error>(out)
        };
        let digit = |(galois, diagonal): &(u64, Poly<Eval>)| {
            e.check_stop()?;
            let product = plain.forms(&[Form::product(diagonal, &image(&w1, *galois)?)], 1, 0)?;
            Ok::<_, Error>(ring.lift_from(plain, &product[0], &self.digits)?)
        };
        let digits = self.diagonals.par_iter().map(digit).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<_> = keys.iter().map(|key| key.words()).collect();
        let mut polys = e.divided(&ring.key_sum(&digits, &words)?, 0)?;
        drop(digits);
        // The part of c0 is public.
        let images = self.diagonals.iter().map(|(galois, _)| image(&w0, *galois)).collect::<Result<Vec<_>, _>>()?;
        let products = self.diagonals.iter().zip(&images).map(|((_, d), x)| (1, d, x)).collect();
        let sum = plain.forms(&[Form { products, ..Form::default() }], 1, 0)?;
        let public = ring.lift_from(plain, &sum[0], &self.public)?;
        let weights: Vec<u64> = (0..limbs).map(|i| over_square(ring.modulus(i), 1)).collect();
        let terms = vec![(Multiplier::integer(1), &polys[0]), (Multiplier::Residues(&weights), &public)];
        polys[0] = ring.forms(&[Form { terms, ..Form::default() }], limbs, 0)?.remove(0);
        let sample = Sample { polys, key: first.id() };
        Ok(Arc::new(PrimePowerCiphertext { sample, power: POWER, correction_factor: Residue::ONE }))
    }
}
