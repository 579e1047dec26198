//! EvalMod removes the multiples of q0: it evaluates the complex exponential of `I + m/r`, or its cosine, and then a
//! function that depends on `m` only.
//!
//! With `x = I + m/r`, `|x| <= K = 17`, a degree-28 polynomial `P(x/K) ~ exp(2 pi i x / 8)` is squared three times to
//! `E ~ exp(2 pi i x)`, which no longer knows `I`. Every [`Function`] is `u + conj u` for a `u` made of `E`, or a cosine:
//!
//! * The identity on small `m`: a second harmonic (sine series, eprint 2021/572) straightens the sine,
//!   `m ~ (r / 2 pi) (alpha sin theta + beta sin 2 theta)`, `theta = 2 pi m / r`, where the coefficients are not those of
//!   the Taylor series (`4/3`, `-1/6`): for `|theta| <= Theta = 2 pi / r` the remainder `-theta^5 / 30` is turned into the
//!   Chebyshev polynomial `-(Theta'^5 / 480) T_5(theta / Theta')`, twelve times smaller than it was at the ends. `Theta'` is so
//!   that the last zero is at `Theta`: messages of 1 and -1 stay what they are, however many bootstraps follow (with `Theta' =
//!   Theta` the error would be smaller by a quarter, and 1 would lose `2.4e-8` each time). As `sin 2 theta = Im E^2`, this is one
//!   more product. With one harmonic it is `alpha sin theta` and the remainder `-(Theta^3 / 24) T_3`, a level less.
//! * The sign: with `r = 4` the messages 1 and -1 are where the sine is flat, so an error `e` becomes `(pi e)^2 / 8`.
//! * Bits: with `r = 2` 0 and 1 are where the cosine is flat, `m = (1 - cos theta) / 2` (BinBoot, eprint 2024/767).
//!
//! A real factor `kappa` goes into the polynomial (as `kappa^(1/8)`, which three squarings undo), so that the last line
//! is one squaring and one term: with `E' = kappa E` and, for two harmonics, `kappa^2 = |beta| r / 4 pi`,
//! `V = E'^2 - c E'` with `c = alpha r / (4 pi kappa)`, and `m = -2 Im V = i (V - conj V)`. `V` itself is never computed: twice
//! the imaginary part of what was rounded at the scale of the message is twice its error. With `conj E'`, one level higher,
//! `m = i (X Y - c X)` for `X = E' - conj E'` and `Y = E' + conj E'`: one product and one rounding, for the real and the
//! imaginary part of a message together (`V` after all where real messages have a scale above that of `E'`). For one harmonic
//! `c = 0`.
//!
//! The sign and bits are a cosine at its flat points. With the real polynomial `D ~ 2 cos(2 pi (x - s) / 8)`, which has the
//! same coefficients but for the sine and cosine of the shift `s`, and `D^2 - 2` for the double angle, nothing is conjugated
//! after the split into real and imaginary part: a key switch less for each. An error grows by four where the cosine is at its
//! end, and where it is so at every doubling (one of two messages, one of four `I`) by 64 in all; at the other flat points it is
//! squared. By the model of `aglet plan` that is 0.04 bits of a sign, 0.2 in the worst slot. Off the flat points it would be
//! more, so the identity has the exponential: one harmonic by a cosine loses 0.35 bits, and 1.3 in the worst slot.
//!
//! The exponential errs by some `d` in its size at flat points, as an error of its angle is squared. Where the scale of the
//! message lets that be seen, one more level brings it to `d^2`: `F` being what is squared last, `F conj F` is that size, and no
//! message is in it. So there the sign and bits have the exponential.
//!
//! As `kappa` is real, even coefficients of the exponential are real and odd ones imaginary, and so is every constant of
//! the circuit: its product with a ciphertext is that of a real number.
//!
//! Functional bootstraps take the exponential into other polynomials: see the file `functional.rs`. Their messages are anywhere between integers,
//! so their exponential is another polynomial, of degree 30, which holds there too: of the angle it leaves 2^-20.5 of a turn where
//! `|I|` is largest, of the size 2^-17.9. A secret of weight 28 has one of degree 28 with the same errors, which takes one
//! relinearization less.
//!
//! A secret of weight 32 gives `|I| <= 16`, and the polynomial covers all of them: nothing overflows. But precision has a
//! tail, as the fit gives way where `|I|` is large and rare. What the polynomial costs the message, for `r` from `2^5.5` to
//! `2^8.25`, is 30 bits for `|I| <= 6`, 28 for 9 (a chance of `2^-24` for a coefficient), 25.6 for 12 (`2^-47`), 25.2 for 14
//! (`2^-74`), 9.5 for 15 (`2^-98`), 5.5 for 16 (`2^-149`); for `2^10.75` four bits less. [`EvalMod::tail`] sums this up. Degree 28 takes two
//! relinearizations less than 31.
//!
//! A secret of weight 28 gives `|I| <= 14`. There the identity of two harmonics has `K = 15` and degree 24, which takes one
//! relinearization less ([`EvalMod::under`]): 27 bits for `|I| <= 5`, 24.6 for 8 (a chance of `2^-22`), 20.8 for 13 (`2^-81`), 1.5 for 14
//! (`2^-125`), for `r` from `2^5.5` to `2^8.25`. Noise leaves 24.4 in the mean.

mod coefficients;
mod functional;
mod last;
mod step;
mod tail;
mod wave;

pub use functional::{Functional, Sensitivity, MAX_FUNCTIONS};
pub use step::EvalModStep;

use crate::ckks::request::Parts;
use crate::error::Error;
use aglet_circuits::polynomial::Series;
use aglet_circuits::Error as CircuitError;
use aglet_schemes::{Approximate, Error as SchemeError, Product, Quadratic};
use num_complex::Complex64;
use std::f64::consts::TAU;
use std::sync::Arc;
pub use tail::Overflow;
use wave::Wave;

/// The polynomial is good for `|x| <= K`, the one for sparser secrets for less: [`EvalMod::bound`].
pub const K: f64 = 17.0;

/// The largest weight of an ephemeral secret that never leaves this interval: `|I| <= (h + 1) / 2` and `|x| < |I| + 1`.
pub const MAX_WEIGHT: usize = 2 * (K as usize - 1);

/// Where the last zero of the Chebyshev polynomial `T_5` is, `cos(pi / 10)`.
const LAST_ZERO: f64 = 0.951_056_516_295_153_5;

/// Squarings after the polynomial: it approximates `exp(2 pi i x / 2^DOUBLE_ANGLE)`.
pub const DOUBLE_ANGLE: usize = 3;

/// The function of eval_mod on the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// The identity, up to the error of a sine series of one or two harmonics.
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
    /// Lookup tables or other periodic functions.
    Functional(Arc<Functional>),
}

impl Function {
    /// The message ratio that it needs when the modulus is raised, for those where `m = 1` has a fixed place.
    pub fn message_ratio(&self) -> Option<f64> {
        match self {
            Function::Identity { .. } => None,
            Function::Sign { .. } => Some(4.0),
            Function::Bits { .. } => Some(2.0),
            Function::Functional(functional) => Some(functional.period()),
        }
    }
    /// The functions of a functional bootstrap.
    pub fn functional(&self) -> Option<&Arc<Functional>> {
        match self {
            Function::Functional(functional) => Some(functional),
            _ => None,
        }
    }
    /// Whether the size of the exponential is cleaned.
    fn normalized(&self) -> bool {
        matches!(self, Function::Sign { normalized: true } | Function::Bits { normalized: true })
    }
    /// Levels that an evaluation takes: five for the polynomial, three squarings, one for a second harmonic or to normalize, those of
    /// functions of the exponential.
    pub fn levels(&self) -> usize {
        5 + DOUBLE_ANGLE + self.below()
    }
    /// Levels below the exponential.
    fn below(&self) -> usize {
        match self {
            Function::Functional(functional) => functional.depth(),
            _ => usize::from(*self == Function::Identity { harmonics: 2 } || self.normalized()),
        }
    }
}

/// The plan of an approximate modular reduction for one message ratio.
///
/// Input slots are `t = (x + i y) / K` with `x, y = I + m/r` (real and imaginary part on their own) and `K` of
/// [`EvalMod::bound`], which is what `coeffs_to_slots` gives with the factor [`c2s_factor`], times 17 over this `K`; their scale should be [`EvalMod::input_scale`]. The output is
/// [`Function::levels`] chain levels below the input and has exactly the scale asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalMod {
    function: Function,
    wave: Wave,
    message_ratio: f64,
    /// The factor of the exponential, and of the cosine.
    kappa: f64,
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
/// hence `1 / (K r)`, for `K = 17` whatever the weight: keys that carry the first map serve all functions. Where
/// [`EvalMod::bound`] is less, the last map makes up for it. Scales are another matter: they are set by the `scale_ratio` of each encoded stage.
pub fn c2s_factor(message_ratio: f64) -> f64 {
    1.0 / (K * message_ratio)
}

impl EvalMod {
    /// The message ratio to choose unless something else decides: `2^6.75`.
    ///
    /// A smaller ratio costs precision by the sine series (4 bits per bit), a larger one by the noise (1 bit per bit); with
    /// primes of 50 bits the least favourable messages fare best here, in the model of `tools/noise_eval_mod.py`. `q0`
    /// need not change with it: the scale at chain level 0 is `q0 / r`, whatever it is.
    pub const MESSAGE_RATIO: f64 = 107.634_741_152_475_46;

    /// Plans `function` for the message ratio `r = q0 / scale`, where `scale` is the exact scale of the ciphertext at the
    /// moment of `mod_raise`.
    ///
    /// # Errors
    /// [`CircuitError::Factor`] unless `message_ratio` is finite and above 2 (messages must stay away from `q0 / 2`), or there are
    /// not one or two harmonics.
    pub fn new(function: Function, message_ratio: f64) -> Result<Self, Error> {
        let unit = message_ratio / (2.0 * TAU);
        let (kappa, linear) = match &function {
            Function::Identity { .. } if !(message_ratio.is_finite() && message_ratio > 2.0) => {
                return Err(CircuitError::Factor { what: "message ratio", requirement: "greater than 2" }.into());
            }
            Function::Identity { harmonics: 1 } => ((1.0 + (TAU / message_ratio).powi(2) / 8.0) * unit, 0.0),
            Function::Identity { harmonics: 2 } => {
                let (alpha, beta) = sine_series(message_ratio);
                let kappa = (-beta * unit).sqrt();
                (kappa, alpha * unit / kappa)
            }
            Function::Identity { .. } => {
                return Err(CircuitError::Factor { what: "number of harmonics", requirement: "1 or 2" }.into());
            }
            Function::Sign { .. } => (0.5, 0.0),
            Function::Bits { .. } => (0.25, 0.0),
            Function::Functional(_) => (1.0, 0.0),
        };
        let wave = Wave::of(&function);
        let series = wave.series(kappa)?;
        Ok(EvalMod { function, wave, message_ratio, kappa, series, linear, rescales: true })
    }

    /// The same under a sparse secret of this weight: where it is sparse enough for a shorter interval, and the function and the message
    /// ratio allow it, by a polynomial of lower degree.
    ///
    /// # Errors
    /// [`CircuitError::Factor`] for a weight above [`MAX_WEIGHT`].
    pub fn under(self, weight: usize) -> Result<Self, Error> {
        if weight > MAX_WEIGHT {
            return Err(CircuitError::Factor { what: "weight of a sparse secret", requirement: "at most 32" }.into());
        }
        let wave = Wave::under(&self.function, self.message_ratio, weight);
        Ok(Self { series: wave.series(self.kappa)?, wave, ..self })
    }

    /// The polynomial is good for `|x|` up to this: 17, or 15.
    pub fn bound(&self) -> f64 {
        self.wave.bound()
    }

    /// The largest weight of a sparse secret that keeps `x` within [`EvalMod::bound`].
    pub fn max_weight(&self) -> usize {
        self.wave.max_weight()
    }

    /// The same without its last rescale, which [`ModSwitch`](super::mod_switch::ModSwitch) makes in its stead: the result
    /// stands a level higher and is not rounded yet; its scale should be larger by the prime of that level.
    #[must_use]
    pub fn unrescaled(self) -> Self {
        Self { rescales: false, ..self }
    }

    /// Levels between the input and the result.
    pub fn levels(&self) -> usize {
        self.function.levels() - usize::from(!self.rescales)
    }

    /// The message ratio it was planned for.
    pub fn message_ratio(&self) -> f64 {
        self.message_ratio
    }

    /// The function that it computes.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The scale that the input must have if `modulus` is the prime of its level: the prime itself.
    ///
    /// `D_2k` has the squared scale of `D_k` over a prime, so that a distance from the primes doubles from power to power, and
    /// what the powers are multiplied with has to be as much smaller. At the prime there is none, and `D_2` has the scale of
    /// `D_1`, as [`Series::centred`] wants it.
    pub fn input_scale(modulus: f64) -> f64 {
        modulus
    }

    /// Relinearizations of one run on these parts: real and imaginary part of one result share the last one.
    pub fn relinearizations(&self, parts: Parts) -> usize {
        if let Some(functional) = self.function.functional() {
            let exponentials = if parts == Parts::Real { 1 } else { 2 };
            return exponentials * (self.series.relinearizations() + DOUBLE_ANGLE) + functional.relinearizations(parts);
        }
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
    /// An evaluation is a polynomial (7 or 8 relinearizations) and three or four squarings; there are two for complex numbers.
    /// All evaluations go side by side, so that keys are read once for them.
    ///
    /// # Errors
    /// `LevelTooLow` when the input has too few levels; otherwise what the evaluator refuses.
    pub fn run<E: Approximate>(
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
        if let Some(functional) = self.function.functional() {
            let exponentials = self.powers(e, arguments, scale)?;
            return self.functional(e, functional, (&exponentials, parts), scale);
        }
        let powers = self.powers(e, arguments, scale)?;
        let of_power = powers.first().map_or(scale, |power| e.scale(power));
        if parts == Parts::Real && self.conjugates_last(of_power, scale) {
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

    /// Whether a real result of two harmonics is rounded less if `V` is conjugated than if `E'` is. The rounding of a conjugate of
    /// `E'`, `1 / of_power`, grows by `c`; that of `V`, `1 / scale`, is doubled.
    fn conjugates_last(&self, of_power: f64, scale: f64) -> bool {
        self.linear * scale > 2.0 * of_power
    }

    /// What is squared last, at real arguments `x = D_1`: one level above the result (two if it is to be normalized), at the
    /// scale from which squares are rescaled to `scale` in the end.
    fn powers<E: Approximate>(&self, e: &E, xs: Vec<E::Ciphertext>, scale: f64) -> Result<Vec<E::Ciphertext>, Error> {
        let (top, levels) = (xs.first().map_or(0, |x| e.level(x)), self.function.levels());
        if top < levels {
            return Err(SchemeError::LevelTooLow { required: levels, actual: top }.into());
        }
        let (bottom, squarings) = (top - levels, levels - self.series.depth());
        let last = match &self.function {
            Function::Functional(functional) => functional.depth(),
            function => 1 + usize::from(function.normalized()),
        };
        // Backwards from the result: what is squared at a level must have scale^2 = result * modulus.
        let mut scales = vec![scale];
        for level in bottom + 1..=bottom + squarings {
            let scale = match &self.function {
                Function::Functional(functional) if level <= bottom + last => functional.scale_in(e, level),
                _ => (scales[scales.len() - 1] * e.modulus(level)).sqrt(),
            };
            scales.push(scale);
        }
        let mut powers = self.series.evaluate_all_scaled(e, &xs, scales[squarings])?;
        for step in (last..squarings).rev() {
            let squares = powers.iter().map(|power| Quadratic {
                products: vec![Product { factor: 1, left: power, right: power }],
                terms: vec![],
                constant: self.wave.constant(self.kappa, step).into(),
                level: bottom + 1 + step,
                scale: scales[step],
            });
            powers = e.quadratics(&squares.collect::<Vec<_>>())?;
        }
        Ok(powers)
    }
}

/// `(alpha, beta)` with `alpha sin t + beta sin 2t ~ t` for `|t| <= Theta = 2 pi / message_ratio`.
///
/// With `Theta' = Theta / cos(pi / 10)` the error is `-(Theta'^5 / 480) T_5(t / Theta')` but for terms of order 7 (`4 Theta^2` of
/// it at most): `T_5(u) = 16u^5 - 20u^3 + 5u`, so `alpha + 8 beta = -Theta'^2 / 4`. Its last zero is at `Theta`: there the series
/// is exact, all orders included.
fn sine_series(message_ratio: f64) -> (f64, f64) {
    let theta = TAU / message_ratio;
    let third = -(theta / LAST_ZERO).powi(2) / 4.0;
    let beta = (theta - third * theta.sin()) / ((2.0 * theta).sin() - 8.0 * theta.sin());
    (third - 8.0 * beta, beta)
}

#[cfg(test)]
mod tests;
