//! The unchecked form of a parameter set: the content of a preset file.

use super::extension::Extension;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;
use toml::de::{DeTable, Deserializer, ValueDeserializer};

use crate::fault::{CkksFault, TextFault};
use crate::Error;
use aglet_rlwe::security::Secret;

/// The most primes of a set: what is left of a modulus that a prime of 20 bits at a time makes as large as N = 2^17 allows.
const MAX_PRIMES: usize = 512;
/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// The largest weight of an ephemeral secret. `c0 + c1 s` is at most `(h + 1) / 2` times q0, and a bootstrap removes
/// multiples of q0 up to 16.
pub const MAX_EPHEMERAL_WEIGHT: usize = 32;

/// The purpose of a group of moduli. The order is that of the chain, bottom to top, followed by the spare and the
/// special primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The bottom prime `q0`, which a decryption at level 0 uses.
    Base,
    /// Primes that SlotsToCoeffs spends at the bottom of a slots-first bootstrap; hidden below user level 0.
    SlotsToCoeffs,
    /// Primes that users spend: one per level.
    Message,
    /// Primes that EvalMod spends.
    EvalMod,
    /// Primes that CoeffsToSlots spends, at the top.
    CoeffsToSlots,
    /// Primes of another size that replace the message primes while a bootstrap is above them: fewer limbs for the same
    /// bits.
    Spare,
    /// Primes of a second chain beside Q, for sets with an [`Extension`].
    Raised,
    /// The primes of P for hybrid key switching, not part of Q.
    Special,
}

/// A run of primes of one size and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuliGroup {
    /// What the primes are for.
    pub role: Role,
    /// log2 of their size; at most 61, at most 50 for the fast kernels.
    pub bits: u32,
    /// How many.
    pub count: usize,
}

/// The claims of a preset. Tests recompute every figure; a figure that was not measured is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// log2(QP), computed from the primes, to 0.01.
    pub log_qp: f64,
    /// Classical security of the main secret in bits, rounded down to 0.1.
    pub security_bits: f64,
    /// Mean precision of a bootstrap, -log2(mean |error|), for uniform messages: at least this.
    pub precision_bits: Option<f64>,
    /// The same after two iterations.
    pub precision_bits_two: Option<f64>,
    /// log2 of the probability that some slot of a bootstrap with all slots full has six bits fewer than that, rounded
    /// up to 0.1.
    pub log2_p_fail: Option<f64>,
    /// The same after two iterations.
    pub log2_p_fail_two: Option<f64>,
    /// Bytes of all evaluation keys of the largest bootstrap, in memory.
    pub key_bytes: Option<u64>,
}

/// The scheme of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The only one here.
    Ckks,
}

/// A parameter set as it is written: plain data, not checked. [`super::CkksParams::new`] checks it and finds the
/// primes.
///
/// ```
/// use aglet_schemes::ckks::CkksLiteral;
/// let literal = CkksLiteral::from_toml(r#"
///     family = "ckks"
///     name = "two-levels"
///     source = "an example"
///     log_n = 13
///     moduli = [
///         { role = "base", bits = 50, count = 1 },
///         { role = "message", bits = 40, count = 2 },
///         { role = "special", bits = 50, count = 1 },
///     ]
/// "#)?;
/// assert_eq!(literal.moduli.len(), 3);
/// # Ok::<(), aglet_schemes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CkksLiteral {
    /// The scheme.
    pub family: Family,
    /// Short name, as users type it; 1 to 64 bytes.
    pub name: String,
    /// Where the numbers come from.
    pub source: String,
    /// Why the set is experimental, if it is.
    pub experimental: Option<String>,
    /// log2 of the ring degree N, from 6 to 17.
    pub log_n: u32,
    /// Distribution of the main secret.
    #[serde(default)]
    pub secret: Secret,
    /// Weight of the sparse secret of a bootstrap (`eval_mod` primes present), used at q0*p' only.
    pub ephemeral_weight: Option<usize>,
    /// log2 of p', the special modulus of the switch from the dense to the ephemeral secret: the first special prime.
    pub sparse_switch_bits: Option<u32>,
    /// log2 of the message ratio q0 / scale at which a bootstrap raises the modulus.
    pub message_ratio_log2: Option<f64>,
    /// The user level after a regular bootstrap. The message primes above it serve methods that end at a higher level,
    /// and the first maps of coeffs_to_slots if these have too few primes of their own.
    pub regular_level: Option<usize>,
    /// The moduli, bottom to top, then spare primes, special primes last.
    pub moduli: Vec<ModuliGroup>,
    /// log2 of the largest QP that a key may have; the security check uses it. There may be more special primes than
    /// the whole chain can take: keys on fewer limbs take as many as fit, and need fewer digits. Without it all special
    /// primes serve all limbs.
    pub max_log_qp: Option<f64>,
    /// The limbs of every digit of a key switch at full level; without them, consecutive limbs are grouped greedily.
    pub digits: Option<Vec<Vec<usize>>>,
    /// What a bootstrap method adds; what the `eval_mod` primes are for is then its own.
    #[serde(skip)]
    pub extension: Option<Arc<dyn Extension>>,
    /// The claims of the preset.
    pub claims: Option<Claims>,
}

impl CkksLiteral {
    /// Reads the literal from the text of a TOML file. Unknown fields are refused, so a typing error is noticed.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the place and the reason; another family than `ckks` before all else.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::read(text, |_| Ok(None))
    }

    /// [`CkksLiteral::from_toml`] for a text that may have an extension in the table of this name.
    ///
    /// # Errors
    /// As there.
    pub fn extended<X: Extension + DeserializeOwned>(text: &str, table: &str) -> Result<Self, Error> {
        Self::read(text, |all| {
            let own = all.remove(table).map(|own| X::deserialize(ValueDeserializer::from(own))).transpose()?;
            Ok(own.map(|own| Arc::new(own) as Arc<dyn Extension>))
        })
    }

    /// Reads what `take` leaves of the text.
    fn read(
        text: &str,
        take: impl FnOnce(&mut DeTable<'_>) -> Result<Option<Arc<dyn Extension>>, toml::de::Error>,
    ) -> Result<Self, Error> {
        let unreadable = |e: toml::de::Error| {
            let line = e.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
            TextFault::Line { message: e.message().to_string(), line }
        };
        let mut all = DeTable::parse(text).map_err(unreadable)?;
        match all.get_ref().get("family").map(|family| family.get_ref().as_str()) {
            Some(Some("ckks") | None) => {}
            Some(Some(other)) => {
                return Err(CkksFault::Family { found: other.chars().take(MAX_NAME).collect() }.into());
            }
            None => return Err(CkksFault::NoFamily.into()),
        }
        let extension = take(all.get_mut()).map_err(unreadable)?;
        let literal = Self::deserialize(Deserializer::from(all)).map_err(unreadable)?;
        Ok(Self { extension, ..literal })
    }

    /// The extension, if it is of this type.
    #[must_use]
    pub fn extension<X: Extension>(&self) -> Option<&X> {
        let own: &dyn Any = self.extension.as_deref()?;
        own.downcast_ref()
    }

    /// The text of this literal, without claims: [`CkksLiteral::from_toml`] reads it back, or [`CkksLiteral::extended`]. Claims belong to a preset
    /// and are not parameters.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a literal that cannot be written as text.
    pub fn to_toml(&self) -> Result<String, Error> {
        let text = toml::to_string(&Self { claims: None, ..self.clone() }).map_err(TextFault::from)?;
        Ok(match &self.extension {
            Some(extension) => format!("{text}\n{}", extension.to_toml().map_err(TextFault::from)?),
            None => text,
        })
    }

    /// The number of multiplications for users: the message primes.
    pub fn levels(&self) -> usize {
        self.groups(Role::Message).map(|g| g.count).fold(0, usize::saturating_add)
    }

    /// The groups of one role.
    pub fn groups(&self, role: Role) -> impl DoubleEndedIterator<Item = &ModuliGroup> {
        self.moduli.iter().filter(move |g| g.role == role)
    }

    /// Checks everything that needs no primes: ranges, order and presence of the groups, the bootstrap fields.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the first contradiction found.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !(1..=MAX_NAME).contains(&self.name.len()) {
            return Err(CkksFault::Name { bytes: self.name.len(), most: MAX_NAME }.into());
        }
        if !(6..=17).contains(&self.log_n) {
            return Err(CkksFault::Degree { log_n: self.log_n }.into());
        }
        for g in &self.moduli {
            let least_bits = self.log_n + 3;
            if !(least_bits..=61).contains(&g.bits) || !(1..=MAX_PRIMES).contains(&g.count) {
                let &ModuliGroup { role, bits, count } = g;
                let role = format!("{role:?}");
                return Err(CkksFault::Group { role, count, bits, most: MAX_PRIMES, least_bits }.into());
            }
        }
        // Each group is at most that large, and a text that is not too long has not so many that they overflow.
        let found = self.moduli.iter().map(|g| g.count).sum::<usize>();
        if found > MAX_PRIMES {
            return Err(CkksFault::Primes { found, most: MAX_PRIMES }.into());
        }
        if self.moduli.windows(2).any(|w| w[0].role > w[1].role) {
            return Err(CkksFault::Order.into());
        }
        let found = self.groups(Role::Base).map(|g| g.count).sum::<usize>();
        if found != 1 {
            return Err(CkksFault::Base { found }.into());
        }
        let groups = self.groups(Role::Message).count();
        if groups != 1 {
            return Err(CkksFault::Message { groups }.into());
        }
        if self.groups(Role::Special).next().is_none() {
            return Err(CkksFault::NoSpecial.into());
        }
        let (base, message) = (self.bits_of(Role::Base), self.bits_of(Role::Message));
        if base <= message {
            return Err(CkksFault::SmallBase { base, message }.into());
        }
        self.check_bootstrap()
    }

    /// log2 of the size of the first group of a role, 0 if there is none.
    pub(super) fn bits_of(&self, role: Role) -> u32 {
        self.groups(role).next().map_or(0, |g| g.bits)
    }

    /// The four bootstrap fields stand there exactly if there are `eval_mod` primes.
    fn check_bootstrap(&self) -> Result<(), Error> {
        let has_eval_mod = self.groups(Role::EvalMod).next().is_some();
        let (found, most) = (self.regular_level, self.levels());
        if found.is_some() != has_eval_mod || found.is_some_and(|level| level > most) {
            return Err(CkksFault::RegularLevel { found, most }.into());
        }
        if let Some(extension) = &self.extension {
            return Ok(extension.check(self)?);
        }
        if self.groups(Role::Raised).next().is_some() {
            return Err(CkksFault::Raised.into());
        }
        match (self.ephemeral_weight, self.sparse_switch_bits, self.message_ratio_log2) {
            (None, None, None) if !has_eval_mod => Ok(()),
            (Some(weight), Some(bits), Some(ratio)) if has_eval_mod => {
                if weight > MAX_EPHEMERAL_WEIGHT {
                    return Err(CkksFault::Weight { weight, most: MAX_EPHEMERAL_WEIGHT }.into());
                }
                let special = self.bits_of(Role::Special);
                if bits != special {
                    return Err(CkksFault::SwitchBits { found: bits, special }.into());
                }
                if !(0.0..=60.0).contains(&ratio) {
                    return Err(CkksFault::MessageRatio { found: ratio }.into());
                }
                Ok(())
            }
            _ => Err(CkksFault::BootstrapFields.into()),
        }
    }
}
