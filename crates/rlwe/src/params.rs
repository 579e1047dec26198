//! Parameter sets: a checked literal, its primes, its levels and the digits of its key switching.
//!
//! The chain of primes of Q runs bottom to top: base, slots_to_coeffs, message, eval_mod, coeffs_to_slots. A *chain level* is
//! the number of Q limbs minus one. A *user level* counts the multiplications left to the user; user level 0 lies above the
//! hidden slots_to_coeffs primes, so user level `l` is chain level `hidden_levels() + l`.

mod chain;
mod literal;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use literal::{Claims, ModuliGroup, ParamsLiteral, Role};

use crate::error::Error;
use crate::security::{self, Secret, Security, SecurityReport};
use chain::Chain;
use literal::MAX_SOURCES;

/// Bits by which every digit stays below P. A digit as large as P would make the noise of a key switch three times that of
/// a rescale (tools/noise_eval_mod.py: 0.4 bits of a bootstrap); with two bits to spare it disappears beside it.
const DIGIT_SLACK: f64 = 2.0;

/// A checked, immutable parameter set. Cloning shares it.
#[derive(Clone)]
pub struct Params(Arc<Inner>);

struct Inner {
    literal: ParamsLiteral,
    security: Security,
    chain: Chain,
    log2_q: Vec<f64>,
    log2_p: Vec<f64>,
    report: SecurityReport,
    ephemeral_report: Option<SecurityReport>,
    /// Named digits of this chain.
    digits: Option<Vec<Vec<usize>>>,
    /// The limbs of a subset, as the whole set counts them.
    limbs: Option<Vec<usize>>,
    fingerprint: [u8; 32],
}

impl Params {
    /// Checks a literal, chooses its primes (the rule stands in `params/chain.rs`) and passes the security gate: the main
    /// secret at the largest QP of a key, the ephemeral secret at `q0 * p'` with p' the first special prime.
    ///
    /// Deterministic: the same literal gives the same primes everywhere. Takes milliseconds.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if the literal contradicts itself or the primes do not exist, [`Error::InsecureParameters`]
    /// if 128 bits are asked for and not reached.
    pub fn new(literal: ParamsLiteral, security: Security) -> Result<Self, Error> {
        literal.check()?;
        let chain = Chain::new(&literal)?;
        let log2 = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).collect::<Vec<f64>>();
        let (log2_q, log2_p) = (log2(&chain.q), log2(&chain.p));
        let log_qp = literal.max_log_qp.unwrap_or_else(|| log2_q.iter().chain(&log2_p).sum::<f64>());
        security::check(literal.log_n, log_qp, literal.secret, security)?;
        let report = SecurityReport::new(literal.log_n, log_qp, literal.secret);
        let mut ephemeral_report = None;
        if let Some(h) = literal.ephemeral_weight {
            let (log_qp, secret) = (log2_q[0] + log2_p[0], Secret::FixedWeight(h));
            security::check(literal.log_n, log_qp, secret, security)?;
            ephemeral_report = Some(SecurityReport::new(literal.log_n, log_qp, secret));
        }
        if let Some(digits) = &literal.digits {
            let mut limbs: Vec<usize> = digits.concat();
            limbs.sort_unstable();
            if limbs != (0..log2_q.len()).collect::<Vec<_>>() || digits.iter().any(Vec::is_empty) {
                return Err(Error::bad_parameters("the digits do not name every limb of Q exactly once"));
            }
            if let Some(long) = digits.iter().find(|d| d.len() > MAX_SOURCES) {
                return Err(Error::bad_parameters(format!(
                    "a digit of {} limbs is longer than a base conversion takes; name digits of at most {MAX_SOURCES}",
                    long.len()
                )));
            }
        }
        let fingerprint = fingerprint(&literal, &chain);
        let digits = literal.digits.clone();
        let params = Params(Arc::new(Inner {
            literal,
            security,
            chain,
            log2_q,
            log2_p,
            report,
            ephemeral_report,
            digits,
            limbs: None,
            fingerprint,
        }));
        let limbs = params.q().len();
        match params.special_limbs_within(limbs) {
            0 => {
                return Err(Error::bad_parameters(
                    "max_log_qp leaves no special prime beside the whole chain; make it larger",
                ))
            }
            most => params.digits(limbs, most)?,
        };
        Ok(params)
    }

    /// [`ParamsLiteral::from_toml`], then [`Params::new`].
    ///
    /// # Errors
    /// As those two.
    pub fn from_toml(text: &str, security: Security) -> Result<Self, Error> {
        Params::new(ParamsLiteral::from_toml(text)?, security)
    }

    /// The same set on some limbs of its chain, in the order given, and all special primes: what a bootstrap raises to. Limbs
    /// from `q().len()` up are those of [`Params::raised`].
    ///
    /// Roles, levels and scales are those of the whole set; only the primes, and what is counted in them ([`Params::q`],
    /// [`Params::digits`], [`Params::log_q`]), are the subset's. Nothing here is less secure than the whole.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a limb that does not exist or stands twice, or no limb at all.
    pub fn subset(&self, limbs: &[usize]) -> Result<Self, Error> {
        let all = &self.0;
        let primes: Vec<u64> = all.chain.q.iter().chain(&all.chain.raised).copied().collect();
        let twice = limbs.iter().enumerate().any(|(i, l)| limbs[..i].contains(l));
        if limbs.is_empty() || twice || limbs.iter().any(|&l| l >= primes.len()) {
            return Err(Error::bad_parameters("the limbs of a subset must exist, each once"));
        }
        if limbs.iter().copied().eq(0..all.log2_q.len()) {
            return Ok(self.clone());
        }
        let q: Vec<u64> = limbs.iter().map(|&l| primes[l]).collect();
        let log2_q = q.iter().map(|&q| (q as f64).log2()).collect();
        let chain = Chain { q, raised: Vec::new(), p: all.chain.p.clone(), scales: all.chain.scales.clone() };
        let whole = all.limbs.as_ref();
        Ok(Params(Arc::new(Inner {
            literal: all.literal.clone(),
            security: all.security,
            chain,
            log2_q,
            log2_p: all.log2_p.clone(),
            report: all.report,
            ephemeral_report: all.ephemeral_report,
            digits: None,
            limbs: Some(limbs.iter().map(|&l| whole.map_or(l, |whole| whole[l])).collect()),
            fingerprint: all.fingerprint,
        })))
    }

    /// The limbs of this chain as the whole set counts them: all in order unless this is a [`Params::subset`].
    #[must_use]
    pub fn limbs(&self) -> Vec<usize> {
        self.0.limbs.clone().unwrap_or_else(|| (0..self.q().len()).collect())
    }

    /// The literal this set was built from.
    #[must_use]
    pub fn literal(&self) -> &ParamsLiteral {
        &self.0.literal
    }

    /// Name of the set.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.literal.name
    }

    /// log2 of the ring degree.
    #[must_use]
    pub fn log_n(&self) -> u32 {
        self.0.literal.log_n
    }

    /// Ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n()
    }

    /// Number of complex slots, N/2.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// Primes of Q, bottom to top: `q()[i]` is the prime that a rescale at chain level `i` divides by.
    #[must_use]
    pub fn q(&self) -> &[u64] {
        &self.0.chain.q
    }

    /// Primes that stand for message primes while a bootstrap is above them; none in a [`Params::subset`].
    #[must_use]
    pub fn raised(&self) -> &[u64] {
        &self.0.chain.raised
    }

    /// The special primes, whose product is P.
    #[must_use]
    pub fn p(&self) -> &[u64] {
        &self.0.chain.p
    }

    /// Limb indices of a role: into [`Params::p`] for [`Role::Special`], into [`Params::q`] and what follows it,
    /// [`Params::raised`], for every other. Empty if the set has no such primes.
    #[must_use]
    pub fn role(&self, role: Role) -> Range<usize> {
        let count = |wanted: &dyn Fn(Role) -> bool| -> usize {
            self.0.literal.moduli.iter().filter(|g| wanted(g.role)).map(|g| g.count).sum()
        };
        let start = if role == Role::Special { 0 } else { count(&|r| r < role) };
        start..start + count(&|r| r == role)
    }

    /// Number of chain levels hidden below user level 0 (the slots_to_coeffs primes).
    #[must_use]
    pub fn hidden_levels(&self) -> usize {
        self.role(Role::SlotsToCoeffs).len()
    }

    /// The highest user level: the number of message primes.
    #[must_use]
    pub fn max_level(&self) -> usize {
        self.role(Role::Message).len()
    }

    /// Chain level of a user level, `hidden_levels() + user_level`. Its number of limbs is one more. No range check.
    #[must_use]
    pub fn chain_level(&self, user_level: usize) -> usize {
        self.hidden_levels() + user_level
    }

    /// Canonical scale of a user level: `2^bits` at [`Params::max_level`] (and, for lack of another, above it), then
    /// `scale(l-1) = scale(l)^2 / q_l`, so that products of canonical ciphertexts are canonical again after a rescale.
    #[must_use]
    pub fn scale_at(&self, user_level: usize) -> f64 {
        self.0.chain.scales[user_level.min(self.max_level())]
    }

    /// log2 of the wanted message scale: the size of the message primes.
    #[must_use]
    pub fn scale_bits(&self) -> u32 {
        self.0.literal.bits_of(Role::Message)
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

    /// log2 of the largest modulus of a key: [`ParamsLiteral::max_log_qp`], or QP from the primes.
    #[must_use]
    pub fn log_qp(&self) -> f64 {
        self.0.report.log_qp
    }

    /// Distribution of the main secret.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.0.literal.secret
    }

    /// Weight of the ephemeral secret; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn ephemeral_weight(&self) -> Option<usize> {
        self.0.literal.ephemeral_weight
    }

    /// log2 of the message ratio of a bootstrap; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn message_ratio_log2(&self) -> Option<f64> {
        self.0.literal.message_ratio_log2
    }

    /// User level that a regular bootstrap leaves; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn regular_level(&self) -> Option<usize> {
        self.0.literal.regular_level
    }

    /// What was asked of the security gate.
    #[must_use]
    pub fn gate(&self) -> Security {
        self.0.security
    }

    /// Security of the main secret at QP.
    #[must_use]
    pub fn security(&self) -> &SecurityReport {
        &self.0.report
    }

    /// Security of the ephemeral secret at `q0 * p'`; `None` for a set that cannot bootstrap.
    #[must_use]
    pub fn ephemeral_security(&self) -> Option<&SecurityReport> {
        self.0.ephemeral_report.as_ref()
    }

    /// BLAKE3 of everything that keys and ciphertexts depend on: ring, secrets, message ratio and primes with their roles.
    /// Name, source, claims and gate do not enter: sets that differ only there are interchangeable.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }

    /// The bit-balanced digits of a key switch: the limbs of each, covering the first `q_limbs` primes of Q; the product of
    /// a digit stays two bits below the product of the first `p_limbs` special primes.
    ///
    /// They are those of the literal, cut at `q_limbs`, where these fit; otherwise consecutive limbs, grouped greedily, or
    /// limbs spread over the chain where that saves a digit.
    /// Grouping by bits instead of by count is what keeps the number of digits small in a chain of unequal primes
    /// (ckks.md section 2.5). No digit has more limbs than a base conversion takes.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if a count is zero or too large, or if one prime alone exceeds the special product.
    pub fn digits(&self, q_limbs: usize, p_limbs: usize) -> Result<Vec<Vec<usize>>, Error> {
        let (all_q, all_p) = (self.q().len(), self.special_limbs_within(q_limbs));
        if !(1..=all_q).contains(&q_limbs) || !(1..=all_p).contains(&p_limbs) {
            return Err(Error::bad_parameters(format!(
                "a key over {q_limbs} limbs of Q and {p_limbs} of P does not exist; choose 1 to {all_q} and 1 to {all_p}"
            )));
        }
        let log2_q = &self.0.log2_q;
        let room = self.0.log2_p[..p_limbs].iter().sum::<f64>() - DIGIT_SLACK;
        // A digit of one prime cannot be made smaller: it need only not exceed P.
        let whole = room + DIGIT_SLACK + 1e-9;
        let named = self.0.digits.iter().flat_map(|digits| {
            let cut = |d: &Vec<usize>| d.iter().copied().filter(|&i| i < q_limbs).collect::<Vec<_>>();
            let cut: Vec<_> = digits.iter().map(cut).filter(|d| !d.is_empty()).collect();
            let bits = |d: &Vec<usize>| d.iter().map(|&i| log2_q[i]).sum::<f64>();
            cut.iter().all(|d| bits(d) <= if d.len() == 1 { whole } else { room }).then_some(cut)
        });
        let fewest = named.chain([self.consecutive(q_limbs, room, whole)?]).min_by_key(Vec::len).unwrap_or_default();
        Ok(match spread(&log2_q[..q_limbs], room) {
            Some(fewer) if fewer.len() < fewest.len() => fewer,
            _ => fewest,
        })
    }

    /// Consecutive limbs, as many in a digit as there is room for.
    fn consecutive(&self, q_limbs: usize, room: f64, whole: f64) -> Result<Vec<Vec<usize>>, Error> {
        let (mut digits, mut digit, mut bits) = (Vec::new(), Vec::new(), 0.0);
        for (i, log2) in self.0.log2_q[..q_limbs].iter().enumerate() {
            if *log2 > whole {
                return Err(Error::bad_parameters(format!(
                    "limb {i} of Q ({log2:.2} bits) is larger than the special modulus ({whole:.2}); make the special primes \
                     larger or more"
                )));
            }
            if (bits + log2 > room && !digit.is_empty()) || digit.len() == MAX_SOURCES {
                digits.push(std::mem::take(&mut digit));
                bits = 0.0;
            }
            digit.push(i);
            bits += log2;
        }
        digits.push(digit);
        Ok(digits)
    }

    /// The most special primes that a key over the first `q_limbs` primes of Q may have: [`ParamsLiteral::max_log_qp`] bounds the
    /// modulus of every key. All of them without such a bound.
    #[must_use]
    pub fn special_limbs_within(&self, q_limbs: usize) -> usize {
        let Some(most) = self.0.literal.max_log_qp else { return self.p().len() };
        let mut bits = self.0.log2_q.iter().take(q_limbs).sum::<f64>();
        let fits = |log2: &&f64| {
            bits += **log2;
            bits <= most
        };
        self.0.log2_p.iter().take_while(fits).count()
    }

    /// The smallest number of special primes that splits the first `q_limbs` primes of Q into as few digits as all of them
    /// do. Keys of low levels are shorter and faster with it. A count out of range gives all special primes.
    #[must_use]
    pub fn special_limbs_for(&self, q_limbs: usize) -> usize {
        let all = self.special_limbs_within(q_limbs);
        let fewest = self.digits(q_limbs, all).map(|d| d.len());
        let enough = |&p_limbs: &usize| self.digits(q_limbs, p_limbs).map(|d| d.len()) == fewest;
        (1..all).find(enough).unwrap_or(all)
    }
}

/// The fewest digits that the bits allow, if the limbs can be spread so: the top digit takes consecutive limbs, so that it is
/// gone after few levels; the others share the rest evenly, the largest limbs first.
fn spread(log2_q: &[f64], room: f64) -> Option<Vec<Vec<usize>>> {
    let count = (log2_q.iter().sum::<f64>() / room).ceil() as usize;
    let (mut top, mut bits) = (log2_q.len(), 0.0);
    while count > 1 && top > 0 && bits + log2_q[top - 1] <= room && log2_q.len() - top < MAX_SOURCES {
        top -= 1;
        bits += log2_q[top];
    }
    let mut rest: Vec<usize> = (0..top).collect();
    rest.sort_by(|&i, &j| log2_q[j].total_cmp(&log2_q[i]));
    let mut digits = vec![(0f64, Vec::new()); if count > 1 { count - 1 } else { 1 }];
    for i in rest {
        let (bits, digit) = digits.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0))?;
        *bits += log2_q[i];
        digit.push(i);
    }
    let fits = digits.iter().all(|(bits, d)| *bits <= room && d.len() <= MAX_SOURCES && !d.is_empty());
    let mut digits: Vec<Vec<usize>> = digits.into_iter().map(|d| d.1).collect();
    digits.iter_mut().for_each(|d| d.sort_unstable());
    // A low level has the first digits only: they begin with the lowest limbs.
    digits.sort();
    digits.extend((count > 1).then(|| (top..log2_q.len()).collect()));
    fits.then_some(digits)
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Params {{ name: {:?}, log_n: {}, limbs: {} + {}, log_qp: {:.2}, security: {}{} }}",
            self.name(),
            self.log_n(),
            self.q().len(),
            self.p().len(),
            self.log_qp(),
            self.security(),
            if self.gate() == Security::NotChecked { ", NOT CHECKED" } else { "" },
        )
    }
}

impl PartialEq for Params {
    /// Equal fingerprints: keys and ciphertexts of one are those of the other.
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for Params {}

/// BLAKE3 over little-endian words, each list preceded by its length, so that no two sets share an encoding.
fn fingerprint(literal: &ParamsLiteral, chain: &Chain) -> [u8; 32] {
    let secret = match literal.secret {
        Secret::Ternary => 0,
        Secret::FixedWeight(h) => h as u64,
    };
    let mut words = vec![
        u64::from(literal.log_n),
        secret,
        literal.ephemeral_weight.map_or(0, |h| h as u64),
        literal.sparse_switch_bits.map_or(0, u64::from),
        literal.message_ratio_log2.map_or(u64::MAX, f64::to_bits),
        literal.moduli.len() as u64,
    ];
    for g in &literal.moduli {
        words.extend([g.role as u64, u64::from(g.bits), g.count as u64]);
    }
    words.extend(literal.max_log_qp.map(f64::to_bits));
    for digit in literal.digits.iter().flatten() {
        words.push(digit.len() as u64);
        words.extend(digit.iter().map(|&i| i as u64));
    }
    for primes in [&chain.q, &chain.raised, &chain.p] {
        words.push(primes.len() as u64);
        words.extend(primes);
    }
    let mut hasher = blake3::Hasher::new_derive_key("aglet 2026-11 parameter fingerprint v1");
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
