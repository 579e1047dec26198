//! What a bootstrap of integers takes: `cargo run --release -p aglet --example integer_bootstrap [threads] [rounds] [preset]`.

use aglet::integer::{presets, Engine, Packing};
use aglet::Control;
use std::time::Instant;

fn main() -> Result<(), aglet::Error> {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (threads, rounds) = (given.next().unwrap_or(1), given.next().unwrap_or(3));
    let preset = std::env::args().nth(3).unwrap_or_else(|| "int16".into());
    let engine = Engine::new(presets::load(&preset, presets::Security::Bits128)?, Packing::Slots, threads)?;
    let sk = engine.create_secret_key()?;
    let start = Instant::now();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new())?;
    println!(
        "key: {:.2} GB, {:.2} GB in a file, {:.1} s",
        key.byte_count() as f64 / 1e9,
        key.stored_bytes() as f64 / 1e9,
        start.elapsed().as_secs_f64()
    );
    let values: Vec<i64> = (0..engine.count() as i64).map(|i| (i * i * 31) % 65537 - 32768).collect();
    let mut ct = engine.encrypt_with_secret(&values, 1, &sk)?;
    for round in 0..=rounds {
        let start = Instant::now();
        let out = engine.bootstrap(&ct, &key, &Control::new())?;
        let seconds = start.elapsed().as_secs_f64();
        let wrong = engine.decrypt(&out, &sk)?.iter().zip(&values).filter(|(a, b)| a != b).count();
        println!(
            "{}: {seconds:.3} s, {wrong} wrong, {:.1} bits left",
            if round == 0 { "with its maps" } else { "bootstrap" },
            engine.noise_budget(&out, &sk)?
        );
        for run in engine.stage_runs() {
            println!("  {:28} {:.3} s", run.name, run.seconds);
        }
        ct = engine.level_down(&out, 1)?;
    }
    Ok(())
}
