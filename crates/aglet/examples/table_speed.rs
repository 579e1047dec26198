//! Processor milliseconds of tables of 8 and 16 bits on the set `wide`, one thread, least of several (Linux; on the wall elsewhere):
//! `cargo run --profile long -p aglet --example table_speed [rounds]`.

use aglet::fhew::{presets, Engine, TreeTable, Work};
use aglet::{Control, Error};
use std::time::Instant;

/// Seconds that the threads of this process have run; none where the system does not say.
fn processor() -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let of = |path: std::path::PathBuf| -> Option<f64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    threads.map(|thread| of(thread.ok()?.path())).sum::<Option<f64>>().map(|ns| ns * 1e-9)
}

/// Least milliseconds of a few rounds.
fn least(rounds: usize, mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let (start, before) = (Instant::now(), processor());
        work()?;
        let own = processor().zip(before).map(|(after, before)| after - before);
        best = best.min(own.unwrap_or_else(|| start.elapsed().as_secs_f64()) * 1e3);
    }
    Ok(best)
}

fn main() -> Result<(), Error> {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4);
    let control = Control::new();
    let engine = Engine::new(presets::load("wide", presets::Security::Bits128)?, 1)?;
    let sk = engine.create_secret_key()?;
    let (key, packing) = (engine.create_bootstrap_key(&sk, &control)?, engine.create_packing_key(&sk, &control)?);
    let message = engine.params().message();
    // Of so many messages: entries that look like random ones, below a limit.
    let table = |messages: u32, limit: u64, seed: u64| {
        let value = |i: u64| (i * 0x9e37_79b9 + seed * 0x85eb_ca6b).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40;
        let values: Vec<u64> = (0..16u64.pow(messages)).map(|i| value(i) % limit).collect();
        TreeTable::new(message, message, &values)
    };
    for (name, messages, limit, batch) in [("8 bits", 2, 4, 1), ("8 bits, 16", 2, 4, 16), ("16 bits", 4, 16, 1)] {
        let tables = (0..4).map(|seed| table(messages, limit, seed)).collect::<Result<Vec<_>, _>>()?;
        let input = |value| engine.encrypt(&vec![value; batch], message, &sk);
        let mut inputs = (2..messages).map(|i| input(u64::from(i) + 5)).collect::<Result<Vec<_>, _>>()?;
        inputs.extend([input(2)?, input(3)?, input(11)?]);
        let lists: Vec<&[_]> = inputs.iter().map(|list| &list[..]).collect();
        let many = rounds * if messages == 2 { 8 / batch.min(4) } else { 1 };
        let all = least(many, || engine.lookup_tree(&lists, &tables, (&key, &packing), None, &control).map(drop))?;
        let plan = least(rounds, || engine.estimate(Work::LookupTree(&tables, true), 1).map(drop))?;
        println!("{name}: {:.2} ms each; its plan {plan:.2} ms", all / batch as f64);
    }
    Ok(())
}
