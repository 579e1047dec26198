//! The tail of precision: how likely some slot of a bootstrap has far fewer bits than the mean.
//!
//! Nothing overflows: a sparse secret of weight 32 allows `|I| <= 16`, and eval_mod removes all of these. But it removes large
//! ones, which are rare, less precisely. slots_to_coeffs comes first, so a slot is two coefficients when the modulus is
//! raised, its real and its imaginary part, and a coefficient that errs is a slot that errs. The bound here is a sum over
//! the overflows of both, with the noise on top as a Gaussian of the claimed size, times the number of slots.

use crate::ckks::bootstrap::gained;
use crate::ckks::{Method, Route};
use crate::Error;
use aglet_bootstrap::slots_first::steps::eval_mod::{EvalMod, Parts};
use aglet_bootstrap::slots_first::steps::SlotsFirst;
use aglet_bootstrap::CkksStep;
use aglet_schemes::ckks::params::Claims;
use aglet_schemes::ckks::CkksParams;
use std::f64::consts::PI;

/// The bits by which a slot may fall short of the mean before the bootstrap counts as failed.
pub const SHORT: f64 = 4.0;

/// The mean precision that a parameter set claims of so many passes of a bootstrap, in bits.
pub fn claimed(params: &CkksParams, passes: usize) -> Option<f64> {
    let claims = params.literal().claims.as_ref();
    claims.and_then(|c: &Claims| match passes {
        1 => c.precision_bits,
        2 => c.precision_bits_two,
        _ => None,
    })
}

/// log2 of the probability that some slot of the result has an error of `2^-(mean_bits - SHORT)` of the bound or more, at most,
/// after so many passes ([`Engine::bootstrap_iterated`](crate::ckks::Engine::bootstrap_iterated)) whose mean error is
/// `2^-mean_bits`; `params` are those of the engine. `None` for a route without eval_mod or roots of unity.
///
/// # Errors
/// Those of [`EvalMod::tail`]; a route that was made passes.
pub fn log2_failure(params: &CkksParams, route: &Route, mean_bits: f64, passes: usize) -> Result<Option<f64>, Error> {
    let stages = route.plan.stages().iter();
    let eval_mod = stages.into_iter().find_map(|stage| match &stage.step {
        CkksStep::SlotsFirst(SlotsFirst::EvalMod(step)) => Some(&step.eval_mod),
        _ => None,
    });
    let of_part = match (eval_mod, route.rotor()) {
        (Some(eval_mod), _) => errors(eval_mod, params, passes)?,
        // A root of unity forgets every multiple of q0: what errs is the sine of 1 and -1, and the noise.
        (None, Some(_)) => vec![(1.0, error_of_sine(route))],
        (None, None) => return Ok(None),
    };
    let exact = vec![(1.0, 0.0)];
    // The mean size of a complex Gaussian, or of a real one, over its deviation.
    let (other, results, mean) = match route.layout.request.parts() {
        Parts::Complex => (&of_part, 1, (PI / 2.0).sqrt()),
        Parts::Real => (&exact, 1, (2.0 / PI).sqrt()),
        Parts::Pair => (&exact, 2, (2.0 / PI).sqrt()),
    };
    let (deviation, most) = ((-mean_bits).exp2() / mean, (SHORT - mean_bits).exp2());
    let mut sum = 0.0;
    for (chance, error) in &of_part {
        for (and, with) in other {
            let left = (most - error.hypot(*with)).max(0.0) / deviation;
            sum += chance * and * (-left * left / 2.0).exp();
        }
    }
    let slots = (results * route.layout.request.slots) as f64;
    Ok(Some((slots * sum).log2().min(0.0)))
}

/// What the sine of a bootstrap by roots of unity leaves at the largest message; bits stand where the cosine is flat.
fn error_of_sine(route: &Route) -> f64 {
    let turn = 2.0 * PI / route.layout.message_ratio;
    match route.layout.request.method {
        Method::Bits => 0.0,
        _ => 1.0 - turn.sin() / turn,
    }
}

/// What may become of one part of a slot: chances, and errors without noise.
fn errors(eval_mod: &EvalMod, params: &CkksParams, passes: usize) -> Result<Vec<(f64, f64)>, Error> {
    let tail = |most: f64| -> Result<Vec<(f64, f64)>, Error> {
        let found = eval_mod.tail(params.ephemeral_weight().unwrap_or(0), most)?;
        Ok(found.iter().map(|overflow| (overflow.chance, overflow.error)).collect())
    };
    let usual = tail(1.0)?;
    let mut all = usual.clone();
    for pass in 1..passes {
        // The next pass bootstraps this error, as much larger: what is too large for it stays.
        let factor = gained(params, pass).exp2();
        let (largest, mut next) = (eval_mod.message_ratio() / 4.0, Vec::new());
        for (chance, error) in all {
            let size = error * factor;
            match size {
                _ if size <= 1.0 => next.extend(usual.iter().map(|(and, left)| (chance * and, left / factor))),
                _ if size <= largest => {
                    next.extend(tail(size)?.iter().map(|(and, left)| (chance * and, left / factor)))
                }
                _ => next.push((chance, error)),
            }
        }
        all = next;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ckks::{KeySize, Method, Request};
    use crate::presets;

    fn failure(preset: &str, request: impl Fn(Request) -> Request, mean_bits: f64, passes: usize) -> f64 {
        let params = presets::load(preset, true).unwrap();
        let request = request(Request::new(Method::Regular, 3, KeySize::Large, params.slots()));
        let route = Route::new(&params, request).unwrap();
        log2_failure(&params, &route, mean_bits, passes).unwrap().unwrap()
    }

    #[test]
    fn a_precise_enough_bootstrap_fails_where_15_or_16_occur() {
        // 2^15 slots of two parts, both signs, a chance of 2^-98.9 (Irwin-Hall, a little more at 15 - 1/r).
        let found = failure("regular", |r| r, 24.0, 1);
        assert!((found + 81.8).abs() < 0.3, "{found}");
        let few = failure("regular", |r| Request { slots: 32, ..r }, 24.0, 1);
        assert!((found - few - 10.0).abs() < 0.1, "{few}");
        let real = failure("regular", |r| Request { real: true, ..r }, 24.0, 1);
        assert!((found - real - 1.0).abs() < 0.1, "{real}");
    }

    #[test]
    fn noise_that_is_larger_than_claimed_fails_and_so_does_what_no_fit_gives() {
        // 26 bits less four are within what 13 and 14 leave; 30 less four are not, and the series alone has 25.
        let at = |bits| failure("regular", |r| r, bits, 1);
        assert!(at(26.0) < -64.0 && at(28.5) > -64.0 && at(30.0) == 0.0, "{} {} {}", at(26.0), at(28.5), at(30.0));
    }

    #[test]
    fn the_second_pass_inherits_what_the_first_leaves() {
        let at = |bits| failure("precise-45", |r| r, bits, 2);
        assert!(at(45.5) < -64.0, "{}", at(45.5));
        // Beyond what the second pass leaves of a usual error.
        assert!(at(60.0) > -1.0, "{}", at(60.0));
    }
}
