//! Facts about this machine: for `aglet doctor`, memory forecasts and benchmarks.

use super::{cgroup, on_threads};
use crate::{Error, MemoryError, ParameterError};
use aglet_ring::arch;
use aglet_ring::bench::{self, TransformTimes};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// What the system says of its processors, which it writes anew for each reader: read once.
fn cpu_info() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// A line of a file in /proc, after its colon.
fn proc_line(file: &str, key: &str) -> Option<String> {
    line_of(&fs::read_to_string(file).ok()?, key)
}

/// The first line of this key, after its colon.
fn line_of(text: &str, key: &str) -> Option<String> {
    let (_, value) = text.lines().filter_map(|l| l.split_once(':')).find(|(name, _)| name.trim() == key)?;
    Some(value.trim().to_string())
}

fn kilobytes(file: &str, key: &str) -> Option<u64> {
    proc_line(file, key)?.split_whitespace().next()?.parse::<u64>().ok().map(|k| k * 1024)
}

/// The processor's name, with the numbers of its kind: on virtual machines generations of a processor share one name.
pub fn cpu() -> String {
    cpu_of(cpu_info())
}

/// The same by the text of /proc/cpuinfo. x86 has family and model, ARM has no name, but a maker and a part.
fn cpu_of(text: &str) -> String {
    const NUMBERS: [(&str, &str); 4] =
        [("cpu family", "family"), ("model", "model"), ("CPU implementer", "maker"), ("CPU part", "part")];
    let name = line_of(text, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
    let number = |(key, word): (&str, &str)| line_of(text, key).map(|value| format!("{word} {value}"));
    let kind: Vec<String> = NUMBERS.into_iter().filter_map(number).collect();
    if kind.is_empty() {
        return name;
    }
    format!("{name} ({})", kind.join(", "))
}

/// The clock in MHz, if the system says; a virtual machine may say a nominal one.
pub fn mhz() -> Option<f64> {
    line_of(cpu_info(), "cpu MHz")?.parse().ok()
}

/// Instruction sets that Aglet can make use of and this processor has.
pub fn features() -> Vec<String> {
    let flags = ["flags", "Features"].into_iter().find_map(|key| line_of(cpu_info(), key)).unwrap_or_default();
    let wanted =
        ["asimd", "avx2", "fma", "bmi2", "adx", "avx512f", "avx512dq", "avx512vl", "avx512ifma", "avx512_ifma"];
    let has = |w: &&&str| flags.split_whitespace().any(|f| f == **w);
    wanted.iter().filter(has).map(|w| w.replace("_ifma", "ifma")).collect()
}

/// Physical memory in bytes, or what the container of this process may have of it, if the system says.
pub fn memory_total() -> Option<u64> {
    least(kilobytes("/proc/meminfo", "MemTotal"), |limit| limit.total)
}

/// Memory that this process can still have, in bytes, if the system says: what is free, within the limits of its container and of its
/// own address space.
pub fn memory_available() -> Option<u64> {
    let free = least(kilobytes("/proc/meminfo", "MemAvailable"), |limit| limit.available);
    free.into_iter().chain(address_space_left()).min()
}

/// The address space that `ulimit -v` leaves, if it sets a limit.
fn address_space_left() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = line.split_whitespace().next()?.parse::<u64>().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize")?))
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
        return Err(ParameterError::Transform { log_n, bits }.into());
    }
    let top = 1u64 << bits;
    let primes: Vec<u64> = aglet_ring::primes::ntt_primes(top as f64, log_n, &[], top).take(LIMBS).collect();
    bench::transform_times(log_n, &primes, kernels, repeat)?
        .ok_or_else(|| ParameterError::PrimeBits { backend: backend.into(), bits }.into())
}

pub(crate) fn out_of_memory(what: &'static str, needed: u64, available: u64) -> Error {
    MemoryError::Bootstrap { what, needed, available }.into()
}

/// Refuses what needs more bytes than the system has.
pub(crate) fn check_memory(what: &'static str, needed: u64) -> Result<(), Error> {
    match memory_available() {
        Some(available) if needed > available => Err(out_of_memory(what, needed, available)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::cpu_of;

    #[test]
    fn two_generations_of_one_name_are_two_processors() {
        let text = |family: u32, model: u32| {
            format!("processor\t: 0\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.1\n")
        };
        assert_eq!(cpu_of(&text(26, 2)), "AMD EPYC (family 26, model 2)");
        assert_ne!(cpu_of(&text(25, 17)), cpu_of(&text(26, 2)));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(cpu_of(arm), format!("{} (maker 0x41, part 0xd40)", std::env::consts::ARCH));
        assert_eq!(cpu_of(""), std::env::consts::ARCH);
    }
}
