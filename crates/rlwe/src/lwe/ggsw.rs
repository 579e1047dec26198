//! The key of a blind rotation, by CMux or external products: GGSW samples of powers of X that depend on coordinates of the LWE secret, packed.

use super::secret::{draw_errors, is, LweSecretKey};
use super::seeded::SeededKey;
use super::LweContext;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::blind::Gadget;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::ChaChaSource;
use zeroize::Zeroizing;

/// Told how many of how many samples of a key are made; returns false to stop, and the work ends with [`Error::Cancelled`].
pub type Progress<'a> = dyn FnMut(usize, usize) -> bool + 'a;

/// What a GGSW sample encrypts, by the value of a coordinate.
#[derive(Clone, Copy, Debug)]
pub struct GgswMessage {
    /// The coordinate, below n.
    pub coordinate: usize,
    /// For the values -1, 0 and 1: the exponent e < 2N of the `X^e` that is encrypted, or none for 0.
    pub exponents: [Option<u16>; 3],
}

/// GGSW samples of small polynomials m, so many to a block. Row (r, i) of one is a GLWE sample of `-m S_r g_i`, the body's row of
/// `m g_i`, so that its external product with a sample of phase p has the phase `m p`.
pub struct BlindRotationKey {
    samples: SeededKey,
    gadget: Gadget,
    key: KeyId,
}

impl BlindRotationKey {
    /// Makes the key: a sample for each message, in blocks of `keys`, for these digits.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::Cancelled`].
    ///
    /// # Panics
    /// If blocks do not divide the messages, or a coordinate or exponent is out of range.
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        messages: &[GgswMessage],
        (keys, gadget): (usize, Gadget),
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let m = ctx.modulus();
        assert!(messages.len().is_multiple_of(keys), "blocks are whole");
        let shape = Self::shape(ctx, messages.len() / keys, keys, gadget);
        let mut rows = GlweRows::new(ctx, sk);
        let mut message = Zeroizing::new(vec![0; ctx.params().n()]);
        let samples =
            SeededKey::make(ctx.table(), shape, source.public_seed(), |[block, key, r, level], masks, body| {
                if (r, level) == (0, 0) {
                    if !progress(block * keys + key, messages.len()) {
                        return Err(Error::Cancelled);
                    }
                    messages[block * keys + key].write(ctx, sk, &mut message);
                }
                rows.draw(source, masks, body);
                rows.add_message(r, &message, gadget.weight(m.value(), level), body);
                Ok::<_, Error>(())
            })?;
        Ok(Self { samples, gadget, key: sk.id() })
    }

    /// The key that is made of these samples, which are for these digits.
    #[must_use]
    pub fn of(samples: SeededKey, gadget: Gadget, key: KeyId) -> Self {
        Self { samples, gadget, key }
    }

    /// The shape in memory of so many blocks with so many samples each, for these digits.
    #[must_use]
    pub fn shape(ctx: &LweContext, blocks: usize, keys: usize, gadget: Gadget) -> KeyShape {
        let columns = ctx.params().spec().rank + 1;
        KeyShape { blocks, keys, rows: columns, levels: gadget.levels, columns }
    }

    /// The packed samples.
    #[must_use]
    pub fn packed(&self) -> &PackedKey {
        self.samples.packed()
    }
    /// The samples with the seed of their masks.
    #[must_use]
    pub fn samples(&self) -> &SeededKey {
        &self.samples
    }
    /// The digits that it is for.
    #[must_use]
    pub fn gadget(&self) -> Gadget {
        self.gadget
    }
    /// The secret that it is of.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl GgswMessage {
    /// The values of the polynomial that this secret chooses. Constant time.
    fn write(&self, ctx: &LweContext, sk: &LweSecretKey, message: &mut [u64]) {
        let (m, n, s) = (ctx.modulus(), message.len(), sk.coordinates()[self.coordinate]);
        message.fill(0);
        for (value, power) in (-1..).zip(self.exponents) {
            if let Some(e) = power.map(usize::from) {
                let one = if e < n { 1 } else { m.value() - 1 };
                message[e % n] |= one & is(s, value);
            }
        }
        ctx.table().forward(message);
    }
}

/// Draws the bodies of GLWE samples, as values.
pub(super) struct GlweRows<'a> {
    ctx: &'a LweContext,
    /// `S_r` as values.
    secret: Zeroizing<Vec<u64>>,
    errors: Zeroizing<Vec<i64>>,
}

impl<'a> GlweRows<'a> {
    pub(super) fn new(ctx: &'a LweContext, sk: &LweSecretKey) -> Self {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let residues = sk.coordinates().iter().map(|&s| m.reduce_i64(i64::from(s))).collect();
        let mut secret: Zeroizing<Vec<u64>> = Zeroizing::new(residues);
        secret.chunks_exact_mut(n).for_each(|s| ctx.table().forward(s));
        Self { ctx, secret, errors: Zeroizing::new(vec![0; n]) }
    }

    /// The body of a sample of zero beside these masks.
    pub(super) fn draw(&mut self, source: &mut ChaChaSource, masks: &[u64], body: &mut [u64]) {
        let (m, n) = (self.ctx.modulus(), self.ctx.params().n());
        draw_errors(self.ctx.params().glwe_error(), source, &mut self.errors);
        body.iter_mut().zip(self.errors.iter()).for_each(|(b, &e)| *b = m.reduce_i64(e));
        self.ctx.table().forward(body);
        for (mask, secret) in masks.chunks_exact(n).zip(self.secret.chunks_exact(n)) {
            for ((b, &a), &s) in body.iter_mut().zip(mask).zip(secret) {
                *b = m.add(*b, m.mul(a, s));
            }
        }
    }

    /// Adds `weight` times the values of a polynomial to a body.
    pub(super) fn add(&self, values: &[u64], weight: u64, body: &mut [u64]) {
        let m = self.ctx.modulus();
        body.iter_mut().zip(values).for_each(|(b, &v)| *b = m.add(*b, m.mul(v, weight)));
    }

    /// Adds what row `r` of a GGSW sample encrypts: `-weight message S_r`, the body's row `weight message`.
    fn add_message(&self, r: usize, message: &[u64], weight: u64, body: &mut [u64]) {
        let (m, n) = (self.ctx.modulus(), message.len());
        let Some(secret) = self.secret.chunks_exact(n).nth(r) else { return self.add(message, weight, body) };
        for ((b, &v), &s) in body.iter_mut().zip(message).zip(secret) {
            *b = m.sub(*b, m.mul(m.mul(v, s), weight));
        }
    }
}
