//! Time a CKKS bootstrap of Poulpy on one thread, with AVX2: `peer-poulpy PRESET REPEAT` prints one line of JSON.
//!
//! A preset followed by `+pow2` has keys of power-of-two rotations only, which take less memory.
//! Poulpy's own test driver makes the keys, at the radix of a failure probability of 2^-128, and measures the precision.

use std::time::Instant;

use poulpy_ckks::layouts::EvalModRing;
use poulpy_ckks::presets::bootstrapping::all;
use poulpy_ckks::test_suite::presets::{preset_for_backend, BootstrappingPresetRun, CIBackend, BOOTSTRAP_FAILURE_BITS};
use poulpy_cpu_avx::NTT4x30Avx;
use serde_json::json;

type Run = BootstrappingPresetRun<NTT4x30Avx>;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let repeat: usize = words[2].parse().expect("a number of runs");
    let name = words[1].trim_end_matches("+pow2");
    let mut named = all().expect("the presets").into_iter().find(|preset| preset.name() == name).expect("a preset");
    if name != words[1] {
        named = named.with_power_of_two_keys().expect("a preset with these keys");
    }
    let preset = preset_for_backend::<NTT4x30Avx, CIBackend<NTT4x30Avx>>(&named).expect("a preset for AVX2");
    let levels = (preset.output_k() - preset.input_k()) / preset.log_delta();
    let start = Instant::now();
    // Either bootstraps once.
    let mut run = match preset.plan().eval_mod_ring() {
        EvalModRing::Standard => Run::setup(preset.clone()),
        _ => Run::setup_ci(preset.clone()),
    };
    let keygen = start.elapsed().as_secs_f64();
    let seconds: Vec<f64> = (0..repeat)
        .map(|_| {
            let start = Instant::now();
            run.bootstrap();
            start.elapsed().as_secs_f64()
        })
        .collect();
    let (real, imaginary) = run.precision();
    let mean = real.avg_log2_prec.min(imaginary.avg_log2_prec);
    let worst = real.min_log2_prec.min(imaginary.min_log2_prec);
    let line = json!({
        "seconds": seconds,
        "wrong": u8::from(worst < preset.log2_precision() as f64),
        "parameters": words[1],
        "failure": format!("2^-{BOOTSTRAP_FAILURE_BITS}"),
        "bits_mean": mean,
        "bits_worst": worst,
        "levels": levels,
        "setup_seconds": keygen,
    });
    println!("{line}");
}
