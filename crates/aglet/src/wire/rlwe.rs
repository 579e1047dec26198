//! The common parts of files of all families over the ring: secret and public keys, polynomials, and types that are
//! switching keys and nothing else.

use super::parameters::{foreign, found, Parameters};
use super::{shown, unknown, Kind, Origin, Reader, Shape, Stored, Summary, Words, Writer};
use crate::{Error, ForeignError, FormatError, OtherEngine, PublicKey, SecretKey};
use aglet_rlwe::{Context, KeyId, KeyRole, KeySwitchSpec, Params, SwitchingKey};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Parameters with a chain of primes.
pub trait Lattice: Parameters {
    /// The chain.
    fn rlwe(&self) -> &Params;
    /// Limbs of a fresh ciphertext at the highest level.
    fn user_limbs(&self) -> usize;
    /// Whether there is an engine of so many slots.
    fn serves(&self, slots: usize) -> bool;
    /// What to do about other parameters, whose quoted name is given.
    fn other(&self, theirs: &Self::Literal, name: String) -> OtherEngine;
    /// What is wrong with a thing of another number of slots.
    fn other_slots(kind: &'static str, slots: u64, own: usize) -> ForeignError {
        ForeignError::Slots { kind, slots, own }
    }
}

/// The origin of stored data: it fits engines of these parameters and, in most cases, this number of slots.
#[derive(Clone)]
pub struct SlotOrigin<P> {
    /// The parameters.
    pub params: P,
    /// Message slots; zero where coefficients are packed.
    pub slots: usize,
    /// The tables of an engine, which only secret keys need.
    pub ctx: Option<Arc<Context>>,
}

impl<P: PartialEq> PartialEq for SlotOrigin<P> {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, self.slots) == (&other.params, other.slots)
    }
}

impl<P: Lattice> SlotOrigin<P> {
    /// The origin that data names: a preset that comes with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
    /// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        let (params, slots) = (found::<P>(summary, allow_insecure)?, summary.slots);
        match params.serves(slots) {
            true => Ok(Self { params, slots, ctx: None }),
            false => Err(FormatError::Slots { slots }.into()),
        }
    }
}

impl<P: Lattice> Origin for SlotOrigin<P> {
    const FAMILY: &'static str = P::FAMILY;
    type Error = Error;

    fn fingerprint(&self) -> [u8; 32] {
        self.params.said().1
    }
    fn slots(&self) -> usize {
        self.slots
    }
    fn other_slots(&self, kind: &'static str, slots: u64) -> Error {
        P::other_slots(kind, slots, self.slots).into()
    }
    fn literal(&self) -> Result<String, Error> {
        self.params.text()
    }
    fn other_parameters(&self, kind: &'static str, literal: &str) -> Error {
        let other = P::of_text(literal).map(|theirs| {
            let name = shown(P::named(&theirs));
            (name.clone(), self.params.other(&theirs, name))
        });
        foreign(kind, self.params.said().0, other)
    }
}

/// Bytes of so many limbs at least: laying out the keys of every small bootstrap takes seconds, and what is read must be long enough to
/// be worth it.
pub fn limb_bytes(params: &Params, limbs: usize) -> u64 {
    let bits = params.q().iter().map(|q| q.ilog2()).min().unwrap_or(0);
    (limbs * params.n() / 8) as u64 * u64::from(bits)
}

pub fn balanced(params: &Params, role: KeyRole, q_limbs: usize) -> Result<Shape, Error> {
    Ok(Shape::Key { params: params.clone(), role, spec: KeySwitchSpec::balanced(params, q_limbs)? })
}

pub fn polys(params: &Params, count: usize, q_limbs: usize) -> Vec<Shape> {
    (0..count).map(|_| Shape::Poly { params: params.clone(), q_limbs, p_limbs: 0 }).collect()
}

pub fn one<O: Origin, T: Stored<O>>(list: Vec<(KeyRole, Arc<SwitchingKey>)>) -> Result<Arc<SwitchingKey>, O::Error> {
    list.into_iter().next().map_or_else(|| unknown::<O, T, _>("parts"), |(_, key)| Ok(key))
}

/// Types that are switching keys: how they are listed, and made again of id and list (each key with its role).
macro_rules! keys {
    ($origin_type:ty: $($type:ty: $tag:literal $name:literal, slots: $slots:literal {
        least: |$of:ident| $least:expr,
        words: |$x:ident| $words:expr,
        shapes: |$origin:ident, $w:ident| $shapes:expr,
        keys: |$y:ident| $keys:expr,
        take: |$from:ident, $v:ident, $id:ident, $list:ident| $take:expr $(,)?
    })*) => {$(
        impl Stored<$origin_type> for $type {
            const KIND: Kind = Kind { tag: $tag, name: $name };
            const SLOTS: bool = $slots;

            fn least($of: &$origin_type) -> u64 {
                $crate::wire::rlwe::limb_bytes(&$of.params, $least)
            }

            fn id(&self) -> KeyId {
                <$type>::id(self)
            }
            fn words(&self) -> Vec<u64> {
                let $x = self;
                $words
            }
            fn shapes($origin: &$origin_type, $w: &Words) -> Result<Vec<Shape>, Error> {
                $shapes
            }
            fn put(&self, _: &$origin_type, out: &mut Writer<'_>) -> Result<(), Error> {
                let $y = self;
                let keys: Vec<&aglet_rlwe::SwitchingKey> = $keys;
                Ok(keys.into_iter().try_for_each(|key| out.key(key))?)
            }
            fn take($from: &$origin_type, $id: KeyId, $v: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
                let mut $list = Vec::new();
                while parts.more() {
                    let (role, key) = parts.key($id)?;
                    $list.push((role, Arc::new(key)));
                }
                $take
            }
        }
    )*};
}
pub(super) use keys;

impl<P: Lattice> Stored<SlotOrigin<P>> for SecretKey {
    const KIND: Kind = Kind { tag: 1, name: "secret key" };
    const SLOTS: bool = false;
    const SECRET: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(origin: &SlotOrigin<P>, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(vec![Shape::Bytes(SecretKey::packed_len(origin.params.rlwe()))])
    }
    fn put(&self, _: &SlotOrigin<P>, out: &mut Writer<'_>) -> Result<(), Error> {
        Ok(out.bytes(self.packed()?)?)
    }
    fn take(origin: &SlotOrigin<P>, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(SecretKey::from_packed(origin.ctx.as_ref().ok_or(FormatError::NoEngine)?, id, &parts.bytes()?)?)
    }
}

impl<P: Lattice> Stored<SlotOrigin<P>> for PublicKey {
    const KIND: Kind = Kind { tag: 2, name: "public key" };
    const SLOTS: bool = false;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(origin: &SlotOrigin<P>, _: &Words) -> Result<Vec<Shape>, Error> {
        let b = Shape::Poly { q_limbs: origin.params.user_limbs(), p_limbs: 1, params: origin.params.rlwe().clone() };
        Ok(vec![Shape::Bytes(32), b])
    }
    fn put(&self, _: &SlotOrigin<P>, out: &mut Writer<'_>) -> Result<(), Error> {
        let (seed, b) = self.stored();
        out.bytes(Zeroizing::new(seed.to_vec()))?;
        Ok(out.poly(b)?)
    }
    fn take(origin: &SlotOrigin<P>, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(PublicKey::from_stored(origin.params.rlwe(), id, parts.seed()?, parts.poly()?)?)
    }
}
