//! A bootstrap as data: the list of its stages with levels and scales, before any key or ciphertext exists.

use crate::error::Error;
use crate::eval_mod::{c2s_factor, EvalMod, Function, Parts};
use aglet_circuits::dft::{coeffs_to_slots, slots_to_coeffs, BabySteps};
use aglet_schemes::approximate::same_scale;
use aglet_schemes::{LinearMap, Settle};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// What a stage does.
#[derive(Debug, Clone)]
pub enum Step {
    /// One linear map (a factor of the homomorphic DFT), with the ratio of its output to its input scale.
    Transform {
        /// The map, on all slots of the ring.
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
    /// The same and a linear map in one: the keys back to the main secret carry its diagonals, and no level is spent (eprint
    /// 2025/1403).
    RaiseTransform {
        /// The map, on all slots of the ring.
        map: LinearMap,
        /// Output scale over input scale.
        scale_ratio: f64,
    },
    /// Onto the subring of sparse slots: the sum of the rotations by all multiples of their number, as a product of sums of
    /// two or four. Multiplies by the number of rotations.
    Trace {
        /// Rotations that are added to what came before, sum by sum.
        rotations: Vec<Vec<usize>>,
    },
    /// One level down. The new scale times the prime is an integer times the old scale, so nothing but the rounding is lost.
    Rescale,
    /// Onto the chain of users, with the last rescale.
    Settle(Settle),
    /// Removal of the multiples of q0.
    EvalMod {
        /// The circuit.
        eval_mod: EvalMod,
        /// On which parts of the slots.
        parts: Parts,
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
    /// The primes of Q that the bootstrap raises to, as doubles, bottom to top.
    pub moduli: Vec<f64>,
    /// Where others stand for message primes: the primes of the users' chain up to the level of the result, bottom to top.
    pub settled: Option<Vec<f64>>,
    /// Primes below user level 0 that slots_to_coeffs consumes.
    pub slots_to_coeffs: usize,
    /// Stages of coeffs_to_slots; they consume [`Options::coeffs_to_slots_levels`] primes at the top.
    pub coeffs_to_slots: usize,
    /// q0 / scale at which the modulus is raised.
    pub message_ratio: f64,
    /// Scale of the input, at the chain level `slots_to_coeffs`.
    pub scale_in: f64,
    /// Scale of the output.
    pub scale_out: f64,
}

/// Choices of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Slots of the ring, N/2: what all maps are laid out for.
    pub ring_slots: usize,
    /// Message slots, a power of two; sparse ones repeat over the ring.
    pub slots: usize,
    /// How the linear maps are evaluated.
    pub steps: BabySteps,
    /// Diagonals at most of a map that the keys of mod_raise carry; 0 for a mod_raise without one.
    pub carried: usize,
    /// Messages are at most this large.
    pub bound: f64,
    /// What becomes of the message.
    pub function: Function,
    /// Which parts of it are wanted.
    pub parts: Parts,
    /// Whether real and imaginary parts of sparse slots share one evaluation, side by side in twice the slots: one level
    /// more, for the map that puts them together again.
    pub packed: bool,
}

impl Options {
    /// Levels between the top and the result, without coeffs_to_slots.
    pub fn levels(&self) -> usize {
        self.function.levels() + usize::from(self.packed)
    }
    /// Levels that coeffs_to_slots spends: its stages, but for a first one that mod_raise carries, and one more for a single map.
    pub fn coeffs_to_slots_levels(&self, stage_count: usize) -> usize {
        stage_count + usize::from(self.rescales_twice(stage_count)) - usize::from(self.carries_map(stage_count))
    }
    /// Whether coeffs_to_slots is a single map: its diagonals have the factors of all stages and of the trace, which makes them
    /// too small to be rounded at the size of one prime.
    fn rescales_twice(&self, stage_count: usize) -> bool {
        stage_count == 1 && !self.carries_map(stage_count)
    }
    /// Whether mod_raise carries all of the trace and the first map of coeffs_to_slots.
    fn carries_map(&self, stage_count: usize) -> bool {
        // The first map takes the most layers, and the longest distance among them wraps around.
        let layers = (self.slots.ilog2() as usize).div_ceil(stage_count.max(1));
        // The last map depends on what is wanted of the result, and keys should not.
        let last = stage_count == 1 && self.copies() > 1;
        stage_count > 0 && !last && self.copies() << layers <= self.carried
    }
    /// Stages of a DFT on these slots, at most `stage_count`.
    fn stage_count(&self, stage_count: usize) -> usize {
        stage_count.min(self.slots.ilog2() as usize).max(1)
    }
}

/// The slots-first bootstrap: slots_to_coeffs, scale_down, sparse_secret, mod_raise, (trace), coeffs_to_slots, eval_mod.
///
/// The message enters coefficients before the modulus is raised, so coefficients are as small as slots, and errors of
/// the sine are not multiplied by sqrt(n) as they are when slots_to_coeffs comes last (ckks.md section 2.3).
#[derive(Debug, Clone)]
pub struct Plan {
    stages: Vec<Stage>,
    options: Options,
}

/// The largest bound that keeps every constant of eval_mod below 2^63: the scale of its result grows with it.
pub const MAX_BOUND: f64 = 262_144.0;

impl Plan {
    /// Lays out the stages and proves their levels and scales.
    ///
    /// # Errors
    /// [`Error::Chain`] if the chain has not the levels, [`Error::Bound`] for a bound outside `(0, 2^18]`, and the errors
    /// of the stages.
    pub fn slots_first(chain: &Chain, options: Options) -> Result<Self, Error> {
        let (down, up) = (options.stage_count(chain.slots_to_coeffs), chain.coeffs_to_slots);
        let top = chain.moduli.len().saturating_sub(1);
        let spent = options.coeffs_to_slots_levels(up);
        let needed = chain.slots_to_coeffs + spent + options.levels();
        if up == 0 || top < needed || chain.slots_to_coeffs < down {
            return Err(Error::Chain { primes: chain.moduli.len(), needed: needed + 1 });
        }
        if options.packed && (options.parts != Parts::Complex || 2 * options.slots > options.ring_slots) {
            return Err(Error::Packed { slots: options.slots });
        }
        if !(options.bound > 0.0 && options.bound <= MAX_BOUND) {
            return Err(Error::Bound { bound: options.bound, max: MAX_BOUND });
        }
        let ratio = chain.message_ratio;
        let eval_mod = EvalMod::new(options.function, options.function.message_ratio().unwrap_or(ratio))?;
        let mut plan = Self { stages: Vec::new(), options };

        // The sign and bits want the message in a fixed place between the multiples of q0.
        let place = options.function.message_ratio().map_or(1.0, |wanted| ratio / wanted);
        let factor = Complex64::new(place / options.bound, 0.0);
        let maps = slots_to_coeffs(options.slots, down, factor, options.steps)?;
        plan.transforms(chain, "slots_to_coeffs", maps, down, (down, chain.scale_in, chain.moduli[0] / ratio))?;
        plan.push("scale_down", Step::ScaleDown, 0, None);
        plan.push("sparse_secret", Step::SparseSecret, 0, None);
        let factor = Complex64::new(c2s_factor(ratio) / options.copies() as f64, 0.0);
        let mut maps = coeffs_to_slots(options.slots, up, factor, options.steps)?;
        if options.packed {
            options.pack(&mut maps)?;
        }
        let traced = plan.raise(chain, &mut maps)?;
        if traced < options.copies() {
            plan.push("trace", Step::Trace { rotations: options.trace(traced) }, top, None);
        }
        let raised = plan.output_scale();
        if !maps.is_empty() {
            let to = EvalMod::input_scale(chain.moduli[top - spent]);
            let first = if options.rescales_twice(up) { first_of_two(chain, &maps, raised, to) } else { to };
            plan.transforms(chain, "coeffs_to_slots", maps, up, (top, raised, first))?;
        }
        if options.rescales_twice(up) {
            plan.push("rescale", Step::Rescale, top - spent, Some(EvalMod::input_scale(chain.moduli[top - spent])));
        }
        plan.finish(chain, eval_mod)?;
        plan.check(chain)?;
        Ok(plan)
    }

    /// eval_mod, and what brings its result to the chain and the scale that were asked for.
    fn finish(&mut self, chain: &Chain, eval_mod: EvalMod) -> Result<(), Error> {
        let options = self.options;
        let parts = if options.packed { Parts::Real } else { options.parts };
        // The value leaves eval_mod divided by the bound; at a scale larger by the bound it is the value itself.
        let (level, scale) = (self.output_level() - options.function.levels(), chain.scale_out * options.bound);
        let Some(users) = &chain.settled else {
            self.push("eval_mod", Step::EvalMod { eval_mod, parts }, level, Some(scale));
            if options.packed {
                self.transforms(chain, "unpack", vec![options.unpack()?], 1, (level, scale, scale))?;
            }
            return Ok(());
        };
        let settle = if options.packed {
            let settle = settle(chain, users, level - 1, FINER);
            // What eval_mod rounds need not be seen beside what the next two round.
            let rough = scale / settle.scale_ratio;
            self.push("eval_mod", Step::EvalMod { eval_mod, parts }, level, Some(rough * FINER));
            self.transforms(chain, "unpack", vec![options.unpack()?], 1, (level, rough * FINER, rough))?;
            settle
        } else {
            // The rescale that eval_mod would end with and this one are one.
            let settle = settle(chain, users, level + 1, FINER * chain.moduli[level + 1]);
            let step = Step::EvalMod { eval_mod: eval_mod.unrescaled(), parts };
            self.push("eval_mod", step, level + 1, Some(scale / settle.scale_ratio));
            settle
        };
        self.push("settle", Step::Settle(settle), settle.level, Some(scale));
        Ok(())
    }

    fn push(&mut self, name: &str, step: Step, level_out: usize, scale_out: Option<f64>) {
        let (level_in, scale_in) = (self.output_level(), self.output_scale());
        let scale_out = scale_out.unwrap_or(scale_in);
        self.stages.push(Stage { name: name.into(), step, level_in, level_out, scale_in, scale_out });
    }

    /// The last maps of `count`, from a level and a scale to another scale.
    fn transforms(
        &mut self,
        chain: &Chain,
        name: &str,
        maps: Vec<LinearMap>,
        count: usize,
        (level, from, to): (usize, f64, f64),
    ) -> Result<(), Error> {
        let (skipped, left) = (count - maps.len(), maps.len());
        let primes: Vec<f64> = (0..left).map(|i| chain.moduli[level - i]).collect();
        let ratios = scale_ratios(&primes, to / from);
        let (mut scale, mut level) = (from, level);
        for (i, map) in maps.into_iter().enumerate() {
            let map = map.repeated(self.options.ring_slots)?;
            // The last stage lands on the wanted scale exactly.
            let scale_ratio = if i + 1 == left { to / scale } else { ratios[i] };
            let scale_out = if i + 1 == left { to } else { scale * scale_ratio };
            let step = Step::Transform { map, scale_ratio };
            let name = numbered(name, skipped + i, count);
            self.stages.push(Stage { name, step, level_in: level, level_out: level - 1, scale_in: scale, scale_out });
            (scale, level) = (scale_out, level - 1);
        }
        Ok(())
    }

    /// Raises the modulus, with as much of the trace and the first map, which it then takes out of the list, as keys may
    /// carry. The number of copies that are summed up.
    fn raise(&mut self, chain: &Chain, maps: &mut Vec<LinearMap>) -> Result<usize, Error> {
        let (options, top, count) = (self.options, chain.moduli.len() - 1, maps.len());
        let carries_map = options.carries_map(count);
        let copies = if carries_map { options.copies() } else { options.copies().min(options.carried / 2) };
        if copies < 2 && !carries_map {
            self.push("mod_raise", Step::ModRaise, top, None);
            return Ok(1);
        }
        let (mut map, mut ratio, mut name) = (options.sum_of_copies(copies)?, 1.0, "mod_raise, trace".to_string());
        if carries_map {
            map = maps.remove(0).repeated(options.ring_slots)?.compose(&map)?;
            // The same on every part of a chain, as the keys carry it: not a matter of the primes themselves.
            let size = chain.moduli[top - options.coeffs_to_slots_levels(count)].log2().round().exp2();
            ratio = (EvalMod::input_scale(size) / self.output_scale()).powf(1.0 / count as f64);
            name = format!("mod_raise, {}", numbered("coeffs_to_slots", 0, count));
        }
        let scale = self.output_scale() * ratio;
        self.push(&name, Step::RaiseTransform { map, scale_ratio: ratio }, top, Some(scale));
        Ok(copies)
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
                Step::EvalMod { eval_mod, .. } => stage.level_in == stage.level_out + eval_mod.levels(),
                Step::Settle(to) => {
                    chain.settled.as_ref().is_some_and(|users| users.len() == stage.level_out + 1)
                        && to.level == stage.level_out
                        && same_scale(stage.scale_out, stage.scale_in * to.scale_ratio)
                }
                Step::ScaleDown => {
                    stage.level_out == 0 && same_scale(stage.scale_out * chain.message_ratio, chain.moduli[0])
                }
                Step::SparseSecret => stage.level_in == 0 && stage.level_out == 0,
                Step::ModRaise | Step::RaiseTransform { .. } => {
                    stage.level_in == 0 && stage.level_out + 1 == chain.moduli.len()
                }
                Step::Trace { .. } => stage.level_in == stage.level_out,
                Step::Rescale => stage.level_in == stage.level_out + 1,
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

/// The scale at which results are rounded before they settle is larger by this.
const FINER: f64 = 256.0;

/// From a level of the chain onto that of users: all between slots_to_coeffs and these levels is exchanged. The shift leaves a
/// scale before that is `most` times the one after, or less.
fn settle(chain: &Chain, users: &[f64], level: usize, most: f64) -> Settle {
    let kept = chain.slots_to_coeffs + 1;
    let up = users[kept..].iter().product::<f64>();
    let ratio = chain.moduli[kept..=level].iter().fold(up, |ratio, prime| ratio / prime);
    let shift = (1.0 / (ratio * most)).log2().ceil().max(0.0);
    Settle { level: users.len() - 1, shift: shift as u32, scale_ratio: ratio * shift.exp2() }
}

/// How scales grow by `total` over maps that are rescaled by `primes`, in the order of application.
///
/// Diagonals are rounded at ratio times prime, and what the first maps leave weighs most: all ratios are equal, unless a
/// diagonal would be smaller than those of a later map. Then these maps share what they have.
fn scale_ratios(primes: &[f64], total: f64) -> Vec<f64> {
    let even = total.powf(1.0 / primes.len() as f64);
    // Runs of maps with diagonals of one size, none larger than the one before: that size, and how many maps.
    let mut runs: Vec<(f64, i32)> = Vec::new();
    for prime in primes {
        let mut run = (even * prime, 1);
        while let Some(before) = runs.pop_if(|before| before.0 < run.0) {
            let count = before.1 + run.1;
            run = ((before.0.powi(before.1) * run.0.powi(run.1)).powf(1.0 / f64::from(count)), count);
        }
        runs.push(run);
    }
    let sizes = runs.into_iter().flat_map(|(size, count)| std::iter::repeat_n(size, count as usize));
    sizes.zip(primes).map(|(size, prime)| size / prime).collect()
}

/// The largest coefficients of a diagonal, below those that an encoder takes.
const LARGEST: f64 = 2_305_843_009_213_693_952.0; // 2^61

/// The scale after a single map that goes from one scale at the top of the chain to another in two levels: as large as its
/// coefficients allow, and so that an integer is left for the second rescale.
fn first_of_two(chain: &Chain, maps: &[LinearMap], from: f64, to: f64) -> f64 {
    let values = maps.iter().flat_map(|map| map.diagonals().values().flatten());
    let largest = values.map(|v| v.norm()).fold(0.0, f64::max);
    let top = chain.moduli.len() - 1;
    let factor = (largest * to / from * chain.moduli[top] * chain.moduli[top - 1] / LARGEST).max(1.0).ceil();
    to * chain.moduli[top - 1] / factor
}

/// The name of one of several stages.
fn numbered(name: &str, place: usize, count: usize) -> String {
    if count == 1 {
        name.to_string()
    } else {
        format!("{name} {}/{count}", place + 1)
    }
}

/// What sparse slots need beside the DFT.
impl Options {
    /// How often the slots repeat over the ring.
    fn copies(&self) -> usize {
        self.ring_slots / self.slots
    }

    /// The sum of the first so many copies, in every copy: a map on all slots of the ring.
    fn sum_of_copies(&self, copies: usize) -> Result<LinearMap, Error> {
        let one = vec![Complex64::new(1.0, 0.0)];
        let diagonals = (0..copies).map(|i| (i * self.slots, one.clone())).collect();
        Ok(LinearMap::new(self.ring_slots, diagonals, copies, self.slots)?)
    }

    /// Rotations whose sums run over all repetitions of the slots, if the sum of the first `done` is there.
    fn trace(&self, done: usize) -> Vec<Vec<usize>> {
        let lengths = ((self.slots * done).ilog2()..self.ring_slots.ilog2()).map(|i| 1usize << i);
        let lengths: Vec<usize> = lengths.collect();
        let turned = |by: usize| if self.steps.right { self.ring_slots - by } else { by };
        // Four at a time share a decomposition, for one key more than two and two.
        let sums = lengths.chunks(if self.steps.most < 4 { 1 } else { 2 });
        sums.map(|sum| (1..1usize << sum.len()).map(|i| turned(i * sum[0])).collect()).collect()
    }

    /// Lets the last stage leave `(z, -i z)` in twice the slots, whose real parts are `(re z, im z)`.
    fn pack(&self, maps: &mut [LinearMap]) -> Result<(), Error> {
        let Some(last) = maps.last_mut() else { return Ok(()) };
        let mask = self.halves(Complex64::new(1.0, 0.0), Complex64::new(0.0, -1.0));
        let mask = LinearMap::new(2 * self.slots, BTreeMap::from([(0, mask)]), last.baby(), 2 * self.slots)?;
        let packed = mask.compose(&last.clone().repeated(2 * self.slots)?)?;
        *last = if self.steps.right { packed.to_the_right() } else { packed };
        Ok(())
    }

    /// `(a, b)` to `(a + i b, a + i b)`.
    fn unpack(&self) -> Result<LinearMap, Error> {
        let (one, i) = (Complex64::new(1.0, 0.0), Complex64::new(0.0, 1.0));
        let diagonals = BTreeMap::from([(0, self.halves(one, i)), (self.slots, self.halves(i, one))]);
        let map = LinearMap::new(2 * self.slots, diagonals, 2, self.slots)?;
        Ok(if self.steps.right { map.to_the_right() } else { map })
    }

    fn halves(&self, low: Complex64, high: Complex64) -> Vec<Complex64> {
        [vec![low; self.slots], vec![high; self.slots]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::scale_ratios;

    #[test]
    fn no_diagonal_is_smaller_than_that_of_a_later_map() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        for (primes, even) in [
            (vec![2f64.powi(48); 3], true),
            (vec![2f64.powi(50), 2f64.powi(47), 2f64.powi(44)], true),
            (vec![2f64.powi(40), 2f64.powi(40), 2f64.powi(48), 2f64.powi(48), 2f64.powi(47)], false),
            (vec![2f64.powi(49), 2f64.powi(40), 2f64.powi(50)], false),
        ] {
            let ratios = scale_ratios(&primes, 900.0);
            assert!(close(ratios.iter().product::<f64>(), 900.0));
            let sizes: Vec<f64> = ratios.iter().zip(&primes).map(|(ratio, prime)| ratio * prime).collect();
            assert!(sizes.windows(2).all(|pair| pair[0] > pair[1] * (1.0 - 1e-12)), "{sizes:?}");
            assert_eq!(ratios.iter().all(|r| close(*r, ratios[0])), even);
        }
        // The last prime is the smallest as it is.
        let ratios = scale_ratios(&[2f64.powi(40), 2f64.powi(48), 2f64.powi(30)], 1.0);
        assert!(close(ratios[0], 16.0) && close(ratios[1], 1.0 / 16.0) && close(ratios[2], 1.0));
    }
}
