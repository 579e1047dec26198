//! What goes up to a card, once, and polynomials that it made.

use crate::backend::Card;
use crate::ops;
use crate::poly::{Kept, Limbs};
use crate::{DeviceKey, DevicePoly, DeviceRing, Error};
use aglet_ring::ops::{Diagonals, KeyStream};
use aglet_ring::poly::Eval;
use aglet_ring::{Digits, HostRing, KeyBlock, PackedPoly, Pair, Poly};
use std::any::Any;
use std::sync::Arc;

impl Card {
    /// A polynomial on this card; it is copied there once.
    pub(crate) fn up(&self, device: &DeviceRing<'_>, x: &Poly<Eval>) -> Result<DevicePoly<Eval>, Error> {
        let there = x.card().and_then(|there| (&**there as &dyn Any).downcast_ref::<Limbs>());
        let limbs = match there.filter(|there| there.card.is(self.device())) {
            Some(there) => there.limbs[..x.limbs()].to_vec(),
            None => {
                let mut limbs = device.upload(&x.whole())?.into_limbs();
                x.put(Arc::new(Limbs { card: self.device().clone(), limbs: limbs.clone() }));
                limbs.truncate(x.limbs());
                limbs
            }
        };
        Ok(DevicePoly::of(limbs, x.q_limbs()))
    }
    pub(crate) fn all_up<'a>(
        &self,
        device: &DeviceRing<'_>,
        of: impl IntoIterator<Item = &'a Poly<Eval>>,
    ) -> Result<Vec<DevicePoly<Eval>>, Error> {
        of.into_iter().map(|x| self.up(device, x)).collect()
    }
    pub(crate) fn digits_up(&self, device: &DeviceRing<'_>, x: &Digits) -> Result<Vec<DevicePoly<Eval>>, Error> {
        match x.whole() {
            Some(polys) => self.all_up(device, polys),
            None => self.all_up(device, &x.copied(device.ring())?),
        }
    }
    /// A polynomial of a key on this card; it is copied there once.
    pub(crate) fn key_poly_up(&self, device: &DeviceRing<'_>, x: &PackedPoly) -> Result<DevicePoly<Eval>, Error> {
        if let Some(kept) = x.card().get::<Kept<DevicePoly<Eval>>>().filter(|kept| kept.card.is(self.device())) {
            return Ok(kept.there.clone());
        }
        let there = device.upload(&x.unpacked()?)?;
        x.card().put(Arc::new(Kept { card: self.device().clone(), there: there.clone() }));
        Ok(there)
    }
    pub(crate) fn key_up(&self, device: &DeviceRing<'_>, key: &KeyBlock) -> Result<DeviceKey, Error> {
        let (rows, q_limbs) = key.rows();
        let polys = key.polys().map(|x| self.key_poly_up(device, x)).collect::<Result<Vec<_>, _>>()?;
        let part = |x: DevicePoly<Eval>| DevicePoly::of(rows.iter().map(|&i| x.limb(i).clone()).collect(), q_limbs);
        Ok(DeviceKey::of(polys.into_iter().map(part).collect()))
    }
    pub(crate) fn keys_up<'a>(
        &self,
        device: &DeviceRing<'_>,
        keys: impl IntoIterator<Item = &'a KeyBlock>,
    ) -> Result<Vec<DeviceKey>, Error> {
        keys.into_iter().map(|key| self.key_up(device, key)).collect()
    }
    /// Diagonals on this card; none of those that were encoded for the host.
    pub(crate) fn diagonals_up(
        &self,
        device: &DeviceRing<'_>,
        of: &Diagonals,
    ) -> Result<Option<Arc<Kept<ops::Diagonals>>>, Error> {
        let kept = of.card().get::<Kept<ops::Diagonals>>().filter(|kept| kept.card.is(self.device()));
        let (None, Some(entries)) = (&kept, of.coefficients()) else { return Ok(kept) };
        let entry = |small: Option<Vec<i64>>| small.map(|small| device.diagonal(&small, of.shape())).transpose();
        let entries = entries.into_iter().map(entry).collect::<Result<_, _>>()?;
        let there = ops::Diagonals::new(of.babies(), entries);
        let kept = Arc::new(Kept { card: self.device().clone(), there });
        of.card().put(kept.clone());
        Ok(Some(kept))
    }
    pub(crate) fn stream_up(&self, device: &DeviceRing<'_>, of: &KeyStream) -> Result<Arc<Kept<ops::Stream>>, Error> {
        if let Some(kept) = of.card().get::<Kept<ops::Stream>>().filter(|kept| kept.card.is(self.device())) {
            return Ok(kept);
        }
        let kept = Arc::new(Kept { card: self.device().clone(), there: device.upload_stream(of)? });
        of.card().put(kept.clone());
        Ok(kept)
    }

    /// A polynomial that the card made.
    pub(crate) fn made(&self, ring: &HostRing, x: DevicePoly<Eval>) -> Poly<Eval> {
        let (q_limbs, p_limbs) = (x.q_limbs(), x.p_limbs());
        ring.on_card(Arc::new(Limbs { card: self.device().clone(), limbs: x.into_limbs() }), q_limbs, p_limbs)
    }
    pub(crate) fn all_made(&self, ring: &HostRing, of: Vec<DevicePoly<Eval>>) -> Vec<Poly<Eval>> {
        of.into_iter().map(|x| self.made(ring, x)).collect()
    }
    pub(crate) fn pairs_made(&self, ring: &HostRing, of: Vec<ops::Pair>) -> Vec<Pair> {
        of.into_iter().map(|(b, a)| (self.made(ring, b), self.made(ring, a))).collect()
    }
}
