//! Microseconds of the main kernels on one thread, for every backend of this CPU:
//! `cargo run --release -p aglet-ring --example kernel_speed`.

use aglet_ring::{arch, primes, Eval, Ring};
use std::time::Instant;

fn median(mut f: impl FnMut(), repeat: usize) -> f64 {
    f();
    let mut times: Vec<f64> = (0..repeat)
        .map(|_| {
            let t = Instant::now();
            f();
            t.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if std::env::args().nth(1).as_deref() == Some("min") {
        times[0]
    } else {
        times[repeat / 2]
    }
}

fn main() {
    let log_n = 16;
    let mut primes = Vec::new();
    let mut candidate = (1u64 << 50) - (2 << log_n) + 1;
    while primes.len() < 24 {
        if primes::is_prime(candidate) {
            primes.push(candidate);
        }
        candidate -= 2 << log_n;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for kernels in arch::available() {
        pool.install(|| {
            let ring = Ring::with_kernels(log_n, &primes[..16], &primes[16..], kernels).unwrap();
            let mut x = ring.zero::<Eval>(16, 8).unwrap();
            ring.for_limbs(&mut x, |p, _, limb| {
                limb.iter_mut().enumerate().for_each(|(i, w)| *w = ring.modulus(p).reduce((i as u64).wrapping_mul(0x9e3779b97f4a7c15)))
            });
            let mut i = 0;
            let mut step = || {
                i = (i + 1) % 24;
                i
            };
            let forward = median(|| { let i = step(); ring.table(i).forward(x.limb_mut(i)) }, 96);
            let inverse = median(|| { let i = step(); ring.table(i).inverse(x.limb_mut(i)) }, 96);
            let hot = median(|| ring.table(0).forward(x.limb_mut(0)), 96);
            let c = ring.converter(&[16, 17, 18, 19, 20, 21, 22, 23], &(0..16).collect::<Vec<_>>());
            let mut y = ring.zero::<Eval>(16, 0).unwrap();
            let convert = median(
                || {
                    // The sources are used up: what is left of them is as good for timing.
                    let src: Vec<&mut [u64]> = x.limbs_mut().skip(16).collect();
                    src.into_iter().for_each(|row| row.iter_mut().for_each(|w| *w >>= 15));
                    let src: Vec<&mut [u64]> = x.limbs_mut().skip(16).collect();
                    ring.convert(&c, src, y.limbs_mut().collect(), |_, _| ()).unwrap();
                },
                9,
            );
            println!(
                "{:11} forward {forward:.0} us, hot {hot:.0} us, inverse {inverse:.0} us, conversion 8 to 16 {:.2} us per product-limb",
                kernels.name(),
                convert / 128.0
            );
        });
    }
}
