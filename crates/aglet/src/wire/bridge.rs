//! Files of bridges: where their key is at home, and what is stored of it.

use super::fhew::{key_shapes, put_key, take_key};
use super::parameters::{shown, unusable};
use super::rlwe::Words;
use super::{Family, Kind, Origin, Reader, Shape, Stored, Summary, Writer};
use crate::bridge::{Bridge, BridgeKey};
use crate::fhew::{self, Home};
use crate::{presets, Error, KeyId};
use aglet_ring::arch;
use aglet_rlwe::bridge::{self, DownKey, UpKey};
use aglet_rlwe::lwe::PackingKey;
use aglet_rlwe::security::Security;
use aglet_rlwe::KeyRole;
use aglet_schemes::ckks::{CkksLiteral, CkksParams};
use aglet_schemes::fhew::{FhewLiteral, FhewParams};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The types of the family.
pub(super) const FAMILY: Family = Family { name: BridgeOrigin::FAMILY, kinds: &[BridgeKey::KIND], finer: |_, _| None };

/// What stands between the texts of both parameters.
const BETWEEN: &str = "\n# The parameters of look-ups.\n";

/// Where the key of a bridge is at home: the parameters of both sides, whatever the number of slots.
#[derive(Clone)]
pub struct BridgeOrigin {
    /// Those of slots.
    pub params: CkksParams,
    /// Those of look-ups.
    pub lookups: Home,
    /// What stands between them.
    between: Arc<bridge::Bridge>,
    name: String,
}

impl PartialEq for BridgeOrigin {
    fn eq(&self, other: &Self) -> bool {
        (&self.params, &self.lookups) == (&other.params, &other.lookups)
    }
}

impl Bridge {
    /// What its key fits.
    #[must_use]
    pub fn origin(&self) -> BridgeOrigin {
        BridgeOrigin::of(self.slots.params().clone(), self.lookups.home(), self.between.clone())
    }
}

impl BridgeOrigin {
    fn of(params: CkksParams, lookups: Home, between: Arc<bridge::Bridge>) -> Self {
        let name = format!("{} with {}", params.name(), lookups.params().literal().name);
        Self { params, lookups, between, name }
    }

    /// The origin that data names: two presets that come with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no pair of literals, or none of this fingerprint; the security gate's
    /// error for parameters below 128 bits that are no preset, unless `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        summary.check_family(Self::FAMILY)?;
        let (slots, lookups) = literals(&summary.literal)?;
        let security = if allow_insecure { Security::NotChecked } else { Security::Bits128 };
        // As with every origin: presets are taken as they are, also those that are for tests.
        let presets = presets::load(&slots.name, true).ok().zip(fhew::presets::load(&lookups.name, true).ok());
        let of = |(slots, lookups): &(CkksParams, FhewParams)| both(slots.fingerprint(), lookups.fingerprint());
        let (params, lookups) = match presets.filter(|found| of(found) == summary.fingerprint) {
            Some(found) => found,
            None => (
                CkksParams::new(slots, security).map_err(unusable)?,
                FhewParams::new(lookups, security).map_err(unusable)?,
            ),
        };
        let home = Home::new(lookups)?;
        let between = bridge::Bridge::new(home.ctx(), params.log_n(), arch::chosen()?)?;
        let origin = Self::of(params, home, Arc::new(between));
        summary.check_fingerprint(&origin.name, origin.fingerprint())?;
        Ok(origin)
    }
}

/// The fingerprint of two sets.
fn both(slots: [u8; 32], lookups: [u8; 32]) -> [u8; 32] {
    *blake3::hash(&[slots, lookups].concat()).as_bytes()
}

/// The literals of both sides.
fn literals(text: &str) -> Result<(CkksLiteral, FhewLiteral), Error> {
    let Some((slots, lookups)) = text.split_once(BETWEEN) else {
        return Err(Error::Format(
            "The parameters of this data are not those of two engines; it was not made by Aglet.".into(),
        ));
    };
    Ok((CkksLiteral::from_toml(slots).map_err(unusable)?, FhewLiteral::from_toml(lookups).map_err(unusable)?))
}

impl Origin for BridgeOrigin {
    const FAMILY: &'static str = "bridge";

    fn name(&self) -> &str {
        &self.name
    }
    fn fingerprint(&self) -> [u8; 32] {
        both(self.params.fingerprint(), self.lookups.fingerprint())
    }
    fn slots(&self) -> usize {
        0
    }
    fn literal(&self) -> Result<String, Error> {
        Ok(format!("{}{BETWEEN}{}", self.params.literal().to_toml()?, self.lookups.literal()?))
    }
    fn other(&self, literal: &str) -> Result<(String, String), Error> {
        let (slots, lookups) = literals(literal)?;
        let (slots, lookups) = (shown(&slots.name), shown(&lookups.name));
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
    /// The ring switch as a seed and bodies, packing as every key of look-ups, the keys to the main secret.
    fn shapes(origin: &BridgeOrigin, _: &Words) -> Result<Vec<Shape>, Error> {
        let ctx = origin.lookups.ctx();
        let body = Shape::Residues { modulus: *ctx.modulus(), count: origin.between.values() };
        let down = [Shape::Bytes(32)].into_iter().chain(vec![body; origin.between.digits()]);
        let packing = PackingKey::shape(ctx, bridge::Bridge::packing_gadget(ctx));
        let spec = UpKey::spec(&origin.params)?;
        let up = Shape::Key { params: origin.params.rlwe().clone(), role: KeyRole::FromSparse, spec };
        let up = vec![up; ctx.params().spec().rank];
        Ok(down.chain(key_shapes(&origin.lookups, ctx.table(), packing)).chain(up).collect())
    }
    fn put(&self, origin: &BridgeOrigin, out: &mut Writer<'_>) -> Result<(), Error> {
        let (seed, bodies) = self.down.stored();
        out.bytes(Zeroizing::new(seed.to_vec()))?;
        bodies.into_iter().try_for_each(|body| out.residues(body))?;
        put_key(origin.lookups.ctx().table(), self.packing.samples(), out)?;
        self.up.keys().iter().try_for_each(|key| out.key(key))
    }
    fn take(origin: &BridgeOrigin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let (ctx, between, lookups) = (origin.lookups.ctx(), &*origin.between, KeyId(w[0]));
        let seed = parts.seed()?;
        let bodies = (0..between.digits()).map(|_| parts.residues()).collect::<Result<_, Error>>()?;
        let down = DownKey::from_stored(between, ctx, (id, lookups), seed, bodies)?;
        let gadget = bridge::Bridge::packing_gadget(ctx);
        let packing = take_key(ctx.table(), PackingKey::shape(ctx, gadget), parts)?;
        let packing = PackingKey::of(ctx, gadget, packing, lookups);
        let up = (0..ctx.params().spec().rank).map(|_| Ok(parts.key(id)?.1)).collect::<Result<_, Error>>()?;
        Ok(Self::of(between, down, packing, UpKey::of(ctx, up, lookups)?))
    }
}
