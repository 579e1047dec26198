//! The ring switch back, after repacking: from packed GLWE samples of a FHEW key to one RLWE sample modulo q0 under the main secret.
//!
//! Sample j of degree N' becomes class j of the coefficients modulo g: `sum_j X^j ct_j(X^g)` is a sample of degree N under `S_r(X^g)`.
//! Switched to the modulus q0, one key for each r leads from there to the main secret.

use super::residues::polynomial;
use super::RingSwitch;
use crate::context::Context;
use crate::error::Error;
use crate::fault::RingSwitchFault;
use crate::gadget::KeySwitchSpec;
use crate::keyswitch::{digits, divide};
use crate::lwe::{GlweSample, LweCiphertext, LweContext, LweSecretKey, PackingKey};
use crate::params::Params;
use crate::sample::Sample;
use crate::secret::{KeyId, SecretKey};
use crate::SwitchingKey;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::KeyProduct;
use rayon::prelude::*;

/// A switching key from each polynomial of a FHEW secret to a main secret, at the lowest modulus.
pub struct SmallToLargeKey {
    keys: Vec<SwitchingKey>,
    from: KeyId,
}

impl SmallToLargeKey {
    /// The shape of its keys: one limb of the chain.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn spec(large: &Params) -> Result<KeySwitchSpec, Error> {
        KeySwitchSpec::balanced(large, 1)
    }

    /// Makes the key, which leads from one secret to the other.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::BadParameters`] for a ring of another degree.
    pub fn generate(
        switch: &RingSwitch,
        (large, ctx): (&Context, &LweContext),
        (from, to): (&LweSecretKey, &SecretKey),
        source: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (found, expected) = (large.ring().n(), switch.ring.n());
        if found != expected {
            return Err(RingSwitchFault::Context { found, expected }.into());
        }
        let key = |r| {
            let part = SecretKey::of(large, from.id(), (ctx.params().spec().secret, switch.spread(from, r)))?;
            SwitchingKey::between(large, Self::spec(large.params())?, &part, to, source)
        };
        let keys = (0..ctx.params().spec().rank).map(key).collect::<Result<_, _>>()?;
        Ok(Self { keys, from: from.id() })
    }

    /// The key that is made of these, one for each polynomial of the FHEW secret.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of them.
    pub fn of(ctx: &LweContext, keys: Vec<SwitchingKey>, from: KeyId) -> Result<Self, Error> {
        match keys.len() == ctx.params().spec().rank {
            true => Ok(Self { keys, from }),
            false => Err(Error::Stored { what: "ring switch key lacks a part" }),
        }
    }

    /// Its keys.
    #[must_use]
    pub fn keys(&self) -> &[SwitchingKey] {
        &self.keys
    }
    /// The FHEW secret that samples come from.
    #[must_use]
    pub fn from(&self) -> KeyId {
        self.from
    }
    /// The secret key that they go to.
    #[must_use]
    pub fn to(&self) -> KeyId {
        self.keys.first().map_or(self.from, SwitchingKey::id)
    }
    /// Bytes that a key of these parameters takes in memory.
    ///
    /// # Errors
    /// Those of [`SmallToLargeKey::spec`].
    pub fn forecast(large: &Context, ctx: &LweContext) -> Result<usize, Error> {
        Ok(ctx.params().spec().rank * Self::spec(large.params())?.byte_count(large.params())?)
    }
    /// Bytes when stored with seeds.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.keys.iter().map(SwitchingKey::stored_bytes).sum()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.keys.iter().map(SwitchingKey::byte_count).sum()
    }

    /// Bytes on a card, and those of them that are there already. The switch itself takes little beside: it has one limb of the chain.
    #[must_use]
    pub fn on_card(&self) -> (usize, usize) {
        let there = self.keys.iter().map(|key| key.words().card_bytes_there());
        (self.keys.iter().map(SwitchingKey::card_bytes).sum(), there.sum())
    }

    /// Ciphertexts as coefficients of the large ring, each at its place: for every class that has one a sample of the small ring. All
    /// others are zero.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a coefficient that does not exist, [`Error::KeyMismatch`] for ciphertexts of another key.
    pub fn pack(
        switch: &RingSwitch,
        ctx: &LweContext,
        key: &PackingKey,
        members: &[(usize, LweCiphertext)],
    ) -> Result<Vec<Option<GlweSample>>, Error> {
        let (classes, n) = (switch.classes(), ctx.params().n());
        if let Some(&(index, _)) = members.iter().find(|m| m.0 >= switch.values()) {
            return Err(RingSwitchFault::Coefficient { index, count: switch.values() }.into());
        }
        // The fewer bits places have below the highest that all share, the fewer merges.
        let apart = members.iter().map(|m| (m.0 / classes).trailing_zeros()).min().unwrap_or(0).min(n.ilog2());
        let mut lists: Vec<Vec<Option<&LweCiphertext>>> = vec![Vec::new(); classes];
        for (at, ct) in members {
            let list = &mut lists[at % classes];
            list.resize(n >> apart, None);
            list[(at / classes) >> apart] = Some(ct);
        }
        let packed = lists.par_iter().map(|list| (!list.is_empty()).then(|| key.pack_some(ctx, list)).transpose());
        packed.collect()
    }

    /// A sample modulo q0 whose coefficient `j + i g` is coefficient i of sample j; samples that are missing are zero.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for more samples than classes, [`Error::KeyMismatch`] for samples of another key; memory that cannot be
    /// had.
    pub fn apply(
        &self,
        switch: &RingSwitch,
        (large, ctx): (&Context, &LweContext),
        samples: &[Option<GlweSample>],
    ) -> Result<Sample, Error> {
        let (classes, n) = (switch.classes(), ctx.params().n());
        if samples.len() > classes {
            return Err(RingSwitchFault::Samples { found: samples.len(), classes }.into());
        }
        if let Some(other) = samples.iter().flatten().find(|s| s.key() != self.from) {
            return Err(Error::KeyMismatch { what: "ring switch key", found: self.from, expected: other.key() });
        }
        let ring = large.ring();
        let column = |r: usize, negative: bool| {
            let at = |c: usize| {
                let word =
                    samples.get(c % classes).and_then(Option::as_ref).map_or(0, |s| s.words()[r * n + c / classes]);
                if negative {
                    ctx.modulus().neg(word)
                } else {
                    word
                }
            };
            let column = switch.ring.to_eval(polynomial(&switch.ring, at)?);
            Ok::<_, Error>(ring.switch_from(&switch.ring, &column)?)
        };
        let mut polys = vec![column(self.keys.len(), false)?, ring.zero(1, 0)?];
        for (r, key) in self.keys.iter().enumerate() {
            // Phases are `B - sum A_r S_r` there and `c0 + c1 s` here.
            let digits = digits(large, key.spec(), &[&column(r, true)?])?;
            let pairs = ring.key_products(&[KeyProduct::of(&digits[0])], key.words(), None)?;
            let switched = divide(large, &[&pairs[0].0, &pairs[0].1], 0)?;
            polys.iter_mut().zip(&switched).try_for_each(|(sum, more)| ring.add_assign(sum, more))?;
        }
        Ok(Sample { polys, key: self.to() })
    }

    /// The variance that the conversion back adds to a coefficient, over q0 squared, beside that of rounding to q0.
    ///
    /// # Errors
    /// Those of [`SmallToLargeKey::spec`].
    pub fn noise(large: &Context, ctx: &LweContext) -> Result<f64, Error> {
        let (q0, rank) = (large.modulus(0), ctx.params().spec().rank as f64);
        Ok(rank * Self::spec(large.params())?.noise(large.params(), 1) / (q0 * q0))
    }
}
