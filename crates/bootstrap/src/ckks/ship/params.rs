//! What a set of parameters says of SHIP, and what it is checked for.

use super::keys::RotationShape;
use super::support::SecretSupport;
use crate::fault::ShipFault;
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::Params;
use aglet_schemes::ckks::params::{Extension, Role};
use aglet_schemes::ckks::{CkksLiteral, CkksParams};
use aglet_schemes::fault::ExtensionFault;
use serde::{Deserialize, Serialize};

/// The name of the table in the text of a set.
pub const TABLE: &str = "ship";

/// How SHIP (eprint 2025/784) rotates by the positions of its sparse secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShipParams {
    /// Values of the first digit of a rotation, which meet the masks.
    #[serde(rename = "columns")]
    pub masked: usize,
    /// Values of the other digits, a CMux each.
    #[serde(rename = "mux")]
    pub cmux: Vec<usize>,
    /// Half the window of each position; without it positions are free.
    pub window: Option<usize>,
    /// Bits of the digits that c1 has on its way to the sparse secret.
    pub digit_bits: u32,
    /// The raised primes of every digit of a key switch.
    pub digits: Vec<Vec<usize>>,
}

/// Primes of the product of SHIP: of 31 factors and a public one.
const PRODUCT_PRIMES: usize = 5;
/// The weight that this takes.
const WEIGHT: usize = (1 << PRODUCT_PRIMES) - 1;

/// Bits that the raised primes may have more or fewer than the chain.
const RAISED_BITS: f64 = 2.0;

impl ShipParams {
    /// Those of a set of parameters; `None` for one without SHIP.
    #[must_use]
    pub fn of(params: &CkksParams) -> Option<&Self> {
        params.literal().extension()
    }

    /// Where the sparse secret has its coefficients.
    #[must_use]
    pub fn support(&self) -> SecretSupport {
        SecretSupport { weight: WEIGHT, half_window: self.window }
    }
}

/// How a set of parameters cuts rotations; `None` for one without SHIP.
#[must_use]
pub fn rotation_shape(params: &CkksParams) -> Option<RotationShape> {
    let ShipParams { masked, cmux, digits, .. } = ShipParams::of(params)?.clone();
    let support = ShipParams::of(params)?.support();
    let (raised, special) = (params.role(Role::Raised).len(), params.role(Role::Special).len());
    Some(RotationShape { support, masked, cmux, raised, special, digits, one_hot: None })
}

impl Extension for ShipParams {
    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&std::collections::BTreeMap::from([(TABLE, self)]))
    }

    fn words(&self) -> Vec<u64> {
        let sizes = [self.masked, self.cmux.len(), self.window.unwrap_or(0), self.digit_bits as usize];
        let digits = self.digits.iter().flat_map(|d| std::iter::once(d.len()).chain(d.iter().copied()));
        let all = sizes.into_iter().chain(self.cmux.iter().copied()).chain([self.digits.len()]).chain(digits);
        all.map(|word| word as u64).collect()
    }

    /// Windows are near to blocks, of which the table of security knows.
    fn sparse_secret(&self, weight: usize) -> Secret {
        match self.window {
            Some(_) => Secret::BlockSparse(weight),
            None => Secret::FixedWeight(weight),
        }
    }

    fn check(&self, literal: &CkksLiteral) -> Result<(), ExtensionFault> {
        self.fits(literal).map_err(ExtensionFault::new)
    }

    fn check_primes(&self, params: &Params, security: Security) -> Result<(), ExtensionFault> {
        self.fits_primes(params, security).map_err(ExtensionFault::new)
    }
}

impl ShipParams {
    /// Refuses a literal that this does not fit, as far as that needs no primes.
    fn fits(&self, literal: &CkksLiteral) -> Result<(), ShipFault> {
        let count = |role| literal.groups(role).map(|g| g.count).sum::<usize>();
        let (slots, raised) = (1usize << (literal.log_n - 1), count(Role::Raised));
        let (found, switch_bits) = (literal.ephemeral_weight, literal.sparse_switch_bits);
        if switch_bits.is_some() || found != Some(WEIGHT) {
            return Err(ShipFault::Weight { weight: WEIGHT, found, switch_bits });
        }
        let found = literal.message_ratio_log2;
        if found.is_none_or(|ratio| !(0.0..=60.0).contains(&ratio)) {
            return Err(ShipFault::MessageRatio { found });
        }
        let shape = (count(Role::EvalMod), count(Role::SlotsToCoeffs), literal.regular_level);
        if shape != (PRODUCT_PRIMES, 1, Some(literal.levels())) || count(Role::CoeffsToSlots) + count(Role::Spare) > 0 {
            return Err(ShipFault::Groups { eval_mod: PRODUCT_PRIMES });
        }
        let mut limbs = self.digits.concat();
        limbs.sort_unstable();
        if raised == 0 || !limbs.into_iter().eq(0..raised) || self.digits.iter().any(Vec::is_empty) {
            return Err(ShipFault::Digits { raised });
        }
        let values = |n: &usize| (1..=64).contains(n);
        if !values(&self.masked) || !(1..=8).contains(&self.cmux.len()) || !self.cmux.iter().all(values) {
            return Err(ShipFault::Values { columns: self.masked, cmuxes: self.cmux.clone() });
        }
        let (reach, window) = (self.cmux.iter().product::<usize>() * self.masked, self.window.unwrap_or(slots));
        let wanted = self.window.map_or(slots, |half| 2 * half);
        if reach < wanted || window == 0 || window > slots {
            return Err(ShipFault::Reach { reach, wanted });
        }
        let (digit, prime) = (self.digit_bits, literal.moduli.iter().map(|g| g.bits).max().unwrap_or(0));
        if !(1..=8).contains(&digit) || prime > 50 {
            return Err(ShipFault::Bits { digit, prime });
        }
        self.support().check(1 << literal.log_n)
    }

    /// Refuses raised primes that keys cannot have, or whose product is far from that of the chain, digits larger than P, and a support of which there are too few.
    fn fits_primes(&self, params: &Params, security: Security) -> Result<(), ShipFault> {
        let log2 = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
        let (raised, special) = (params.spare(), log2(params.p()));
        let apart = log2(raised) - log2(params.q());
        if apart.abs() > RAISED_BITS {
            return Err(ShipFault::RaisedPrimes { apart, most: RAISED_BITS });
        }
        let (found, most) = (log2(raised) + special, params.log_qp());
        if found > most {
            return Err(ShipFault::LargeKey { found, most });
        }
        let digit = |d: &Vec<usize>| d.iter().map(|&i| (raised[i] as f64).log2()).sum::<f64>();
        if self.digits.iter().any(|d| digit(d) > special) {
            return Err(ShipFault::LargeDigit { special });
        }
        match security {
            Security::Bits128 => self.support().least_count(params.n()),
            Security::NotChecked => Ok(()),
        }
    }
}
