//! Iterated bootstrapping (META-BTS, Bae, Cheon, Cho, Kim, Kim, eprint 2022/1167): a bootstrap of the message, then a
//! bootstrap of its error.
//!
//! A bootstrap returns `m + e`. The input still holds `m`, so `e` can be computed at the level of the input, exactly
//! except for the rounding of one rescale. `e` is small: a bootstrap with bound `2^-p` scales it up by `2^p` and leaves
//! an error that is `2^-p` times smaller. Each iteration gains the precision of one bootstrap, until only the rounding
//! at the message scale is left.

use super::run::{BootstrapKeys, Job};
use crate::ckks::engine::Engine;
use crate::ckks::{failure, Ciphertext};
use crate::runtime::{Pass, StageRun};
use crate::Control;
use crate::{Error, ParameterError};
use aglet_bootstrap::ckks::request::{Method, Request};
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_schemes::ckks::stated::{in_slots, rounding};
use aglet_schemes::ckks::{CkksParams, Points, Stated};
use std::sync::Arc;

/// Precision of a preset that claims none.
const UNCLAIMED: f64 = 20.0;
/// What rounding takes from the scale, at most (N = 2^17), with a few bits for the worst slot.
const ROUNDING: f64 = 18.0;
/// By how much a slot may err more than the mean before the next pass finds it beyond its bound, in bits.
const MARGIN: f64 = 4.0;
/// Passes that make a difference: beyond, rounding is all that is left.
pub const MAX_ITERATIONS: usize = 4;

impl Engine {
    /// [`Engine::bootstrap`] with `iterations` passes (1 is a single bootstrap), for the regular and the lossy method.
    /// Time and bits of precision grow with the number of passes; keys and levels stay those of one bootstrap.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a method that does not return the message as it is or a number of iterations that does not
    /// exist, and those of [`Engine::bootstrap`].
    pub fn bootstrap_iterated(
        &self,
        cts: &[&Ciphertext],
        keys: BootstrapKeys<'_>,
        request: Request,
        iterations: usize,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        check_iterations(self.params(), iterations, request)?;
        let pass = Pass { number: 0, count: iterations };
        let (out, ran) = self.iterate(&[cts], keys, request, iterations, (pass, control))?;
        self.remember(ran);
        Ok(out)
    }

    /// All passes of bootstraps that run side by side, and what their stages took. The results follow one another; more
    /// than one iteration is for jobs of one ciphertext.
    pub(crate) fn iterate(
        &self,
        jobs: &[Job<'_>],
        keys: BootstrapKeys<'_>,
        request: Request,
        iterations: usize,
        (first, control): (Pass, &Control),
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let (mut out, mut ran) = self.bootstrap_watched(jobs, keys, request, (first, control))?;
        for pass in 1..iterations {
            let pairs = jobs.iter().copied().flatten().zip(&out);
            let errors = pairs.map(|(input, result)| self.subtract(input, result)).collect::<Result<Vec<_>, _>>()?;
            let errors: Vec<&Ciphertext> = errors.iter().collect();
            let bound = request.bound * (-gained(self.params(), pass)).exp2();
            let jobs: Vec<Job<'_>> = errors.chunks(1).collect();
            let now = Pass { number: first.number + pass, ..first };
            let (corrections, stages) =
                self.bootstrap_watched(&jobs, keys, Request { bound, ..request }, (now, control))?;
            let pairs = out.iter().zip(&corrections);
            out = pairs.map(|(result, correction)| self.add(result, correction)).collect::<Result<_, _>>()?;
            let named = |run: StageRun| StageRun { name: format!("pass {}: {}", pass + 1, run.name), ..run };
            ran.extend(stages.into_iter().map(named));
        }
        // With two inputs both results hold the error of either.
        let inputs = jobs.iter().map(|job| job.iter().map(|ct| self.refreshed(ct, request, iterations)));
        let stated = inputs.map(|job| job.reduce(|a, b| Stated::new(a.bound.max(b.bound), a.noise.max(b.noise))));
        let stated: Vec<Stated> = stated.map(Option::unwrap_or_default).collect();
        let each = out.len() / stated.len().max(1);
        out.iter_mut().enumerate().for_each(|(i, ct)| state(ct, stated[i / each.max(1)], points(request.method)));
        Ok((out, ran))
    }

    /// The noise that a bootstrapped ciphertext states: its own and that of the bootstrap.
    fn refreshed(&self, ct: &Ciphertext, request: Request, iterations: usize) -> Stated {
        let bound = ct.stated.bound.min(request.bound);
        let added = added(self.params(), iterations, request.bound);
        // A rescale down to level 0, whose factor is rounded at about the scale.
        let rounded = in_slots(ct.slots, rounding(&self.ctx, 2), self.params().scale_at(0));
        let input = ct.stated.noise + rounded + bound / self.params().scale_at(0);
        // Signs and bits: what is not at a point, as the imaginary part of a real message, is stretched by pi / 2 at most.
        let input = if request.method.cleans() { input * 1.6 + 2.5 * input * input } else { input };
        Stated::new(bound, input + added)
    }
}

/// The error that a bootstrap adds to messages of this bound: at most twice what the preset claims as the mean.
pub(super) fn added(params: &CkksParams, iterations: usize, bound: f64) -> f64 {
    let claim = failure::claimed(params, iterations.min(2)).or(failure::claimed(params, 1));
    claim.map_or(f64::INFINITY, |bits| bound * (1.0 - bits).exp2())
}

/// The points that a method brings values to.
fn points(method: Method) -> Option<Points> {
    match method {
        Method::Sign => Some(Points::Signs),
        Method::Bits => Some(Points::Bits),
        _ => None,
    }
}

pub(super) fn state(ct: &mut Ciphertext, stated: Stated, points: Option<Points>) {
    if let Some(own) = Arc::get_mut(ct) {
        (own.stated, own.points) = (stated, points);
    }
}

/// Bits that nearly all slots have after so many passes. What a slot errs more is a message beyond the bound for the next pass, which has room
/// for sixteen times as much.
pub(crate) fn gained(params: &CkksParams, passes: usize) -> f64 {
    let one = failure::claimed(params, 1).unwrap_or(UNCLAIMED).floor() - MARGIN;
    (one * passes as f64).min(f64::from(params.scale_bits()) - ROUNDING)
}

/// Refuses a number of iterations that does not exist, or that the method does not have.
pub(crate) fn check_iterations(params: &CkksParams, iterations: usize, request: Request) -> Result<(), Error> {
    if !(1..=MAX_ITERATIONS).contains(&iterations) {
        return Err(ParameterError::Iterations { iterations, most: MAX_ITERATIONS }.into());
    }
    let plain = matches!(request.method, Method::Regular | Method::Lossy);
    if iterations > 1 && !plain {
        return Err(ParameterError::NotIterated { method: request.method.name() }.into());
    }
    if iterations > 1 && !BootstrapKind::of(params).rules().raises_modulus() {
        return Err(ParameterError::OnePass { preset: params.name().into() }.into());
    }
    Ok(())
}
