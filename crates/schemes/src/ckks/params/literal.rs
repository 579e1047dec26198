//! The unchecked form of a parameter set: what a preset file says.

use serde::{Deserialize, Serialize};

use aglet_rlwe::security::Secret;
use aglet_rlwe::Error;

/// The most primes of a set: what is left of a modulus that a prime of 20 bits at a time makes as large as N = 2^17 allows.
const MAX_PRIMES: usize = 512;
/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// The largest weight of an ephemeral secret: `c0 + c1 s` is at most `(h + 1) / 2` times q0, and a bootstrap removes multiples up
/// to 16 of it.
pub const MAX_EPHEMERAL_WEIGHT: usize = 32;

/// What a group of moduli is for. The order is that of the chain, bottom to top, with the spare and the special primes after it.
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
    /// Primes of another size that stand for the message primes while a bootstrap is above them: fewer limbs for as many bits.
    Spare,
    /// Primes that a bootstrap by roots of unity rotates on, beside Q.
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

/// How a bootstrap by roots of unity (SHIP, eprint 2025/784) rotates by the places of its sparse secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ship {
    /// Values of the first digit of a rotation, which meet the masks.
    pub columns: usize,
    /// Values of the other digits.
    pub mux: Vec<usize>,
    /// Half the window of each place; without it places are free.
    pub window: Option<usize>,
    /// Bits of the digits that c1 has on its way to the sparse secret.
    pub digit_bits: u32,
    /// The raised primes of every digit of a key switch.
    pub digits: Vec<Vec<usize>>,
}

/// What a preset promises. Tests recompute every figure that stands here; a figure that nobody has measured is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// log2(QP) from the primes themselves, to 0.01.
    pub log_qp: f64,
    /// Classical security of the main secret in bits, rounded down to 0.1.
    pub security_bits: f64,
    /// Mean precision of a bootstrap, -log2(mean |error|), for uniform messages: at least this.
    pub precision_bits: Option<f64>,
    /// The same after two iterations.
    pub precision_bits_two: Option<f64>,
    /// log2 of the probability that some slot of a bootstrap, all slots full, has six bits less than that, rounded up to 0.1.
    pub log2_p_fail: Option<f64>,
    /// The same after two iterations.
    pub log2_p_fail_two: Option<f64>,
    /// Bytes of all evaluation keys of the largest bootstrap, in memory.
    pub key_bytes: Option<u64>,
}

/// The scheme that a literal is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The only one here.
    Ckks,
}

/// A parameter set as written down: plain data, nothing checked. [`super::CkksParams::new`] checks it and finds the primes.
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
/// # Ok::<(), aglet_rlwe::Error>(())
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
    /// User level that a regular bootstrap leaves. The message primes above it serve methods that leave more, and the first
    /// maps of coeffs_to_slots when there are more of them than primes of their own.
    pub regular_level: Option<usize>,
    /// The moduli, bottom to top, then spare primes, special primes last.
    pub moduli: Vec<ModuliGroup>,
    /// log2 of the largest QP that a key may have, which the security gate looks at. There may be more special primes than the
    /// whole chain can take: keys for fewer limbs take as many as fit, and need fewer digits. Without it all special primes
    /// serve all limbs.
    pub max_log_qp: Option<f64>,
    /// The limbs of every digit of a key switch at full level; without them, consecutive limbs are grouped greedily.
    pub digits: Option<Vec<Vec<usize>>>,
    /// A bootstrap by roots of unity; `eval_mod` primes are those of its product then.
    pub ship: Option<Ship>,
    /// What the preset promises.
    pub claims: Option<Claims>,
}

impl CkksLiteral {
    /// Reads the literal from the text of a TOML file. Unknown fields are refused, so that a typing error is not ignored.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with the place and the reason; another family than `ckks` before all else.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        /// The one field that every family has.
        #[derive(Deserialize)]
        struct Head {
            family: Option<String>,
        }
        let unreadable = |e: toml::de::Error| {
            let line = e.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
            Error::BadParameters { reason: format!("the text is no parameter literal: {} in line {line}", e.message()) }
        };
        let head: Head = toml::from_str(text).map_err(unreadable)?;
        match head.family.as_deref() {
            Some("ckks") => toml::from_str(text).map_err(unreadable),
            Some(other) => {
                let other: String = other.chars().take(MAX_NAME).collect();
                bad(format!("they are of the family {other:?}, and this version knows \"ckks\"; use one that knows it"))
            }
            None => bad("they say no family; write family = \"ckks\" above them".into()),
        }
    }

    /// The text of this literal in the one form that [`CkksLiteral::from_toml`] gives back, without claims: those are of a preset,
    /// and no parameters.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a literal that no text stands for.
    pub fn to_toml(&self) -> Result<String, Error> {
        let reason = |e| Error::BadParameters { reason: format!("they cannot be written down: {e}") };
        toml::to_string(&Self { claims: None, ..self.clone() }).map_err(reason)
    }

    /// Multiplications that it leaves to users: the message primes.
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
            return bad(format!("the name has {} bytes; take 1 to {MAX_NAME}", self.name.len()));
        }
        if !(6..=17).contains(&self.log_n) {
            return bad(format!("log_n = {} is not between 6 and 17", self.log_n));
        }
        for g in &self.moduli {
            let smallest = self.log_n + 3;
            if !(smallest..=61).contains(&g.bits) || !(1..=MAX_PRIMES).contains(&g.count) {
                let ModuliGroup { role, bits, count } = g;
                return bad(format!(
                    "the {role:?} group has {count} primes of {bits} bits; give it 1 to {MAX_PRIMES} primes of {smallest} to 61 bits"
                ));
            }
        }
        // Each group is at most that large, and a text that is not too long has not so many that they overflow.
        if self.moduli.iter().map(|g| g.count).sum::<usize>() > MAX_PRIMES {
            return bad(format!("there are more than {MAX_PRIMES} primes in all; take fewer, larger ones"));
        }
        if self.moduli.windows(2).any(|w| w[0].role > w[1].role) {
            return bad(
                "the moduli are out of order; write them bottom to top: base, slots_to_coeffs, message, eval_mod, \
                        coeffs_to_slots, spare, raised, special"
                    .into(),
            );
        }
        if self.groups(Role::Base).map(|g| g.count).sum::<usize>() != 1 {
            return bad("there must be exactly one base prime".into());
        }
        if self.groups(Role::Message).count() != 1 {
            return bad("there must be exactly one group of message primes".into());
        }
        if self.groups(Role::Special).next().is_none() {
            return bad("there is no special prime; key switching needs at least one".into());
        }
        if self.bits_of(Role::Base) <= self.bits_of(Role::Message) {
            return bad(
                "the base prime must have more bits than the message primes, or level 0 cannot hold a message".into()
            );
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
        let levels = self.levels();
        if self.regular_level.is_some() != has_eval_mod || self.regular_level.is_some_and(|l| l > levels) {
            return bad(format!(
                "regular_level belongs to the eval_mod primes and is at most the number of message primes, {levels}"
            ));
        }
        if let Some(ship) = &self.ship {
            return self.check_ship(ship);
        }
        if self.groups(Role::Raised).next().is_some() {
            return bad("raised primes belong to a bootstrap by roots of unity; write [ship] for one".into());
        }
        match (self.ephemeral_weight, self.sparse_switch_bits, self.message_ratio_log2) {
            (None, None, None) if !has_eval_mod => Ok(()),
            (Some(h), Some(bits), Some(ratio)) if has_eval_mod => {
                if h > MAX_EPHEMERAL_WEIGHT {
                    return bad(format!(
                        "an ephemeral secret of weight {h} may add more than 16 q0 when the modulus is raised, and eval_mod \
                         removes at most that; choose a weight up to {MAX_EPHEMERAL_WEIGHT}"
                    ));
                }
                let special = self.bits_of(Role::Special);
                if bits != special {
                    return bad(format!(
                        "sparse_switch_bits = {bits}, but p' is the first special prime, which has {special} bits; make them equal"
                    ));
                }
                if !(0.0..=60.0).contains(&ratio) {
                    return bad(format!("message_ratio_log2 = {ratio} is not between 0 and 60"));
                }
                Ok(())
            }
            _ => bad(
                "ephemeral_weight, sparse_switch_bits and message_ratio_log2 belong to the eval_mod primes: give all of them or none"
                    .into(),
            ),
        }
    }
}

/// Primes of the product of a bootstrap by roots of unity: of 31 factors and a public one.
pub(super) const PRODUCT_PRIMES: usize = 5;
/// The weight that this takes.
const SHIP_WEIGHT: usize = (1 << PRODUCT_PRIMES) - 1;

impl CkksLiteral {
    /// The fields of a bootstrap by roots of unity, as far as they need no primes.
    fn check_ship(&self, ship: &Ship) -> Result<(), Error> {
        let count = |role| self.groups(role).map(|g| g.count).sum::<usize>();
        let (slots, raised) = (1usize << (self.log_n - 1), count(Role::Raised));
        if self.sparse_switch_bits.is_some() || self.ephemeral_weight != Some(SHIP_WEIGHT) {
            return bad(format!(
                "[ship] takes ephemeral_weight = {SHIP_WEIGHT} and no sparse_switch_bits; write it so"
            ));
        }
        if self.message_ratio_log2.is_none_or(|ratio| !(0.0..=60.0).contains(&ratio)) {
            return bad("[ship] needs a message_ratio_log2 between 0 and 60".into());
        }
        let shape = (count(Role::EvalMod), count(Role::SlotsToCoeffs), self.regular_level);
        if shape != (PRODUCT_PRIMES, 1, Some(self.levels())) || count(Role::CoeffsToSlots) + count(Role::Spare) > 0 {
            return bad(format!(
                "[ship] takes {PRODUCT_PRIMES} eval_mod primes, one slots_to_coeffs prime, no coeffs_to_slots and spare ones, and \
                 the number of message primes as regular_level"
            ));
        }
        let mut limbs = ship.digits.concat();
        limbs.sort_unstable();
        if raised == 0 || !limbs.into_iter().eq(0..raised) || ship.digits.iter().any(Vec::is_empty) {
            return bad(format!(
                "the digits of [ship] do not name each of the {raised} raised primes once; there must be some"
            ));
        }
        let values = |n: &usize| (1..=64).contains(n);
        if !values(&ship.columns) || !(1..=8).contains(&ship.mux.len()) || !ship.mux.iter().all(values) {
            return bad("[ship] takes 1 to 64 columns and 1 to 8 muxes of 1 to 64 values".into());
        }
        let (reach, window) = (ship.mux.iter().product::<usize>() * ship.columns, ship.window.unwrap_or(slots));
        let wanted = ship.window.map_or(slots, |half| 2 * half);
        if reach < wanted || window == 0 || window > slots {
            return bad(format!(
                "the columns and muxes of [ship] reach {reach} places, and a window has {wanted}; take more"
            ));
        }
        if !(1..=8).contains(&ship.digit_bits) || self.moduli.iter().any(|g| g.bits > 50) {
            return bad("[ship] takes digit_bits of 1 to 8, and primes of 50 bits or less".into());
        }
        Ok(())
    }
}

fn bad<T>(reason: String) -> Result<T, Error> {
    Err(Error::BadParameters { reason })
}
