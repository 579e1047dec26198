//! The parameters that tests of this floor share: a small ring with a chain as long and as uneven as that of a real bootstrap.

use crate::params::{Params, ParamsSpec};
use crate::security::{Secret, Security};
use aglet_ring::primes::ntt_primes;

/// The largest unused primes below `2^bits` for a ring.
pub fn primes(log_n: u32, bits: u32, count: usize, used: &[u64]) -> Vec<u64> {
    ntt_primes(f64::from(bits).exp2(), log_n, used, 1 << bits).take(count).collect()
}

/// N = 2^10: 29 primes of 40 to 50 bits in Q, 12 of 50 in P, of which as many serve as stay below 1738 bits.
pub fn spec() -> ParamsSpec {
    let log_n = 10;
    let mut used = Vec::new();
    let mut take = |bits, count| {
        let found = primes(log_n, bits, count, &used);
        used.extend(&found);
        found
    };
    let (p, mut q) = (take(50, 12), take(47, 1));
    for (bits, count) in [(40, 3), (41, 13), (50, 9), (48, 3)] {
        q.extend(take(bits, count));
    }
    let sparse_secret = Some(Secret::FixedWeight(32));
    ParamsSpec {
        log_n,
        secret: Secret::Ternary,
        sparse_secret,
        sparse_special: 1,
        sparse_log_n: None,
        q,
        spare: vec![],
        p,
        max_log_qp: Some(1738.0),
        digits: None,
    }
}

/// [`spec`], checked but for its security: the ring is too small for any.
pub fn params(spec: ParamsSpec) -> Params {
    Params::new(spec, Security::NotChecked).unwrap()
}
