//! Seeded bootstraps at the real size against their golden hashes: feature `long`. The keys are made once; then every instruction
//! set, and one thread as well as two, must give the bits that are recorded. `AGLET_GOLDEN=record` records them, as for the toy
//! ring (`golden.rs`).
#![cfg(feature = "long")]

use aglet::ckks::presets;
use aglet::ckks::{BootstrapKey, Ciphertext, Engine, KeySize, Method, Request};
use aglet::{Control, Runtime};
use aglet_ring::arch;
use aglet_testing::fixture::Fixture;
use aglet_testing::golden::Hashes;
use aglet_testing::messages;
use std::time::Instant;

const SEED: [u8; 32] = *b"golden hashes of aglet, seed one";

fn engine((backend, threads): (&str, usize), slots: Option<usize>) -> Engine {
    let runtime = Runtime::seeded(threads, backend, SEED).unwrap();
    Engine::on(runtime, presets::load("regular", presets::Security::Bits128).unwrap(), slots).unwrap()
}

/// The best kernels of this CPU, or those that the environment forces.
fn best() -> &'static str {
    arch::chosen().unwrap().name()
}

/// Keys and inputs of some bootstraps with one key.
struct Bootstraps {
    f: Fixture,
    key: BootstrapKey,
    asked: Vec<(String, Request, Vec<Ciphertext>)>,
}

impl Bootstraps {
    /// Of these methods, which take the keys of the first; on the best kernels and two threads.
    fn new(slots: Option<usize>, methods: &[Method]) -> Self {
        let f = Fixture::of(engine((best(), 2), slots));
        let request = f.request(methods[0], 3, KeySize::Large);
        let key = f.key(request);
        let n = f.engine.slots();
        let input = |method: Method, seed| {
            let level = if method.keys() == Method::Lossy { 3 } else { 0 };
            match method {
                Method::Sign => f.encrypt(&messages::signs(n, seed), level),
                Method::Bits => f.encrypt(&messages::bits(n, seed), level),
                Method::Merge | Method::LossyMerge => f.encrypt(&messages::real(n, seed), level),
                _ => f.encrypt(&messages::complex(n, seed), level),
            }
        };
        let ask = |&method: &Method| {
            let name = format!("real size, {} of {n} slots", method.name());
            let inputs = (0..if method.pairs() { 2 } else { 1 }).map(|seed| input(method, seed)).collect();
            (name, Request { method, ..request }, inputs)
        };
        let asked = methods.iter().map(ask).collect();
        Self { f, key, asked }
    }

    /// All where they were made, and on one thread; the first of them on the other kernels too.
    fn check(&self) {
        let mut runs = vec![((best(), 2), self.asked.len()), ((best(), 1), self.asked.len())];
        let others = arch::available().iter().filter(|kernels| kernels.name() != best());
        runs.extend(others.map(|kernels| ((kernels.name(), 2), 1)));
        for (run, count) in runs {
            let engine = engine(run, Some(self.f.engine.slots()));
            for (name, request, inputs) in &self.asked[..count] {
                let (start, inputs) = (Instant::now(), inputs.iter().collect::<Vec<_>>());
                let out = engine.bootstrap(&inputs, self.f.keys(&self.key), *request, &Control::new()).unwrap();
                let run = format!("{} on {} threads", run.0, run.1);
                println!("{name}, {run}: {:.2} s", start.elapsed().as_secs_f64());
                let mut found = Hashes::default();
                found.add("result", &out);
                found.check(name, &run);
            }
        }
    }
}

#[test]
fn regular_bootstraps() {
    Bootstraps::new(None, &[Method::Regular, Method::Merge]).check();
}

#[test]
fn lossy_bootstraps() {
    let methods = [Method::Lossy, Method::Sign, Method::Bits, Method::LossyMerge];
    Bootstraps::new(None, &methods).check();
}

#[test]
fn bootstraps_of_few_slots() {
    Bootstraps::new(Some(64), &[Method::Regular]).check();
}
