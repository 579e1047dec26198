//! What is longer than the long part, run by `make test-by-hand`: feature `by-hand`.
#![cfg(feature = "by-hand")]

use aglet::ckks::presets;
use aglet::ckks::{Engine, KeySize, Method, Request};
use aglet::Control;
use aglet_ring::sample::{ChaChaSource, RandomSource};
use aglet_testing::fixture::Fixture;
use std::time::Instant;

/// Ten thousand refreshes of 4,096 random bits each, half of them of a ciphertext that was refreshed before.
#[test]
fn every_bit_of_ten_thousand_refreshes_is_right() {
    const PER_KEY: usize = 1000;
    const BATCH: usize = 4;
    let (mut random, start) = (ChaChaSource::from_seed(*b"bits of ten thousand refreshes: "), Instant::now());
    let mut least = f64::INFINITY;
    for round in 0..10 {
        let f = Fixture::of(
            Engine::new(presets::load("ship13-bits", presets::Security::Bits128).unwrap(), None, 0).unwrap(),
        );
        let request = Request { real: true, ..f.request(Method::Bits, 1, KeySize::Large) };
        let key = f.key(request);
        for _ in 0..PER_KEY / (2 * BATCH) {
            let draw = |_| (0..f.engine.slots()).map(|_| (random.next_u64() >> 63) as f64).collect::<Vec<f64>>();
            let messages: Vec<Vec<f64>> = (0..BATCH).map(draw).collect();
            let mut cts: Vec<_> = messages.iter().map(|message| f.encrypt(message, 0)).collect();
            for _ in 0..2 {
                let inputs: Vec<_> = cts.iter().map(|ct| (ct, request)).collect();
                cts = f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new()).unwrap();
                for (ct, message) in cts.iter().zip(&messages) {
                    least = least.min(f.precision(ct, message).worst);
                }
            }
            assert!(least > 1.0, "a bit is wrong: {least} bits in the worst slot");
        }
        println!(
            "{} refreshes, {least:.2} bits in the worst slot, {:.0} s",
            (round + 1) * PER_KEY,
            start.elapsed().as_secs_f64()
        );
    }
}
