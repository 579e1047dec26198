//! The steps of a bootstrap of integers.

use crate::error::Error;
use crate::step::{each, KeyNeed, Place, RunOn, Stands, Step};
use aglet_circuits::{DigitRemoval, Rounding};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::integer::powers::{Encoding, Pair, PairMap, Power, PrimePowers, Residue};
use aglet_schemes::LinearMap;

/// Where a ciphertext modulo a power of p stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// The chain level.
    pub level: usize,
    /// What it is modulo.
    pub power: Power,
    /// The factor of its message.
    pub factor: Residue,
}

impl Place for Exact {
    fn meets(&self, other: &Self) -> bool {
        self.level == other.level && self.power == other.power && self.power.same(self.factor, other.factor)
    }
}

impl<E: PrimePowers> Stands<E> for Exact {
    fn of(e: &E, ct: &E::Ciphertext) -> Self {
        Self { level: e.level(ct), power: e.power(ct), factor: e.scale_of(ct) }
    }
}

/// One linear map of both rows, a factor of the homomorphic DFT.
#[derive(Debug, Clone, PartialEq)]
pub struct Apply {
    /// The map, on all slots of the ring.
    pub map: PairMap,
    /// How it is encoded.
    pub how: Encoding,
}

impl Step for Apply {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, moduli: &[f64]) -> bool {
        let Encoding { level, power, gain, drop } = self.how;
        let leaving = (0..drop).fold(Residue::ONE, |product, i| product * Residue::from(moduli[level - i] as u64));
        let level = from.level == level && level == to.level + drop;
        level && from.power == power && to.power == power && power.same(from.factor * gain, to.factor * leaving)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let mut keys = KeyNeed::rotations(params, self.how.level + 1, self.rotations().unwrap_or_default())?;
        if self.map.swapped.is_some() {
            let role = KeyRole::Galois(conjugation_exponent(params.n()));
            let spec = KeySwitchSpec::balanced(params, self.how.level + 1).map_err(aglet_schemes::Error::from)?;
            keys.push(KeyNeed { role, spec });
        }
        Ok(keys)
    }
    fn describe(&self, params: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        let count: usize = self.map.maps().iter().map(|map| map.diagonals().len()).sum();
        Ok(format!("{count} diagonals, {:.1} MB; {}", self.encoded_bytes(params, keys)? as f64 / 1e6, digits(keys)))
    }
    fn rotations(&self) -> Option<Vec<usize>> {
        let (babies, giant) = self.map.direct.rotations();
        Some(babies.into_iter().chain(giant).collect())
    }
    fn encoded_bytes(&self, params: &Params, keys: &[KeyNeed]) -> Result<usize, Error> {
        let limbs = keys.first().map_or(self.how.level + 1, |key| key.spec.q_limbs + key.spec.p_limbs);
        let diagonals = self.map.maps().into_iter().flat_map(|map| map.diagonals().values());
        Ok(diagonals.map(|d| (2 * d.len()).min(params.n())).sum::<usize>() * limbs * 8)
    }
}

/// How many digits keys have.
fn digits(keys: &[KeyNeed]) -> String {
    match keys.first().map_or(0, |key| key.spec.digits.len()) {
        1 => "1 digit".into(),
        count => format!("{count} digits"),
    }
}

impl<E: PrimePowers> RunOn<E> for Apply {
    fn encode(&self, e: &E) -> Result<Option<E::Transform>, Error> {
        Ok(Some(e.encode_pairs(&self.map, self.how)?))
    }
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Exact,
        encoded: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.transforms(cts, encoded.ok_or(Error::NotEncoded)?)?)
    }
}

/// To the sparse ephemeral secret (eprint 2022/024), under which low digits are small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToSparse {
    /// Its weight.
    pub weight: usize,
}

impl Step for ToSparse {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.level == 0 && from.meets(to)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::ToSparse, spec: KeySwitchSpec::to_sparse() }])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("weight {}", self.weight))
    }
}

impl<E: PrimePowers> RunOn<E> for ToSparse {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Exact,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.to_sparse(ct))
    }
}

/// From the lowest modulus to the whole chain, from p to p^2, through a map that the keys back to the main secret carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Raise {
    /// The map, on all slots of the ring.
    pub map: LinearMap<Pair>,
    /// The chain level of the result.
    pub level: usize,
}

impl Step for Raise {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, moduli: &[f64]) -> bool {
        let start = Exact { level: 0, power: Power::One, factor: -Residue::from(moduli[0] as u64) };
        let end = Exact { level: moduli.len() - 1, power: Power::Two, factor: Residue::ONE };
        self.level == to.level && from.meets(&start) && to.meets(&end)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let role = |&by: &usize| KeyRole::FromSparseGalois(rotation_exponent(by as isize, params.n()));
        let spec = KeySwitchSpec::from_sparse(self.level + 1);
        Ok(self.map.diagonals().keys().map(|by| KeyNeed { role: role(by), spec: spec.clone() }).collect())
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("{} diagonals, each with a key of 1 digit", keys.len()))
    }
    fn encoded_bytes(&self, _: &Params, _: &[KeyNeed]) -> Result<usize, Error> {
        Ok(self.map.diagonals().len() * 2 * self.map.slots() * 8)
    }
}

impl<E: PrimePowers> RunOn<E> for Raise {
    fn encode(&self, e: &E) -> Result<Option<E::Transform>, Error> {
        Ok(Some(e.encode_raise(&self.map, self.level)?))
    }
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Exact,
        encoded: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let encoded = encoded.ok_or(Error::NotEncoded)?;
        each(cts, |ct| e.raise(ct, encoded))
    }
}

/// Removes the low digit; the last product is left without its rescale.
#[derive(Debug, Clone, PartialEq)]
pub struct Remove {
    /// The polynomials.
    pub removal: DigitRemoval,
}

impl Step for Remove {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.power == Power::Two && to.power == Power::One && from.level == to.level + self.removal.levels()
    }
    fn keys_needed(&self, from: &Exact, to: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::squares(params, to.level + 1..=from.level + 1)
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("degrees {:?}; {}", self.removal.degrees(), digits(keys)))
    }
}

impl<E: PrimePowers> RunOn<E> for Remove {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Exact,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        cts.iter().map(|ct| Ok(self.removal.remove(e, ct, to.factor)?)).collect()
    }
}

/// Rounds phases to whole parts of p of a turn, under the sparse secret: what comes from elsewhere has noise that no low digit could hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole;

impl Step for Whole {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.level == 0 && from.power == Power::One && from.meets(to)
    }
}

impl<E: PrimePowers> RunOn<E> for Whole {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Exact,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.whole_parts(ct))
    }
}

/// Rounds multiples of p, over p, to the messages that they are near to.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The polynomial.
    pub rounding: Rounding,
}

impl Step for Round {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        let start = Exact { power: Power::Two, factor: Residue::ONE, ..*from };
        from.meets(&start) && to.power == Power::One && from.level == to.level + self.rounding.levels()
    }
    /// At the levels of [`Remove`] its keys serve, and the smallest of them below.
    fn keys_needed(&self, from: &Exact, to: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::squares(params, to.level + 2..=from.level + 1)
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("degree {}; {}", self.rounding.degree(), digits(keys)))
    }
}

impl<E: PrimePowers> RunOn<E> for Round {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Exact,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        cts.iter().map(|ct| Ok(self.rounding.round(e, &e.over_p(ct), to.factor)?)).collect()
    }
}

/// From the primes of the bootstrap to those of users, which divides by all that leave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// The primes that come over those that leave.
    pub gain: Residue,
}

impl Step for Exchange {
    type Place = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.power == Power::One && to.power == Power::One && Power::One.same(from.factor * self.gain, to.factor)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok("from raised primes to those of messages".into())
    }
}

impl<E: PrimePowers> RunOn<E> for Exchange {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Exact,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.exchange(ct, to.level, self.gain))
    }
}

crate::steps! {
    /// A step of a bootstrap of integers.
    Refresh at Exact:
    /// One linear map, a factor of the homomorphic DFT.
    Apply(Apply),
    /// To the sparse ephemeral secret.
    ToSparse(ToSparse),
    /// From p at the lowest modulus to p^2 on the whole chain.
    Raise(Raise),
    /// Digit removal.
    Remove(Remove),
    /// To phases without a low digit.
    Whole(Whole),
    /// To the nearest messages.
    Round(Round),
    /// From raised primes to those of messages.
    Exchange(Exchange),
}
