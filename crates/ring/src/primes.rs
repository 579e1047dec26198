//! Primes for the negacyclic number-theoretic transform.
//!
//! The transform over `Z_q[X]/(X^N + 1)` needs a primitive 2N-th root of unity modulo `q`, so `q = 1 mod 2N`.
//! Which of these primes a chain takes is decided by the caller through a wanted size; the search is deterministic, so a
//! parameter set names its primes without listing them.

/// The first twelve primes: as Miller-Rabin bases they decide primality of every `n < 2^64` without error
/// (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", 2015).
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// `a * b mod n` for `n > 0`.
fn mul_mod(a: u64, b: u64, n: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(n)) as u64
}

/// `a^e mod n` for `n > 0`.
fn pow_mod(a: u64, mut e: u64, n: u64) -> u64 {
    let mut result = 1 % n;
    let mut square = a % n;
    while e > 0 {
        if e & 1 == 1 {
            result = mul_mod(result, square, n);
        }
        square = mul_mod(square, square, n);
        e >>= 1;
    }
    result
}

/// Whether `n - 1 = odd * 2^twos` passes the strong probable-prime test to base `a`.
fn is_strong_probable_prime(n: u64, a: u64, odd: u64, twos: u32) -> bool {
    let mut x = pow_mod(a, odd, n);
    if x == 1 || x == n - 1 {
        return true;
    }
    for _ in 1..twos {
        x = mul_mod(x, x, n);
        if x == n - 1 {
            return true;
        }
    }
    false
}

/// Whether `n` is prime: exact for every 64-bit number (deterministic Miller-Rabin). Variable time; `n` is public.
///
/// ```
/// use aglet_ring::primes::is_prime;
/// assert!(is_prime((1 << 61) - 1));
/// assert!(!is_prime(3_215_031_751)); // a strong pseudoprime to the bases 2, 3, 5 and 7
/// ```
#[must_use]
pub fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for p in BASES {
        if n.is_multiple_of(p) {
            return n == p;
        }
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    BASES.iter().all(|&a| is_strong_probable_prime(n, a, odd, twos))
}

/// The primes `p = 1 mod 2N` below a bound, in order of their distance to a wanted size; made by [`ntt_primes`].
#[derive(Clone, Debug)]
pub struct NttPrimes<'a> {
    target: u64,
    step: u64,
    max_exclusive: u64,
    exclude: &'a [u64],
    below: Option<u64>,
    above: Option<u64>,
}

/// Primes `p = 1 mod 2N`, `N = 2^log_n`, nearest to `target` first.
///
/// * `target`: the wanted size, as a number (not its logarithm); rounded to an integer first.
/// * `exclude`: primes that are taken already; they are skipped.
/// * `max_exclusive`: every prime is below this bound. With `target = max_exclusive = 2^b` the result is the primes below
///   `2^b` in falling order.
///
/// At equal distance the smaller prime comes first. The iterator ends when no candidate is left; it is empty if
/// `2N >= 2^63`. Variable time; everything here is public.
///
/// ```
/// use aglet_ring::primes::ntt_primes;
/// let bound = 1u64 << 50;
/// let p = ntt_primes(bound as f64, 16, &[], bound).next().unwrap();
/// assert!(p < bound && p % (1 << 17) == 1);
/// ```
#[must_use]
pub fn ntt_primes(target: f64, log_n: u32, exclude: &[u64], max_exclusive: u64) -> NttPrimes<'_> {
    // A float-to-integer cast saturates and sends NaN to 0, so every input leads to a search that ends.
    let target = target.round() as u64;
    let mut primes = NttPrimes { target, step: 0, max_exclusive, exclude, below: None, above: None };
    if log_n >= 62 || max_exclusive < 2 {
        return primes;
    }
    let step = 1u64 << (log_n + 1);
    primes.step = step;
    let start = target.min(max_exclusive - 1).max(1);
    let first = (start - 1) / step * step + 1;
    primes.below = (first > 1).then_some(first);
    primes.above = first.checked_add(step).filter(|&c| c < max_exclusive);
    primes
}

impl NttPrimes<'_> {
    /// The nearest candidate not yet seen, prime or not.
    fn next_candidate(&mut self) -> Option<u64> {
        let take_below = match (self.below, self.above) {
            (None, None) => return None,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(below), Some(above)) => self.target.abs_diff(below) <= self.target.abs_diff(above),
        };
        let step = self.step;
        if take_below {
            let candidate = self.below?;
            self.below = candidate.checked_sub(step).filter(|&c| c > 1);
            Some(candidate)
        } else {
            let candidate = self.above?;
            let max = self.max_exclusive;
            self.above = candidate.checked_add(step).filter(|&c| c < max);
            Some(candidate)
        }
    }
}

impl Iterator for NttPrimes<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let candidate = self.next_candidate()?;
            if !self.exclude.contains(&candidate) && is_prime(candidate) {
                return Some(candidate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_trial_division() {
        let by_division = |n: u64| n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        for n in 0..20_000 {
            assert_eq!(is_prime(n), by_division(n), "{n}");
        }
    }

    #[test]
    fn known_hard_numbers() {
        for n in [18_446_744_073_709_551_557, (1 << 61) - 1, 0xffff_ffff_0000_0001] {
            assert!(is_prime(n), "{n} is prime");
        }
        // Strong pseudoprimes to the first 4, 7, 9 and 11 prime bases, and a square of a prime.
        for n in [3_215_031_751, 341_550_071_728_321, 3_825_123_056_546_413_051, 4_294_967_291 * 4_294_967_291] {
            assert!(!is_prime(n), "{n} is composite");
        }
    }

    #[test]
    fn nearest_first_and_never_excluded() {
        let target = (1u64 << 40) as f64;
        let all: Vec<u64> = ntt_primes(target, 16, &[], 1 << 61).take(20).collect();
        let distance = |p: &u64| p.abs_diff(1 << 40);
        assert!(all.windows(2).all(|w| distance(&w[0]) <= distance(&w[1])));
        assert!(all.iter().all(|&p| is_prime(p) && p % (1 << 17) == 1));
        assert!(all.iter().any(|&p| p < 1 << 40) && all.iter().any(|&p| p > 1 << 40));
        let rest: Vec<u64> = ntt_primes(target, 16, &all[..5], 1 << 61).take(15).collect();
        assert_eq!(rest, all[5..]);
    }

    #[test]
    fn stays_below_the_bound_and_ends() {
        let bound = 1u64 << 20;
        let found: Vec<u64> = ntt_primes(1e30, 10, &[], bound).collect();
        let expected: Vec<u64> = (1..bound / 2048).rev().map(|k| k * 2048 + 1).filter(|&p| is_prime(p)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn odd_inputs_give_no_primes_or_end() {
        assert_eq!(ntt_primes(1e9, 62, &[], u64::MAX).next(), None);
        assert_eq!(ntt_primes(1e9, 4, &[], 0).next(), None);
        assert_eq!(ntt_primes(f64::NAN, 2, &[], 18).collect::<Vec<_>>(), [17]);
        assert!(ntt_primes(-1.0, 3, &[], 100).all(|p| p % 16 == 1));
    }
}
