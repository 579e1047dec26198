//! What removes the multiples of q0: the complex exponential of `I + m/r`, and a function of it that knows `m` alone.
//!
//! With `x = I + m/r`, `|x| <= K = 17`, a degree-28 polynomial `P(x/K) ~ exp(2 pi i x / 8)` is squared three times to
//! `E ~ exp(2 pi i x)`, which no longer knows `I`. Every [`Function`] is `u + conj u` for a `u` made of `E`:
//!
//! * The identity on small `m`: a second harmonic (sine series, eprint 2021/572) straightens the sine,
//!   `m ~ (r / 2 pi) (alpha sin theta + beta sin 2 theta)`, `theta = 2 pi m / r`, where the coefficients are not those of
//!   the Taylor series (`4/3`, `-1/6`) but the best ones for `|theta| <= Theta = 2 pi / r`: the remainder `-theta^5 / 30` is
//!   turned into the Chebyshev polynomial `-(Theta^5 / 480) T_5(theta / Theta)`, sixteen times smaller at the ends. As
//!   `sin 2 theta = Im E^2`, this is one more product. With one harmonic it is `alpha sin theta` and the remainder
//!   `-(Theta^3 / 24) T_3`, a level less.
//! * The sign: with `r = 4` the messages 1 and -1 are where the sine is flat, so an error `e` becomes `(pi e)^2 / 8`.
//! * Bits: with `r = 2` 0 and 1 are where the cosine is flat, `m = (1 - cos theta) / 2` (BinBoot, eprint 2024/767).
//!
//! A real factor `kappa` goes into the polynomial (as `kappa^(1/8)`, which three squarings undo), so that the last line
//! is one squaring and one term: with `E' = kappa E` and, for two harmonics, `kappa^2 = |beta| r / 4 pi`,
//! `V = E'^2 - c E'` with `c = alpha r / (4 pi kappa)`, and `m = -2 Im V = i (V - conj V)`. `V` itself is never computed: twice
//! the imaginary part of what was rounded at the scale of the message is twice its error. With `conj E'`, one level higher,
//! `m = i (X Y - c X)` for `X = E' - conj E'` and `Y = E' + conj E'`: one product and one rounding, for the real and the
//! imaginary part of a message together (`V` after all where real messages have a scale above that of `E'`). For one harmonic
//! and the sign `c = 0`; bits are a constant less `E'^2 + conj E'^2`.
//! What the polynomial and the squarings leave at these points is an error `d` in the size of the exponential, as that of
//! its angle is squared. Where the scale of the message lets it be seen, one more level brings it to `d^2`: `F` being what is
//! squared last, `F conj F` is that size, and no message is in it.
//! As `kappa` is real, even coefficients of the polynomial are real and odd ones imaginary, and so is every constant of
//! the circuit: its product with a ciphertext is that of a real number.
//!
//! `h = 32` gives `|I| <= 16`, and the polynomial is fitted with the probability of `I` as a weight but covers all of
//! them: there is no failure probability. The fit is for `r = 2^7`, and serves `2^5` to `2^11`: what the polynomial costs
//! the message grows with `r` and with nothing else, to `37 - log2 r` bits for `|I| <= 8`, `35 - log2 r` for 9 (a chance of
//! `2^-24` for a coefficient), `28 - log2 r` for 11 (`2^-38`) and `14 - log2 r` for all `I` (`2^-47` above 11). Degree 28 takes
//! two relinearisations less than 31, which has two bits more for `|I| <= 9`.

mod coefficients;

use crate::circuits::polynomial::Series;
use crate::error::Error;
use aglet_schemes::{Error as SchemeError, Evaluator, Product, Quadratic};
use coefficients::{EXP_COS, EXP_SIN};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The polynomial is good for `|x| <= K`; an ephemeral secret of weight `2 (K - 1)` or less never leaves this interval.
pub const K: f64 = 17.0;

/// Squarings after the polynomial: it approximates `exp(2 pi i x / 2^DOUBLE_ANGLE)`.
pub const DOUBLE_ANGLE: usize = 3;

/// What becomes of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// It stays as it is, up to the error of a sine series of one or two harmonics.
    Identity {
        /// 1 or 2.
        harmonics: usize,
    },
    /// Values near -1 and 1 come closer to them; the error is squared.
    Sign {
        /// Whether the size of the exponential is cleaned too, for a level.
        normalized: bool,
    },
    /// Values near 0 and 1 come closer to them; the error is squared.
    Bits {
        /// As for the sign.
        normalized: bool,
    },
}

impl Function {
    /// The message ratio that it needs when the modulus is raised, for those where `m = 1` has a fixed place.
    pub fn message_ratio(self) -> Option<f64> {
        match self {
            Function::Identity { .. } => None,
            Function::Sign { .. } => Some(4.0),
            Function::Bits { .. } => Some(2.0),
        }
    }
    /// Whether the size of the exponential is cleaned.
    fn normalized(self) -> bool {
        matches!(self, Function::Sign { normalized: true } | Function::Bits { normalized: true })
    }
    /// Levels that an evaluation takes: five for the polynomial, three squarings, one for a second harmonic or to normalize.
    pub fn levels(self) -> usize {
        5 + DOUBLE_ANGLE + usize::from(self == Function::Identity { harmonics: 2 } || self.normalized())
    }
}

/// Which parts of the slots are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parts {
    /// Real and imaginary parts, as one complex result: two evaluations.
    Complex,
    /// Real parts only: one evaluation.
    Real,
    /// Real and imaginary parts as two real results: two evaluations.
    Pair,
}

/// The plan of an approximate modular reduction for one message ratio.
///
/// Input slots are `t = (x + i y) / K` with `x, y = I + m/r` (real and imaginary part on their own), which is what
/// `coeffs_to_slots` gives with the factor [`c2s_factor`]; their scale should be [`EvalMod::input_scale`]. The output is
/// [`Function::levels`] chain levels below the input and has exactly the scale asked for.
#[derive(Debug, Clone)]
pub struct EvalMod {
    function: Function,
    message_ratio: f64,
    /// `kappa^(1/8) P` in the variable `D_1 = 2x / K`.
    series: Series,
    /// `alpha r / (4 pi kappa)`, with two harmonics.
    linear: f64,
    /// Whether the last form is rescaled.
    rescales: bool,
}

/// The factor that `coeffs_to_slots` must carry for the message ratio `r` at which the modulus was raised.
///
/// After `mod_raise` the value of a coefficient, that is the coefficient over the scale, is `m + r I = r x`. The
/// polynomial wants `D_1 = 2x / K`, and the split into real and imaginary part `t + conj t`, `-i (t - conj t)` doubles;
/// hence `1 / (K r)`. Scales are another matter: they are set by the `scale_ratio` of each encoded stage.
pub fn c2s_factor(message_ratio: f64) -> f64 {
    1.0 / (K * message_ratio)
}

impl EvalMod {
    /// The message ratio to choose unless something else decides: `2^6.75`.
    ///
    /// A smaller ratio costs precision by the sine series (4 bits per bit), a larger one by the noise (1 bit per bit); with
    /// primes of 50 bits the least favourable messages fare best here, at 24.4 bits on average in the model of
    /// `tools/noise_eval_mod.py`. `q0` need not change with it: the scale at chain level 0 is `q0 / r`, whatever it is.
    pub const MESSAGE_RATIO: f64 = 107.634_741_152_475_46;

    /// Plans `function` for the message ratio `r = q0 / scale`, where `scale` is the exact scale of the ciphertext at the
    /// moment of `mod_raise`. [`EvalMod::residual`] tells the error of the identity on messages `|m| <= 1`.
    ///
    /// # Errors
    /// [`Error::Factor`] unless `message_ratio` is finite and above 2 (messages must stay away from `q0 / 2`), or there are
    /// not one or two harmonics.
    pub fn new(function: Function, message_ratio: f64) -> Result<Self, Error> {
        let unit = message_ratio / (2.0 * TAU);
        let (kappa, linear) = match function {
            Function::Identity { .. } if !(message_ratio.is_finite() && message_ratio > 2.0) => {
                return Err(Error::Factor { what: "message ratio", requirement: "greater than 2" });
            }
            Function::Identity { harmonics: 1 } => ((1.0 + (TAU / message_ratio).powi(2) / 8.0) * unit, 0.0),
            Function::Identity { harmonics: 2 } => {
                let (alpha, beta) = sine_series(message_ratio);
                let kappa = (-beta * unit).sqrt();
                (kappa, alpha * unit / kappa)
            }
            Function::Identity { .. } => {
                return Err(Error::Factor { what: "number of harmonics", requirement: "1 or 2" });
            }
            Function::Sign { .. } => (0.5, 0.0),
            Function::Bits { .. } => (0.25, 0.0),
        };
        let share = (0..DOUBLE_ANGLE).fold(kappa, |root, _| root.sqrt());
        let mut coefficients = vec![Complex64::default(); EXP_COS.len() + EXP_SIN.len()];
        coefficients.iter_mut().step_by(2).zip(EXP_COS).for_each(|(place, c)| place.re = share * c);
        coefficients.iter_mut().skip(1).step_by(2).zip(EXP_SIN).for_each(|(place, s)| place.im = share * s);
        let series = Series::from_chebyshev(&coefficients)?;
        Ok(EvalMod { function, message_ratio, series, linear, rescales: true })
    }

    /// The same without its last rescale, which [`Step::Settle`](crate::plan::Step::Settle) makes in its stead: the result
    /// stands a level higher and is not rounded yet; its scale should be larger by the prime of that level.
    #[must_use]
    pub fn unrescaled(self) -> Self {
        Self { rescales: false, ..self }
    }

    /// Levels between the input and the result.
    pub fn levels(&self) -> usize {
        self.function.levels() - usize::from(!self.rescales)
    }

    /// Last forms.
    fn finish<E: Evaluator>(&self, e: &E, forms: &[Quadratic<'_, E::Ciphertext>]) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(if self.rescales { e.quadratics(forms)? } else { e.unrescaled(forms)? })
    }

    /// What it computes.
    pub fn function(&self) -> Function {
        self.function
    }

    /// The largest error of the identity on real and imaginary parts in `[-1, 1]`, to leading order: with
    /// `Theta = 2 pi / r` it is `Theta^4 / 480` for two harmonics, which is 25.3 bits for [`EvalMod::MESSAGE_RATIO`], and
    /// `Theta^2 / 24` for one. Zero for the other functions, which are exact at their points.
    ///
    /// The polynomial adds nothing to it for `|I| <= 9`. Beyond, with a chance of `2^-38` per coefficient, it brings the
    /// error to 21 bits, and to 9 where `|I| >= 12` (`2^-47`); `tools/fit_eval_mod.py` prints the table.
    pub fn residual(&self) -> f64 {
        let theta = TAU / self.message_ratio;
        match self.function {
            Function::Identity { harmonics: 1 } => theta.powi(2) / 24.0,
            Function::Identity { .. } => theta.powi(4) / 480.0,
            Function::Sign { .. } | Function::Bits { .. } => 0.0,
        }
    }

    /// The scale that the input should have if `modulus` is the prime of its level: `2^-0.05` of it, for example
    /// `2^49.95`.
    ///
    /// `D_2k` has the squared scale of `D_k` over a prime, so that a distance from the primes doubles from power to power:
    /// it is `2^(16 d)` at `D_16` if it is `2^d` at `D_1`. Where the powers are above the primes, the quotients they are
    /// multiplied with are below them and lose this much to their rounding: `d = 0.1` costs 1.7 bits of the message (model of
    /// `tools/noise_eval_mod.py`), so the input must never be above its prime. A little below, the small scale of `D_16`
    /// balances that of its quotient.
    pub fn input_scale(modulus: f64) -> f64 {
        0.965_936_328_924_845_6 * modulus
    }

    /// Relinearisations of one run on these parts: real and imaginary part of one result share the last one.
    pub fn relinearizations(&self, parts: Parts) -> usize {
        let normalized = usize::from(self.function.normalized());
        let one = self.series.relinearizations() + self.function.levels() - 5 + normalized;
        match parts {
            Parts::Real => one,
            Parts::Pair => 2 * one,
            Parts::Complex => 2 * one - 1,
        }
    }

    /// Reduces slots `(x + i y) / K` of ciphertexts of one level and scale: one result for each, or two one after the other
    /// for [`Parts::Pair`], [`EvalMod::levels`] below the input and with exactly `scale`.
    ///
    /// An evaluation is a polynomial (8 relinearisations) and three or four squarings; there are two for complex numbers.
    /// All evaluations go side by side, so that keys are read once for them.
    ///
    /// # Errors
    /// `LevelTooLow` when the input has too few levels; otherwise what the evaluator refuses.
    pub fn run<E: Evaluator>(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        parts: Parts,
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(first) = cts.first() else { return Ok(Vec::new()) };
        let scale = match self.rescales {
            true => scale,
            false => scale / e.modulus(e.level(first).saturating_sub(self.levels())),
        };
        let mut arguments = Vec::new();
        for (ct, conjugate) in cts.iter().zip(&e.conjugates(cts)?) {
            arguments.push(e.add(ct, conjugate)?);
            if parts != Parts::Real {
                arguments.push(e.mul_i(&e.sub(conjugate, ct)?)?);
            }
        }
        let powers = self.powers(e, arguments, scale)?;
        let of_power = powers.first().map_or(scale, |power| e.scale(power));
        if parts == Parts::Real && self.linear * scale > 2.0 * of_power {
            return self.conjugated_last(e, &powers, scale);
        }
        let mut factors = self.factors(e, &powers)?;
        if parts == Parts::Complex {
            let mut sums = Vec::with_capacity(cts.len());
            while let (Some(mut im), Some(mut sum)) = (factors.pop(), factors.pop()) {
                for f in &mut im {
                    f.left = e.mul_i(&f.left)?;
                    f.constant *= Complex64::i();
                }
                sum.append(&mut im);
                sums.push(sum);
            }
            factors = sums.into_iter().rev().collect();
        }
        self.last(e, &factors, scale)
    }

    /// Two harmonics of real arguments as `i (V - conj V)`. What the conjugation of `E'` rounds is imaginary and grows by
    /// `c`: where messages have a larger scale than `E'`, more is left of it than of what `V` rounds.
    fn conjugated_last<E: Evaluator>(
        &self,
        e: &E,
        powers: &[E::Ciphertext],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let forms = powers.iter().map(|power| Quadratic {
            products: vec![Product { factor: 1, left: power, right: power }],
            terms: vec![((-self.linear).into(), power)],
            constant: 0.0.into(),
            level: e.level(power),
            scale,
        });
        let vs = self.finish(e, &forms.collect::<Vec<_>>())?;
        let turned = e.conjugates(&vs)?;
        let results = vs.iter().zip(&turned).map(|(v, turned)| e.mul_i(&e.sub(v, turned)?));
        Ok(results.collect::<Result<_, _>>()?)
    }

    /// What [`EvalMod::last`] makes the results of, from [`EvalMod::powers`].
    fn factors<E: Evaluator>(
        &self,
        e: &E,
        powers: &[E::Ciphertext],
    ) -> Result<Vec<Vec<Factors<E::Ciphertext>>>, Error> {
        let turned = e.conjugates(powers)?;
        let bits = matches!(self.function, Function::Bits { .. });
        let mut squares = Vec::with_capacity(powers.len());
        for (power, turned) in powers.iter().zip(&turned) {
            squares.push(if bits {
                vec![(power.clone(), power.clone()), (turned.clone(), turned.clone())]
            } else {
                vec![(e.sub(power, turned)?, e.add(power, turned)?)]
            });
        }
        let half = if bits { -0.5 } else { 0.0 };
        if !self.function.normalized() {
            let all = squares.into_iter().map(|squares| {
                let constant = Complex64::new(half / squares.len() as f64, 0.0);
                squares.into_iter().map(|(left, right)| Factors { left, right, constant }).collect()
            });
            return Ok(all.collect());
        }
        let form = |power: &E::Ciphertext, products, constant: f64| {
            let level = e.level(power);
            let scale = e.scale(power) * e.scale(power) / e.modulus(level);
            Quadratic { products, terms: vec![], constant: constant.into(), level, scale }
        };
        let lefts = powers.iter().zip(&squares).map(|(power, squares)| {
            let products = squares.iter().map(|(left, right)| Product { factor: 1, left, right });
            form(power, products.collect(), 0.0)
        });
        let lefts = e.quadratics(&lefts.collect::<Vec<_>>())?;
        // Of size 1 + d the exponential is off by 2d in its square: times 2 - (1 + d)^2 by d^2.
        let size = |left, right| vec![Product { factor: if bits { 4 } else { 2 }, left, right }];
        let sizes = powers.iter().zip(&turned).map(|(power, turned)| form(power, size(power, turned), -2.0));
        let sizes = e.quadratics(&sizes.collect::<Vec<_>>())?;
        let pairs = lefts.into_iter().zip(&sizes);
        let factors = pairs.map(|(left, size)| {
            let right = e.negate(size)?;
            Ok(vec![Factors { left, right, constant: half.into() }])
        });
        factors.collect()
    }

    /// The last level: for each result the sum of the products, and of the terms of a second harmonic, with exactly `scale`.
    fn last<E: Evaluator>(
        &self,
        e: &E,
        factors: &[Vec<Factors<E::Ciphertext>>],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let forms = factors.iter().map(|factors| {
            let lefts = factors.iter().filter(|_| self.linear != 0.0).map(|f| &f.left);
            Quadratic {
                products: factors.iter().map(|f| Product { factor: 1, left: &f.left, right: &f.right }).collect(),
                terms: lefts.map(|left| ((-self.linear).into(), left)).collect(),
                constant: factors.iter().map(|f| f.constant).sum(),
                level: e.level(&factors[0].left),
                scale,
            }
        });
        let sums = self.finish(e, &forms.collect::<Vec<_>>())?;
        let results = sums.iter().map(|sum| match self.function {
            Function::Identity { harmonics: 2 } => e.mul_i(sum),
            Function::Identity { .. } | Function::Sign { .. } => e.negate(&e.mul_i(sum)?),
            Function::Bits { .. } => e.negate(sum),
        });
        Ok(results.collect::<Result<_, _>>()?)
    }

    /// What is squared last, at real arguments `x = D_1`: one level above the result (two if it is to be normalized), at the
    /// scale from which squares are rescaled to `scale` in the end.
    fn powers<E: Evaluator>(&self, e: &E, xs: Vec<E::Ciphertext>, scale: f64) -> Result<Vec<E::Ciphertext>, Error> {
        let (top, levels) = (xs.first().map_or(0, |x| e.level(x)), self.function.levels());
        if top < levels {
            return Err(SchemeError::LevelTooLow { required: levels, actual: top }.into());
        }
        let (bottom, squarings) = (top - levels, levels - self.series.depth());
        // Backwards from the result: what is squared at a level must have scale^2 = result * modulus.
        let mut scales = vec![scale];
        for level in bottom + 1..=bottom + squarings {
            scales.push((scales[scales.len() - 1] * e.modulus(level)).sqrt());
        }
        let mut powers = self.series.evaluate_all(e, &xs, scales[squarings])?;
        for step in (1 + usize::from(self.function.normalized())..squarings).rev() {
            let squares = powers.iter().map(|power| Quadratic {
                products: vec![Product { factor: 1, left: power, right: power }],
                terms: vec![],
                constant: 0.0.into(),
                level: bottom + 1 + step,
                scale: scales[step],
            });
            powers = e.quadratics(&squares.collect::<Vec<_>>())?;
        }
        Ok(powers)
    }
}

/// `left * right + constant`, part of the last level of a run.
#[derive(Clone)]
struct Factors<C> {
    left: C,
    right: C,
    constant: Complex64,
}

/// `(alpha, beta)` with `alpha sin t + beta sin 2t ~ t` for `|t| <= Theta = 2 pi / message_ratio`.
///
/// The error is `-(Theta^5 / 480) T_5(t / Theta)` but for terms of order 7 (`4 Theta^2` of it at most): with
/// `T_5(u) = 16u^5 - 20u^3 + 5u` this says `alpha + 2 beta = 1 - Theta^4 / 96` and `alpha + 8 beta = -Theta^2 / 4`.
fn sine_series(message_ratio: f64) -> (f64, f64) {
    let square = (TAU / message_ratio).powi(2);
    let first = 1.0 - square * square / 96.0;
    let beta = (-square / 4.0 - first) / 6.0;
    (first - 2.0 * beta, beta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::clear::ClearEvaluator;

    const RATIO: f64 = EvalMod::MESSAGE_RATIO;
    const TWO: Function = Function::Identity { harmonics: 2 };
    const TOP: usize = 11;
    const SLOTS: usize = 256;

    fn evaluator() -> ClearEvaluator {
        let moduli = (0..=TOP).map(|i| 2f64.powi(50) * (1.0 - 1e-7 * (i as f64 * 2.3).sin())).collect();
        ClearEvaluator::new(SLOTS, moduli, 32, 1).unwrap()
    }

    /// Messages over `[-1, 1]` in both parts, ends included.
    fn messages() -> Vec<Complex64> {
        let part = |j: usize| 2.0 * j as f64 / (SLOTS - 1) as f64 - 1.0;
        (0..SLOTS).map(|j| Complex64::new(part(j), part(37 * j % SLOTS))).collect()
    }

    /// The worst error in bits, over both parts, with the overflow `i` in the real and `-i` in the imaginary part.
    fn worst_bits(i: i32, real: bool) -> f64 {
        let (e, plan) = (evaluator(), EvalMod::new(TWO, RATIO).unwrap());
        let overflow = RATIO * Complex64::new(f64::from(i), f64::from(-i));
        let input: Vec<_> = messages().iter().map(|m| (m + overflow) * c2s_factor(RATIO)).collect();
        let ct = e.encrypt(&input, TOP, EvalMod::input_scale(e.modulus(TOP))).unwrap();
        let scale = 2f64.powi(40);
        let parts = if real { Parts::Real } else { Parts::Complex };
        let [out] = &plan.run(&e, &[ct], parts, scale).unwrap()[..] else { panic!("one result") };
        assert_eq!((e.level(out), e.scale(out)), (TOP - TWO.levels(), scale));
        let errors = out.values().iter().zip(messages()).map(|(z, m)| {
            let wanted = if real { Complex64::new(m.re, 0.0) } else { m };
            (z.re - wanted.re).abs().max((z.im - wanted.im).abs())
        });
        -errors.fold(0.0, f64::max).log2()
    }

    #[test]
    fn every_overflow_that_can_occur_is_removed() {
        for i in -16..=16 {
            for real in [false, true] {
                let bits = worst_bits(i, real);
                if real && i >= 0 {
                    println!("I = {i}: {bits:.2} bits at worst");
                }
                // The sine series alone is 25.3 bits; beyond |I| = 9, an event below 2^-30, the fit gives way.
                let promised = match i.abs() {
                    0..=8 => -EvalMod::new(TWO, RATIO).unwrap().residual().log2() - 0.05,
                    9 => 25.1,
                    10 => 24.5,
                    11 => 21.3,
                    _ => 9.0,
                };
                assert!(bits > promised, "I = {i}: {bits} bits");
            }
        }
    }

    /// What the polynomial adds to the error of the series, at worst over messages and overflows up to `|I| = i`, in bits.
    fn fit_bits(ratio: f64, harmonics: usize, i: i32) -> f64 {
        let plan = EvalMod::new(Function::Identity { harmonics }, ratio).unwrap();
        let result = |power: Complex64, exact: Complex64| {
            // V of the module documentation, from what the squarings give and from the exponential itself.
            let last = |e: Complex64| if harmonics == 2 { 2.0 * (e * e - plan.linear * e).im } else { 2.0 * e.im };
            (last(power) - last(exact)).abs()
        };
        let kappa = plan.series.value(0.0.into()).powi(8).re;
        let mut worst: f64 = 0.0;
        for i in -i..=i {
            for m in -16..=16 {
                let x = f64::from(i) + f64::from(m) / 16.0 / ratio;
                let power = plan.series.value((2.0 * x / K).into()).powi(8);
                worst = worst.max(result(power, Complex64::from_polar(kappa, TAU * x)));
            }
        }
        -worst.log2()
    }

    #[test]
    fn one_fit_serves_all_message_ratios_from_2_to_the_5_to_2_to_the_11() {
        // What the module documentation says; 10.5 is that of the compact presets.
        for log2_ratio in [5.0, 5.75, 6.5, 6.75, 8.0, 9.0, 10.0, 10.5, 11.0] {
            for (harmonics, i, bits) in
                [(1, 8, 37.4), (1, 9, 35.2), (1, 11, 28.0), (1, 16, 13.9), (2, 9, 35.1), (2, 16, 13.9)]
            {
                let found = fit_bits(f64::exp2(log2_ratio), harmonics, i) + log2_ratio;
                assert!(found > bits, "r = 2^{log2_ratio}, |I| <= {i}: {found}");
            }
        }
        // Of what is likely the series is the larger part by far, for every number of harmonics where it is used.
        for (log2_ratio, harmonics) in [(5.75, 2), (6.5, 2), (6.75, 2), (10.5, 1)] {
            let ratio = f64::exp2(log2_ratio);
            let series = -EvalMod::new(Function::Identity { harmonics }, ratio).unwrap().residual().log2();
            assert!(
                fit_bits(ratio, harmonics, 8) > series + 6.0 && fit_bits(ratio, harmonics, 9) > series + 3.5,
                "r = 2^{log2_ratio}: {series}"
            );
        }
    }

    #[test]
    fn the_polynomial_is_the_exponential() {
        let plan = EvalMod::new(TWO, RATIO).unwrap();
        assert_eq!((plan.series.degree(), plan.series.depth(), plan.series.relinearizations()), (28, 5, 8));
        // E' = kappa E on the whole interval of the argument, and kappa is real.
        let kappa = plan.series.value(0.0.into()).powi(8).re;
        assert!((kappa * kappa + sine_series(RATIO).1 * RATIO / (2.0 * TAU)).abs() < 1e-6);
        for i in -10..=10 {
            let power = plan.series.value((2.0 * f64::from(i) / K).into()).powi(8);
            assert!((power - kappa).norm() < 1e-6);
        }
    }

    #[test]
    fn the_error_of_the_sine_series_is_a_chebyshev_polynomial() {
        for ratio in [32.0, RATIO, 256.0] {
            let (alpha, beta) = sine_series(ratio);
            let residual = EvalMod::new(TWO, ratio).unwrap().residual();
            let order_7 = 4.0 * (TAU / ratio).powi(2) * residual;
            let error = |m: f64| {
                let theta = TAU * m / ratio;
                ratio / TAU * (alpha * theta.sin() + beta * (2.0 * theta).sin()) - m
            };
            for j in 0..=500 {
                let u = f64::from(j) / 500.0;
                let wanted = -residual * (5.0 * u.acos()).cos();
                assert!((error(u) - wanted).abs() < order_7, "{} for {wanted} at {u}", error(u));
            }
        }
        assert!((EvalMod::new(TWO, EvalMod::MESSAGE_RATIO).unwrap().residual().log2() + 25.3).abs() < 0.01);
        assert_eq!(EvalMod::MESSAGE_RATIO, 2f64.powf(6.75));
        assert!((EvalMod::input_scale(1.0).log2() + 0.05).abs() < 1e-15);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        for ratio in [0.0, -3.0, f64::NAN, f64::INFINITY, 2.0] {
            assert!(matches!(EvalMod::new(TWO, ratio), Err(Error::Factor { .. })));
        }
        let (e, plan) = (evaluator(), EvalMod::new(TWO, RATIO).unwrap());
        let low = e.encrypt(&messages(), TWO.levels() - 1, 2f64.powi(50)).unwrap();
        let refused = plan.run(&e, &[low], Parts::Complex, 1e12).unwrap_err();
        assert_eq!(refused, SchemeError::LevelTooLow { required: 9, actual: 8 }.into());
    }
}
