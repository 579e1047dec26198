//! Parameter sets of integers: the content of a preset file, the canonical correction factors, and the rule that a
//! level has room for a product.

use super::noise::Noise;
use super::prime_power::P;
use crate::fault::{IntegerFault, TextFault};
use crate::primes::{claim, largest_below};
use crate::Error;
use aglet_ring::Modulus;
use aglet_rlwe::params::ParamsSpec;
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::{KeySwitchSpec, Params};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// The scheme of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The only one here.
    Integer,
}

/// The claims of a preset; tests recompute every figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// log2(QP), to 0.01.
    pub log_qp: f64,
    /// Classical security of the secret in bits, rounded down to 0.1.
    pub security_bits: f64,
}

/// Primes of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Primes {
    /// log2 of their size.
    pub bits: u32,
    /// How many.
    pub count: usize,
}

/// The primes of a bootstrap, in addition to those of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapPrimes {
    /// Weight of the sparse secret.
    pub sparse_weight: usize,
    /// log2 of the prime that slots_to_coeffs divides by. Users may take it for a product, but cannot bootstrap then.
    pub slots_to_coeffs_bits: u32,
    /// log2 of the prime of the last product.
    pub last_bits: u32,
    /// The primes of digit extraction, modulo the square.
    pub digits: Primes,
    /// log2 of those of coeffs_to_slots, bottom up.
    pub coeffs_to_slots_bits: Vec<u32>,
    /// The primes that replace those of users during a bootstrap.
    pub raised: Primes,
    /// log2 of the largest modulus of a key.
    pub max_log_qp: f64,
}

/// A parameter set as it is written: plain data, not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntegerLiteral {
    /// The scheme.
    pub family: Family,
    /// Short name, as users type it.
    pub name: String,
    /// Where the numbers come from.
    pub source: String,
    /// log2 of the ring degree N.
    pub log_n: u32,
    /// Distribution of the secret.
    #[serde(default)]
    pub secret: Secret,
    /// log2 of the slots, if they are fewer than N and t have room for: messages are polynomials in X^(N/slots).
    #[serde(default)]
    pub log_slots: Option<u32>,
    /// The plaintext modulus t: odd, below 2^31.
    pub plaintext_modulus: u64,
    /// log2 of the lowest prime.
    pub base_bits: u32,
    /// The primes of products, one each.
    pub levels: Primes,
    /// The special primes.
    pub special: Primes,
    /// The primes of the bootstrap; none without one.
    #[serde(default)]
    pub bootstrap: Option<BootstrapPrimes>,
    /// The claims of the preset.
    pub claims: Option<Claims>,
}

impl IntegerLiteral {
    /// Reads the text of a TOML file. Unknown fields are refused.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the reason.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(toml::from_str(text).map_err(TextFault::from)?)
    }
    /// The text that [`IntegerLiteral::from_toml`] reads, without claims.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a literal that cannot be written as text.
    pub fn to_toml(&self) -> Result<String, Error> {
        Ok(toml::to_string(&Self { claims: None, ..self.clone() }).map_err(TextFault::from)?)
    }
    /// What keys and ciphertexts depend on, in 32 bytes: all of the text but name and source.
    fn fingerprint(&self) -> Result<[u8; 32], Error> {
        let nameless = Self { name: String::new(), source: String::new(), ..self.clone() };
        Ok(blake3::derive_key("aglet 2026-11 integer parameter fingerprint v1", nameless.to_toml()?.as_bytes()))
    }
}

/// A checked parameter set. It dereferences to its [`Params`]. Clones share it.
#[derive(Clone)]
pub struct IntegerParams(Arc<Inner>);

struct Inner {
    literal: IntegerLiteral,
    rlwe: Params,
    plain: Modulus,
    /// The canonical correction factor of each level.
    factors: Vec<u64>,
    /// Of a key switch with the keys of users.
    key_switch: Noise,
    fingerprint: [u8; 32],
}

impl PartialEq for IntegerParams {
    /// Equal fingerprints: keys and ciphertexts of one are those of the other.
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for IntegerParams {}

impl Deref for IntegerParams {
    type Target = Params;
    fn deref(&self) -> &Params {
        &self.0.rlwe
    }
}

impl IntegerParams {
    /// Reads and checks the text of a TOML file. Unknown fields are refused.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the reason, and those of [`IntegerParams::new`].
    pub fn from_toml(text: &str, security: Security) -> Result<Self, Error> {
        Self::new(IntegerLiteral::from_toml(text)?, security)
    }

    /// Checks a literal, chooses its primes (the largest unused ones of their sizes) and passes the security gate.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a plaintext modulus that is even or too large, primes that do not exist or are too small for the
    /// product of a level, and those of [`Params::new`].
    pub fn new(literal: IntegerLiteral, security: Security) -> Result<Self, Error> {
        let t = literal.plaintext_modulus;
        if t < 3 || t.is_multiple_of(2) || t >= 1 << 31 {
            return Err(IntegerFault::Plaintext { t }.into());
        }
        if matches!(literal.secret, Secret::Binary | Secret::BlockBinary(_)) {
            return Err(IntegerFault::BinarySecret.into());
        }
        let (levels, special) = (literal.levels.count, literal.special.count);
        if levels > 512 || special > 64 {
            return Err(IntegerFault::Primes { levels, special }.into());
        }
        let bootstrap = literal.bootstrap.as_ref();
        let counts = bootstrap.map(|b| [b.digits.count, b.raised.count, b.coeffs_to_slots_bits.len()]);
        if let Some(found) = counts.into_iter().flatten().find(|&count| count > 64) {
            return Err(IntegerFault::BootstrapPrimes { found }.into());
        }
        let plain = Modulus::new(t)?;
        let room = log_slots(literal.log_n, t);
        if let Some(log_slots) = literal.log_slots.filter(|log_slots| !(6..=room).contains(log_slots)) {
            return Err(IntegerFault::Slots { log_slots, most: room, t }.into());
        }
        let mut used = vec![t];
        let mut take = |bits: u32, count: usize, what: &'static str| {
            let found = largest_below(literal.log_n, bits, count, &used);
            found.map(|primes| claim(primes, &mut used)).ok_or(IntegerFault::FewPrimes { what, bits })
        };
        if let Some(bootstrap) = bootstrap.filter(|_| t != P) {
            return Err(IntegerFault::BootstrapModulus { weight: bootstrap.sparse_weight, served: P, t }.into());
        }
        // The primes modulo the square want to be as large as they can.
        let digits = bootstrap.map_or(Ok(Vec::new()), |b| take(b.digits.bits, b.digits.count, "digit"))?;
        let p = take(literal.special.bits, literal.special.count, "special")?;
        let mut q = take(literal.base_bits, 1, "base")?;
        if let Some(bootstrap) = bootstrap {
            q.extend(take(bootstrap.slots_to_coeffs_bits, 1, "slots_to_coeffs")?);
        }
        q.extend(take(literal.levels.bits, literal.levels.count, "level")?);
        let user_limbs = q.len();
        let mut spare = Vec::new();
        if let Some(bootstrap) = bootstrap {
            q.extend(take(bootstrap.last_bits, 1, "last")?);
            q.extend(digits);
            for &bits in &bootstrap.coeffs_to_slots_bits {
                q.extend(take(bits, 1, "coeffs_to_slots")?);
            }
            spare = take(bootstrap.raised.bits, bootstrap.raised.count, "raised")?;
        }
        let spec = ParamsSpec {
            log_n: literal.log_n,
            secret: literal.secret,
            sparse_secret: bootstrap.map(|b| Secret::FixedWeight(b.sparse_weight)),
            sparse_special: 1,
            sparse_log_n: bootstrap.map(|_| literal.log_slots.unwrap_or(room)),
            q,
            spare,
            p,
            max_log_qp: bootstrap.map(|b| b.max_log_qp),
            digits: None,
        };
        let rlwe = Params::new(spec, security)?;
        check_room(&rlwe, user_limbs, t)?;
        let mut factors = vec![1];
        for &q in rlwe.q()[1..user_limbs].iter().rev() {
            let last = factors[factors.len() - 1];
            factors.push(plain.mul(plain.mul(last, last), plain.inv(plain.reduce(q))));
        }
        factors.reverse();
        let fingerprint = literal.fingerprint()?;
        let key_switch = Noise::key_switch(&rlwe, &KeySwitchSpec::balanced(&rlwe, user_limbs)?);
        let params = Self(Arc::new(Inner { literal, rlwe, plain, factors, key_switch, fingerprint }));
        params.check_bootstrap()?;
        Ok(params)
    }

    /// The parameters without what integers make of them.
    #[must_use]
    pub fn rlwe(&self) -> &Params {
        &self.0.rlwe
    }
    /// The literal that this set was built from.
    #[must_use]
    pub fn literal(&self) -> &IntegerLiteral {
        &self.0.literal
    }
    /// Name of the set.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.literal.name
    }
    /// What keys and ciphertexts depend on, in 32 bytes.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }
    /// The plaintext modulus t.
    #[must_use]
    pub fn plain(&self) -> &Modulus {
        &self.0.plain
    }
    /// The highest level: products one after the other. What stands above in the chain is for bootstraps.
    #[must_use]
    pub fn max_level(&self) -> usize {
        self.0.factors.len() - 1
    }
    /// log2 of the slots of a message, where its numbers stand in slots.
    #[must_use]
    pub fn log_slots(&self) -> u32 {
        self.literal().log_slots.unwrap_or(log_slots(self.log_n(), self.plain().value()))
    }
    /// The primes of the bootstrap, as the literal has them.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a set without one.
    pub fn bootstrap(&self) -> Result<&BootstrapPrimes, Error> {
        let none = || IntegerFault::NoBootstrap { name: self.name().to_string() };
        Ok(self.literal().bootstrap.as_ref().ok_or_else(none)?)
    }
    /// The factor that ciphertexts of a level have, unless they say otherwise: 1 at the top, `f^2 / q` below a level of correction factor f, as
    /// products have.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn correction_factor_at(&self, level: usize) -> u64 {
        self.0.factors[level]
    }
    /// The noise of a key switch at a level: of a relinearization or a rotation.
    #[must_use]
    pub fn key_switch(&self) -> Noise {
        self.0.key_switch
    }
    /// log2 of the modulus of a level.
    #[must_use]
    pub fn log_q_at(&self, level: usize) -> f64 {
        self.q()[..=level].iter().map(|&q| (q as f64).log2()).sum()
    }
    /// Bits of the modulus of a level that a message with this noise leaves free.
    #[must_use]
    pub fn budget_at(&self, level: usize, noise: Noise) -> f64 {
        noise.budget(self, self.log_q_at(level), self.plain().value())
    }
}

/// log2 of the slots that a ring has modulo t: as many as t has roots for.
fn log_slots(log_n: u32, t: u64) -> u32 {
    log_n.min((t - 1).trailing_zeros().saturating_sub(1))
}

/// Results that a level must take a product of: sums of so many products, each with the noise of one rounding.
const SUMMED: f64 = 4.0;

/// Every level has room for the product of sums of a few products, and the lowest prime holds a message beside their noise.
fn check_room(params: &Params, user_limbs: usize, t: u64) -> Result<(), IntegerFault> {
    let sum = Noise::rounding(params).times(SUMMED);
    let short = params.q()[1..user_limbs].iter().map(|&q| (q, sum.excess(sum, t, q))).find(|(_, bits)| *bits > 0.0);
    if let Some((prime, bits)) = short {
        return Err(IntegerFault::SmallLevel { prime, bits, t });
    }
    let room = sum.budget(params, (params.q()[0] as f64).log2(), t);
    match room > 0.0 {
        true => Ok(()),
        false => Err(IntegerFault::SmallBase { bits: -room, t }),
    }
}

impl std::fmt::Debug for IntegerParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IntegerParams {{ name: {:?}, t: {}, {:?} }}", self.name(), self.plain().value(), self.rlwe())
    }
}
