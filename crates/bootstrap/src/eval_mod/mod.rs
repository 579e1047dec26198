//! The approximate modular reduction by the complex exponential: `I + m/r` to `m`, in nine levels.
//!
//! With `x = I + m/r`, `|x| <= K = 17`, a degree-31 polynomial `P(x/K) ~ exp(2 pi i x / 8)` is squared three times to
//! `E ~ exp(2 pi i x)`, whose imaginary part no longer knows `I`. The cubic error of the sine is removed by a second
//! harmonic (sine series, eprint 2021/572): `m ~ (r / 2 pi) (4/3 sin 2 pi x - 1/6 sin 4 pi x)`, which is off by
//! `(2 pi / r)^4 |m|^5 / 30` at most: 22.3 bits for `r = 2^7` and `|m| = 1`. As `sin 4 pi x = Im E^2`, this is one more
//! product:
//! `V = alpha E + beta E^2` with `m = V + conj V`, `alpha = (4/3) (r / 2 pi) / 2i`, `beta = -(1/6) (r / 2 pi) / 2i`.
//!
//! A factor `kappa` with `kappa^2 = beta` goes into the polynomial (as `kappa^(1/8)`, which three squarings undo), so that
//! with `E' = kappa E` the last line is `V = E'^2 + (alpha / kappa) E'`: one squaring, one term, no product by a constant.
//!
//! `h = 32` gives `|I| <= 16`, and the polynomial is fitted with the probability of `I` as a weight but covers all of
//! them: there is no failure probability. The fit is for `r = 2^7`; larger ratios keep its precision relative to `q0`.

mod coefficients;

use crate::circuits::polynomial::ChebyshevSeries;
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
/// Input slots are `t = (x + i y) / 2K` with `x, y = I + m/r` (real and imaginary part on their own), which is what
/// `coeffs_to_slots` gives with the factor [`EvalMod::c2s_factor`]. The output is nine chain levels
/// ([`EvalMod::LEVELS`]) below the input and has exactly the scale asked for.
#[derive(Debug, Clone)]
pub struct EvalMod {
    message_ratio: f64,
    real: Branch,
    imaginary: Branch,
}

/// The constants for one real argument: the output is `phase * (alpha E + beta E^2)`.
#[derive(Debug, Clone)]
struct Branch {
    /// `(phase beta)^(1/16) P`.
    series: ChebyshevSeries,
    /// `phase alpha / kappa`.
    linear: Complex64,
}

impl EvalMod {
    /// Levels that an evaluation takes: five for the polynomial, three squarings, one for the sine series.
    pub const LEVELS: usize = 5 + DOUBLE_ANGLE + 1;

    /// Plans for the message ratio `r = q0 / scale`, where `scale` is the exact scale of the ciphertext at the moment of
    /// `mod_raise`. The error on messages `|m| <= 1` is about `(2 pi / r)^4 / 30` at worst.
    ///
    /// # Errors
    /// [`Error::Factor`] unless `message_ratio` is finite and above 2 (messages must stay away from `q0 / 2`).
    pub fn new(message_ratio: f64) -> Result<Self, Error> {
        if !(message_ratio.is_finite() && message_ratio > 2.0) {
            return Err(Error::Factor { what: "message ratio", requirement: "greater than 2" });
        }
        let one = Complex64::new(1.0, 0.0);
        Ok(EvalMod {
            message_ratio,
            real: Branch::new(message_ratio, one)?,
            imaginary: Branch::new(message_ratio, one * Complex64::i())?,
        })
    }

    /// The message ratio planned for.
    pub fn message_ratio(&self) -> f64 {
        self.message_ratio
    }

    /// The factor that `coeffs_to_slots` must carry.
    ///
    /// After `mod_raise` the value of a coefficient, that is the coefficient over the scale, is `m + r I = r x`. The
    /// polynomial wants `x / K`, and the split into real and imaginary part `t + conj t`, `-i (t - conj t)` doubles; hence
    /// `1 / (2 K r)`. Scales are another matter: they are set by the `scale_ratio` of each encoded stage.
    pub fn c2s_factor(&self) -> f64 {
        1.0 / (2.0 * K * self.message_ratio)
    }

    /// Reduces real and imaginary parts, each on its own: slots `(x + i y) / 2K` become the complex messages.
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
        let y = e.mul_i(&e.sub(&conjugate, ct)?);
        let v_x = self.real.evaluate(e, &x, scale)?;
        let v_y = self.imaginary.evaluate(e, &y, scale)?;
        // The imaginary branch carries a factor i, so that its conjugate must be subtracted.
        let difference = e.conjugate(&e.sub(&v_x, &v_y)?)?;
        Ok(e.add(&e.add(&v_x, &v_y)?, &difference)?)
    }

    /// Reduces the real parts only and drops the imaginary ones: slots `(x + i y) / 2K` become real messages at half the
    /// work of [`EvalMod::eval_mod_complex`].
    ///
    /// # Errors
    /// As for [`EvalMod::eval_mod_complex`].
    pub fn eval_mod_real<E: Evaluator>(&self, e: &E, ct: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let x = e.add(ct, &e.conjugate(ct)?)?;
        let v = self.real.evaluate(e, &x, scale)?;
        Ok(e.add(&v, &e.conjugate(&v)?)?)
    }
}

impl Branch {
    fn new(message_ratio: f64, phase: Complex64) -> Result<Self, Error> {
        let unit = phase * (message_ratio / TAU) / (2.0 * Complex64::i());
        let (alpha, beta) = (unit * (4.0 / 3.0), unit * (-1.0 / 6.0));
        let kappa = beta.sqrt();
        // Roots by halving: the principal branch of each is right, since squaring leads back to kappa itself.
        let share = (0..DOUBLE_ANGLE).fold(kappa, |root, _| root.sqrt());
        let even = EXP_COS.iter().map(|c| share * c);
        let odd = EXP_SIN.iter().map(|s| share * Complex64::i() * s);
        let coefficients: Vec<Complex64> = even.zip(odd).flat_map(|(c, s)| [c, s]).collect();
        Ok(Branch { series: ChebyshevSeries::new(&coefficients)?, linear: alpha / kappa })
    }

    /// `V` at the real argument `t = x / K`, nine levels below it, with exactly `scale`.
    fn evaluate<E: Evaluator>(&self, e: &E, t: &E::Ciphertext, scale: f64) -> Result<E::Ciphertext, Error> {
        let top = e.level(t);
        if top < EvalMod::LEVELS {
            return Err(SchemeError::LevelTooLow { required: EvalMod::LEVELS, actual: top }.into());
        }
        // Backwards from the result: what is squared at a level must have scale^2 = result * modulus.
        let bottom = top - EvalMod::LEVELS;
        let mut scales = vec![scale];
        for level in bottom + 1..=bottom + 1 + DOUBLE_ANGLE {
            scales.push((scales[scales.len() - 1] * e.modulus(level)).sqrt());
        }
        let mut power = self.series.evaluate(e, t, scales[DOUBLE_ANGLE + 1])?;
        for step in (0..=DOUBLE_ANGLE).rev() {
            power = e.quadratic(&Quadratic {
                products: vec![Product { factor: 1, left: &power, right: &power }],
                terms: if step == 0 { vec![(self.linear, &power)] } else { vec![] },
                constant: Complex64::new(0.0, 0.0),
                level: bottom + 1 + step,
                scale: scales[step],
            })?;
        }
        Ok(power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::clear::ClearEvaluator;

    const RATIO: f64 = 128.0;
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
        let ct = e.encrypt(&input, TOP, 2f64.powi(50)).unwrap();
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
                // 22.3 bits are the sine series; from |I| = 13 on, an event below 2^-40, the fit gives way.
                let promised = if i.abs() <= 10 {
                    22.2
                } else if i.abs() <= 12 {
                    21.5
                } else {
                    16.0
                };
                assert!(bits > promised, "I = {i}: {bits} bits");
            }
        }
    }

    #[test]
    fn the_polynomial_is_the_exponential() {
        let branch = Branch::new(RATIO, Complex64::new(1.0, 0.0)).unwrap();
        assert_eq!((branch.series.degree(), branch.series.depth(), branch.series.relinearizations()), (31, 5, 10));
        // At t = 0 the result is kappa^(1/8) up to the fit, and kappa^2 = beta = i r / 24 pi.
        let kappa = branch.series.value(0.0.into()).powi(8);
        assert!((kappa * kappa - Complex64::i() * RATIO / (12.0 * TAU)).norm() < 1e-6);
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
