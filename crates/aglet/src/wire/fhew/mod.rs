//! Files of FHEW: where their keys and ciphertexts are bound, and what is stored of each key. Ciphertexts are in `array.rs`.

mod array;
mod bits;
mod shared;

use super::parameters::{foreign, found, parameters, Parameters};
use super::{shown, unknown, Family, Kind, Origin, Reader, Shape, Stored, Summary, Words, Writer};
use crate::fhew::{presets, Array, BootstrapKey, FhewContext, PackingKey, PublicKey, SecretKey};
use crate::{Error, ForeignError, KeyId, OtherEngine};
use aglet_bootstrap::fhew::Blocks;
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::blind::Gadget;
use aglet_ring::packed::KeyShape;
use aglet_ring::small::SmallTable;
use aglet_rlwe::lwe::{samples, BlindRotationKey, SeededKey};
use aglet_schemes::fhew::{FhewLiteral, FhewParams};
use zeroize::Zeroizing;

/// Every type, in the order of the numbers.
const ALL: [Kind; 5] = [SecretKey::KIND, BootstrapKey::KIND, Array::KIND, PackingKey::KIND, PublicKey::KIND];
/// The types of the family.
pub(super) const FAMILY: Family = Family { name: FhewContext::FAMILY, said: "fhew", kinds: &ALL, finer: |_, _| None };
parameters! { FhewParams, FhewLiteral, "fhew", FhewLiteral::from_toml, presets::load }

impl FhewContext {
    /// The home that data names: a preset that comes with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
    /// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        Self::new(found(summary, allow_insecure)?)
    }
}

impl Origin for FhewContext {
    const FAMILY: &'static str = FhewParams::FAMILY;
    type Error = Error;

    fn fingerprint(&self) -> [u8; 32] {
        self.params().fingerprint()
    }
    fn slots(&self) -> usize {
        0
    }
    fn literal(&self) -> Result<String, Error> {
        self.params().text()
    }
    fn other_parameters(&self, kind: &'static str, literal: &str) -> Error {
        let name = FhewParams::of_text(literal).map(|theirs| shown(&theirs.name));
        foreign(kind, self.params().said().0, name.map(|name| (name.clone(), OtherEngine::Preset { name })))
    }
    fn other_slots(&self, kind: &'static str, slots: u64) -> Error {
        ForeignError::Slots { kind, slots, own: 0 }.into()
    }
}

impl Stored<FhewContext> for SecretKey {
    const KIND: Kind = Kind { tag: 11, name: "fhew secret key" };
    const SLOTS: bool = true;
    const SECRET: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(vec![Shape::Bytes(SecretKey::packed_len(context.params().lwe()))])
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        Ok(out.bytes(self.packed(context.params().lwe()))?)
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(SecretKey::from_packed(context.params().lwe(), id, &parts.bytes()?)?)
    }
}

/// Bytes of a coefficient of a public key, whose upper bits are 40 at most.
const UPPER: usize = 5;

impl Stored<FhewContext> for PublicKey {
    const KIND: Kind = Kind { tag: 19, name: "fhew public key" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(vec![Shape::Bytes(32), Shape::Bytes(UPPER * context.ctx().public_table()?.n())])
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        let (seed, b) = self.stored(context.ctx())?;
        out.bytes(Zeroizing::new(seed.to_vec()))?;
        let b = b.iter().flat_map(|b| b.to_le_bytes().into_iter().take(UPPER)).collect();
        Ok(out.bytes(Zeroizing::new(b))?)
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let (seed, b) = (parts.seed()?, parts.bytes()?);
        Ok(PublicKey::from_stored(context.ctx(), id, seed, b.chunks_exact(UPPER).map(word).collect())?)
    }
}

/// Up to eight little-endian bytes.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Samples of a key that are a section of a file together.
const TOGETHER: usize = 64;

/// A seed, and bodies of so many samples modulo the prime.
pub(super) fn key_shapes(context: &FhewContext, table: &SmallTable, shape: KeyShape) -> impl Iterator<Item = Shape> {
    let (all, n, modulus) = (samples(shape), table.n(), *context.ctx().modulus());
    let sections = (0..all).step_by(TOGETHER);
    let sections = sections.map(move |at| Shape::Residues { modulus, count: n * TOGETHER.min(all - at) });
    [Shape::Bytes(32)].into_iter().chain(sections)
}

pub(super) fn put_key(table: &SmallTable, key: &SeededKey, out: &mut Writer<'_>) -> Result<(), Error> {
    out.bytes(Zeroizing::new(key.seed().to_vec()))?;
    let (all, n) = (key.samples(), table.n());
    for first in (0..all).step_by(TOGETHER) {
        let mut bodies = vec![0; n * TOGETHER.min(all - first)];
        bodies.chunks_exact_mut(n).enumerate().for_each(|(i, body)| key.body(table, first + i, body));
        out.residues(&bodies)?;
    }
    Ok(())
}

pub(super) fn take_key(table: &SmallTable, shape: KeyShape, parts: &mut Reader<'_>) -> Result<SeededKey, Error> {
    let (seed, n) = (parts.seed()?, table.n());
    let (mut bodies, mut at) = (Vec::new(), 0);
    SeededKey::expand(table, shape, seed, |body| {
        if at == bodies.len() {
            (bodies, at) = (parts.residues()?, 0);
        }
        body.copy_from_slice(&bodies[at..at + n]);
        at += n;
        Ok(())
    })
}

impl Stored<FhewContext> for BootstrapKey {
    const KIND: Kind = Kind { tag: 12, name: "fhew bootstrap key" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        let ctx = context.ctx();
        let (rotation, switch) = FhewBootstrapKey::shapes(ctx);
        let rotation = rotation.into_iter().flat_map(|shape| key_shapes(context, ctx.table(), shape));
        Ok(rotation.chain(key_shapes(context, ctx.switch_table(), switch)).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        let (ctx, (rotation, switch)) = (context.ctx(), self.key.keys());
        rotation.into_iter().try_for_each(|key| put_key(ctx.table(), key, out))?;
        put_key(ctx.switch_table(), switch, out)
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let ctx = context.ctx();
        let (rotation, switch) = FhewBootstrapKey::shapes(ctx);
        let rotation = rotation.into_iter().map(|shape| take_key(ctx.table(), shape, parts));
        let rotation = rotation.collect::<Result<Vec<_>, Error>>()?;
        let switch = take_key(ctx.switch_table(), switch, parts)?;
        Ok(BootstrapKey::new(FhewBootstrapKey::of(ctx, rotation, switch, id)?))
    }
}

/// The digits of a packing key: those of the set, as in older files, or those that such keys have today.
fn digits(context: &FhewContext, w: &Words) -> Result<Gadget, Error> {
    let (ctx, own) = (context.ctx(), context.ctx().params().spec().gadget);
    let fine = PackingKey::digits(ctx);
    match (w[0], w[1]) {
        (0, 0) => Ok(own),
        words if fine != own && words == (fine.levels as u64, u64::from(fine.log_base)) => Ok(fine),
        _ => unknown::<FhewContext, PackingKey, _>("digits"),
    }
}

/// The shape and the digit of the key that chooses; none in older files and for sets without one.
fn choices(context: &FhewContext, w: &Words) -> Result<Option<(KeyShape, Gadget)>, Error> {
    let ctx = context.ctx();
    match (w[2], Blocks::choice_shape(ctx).zip(ctx.params().choice_gadget())) {
        (0, _) => Ok(None),
        (log_base, Some(found)) if u64::from(found.1.log_base) == log_base => Ok(Some(found)),
        _ => unknown::<FhewContext, PackingKey, _>("digits of choices"),
    }
}

impl Stored<FhewContext> for PackingKey {
    const KIND: Kind = Kind { tag: 14, name: "packing key" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    /// Its levels and the bits of its base, or 0 for the digits of the set; then the bits of the digit of choices, or nothing where
    /// none are there.
    fn words(&self) -> Vec<u64> {
        let own = self.own_digits().map_or([0, 0], |gadget| [gadget.levels as u64, u64::from(gadget.log_base)]);
        match self.choices() {
            Some(choices) => vec![own[0], own[1], u64::from(choices.gadget().log_base)],
            None => own.to_vec(),
        }
    }
    fn shapes(context: &FhewContext, w: &Words) -> Result<Vec<Shape>, Error> {
        let ctx = context.ctx();
        let merges = key_shapes(context, ctx.table(), Self::shape(ctx, digits(context, w)?));
        let choices = choices(context, w)?.into_iter();
        Ok(merges.chain(choices.flat_map(|(shape, _)| key_shapes(context, ctx.table(), shape))).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        put_key(context.ctx().table(), self.samples(), out)?;
        self.choices().map_or(Ok(()), |choices| put_key(context.ctx().table(), choices.samples(), out))
    }
    fn take(context: &FhewContext, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let (ctx, gadget) = (context.ctx(), digits(context, w)?);
        let key = Self::of(ctx, gadget, take_key(ctx.table(), Self::shape(ctx, gadget), parts)?, id);
        let Some((shape, digit)) = choices(context, w)? else { return Ok(key) };
        Ok(key.with_choices(BlindRotationKey::of(take_key(ctx.table(), shape, parts)?, digit, id)))
    }
}
