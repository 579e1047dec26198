//! Files of integers: where their keys and ciphertexts are bound, and what is stored of each.

use super::parameters::{shown, unusable};
use super::rlwe::{balanced, count, keys, one, polys, unknown, Lattice, Words};
use super::{Family, Kind, Origin, Reader, Shape, Stored, Summary, Writer};
use crate::integer::{
    presets, rotation_galois, BootstrapKey, Ciphertext, Engine, IntegerLiteral, IntegerParams, Packing, Plaintext,
    RelinearizationKey, RotationKey,
};
use crate::{Error, ForeignError, FormatError, KeyId, OtherEngine, PublicKey, SecretKey};
use aglet_bootstrap::integer::BootstrapCircuit;
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, Params, Sample};
use aglet_schemes::integer::{self, Noise};
use std::sync::Arc;

/// Every type, in the order of the numbers.
const ALL: [Kind; 7] = [
    <SecretKey as Stored<IntegerOrigin>>::KIND,
    <PublicKey as Stored<IntegerOrigin>>::KIND,
    RelinearizationKey::KIND,
    RotationKey::KIND,
    BootstrapKey::KIND,
    Plaintext::KIND,
    <Ciphertext as Stored<IntegerOrigin>>::KIND,
];
/// The types of the family.
pub(super) const FAMILY: Family = Family { name: IntegerOrigin::FAMILY, kinds: &ALL, finer: |_, _| None };

/// The origin of stored integers: it fits engines of these parameters and, in most cases, this packing.
#[derive(Clone)]
pub struct IntegerOrigin {
    /// The parameters.
    pub params: IntegerParams,
    /// Slots of a message; 0 where coefficients are packed.
    pub slots: usize,
    /// The tables of an engine, which only secret keys need.
    pub ctx: Option<Arc<Context>>,
}

impl PartialEq for IntegerOrigin {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, self.slots) == (&other.params, other.slots)
    }
}

impl Engine {
    /// The origin of keys and ciphertexts of this engine.
    #[must_use]
    pub fn origin(&self) -> IntegerOrigin {
        let slots = if self.packing() == Packing::Slots { self.count() } else { 0 };
        IntegerOrigin { params: self.params().clone(), slots, ctx: Some(self.context().clone()) }
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

    /// The origin that data names: a preset that comes with Aglet, perhaps with another plaintext modulus, or the parameters of the
    /// text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
    /// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        summary.check_family(Self::FAMILY)?;
        let literal = IntegerLiteral::from_toml(&summary.literal).map_err(unusable)?;
        // As those of slots: without an engine nothing is done with what is read, and engines have a gate of their own.
        let preset = presets::load(&literal.name, presets::Security::NotChecked)
            .ok()
            .filter(|p| p.fingerprint() == summary.fingerprint);
        let security = if allow_insecure { Security::NotChecked } else { Security::Bits128 };
        let params = match preset {
            Some(params) => params,
            None => IntegerParams::new(literal, security).map_err(unusable)?,
        };
        summary.check_fingerprint(params.name(), params.fingerprint())?;
        let slots = summary.slots;
        if slots != 0 && (!slots.is_power_of_two() || slots > params.n()) {
            return Err(FormatError::Slots { slots }.into());
        }
        Ok(Self { params, slots, ctx: None })
    }
}

impl Origin for IntegerOrigin {
    const FAMILY: &'static str = "integer";

    fn name(&self) -> &str {
        self.params.name()
    }
    fn fingerprint(&self) -> [u8; 32] {
        self.params.fingerprint()
    }
    fn slots(&self) -> usize {
        self.slots
    }
    fn other_slots(&self, kind: &'static str, slots: u64) -> ForeignError {
        let named = |slots: u64| if slots == 0 { "coefficients" } else { "slots" };
        ForeignError::Packing { kind, packing: named(slots), own: named(self.slots as u64) }
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(self.params.literal().to_toml()?)
    }
    fn other(&self, literal: &str) -> Result<(String, OtherEngine), Error> {
        let theirs = IntegerLiteral::from_toml(literal).map_err(unusable)?;
        let (name, t) = (shown(&theirs.name), theirs.plaintext_modulus);
        Ok((name.clone(), OtherEngine::Modulus { name, t }))
    }
}

impl Lattice for IntegerOrigin {
    fn rlwe(&self) -> &Params {
        self.params.rlwe()
    }
    fn ctx(&self) -> Option<&Arc<Context>> {
        self.ctx.as_ref()
    }
    fn user_limbs(&self) -> usize {
        self.params.max_level() + 1
    }
}

keys! { IntegerOrigin:
    RelinearizationKey: 3 "relinearization key", slots: false {
        least: |_o| 0,
        words: |_x| vec![],
        shapes: |origin, _w| Ok(vec![balanced(&origin.params, KeyRole::Relinearization, origin.user_limbs())?]),
        keys: |x| x.keys().iter().map(|(_, key)| &**key).collect(),
        take: |_o, _w, _id, list| {
            Ok(Self(KeySet::new().with(KeyRole::Relinearization, one::<IntegerOrigin, Self>(list)?)))
        },
    }

    RotationKey: 5 "rotation key", slots: true {
        least: |origin| origin.user_limbs(),
        words: |_x| vec![],
        shapes: |origin, _w| {
            if origin.slots < 2 {
                return unknown::<IntegerOrigin, Self, _>("rows");
            }
            let all = rotation_galois(&origin.params, origin.slots).into_iter();
            all.map(|galois| balanced(&origin.params, KeyRole::Galois(galois), origin.user_limbs())).collect()
        },
        keys: |x| x.keys().iter().map(|(_, key)| &**key).collect(),
        take: |_o, _w, _id, list| Ok(Self(list.into_iter().collect())),
    }

    BootstrapKey: 7 "bootstrap key", slots: false {
        least: |origin| origin.user_limbs(),
        words: |_x| vec![],
        shapes: |origin, _w| {
            let circuit = BootstrapCircuit::new(&origin.params)?;
            let key = |(role, spec): (_, &KeySwitchSpec)| Shape::Key { params: circuit.params.clone(), role, spec: spec.clone() };
            Ok(circuit.keys()?.iter().map(key).collect())
        },
        keys: |x| x.keys.iter().map(|(_, key)| &**key).collect(),
        take: |_o, _w, id, list| Ok(Self { id, keys: list.into_iter().collect() }),
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
        out.residues(&self.coefficients.iter().map(|&c| t.reduce_i64(c)).collect::<Vec<_>>())
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
        let limbs = count::<IntegerOrigin, Self>(w[0], 1, origin.user_limbs(), "a level")?;
        Ok(polys(&origin.params, polynomials, limbs))
    }
    fn put(&self, _: &IntegerOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        self.polys.iter().try_for_each(|poly| out.poly(poly))
    }
    fn take(_: &IntegerOrigin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let polys = (0..w[1]).map(|_| parts.poly()).collect::<Result<_, _>>()?;
        let sample = Sample { polys, key: id };
        Ok(Arc::new(integer::Ciphertext { sample, correction_factor: w[2], noise: noise(w[3])? }))
    }
}
