//! Profiling aid.
use aglet_ring::{arch, ntt::NttTable, Modulus};
fn main() {
    let k = arch::available()[0];
    let q = aglet_ring::primes::ntt_primes((1u64 << 50) as f64, 16, &[], 1 << 50).next().unwrap();
    let t = NttTable::new(Modulus::new(q).unwrap(), 16, k).unwrap();
    let mut x: Vec<u64> = (0..65536u64).map(|i| i.wrapping_mul(0x9e3779b97f4a7c15) % q).collect();
    let which = std::env::args().nth(1).unwrap_or_default();
    let s = std::time::Instant::now();
    for _ in 0..4000 {
        if which == "inv" { t.inverse(&mut x) } else { t.forward(&mut x) }
    }
    println!("{} us", s.elapsed().as_secs_f64() / 4000.0 * 1e6);
}
