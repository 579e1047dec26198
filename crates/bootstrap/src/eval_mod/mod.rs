//! The approximate modular reduction by the complex exponential: `I + m/r` to `m`, in nine levels.
//!
//! With `x = I + m/r`, `|x| <= K = 17`, a degree-31 polynomial `P(x/K) ~ exp(2 pi i x / 8)` is squared three times to
//! `E ~ exp(2 pi i x)`, whose imaginary part no longer knows `I`. A second harmonic (sine series, eprint 2021/572)
//! straightens the sine: `m ~ (r / 2 pi) (alpha sin theta + beta sin 2 theta)`, `theta = 2 pi m / r`, where the
//! coefficients are not those of the Taylor series (`4/3`, `-1/6`) but the best ones for `|theta| <= Theta = 2 pi / r`:
//! the remainder `-theta^5 / 30` is turned into the Chebyshev polynomial `-(Theta^5 / 480) T_5(theta / Theta)`, sixteen
//! times smaller at the ends. As `sin 2 theta = Im E^2`, this is one more product.
//!
//! A real factor `kappa` goes into the polynomial (as `kappa^(1/8)`, which three squarings undo), so that the last line
//! is one squaring and one term: with `E' = kappa E` and `kappa^2 = |beta| r / 4 pi`,
//! `V = E'^2 - (alpha r / (4 pi kappa)) E'` and `m = -2 Im V = i (V - conj V)`.
//! As `kappa` is real, even coefficients of the polynomial are real and odd ones imaginary, and so is every constant of
//! the circuit: its product with a ciphertext is that of a real number.
//!
//! `h = 32` gives `|I| <= 16`, and the polynomial is fitted with the probability of `I` as a weight but covers all of
//! them: there is no failure probability. The fit is for `r = 2^7`, and serves `2^5` to `2^10`.

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

/// The plan of an approximate modular reduction for one message ratio.
///
/// Input slots are `t = (x + i y) / K` with `x, y = I + m/r` (real and imaginary part on their own), which is what
/// `coeffs_to_slots` gives with the factor [`EvalMod::c2s_factor`]; their scale should be [`EvalMod::input_scale`]. The
/// output is nine chain levels ([`EvalMod::LEVELS`]) below the input and has exactly the scale asked for.
#[derive(Debug, Clone)]
pub struct EvalMod {
    message_ratio: f64,
    /// `kappa^(1/8) P` in the variable `D_1 = 2x / K`.
    series: Series,
    /// `alpha r / (4 pi kappa)`.
    linear: f64,
}

impl EvalMod {
    /// Levels that an evaluation takes: five for the polynomial, three squarings, one for the sine series.
    pub const LEVELS: usize = 5 + DOUBLE_ANGLE + 1;

    /// The message ratio to choose unless something else decides: `2^6.75`.
    ///
    /// A smaller ratio costs precision by the sine series (4 bits per bit), a larger one by the noise (1 bit per bit); with
    /// primes of 50 bits the least favourable messages fare best here, at 24.4 bits on average in the model of
    /// `tools/noise_eval_mod.py`. `q0` need not change with it: the scale at chain level 0 is `q0 / r`, whatever it is.
    pub const MESSAGE_RATIO: f64 = 107.634_741_152_475_46;

    /// Plans for the message ratio `r = q0 / scale`, where `scale` is the exact scale of the ciphertext at the moment of
    /// `mod_raise`. [`EvalMod::residual`] tells the error on messages `|m| <= 1`.
    ///
    /// # Errors
    /// [`Error::Factor`] unless `message_ratio` is finite and above 2 (messages must stay away from `q0 / 2`).
    pub fn new(message_ratio: f64) -> Result<Self, Error> {
        if !(message_ratio.is_finite() && message_ratio > 2.0) {
            return Err(Error::Factor { what: "message ratio", requirement: "greater than 2" });
        }
        let (alpha, beta) = sine_series(message_ratio);
        let unit = message_ratio / (2.0 * TAU);
        let kappa = (-beta * unit).sqrt();
        let share = (0..DOUBLE_ANGLE).fold(kappa, |root, _| root.sqrt());
        let pairs = EXP_COS.iter().zip(&EXP_SIN);
        let coefficients: Vec<_> =
            pairs.flat_map(|(c, s)| [Complex64::new(share * c, 0.0), Complex64::new(0.0, share * s)]).collect();
        let series = Series::from_chebyshev(&coefficients)?;
        Ok(EvalMod { message_ratio, series, linear: alpha * unit / kappa })
    }

    /// The message ratio planned for.
    pub fn message_ratio(&self) -> f64 {
        self.message_ratio
    }

    /// The largest error of the sine series on real and imaginary parts in `[-1, 1]`, to leading order:
    /// `(2 pi / r)^4 / 480`, which is 25.3 bits for [`EvalMod::MESSAGE_RATIO`].
    ///
    /// The polynomial adds nothing to it for `|I| <= 9`. Beyond, with a chance of `2^-30` per coefficient, it brings the
    /// error to 23 bits, and to 18 where `|I| >= 13` (`2^-58`); `tools/fit_eval_mod.py` prints the table.
    pub fn residual(&self) -> f64 {
        (TAU / self.message_ratio).powi(4) / 480.0
    }

    /// The factor that `coeffs_to_slots` must carry.
    ///
    /// After `mod_raise` the value of a coefficient, that is the coefficient over the scale, is `m + r I = r x`. The
    /// polynomial wants `D_1 = 2x / K`, and the split into real and imaginary part `t + conj t`, `-i (t - conj t)` doubles;
    /// hence `1 / (K r)`. Scales are another matter: they are set by the `scale_ratio` of each encoded stage.
    pub fn c2s_factor(&self) -> f64 {
        1.0 / (K * self.message_ratio)
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

    /// Reduces real and imaginary parts, each on its own: slots `(x + i y) / K` become the complex messages.
    ///
    /// Two polynomials (20 relinearisations), eight squarings, two conjugations. The output is at
    /// `level - `[`EvalMod::LEVELS`] with exactly `scale`.
    ///
    /// # Errors
    /// `LevelTooLow` when the input has fewer than nine levels; otherwise what the evaluator refuses.
    pub fn eval_mod_complex<E: Evaluator>(
        &self,
        e: &E,
        ct: &E::Ciphertext,
        scale: f64,
    ) -> Result<E::Ciphertext, Error> {
        let conjugate = e.conjugate(ct)?;
        let x = e.add(ct, &conjugate)?;
        let y = e.mul_i(&e.sub(&conjugate, ct)?)?;
        let i_v = e.mul_i(&self.evaluate(e, &x, scale)?)?;
        let w = self.evaluate(e, &y, scale)?;
        // i (V - conj V) + i * i (W - conj W), with one conjugation for both.
        let turned = e.conjugate(&e.add(&i_v, &w)?)?;
        Ok(e.add(&e.sub(&i_v, &w)?, &turned)?)
    }

    /// Reduces the real parts only and drops the imaginary ones: slots `(x + i y) / K` become real messages at half the
    /// work of [`EvalMod::eval_mod_complex`].
    ///
    /// # Errors
    /// As for [`EvalMod::eval_mod_complex`].
    pub fn eval_mod_real<E: Evaluator>(&self, e: &E, ct: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let x = e.add(ct, &e.conjugate(ct)?)?;
        let i_v = e.mul_i(&self.evaluate(e, &x, scale)?)?;
        Ok(e.add(&i_v, &e.conjugate(&i_v)?)?)
    }

    /// `V` at the real argument `x = D_1`, nine levels below it, with exactly `scale`.
    fn evaluate<E: Evaluator>(&self, e: &E, x: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let top = e.level(x);
        if top < Self::LEVELS {
            return Err(SchemeError::LevelTooLow { required: Self::LEVELS, actual: top }.into());
        }
        // Backwards from the result: what is squared at a level must have scale^2 = result * modulus.
        let bottom = top - Self::LEVELS;
        let mut scales = vec![scale];
        for level in bottom + 1..=bottom + 1 + DOUBLE_ANGLE {
            scales.push((scales[scales.len() - 1] * e.modulus(level)).sqrt());
        }
        let mut power = self.series.evaluate(e, x, scales[DOUBLE_ANGLE + 1])?;
        for step in (0..=DOUBLE_ANGLE).rev() {
            power = e.quadratic(&Quadratic {
                products: vec![Product { factor: 1, left: &power, right: &power }],
                terms: if step == 0 { vec![((-self.linear).into(), &power)] } else { vec![] },
                constant: Complex64::new(0.0, 0.0),
                level: bottom + 1 + step,
                scale: scales[step],
            })?;
        }
        Ok(power)
    }
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
        let (e, plan) = (evaluator(), EvalMod::new(RATIO).unwrap());
        let overflow = RATIO * Complex64::new(f64::from(i), f64::from(-i));
        let input: Vec<_> = messages().iter().map(|m| (m + overflow) * plan.c2s_factor()).collect();
        let ct = e.encrypt(&input, TOP, EvalMod::input_scale(e.modulus(TOP))).unwrap();
        let scale = 2f64.powi(40);
        let run = if real { EvalMod::eval_mod_real } else { EvalMod::eval_mod_complex };
        let out = run(&plan, &e, &ct, scale).unwrap();
        assert_eq!((e.level(&out), e.scale(&out)), (TOP - EvalMod::LEVELS, scale));
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
                    0..=9 => -EvalMod::new(RATIO).unwrap().residual().log2() - 0.05,
                    10 => 25.0,
                    11 | 12 => 23.2,
                    _ => 18.0,
                };
                assert!(bits > promised, "I = {i}: {bits} bits");
            }
        }
    }

    #[test]
    fn the_polynomial_is_the_exponential() {
        let plan = EvalMod::new(RATIO).unwrap();
        assert_eq!((plan.series.degree(), plan.series.depth(), plan.series.relinearizations()), (31, 5, 10));
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
            let residual = EvalMod::new(ratio).unwrap().residual();
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
        assert!((EvalMod::new(EvalMod::MESSAGE_RATIO).unwrap().residual().log2() + 25.3).abs() < 0.01);
        assert_eq!(EvalMod::MESSAGE_RATIO, 2f64.powf(6.75));
        assert!((EvalMod::input_scale(1.0).log2() + 0.05).abs() < 1e-15);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        for ratio in [0.0, -3.0, f64::NAN, f64::INFINITY, 2.0] {
            assert!(matches!(EvalMod::new(ratio), Err(Error::Factor { .. })));
        }
        let (e, plan) = (evaluator(), EvalMod::new(RATIO).unwrap());
        let low = e.encrypt(&messages(), EvalMod::LEVELS - 1, 2f64.powi(50)).unwrap();
        let refused = plan.eval_mod_complex(&e, &low, 1e12).unwrap_err();
        assert_eq!(refused, SchemeError::LevelTooLow { required: 9, actual: 8 }.into());
    }
}
