//! The tail of the precision: how likely it is that some slot of a bootstrap has far fewer bits than the mean.
//!
//! Nothing overflows: a sparse secret of weight 32 gives `|I| <= 16`, one of 28 `|I| <= 14`, and eval_mod removes all of these. It removes
//! large, rare ones less precisely. slots_to_coeffs comes first, so a slot is two coefficients when the modulus is
//! raised, one for its real and one for its imaginary part. An error in a coefficient is an error in that slot.
//!
//! Noise has a tail of its own. Most of it is roundings times the secret: in a slot a Gaussian times what the secret is there, and over
//! secrets that is a Gaussian as well. The product of two complex ones of mean size 1 is larger than `x` with probability
//! `t K1(t)`, `t = pi x / 2` and `K1` the modified Bessel function; its real part is of Laplace's law, `e^-x`. A key has its
//! own noisy slots: this is a mean over keys. What noise is of a Gaussian's law has a smaller tail.
//!
//! The bound here is a sum over the overflows of both parts, with noise of the claimed size on top, times the number of slots.

use crate::ckks::bootstrap::gained;
use crate::ckks::BootstrapCircuit;
use crate::Error;
use aglet_bootstrap::ckks::request::Parts;
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::EvalMod;
use aglet_bootstrap::ckks::slots_first::steps::SlotsFirst;
use aglet_bootstrap::ckks::BootstrapKind;
use aglet_bootstrap::CkksStep;
use aglet_schemes::ckks::params::Claims;
use aglet_schemes::ckks::CkksParams;
use std::f64::consts::PI;

/// The bits by which a slot may be below the mean before the bootstrap counts as failed. Noise alone makes 4 bits too
/// frequent: once in 2^8 bootstraps of 32,768 real numbers.
pub const SHORT: f64 = 6.0;

/// The mean precision in bits that a parameter set claims after this number of passes.
pub fn claimed(params: &CkksParams, passes: usize) -> Option<f64> {
    let claims = params.literal().claims.as_ref();
    claims.and_then(|c: &Claims| match passes {
        1 => c.precision_bits,
        2 => c.precision_bits_two,
        _ => None,
    })
}

/// Bits of the mean, and by how many a slot falls short of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// `-log2` of the mean error.
    pub mean_bits: f64,
    /// The bits that a slot has less.
    pub short: f64,
}

impl Shortfall {
    /// What counts as a failure.
    pub fn failure(mean_bits: f64) -> Self {
        Self { mean_bits, short: SHORT }
    }
}

/// An upper bound, as log2, of the probability that some slot of the result has an error of `2^-(mean_bits - short)` of
/// the bound or more. The bootstrap has this number of passes
/// ([`Engine::bootstrap_iterated`](crate::ckks::Engine::bootstrap_iterated)) and a mean error of `2^-mean_bits`;
/// `params` are those of the engine. `None` for a bootstrap circuit without an approximation.
///
/// # Errors
/// Those of [`EvalMod::tail`]; a bootstrap circuit that was made passes.
pub fn log2_failure(
    params: &CkksParams,
    circuit: &BootstrapCircuit,
    of: Shortfall,
    passes: usize,
) -> Result<Option<f64>, Error> {
    let stages = circuit.plan.stages().iter();
    let eval_mod = stages.into_iter().find_map(|stage| match &stage.step {
        CkksStep::SlotsFirst(SlotsFirst::EvalMod(step)) => Some(&step.eval_mod),
        _ => None,
    });
    let of_part = match (eval_mod, BootstrapKind::of(params).rules().largest_error(params, circuit.request.method)) {
        (Some(eval_mod), _) => errors(eval_mod, params, passes)?,
        // Where no multiple of q0 is left, what errs is the function, and the noise.
        (None, Some(error)) => vec![(1.0, error)],
        (None, None) => return Ok(None),
    };
    let exact = vec![(1.0, 0.0)];
    let (other, results, tail): (_, _, fn(f64) -> f64) = match circuit.request.parts() {
        Parts::Complex => (&of_part, 1, complex_tail),
        Parts::Real => (&exact, 1, real_tail),
        Parts::Pair => (&exact, 2, real_tail),
    };
    let (mean, most) = ((-of.mean_bits).exp2(), (of.short - of.mean_bits).exp2());
    let mut sum = 0.0;
    for (chance, error) in &of_part {
        for (and, with) in other {
            sum += chance * and * tail((most - error.hypot(*with)).max(0.0) / mean);
        }
    }
    let slots = (results * circuit.request.slots) as f64;
    Ok(Some((slots * sum).log2().min(0.0)))
}

/// How likely the noise of a complex slot is so many times its mean, at most.
fn complex_tail(times: f64) -> f64 {
    let t = PI / 2.0 * times;
    // The asymptotic series of K1, after a term that is too large: above it everywhere, and no number at 0.
    let k1 = (PI / (2.0 * t)).sqrt() * (-t).exp() * (1.0 + 3.0 / (8.0 * t));
    (t * k1).min(1.0)
}

/// How likely that of a real slot is.
fn real_tail(times: f64) -> f64 {
    (-times).exp()
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
    use crate::ckks::presets;
    use crate::ckks::{KeySize, Method, Request};

    fn failure(preset: &str, request: impl Fn(Request) -> Request, mean_bits: f64, passes: usize) -> f64 {
        let params = presets::load(preset, presets::Security::NotChecked).unwrap();
        let request = request(Request::new(Method::Regular, 3, KeySize::Large, params.slots()));
        let circuit = BootstrapCircuit::new(&params, request).unwrap();
        log2_failure(&params, &circuit, Shortfall::failure(mean_bits), passes).unwrap().unwrap()
    }

    #[test]
    fn a_precise_enough_bootstrap_fails_where_the_largest_occur() {
        // 2^15 slots of two parts, both signs, a chance of 2^-98.9 for 15 (Irwin-Hall, a little more at 15 - 1/r).
        let found = failure("regular-44", |r| r, 24.0, 1);
        assert!((found + 81.8).abs() < 0.3, "{found}");
        // Of a secret of weight 28, 14 at most, with 2^-125.2: below 2^-100.
        let found = failure("regular", |r| r, 24.0, 1);
        assert!((found + 108.2).abs() < 0.3, "{found}");
        let few = failure("regular", |r| Request { slots: 32, ..r }, 24.0, 1);
        assert!((found - few - 10.0).abs() < 0.1, "{few}");
    }

    #[test]
    fn noise_has_the_tail_of_a_gaussian_times_a_secret() {
        // Real slots: e^-(2^6 - 1), as the series takes one mean error of 64; four bits short is 2^15 e^-16.
        let real = |r| Request { real: true, ..r };
        let found = failure("regular", real, 24.0, 1);
        assert!((found - (15.0 - 63.9 * std::f64::consts::LOG2_E)).abs() < 1.0, "{found}");
        let params = presets::load("regular", presets::Security::NotChecked).unwrap();
        let four = |change: &dyn Fn(Request) -> Request| {
            let request = change(Request::new(Method::Regular, 3, KeySize::Large, params.slots()));
            let of = Shortfall { mean_bits: 20.0, short: 4.0 };
            log2_failure(&params, &BootstrapCircuit::new(&params, request).unwrap(), of, 1).unwrap().unwrap()
        };
        // 2^15 t K1(t) with t = 8 pi is 2^-18.6: K1(8 pi) = 3.1e-12 by the integral of e^(-t cosh u) cosh u.
        assert!(
            (four(&real) + 8.0).abs() < 0.2 && (four(&|r| r) + 18.6).abs() < 0.2,
            "{} {}",
            four(&real),
            four(&|r| r)
        );
    }

    #[test]
    fn the_tail_of_a_product_is_the_integral_of_the_law() {
        // P(|e s| > x mean) = E exp(-(x pi / 4)^2 / |s|^2): the mean of |e s| is pi / 4 where both have a mean square of 1.
        for times in [1.0f64, 4.0, 16.0, 64.0] {
            let square = (times * PI / 4.0).powi(2);
            let (step, steps) = (1e-3, 400_000);
            let of = |k: i32| {
                let v = (f64::from(k) + 0.5) * step;
                (-v - square / v).exp() * step
            };
            let integral: f64 = (0..steps).map(of).sum();
            let above = complex_tail(times) / integral;
            assert!((1.0..1.05).contains(&above), "{times}: {above}");
        }
        assert_eq!((complex_tail(0.0), real_tail(0.0)), (1.0, 1.0));
    }

    #[test]
    fn noise_that_is_larger_than_claimed_fails_and_so_does_what_no_fit_gives() {
        // 28 bits less six are within what 13 and 14 leave; 30 less six are not, and the series alone has 25.
        let at = |bits| failure("regular-44", |r| r, bits, 1);
        assert!(at(28.0) < -64.0 && at(30.0) > -64.0 && at(32.0) == 0.0, "{} {} {}", at(28.0), at(30.0), at(32.0));
    }

    #[test]
    fn the_second_pass_inherits_what_the_first_leaves() {
        let at = |bits| failure("precise-45", |r| r, bits, 2);
        assert!(at(45.5) < -64.0, "{}", at(45.5));
        // Beyond what the second pass leaves of a usual error.
        assert!(at(60.0) > -1.0, "{}", at(60.0));
    }
}
