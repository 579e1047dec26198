//! Parameters of RLWE: a ring, a chain of primes with special primes beside it, the secrets, and the digits of key switching.
//!
//! What the primes are for, and what scales or plaintexts they carry, is the business of a scheme: here the chain Q is an
//! ordered list, from whose top primes leave one after the other. *Spare primes* stand beside it: subsets of the parameters
//! ([`Params::subset`]) may take them in place of others.

mod digits;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use aglet_ring::primes::is_prime;
use aglet_ring::sample::GAUSSIAN_SIGMA;

use crate::error::Error;
use crate::fault::{ChainFault, SecretFault};
use crate::security::{self, Secret, Security, SecurityReport};
use digits::MAX_SOURCES;

/// What parameters are made of: plain data, nothing checked. [`Params::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamsSpec {
    /// log2 of the ring degree N, from 6 to 17.
    pub log_n: u32,
    /// Distribution of the main secret.
    pub secret: Secret,
    /// Distribution of a second, sparse secret, which appears at the lowest modulus only (eprint 2022/024); none without
    /// bootstrapping.
    pub sparse_secret: Option<Secret>,
    /// Special primes beside `q[0]` in the modulus that the sparse secret appears under: 1, or 0 where no key to it has any.
    pub sparse_special: usize,
    /// log2 of the degree n of the subring of X^(N/n) that the sparse secret is drawn from, where it is as secure as in a ring of that
    /// degree: a sample of the ring is N/n of the smaller one. Without it, the whole ring.
    pub sparse_log_n: Option<u32>,
    /// The primes of Q, bottom to top: distinct from all others, `= 1 mod 2N`, below 2^61.
    pub q: Vec<u64>,
    /// Primes beside Q that subsets may take. With any of them there must be `max_log_qp`.
    pub spare: Vec<u64>,
    /// The special primes, whose product is P: at least one.
    pub p: Vec<u64>,
    /// log2 of the largest modulus QP that a key may have, which the security gate looks at. There may be more special primes
    /// than all of Q can take: keys for fewer limbs take as many as fit, and need fewer digits. Without it all special primes
    /// serve all limbs.
    pub max_log_qp: Option<f64>,
    /// The limbs of every digit of a key switch at full level; without them, limbs are grouped by their bits.
    pub digits: Option<Vec<Vec<usize>>>,
}

/// Checked, immutable parameters. Cloning shares them.
#[derive(Clone)]
pub struct Params(Arc<Inner>);

struct Inner {
    spec: ParamsSpec,
    log2_q: Vec<f64>,
    log2_p: Vec<f64>,
    gate: Security,
    security: SecurityReport,
    sparse_security: Option<SecurityReport>,
    /// For each limb of Q its prime in the whole set.
    prime_indices: Vec<usize>,
}

fn log2(primes: &[u64]) -> Vec<f64> {
    primes.iter().map(|&p| (p as f64).log2()).collect()
}

impl ParamsSpec {
    fn sparse_log_n(&self) -> u32 {
        self.sparse_log_n.unwrap_or(self.log_n)
    }
    /// Checks everything but security and the size of digits.
    fn check(&self) -> Result<(), Error> {
        if !(6..=17).contains(&self.log_n) {
            return Err(ChainFault::Degree { log_n: self.log_n }.into());
        }
        let n = 1usize << self.log_n;
        self.secret.check(n)?;
        if let Some(found) = self.sparse_log_n.filter(|log_n| !(6..=self.log_n).contains(log_n)) {
            return Err(SecretFault::Subring { found, most: self.log_n }.into());
        }
        self.sparse_secret.map_or(Ok(()), |secret| secret.check(1 << self.sparse_log_n()))?;
        let mut all: Vec<u64> = [&self.q[..], &self.spare, &self.p].concat();
        if let Some(&modulus) = all.iter().find(|&&p| p >= 1 << 61 || p % (2 * n as u64) != 1 || !is_prime(p)) {
            return Err(ChainFault::NotPrime { modulus, log_2n: self.log_n + 1 }.into());
        }
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ChainFault::Twice { prime: pair[0] }.into());
        }
        if self.sparse_special > 1 {
            return Err(SecretFault::Special { found: self.sparse_special }.into());
        }
        if self.q.is_empty() || self.p.is_empty() {
            return Err(ChainFault::Empty { q: self.q.len(), p: self.p.len() }.into());
        }
        if self.p.len() >= MAX_SOURCES {
            // A division by P and one prime of the chain converts from all of them.
            return Err(ChainFault::Special { found: self.p.len(), limit: MAX_SOURCES }.into());
        }
        if !self.spare.is_empty() && self.max_log_qp.is_none() {
            return Err(ChainFault::Spare { found: self.spare.len() }.into());
        }
        if let Some(found) = self.max_log_qp.filter(|bits| !(*bits > 0.0 && bits.is_finite())) {
            return Err(ChainFault::MaxLogQp { found }.into());
        }
        self.digits.as_ref().map_or(Ok(()), |named| digits::check(named, self.q.len()))
    }
}

impl Params {
    /// Checks what is given and passes the security gate: the main secret at the largest QP of a key, the sparse secret at
    /// `q[0] p[0]`, or at `q[0]` where it appears there alone ([`ParamsSpec::sparse_special`]).
    ///
    /// # Errors
    /// [`Error::BadParameters`] if the data contradicts itself, [`Error::InsecureParameters`] or [`Error::UnknownSecurity`] if
    /// 128 bits are asked for and not reached.
    pub fn new(spec: ParamsSpec, gate: Security) -> Result<Self, Error> {
        spec.check()?;
        let (log2_q, log2_p) = (log2(&spec.q), log2(&spec.p));
        let log_qp = spec.max_log_qp.unwrap_or_else(|| log2_q.iter().chain(&log2_p).sum());
        let report = |log_n: u32, log_q, secret| match gate {
            Security::Bits128 => security::check(1 << log_n, log_q, GAUSSIAN_SIGMA, secret),
            Security::NotChecked => Ok(SecurityReport::new(1 << log_n, log_q, GAUSSIAN_SIGMA, secret)),
        };
        let security = report(spec.log_n, log_qp, spec.secret)?;
        let shown = log2_q[0] + log2_p[..spec.sparse_special].iter().sum::<f64>();
        let sparse = |secret| report(spec.sparse_log_n(), shown, secret);
        let sparse_security = spec.sparse_secret.map(sparse).transpose()?;
        let prime_indices = (0..spec.q.len()).collect();
        let params = Params(Arc::new(Inner { spec, log2_q, log2_p, gate, security, sparse_security, prime_indices }));
        let limbs = params.q().len();
        match params.special_limbs_within(limbs) {
            0 => Err(ChainFault::NoSpecial { max_log_qp: log_qp }.into()),
            most => params.digits(limbs, most).map(|_| params),
        }
    }

    /// The same set on some of its primes, in the order given, and all special primes. Indices count Q bottom to top; those
    /// from `q().len()` up are [`Params::spare`].
    ///
    /// Only what is counted in primes ([`Params::q`], [`Params::digits`], [`Params::log_q`]) is the subset's; named digits are
    /// the whole chain's. Nothing here is less secure than the whole.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a prime that does not exist or stands twice, or none at all.
    pub fn subset(&self, primes: &[usize]) -> Result<Self, Error> {
        let whole = &self.0;
        let all = [&whole.spec.q[..], &whole.spec.spare].concat();
        let twice = primes.iter().enumerate().any(|(i, l)| primes[..i].contains(l));
        if primes.is_empty() || twice || primes.iter().any(|&l| l >= all.len()) {
            return Err(ChainFault::Subset { primes: all.len() }.into());
        }
        if primes.iter().copied().eq(0..whole.spec.q.len()) {
            return Ok(self.clone());
        }
        let q: Vec<u64> = primes.iter().map(|&l| all[l]).collect();
        Ok(Params(Arc::new(Inner {
            log2_q: log2(&q),
            log2_p: whole.log2_p.clone(),
            gate: whole.gate,
            security: whole.security,
            sparse_security: whole.sparse_security,
            prime_indices: primes.iter().map(|&l| whole.prime_indices.get(l).copied().unwrap_or(l)).collect(),
            spec: ParamsSpec { q, spare: Vec::new(), digits: None, ..whole.spec.clone() },
        })))
    }

    /// For each limb of Q the index of its prime in the whole set, which counts Q and then the spare primes: `0, 1, 2, ...` unless
    /// this is a [`Params::subset`].
    #[must_use]
    pub fn prime_indices(&self) -> &[usize] {
        &self.0.prime_indices
    }

    /// log2 of the ring degree.
    #[must_use]
    pub fn log_n(&self) -> u32 {
        self.0.spec.log_n
    }

    /// Ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n()
    }
    /// Degree of the subring that the sparse secret is in: N if it is in no smaller one.
    #[must_use]
    pub fn sparse_n(&self) -> usize {
        1 << self.0.spec.sparse_log_n()
    }

    /// Primes of Q, bottom to top.
    #[must_use]
    pub fn q(&self) -> &[u64] {
        &self.0.spec.q
    }

    /// Primes beside Q that subsets may take; none in a [`Params::subset`].
    #[must_use]
    pub fn spare(&self) -> &[u64] {
        &self.0.spec.spare
    }

    /// The special primes, whose product is P.
    #[must_use]
    pub fn p(&self) -> &[u64] {
        &self.0.spec.p
    }

    /// log2 of Q, from the primes.
    #[must_use]
    pub fn log_q(&self) -> f64 {
        self.0.log2_q.iter().sum()
    }

    /// log2 of P, from the primes.
    #[must_use]
    pub fn log_p(&self) -> f64 {
        self.0.log2_p.iter().sum()
    }

    /// log2 of the largest modulus of a key: [`ParamsSpec::max_log_qp`], or QP from the primes.
    #[must_use]
    pub fn log_qp(&self) -> f64 {
        self.0.security.log_q
    }

    /// Distribution of the main secret.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.0.spec.secret
    }

    /// Distribution of the sparse secret; `None` for a set without one.
    #[must_use]
    pub fn sparse_secret(&self) -> Option<Secret> {
        self.0.spec.sparse_secret
    }

    /// Special primes in the modulus that the sparse secret appears under: [`ParamsSpec::sparse_special`].
    #[must_use]
    pub fn sparse_special(&self) -> usize {
        self.0.spec.sparse_special
    }

    /// What was asked of the security gate.
    #[must_use]
    pub fn gate(&self) -> Security {
        self.0.gate
    }

    /// Security of the main secret at QP.
    #[must_use]
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// Security of the sparse secret at the modulus that it appears under; `None` for a set without one.
    #[must_use]
    pub fn sparse_security(&self) -> Option<&SecurityReport> {
        self.0.sparse_security.as_ref()
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Params {{ log_n: {}, limbs: {} + {}, log_qp: {:.2}, security: {}{} }}",
            self.log_n(),
            self.q().len(),
            self.p().len(),
            self.log_qp(),
            self.security(),
            if self.gate() == Security::NotChecked { ", NOT CHECKED" } else { "" },
        )
    }
}
