//! From the coefficients of few slots to the powers of a root of unity, all factors of a message in the slots of one ciphertext (SPRU, eprint
//! 2025/651): every number that a factor may be stands in a slot of a plaintext, and one-hot keys select. What one factor is selected from is cut into
//! blocks, whose sum is left to a trace.

use super::factors::{encoded, keys_of, powers, switched, Factors};
use crate::ckks::ship::keys::{OneHot, RotationShape};
use crate::error::Error;
use crate::packed::PackedNeed;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::fft::SpecialFft;
use aglet_ring::reversal::reversed;
use aglet_ring::Tally;
use aglet_rlwe::Params;
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::samples::linear;
use aglet_schemes::{Approximate, Error as SchemeError};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The factors of one part of the message, or of both, side by side in slots.
#[derive(Debug, Clone, PartialEq)]
pub struct OneHotFactors(pub Factors);

/// Evaluators that can raise a root of unity to the coefficients of few slots.
pub trait SelectFactors: Approximate {
    /// For each ciphertext at chain level 0 and each part one ciphertext with all factors, before the sum of blocks.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless they are at level 0, keys that are missing.
    fn select_factors(
        &self,
        of: &[Self::Ciphertext],
        by: &Factors,
        to: &Scaled,
    ) -> Result<Vec<Self::Ciphertext>, Error>;
}

impl Step for OneHotFactors {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        self.0.shape.one_hot.is_some() && self.0.check(from, to, moduli)
    }
    fn packed_needed(&self) -> Vec<PackedNeed> {
        self.0.shape.keys()
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let OneHot { factors, blocks, plaintexts, .. } = one_hot(&self.0.shape)?;
        Ok(format!("{factors} factors in {blocks} blocks of positions, {plaintexts} plaintexts"))
    }
}

impl<E: SelectFactors> RunOn<E> for OneHotFactors {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        e.select_factors(cts, &self.0, to)
    }
}

fn one_hot(shape: &RotationShape) -> Result<OneHot, SchemeError> {
    shape.one_hot.ok_or_else(|| SchemeError::MissingKey { what: "SHIP rotation keys for few slots".into() })
}

/// The coefficient that has the real part of message slot `i`, in a ring of `half` slots: slots_to_coeffs leaves them in this order.
fn coefficient(one_hot: &OneHot, half: usize, i: usize) -> usize {
    reversed(i, one_hot.numbers) * (half / one_hot.numbers)
}

/// Plaintext `t`: the powers of all coefficients of one polynomial, each in the slots of the factors and support that take it; `upper` for the imaginary part.
fn options(shape: &RotationShape, one_hot: &OneHot, powers: &[Complex64], (t, upper): (usize, bool)) -> Vec<Complex64> {
    let (n, width) = (powers.len(), shape.support.width(powers.len()));
    let offset = if upper { n / 2 } else { 0 };
    let coefficients: Vec<usize> = (0..one_hot.numbers).map(|i| coefficient(one_hot, n / 2, i) + offset).collect();
    let mut values = Vec::with_capacity(one_hot.period());
    for block in 0..one_hot.blocks {
        let position = t * one_hot.blocks + block;
        for k in 0..one_hot.factors {
            if k == shape.support.weight || position >= width {
                values.extend(std::iter::repeat_n(Complex64::ZERO, one_hot.numbers));
                continue;
            }
            let position = shape.support.start(n, k) + position;
            let power = |&c: &usize| if c < position { powers[c + n - position].conj() } else { powers[c - position] };
            values.extend(coefficients.iter().map(power));
        }
    }
    values
}

/// Numbers of the message slots in the slots of the public factor, in the first block.
fn public(one_hot: &OneHot, values: impl Iterator<Item = Complex64>) -> Vec<Complex64> {
    let mut all = vec![Complex64::ZERO; one_hot.period()];
    all[(one_hot.factors - 1) * one_hot.numbers..].iter_mut().zip(values).for_each(|(all, value)| *all = value);
    all
}

impl SelectFactors for CkksEvaluator<'_> {
    fn select_factors(&self, of: &[CkksCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<CkksCiphertext>, Error> {
        let (ctx, keys, one_hot) = (self.context(), keys_of(self, &by.shape)?, one_hot(&by.shape)?);
        let (ring, fft) = (ctx.ring(), SpecialFft::new(one_hot.period()));
        let (mut lists, mut firsts) = (Vec::new(), Vec::new());
        for ct in of {
            if ct.level() > 0 {
                return Err(SchemeError::LevelMismatch { left: ct.level(), right: 0 }.into());
            }
            let [b, a] = linear(ct)?;
            let (b, a) = (powers(ctx, b)?, Arc::new(powers(ctx, a)?.concat()));
            for (part, half) in b.iter().enumerate().take(by.parts) {
                let at = |i| by.amplitude * half[coefficient(&one_hot, half.len(), i)];
                let values = public(&one_hot, (0..one_hot.numbers).map(at));
                firsts.push((ct, encoded(ctx, &fft, &values, to.scale, (to.level + 1, 0))?));
                lists.push((a.clone(), part == 1));
            }
        }
        let scale = to.scale * by.raised_ratio;
        let plaintext = |list: usize, t: usize| {
            let (powers, upper) = &lists[list];
            let values = options(&by.shape, &one_hot, powers, (t, *upper));
            Ok(encoded(keys.context(), &fft, &values, scale, (by.shape.raised, 1))?)
        };
        let sums = keys.select(lists.len(), to.level + 1, &plaintext, &|| Ok(self.check_stop()?))?;
        let own = |((ct, first), mut polys): ((&CkksCiphertext, _), Vec<_>)| {
            ring.add_assign(&mut polys[0], &first)?;
            let mut out = ct.with(polys, to.scale);
            out.sample.key = keys.id().unwrap_or(ct.key);
            Ok(Arc::new(out))
        };
        firsts.into_iter().zip(sums).map(own).collect()
    }
}

impl SelectFactors for ClearEvaluator {
    /// Secret factors are random, each in a random block, and the public one makes the product exact.
    fn select_factors(&self, of: &[ClearCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<ClearCiphertext>, Error> {
        let (one_hot, mut random, mut out) = (one_hot(&by.shape)?, self.fresh_random(), Vec::new());
        for ct in of {
            ct.at_bottom()?;
            self.check_level(to.level)?;
            let mut coefficients = ct.values().to_vec();
            self.fft().inverse(&mut coefficients);
            let half = coefficients.len();
            let radians = TAU * self.scale(ct) / self.modulus(0) / half as f64;
            for part in 0..by.parts {
                let angle = |w: Complex64| radians * if part == 0 { w.re } else { w.im };
                let mut left: Vec<f64> =
                    (0..one_hot.numbers).map(|i| angle(coefficients[coefficient(&one_hot, half, i)])).collect();
                let mut values = vec![Complex64::ZERO; one_hot.period()];
                for k in 0..one_hot.factors - 1 {
                    let block = (random.uniform() + 0.5) * one_hot.blocks as f64;
                    let block = (block as usize).min(one_hot.blocks - 1);
                    let at = (block * one_hot.factors + k) * one_hot.numbers;
                    for (left, value) in left.iter_mut().zip(&mut values[at..]) {
                        let angle = TAU * random.uniform();
                        *left -= angle;
                        *value = Complex64::cis(angle);
                    }
                }
                let first = public(&one_hot, left.into_iter().map(|angle| by.amplitude * Complex64::cis(angle)));
                values.iter_mut().zip(first).for_each(|(value, first)| *value += first);
                let all: Vec<_> = values.iter().copied().cycle().take(half).collect();
                out.push(self.encrypt(&all, to.level, to.scale)?);
            }
        }
        Ok(out)
    }
}

impl SelectFactors for NoisyEvaluator {
    fn select_factors(&self, of: &[ClearCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<ClearCiphertext>, Error> {
        let (exact, rounding) = (self.clear().select_factors(of, by, to)?, self.noise().rounding());
        Ok(exact.into_iter().map(|ct| self.disturbed(ct, by.variance, rounding)).collect())
    }
}

impl SelectFactors for CostEvaluator {
    fn select_factors(&self, of: &[CostCiphertext], by: &Factors, to: &Scaled) -> Result<Vec<CostCiphertext>, Error> {
        let (shape, limbs, one_hot) = (&by.shape, to.level + 1, one_hot(&by.shape)?);
        let (lists, raised) = (of.len() * by.parts, shape.raised + 1);
        self.inverse(2 * of.len());
        self.forward(lists * limbs);
        let pairs = || (0..lists).map(|_| [self.hold(raised), self.hold(raised)]).collect::<Vec<_>>();
        let firsts: Vec<_> = (0..lists).map(|_| self.hold(limbs)).collect();
        let mut sums = Vec::new();
        for group in one_hot.groups() {
            let count = group.len() as u64;
            let plaintexts: Vec<_> = (0..lists * group.len()).map(|_| self.hold(raised)).collect();
            self.forward(lists * group.len() * raised);
            let of_group = Tally::stream(self.n(), (count, 2 * count, 2));
            self.count(of_group.sharing_keys(lists as u64).times(raised as u64));
            let more = pairs();
            drop(plaintexts);
            if sums.is_empty() {
                sums = more;
            }
        }
        let out = sums.iter().map(|_| CostCiphertext::new(switched(self, raised, limbs), to.level, to.scale)).collect();
        drop(firsts);
        Ok(out)
    }
}
