//! Times and bits of SHIP: `ship_speed PRESET RUNS THREADS...`, as in `ship_speed ship14 2 1 2`, or with few slots
//! `ship_speed ship14:8 2 1 2`.
//!
//! Keys are made once, on two threads. There are as many runs of each kind of message: the grid on [-1, 1], ones, alternating signs, one
//! spike (of a set for bits alone: zeros and ones). Of the seconds the least and the median of all runs, of a stage the least; of the bits the
//! mean over all slots and runs of a kind, and its worst slot.

use aglet::ckks::presets;
use aglet::ckks::{BootstrapKeys, Engine, KeySize, Method, Request};
use aglet::Control;
use aglet_testing::fixture::precision;
use std::time::Instant;

const KINDS: [&str; 4] = ["uniform", "ones", "alternating", "spike"];

fn message(kind: &str, method: Method, slots: usize) -> Vec<f64> {
    let mut message = match kind {
        "uniform" => (0..slots).map(|j| 2.0 * j as f64 / (slots.max(2) - 1) as f64 - 1.0).collect(),
        "ones" => vec![1.0; slots],
        "alternating" => (0..slots).map(|j| 1.0 - 2.0 * (j % 2) as f64).collect(),
        _ => (0..slots).map(|j| f64::from(j == 0)).collect(),
    };
    if method == Method::Bits {
        message.iter_mut().for_each(|x| *x = f64::from(*x > 0.0));
    }
    message
}

fn main() -> Result<(), aglet::Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<usize>().ok().filter(|&n| n > 0);
    let (Some(name), Some(runs)) = (args.first(), args.get(1).and_then(number)) else {
        println!("ship_speed PRESET RUNS THREADS..., as in: ship_speed ship14 2 1 2");
        return Ok(());
    };
    let (name, slots) = name.split_once(':').map_or((name.as_str(), None), |(name, slots)| (name, slots.parse().ok()));
    let (params, control) = (presets::load(name, presets::Security::NotChecked)?, Control::new());
    let maker = Engine::new(params.clone(), slots, 2)?;
    let method = if params.message_ratio_log2() == Some(1.0) { Method::Bits } else { Method::Regular };
    let request = Request { real: true, ..Request::new(method, 1, KeySize::Large, maker.slots()) };
    let sk = maker.create_secret_key()?;
    let (relin, conj) = (maker.create_relinearization_key(&sk)?, maker.create_conjugation_key(&sk)?);
    let start = Instant::now();
    let key = maker.create_bootstrap_key(&sk, request, None, &control)?;
    println!("{name}: keys {:.3} GB in {:.1} s", key.byte_count() as f64 * 1e-9, start.elapsed().as_secs_f64());
    let keys = BootstrapKeys { relinearization: &relin, conjugation: &conj, bootstrap: &key, rotation: None };
    for threads in args[2..].iter().filter_map(number) {
        let engine = Engine::new(params.clone(), slots, threads)?;
        let (mut seconds, mut stages): (Vec<f64>, Vec<(String, f64)>) = (Vec::new(), Vec::new());
        let mut bits = [(0.0, f64::INFINITY); KINDS.len()];
        // The first run warms memory up and does not count.
        for run in 0..=runs * KINDS.len() {
            let kind = run % KINDS.len();
            let message = message(KINDS[kind], method, engine.slots());
            let ct = engine.encrypt_with_secret(&engine.encode(&message, 0)?, &sk)?;
            let start = Instant::now();
            let out = engine.bootstrap(&[&ct], keys, request, &control)?;
            if run == 0 {
                continue;
            }
            seconds.push(start.elapsed().as_secs_f64());
            let of_run = engine.stage_runs().iter().map(|stage| (stage.name.to_string(), stage.seconds)).collect();
            stages = if stages.is_empty() { of_run } else { least(stages, &of_run) };
            let found = precision(&engine, &sk, &out[0], &message);
            bits[kind] = (bits[kind].0 + found.mean / runs as f64, f64::min(bits[kind].1, found.worst));
        }
        seconds.sort_by(f64::total_cmp);
        let stages: Vec<String> = stages.iter().map(|(name, seconds)| format!("{name} {seconds:.3}")).collect();
        println!(
            "{threads} threads: {:.3} s, median {:.3}: {}",
            seconds[0],
            seconds[seconds.len() / 2],
            stages.join(", ")
        );
        for (kind, (mean, worst)) in KINDS.iter().zip(bits) {
            println!("  {kind}: {mean:.2} bits, worst slot {worst:.2}");
        }
    }
    Ok(())
}

/// The less of both, stage by stage.
fn least(of: Vec<(String, f64)>, other: &[(String, f64)]) -> Vec<(String, f64)> {
    of.into_iter().zip(other).map(|((name, one), (_, two))| (name, one.min(*two))).collect()
}
