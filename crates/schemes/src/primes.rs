//! The choice of primes that families share.

use aglet_ring::primes::ntt_primes;

/// So many of the largest primes below `2^bits`, and above half of it, that fit the transform of degree `2^log_n` and are not used yet;
/// `None` if there are fewer.
pub(crate) fn largest_below(log_n: u32, bits: u32, count: usize, used: &[u64]) -> Option<Vec<u64>> {
    let bound = 1u64.checked_shl(bits)?;
    let found: Vec<u64> =
        ntt_primes(bound as f64, log_n, used, bound).take_while(|&p| p > bound / 2).take(count).collect();
    (found.len() == count).then_some(found)
}

/// The same primes, which are used from now on.
pub(crate) fn claim(primes: Vec<u64>, used: &mut Vec<u64>) -> Vec<u64> {
    used.extend(&primes);
    primes
}
