//! Files of bridges: where their keys are at home, and what is stored of them.

use super::fhew::{key_shapes, put_key, take_key};
use super::parameters::{shown, unusable};
use super::rlwe::Words;
use super::{Family, Kind, Origin, Reader, Shape, Stored, Summary, Writer};
use crate::bridge::{Bridge, BridgeKey, IntegerBridge, IntegerBridgeKey};
use crate::fhew::{self, Home};
use crate::integer::{self, IntegerLiteral, IntegerParams};
use crate::{presets, Error, KeyId};
use aglet_ring::arch;
use aglet_rlwe::bridge::{self, DownKey, UpKey};
use aglet_rlwe::lwe::PackingKey;
use aglet_rlwe::security::Security;
use aglet_rlwe::{KeyRole, Params};
use aglet_schemes::ckks::{CkksLiteral, CkksParams};
use aglet_schemes::fhew::{FhewLiteral, FhewParams};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The types of both families.
pub(super) const FAMILY: Family = Family { name: BridgeOrigin::FAMILY, kinds: &[BridgeKey::KIND], finer: |_, _| None };
pub(super) const INTEGERS: Family =
    Family { name: IntegerBridgeOrigin::FAMILY, kinds: &[IntegerBridgeKey::KIND], finer: |_, _| None };

/// What stands between the texts of both parameters.
const BETWEEN: &str = "\n# The parameters of look-ups.\n";

/// The parameters of slots that a bridge leads from.
pub trait Side: Clone + PartialEq + Send + Sync {
    /// The family of the files of such bridges.
    const FAMILY: &'static str;
    /// What the parameters are made of.
    type Literal;

    /// # Errors
    /// [`Error::Format`] for a text that is none.
    fn literal(text: &str) -> Result<Self::Literal, Error>;
    /// The name that a literal gives itself.
    fn named(literal: &Self::Literal) -> &str;
    /// The preset of a name, whatever it is for.
    fn preset(name: &str) -> Option<Self>;
    /// # Errors
    /// What the parameters and the security gate refuse.
    fn of(literal: Self::Literal, security: Security) -> Result<Self, Error>;
    /// What they are on floor 1.
    fn rlwe(&self) -> &Params;
    /// The name, the fingerprint, log2 of the degree.
    fn said(&self) -> (&str, [u8; 32], u32);
    /// # Errors
    /// Those of writing TOML.
    fn text(&self) -> Result<String, Error>;
}

macro_rules! side {
    ($params:ty, $literal:ty, $family:literal, $preset:expr) => {
        impl Side for $params {
            const FAMILY: &'static str = $family;
            type Literal = $literal;

            fn literal(text: &str) -> Result<$literal, Error> {
                <$literal>::from_toml(text).map_err(unusable)
            }
            fn named(literal: &$literal) -> &str {
                &literal.name
            }
            fn preset(name: &str) -> Option<Self> {
                $preset(name).ok()
            }
            fn of(literal: $literal, security: Security) -> Result<Self, Error> {
                Self::new(literal, security).map_err(unusable)
            }
            fn rlwe(&self) -> &Params {
                <$params>::rlwe(self)
            }
            fn said(&self) -> (&str, [u8; 32], u32) {
                (self.name(), self.fingerprint(), self.log_n())
            }
            fn text(&self) -> Result<String, Error> {
                Ok(<$params>::literal(self).to_toml()?)
            }
        }
    };
}
side! { CkksParams, CkksLiteral, "bridge", |name| presets::load(name, true) }
side! { IntegerParams, IntegerLiteral, "integer-bridge", integer::presets::load }

/// Where the key of a bridge is at home: the parameters of both sides, whatever the number of slots.
#[derive(Clone)]
pub struct Ends<S> {
    /// Those of slots.
    pub params: S,
    /// Those of look-ups.
    pub lookups: Home,
    /// What stands between them.
    between: Arc<bridge::Bridge>,
    name: String,
}

/// Of a [`BridgeKey`].
pub type BridgeOrigin = Ends<CkksParams>;
/// Of an [`IntegerBridgeKey`].
pub type IntegerBridgeOrigin = Ends<IntegerParams>;

impl<S: PartialEq> PartialEq for Ends<S> {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, &self.lookups) == (&other.params, &other.lookups)
    }
}

impl Bridge {
    /// What its key fits.
    #[must_use]
    pub fn origin(&self) -> BridgeOrigin {
        Ends::of(self.slots.params().clone(), self.lookups.home(), self.between.clone())
    }
}

impl IntegerBridge {
    /// What its key fits.
    #[must_use]
    pub fn origin(&self) -> IntegerBridgeOrigin {
        Ends::of(self.numbers.params().clone(), self.lookups.home(), self.between.clone())
    }
}

impl<S: Side> Ends<S> {
    fn of(params: S, lookups: Home, between: Arc<bridge::Bridge>) -> Self {
        let name = format!("{} with {}", params.said().0, lookups.params().literal().name);
        Self { params, lookups, between, name }
    }

    /// The origin that data names: two presets that come with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no pair of literals, or none of this fingerprint; the security gate's
    /// error for parameters below 128 bits that are no preset, unless `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        summary.check_family(S::FAMILY)?;
        let (slots, lookups) = literals::<S>(&summary.literal)?;
        let security = if allow_insecure { Security::NotChecked } else { Security::Bits128 };
        // As with every origin: presets are taken as they are, also those that are for tests.
        let presets = S::preset(S::named(&slots)).zip(fhew::presets::load(&lookups.name, true).ok());
        let of = |(slots, lookups): &(S, FhewParams)| both(slots.said().1, lookups.fingerprint());
        let (params, lookups) = match presets.filter(|found| of(found) == summary.fingerprint) {
            Some(found) => found,
            None => (S::of(slots, security)?, FhewParams::new(lookups, security).map_err(unusable)?),
        };
        let home = Home::new(lookups)?;
        let between = bridge::Bridge::new(home.ctx(), params.said().2, arch::chosen()?)?;
        let origin = Self::of(params, home, Arc::new(between));
        summary.check_fingerprint(&origin.name, origin.fingerprint())?;
        Ok(origin)
    }

    /// The shapes of a ring switch: a seed and bodies.
    fn down_shapes(&self) -> Vec<Shape> {
        let body = Shape::Residues { modulus: *self.lookups.ctx().modulus(), count: self.between.values() };
        [Shape::Bytes(32)].into_iter().chain(vec![body; self.between.digits()]).collect()
    }
    fn take_down(&self, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<DownKey, Error> {
        let seed = parts.seed()?;
        let bodies = (0..self.between.digits()).map(|_| parts.residues()).collect::<Result<_, Error>>()?;
        Ok(DownKey::from_stored(&self.between, self.lookups.ctx(), (id, KeyId(w[0])), seed, bodies)?)
    }

    /// The shapes of a way up: packing as every key of look-ups, the keys to the main secret.
    fn up_shapes(&self) -> Result<Vec<Shape>, Error> {
        let (ctx, params) = (self.lookups.ctx(), self.params.rlwe());
        let packing = PackingKey::shape(ctx, bridge::Bridge::packing_gadget(ctx));
        let up = Shape::Key { params: params.clone(), role: KeyRole::FromSparse, spec: UpKey::spec(params)? };
        let up = vec![up; ctx.params().spec().rank];
        Ok(key_shapes(&self.lookups, ctx.table(), packing).chain(up).collect())
    }
    fn put_up(&self, (packing, up): (&PackingKey, &UpKey), out: &mut Writer<'_>) -> Result<(), Error> {
        put_key(self.lookups.ctx().table(), packing.samples(), out)?;
        up.keys().iter().try_for_each(|key| out.key(key))
    }
    fn take_up(&self, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<(PackingKey, UpKey), Error> {
        let (ctx, lookups) = (self.lookups.ctx(), KeyId(w[0]));
        let gadget = bridge::Bridge::packing_gadget(ctx);
        let packing = take_key(ctx.table(), PackingKey::shape(ctx, gadget), parts)?;
        let packing = PackingKey::of(ctx, gadget, packing, lookups);
        let up = (0..ctx.params().spec().rank).map(|_| Ok(parts.key(id)?.1)).collect::<Result<_, Error>>()?;
        Ok((packing, UpKey::of(ctx, up, lookups)?))
    }
}

fn put_down(down: &DownKey, out: &mut Writer<'_>) -> Result<(), Error> {
    let (seed, bodies) = down.stored();
    out.bytes(Zeroizing::new(seed.to_vec()))?;
    bodies.into_iter().try_for_each(|body| out.residues(body))
}

/// The fingerprint of two sets.
fn both(slots: [u8; 32], lookups: [u8; 32]) -> [u8; 32] {
    *blake3::hash(&[slots, lookups].concat()).as_bytes()
}

/// The literals of both sides.
fn literals<S: Side>(text: &str) -> Result<(S::Literal, FhewLiteral), Error> {
    let Some((slots, lookups)) = text.split_once(BETWEEN) else {
        return Err(Error::Format(
            "The parameters of this data are not those of two engines; it was not made by Aglet.".into(),
        ));
    };
    Ok((S::literal(slots)?, FhewLiteral::from_toml(lookups).map_err(unusable)?))
}

impl<S: Side> Origin for Ends<S> {
    const FAMILY: &'static str = S::FAMILY;

    fn name(&self) -> &str {
        &self.name
    }
    fn fingerprint(&self) -> [u8; 32] {
        both(self.params.said().1, self.lookups.fingerprint())
    }
    fn slots(&self) -> usize {
        0
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(format!("{}{BETWEEN}{}", self.params.text()?, self.lookups.literal()?))
    }
    fn other(&self, literal: &str) -> Result<(String, String), Error> {
        let (slots, lookups) = literals::<S>(literal)?;
        let (slots, lookups) = (shown(S::named(&slots)), shown(&lookups.name));
        Ok((
            format!("{slots} with {lookups}"),
            format!("make the bridge of engines with preset={slots} and preset={lookups}"),
        ))
    }
}

impl Stored<BridgeOrigin> for BridgeKey {
    const KIND: Kind = Kind { tag: 17, name: "bridge key" };
    const SLOTS: bool = false;

    fn id(&self) -> KeyId {
        self.id()
    }
    /// The id of the look-up secret.
    fn words(&self) -> Vec<u64> {
        vec![self.lookup_id().0]
    }
    fn shapes(origin: &BridgeOrigin, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(origin.down_shapes().into_iter().chain(origin.up_shapes()?).collect())
    }
    fn put(&self, origin: &BridgeOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        put_down(&self.down, out)?;
        origin.put_up((&self.packing, &self.up), out)
    }
    fn take(origin: &BridgeOrigin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let down = origin.take_down(id, w, parts)?;
        let (packing, up) = origin.take_up(id, w, parts)?;
        Ok(Self::of(&origin.between, down, packing, up))
    }
}

impl Stored<IntegerBridgeOrigin> for IntegerBridgeKey {
    const KIND: Kind = Kind { tag: 18, name: "integer bridge key" };
    const SLOTS: bool = false;

    fn id(&self) -> KeyId {
        self.id()
    }
    /// The id of the look-up secret, and whether it leads up as well: earlier keys did not.
    fn words(&self) -> Vec<u64> {
        vec![self.lookup_id().0, u64::from(self.leads_up())]
    }
    fn shapes(origin: &IntegerBridgeOrigin, w: &Words) -> Result<Vec<Shape>, Error> {
        match w[1] {
            0 => Ok(origin.down_shapes()),
            1 => Ok(origin.down_shapes().into_iter().chain(origin.up_shapes()?).collect()),
            _ => Err(Error::Format(
                "This bridge key leads in a direction that this version does not know; update Aglet.".into(),
            )),
        }
    }
    fn put(&self, origin: &IntegerBridgeOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        put_down(&self.down, out)?;
        self.up.as_ref().map_or(Ok(()), |(packing, up)| origin.put_up((packing, up), out))
    }
    fn take(origin: &IntegerBridgeOrigin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let down = origin.take_down(id, w, parts)?;
        let up = (w[1] == 1).then(|| origin.take_up(id, w, parts)).transpose()?;
        Ok(Self::of(&origin.between, down, up))
    }
}
