//! What this machine has: for `aglet doctor`, memory forecasts and benchmarks.

use super::{cgroup, on_threads};
use crate::Error;
use aglet_ring::arch;
use aglet_ring::bench::{self, TransformTimes};
use std::fs;
use std::path::Path;

/// A line of a file in /proc, after its colon.
fn proc_line(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|l| l.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn kilobytes(file: &str, key: &str) -> Option<u64> {
    proc_line(file, key)?.split_whitespace().next()?.parse::<u64>().ok().map(|k| k * 1024)
}

/// The processor's name.
pub fn cpu() -> String {
    proc_line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

/// Instruction sets that Aglet can make use of and this processor has.
pub fn features() -> Vec<String> {
    let flags = ["flags", "Features"].into_iter().find_map(|key| proc_line("/proc/cpuinfo", key)).unwrap_or_default();
    let wanted =
        ["asimd", "avx2", "fma", "bmi2", "adx", "avx512f", "avx512dq", "avx512vl", "avx512ifma", "avx512_ifma"];
    let has = |w: &&&str| flags.split_whitespace().any(|f| f == **w);
    wanted.iter().filter(has).map(|w| w.replace("_ifma", "ifma")).collect()
}

/// Physical memory in bytes, or what the container of this process may have of it, if the system says.
pub fn memory_total() -> Option<u64> {
    least(kilobytes("/proc/meminfo", "MemTotal"), |limit| limit.total)
}

/// Memory that this process can still have, in bytes, if the system says: what is free, within the limits of its container.
pub fn memory_available() -> Option<u64> {
    least(kilobytes("/proc/meminfo", "MemAvailable"), |limit| limit.available)
}

fn least(machine: Option<u64>, container: impl Fn(cgroup::Memory) -> u64) -> Option<u64> {
    machine.into_iter().chain(cgroup::memory(Path::new("/")).map(container)).min()
}

/// The largest resident size of this process so far, in bytes.
pub fn peak_rss() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM")
}

/// How the system serves huge pages: "always", "madvise", "never" or "unknown".
pub fn huge_pages() -> String {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word.to_string());
    chosen.unwrap_or_else(|| "unknown".to_string())
}

/// Times the transform of degree `2^log_n` modulo primes below `2^bits` on one thread, over 24 limbs in turn as a ciphertext
/// has them, so that neither data nor tables stay in the inner caches.
///
/// # Errors
/// An unknown backend, a degree that is not served, sizes without primes.
pub fn bench_ntt(log_n: u32, bits: u32, backend: &str, repeat: usize) -> Result<TransformTimes, Error> {
    on_threads(1, || time_ntt(log_n, bits, backend, repeat))
}

fn time_ntt(log_n: u32, bits: u32, backend: &str, repeat: usize) -> Result<TransformTimes, Error> {
    const LIMBS: usize = 24;
    let kernels = arch::by_name(backend)?;
    if !(6..=17).contains(&log_n) || !(20..=61).contains(&bits) || bits < log_n + 8 {
        return Err(Error::Parameter(format!(
            "A transform of degree 2^{log_n} with primes of {bits} bits is not served; take log_n from 6 to 17 and bits from log_n + 8 (at least 20) to 61."
        )));
    }
    let top = 1u64 << bits;
    let primes: Vec<u64> = aglet_ring::primes::ntt_primes(top as f64, log_n, &[], top).take(LIMBS).collect();
    bench::transform_times(log_n, &primes, kernels, repeat)?.ok_or_else(|| {
        Error::Parameter(format!("The backend {backend} serves primes up to 50 bits; {bits} bits run on scalar only."))
    })
}
