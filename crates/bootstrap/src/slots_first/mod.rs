//! Slots-first bootstraps: slots_to_coeffs, scale_down, sparse_secret, mod_raise, (trace), coeffs_to_slots, eval_mod.
//!
//! The message enters coefficients before the modulus is raised, so coefficients are as small as slots, and errors of
//! the sine are not multiplied by sqrt(n) as they are when slots_to_coeffs comes last (ckks.md section 2.3).

mod layout;
mod request;
mod route;
mod scales;
mod sparse;
pub mod steps;

pub use layout::Layout;
pub use request::{KeySize, Method, Request, MAX_STAGES};
pub use route::{arithmetic_limbs, Route};

use crate::error::Error;
use crate::plan::Plan;
use crate::step::{Scaled, Stage};
use aglet_circuits::dft::{coeffs_to_slots, slots_to_coeffs, BabySteps};
use aglet_schemes::LinearMap;
use num_complex::Complex64;
use scales::{first_of_two, scale_ratios};
use steps::eval_mod::{c2s_factor, EvalMod, EvalModStep, Function, Parts};
use steps::exchange::Exchange;
use steps::linear::{Apply, Rescale, ScaleDown};
use steps::mod_raise::Raise;
use steps::raise_map::RaiseMap;
use steps::sparse_secret::ToSparse;
use steps::trace::Trace;
use steps::SlotsFirst;

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
    /// Weight of the sparse secret.
    pub sparse_weight: usize,
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
    /// Whether the lower levels of eval_mod have relinearization keys of their own.
    pub short_keys: bool,
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

/// The largest bound that keeps every constant of eval_mod below 2^63: the scale of its result grows with it.
pub const MAX_BOUND: f64 = 262_144.0;

/// The scale at which results are rounded before their primes are exchanged is larger by this.
const FINER: f64 = 256.0;

/// Lays out the stages and proves their levels and scales.
///
/// # Errors
/// [`Error::Chain`] if the chain has not the levels, [`Error::Bound`] for a bound outside `(0, 2^18]`, and the errors
/// of the stages.
pub fn plan(chain: &Chain, options: Options) -> Result<Plan<SlotsFirst>, Error> {
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
    let start = Scaled { level: down, scale: chain.scale_in };
    let mut stages = Stages { chain, options, at: start, list: Vec::new() };

    // The sign and bits want the message in a fixed place between the multiples of q0.
    let place = options.function.message_ratio().map_or(1.0, |wanted| ratio / wanted);
    let factor = Complex64::new(place / options.bound, 0.0);
    let maps = slots_to_coeffs(options.slots, down, factor, options.steps)?;
    stages.maps("slots_to_coeffs", maps, down, chain.moduli[0] / ratio)?;
    stages.push("scale_down", ScaleDown { message_ratio: ratio }, 0, None);
    stages.push("sparse_secret", ToSparse { weight: chain.sparse_weight }, 0, None);
    let factor = Complex64::new(c2s_factor(ratio) / options.copies() as f64, 0.0);
    let mut maps = coeffs_to_slots(options.slots, up, factor, options.steps)?;
    if options.packed {
        options.pack(&mut maps)?;
    }
    let traced = stages.raise(&mut maps)?;
    if traced < options.copies() {
        stages.push("trace", Trace { sums: options.trace(traced) }, top, None);
    }
    let raised = stages.at.scale;
    if !maps.is_empty() {
        let to = EvalMod::input_scale(chain.moduli[top - spent]);
        let first = if options.rescales_twice(up) { first_of_two(chain, &maps, raised, to) } else { to };
        stages.maps("coeffs_to_slots", maps, up, first)?;
    }
    if options.rescales_twice(up) {
        stages.push("rescale", Rescale, top - spent, Some(EvalMod::input_scale(chain.moduli[top - spent])));
    }
    stages.finish(eval_mod)?;
    Plan::new(stages.list, &chain.moduli)
}

/// The stages as they are laid out, one after the other.
struct Stages<'a> {
    chain: &'a Chain,
    options: Options,
    /// Where the last of them ends.
    at: Scaled,
    list: Vec<Stage<SlotsFirst>>,
}

impl Stages<'_> {
    fn push(&mut self, name: &str, step: impl Into<SlotsFirst>, level: usize, scale: Option<f64>) {
        let to = Scaled { level, scale: scale.unwrap_or(self.at.scale) };
        self.list.push(Stage { name: name.into(), step: step.into(), from: self.at, to });
        self.at = to;
    }

    /// The last maps of `count`, to another scale.
    fn maps(&mut self, name: &str, maps: Vec<LinearMap>, count: usize, to: f64) -> Result<(), Error> {
        let (skipped, left) = (count - maps.len(), maps.len());
        let primes: Vec<f64> = (0..left).map(|i| self.chain.moduli[self.at.level - i]).collect();
        let ratios = scale_ratios(&primes, to / self.at.scale);
        for (i, map) in maps.into_iter().enumerate() {
            let map = map.repeated(self.options.ring_slots)?;
            // The last stage lands on the wanted scale exactly.
            let Scaled { level, scale } = self.at;
            let scale_ratio = if i + 1 == left { to / scale } else { ratios[i] };
            let scale_out = if i + 1 == left { to } else { scale * scale_ratio };
            let step = Apply { map, level, scale_ratio };
            self.push(&numbered(name, skipped + i, count), step, level - 1, Some(scale_out));
        }
        Ok(())
    }

    /// Raises the modulus, with as much of the trace and the first map, which it then takes out of the list, as keys may
    /// carry. The number of copies that are summed up.
    fn raise(&mut self, maps: &mut Vec<LinearMap>) -> Result<usize, Error> {
        let (chain, options, count) = (self.chain, self.options, maps.len());
        let top = chain.moduli.len() - 1;
        let carries_map = options.carries_map(count);
        let copies = if carries_map { options.copies() } else { options.copies().min(options.carried / 2) };
        if copies < 2 && !carries_map {
            self.push("mod_raise", Raise, top, None);
            return Ok(1);
        }
        let (mut map, mut ratio, mut name) = (options.sum_of_copies(copies)?, 1.0, "mod_raise, trace".to_string());
        if carries_map {
            map = maps.remove(0).repeated(options.ring_slots)?.compose(&map)?;
            // The same on every part of a chain, as the keys carry it: not a matter of the primes themselves.
            let size = chain.moduli[top - options.coeffs_to_slots_levels(count)].log2().round().exp2();
            ratio = (EvalMod::input_scale(size) / self.at.scale).powf(1.0 / count as f64);
            name = format!("mod_raise, {}", numbered("coeffs_to_slots", 0, count));
        }
        let scale = self.at.scale * ratio;
        self.push(&name, RaiseMap { map, scale_ratio: ratio }, top, Some(scale));
        Ok(copies)
    }

    /// eval_mod, and what brings its result to the chain and the scale that were asked for.
    fn finish(&mut self, eval_mod: EvalMod) -> Result<(), Error> {
        let (chain, options) = (self.chain, self.options);
        let parts = if options.packed { Parts::Real } else { options.parts };
        // The value leaves eval_mod divided by the bound; at a scale larger by the bound it is the value itself.
        let (level, scale) = (self.at.level - options.function.levels(), chain.scale_out * options.bound);
        let step = |eval_mod| EvalModStep { eval_mod, parts, short_keys: options.short_keys };
        let Some(users) = &chain.settled else {
            self.push("eval_mod", step(eval_mod), level, Some(scale));
            if options.packed {
                self.maps("unpack", vec![options.unpack()?], 1, scale)?;
            }
            return Ok(());
        };
        let exchange = if options.packed {
            let exchange = exchange(chain, users, level - 1, FINER);
            // What eval_mod rounds need not be seen beside what the next two round.
            let rough = scale / exchange.scale_ratio;
            self.push("eval_mod", step(eval_mod), level, Some(rough * FINER));
            self.maps("unpack", vec![options.unpack()?], 1, rough)?;
            exchange
        } else {
            // The rescale that eval_mod would end with and this one are one.
            let exchange = exchange(chain, users, level + 1, FINER * chain.moduli[level + 1]);
            self.push("eval_mod", step(eval_mod.unrescaled()), level + 1, Some(scale / exchange.scale_ratio));
            exchange
        };
        self.push("settle", exchange, exchange.level, Some(scale));
        Ok(())
    }
}

/// From a level of the chain onto that of users: all between slots_to_coeffs and these levels is exchanged. The shift leaves a
/// scale before that is `most` times the one after, or less.
fn exchange(chain: &Chain, users: &[f64], level: usize, most: f64) -> Exchange {
    let kept = chain.slots_to_coeffs + 1;
    let up = users[kept..].iter().product::<f64>();
    let ratio = chain.moduli[kept..=level].iter().fold(up, |ratio, prime| ratio / prime);
    let shift = (1.0 / (ratio * most)).log2().ceil().max(0.0);
    Exchange { level: users.len() - 1, shift: shift as u32, scale_ratio: ratio * shift.exp2() }
}

/// The name of one of several stages.
fn numbered(name: &str, place: usize, count: usize) -> String {
    if count == 1 {
        name.to_string()
    } else {
        format!("{name} {}/{count}", place + 1)
    }
}
