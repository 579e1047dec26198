//! Functional bootstraps: lookup tables and periodic functions of slots while they are refreshed, with the probability that a table gives a
//! wrong entry computed before anything runs.
//!
//! **Noise.** The claim of a preset says what a regular bootstrap adds in the mean, `r / 2 pi` times the error of its exponential for the message
//! ratio r. So the exponential here is off by `2 pi / r` times the root mean square of that, in its size and in its angle. Errors of the angle are squared by
//! a table, those of its size are multiplied by [`Sensitivity::by_size`]. Powers of the exponential err in proportion to
//! their degree.
//!
//! **Failure.** Half of the least difference of two entries is shared between what the input errs and what the evaluation adds. Both follow Laplace's
//! law, as roundings are multiplied by the secret (`failure.rs`).

use super::iterated::{added, state};
use super::run::BootstrapKeys;
use crate::ckks::engine::Engine;
use crate::ckks::{BootstrapCircuit, Ciphertext};
use crate::runtime::Pass;
use crate::{Control, Error, NoiseError, ParameterError};
use aglet_bootstrap::ckks::request::{Parts, Request};
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::{EvalMod, Function, Functional, Sensitivity};
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::CkksStep;
use aglet_schemes::ckks::stated::{in_slots, rounding};
use aglet_schemes::ckks::Stated;
use std::f64::consts::{SQRT_2, TAU};
use std::sync::Arc;

/// What a functional bootstrap is told of its input and asked to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// A bound on the root-mean-square error of an input slot; what the ciphertext states if it is not given.
    pub input_error: Option<f64>,
    /// The largest probability, as log2, that some slot of some result of a table is nearer to another entry.
    pub log2_max_failure: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { input_error: None, log2_max_failure: -128.0 }
    }
}

/// What is known of the results of a functional bootstrap before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FunctionalEstimate {
    /// The user level of the results.
    pub level: usize,
    /// The levels that the functions take below the exponential.
    pub depth: usize,
    /// A bound on the root-mean-square error of a slot of the results.
    pub noise: f64,
    /// The largest absolute value of a slot of the results, without noise.
    pub bound: f64,
    /// The probability, as log2, that some slot of a result is nearer to another entry; `None` for functions that are no tables.
    pub log2_failure: Option<f64>,
    /// The largest root-mean-square error of an input slot with which a table holds the limit; `None` for functions that are no tables.
    pub largest_input_error: Option<f64>,
}

impl Engine {
    /// Plans a functional bootstrap, or reuses the plan of one that ran lately.
    ///
    /// # Errors
    /// Those of [`BootstrapCircuit::with_functions`].
    pub fn functional_circuit(
        &self,
        request: Request,
        functional: &Arc<Functional>,
    ) -> Result<Arc<BootstrapCircuit>, Error> {
        self.planned(request, Some(functional))
    }

    /// Evaluates functions on the slots of a ciphertext while it is bootstrapped. Gives one result for each function. `request` has the
    /// method and size of the bootstrap key.
    ///
    /// # Errors
    /// [`Error::Noise`] if the noise of the input is not known or too large for the limits, [`Error::Range`] for values that are known
    /// to be outside, and those of [`Engine::bootstrap`].
    pub fn functional_bootstrap(
        &self,
        ct: &Ciphertext,
        functional: &Arc<Functional>,
        keys: BootstrapKeys<'_>,
        request: Request,
        limits: Limits,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        let circuit = self.functional_circuit(request, functional)?;
        self.check_input(&[ct], &keys, &circuit)?;
        let estimate = self.functional_estimate(&circuit, ct.stated.noise, limits)?;
        if let Some((found, largest)) = estimate.log2_failure.zip(estimate.largest_input_error) {
            if found > limits.log2_max_failure {
                return Err(refusal(ct, limits, found, largest).into());
            }
        }
        let pass = Pass { number: 0, count: 1 };
        let (mut out, ran) = self.watched(&circuit, &[&[ct]], keys, (pass, control))?;
        self.remember(ran);
        out.iter_mut().for_each(|ct| state(ct, Stated::new(estimate.bound, estimate.noise), None));
        Ok(out)
    }

    /// What will be known of the results, where input slots have an error of at most `noise` (root mean square) unless the limits say
    /// otherwise.
    ///
    /// # Errors
    /// [`Error::Parameter`] for limits that are none; those of [`EvalMod::tail`]: a circuit that was made passes.
    pub fn functional_estimate(
        &self,
        circuit: &BootstrapCircuit,
        noise: f64,
        limits: Limits,
    ) -> Result<FunctionalEstimate, Error> {
        let Some(functional) = circuit.functional() else {
            return Err(ParameterError::NoFunction.into());
        };
        let noise = limits.input_error.unwrap_or(noise);
        if noise.is_nan() || noise < 0.0 {
            return Err(ParameterError::InputError { error: noise }.into());
        }
        if limits.log2_max_failure.is_nan() || limits.log2_max_failure > 0.0 {
            return Err(ParameterError::MaxFailure.into());
        }
        let model = Model::new(self, circuit, functional)?;
        let parts = if circuit.request.parts() == Parts::Real { 1.0 } else { SQRT_2 };
        let table = functional.is_tables();
        let failure = |noise: f64| model.log2_failure(noise);
        Ok(FunctionalEstimate {
            level: circuit.level,
            depth: functional.depth(),
            noise: parts * model.noise(noise),
            bound: parts * model.sensitivity.largest,
            log2_failure: table.then(|| failure(noise)),
            largest_input_error: table.then(|| model.largest_input(limits.log2_max_failure)),
        })
    }
}

/// The noise of a functional bootstrap on its parameters.
struct Model<'a> {
    functional: &'a Functional,
    sensitivity: Sensitivity,
    /// Of a value, before the exponential, beside what the input has.
    entering: f64,
    /// Of a result, beside what the input causes.
    leaving: f64,
    /// A quarter of the least difference of two entries.
    margin: f64,
    /// The largest error of a value with which results stay within the margin.
    reach: f64,
    /// Results times slots times parts.
    count: f64,
    /// Chances of overflows, and what they move results by.
    overflows: Vec<(f64, f64)>,
}

impl<'a> Model<'a> {
    fn new(engine: &Engine, circuit: &BootstrapCircuit, functional: &'a Functional) -> Result<Self, Error> {
        let (params, slots) = (engine.params(), circuit.request.slots);
        let ratio = params.message_ratio_log2().unwrap_or(f64::NAN).exp2();
        // `added` is twice the claimed mean.
        let exponential = TAU * SQUARE_OVER_MEAN * added(params, 1, 0.5) / ratio;
        let sensitivity = functional.sensitivity();
        let largest = functional.points().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        // A rescale down to level 0, whose factor is rounded at about the scale.
        let scale = params.scale_at(0);
        let entering = functional.period() * exponential / TAU
            + in_slots(slots, rounding(&engine.ctx, 2), scale)
            + largest / scale;
        // Powers: each product rounds at the scale of its level, and doubles what the one before had. What is multiplied with them is
        // rounded too.
        let (powers, factors) = least_scales(circuit, functional);
        let round = |scale: f64| in_slots(slots, rounding(&engine.ctx, 2), scale);
        let weight = functional.functions().iter().flatten().map(|f| {
            let terms = f.coefficients().iter().enumerate();
            terms.map(|(k, c)| (k as f64 * c.norm()).powi(2)).sum::<f64>().sqrt()
        });
        let powers = DOUBLED * round(powers) * weight.fold(0.0, f64::max);
        let factors = 2.0 * round(factors) * (functional.depth() as f64).sqrt();
        let last = 2.0 * in_slots(slots, rounding(&engine.ctx, 2), params.scale_at(circuit.level));
        let margin = functional.least_difference() / 4.0;
        let parts = if circuit.request.parts() == Parts::Real { 1 } else { 2 };
        let eval_mod = EvalMod::new(Function::Functional(Arc::new(functional.clone())), functional.period())?;
        let tail = eval_mod.tail(params.ephemeral_weight().unwrap_or(0), 1.0)?;
        Ok(Self {
            functional,
            entering,
            // Roundings of different places.
            leaving: (sensitivity.by_size * exponential).hypot(powers).hypot(factors).hypot(last),
            margin,
            reach: functional.largest_error(margin),
            sensitivity,
            count: (functional.functions().len() * slots * parts) as f64,
            overflows: tail.iter().map(|overflow| (overflow.chance, overflow.error)).collect(),
        })
    }

    /// Of one part of a result, for this noise of an input: a mean square of a square is six times the square of the mean square, by Laplace's law.
    fn noise(&self, input: f64) -> f64 {
        let error = input + self.entering;
        if self.functional.is_tables() {
            // With three derivatives zero a result has the fourth power of the error. By the law of Laplace the root mean square of that is that of
            // the error, times 2.66, to the fourth; of lower powers it is less.
            let half = 0.5 * self.functional.period() / self.functional.points().len() as f64;
            return self.functional.displacement((EIGHTH * error).min(half)) + self.leaving;
        }
        self.sensitivity.slope * error + self.sensitivity.square * error * error * 6f64.sqrt() + self.leaving
    }

    fn log2_failure(&self, input: f64) -> f64 {
        let laplace = |times: f64| (-SQRT_2 * times).exp();
        let entering = laplace(self.reach / (input + self.entering));
        let leaving = |(chance, error): &(f64, f64)| chance * laplace((self.margin - error).max(0.0) / self.leaving);
        let sum = entering + self.overflows.iter().map(leaving).sum::<f64>();
        (self.count * sum).log2().clamp(LEAST, 0.0)
    }

    /// The largest noise of an input that keeps the probability below this; 0 if none does.
    fn largest_input(&self, log2_failure: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.reach);
        if self.log2_failure(low) > log2_failure {
            return 0.0;
        }
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if self.log2_failure(middle) <= log2_failure {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// The least probability that is told, as log2.
const LEAST: f64 = -1024.0;

/// The least scale of powers of the exponential, and of what they are multiplied with.
fn least_scales(circuit: &BootstrapCircuit, functional: &Functional) -> (f64, f64) {
    let stage = circuit.plan.stages().iter().find_map(|stage| match &stage.step {
        CkksStep::SlotsFirst(SlotsFirst::EvalMod(step)) => Some((step, stage.to)),
        _ => None,
    });
    let (Some((step, to)), Some(layout)) = (stage, &circuit.layout) else { return (0.0, 0.0) };
    // A result whose rescale is left to the next stage stands at the scale before it.
    let unrescaled = step.eval_mod.levels() < step.eval_mod.function().levels();
    let result = if unrescaled { to.scale / layout.moduli[to.level] } else { to.scale };
    let top = to.level + functional.depth() - usize::from(unrescaled);
    functional.least_scales(&layout.moduli, top, result)
}

/// The root mean square over the mean of a size: `4 / pi` where a Gaussian is multiplied by a Gaussian, and less for other laws.
const SQUARE_OVER_MEAN: f64 = 4.0 / std::f64::consts::PI;

/// The eighth root of 2520.
const EIGHTH: f64 = 2.66;

/// A power errs by so many times its degree times one rounding: `2 sqrt(1 + 1/4 + 1/16 + ..)`.
const DOUBLED: f64 = 2.31;

/// Why a bootstrap is refused, and what would help.
fn refusal(ct: &Ciphertext, limits: Limits, failure: f64, largest: f64) -> NoiseError {
    let limit = limits.log2_max_failure;
    if limits.input_error.is_none() && !ct.stated.noise.is_finite() {
        return NoiseError::UnknownForTable { largest, limit };
    }
    let noise = limits.input_error.unwrap_or(ct.stated.noise);
    match largest > 0.0 {
        true => NoiseError::Table { failure, limit, largest, noise },
        false => NoiseError::NoInputForTable { failure, limit },
    }
}
