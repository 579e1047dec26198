//! The key of a blind rotation: a GGSW sample of every coordinate of the LWE secret, packed.

use super::secret::{draw_errors, LweSecretKey};
use super::LweContext;
use crate::error::Error;
use crate::secret::KeyId;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::{self, ChaChaSource};
use zeroize::Zeroizing;

/// GGSW samples of `s_j` for all j < n, blocks of them together. Row (r, i) of one is a GLWE sample of `-s_j S_r g_i`, the body's row of
/// `s_j g_i`, so that its external product with a sample of phase m has the phase `s_j m`.
pub struct BlindRotationKey {
    packed: PackedKey,
    key: KeyId,
}

impl BlindRotationKey {
    /// Makes the key.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn generate(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Result<Self, Error> {
        let (params, m) = (ctx.params(), ctx.modulus());
        let (spec, block) = (params.spec(), params.block());
        let mut packed = PackedKey::zeros(ctx.table(), Self::shape(ctx))?;
        let mut rows = GlweRows::new(ctx, sk, source);
        for (j, &s) in sk.coordinates()[..spec.dimension].iter().enumerate() {
            // All ones if the coordinate is 1.
            let mask = (i64::from(s) as u64).wrapping_neg();
            for r in 0..=spec.rank {
                for level in 0..spec.gadget.levels {
                    let weight = spec.gadget.weight(m.value(), level) & mask;
                    // -s_j S_r g_i is a multiple of S_r, so it goes to the mask: (A_r + s_j g_i) S_r = A_r S_r + s_j g_i S_r.
                    let values = rows.draw(source, r, weight);
                    packed.write(ctx.table(), [j / block, j % block, r, level], values);
                }
            }
        }
        Ok(Self { packed, key: sk.id() })
    }

    /// The shape in memory.
    #[must_use]
    pub fn shape(ctx: &LweContext) -> KeyShape {
        let (spec, keys) = (ctx.params().spec(), ctx.params().block());
        let columns = spec.rank + 1;
        KeyShape { blocks: spec.dimension / keys, keys, rows: columns, levels: spec.gadget.levels, columns }
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn forecast(ctx: &LweContext) -> usize {
        PackedKey::forecast(ctx.table(), Self::shape(ctx))
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

/// Draws GLWE samples of multiples of one gadget vector, as values.
struct GlweRows<'a> {
    ctx: &'a LweContext,
    /// `S_r` as values.
    secret: Zeroizing<Vec<u64>>,
    /// Uniform polynomials come from a seed of their own.
    public: ChaChaSource,
    sample: Zeroizing<Vec<u64>>,
    errors: Zeroizing<Vec<i64>>,
}

impl<'a> GlweRows<'a> {
    fn new(ctx: &'a LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Self {
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

    /// A sample of zero to whose column `r` a constant was added.
    fn draw(&mut self, source: &mut ChaChaSource, r: usize, weight: u64) -> &[u64] {
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
        // The values of a constant are that constant.
        self.sample[r * n..(r + 1) * n].iter_mut().for_each(|x| *x = m.add(*x, weight));
        &self.sample
    }
}
