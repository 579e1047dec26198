//! Slots-first bootstraps: (mod_switch), slots_to_coeffs, scale_down, encapsulate, mod_raise, (trace), coeffs_to_slots, eval_mod.
//!
//! The message is moved to coefficients before the modulus is raised. So coefficients are as small as slots, and errors
//! of the sine are not multiplied by sqrt(n), as they are if slots_to_coeffs comes last (ckks.md section 2.3).

mod layout;
mod limbs;
mod request;
mod rules;
mod scales;
mod sparse;
pub mod steps;

pub use layout::Layout;
pub use rules::Rules;

use crate::ckks::request::{KeySize, Parts, MAX_BOUND};
use crate::ckks::steps::apply::Apply;
use crate::ckks::steps::trace::Trace;
use crate::error::Error;
use crate::plan::Plan;
use crate::step::{Scaled, Stage};
use aglet_circuits::dft::{coeffs_to_slots, slots_to_coeffs};
use aglet_schemes::LinearMap;
use num_complex::Complex64;
use scales::{first_of_two, scale_ratios};
use steps::encapsulate::Encapsulate;
use steps::eval_mod::{c2s_factor, EvalMod, EvalModStep, K};
use steps::linear::{Rescale, ScaleDown};
use steps::mod_raise::Raise;
use steps::mod_switch::ModSwitch;
use steps::raise_map::RaiseMap;
use steps::SlotsFirst;

/// The scale at which results are rounded before their primes are switched is larger by this.
const FINER: f64 = 256.0;

/// Plans the stages and proves their levels and scales.
///
/// # Errors
/// [`Error::Chain`] if the chain has too few levels, [`Error::Bound`] for a bound outside `(0, 2^18]`, and the errors
/// of the stages.
pub fn plan(layout: &Layout) -> Result<Plan<SlotsFirst>, Error> {
    let Layout { request, hidden, message_ratio, .. } = *layout;
    let (slots, steps, up) = (request.slots, request.size.steps(), request.stage_count);
    // The DFT of few slots has few layers.
    let down = hidden.min(slots.ilog2() as usize).max(1);
    let top = layout.moduli.len().saturating_sub(1);
    let spent = layout.coeffs_to_slots_levels();
    let needed = hidden + spent + layout.eval_mod_levels();
    if up == 0 || top < needed || hidden < down {
        return Err(Error::Chain { primes: layout.moduli.len(), needed: needed + 1 });
    }
    if layout.packed && (request.parts() != Parts::Complex || 2 * slots > layout.ring_slots) {
        return Err(Error::Packed { slots });
    }
    if !(request.bound > 0.0 && request.bound <= MAX_BOUND) {
        return Err(Error::Bound { bound: request.bound, max: MAX_BOUND });
    }
    let ratio = layout.function.message_ratio().unwrap_or(message_ratio);
    let eval_mod = EvalMod::new(layout.function.clone(), ratio)?.under(layout.sparse_weight)?;
    // The sign and bits want the message in a fixed place between the multiples of q0.
    let place = layout.function.message_ratio().map_or(1.0, |wanted| message_ratio / wanted);
    let mut stages = Stages::down(layout, place / request.bound)?;
    stages.push("encapsulate", Encapsulate { weight: layout.sparse_weight }, 0, None);
    let factor = Complex64::new(c2s_factor(message_ratio) / layout.copies() as f64, 0.0);
    let mut maps = coeffs_to_slots(slots, &request.layers(layout.ring_slots), factor, steps)?;
    if let Some(last) = maps.pop() {
        maps.push(last.scaled((K / eval_mod.bound()).into()));
    }
    if layout.packed {
        layout.pack(&mut maps)?;
    }
    let traced = stages.raise(&mut maps)?;
    if traced < layout.copies() {
        stages.push("trace", Trace { sums: layout.trace(traced) }, top, None);
    }
    let (raised, twice) = (stages.at.scale, request.rescales_twice(layout.ring_slots));
    if !maps.is_empty() {
        let to = EvalMod::input_scale(layout.moduli[top - spent]);
        let first = if twice { first_of_two(layout, &maps, raised, to) } else { to };
        stages.maps("coeffs_to_slots", maps, up, first)?;
    }
    if twice {
        stages.push("rescale", Rescale, top - spent, Some(EvalMod::input_scale(layout.moduli[top - spent])));
    }
    stages.finish(eval_mod)?;
    Plan::new(stages.list, &layout.moduli)
}

/// Only the first part of a bootstrap: slots become coefficients modulo q0 and stay there; the value 1 becomes this
/// fraction of the torus.
///
/// Real part j of a slot becomes coefficient `reversed j` times the copies of the slots, its imaginary part that N/2 further.
///
/// # Errors
/// As [`plan`].
pub fn lowering(layout: &Layout, torus: f64) -> Result<Plan<SlotsFirst>, Error> {
    Plan::new(Stages::down(layout, torus * layout.message_ratio)?.list, &layout.moduli)
}

/// The stages as they are laid out, one after the other.
struct Stages<'a> {
    layout: &'a Layout,
    /// Where the last of them ends.
    at: Scaled,
    list: Vec<Stage<SlotsFirst>>,
}

impl<'a> Stages<'a> {
    /// From slots to coefficients modulo q0, at the scale q0 / r, times a factor.
    fn down(layout: &'a Layout, factor: f64) -> Result<Self, Error> {
        let Layout { request, hidden, message_ratio, .. } = *layout;
        // The DFT of few slots has few layers.
        let down = hidden.min(request.slots.ilog2() as usize).max(1);
        if hidden < down || layout.moduli.len() <= down {
            return Err(Error::Chain { primes: layout.moduli.len(), needed: down + 1 });
        }
        let mut stages = Self { layout, at: Scaled { level: down, scale: layout.scale_in }, list: Vec::new() };
        if let Some(step) = layout.switches_in(down) {
            stages.push(&numbered("mod_switch", 0, 2), step, down, Some(layout.scale_in * step.scale_ratio));
        }
        let maps = slots_to_coeffs(request.slots, down, Complex64::new(factor, 0.0), request.size.steps())?;
        stages.maps("slots_to_coeffs", maps, down, layout.moduli[0] / message_ratio)?;
        stages.push("scale_down", ScaleDown { message_ratio }, 0, None);
        Ok(stages)
    }

    fn push(&mut self, name: &str, step: impl Into<SlotsFirst>, level: usize, scale: Option<f64>) {
        let to = Scaled { level, scale: scale.unwrap_or(self.at.scale) };
        self.list.push(Stage { name: name.into(), step: step.into(), from: self.at, to });
        self.at = to;
    }

    /// The last maps of `count`, to another scale.
    fn maps(&mut self, name: &str, maps: Vec<LinearMap>, count: usize, to: f64) -> Result<(), Error> {
        let (skipped, left) = (count - maps.len(), maps.len());
        let primes: Vec<f64> = (0..left).map(|i| self.layout.moduli[self.at.level - i]).collect();
        let ratios = scale_ratios(&primes, to / self.at.scale);
        for (i, map) in maps.into_iter().enumerate() {
            let map = map.repeated(self.layout.ring_slots)?;
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
        let (layout, request, count) = (self.layout, &self.layout.request, maps.len());
        let top = layout.moduli.len() - 1;
        let carries_map = request.carries_map(layout.ring_slots);
        let copies = request.carried_copies(layout.ring_slots);
        if copies < 2 && !carries_map {
            self.push("mod_raise", Raise, top, None);
            return Ok(1);
        }
        let (mut map, mut ratio, mut name) = (layout.sum_of_copies(copies)?, 1.0, "mod_raise, trace".to_string());
        if carries_map {
            map = maps.remove(0).repeated(layout.ring_slots)?.compose(&map)?;
            // The same on every part of a chain, as the keys carry it: not a matter of the primes themselves.
            let size = layout.moduli[top - layout.coeffs_to_slots_levels()].log2().round().exp2();
            ratio = (EvalMod::input_scale(size) / self.at.scale).powf(1.0 / count as f64);
            name = format!("mod_raise, {}", numbered("coeffs_to_slots", 0, count));
        }
        let scale = self.at.scale * ratio;
        self.push(&name, RaiseMap { map, scale_ratio: ratio }, top, Some(scale));
        Ok(copies)
    }

    /// eval_mod, and what brings its result to the chain and the scale that were asked for.
    fn finish(&mut self, eval_mod: EvalMod) -> Result<(), Error> {
        let (layout, request) = (self.layout, &self.layout.request);
        let parts = if layout.packed { Parts::Real } else { request.parts() };
        let short_keys = request.size == KeySize::Large;
        // The value leaves eval_mod divided by the bound; at a scale larger by the bound it is the value itself.
        let (level, scale) = (self.at.level - layout.function.levels(), layout.scale_out * request.bound);
        let step = |eval_mod| EvalModStep { eval_mod, parts, short_keys };
        let Some(users) = &layout.switched else {
            self.push("eval_mod", step(eval_mod), level, Some(scale));
            if layout.packed {
                self.maps("unpack", vec![layout.unpack()?], 1, scale)?;
            }
            return Ok(());
        };
        let mod_switch = if layout.packed {
            let mod_switch = mod_switch(layout, users, level - 1, FINER);
            // What eval_mod rounds need not be seen beside what the next two round.
            let rough = scale / mod_switch.scale_ratio;
            self.push("eval_mod", step(eval_mod), level, Some(rough * FINER));
            self.maps("unpack", vec![layout.unpack()?], 1, rough)?;
            mod_switch
        } else {
            // The rescale that eval_mod would end with and this one are one.
            let mod_switch = mod_switch(layout, users, level + 1, FINER * layout.moduli[level + 1]);
            self.push("eval_mod", step(eval_mod.unrescaled()), level + 1, Some(scale / mod_switch.scale_ratio));
            mod_switch
        };
        let count = 1 + usize::from(layout.shared <= layout.hidden);
        self.push(&numbered("mod_switch", count - 1, count), mod_switch, mod_switch.level, Some(scale));
        Ok(())
    }
}

/// From a level of the chain onto that of users: all above the primes that both have is switched. The shift leaves a
/// scale before that is `most` times the one after, or less.
fn mod_switch(layout: &Layout, users: &[f64], level: usize, most: f64) -> ModSwitch {
    let kept = layout.shared;
    let up = users[kept..].iter().product::<f64>();
    let ratio = layout.moduli[kept..=level].iter().fold(up, |ratio, prime| ratio / prime);
    let shift = (1.0 / (ratio * most)).log2().ceil().max(0.0);
    ModSwitch { level: users.len() - 1, shift: shift as u32, scale_ratio: ratio * shift.exp2() }
}

/// The name of one of several stages.
fn numbered(name: &str, place: usize, count: usize) -> String {
    if count == 1 {
        name.to_string()
    } else {
        format!("{name} {}/{count}", place + 1)
    }
}
