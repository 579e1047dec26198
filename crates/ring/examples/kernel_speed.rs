//! Microseconds of the kernels on one limb and one thread, for every backend of this CPU:
//! `cargo run --release -p aglet-ring --example kernel_speed`.

use aglet_ring::{arch, bench, primes};

fn main() {
    let (log_n, top) = (16, 1u64 << 50);
    let primes: Vec<u64> = primes::ntt_primes(top as f64, log_n, &[], top).take(bench::PRIMES).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for kernels in arch::available() {
        let times = pool.install(|| bench::kernel_times(log_n, &primes, kernels)).unwrap();
        println!("{:11} {times:.2?}", kernels.name());
    }
}
