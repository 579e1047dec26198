//! From the coefficients of few slots to the powers of a root of unity, all factors of a message in the slots of one ciphertext (SPRU, eprint
//! 2025/651): every number that a factor may be stands in a slot of a plaintext, and keys choose. What one factor is chosen from is cut into blocks,
//! whose sum is left to a trace.

use super::roots::{encoded, powers, settled, Roots};
use crate::error::Error;
use crate::step::{KeyNeed, RunOn, Scaled, Step};
use aglet_ring::fft::SpecialFft;
use aglet_ring::reversal::reversed;
use aglet_ring::Tally;
use aglet_rlwe::rotor::Choice;
use aglet_rlwe::{Params, RotorShape};
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::noisy::NoisyEvaluator;
use aglet_schemes::samples::linear;
use aglet_schemes::{Approximate, Error as SchemeError};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The factors of one part of the message, or of both, side by side in slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Choose(pub Roots);

/// Evaluators that can raise a root of unity to the coefficients of few slots.
pub trait ChooseRoots: Approximate {
    /// For each ciphertext at chain level 0 and each part one ciphertext with all factors, before the sum of blocks.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless they are at level 0, keys that are missing.
    fn choose(&self, of: &[Self::Ciphertext], roots: &Roots, to: &Scaled)
        -> Result<Vec<Self::Ciphertext>, SchemeError>;
}

impl Step for Choose {
    type Place = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        self.0.shape.choice.is_some() && self.0.check(from, to, moduli)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let Choice { factors, blocks, plaintexts, .. } = choice(&self.0.shape)?;
        Ok(format!("{factors} factors in {blocks} blocks of places, {plaintexts} plaintexts"))
    }
}

impl<E: ChooseRoots> RunOn<E> for Choose {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Scaled,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.choose(cts, &self.0, to)?)
    }
}

fn choice(shape: &RotorShape) -> Result<Choice, SchemeError> {
    shape.choice.ok_or_else(|| SchemeError::MissingKey { what: "keys of roots of unity for few slots".into() })
}

/// The coefficient that has the real part of message slot `i`, in a ring of `half` slots: slots_to_coeffs leaves them in this order.
fn coefficient(choice: &Choice, half: usize, i: usize) -> usize {
    reversed(i, choice.numbers) * (half / choice.numbers)
}

/// Plaintext `t`: the powers of all coefficients of one polynomial, each in the slots of the factors and places that take it; `upper` for the imaginary part.
fn options(shape: &RotorShape, choice: &Choice, powers: &[Complex64], (t, upper): (usize, bool)) -> Vec<Complex64> {
    let (n, width) = (powers.len(), shape.places.width(powers.len()));
    let offset = if upper { n / 2 } else { 0 };
    let coefficients: Vec<usize> = (0..choice.numbers).map(|i| coefficient(choice, n / 2, i) + offset).collect();
    let mut values = Vec::with_capacity(choice.period());
    for block in 0..choice.blocks {
        let place = t * choice.blocks + block;
        for k in 0..choice.factors {
            if k == shape.places.weight || place >= width {
                values.extend(std::iter::repeat_n(Complex64::ZERO, choice.numbers));
                continue;
            }
            let place = shape.places.start(n, k) + place;
            let power = |&c: &usize| if c < place { powers[c + n - place].conj() } else { powers[c - place] };
            values.extend(coefficients.iter().map(power));
        }
    }
    values
}

/// Numbers of the message slots in the slots of the public factor, in the first block.
fn public(choice: &Choice, values: impl Iterator<Item = Complex64>) -> Vec<Complex64> {
    let mut all = vec![Complex64::ZERO; choice.period()];
    all[(choice.factors - 1) * choice.numbers..].iter_mut().zip(values).for_each(|(all, value)| *all = value);
    all
}

impl ChooseRoots for CkksEvaluator<'_> {
    fn choose(&self, of: &[CkksCiphertext], roots: &Roots, to: &Scaled) -> Result<Vec<CkksCiphertext>, SchemeError> {
        let (ctx, rotor, choice) = (self.context(), self.rotor()?, choice(&roots.shape)?);
        let (ring, fft) = (ctx.ring(), SpecialFft::new(choice.period()));
        let (mut lists, mut firsts) = (Vec::new(), Vec::new());
        for ct in of {
            if ct.level() > 0 {
                return Err(SchemeError::LevelMismatch { left: ct.level(), right: 0 });
            }
            let [b, a] = linear(ct)?;
            let (b, a) = (powers(ctx, b)?, Arc::new(powers(ctx, a)?.concat()));
            for (part, half) in b.iter().enumerate().take(roots.parts) {
                let at = |i| roots.amplitude * half[coefficient(&choice, half.len(), i)];
                let values = public(&choice, (0..choice.numbers).map(at));
                firsts.push((ct, encoded(ctx, &fft, &values, to.scale, (to.level + 1, 0))?));
                lists.push((a.clone(), part == 1));
            }
        }
        let scale = to.scale * roots.raised_ratio;
        let plaintext = |list: usize, t: usize| {
            let (powers, upper) = &lists[list];
            let values = options(&roots.shape, &choice, powers, (t, *upper));
            encoded(rotor.context(), &fft, &values, scale, (roots.shape.raised, 1))
        };
        let stop = || self.check_stop().map_err(|_| aglet_rlwe::Error::Cancelled);
        let sums = rotor.choices(lists.len(), to.level + 1, &plaintext, &stop).map_err(|e| match e {
            aglet_rlwe::Error::Cancelled => SchemeError::Cancelled,
            e => e.into(),
        })?;
        let own = |((ct, first), mut polys): ((&CkksCiphertext, _), Vec<_>)| {
            ring.add_assign(&mut polys[0], &first);
            let mut out = ct.with(polys, to.scale);
            out.sample.key = rotor.id().unwrap_or(ct.key);
            Arc::new(out)
        };
        Ok(firsts.into_iter().zip(sums).map(own).collect())
    }
}

impl ChooseRoots for ClearEvaluator {
    /// Secret factors are random, each in a random block, and the public one makes the product exact.
    fn choose(&self, of: &[ClearCiphertext], roots: &Roots, to: &Scaled) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let (choice, mut random, mut out) = (choice(&roots.shape)?, self.fresh_random(), Vec::new());
        for ct in of {
            ct.at_bottom()?;
            self.check_level(to.level)?;
            let mut coefficients = ct.values().to_vec();
            self.fft().inverse(&mut coefficients);
            let half = coefficients.len();
            let turn = TAU * self.scale(ct) / self.modulus(0) / half as f64;
            for part in 0..roots.parts {
                let angle = |w: Complex64| turn * if part == 0 { w.re } else { w.im };
                let mut left: Vec<f64> =
                    (0..choice.numbers).map(|i| angle(coefficients[coefficient(&choice, half, i)])).collect();
                let mut values = vec![Complex64::ZERO; choice.period()];
                for k in 0..choice.factors - 1 {
                    let block = (random.uniform() + 0.5) * choice.blocks as f64;
                    let block = (block as usize).min(choice.blocks - 1);
                    let at = (block * choice.factors + k) * choice.numbers;
                    for (left, value) in left.iter_mut().zip(&mut values[at..]) {
                        let angle = TAU * random.uniform();
                        *left -= angle;
                        *value = Complex64::cis(angle);
                    }
                }
                let first = public(&choice, left.into_iter().map(|angle| roots.amplitude * Complex64::cis(angle)));
                values.iter_mut().zip(first).for_each(|(value, first)| *value += first);
                let all: Vec<_> = values.iter().copied().cycle().take(half).collect();
                out.push(self.encrypt(&all, to.level, to.scale)?);
            }
        }
        Ok(out)
    }
}

impl ChooseRoots for NoisyEvaluator {
    fn choose(&self, of: &[ClearCiphertext], roots: &Roots, to: &Scaled) -> Result<Vec<ClearCiphertext>, SchemeError> {
        let (exact, rounding) = (self.clear().choose(of, roots, to)?, self.noise().rounding());
        Ok(exact.into_iter().map(|ct| self.disturbed(ct, roots.variance, rounding)).collect())
    }
}

impl ChooseRoots for CostEvaluator {
    fn choose(&self, of: &[CostCiphertext], roots: &Roots, to: &Scaled) -> Result<Vec<CostCiphertext>, SchemeError> {
        let (shape, limbs, choice) = (self.rotor()?, to.level + 1, choice(&roots.shape)?);
        let (lists, raised) = (of.len() * roots.parts, shape.raised + 1);
        self.inverse(2 * of.len());
        self.forward(lists * limbs);
        let pairs = || (0..lists).map(|_| [self.hold(raised), self.hold(raised)]).collect::<Vec<_>>();
        let firsts: Vec<_> = (0..lists).map(|_| self.hold(limbs)).collect();
        let mut sums = Vec::new();
        for group in choice.groups() {
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
        let out = sums.iter().map(|_| CostCiphertext::new(settled(self, raised, limbs), to.level, to.scale)).collect();
        drop(firsts);
        Ok(out)
    }
}
