//! Parameter sets of FHEW: the content of a preset file, and the form that has passed the security check.

use super::message::{Domain, Message};
use crate::fault::TextFault;
use crate::Error;
use aglet_ring::blind::Gadget;
use aglet_rlwe::lwe::{log2_tail, LweParams, LweSpec, Method};
use aglet_rlwe::security::{Secret, Security};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The scheme of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The only one here.
    Fhew,
}

/// The claims of a preset; tests recompute every figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Classical security in bits that the table supports, of the weaker of the two secrets.
    pub security_bits: f64,
    /// log2 of the probability that a bootstrap is wrong, rounded up to 0.1, for a secret three deviations heavier than
    /// most and the inputs of [`FhewLiteral::squared_weights`].
    pub log2_p_fail: f64,
    /// Bytes of the keys of a bootstrap in memory.
    pub key_bytes: u64,
}

/// A parameter set as it is written: plain data, not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhewLiteral {
    /// The scheme.
    pub family: Family,
    /// Short name, as users type it.
    pub name: String,
    /// Where the numbers come from.
    pub source: String,
    /// The blind rotation: `"blocks"`, where nothing is said, `"ginx"`, `{ dm = base }`, `{ lmkcdey = window }` or `"ntru"`.
    #[serde(default)]
    pub method: Method,
    /// The number of messages, without the padding bit: 2, 4, 8 or 16.
    pub messages: u64,
    /// The largest sum of squared weights of the linear combination of bootstrap results before a bootstrap.
    pub squared_weights: f64,
    /// The prime Q.
    pub modulus: u64,
    /// log2 of the degree N.
    pub log_n: u32,
    /// The rank k of the GLWE secret: its number of polynomials.
    pub rank: usize,
    /// The dimension n of the LWE secret.
    pub dimension: usize,
    /// Distribution of the secret.
    pub secret: Secret,
    /// Digits of the external product.
    pub levels: usize,
    /// log2 of their base.
    pub log_base: u32,
    /// Signed bits of a coefficient in a key switch.
    pub switch_digits: u32,
    /// log2 of the deviation of LWE errors over Q.
    pub lwe_error: f64,
    /// log2 of the deviation of GLWE errors over Q.
    pub glwe_error: f64,
    /// The claims of the preset.
    pub claims: Option<Claims>,
}

impl FhewLiteral {
    /// Reads the text of a TOML file. Unknown fields are refused.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the place and the reason.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(toml::from_str(text).map_err(TextFault::from)?)
    }

    /// The text of this literal, without claims, which do not affect keys and ciphertexts.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a literal that cannot be written as text.
    pub fn to_toml(&self) -> Result<String, Error> {
        Ok(toml::to_string(&Self { claims: None, ..self.clone() }).map_err(TextFault::from)?)
    }

    /// What keys and ciphertexts depend on, in 32 bytes: all of the text but name and source.
    fn fingerprint(&self) -> Result<[u8; 32], Error> {
        let nameless = Self { name: String::new(), source: String::new(), ..self.clone() };
        Ok(blake3::derive_key("aglet 2026-11 fhew parameter fingerprint v1", nameless.to_toml()?.as_bytes()))
    }
}

/// A checked parameter set. Clones share it.
#[derive(Clone, Debug)]
pub struct FhewParams(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    literal: FhewLiteral,
    lwe: LweParams,
    message: Message,
    fingerprint: [u8; 32],
}

impl PartialEq for FhewParams {
    /// Equal fingerprints: keys and ciphertexts of one are those of the other.
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for FhewParams {}

impl FhewParams {
    /// Reads and checks the text of a TOML file.
    ///
    /// # Errors
    /// Those of [`FhewLiteral::from_toml`] and of [`FhewParams::new`].
    pub fn from_toml(text: &str, security: Security) -> Result<Self, Error> {
        Self::new(FhewLiteral::from_toml(text)?, security)
    }

    /// Checks a literal, the security gate included.
    ///
    /// # Errors
    /// Those of [`LweParams::new`]; [`Error::Message`] for a number of messages that tables do not have.
    pub fn new(literal: FhewLiteral, security: Security) -> Result<Self, Error> {
        let message = Message::new(literal.messages, Domain::Padded)?;
        let gadget = Gadget { levels: literal.levels, log_base: literal.log_base };
        let FhewLiteral { method, modulus, log_n, rank, dimension, secret, .. } = literal;
        let FhewLiteral { switch_digits, lwe_error, glwe_error, .. } = literal;
        let spec =
            LweSpec { method, modulus, log_n, rank, dimension, secret, gadget, switch_digits, lwe_error, glwe_error };
        let (lwe, fingerprint) = (LweParams::new(spec, security)?, literal.fingerprint()?);
        Ok(Self(Arc::new(Inner { lwe, literal, message, fingerprint })))
    }

    /// Why the security gate refuses this set, if it does: it was then made with [`Security::NotChecked`].
    #[must_use]
    pub fn insecurity(&self) -> Option<Error> {
        Self::new(self.literal().clone(), Security::Bits128).err()
    }

    /// The set as written down.
    #[must_use]
    pub fn literal(&self) -> &FhewLiteral {
        &self.0.literal
    }
    /// The numbers of the lattice floor.
    #[must_use]
    pub fn lwe(&self) -> &LweParams {
        &self.0.lwe
    }
    /// The messages of tables, padded; see [`Message::within`].
    #[must_use]
    pub fn message(&self) -> Message {
        self.0.message
    }
    /// Tells sets apart by what keys and ciphertexts depend on; names do not count.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.0.fingerprint
    }

    /// log2 of the probability that a bootstrap of the heaviest sum allowed for is wrong: a table of this set, or for two messages a
    /// gate, whose bits are Q/8 from a wrong sign as well.
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        let noise = self.lwe().noise();
        let distance = 1.0 / (4.0 * self.literal().messages as f64);
        log2_tail(distance, noise.decision(self.literal().squared_weights * noise.blind_rotation))
    }
}
