//! The precision of a bootstrap, predicted before a key exists: its plan runs on plain numbers with noise.

use crate::ckks::{BootstrapCircuit, Method};
use crate::runtime::on_threads;
use crate::Error;
use aglet_bootstrap::ckks::request::Parts;
use aglet_bootstrap::{Pipeline, Probe, Scaled};
use aglet_rlwe::params::Params;
use aglet_rlwe::KeySwitchSpec;
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::noisy::{Noise, NoisyEvaluator};
use num_complex::Complex64;
use rayon::prelude::*;
use std::time::Duration;

/// Any will do: predictions are the same from run to run.
const SEED: u64 = 0xa91e7;
/// Errors that make a mean, and the runs that few slots are given for it at most.
const ENOUGH: usize = 64;
const MOST_RUNS: usize = 8;

/// The precision of a bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct Precision {
    /// `-log2` of the mean absolute error over all slots.
    pub mean_bits: f64,
    /// `-log2` of the largest.
    pub worst_bits: f64,
    /// For each stage its name and the mean error in bits if only this stage had noise.
    pub stages: Vec<(String, f64)>,
    /// The mean error in bits without any noise: that of the approximation.
    pub approximation_bits: f64,
}

/// The noise of a parameter set, on the chain of a bootstrap circuit.
///
/// # Errors
/// Those of [`KeySwitchSpec::balanced`].
pub fn noise(params: &Params) -> Result<Noise, Error> {
    let switch = |limbs: usize| Ok(KeySwitchSpec::balanced(params, limbs)?.noise(params, limbs));
    Ok(Noise {
        n: params.n(),
        weight: params.secret().squared_norm(params.n()),
        sparse_weight: sparse_weight(params),
        switch: (1..=params.q().len()).map(switch).collect::<Result<_, Error>>()?,
        sparse_switch: KeySwitchSpec::dense_to_sparse().noise(params, 1),
        special: params.p()[0] as f64,
    })
}

/// Non-zero coefficients of the sparse secret; 0 without one.
fn sparse_weight(params: &Params) -> f64 {
    params.sparse_secret().map_or(0.0, |secret| secret.squared_norm(params.n()))
}

/// Predicts the precision of a bootstrap circuit on messages over its whole range: a grid on `[-bound, bound]`, or the points that a sign
/// or bit bootstrap is for. Few slots are averaged over several runs. `by_stage` runs all of them once more for each stage.
///
/// # Errors
/// Those of the evaluator; a bootstrap circuit that was made passes.
pub fn precision(circuit: &BootstrapCircuit, by_stage: bool) -> Result<Precision, Error> {
    on_threads(0, || predict(circuit, by_stage))
}

fn predict(circuit: &BootstrapCircuit, by_stage: bool) -> Result<Precision, Error> {
    let model = Model::new(circuit)?;
    let runs = ENOUGH.div_ceil(model.message.len()).min(MOST_RUNS) as u64;
    let some = |runs: u64, noisy: &(dyn Fn(&str) -> bool + Sync)| {
        (0..runs).into_par_iter().map(|run| model.run(run, noisy)).collect::<Result<Vec<_>, Error>>()
    };
    let exact = some(if by_stage { runs } else { 1 }, &|_| false)?;
    let noisy = some(runs, &|_| true)?;
    let one_stage = |stage: &&str| {
        let found = some(runs, &|name| name == *stage)?;
        Ok((stage.to_string(), bits(found.iter().zip(&exact)).0))
    };
    let asked: Vec<&str> = circuit.plan.stages().iter().filter(|_| by_stage).map(|stage| stage.name.as_str()).collect();
    let stages = asked.par_iter().map(one_stage).collect::<Result<_, Error>>()?;
    let (mean_bits, worst_bits) = bits(noisy.iter().map(|found| (found, &model.message)));
    let (approximation_bits, _) = bits(exact.iter().take(1).map(|found| (found, &model.message)));
    Ok(Precision { mean_bits, worst_bits, stages, approximation_bits })
}

/// `-log2` of the mean and of the largest error, over all runs with what each should give.
fn bits<'a>(runs: impl Iterator<Item = (&'a Vec<Complex64>, &'a Vec<Complex64>)>) -> (f64, f64) {
    let errors: Vec<f64> =
        runs.flat_map(|(found, wanted)| found.iter().zip(wanted).map(|(a, b)| (a - b).norm())).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (-mean.log2(), -errors.iter().copied().fold(0.0, f64::max).log2())
}

struct Model<'a> {
    circuit: &'a BootstrapCircuit,
    noise: Noise,
    message: Vec<Complex64>,
}

/// Has noise in some stages only.
struct Switch<'a> {
    e: &'a NoisyEvaluator,
    noisy: &'a dyn Fn(&str) -> bool,
}

impl Probe for Switch<'_> {
    fn stage(&mut self, name: &str, _: usize, _: usize, time: Option<Duration>) -> bool {
        if time.is_none() {
            self.e.switch((self.noisy)(name));
        }
        true
    }
}

impl<'a> Model<'a> {
    fn new(circuit: &'a BootstrapCircuit) -> Result<Self, Error> {
        let (slots, bound) = (circuit.request.slots, circuit.request.bound);
        let grid = |j: usize| 2.0 * j as f64 / (slots.max(2) - 1) as f64 - 1.0;
        let value = |j: usize| match circuit.request.method {
            Method::Sign => {
                if j.is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                }
            }
            Method::Bits => (j % 2) as f64,
            _ => grid(j) * bound,
        };
        let message = (0..slots).map(|j| Complex64::new(value(j), 0.0)).collect();
        Ok(Self { circuit, noise: noise(&circuit.params)?, message })
    }

    /// The result of one of many runs, with noise in the stages that `noisy` names.
    fn run(&self, run: u64, noisy: &dyn Fn(&str) -> bool) -> Result<Vec<Complex64>, Error> {
        let (plan, params) = (&self.circuit.plan, &self.circuit.params);
        let moduli = params.q().iter().map(|&q| q as f64).collect();
        let seed = SEED + run;
        let clear = ClearEvaluator::new(params.n() / 2, moduli, sparse_weight(params) as usize, seed)?;
        let e = NoisyEvaluator::new(clear, self.noise.clone(), seed);
        let all: Vec<_> = self.message.iter().copied().cycle().take(params.n() / 2).collect();
        let Scaled { level, scale } = plan.input();
        let input = e.encrypt(&all, level, scale)?;
        let out = Pipeline::new(&e, plan.clone())?.run(&e, &[input], &mut Switch { e: &e, noisy })?;
        Ok(self.decoded(&out, self.circuit.request.parts()))
    }

    /// The message slots: copies are averaged, as decoding ignores the coefficients outside of the subring.
    fn decoded(&self, out: &[ClearCiphertext], parts: Parts) -> Vec<Complex64> {
        let slots = self.message.len();
        let mean = |ct: &ClearCiphertext, j: usize| {
            let copies = ct.values().len() / slots;
            ct.values().iter().skip(j).step_by(slots).sum::<Complex64>() / copies as f64 * self.circuit.request.bound
        };
        let value = |j| match (parts, out) {
            (Parts::Pair, [re, im, ..]) => Complex64::new(mean(re, j).re, mean(im, j).re),
            _ => mean(&out[0], j),
        };
        (0..slots).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ckks::presets;
    use crate::ckks::{KeySize, Request};
    use std::f64::consts::TAU;

    fn predicted(preset: &str, request: impl Fn(Request) -> Request) -> Precision {
        let params = presets::load(preset, presets::Security::NotChecked).unwrap();
        let request = request(Request::new(Method::Regular, 3, KeySize::Large, params.n() / 2));
        precision(&BootstrapCircuit::new(&params, request).unwrap(), true).unwrap()
    }

    #[test]
    fn the_error_is_the_sum_of_what_stages_and_approximation_leave() {
        let found = predicted("toy", |r| r);
        let power = |bits: f64| (-2.0 * bits).exp2();
        let parts = found.stages.iter().map(|(_, bits)| power(*bits)).sum::<f64>() + power(found.approximation_bits);
        assert!((power(found.mean_bits) / parts).log2().abs() < 1.0, "{found:?}");
        assert!(found.worst_bits < found.mean_bits);
        let names: Vec<&str> = found.stages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 10);
        // The rounding of eval_mod and of the map before it weigh most: that is what their primes were made large for.
        let mut loudest = found.stages.clone();
        loudest.sort_by(|a, b| a.1.total_cmp(&b.1));
        let two: std::collections::BTreeSet<&str> = loudest[..2].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(two, ["coeffs_to_slots 3/3", "eval_mod"].into());
    }

    #[test]
    fn errors_grow_with_the_bound_and_the_same_request_has_the_same_prediction() {
        let (one, sixteen) = (predicted("toy", |r| r), predicted("toy", |r| Request { bound: 16.0, ..r }));
        assert!((one.mean_bits - sixteen.mean_bits - 4.0).abs() < 0.5, "{one:?} {sixteen:?}");
        assert_eq!(one, predicted("toy", |r| r));
    }

    #[test]
    fn at_the_real_size_no_stage_count_costs_precision() {
        for stage_count in 2..=5 {
            let found = predicted("regular", |r| Request { stage_count, ..r });
            assert!(found.mean_bits > 24.4 && found.worst_bits > 21.3, "{stage_count} stages: {found:?}");
        }
    }

    #[test]
    fn at_the_real_size_no_stage_count_costs_sparse_slots_precision() {
        for (slots, stage_count) in [(1, 1), (32, 1), (32, 2), (1024, 1), (1024, 3)] {
            let found = predicted("regular", |r| Request { stage_count, slots, ..r });
            assert!(
                found.mean_bits > 25.0 && found.worst_bits > 23.5,
                "{slots} slots, {stage_count} stages: {found:?}"
            );
        }
    }

    fn err_by_little_more_than_one_rounding(method: Method) {
        let deviation = (2.0f64 / 3.0).sqrt() * 65536.0 / 24f64.sqrt();
        let one_rounding = |scale: i32| f64::from(scale) - (deviation * (TAU / 4.0).sqrt()).log2();
        for (stage_count, real) in [(3, false), (3, true), (5, false)] {
            let found = predicted("regular", |r| Request { method, stage_count, real, ..r });
            assert!(found.mean_bits > one_rounding(40) - 0.1, "{found:?}");
        }
        // At this scale the size of the exponential would be seen, if it were not cleaned.
        let found = predicted("regular-44", |r| Request { method, real: true, ..r });
        assert!(found.mean_bits > one_rounding(44) - 0.1, "{found:?}");
    }

    // Two tests, for two cores.
    #[test]
    fn at_the_real_size_signs_err_by_little_more_than_one_rounding() {
        err_by_little_more_than_one_rounding(Method::Sign);
    }

    #[test]
    fn at_the_real_size_bits_err_by_little_more_than_one_rounding() {
        err_by_little_more_than_one_rounding(Method::Bits);
    }

    #[test]
    fn signs_are_cleaned() {
        let sign = predicted("toy", |r| Request { method: Method::Sign, ..r });
        assert!(sign.mean_bits > predicted("toy", |r| r).mean_bits + 2.0, "{sign:?}");
    }
}
