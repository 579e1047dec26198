//! A fuzzer in one process, on stable Rust: `aglet-fuzz SECONDS [TARGET]`, built and started by `make fuzz`.
//!
//! The compiler puts a counter on every edge of Aglet's code (LLVM's SanitizerCoverage, which needs no runtime library). An
//! input that reaches a new edge, or an old one more often by a power of two, is kept and changed further. Operands of
//! comparisons are caught on the way and tried as values, under checksums that fit: a constant that code compares a part of the
//! input with takes that part's place. Each run begins with readers that have faults planted in this way, and fails if they are
//! not found. **Out of reach** are constants that are compared with something computed (packed bits of residues, a hash), and those
//! of more than eight bytes, which are compared in a loop. What fails (a panic, an abort, more
//! than [`SLOW`], more memory than [`coverage::MEMORY`]) lies in `fuzz/failures` afterwards; `aglet-fuzz run FILE` repeats it.

mod coverage;
mod mutate;
mod targets;

use mutate::Random;
use std::collections::HashSet;
use std::io::{Seek, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use targets::{Input, Target};

/// No input may take longer.
const SLOW: Duration = Duration::from_secs(20);

/// What is planted must be found in this time.
const PLANTED: Duration = Duration::from_secs(10);

/// Grows when an input begins and when it ends: odd while one runs.
static BEGAN: AtomicU64 = AtomicU64::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    std::fs::create_dir_all(failures()).expect("the folder for failures can be made");
    let all = targets::all();
    if let [run, file] = &arguments[..] {
        if run == "run" {
            return repeat(&all, Path::new(file));
        }
    }
    let seconds: u64 = arguments.first().and_then(|s| s.parse().ok()).expect("aglet-fuzz SECONDS [TARGET]");
    let wanted = arguments.get(1);
    let chosen: Vec<&Target> = all.iter().filter(|t| wanted.is_none_or(|name| name == t.name)).collect();
    assert!(!chosen.is_empty(), "the targets are {:?}", all.iter().map(|t| t.name).collect::<Vec<_>>());
    assert!(coverage::edges() > 0, "this was built without counters; use `make fuzz`");
    watch();
    for target in targets::planted() {
        assert!(fuzz(&target, PLANTED).is_some(), "{}: not found in {PLANTED:?}", target.name);
    }
    let each = Duration::from_secs(seconds) / chosen.len() as u32;
    let failed = chosen.into_iter().filter(|target| fails(target, each)).count();
    if failed > 0 {
        eprintln!("{failed} targets failed; the inputs are in {}", failures().display());
        std::process::exit(1);
    }
}

fn failures() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/failures"))
}

fn repeat(all: &[Target], file: &Path) {
    let name = file.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let target = all.iter().find(|t| name.starts_with(t.name)).expect("the name of the file begins with its target");
    (target.run)(&std::fs::read(file).expect("the file can be read"));
    println!("{name}: nothing fails");
}

/// Ends the process if an input takes too long: it lies in the file of the running input.
fn watch() {
    std::thread::spawn(|| {
        let mut seen = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = BEGAN.load(Ordering::Relaxed);
            if now != seen.0 {
                seen = (now, Instant::now());
            } else if now % 2 == 1 && seen.1.elapsed() > SLOW {
                eprintln!("An input takes more than {SLOW:?}; it is the newest file in {}.", failures().display());
                std::process::abort();
            }
        }
    });
}

/// Runs a target for a time, and keeps what fails; whether something did.
fn fails(target: &Target, time: Duration) -> bool {
    let Some(bytes) = fuzz(target, time) else { return false };
    let name = format!("{}-{}", target.name, &blake3::hash(&bytes).to_hex()[..16]);
    std::fs::write(failures().join(&name), &bytes).expect("failures can be written");
    eprintln!("{}: fuzz/failures/{name} fails", target.name);
    true
}

/// Runs a target for a time, or until an input fails: that one.
fn fuzz(target: &Target, time: Duration) -> Option<Vec<u8>> {
    let (start, mut runs) = (Instant::now(), 0u64);
    let path = failures().join(format!("{}-running", target.name));
    let mut running = std::fs::File::create(&path).expect("failures can be written");
    let mut random = Random::new();
    let mut map = coverage::Map::new();
    let mut corpus: Vec<Input> = target.seeds.clone();
    let mut queue: Vec<Input> = target.seeds.iter().rev().cloned().collect();
    // Comparisons that were seen, and what is left to try of them: the constant, in a place of an input.
    let (mut tried, mut solvable, mut failed) = (HashSet::new(), Vec::new(), None);
    while failed.is_none() && start.elapsed() < time {
        let input = queue.pop().unwrap_or_else(|| {
            if !solvable.is_empty() && random.below(2) == 0 {
                let (of, compared, at) = solvable.swap_remove(random.below(solvable.len()));
                return mutate::solved(&corpus[of], compared, at);
            }
            let (a, b) = (random.pick(&corpus).clone(), random.pick(&corpus).bytes.clone());
            let mut changed = mutate::changed(&a, &b, target.words, &mut random);
            if random.below(4) != 0 {
                changed.seal(random.below(2) == 0);
            }
            changed
        });
        // Written first: an abort leaves no other trace.
        running
            .rewind()
            .and_then(|()| running.set_len(0))
            .and_then(|()| running.write_all(&input.bytes))
            .expect("it can");
        coverage::clear();
        BEGAN.fetch_add(1, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&input.bytes)));
        BEGAN.fetch_add(1, Ordering::Relaxed);
        runs += 1;
        if map.learn() {
            for compared in coverage::compared().filter(|&compared| tried.insert(compared)) {
                let places = mutate::places(&input, compared).into_iter();
                solvable.extend(places.map(|at| (corpus.len(), compared, at)));
            }
            corpus.push(input.clone());
        }
        failed = result.is_err().then_some(input.bytes);
    }
    drop(std::fs::remove_file(&path));
    println!(
        "{}: {runs} executions; a corpus of {} inputs from {} seeds reaches {} of {} edges",
        target.name,
        corpus.len(),
        target.seeds.len(),
        map.reached(),
        coverage::edges()
    );
    failed
}
