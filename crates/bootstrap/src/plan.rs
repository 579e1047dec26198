//! A bootstrap as data: the list of its stages with levels and scales, before any key or ciphertext exists.

use crate::circuits::dft::{coeffs_to_slots, slots_to_coeffs};
use crate::error::Error;
use crate::eval_mod::EvalMod;
use aglet_schemes::evaluator::same_scale;
use aglet_schemes::LinearMap;
use num_complex::Complex64;

/// What a stage does.
#[derive(Debug, Clone)]
pub enum Step {
    /// One factor of the homomorphic DFT, with the ratio of its output to its input scale.
    Transform {
        /// The factor.
        map: LinearMap,
        /// Output scale over input scale.
        scale_ratio: f64,
    },
    /// To the lowest modulus q0, at exactly the scale q0 / r.
    ScaleDown,
    /// To the sparse ephemeral secret (eprint 2022/024).
    SparseSecret,
    /// From q0 to the top of the chain, and back to the main secret (eprint 2018/153).
    ModRaise,
    /// Removal of the multiples of q0.
    EvalMod {
        /// The circuit.
        eval_mod: EvalMod,
        /// On real messages only, at half the price.
        real: bool,
    },
}

/// One row of the stage table.
#[derive(Debug, Clone)]
pub struct Stage {
    /// "slots_to_coeffs 1/3", "mod_raise", ...
    pub name: String,
    /// What it does.
    pub step: Step,
    /// Chain level before.
    pub level_in: usize,
    /// Chain level after.
    pub level_out: usize,
    /// Scale before.
    pub scale_in: f64,
    /// Scale after.
    pub scale_out: f64,
}

/// The numbers that a plan is made from.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The primes of Q as doubles, bottom to top.
    pub moduli: Vec<f64>,
    /// Primes below user level 0 that slots_to_coeffs consumes.
    pub slots_to_coeffs: usize,
    /// Primes at the top that coeffs_to_slots consumes.
    pub coeffs_to_slots: usize,
    /// q0 / scale at which the modulus is raised.
    pub message_ratio: f64,
    /// Scale of the input, at the chain level `slots_to_coeffs`.
    pub scale_in: f64,
    /// Scale of the output.
    pub scale_out: f64,
}

/// Choices of one bootstrap.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Message slots.
    pub slots: usize,
    /// Baby steps of every linear map: 16 with large keys, 8 with medium ones.
    pub baby: usize,
    /// Messages are at most this large.
    pub bound: f64,
    /// Whether the message is known to be real.
    pub real: bool,
}

/// The slots-first bootstrap: slots_to_coeffs, scale_down, sparse_secret, mod_raise, coeffs_to_slots, eval_mod.
///
/// The message enters coefficients before the modulus is raised, so coefficients are as small as slots, and errors of
/// the sine are not multiplied by sqrt(n) as they are when slots_to_coeffs comes last (ckks.md section 2.3).
#[derive(Debug, Clone)]
pub struct Plan {
    stages: Vec<Stage>,
    options: Options,
}

/// The largest bound that keeps the output scale within the chain.
pub const MAX_BOUND: f64 = 1024.0;

impl Plan {
    /// Lays out the stages and proves their levels and scales.
    ///
    /// # Errors
    /// [`Error::Chain`] if the chain has not the levels, [`Error::Bound`] for a bound outside `(0, 1024]`, and the errors
    /// of the stages.
    pub fn slots_first(chain: &Chain, options: Options) -> Result<Self, Error> {
        let (down, up) = (chain.slots_to_coeffs, chain.coeffs_to_slots);
        let top = chain.moduli.len().saturating_sub(1);
        if down == 0 || up == 0 || top < down + up + EvalMod::LEVELS {
            return Err(Error::Chain { primes: chain.moduli.len(), needed: down + up + EvalMod::LEVELS + 1 });
        }
        if !(options.bound > 0.0 && options.bound <= MAX_BOUND) {
            return Err(Error::Bound { bound: options.bound, max: MAX_BOUND });
        }
        let eval_mod = EvalMod::new(chain.message_ratio)?;
        let one = Complex64::new(1.0, 0.0);
        let mut plan = Self { stages: Vec::new(), options };

        let maps = slots_to_coeffs(options.slots, down, one / options.bound, options.baby)?;
        plan.transforms("slots_to_coeffs", maps, down, (chain.scale_in, chain.moduli[0] / chain.message_ratio));
        plan.push("scale_down", Step::ScaleDown, 0, None);
        plan.push("sparse_secret", Step::SparseSecret, 0, None);
        plan.push("mod_raise", Step::ModRaise, top, None);
        let maps = coeffs_to_slots(options.slots, up, one * eval_mod.c2s_factor(), options.baby)?;
        let raised = plan.output_scale();
        plan.transforms("coeffs_to_slots", maps, top, (raised, EvalMod::input_scale(chain.moduli[top - up])));
        // The value leaves eval_mod divided by the bound; at a scale larger by the bound it is the value itself.
        let level = plan.output_level() - EvalMod::LEVELS;
        plan.push(
            "eval_mod",
            Step::EvalMod { eval_mod, real: options.real },
            level,
            Some(chain.scale_out * options.bound),
        );
        plan.check(chain)?;
        Ok(plan)
    }

    fn push(&mut self, name: &str, step: Step, level_out: usize, scale_out: Option<f64>) {
        let (level_in, scale_in) = (self.output_level(), self.output_scale());
        let scale_out = scale_out.unwrap_or(scale_in);
        self.stages.push(Stage { name: name.into(), step, level_in, level_out, scale_in, scale_out });
    }

    fn transforms(&mut self, name: &str, maps: Vec<LinearMap>, level: usize, (from, to): (f64, f64)) {
        let count = maps.len();
        let even = (to / from).powf(1.0 / count as f64);
        let (mut scale, mut level) = (from, level);
        for (i, map) in maps.into_iter().enumerate() {
            // The last stage lands on the wanted scale exactly.
            let scale_ratio = if i + 1 == count { to / scale } else { even };
            let scale_out = if i + 1 == count { to } else { scale * even };
            let step = Step::Transform { map, scale_ratio };
            let name = format!("{name} {}/{count}", i + 1);
            self.stages.push(Stage { name, step, level_in: level, level_out: level - 1, scale_in: scale, scale_out });
            (scale, level) = (scale_out, level - 1);
        }
    }

    /// Proves that every stage starts where the one before it ends and stays within the chain.
    ///
    /// # Errors
    /// [`Error::Broken`] names the first stage that does not fit.
    pub fn check(&self, chain: &Chain) -> Result<(), Error> {
        let mut before: Option<&Stage> = None;
        for stage in &self.stages {
            let follows =
                before.is_none_or(|b| b.level_out == stage.level_in && same_scale(b.scale_out, stage.scale_in));
            let spends = match &stage.step {
                Step::Transform { .. } => stage.level_in == stage.level_out + 1,
                Step::EvalMod { .. } => stage.level_in == stage.level_out + EvalMod::LEVELS,
                Step::ScaleDown => {
                    stage.level_out == 0 && same_scale(stage.scale_out * chain.message_ratio, chain.moduli[0])
                }
                Step::SparseSecret => stage.level_in == 0 && stage.level_out == 0,
                Step::ModRaise => stage.level_in == 0 && stage.level_out + 1 == chain.moduli.len(),
            };
            if !follows || !spends {
                return Err(Error::Broken { stage: stage.name.clone() });
            }
            before = Some(stage);
        }
        Ok(())
    }

    /// The stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }
    /// The choices it was made with.
    pub fn options(&self) -> Options {
        self.options
    }
    /// Chain level that the input is brought to.
    pub fn input_level(&self) -> usize {
        self.stages.first().map_or(0, |s| s.level_in)
    }
    /// Scale that the input must have there.
    pub fn input_scale(&self) -> f64 {
        self.stages.first().map_or(1.0, |s| s.scale_in)
    }
    /// Chain level of the output.
    pub fn output_level(&self) -> usize {
        self.stages.last().map_or(0, |s| s.level_out)
    }
    fn output_scale(&self) -> f64 {
        self.stages.last().map_or(1.0, |s| s.scale_out)
    }
}
