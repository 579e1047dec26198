//! The key of a blind rotation: GGSW samples of powers of X that coordinates of the LWE secret choose, packed.

use super::secret::{draw_errors, is, LweSecretKey};
use super::LweContext;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::{self, ChaChaSource};
use zeroize::Zeroizing;

/// Told how many of how many samples of a key are made; returns false to stop, and the work ends with [`Error::Cancelled`].
pub type Progress<'a> = dyn FnMut(usize, usize) -> bool + 'a;

/// What a GGSW sample encrypts, by the value of a coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The coordinate, below n.
    pub coordinate: usize,
    /// For the values -1, 0 and 1: the exponent e < 2N of the `X^e` that is encrypted, or none for 0.
    pub powers: [Option<u16>; 3],
}

/// GGSW samples of small polynomials m, so many to a block. Row (r, i) of one is a GLWE sample of `-m S_r g_i`, the body's row of
/// `m g_i`, so that its external product with a sample of phase p has the phase `m p`.
pub struct BlindRotationKey {
    packed: PackedKey,
    key: KeyId,
}

impl BlindRotationKey {
    /// Makes the key: a sample for each choice, in blocks of `keys`.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::Cancelled`].
    ///
    /// # Panics
    /// If blocks do not divide the choices, or a coordinate or exponent is out of range.
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        choices: &[Choice],
        keys: usize,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let (spec, m, table) = (ctx.params().spec(), ctx.modulus(), ctx.table());
        assert!(choices.len().is_multiple_of(keys), "blocks are whole");
        let mut packed = PackedKey::zeros(table, Self::shape(ctx, choices.len() / keys, keys))?;
        let mut rows = GlweRows::new(ctx, sk, source);
        let mut message = Zeroizing::new(vec![0; ctx.params().n()]);
        for (j, choice) in choices.iter().enumerate() {
            if !progress(j, choices.len()) {
                return Err(Error::Cancelled);
            }
            choice.write(ctx, sk, &mut message);
            for r in 0..=spec.rank {
                for level in 0..spec.gadget.levels {
                    rows.draw(source);
                    // -m S_r g_i is a multiple of S_r, so it goes to the mask: (A_r + m g_i) S_r = A_r S_r + m g_i S_r.
                    rows.add(r, &message, spec.gadget.weight(m.value(), level));
                    packed.write(table, [j / keys, j % keys, r, level], rows.sample());
                }
            }
        }
        Ok(Self { packed, key: sk.id() })
    }

    fn shape(ctx: &LweContext, blocks: usize, keys: usize) -> KeyShape {
        let spec = ctx.params().spec();
        let columns = spec.rank + 1;
        KeyShape { blocks, keys, rows: columns, levels: spec.gadget.levels, columns }
    }

    /// Bytes that so many blocks with so many samples each take in memory.
    #[must_use]
    pub fn forecast(ctx: &LweContext, blocks: usize, keys: usize) -> usize {
        PackedKey::forecast(ctx.table(), Self::shape(ctx, blocks, keys))
    }

    /// The packed samples.
    #[must_use]
    pub fn packed(&self) -> &PackedKey {
        &self.packed
    }
    /// The secret that it is of.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl Choice {
    /// The values of the polynomial that this secret chooses. Constant time.
    fn write(&self, ctx: &LweContext, sk: &LweSecretKey, message: &mut [u64]) {
        let (m, n, s) = (ctx.modulus(), message.len(), sk.coordinates()[self.coordinate]);
        message.fill(0);
        for (value, power) in (-1..).zip(self.powers) {
            if let Some(e) = power.map(usize::from) {
                let one = if e < n { 1 } else { m.value() - 1 };
                message[e % n] |= one & is(s, value);
            }
        }
        ctx.table().forward(message);
    }
}

/// Draws GLWE samples, as values.
pub(super) struct GlweRows<'a> {
    ctx: &'a LweContext,
    /// `S_r` as values.
    secret: Zeroizing<Vec<u64>>,
    /// Uniform polynomials come from a seed of their own.
    public: ChaChaSource,
    sample: Zeroizing<Vec<u64>>,
    errors: Zeroizing<Vec<i64>>,
}

impl<'a> GlweRows<'a> {
    pub(super) fn new(ctx: &'a LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Self {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let residues = sk.coordinates().iter().map(|&s| m.reduce_i64(i64::from(s))).collect();
        let mut secret: Zeroizing<Vec<u64>> = Zeroizing::new(residues);
        secret.chunks_exact_mut(n).for_each(|s| ctx.table().forward(s));
        let words = ctx.params().coordinates() + n;
        Self {
            ctx,
            secret,
            public: ChaChaSource::from_seed(source.public_seed()),
            sample: Zeroizing::new(vec![0; words]),
            errors: Zeroizing::new(vec![0; n]),
        }
    }

    /// Draws a sample of zero.
    pub(super) fn draw(&mut self, source: &mut ChaChaSource) {
        let (m, n, table) = (self.ctx.modulus(), self.ctx.params().n(), self.ctx.table());
        draw_errors(self.ctx.params().glwe_error(), source, &mut self.errors);
        let (masks, body) = self.sample.split_at_mut(self.secret.len());
        sample::uniform(&mut self.public, m.value(), masks);
        body.iter_mut().zip(self.errors.iter()).for_each(|(b, &e)| *b = m.reduce_i64(e));
        table.forward(body);
        for (mask, secret) in masks.chunks_exact_mut(n).zip(self.secret.chunks_exact(n)) {
            table.forward(mask);
            for ((b, &a), &s) in body.iter_mut().zip(mask.iter()).zip(secret) {
                *b = m.add(*b, m.mul(a, s));
            }
        }
    }

    /// The last one drawn, and what was added to it.
    pub(super) fn sample(&self) -> &[u64] {
        &self.sample
    }

    /// Adds `weight` times the values of a polynomial to a column.
    pub(super) fn add(&mut self, column: usize, values: &[u64], weight: u64) {
        let (m, n) = (self.ctx.modulus(), values.len());
        let column = &mut self.sample[column * n..(column + 1) * n];
        column.iter_mut().zip(values).for_each(|(x, &v)| *x = m.add(*x, m.mul(v, weight)));
    }
}
