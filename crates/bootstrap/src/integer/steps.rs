//! The steps of a bootstrap of integers.

use crate::error::Error;
use crate::step::{each, Encoded, KeyNeed, Metadata, MetadataOf, Run, RunOn, Step};
use aglet_circuits::{DigitExtraction, Rounding};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::integer::prime_power::{Encoding, Pair, PairMap, PrimePower, PrimePowerEvaluator, Residue};
use aglet_schemes::LinearMap;

/// The state of a ciphertext modulo a power of p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// The chain level.
    pub level: usize,
    /// The power of p that it is modulo.
    pub power: PrimePower,
    /// The correction factor of its message.
    pub correction_factor: Residue,
}

impl Metadata for Exact {
    fn meets(&self, other: &Self) -> bool {
        self.level == other.level
            && self.power == other.power
            && self.power.same(self.correction_factor, other.correction_factor)
    }
}

impl<E: PrimePowerEvaluator> MetadataOf<E> for Exact {
    fn of(e: &E, ct: &E::Ciphertext) -> Self {
        Self { level: e.level(ct), power: e.power(ct), correction_factor: e.scale_of(ct) }
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
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, moduli: &[f64]) -> bool {
        let Encoding { level, power, gain, drop } = self.how;
        let leaving = (0..drop).fold(Residue::ONE, |product, i| product * Residue::from(moduli[level - i] as u64));
        let level = from.level == level && level == to.level + drop;
        level
            && from.power == power
            && to.power == power
            && power.same(from.correction_factor * gain, to.correction_factor * leaving)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let mut keys = KeyNeed::rotations(params, self.how.level + 1, self.rotations().unwrap_or_default())?;
        if self.map.swapped.is_some() {
            let role = KeyRole::Galois(conjugation_exponent(params.n()));
            let spec = KeySwitchSpec::balanced(params, self.how.level + 1)?;
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

impl<E: PrimePowerEvaluator> RunOn<E> for Apply {
    fn encode(&self, e: &E) -> Result<Option<Encoded<E::Transform>>, Error> {
        Ok(Some(Encoded::Map(e.encode_pairs(&self.map, self.how)?)))
    }
    fn run_on(&self, e: &E, Run { cts, encoded, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.transforms(cts, Encoded::map(encoded)?)?)
    }
}

/// The switch to the sparse ephemeral secret (eprint 2022/024), under which low digits are small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encapsulate {
    /// Its weight.
    pub weight: usize,
}

impl Step for Encapsulate {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.level == 0 && from.meets(to)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::DenseToSparse, spec: KeySwitchSpec::dense_to_sparse() }])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("weight {}", self.weight))
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for Encapsulate {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.encapsulate(ct))
    }
}

/// Raises the lowest modulus to the whole chain and p to p^2, through a map that the keys back to the main secret
/// carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Raise {
    /// The map, on all slots of the ring.
    pub map: LinearMap<Pair>,
    /// The chain level of the result.
    pub level: usize,
}

impl Step for Raise {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, moduli: &[f64]) -> bool {
        let start = Exact { level: 0, power: PrimePower::One, correction_factor: -Residue::from(moduli[0] as u64) };
        let end = Exact { level: moduli.len() - 1, power: PrimePower::Two, correction_factor: Residue::ONE };
        self.level == to.level && from.meets(&start) && to.meets(&end)
    }
    fn keys_needed(&self, _: &Exact, _: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let role = |&by: &usize| KeyRole::SparseToDenseGalois(rotation_exponent(by as isize, params.n()));
        let spec = KeySwitchSpec::sparse_to_dense(self.level + 1);
        Ok(self.map.diagonals().keys().map(|by| KeyNeed { role: role(by), spec: spec.clone() }).collect())
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("{} diagonals, each with a key of 1 digit", keys.len()))
    }
    fn encoded_bytes(&self, _: &Params, _: &[KeyNeed]) -> Result<usize, Error> {
        Ok(self.map.diagonals().len() * 2 * self.map.slots() * 8)
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for Raise {
    fn encode(&self, e: &E) -> Result<Option<Encoded<E::Transform>>, Error> {
        Ok(Some(Encoded::Map(e.encode_raise(&self.map, self.level)?)))
    }
    fn run_on(&self, e: &E, Run { cts, encoded, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        let encoded = Encoded::map(encoded)?;
        each(cts, |ct| e.raise(ct, encoded))
    }
}

/// Digit extraction: removes the low digit. The last product is not rescaled.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractDigits {
    /// The polynomials.
    pub digit_extraction: DigitExtraction,
}

impl Step for ExtractDigits {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.power == PrimePower::Two
            && to.power == PrimePower::One
            && from.level == to.level + self.digit_extraction.levels()
    }
    fn keys_needed(&self, from: &Exact, to: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::squares(params, to.level + 1..=from.level + 1)
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("degrees {:?}; {}", self.digit_extraction.degrees(), digits(keys)))
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for ExtractDigits {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        cts.iter().map(|ct| Ok(self.digit_extraction.extract(e, ct, to.correction_factor)?)).collect()
    }
}

/// Rounds phases to whole multiples of 1/p of the torus, under the sparse secret: repacked messages have too much noise
/// for a low digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole;

impl Step for Whole {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.level == 0 && from.power == PrimePower::One && from.meets(to)
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for Whole {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.whole_parts(ct))
    }
}

/// Divides multiples of p by p and rounds them to the nearest messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The polynomial.
    pub rounding: Rounding,
}

impl Step for Round {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        let start = Exact { power: PrimePower::Two, correction_factor: Residue::ONE, ..*from };
        from.meets(&start) && to.power == PrimePower::One && from.level == to.level + self.rounding.levels()
    }
    /// At the levels of [`ExtractDigits`] its keys serve, and the smallest of them below.
    fn keys_needed(&self, from: &Exact, to: &Exact, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::squares(params, to.level + 2..=from.level + 1)
    }
    fn describe(&self, _: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("degree {}; {}", self.rounding.degree(), digits(keys)))
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for Round {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        cts.iter().map(|ct| Ok(self.rounding.round(e, &e.over_p(ct), to.correction_factor)?)).collect()
    }
}

/// Modulus switching from the primes of the bootstrap to those of users, which divides by all primes that are dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModSwitch {
    /// The new primes over the dropped primes.
    pub gain: Residue,
}

impl Step for ModSwitch {
    type Metadata = Exact;

    fn check(&self, from: &Exact, to: &Exact, _: &[f64]) -> bool {
        from.power == PrimePower::One
            && to.power == PrimePower::One
            && PrimePower::One.same(from.correction_factor * self.gain, to.correction_factor)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok("from raised primes to those of messages".into())
    }
}

impl<E: PrimePowerEvaluator> RunOn<E> for ModSwitch {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Exact>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.mod_switch(ct, to.level, self.gain))
    }
}

crate::steps! {
    /// A step of a bootstrap of integers.
    Refresh at Exact:
    /// One linear map, a factor of the homomorphic DFT.
    Apply(Apply),
    /// To the sparse ephemeral secret.
    Encapsulate(Encapsulate),
    /// From p at the lowest modulus to p^2 on the whole chain.
    Raise(Raise),
    /// Digit extraction.
    ExtractDigits(ExtractDigits),
    /// Rounding to phases without a low digit.
    Whole(Whole),
    /// Rounding to the nearest messages.
    Round(Round),
    /// From raised primes to those of messages.
    ModSwitch(ModSwitch),
}
