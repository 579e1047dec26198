//! Milliseconds of a gate or a table, one alone and in a batch, on one thread and on two:
//! `cargo run --release -p aglet --example gate_speed [preset...]`.

use aglet::fhew::{presets, Engine, Gate, Table};
use aglet::{Control, Error};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let control = Control::new();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, _) in presets::ALL.iter().filter(|p| wanted.is_empty() || wanted.iter().any(|w| w == p.0)) {
        let params = presets::load(name, presets::Security::NotChecked)?;
        let one = Engine::new(params.clone(), 1)?;
        let two = Engine::new(params, 2)?;
        let sk = one.create_secret_key()?;
        let start = Instant::now();
        let key = one.create_bootstrap_key(&sk, &control)?;
        let made = start.elapsed().as_secs_f64();
        let message = one.params().message();
        let table = Table::new(message, message, &(0..message.space()).rev().collect::<Vec<_>>())?;
        let run = |engine: &Engine, count: usize| -> Result<f64, Error> {
            let bits = one.encrypt_bits(&vec![true; count], &sk)?;
            let messages = one.encrypt(&vec![1; count], message, &sk)?;
            let mut best = f64::INFINITY;
            for _ in 0..15 {
                let start = Instant::now();
                if message.space() == 2 {
                    engine.gate(Gate::Nand, &[&bits, &bits], &key, None, &control)?;
                } else {
                    engine.lookup(&messages, &table, &key, None, &control)?;
                }
                best = best.min(start.elapsed().as_secs_f64() * 1e3 / count as f64);
            }
            Ok(best)
        };
        println!(
            "{name}: alone {:.2} ms, in a batch of 8 {:.2} ms, of 64 {:.2} ms, on two threads {:.2} ms; keys {:.1} MB in {made:.2} s",
            run(&one, 1)?,
            run(&one, 8)?,
            run(&one, 64)?,
            run(&two, 64)?,
            key.byte_count() as f64 / 1e6,
        );
    }
    Ok(())
}
