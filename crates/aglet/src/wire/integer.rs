//! Files of integers: where their keys and ciphertexts are bound, and what is stored of each.

use super::parameters::parameters;
use super::rlwe::{balanced, keys, limb_bytes, one, polys, Lattice, SlotOrigin};
use super::{bootstrap, count, unknown, Family, Kind, Origin, Reader, Shape, Stored, Words, Writer};
use crate::integer::{
    fixed_galois, presets, rotation_galois, BootstrapKey, Ciphertext, Engine, FixedRotationKey, IntegerLiteral,
    IntegerParams, Packing, Plaintext, RelinearizationKey, RotationKey,
};
use crate::{Error, ForeignError, KeyId, OtherEngine, PublicKey, SecretKey};
use aglet_bootstrap::integer::BootstrapCircuit;
use aglet_rlwe::{KeyRole, KeySet, Params, Sample};
use aglet_schemes::integer::{self, Noise};
use std::sync::Arc;

/// Every type, in the order of the numbers.
const ALL: [Kind; 8] = [
    <SecretKey as Stored<IntegerOrigin>>::KIND,
    <PublicKey as Stored<IntegerOrigin>>::KIND,
    RelinearizationKey::KIND,
    RotationKey::KIND,
    FixedRotationKey::KIND,
    BootstrapKey::KIND,
    Plaintext::KIND,
    <Ciphertext as Stored<IntegerOrigin>>::KIND,
];
/// The types of the family.
pub(super) const FAMILY: Family =
    Family { name: IntegerOrigin::FAMILY, said: "integer", kinds: &ALL, finer: |_, _| None };

/// The origin of stored integers.
pub type IntegerOrigin = SlotOrigin<IntegerParams>;

impl Engine {
    /// The origin of keys and ciphertexts of this engine.
    #[must_use]
    pub fn origin(&self) -> IntegerOrigin {
        let slots = if self.packing() == Packing::Slots { self.count() } else { 0 };
        IntegerOrigin { params: self.params().clone(), slots, ctx: Some(self.ctx.clone()) }
    }
}

impl IntegerOrigin {
    /// The packing: slots or coefficients.
    #[must_use]
    pub fn packing(&self) -> Packing {
        match self.slots {
            0 => Packing::Coefficients,
            _ => Packing::Slots,
        }
    }
}

parameters! { IntegerParams, IntegerLiteral, "integer", IntegerLiteral::from_toml, presets::load }

impl Lattice for IntegerParams {
    fn rlwe(&self) -> &Params {
        self.rlwe()
    }
    fn user_limbs(&self) -> usize {
        self.max_level() + 1
    }
    fn serves(&self, slots: usize) -> bool {
        slots == 0 || slots.is_power_of_two() && slots <= self.n()
    }
    fn other(&self, theirs: &IntegerLiteral, name: String) -> OtherEngine {
        OtherEngine::Modulus { name, t: theirs.plaintext_modulus }
    }
    fn other_slots(kind: &'static str, slots: u64, own: usize) -> ForeignError {
        let named = |slots: u64| if slots == 0 { "coefficients" } else { "slots" };
        ForeignError::Packing { kind, packing: named(slots), own: named(own as u64) }
    }
}

keys! { IntegerOrigin:
    RelinearizationKey: 3 "relinearization key", slots: false {
        least: |_o| 0,
        words: |_x| vec![],
        shapes: |origin, _w| Ok(vec![balanced(&origin.params, KeyRole::Relinearization, origin.params.user_limbs())?]),
        keys: |x| x.keys().iter().map(|(_, key)| &**key).collect(),
        take: |_o, _w, _id, list| {
            Ok(Self(KeySet::new().with(KeyRole::Relinearization, one::<IntegerOrigin, Self>(list)?)))
        },
    }

    RotationKey: 5 "rotation key", slots: true {
        least: |origin| origin.params.user_limbs(),
        words: |_x| vec![],
        shapes: |origin, _w| {
            if origin.slots < 2 {
                return unknown::<IntegerOrigin, Self, _>("rows");
            }
            let all = rotation_galois(&origin.params, origin.slots).into_iter();
            all.map(|galois| balanced(&origin.params, KeyRole::Galois(galois), origin.params.user_limbs())).collect()
        },
        keys: |x| x.keys().iter().map(|(_, key)| &**key).collect(),
        take: |_o, _w, _id, list| Ok(Self(list.into_iter().collect())),
    }

    FixedRotationKey: 6 "fixed rotation key", slots: true {
        least: |_o| 0,
        words: |x| vec![x.delta() as u64, x.limbs() as u64],
        shapes: |origin, w| {
            if origin.slots < 2 {
                return unknown::<IntegerOrigin, Self, _>("rows");
            }
            let limbs = match usize::try_from(w[1]) {
                Ok(limbs) if (1..=origin.params.user_limbs()).contains(&limbs) => limbs,
                _ => return unknown::<IntegerOrigin, Self, _>("limbs"),
            };
            let galois = fixed_galois(&origin.params, origin.slots, w[0] as i64);
            Ok(vec![balanced(&origin.params, KeyRole::Galois(galois), limbs)?])
        },
        keys: |x| x.set.iter().map(|(_, key)| &**key).collect(),
        take: |_o, w, _id, list| Ok(Self { delta: w[0] as i64, set: list.into_iter().collect() }),
    }
}

impl Stored<IntegerOrigin> for BootstrapKey {
    const KIND: Kind = Kind { tag: 7, name: "bootstrap key" };
    const SLOTS: bool = false;

    fn least(origin: &IntegerOrigin) -> u64 {
        limb_bytes(&origin.params, origin.params.user_limbs())
    }
    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(origin: &IntegerOrigin, _: &Words) -> Result<Vec<Shape>, Error> {
        bootstrap::shapes(&BootstrapCircuit::new(&origin.params)?)
    }
    fn put(&self, _: &IntegerOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        bootstrap::put(self, out)
    }
    fn take(origin: &IntegerOrigin, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let whole = || Ok(aglet_rlwe::Context::new(origin.params.rlwe().clone())?);
        bootstrap::take(&BootstrapCircuit::new(&origin.params)?, whole, (id, ()), parts)
    }
}

/// A noise that a bound can have, as its logarithm.
fn noise(word: u64) -> Result<Noise, Error> {
    let log2 = f64::from_bits(word);
    match (0.0..1e6).contains(&log2) {
        true => Ok(Noise::of_log2(log2)),
        false => unknown::<IntegerOrigin, Ciphertext, _>("a bound on its noise"),
    }
}

impl Stored<IntegerOrigin> for Plaintext {
    const KIND: Kind = Kind { tag: 15, name: "integer plaintext" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        KeyId(0)
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    /// Residues modulo t.
    fn shapes(origin: &IntegerOrigin, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(vec![Shape::Residues { modulus: *origin.params.plain(), count: origin.params.n() }])
    }
    fn put(&self, origin: &IntegerOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        let t = origin.params.plain();
        Ok(out.residues(&self.coefficients.iter().map(|&c| t.reduce_i64(c)).collect::<Vec<_>>())?)
    }
    fn take(origin: &IntegerOrigin, _: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let t = origin.params.plain();
        let coefficients = parts.residues()?.into_iter().map(|c| t.centre(c)).collect();
        Ok(Self::new(coefficients, t.value(), origin.packing()))
    }
}

impl Stored<IntegerOrigin> for Ciphertext {
    const KIND: Kind = Kind { tag: 16, name: "integer ciphertext" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.key
    }
    /// Limbs, polynomials, the factor, and the logarithm of the bound on the noise.
    fn words(&self) -> Vec<u64> {
        vec![self.limbs() as u64, self.polys.len() as u64, self.correction_factor, self.noise.log2().to_bits()]
    }
    fn shapes(origin: &IntegerOrigin, w: &Words) -> Result<Vec<Shape>, Error> {
        let t = origin.params.plain();
        noise(w[3])?;
        if w[2] >= t.value() || t.inv(w[2]) == 0 {
            return unknown::<IntegerOrigin, Self, _>("a factor");
        }
        let polynomials = count::<IntegerOrigin, Self>(w[1], 2, 3, "a degree")?;
        let limbs = count::<IntegerOrigin, Self>(w[0], 1, origin.params.user_limbs(), "a level")?;
        Ok(polys(&origin.params, polynomials, limbs))
    }
    fn put(&self, _: &IntegerOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        Ok(out.polys(&self.polys)?)
    }
    fn take(_: &IntegerOrigin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let polys = (0..w[1]).map(|_| parts.poly()).collect::<Result<_, _>>()?;
        let sample = Sample { polys, key: id };
        Ok(Arc::new(integer::Ciphertext { sample, correction_factor: w[2], noise: noise(w[3])? }))
    }
}
