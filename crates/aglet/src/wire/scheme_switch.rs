//! Files of switches: where their keys are bound, and what is stored of them.

use super::fhew::{key_shapes, put_key, take_key};
use super::parameters::{foreign, gate, Parameters};
use super::rlwe::Lattice;
use super::{shown, Family, Kind, Origin, Reader, Shape, Stored, Summary, Words, Writer, FORMAT};
use crate::ckks;
use crate::fhew::FhewContext;
use crate::integer::{self, IntegerParams};
use crate::scheme_switch::{IntegerSchemeSwitch, SchemeSwitch, SwitchKey};
use crate::{Error, ForeignError, FormatError, KeyId, OtherEngine};
use aglet_ring::arch;
use aglet_rlwe::lwe::PackingKey;
use aglet_rlwe::ring_switch::{self, LargeToSmallKey, SmallToLargeKey};
use aglet_rlwe::KeyRole;
use aglet_schemes::ckks::CkksParams;
use aglet_schemes::fhew::{FhewLiteral, FhewParams};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The types of both families.
pub(super) const FAMILY: Family =
    Family { name: SchemeSwitchOrigin::FAMILY, said: "scheme switch", kinds: &[CkksParams::KEY], finer: |_, _| None };
pub(super) const INTEGERS: Family = Family {
    name: IntegerSchemeSwitchOrigin::FAMILY,
    said: "scheme switch of integers",
    kinds: &[IntegerParams::KEY],
    finer: |_, _| None,
};

/// What stands between the texts of both parameters.
const BETWEEN: &str = "\n# The parameters of look-ups.\n";

/// The parameters of slots that a switch leads from.
pub trait Side: Lattice {
    /// The family of the files of such switches.
    const SWITCHES: &'static str;
    /// The engines of such slots.
    type Engine;
    /// The type of keys in files.
    const KEY: Kind;
    /// Whether keys of the first files led to FHEW alone.
    const ONCE_ONE_WAY: bool;
}

impl Side for CkksParams {
    const SWITCHES: &'static str = "bridge";
    type Engine = ckks::Engine;
    const KEY: Kind = Kind { tag: 17, name: "scheme switch key" };
    const ONCE_ONE_WAY: bool = false;
}

impl Side for IntegerParams {
    const SWITCHES: &'static str = "integer-bridge";
    type Engine = integer::Engine;
    const KEY: Kind = Kind { tag: 18, name: "integer scheme switch key" };
    const ONCE_ONE_WAY: bool = true;
}

/// Where the key of a switch is bound: the parameters of both sides, whatever the number of slots.
#[derive(Clone)]
pub struct Ends<S> {
    /// Those of slots.
    pub params: S,
    /// Those of FHEW.
    pub fhew: FhewContext,
    /// What stands between them.
    between: Arc<ring_switch::RingSwitch>,
    name: String,
}

/// Of a [`SchemeSwitchKey`].
pub type SchemeSwitchOrigin = Ends<CkksParams>;
/// Of an [`IntegerSchemeSwitchKey`].
pub type IntegerSchemeSwitchOrigin = Ends<IntegerParams>;

impl<S: PartialEq> PartialEq for Ends<S> {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, &self.fhew) == (&other.params, &other.fhew)
    }
}

impl SchemeSwitch {
    /// What its key fits.
    #[must_use]
    pub fn origin(&self) -> SchemeSwitchOrigin {
        Ends::of(self.slots.params().clone(), self.fhew.context(), self.between.clone())
    }
}

impl IntegerSchemeSwitch {
    /// What its key fits.
    #[must_use]
    pub fn origin(&self) -> IntegerSchemeSwitchOrigin {
        Ends::of(self.slots.params().clone(), self.fhew.context(), self.between.clone())
    }
}

impl<S: Side> Ends<S> {
    fn of(params: S, fhew: FhewContext, between: Arc<ring_switch::RingSwitch>) -> Self {
        let name = format!("{} with {}", params.said().0, fhew.params().literal().name);
        Self { params, fhew, between, name }
    }

    /// The origin that data names: two presets that come with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no pair of literals, or none of this fingerprint; the security gate's
    /// error for parameters below 128 bits that are no preset, unless `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        FORMAT.check_family(summary.kind, summary.family, S::SWITCHES)?;
        let (slots, fhew) = literals::<S>(&summary.literal)?;
        let security = gate(allow_insecure);
        // As with every origin: presets are taken as they are, also those that are for tests.
        let presets = S::preset(S::named(&slots)).zip(FhewParams::preset(&fhew.name));
        let of = |(slots, fhew): &(S, FhewParams)| both(slots.said().1, fhew.fingerprint());
        let (params, fhew) = match presets.filter(|found| of(found) == summary.fingerprint) {
            Some(found) => found,
            None => (S::of(slots, security)?, FhewParams::of(fhew, security)?),
        };
        let context = FhewContext::new(fhew)?;
        let between = ring_switch::RingSwitch::new(context.ctx(), params.rlwe().log_n(), arch::chosen()?)?;
        let origin = Self::of(params, context, Arc::new(between));
        summary.check_fingerprint(&origin.name, origin.fingerprint())?;
        Ok(origin)
    }

    /// The names of both sets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shapes of a ring switch: a seed and bodies.
    fn down_shapes(&self) -> Vec<Shape> {
        let body = Shape::Residues { modulus: *self.fhew.ctx().modulus(), count: self.between.values() };
        [Shape::Bytes(32)].into_iter().chain(vec![body; self.between.digits()]).collect()
    }
    fn take_down(&self, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<LargeToSmallKey, Error> {
        let seed = parts.seed()?;
        let bodies = (0..self.between.digits()).map(|_| parts.residues()).collect::<Result<_, _>>()?;
        Ok(LargeToSmallKey::from_stored(&self.between, self.fhew.ctx(), (id, KeyId(w[0])), seed, bodies)?)
    }

    /// The shapes of a way back: packing as every key of FHEW, the keys to the main secret.
    fn up_shapes(&self) -> Result<Vec<Shape>, Error> {
        let (ctx, params) = (self.fhew.ctx(), self.params.rlwe());
        let packing = PackingKey::shape(ctx, ring_switch::RingSwitch::packing_gadget(ctx));
        let small_to_large =
            Shape::Key { params: params.clone(), role: KeyRole::SparseToDense, spec: SmallToLargeKey::spec(params)? };
        let small_to_large = vec![small_to_large; ctx.params().spec().rank];
        Ok(key_shapes(&self.fhew, ctx.table(), packing).chain(small_to_large).collect())
    }
    fn put_up(
        &self,
        (packing, small_to_large): (&PackingKey, &SmallToLargeKey),
        out: &mut Writer<'_>,
    ) -> Result<(), Error> {
        put_key(self.fhew.ctx().table(), packing.samples(), out)?;
        Ok(small_to_large.keys().iter().try_for_each(|key| out.key(key))?)
    }
    fn take_up(&self, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<(PackingKey, SmallToLargeKey), Error> {
        let (ctx, fhew) = (self.fhew.ctx(), KeyId(w[0]));
        let gadget = ring_switch::RingSwitch::packing_gadget(ctx);
        let packing = take_key(ctx.table(), PackingKey::shape(ctx, gadget), parts)?;
        let packing = PackingKey::of(ctx, gadget, packing, fhew);
        let small_to_large =
            (0..ctx.params().spec().rank).map(|_| Ok(parts.key(id)?.1)).collect::<Result<_, Error>>()?;
        Ok((packing, SmallToLargeKey::of(ctx, small_to_large, fhew)?))
    }
}

/// The fingerprint of two sets.
fn both(slots: [u8; 32], fhew: [u8; 32]) -> [u8; 32] {
    *blake3::hash(&[slots, fhew].concat()).as_bytes()
}

/// The literals of both sides.
fn literals<S: Side>(text: &str) -> Result<(S::Literal, FhewLiteral), Error> {
    let Some((slots, fhew)) = text.split_once(BETWEEN) else {
        return Err(FormatError::OneLiteral.into());
    };
    Ok((S::of_text(slots)?, FhewParams::of_text(fhew)?))
}

impl<S: Side> Origin for Ends<S> {
    const FAMILY: &'static str = S::SWITCHES;
    type Error = Error;

    fn fingerprint(&self) -> [u8; 32] {
        both(self.params.said().1, self.fhew.fingerprint())
    }
    fn slots(&self) -> usize {
        0
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(format!("{}{BETWEEN}{}", self.params.text()?, self.fhew.literal()?))
    }
    fn other_parameters(&self, kind: &'static str, literal: &str) -> Error {
        let other = literals::<S>(literal).map(|(slots, fhew)| {
            let (slots, fhew) = (shown(S::named(&slots)), shown(&fhew.name));
            (format!("{slots} with {fhew}"), OtherEngine::Pair { slots, fhew })
        });
        foreign(kind, &self.name, other)
    }
    fn other_slots(&self, kind: &'static str, slots: u64) -> Error {
        ForeignError::Slots { kind, slots, own: 0 }.into()
    }
}

impl<S: Side> Stored<Ends<S>> for SwitchKey<S::Engine> {
    const KIND: Kind = S::KEY;
    const SLOTS: bool = false;

    fn id(&self) -> KeyId {
        self.id()
    }
    /// The id of the FHEW secret and, where earlier keys did not, whether it leads back as well.
    fn words(&self) -> Vec<u64> {
        vec![self.fhew_key_id().0, u64::from(S::ONCE_ONE_WAY && self.both_ways())]
    }
    fn shapes(origin: &Ends<S>, w: &Words) -> Result<Vec<Shape>, Error> {
        let up = if both_ways::<S>(w)? { origin.up_shapes()? } else { Vec::new() };
        Ok(origin.down_shapes().into_iter().chain(up).collect())
    }
    fn put(&self, origin: &Ends<S>, out: &mut Writer<'_>) -> Result<(), Error> {
        let (seed, bodies) = self.large_to_small.stored()?;
        out.bytes(Zeroizing::new(seed.to_vec()))?;
        bodies.into_iter().try_for_each(|body| out.residues(body))?;
        self.small_to_large.as_ref().map_or(Ok(()), |(packing, up)| origin.put_up((packing, up), out))
    }
    fn take(origin: &Ends<S>, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let large_to_small = origin.take_down(id, w, parts)?;
        let small_to_large = both_ways::<S>(w)?.then(|| origin.take_up(id, w, parts)).transpose()?;
        Ok(Self::of(&origin.between, large_to_small, small_to_large))
    }
}

/// Whether a key of these words leads back as well.
fn both_ways<S: Side>(w: &Words) -> Result<bool, Error> {
    match (S::ONCE_ONE_WAY, w[1]) {
        (true, 0) => Ok(false),
        (true, 1) | (false, _) => Ok(true),
        _ => Err(FormatError::Direction.into()),
    }
}
