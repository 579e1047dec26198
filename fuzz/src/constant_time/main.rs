//! Whether samplers, decryption and what else touches secrets take the same path whatever the secrets are: `make constant-time`.
//!
//! All of Aglet and what it stands on is built with a call on every edge and at every load and store (LLVM's SanitizerCoverage).
//! The sequence of edges and addresses is hashed: it must be one and the same for a secret of zeros, where there is one, and for
//! random secrets. Each run is a forked child, so that all have the same memory at the same addresses; one secret taken twice
//! proves that nothing but the secret differs, and two leaks that are planted prove that leaks are seen.
//!
//! Loads and stores of 32 bytes and more are not called for: those of vector kernels show as edges only, but kernels are
//! written once for all instruction sets, and the scalar ones show everything. The time of a single instruction is not seen.
//! Rejected draws depend on randomness that is thrown away, so a recorded source without them stands in for `ternary`.

mod integers;
mod lwe;
mod rings;
mod trace;

use aglet_ring::arch;
use aglet_ring::sample::{self, RandomSource};
use std::hint::black_box;
use trace::{constant, source, Accepted};

const COUNT: usize = 1 << 10;

fn samplers() -> bool {
    let small = |name: &str, draw: &dyn Fn(u64, &mut [i8])| {
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let mut out = vec![0; COUNT];
            traced(&mut || draw(secret, &mut out));
            black_box(&out);
        };
        constant(name, &work)
    };
    let gaussian = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let mut out = vec![0; COUNT];
        traced(&mut || sample::gaussian(&mut source(secret), &mut out));
        black_box(&out);
    };
    // Windows beside each other: places always increase, so none are drawn again.
    let windows: Vec<_> = (0..COUNT as u64).map(|k| (32 * k, 32)).collect();
    let places = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let mut out = vec![0; COUNT];
        traced(&mut || sample::increasing(&mut source(secret), &windows, &mut out));
        black_box(&out);
    };
    let all = [
        small("ternary", &|secret, out| sample::ternary(&mut Accepted(source(secret)), out)),
        small("fixed weight", &|secret, out| sample::fixed_weight(&mut source(secret), 32, out)),
        small("block sparse", &|secret, out| sample::block_sparse(&mut source(secret), 32, out)),
        small("binary", &|secret, out| sample::binary(&mut source(secret), out)),
        small("block binary", &|secret, out| sample::block_binary(&mut source(secret), 3, out)),
        small("signs", &|secret, out| sample::signs(&mut source(secret), out)),
        constant("places in windows", &places),
        constant("gaussian", &gaussian),
    ];
    all.iter().all(|&constant| constant)
}

/// A leak by a branch and one by an address, which must be seen.
fn leaks_are_seen() -> bool {
    static TABLE: [u8; 256] = [7; 256];
    let planted = |name: &str, leak: &dyn Fn(u8) -> u8| {
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let mut bytes = [0; 64];
            source(secret).fill_bytes(&mut bytes);
            traced(&mut || bytes.iter_mut().for_each(|byte| *byte = leak(*byte)));
            black_box(&bytes);
        };
        !constant(name, &work)
    };
    let branch = planted("a planted branch", &|byte| if byte & 1 == 1 { black_box(byte) / 3 } else { byte });
    branch & planted("a planted address", &|byte| black_box(&TABLE)[usize::from(byte)])
}

/// Whether nothing leaks but what is planted.
fn check() -> bool {
    assert!(leaks_are_seen(), "a planted leak was not seen");
    let rings = |kernels| rings::keys(kernels) & rings::ship_keys(kernels);
    let families = |kernels| rings(kernels) & lwe::all(kernels) & integers::all(kernels);
    samplers() & arch::available().iter().fold(true, |fine, kernels| families(kernels) & fine)
}

fn main() {
    // This thread is the pool: nothing runs beside it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a pool");
    assert!(pool.install(check), "a path depends on secrets");
    println!("No edge and no address depends on a secret.");
}
