//! Times and bits of bootstraps by roots of unity, by stage: `ship_speed PRESET RUNS THREADS...`, as in `ship_speed ship14 5 1 2`.
//!
//! Keys are made once, on two threads. Of the seconds the least and the median, of a stage the least; of the bits the mean over all slots and
//! runs of messages uniform in [-1, 1] (of a set for bits alone: bits), and the worst slot of all runs.

use aglet::ckks::{BootstrapKeys, Engine, KeySize, Method, Request};
use aglet::{presets, Control};
use aglet_testing::fixture::precision;
use aglet_testing::messages;
use std::time::Instant;

fn message(method: Method, slots: usize, run: usize) -> Vec<f64> {
    match method {
        Method::Bits => (0..slots).map(|j| (j * 7 % 3 / 2) as f64).collect(),
        _ => messages::real(slots, run),
    }
}

fn main() -> Result<(), aglet::Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<usize>().ok().filter(|&n| n > 0);
    let (Some(name), Some(runs)) = (args.first(), args.get(1).and_then(number)) else {
        println!("ship_speed PRESET RUNS THREADS..., as in: ship_speed ship14 5 1 2");
        return Ok(());
    };
    let (params, control) = (presets::load(name, true)?, Control::new());
    let maker = Engine::new(params.clone(), None, 2)?;
    let method = if params.message_ratio_log2() == Some(1.0) { Method::Bits } else { Method::Regular };
    let request = Request { real: true, ..Request::new(method, 1, KeySize::Large, maker.slots()) };
    let sk = maker.create_secret_key()?;
    let (relin, conj) = (maker.create_relinearization_key(&sk)?, maker.create_conjugation_key(&sk)?);
    let start = Instant::now();
    let key = maker.create_bootstrap_key(&sk, request, None, &control)?;
    println!("{name}: keys {:.3} GB in {:.1} s", key.byte_count() as f64 * 1e-9, start.elapsed().as_secs_f64());
    for threads in args[2..].iter().filter_map(number) {
        let engine = Engine::new(params.clone(), None, threads)?;
        let (mut seconds, mut stages): (Vec<f64>, Vec<(String, f64)>) = (Vec::new(), Vec::new());
        let (mut mean, mut worst) = (0.0, f64::INFINITY);
        // The first run warms memory up and does not count.
        for run in 0..=runs {
            let message = message(method, engine.slots(), run);
            let ct = engine.encrypt_with_secret(&engine.encode(&message, 0)?, &sk)?;
            let keys = BootstrapKeys { relinearization: &relin, conjugation: &conj, bootstrap: &key, rotation: None };
            let start = Instant::now();
            let out = engine.bootstrap(&[&ct], keys, request, &control)?;
            if run == 0 {
                continue;
            }
            seconds.push(start.elapsed().as_secs_f64());
            let of_run: Vec<_> =
                engine.stage_runs().iter().map(|stage| (stage.name.to_string(), stage.seconds)).collect();
            match stages.is_empty() {
                true => stages = of_run,
                false => stages.iter_mut().zip(&of_run).for_each(|(best, stage)| best.1 = best.1.min(stage.1)),
            }
            let bits = precision(&engine, &sk, &out[0], &message);
            (mean, worst) = (mean + bits.mean / runs as f64, f64::min(worst, bits.worst));
        }
        seconds.sort_by(f64::total_cmp);
        let stages: Vec<String> = stages.iter().map(|(name, seconds)| format!("{name} {seconds:.3}")).collect();
        println!(
            "{threads} threads: {:.3} s, median {:.3}: {}; bits {mean:.2}, worst {worst:.2}",
            seconds[0],
            seconds[seconds.len() / 2],
            stages.join(", ")
        );
    }
    Ok(())
}
