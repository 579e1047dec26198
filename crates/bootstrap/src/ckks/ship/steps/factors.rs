//! From coefficients to the powers of a root of unity: `omega^(b + (a s)_i)` in slot `i`, as a public factor and one for each coefficient of the
//! sparse secret, whose product it is. No modulus is raised: factors stand at the top of the chain because their keys do.

use crate::ckks::ship::keys::{RotationShape, ShipKeys, BANDS};
use crate::error::Error;
use crate::packed::PackedNeed;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::fft::SpecialFft;
use aglet_ring::{Digits, Eval, Poly, Tally};
use aglet_rlwe::{Context, KeySwitchSpec, Params};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::sample_cost::CountedMemory;
use aglet_schemes::samples::linear;
use aglet_schemes::spread::spread;
use aglet_schemes::{Approximate, Error as SchemeError};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The factors of one part of the message, or of both, in slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// How rotations are cut.
    pub shape: RotationShape,
    /// Parts of the message: the real one, or both.
    pub parts: usize,
    /// What the public factor is multiplied by.
    pub amplitude: Complex64,
    /// The product of the raised primes over that of the chain.
    pub raised_ratio: f64,
    /// The variance of a coefficient of a secret factor at the scale that it leaves at, before it is rounded there.
    pub variance: f64,
}

impl Factors {
    /// Factors of one product: the public one and the secret ones.
    pub fn factors(&self) -> usize {
        self.shape.support.weight + 1
    }
}

/// Evaluators that can raise a root of unity to the coefficients of a phase.
pub trait MakeFactors: Approximate {
    /// For each ciphertext at chain level 0 and each part its factors, one after the other.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless they are at level 0, keys that are missing.
    fn factors(&self, of: &[Self::Ciphertext], by: &Factors, to: &Scaled)
        -> Result<Vec<Self::Ciphertext>, SchemeError>;
}

impl Step for Factors {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        from.level == 0 && to.level + 1 == moduli.len() && (1..=2).contains(&self.parts) && to.scale > 0.0
    }
    fn packed_needed(&self) -> Vec<PackedNeed> {
        self.shape.keys()
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let (weight, masked) = (self.shape.support.weight, self.shape.masked);
        Ok(format!("{weight} factors by {masked} masked rotations and CMuxes of {:?}", self.shape.cmux))
    }
}

impl<E: MakeFactors> RunOn<E> for Factors {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.factors(cts, self, to)?)
    }
}

/// The rotation keys that an evaluator runs with.
pub(super) fn keys_of<'a>(e: &CkksEvaluator<'a>, shape: &'a RotationShape) -> Result<ShipKeys<'a>, SchemeError> {
    let keys = e.others().ok_or_else(|| SchemeError::MissingKey { what: "SHIP rotation keys".into() })?;
    Ok(ShipKeys::new(keys, shape)?)
}

/// `omega^c` for the coefficients of a polynomial modulo the lowest prime, `omega = e^(2 pi i / q0)`: those of the lower and of the upper half.
pub(super) fn powers(ctx: &Context, x: &Poly<Eval>) -> Result<[Vec<Complex64>; 2], aglet_rlwe::Error> {
    let (low, q0) = (ctx.ring().centred(x)?, ctx.modulus(0));
    let power = |&c: &i64| Complex64::cis(TAU * (c as f64 / q0));
    let (lower, upper) = low.split_at(low.len() / 2);
    Ok([lower, upper].map(|half| half.iter().map(power).collect()))
}

/// Numbers in slots, which fewer than all repeat over, as a polynomial with so many limbs.
pub(super) fn encoded(
    ctx: &Context,
    fft: &SpecialFft,
    values: &[Complex64],
    scale: f64,
    (q_limbs, p_limbs): (usize, usize),
) -> Result<Poly<Eval>, aglet_rlwe::Error> {
    let (ring, mut coefficients) = (ctx.ring(), fft.coefficients(values, scale)?);
    if coefficients.len() < ring.n() {
        coefficients = spread(&coefficients, ring.n());
    }
    Ok(ring.to_eval(ring.lift_public(&coefficients, ring.scratch(q_limbs, p_limbs)?)))
}

/// The bands of `a`, and of `X^(-N/2) a` for the other part of a message: these are the same in another order.
fn bands(
    keys: ShipKeys<'_>,
    fft: &SpecialFft,
    a: &Poly<Eval>,
    ctx: &Context,
    (parts, scale): (usize, f64),
) -> Result<Vec<Digits>, SchemeError> {
    let [lower, upper] = powers(ctx, a)?;
    let conjugate = |v: &[Complex64]| v.iter().map(Complex64::conj).collect::<Vec<_>>();
    let all = [lower.clone(), conjugate(&lower), upper.clone(), conjugate(&upper)];
    let shape = (keys.shape().raised, 1);
    let polys = all.iter().map(|band| encoded(keys.context(), fft, band, scale, shape));
    let polys = polys.collect::<Result<Vec<_>, aglet_rlwe::Error>>()?;
    // Coefficient i of X^(-N/2) a is coefficient i + N/2 of a, and coefficient i + N/2 is minus coefficient i.
    let orders = [[0, 1, 2, 3], [2, 3, 1, 0]];
    let list = |order: &[usize; BANDS]| Digits::of(order.iter().map(|&i| polys[i].prefix(shape.0)).collect());
    Ok(orders[..parts].iter().map(list).collect())
}

impl MakeFactors for CkksEvaluator<'_> {
    fn factors(&self, of: &[CkksCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<CkksCiphertext>, SchemeError> {
        let (ctx, keys, fft) =
            (self.context(), keys_of(self, &by.shape)?, SpecialFft::new(self.context().ring().n() / 2));
        let ring_error = aglet_rlwe::Error::from;
        let (mut lists, mut public) = (Vec::new(), Vec::new());
        for ct in of {
            if ct.level() > 0 {
                return Err(SchemeError::LevelMismatch { left: ct.level(), right: 0 });
            }
            let [b, a] = linear(ct)?;
            lists.extend(bands(keys, &fft, a, ctx, (by.parts, to.scale * by.raised_ratio))?);
            for half in powers(ctx, b)?.iter().take(by.parts) {
                let values: Vec<_> = half.iter().map(|v| v * by.amplitude).collect();
                public.push((ct, encoded(ctx, &fft, &values, to.scale, (to.level + 1, 0))?));
            }
        }
        let stop = || self.check_stop().map_err(|_| aglet_rlwe::Error::Cancelled);
        let factors = keys.factors(&lists, to.level + 1, &stop).map_err(|e| match e {
            aglet_rlwe::Error::Cancelled => SchemeError::Cancelled,
            e => e.into(),
        })?;
        let own = |ct: &CkksCiphertext, polys| {
            let mut out = ct.with(polys, to.scale);
            out.sample.key = keys.id().unwrap_or(ct.key);
            Arc::new(out)
        };
        let mut out = Vec::with_capacity(lists.len() * by.factors());
        for ((ct, first), secret) in public.into_iter().zip(factors) {
            let zero = ctx.ring().zero(to.level + 1, 0).map_err(ring_error)?;
            out.push(own(ct, vec![first, zero]));
            out.extend(secret.into_iter().map(|polys| own(ct, polys)));
        }
        Ok(out)
    }
}

impl MakeFactors for ClearEvaluator {
    /// Secret factors are random, and the public one makes the product exact.
    fn factors(&self, of: &[ClearCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let (mut random, mut out) = (self.fresh_random(), Vec::new());
        for ct in of {
            ct.at_bottom()?;
            self.check_level(to.level)?;
            let mut coefficients = ct.values().to_vec();
            self.fft().inverse(&mut coefficients);
            let radians = TAU * self.scale(ct) / self.modulus(0) / coefficients.len() as f64;
            for part in 0..by.parts {
                let angle = |w: &Complex64| radians * if part == 0 { w.re } else { w.im };
                let mut product: Vec<f64> = coefficients.iter().map(angle).collect();
                let at = out.len();
                for _ in 1..by.factors() {
                    let angles: Vec<f64> = product.iter().map(|_| TAU * random.uniform()).collect();
                    product.iter_mut().zip(&angles).for_each(|(left, angle)| *left -= angle);
                    let values: Vec<_> = angles.into_iter().map(Complex64::cis).collect();
                    out.push(self.encrypt(&values, to.level, to.scale)?);
                }
                let first: Vec<_> = product.into_iter().map(|angle| by.amplitude * Complex64::cis(angle)).collect();
                out.insert(at, self.encrypt(&first, to.level, to.scale)?);
            }
        }
        Ok(out)
    }
}

impl MakeFactors for NoisyEvaluator {
    fn factors(&self, of: &[ClearCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let exact = self.clear().factors(of, by, to)?.into_iter().enumerate();
        let rounding = self.noise().rounding();
        let secret = |k: usize| !k.is_multiple_of(by.factors());
        Ok(exact.map(|(k, ct)| if secret(k) { self.disturbed(ct, by.variance, rounding) } else { ct }).collect())
    }
}

impl MakeFactors for CostEvaluator {
    fn factors(&self, of: &[CostCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<CostCiphertext>, SchemeError> {
        let (shape, limbs) = (&by.shape, to.level + 1);
        let lists = of.len() * by.parts;
        let (mut bands, mut out) = (Vec::new(), Vec::new());
        for _ in of {
            self.inverse(2);
            bands.extend((0..BANDS).map(|_| self.hold(shape.raised + 1)));
            self.forward(BANDS * (shape.raised + 1) + by.parts * limbs);
        }
        let mut secret: Vec<Vec<[CountedMemory; 2]>> = Vec::new();
        for _ in 0..shape.support.weight {
            secret.push(factor(self, shape, lists, limbs)?);
        }
        drop(bands);
        let place = |polys| CostCiphertext::new(polys, to.level, to.scale);
        for list in 0..lists {
            out.push(place([self.hold(limbs), self.hold(limbs)]));
            for of_factor in &mut secret {
                // One of each list, from the last.
                if let Some(polys) = of_factor.pop() {
                    out.push(place(polys));
                }
            }
            debug_assert!(list < lists);
        }
        Ok(out)
    }
}

/// The work of one factor of several lists of bands, and the memory of the results.
fn factor(
    e: &CostEvaluator,
    shape: &RotationShape,
    lists: usize,
    limbs: usize,
) -> Result<Vec<[CountedMemory; 2]>, SchemeError> {
    let stream = |inputs: usize, values: usize, limbs: usize| {
        let (inputs, samples) = (inputs as u64, (inputs * values) as u64);
        e.count(Tally::stream(e.n(), (inputs, samples, 2)).sharing_keys(lists as u64).times(limbs as u64));
    };
    let pairs = |limbs: usize| (0..lists).map(|_| [e.hold(limbs), e.hold(limbs)]).collect::<Vec<_>>();
    let spec = KeySwitchSpec { q_limbs: shape.raised, p_limbs: shape.special, digits: shape.digits.clone() };
    let mut special = 1;
    let mut sums = pairs(shape.raised + special);
    stream(BANDS, shape.masked, shape.raised + special);
    for &values in &shape.cmux {
        let digits: Vec<_> = (0..lists)
            .map(|_| {
                let halves = e.divide(shape.raised, special, 0);
                let digits = [e.digits(&spec, shape.raised), e.digits(&spec, shape.raised)];
                (halves, digits)
            })
            .collect();
        special = shape.special;
        let next = pairs(shape.raised + special);
        stream(2 * shape.digits.len(), values, shape.raised + special);
        sums = next;
        drop(digits);
    }
    Ok(sums.iter().map(|_| switched(e, shape.raised + special, limbs)).collect())
}

/// The work of the last division of a pair, and the memory of the results.
pub(super) fn switched(e: &CostEvaluator, from: usize, limbs: usize) -> [CountedMemory; 2] {
    [(); 2].map(|()| {
        let (leaving, gained) = (e.hold(from), e.hold(limbs));
        e.inverse(from);
        let quotient = e.hold(limbs);
        e.convert(from, limbs);
        e.count(Tally::rsub_mul(e.n()).times(limbs as u64));
        drop((leaving, gained));
        quotient
    })
}
