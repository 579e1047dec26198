//! Automorphisms of GLWE samples: `X -> X^t` on every column, then a key switch from the secret `S_r(X^t)` back to `S_r`.

use super::ggsw::GlweRows;
use super::{LweContext, LweSecretKey};
use crate::error::Error;
use aglet_ring::blind::{automorphism, external_product, scratch_words, Gadget};
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use zeroize::Zeroizing;

/// Keys of some automorphisms. Row (r, i) of one is a GLWE sample of `-S_r(X^t) g_i`.
pub struct AutomorphismKeys {
    packed: PackedKey,
    galois: Vec<usize>,
    gadget: Gadget,
}

impl AutomorphismKeys {
    /// Makes the keys of these t, odd numbers below 2N, with digits of their own.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for an even t or one that is not below 2N; memory that cannot be had.
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        galois: &[usize],
        gadget: Gadget,
        source: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (m, n, table) = (ctx.modulus(), ctx.params().n(), ctx.table());
        if galois.iter().any(|&t| t % 2 == 0 || t >= 2 * n) {
            return Err(Error::bad_parameters(format!("automorphisms are X -> X^t for odd t below {}", 2 * n)));
        }
        let rank = ctx.params().spec().rank;
        let mut packed = PackedKey::zeros(table, Self::shape(ctx, galois.len(), gadget))?;
        let mut rows = GlweRows::new(ctx, sk, source);
        let mut turned = Zeroizing::new(vec![0; n]);
        for (at, &t) in galois.iter().enumerate() {
            for (r, secret) in sk.coordinates().chunks_exact(n).enumerate() {
                let negative: Zeroizing<Vec<u64>> =
                    Zeroizing::new(secret.iter().map(|&s| m.reduce_i64(-i64::from(s))).collect());
                automorphism(m, &negative, t, &mut turned);
                table.forward(&mut turned);
                for level in 0..gadget.levels {
                    rows.draw(source);
                    rows.add(rank, &turned, gadget.weight(m.value(), level));
                    packed.write(table, [at, 0, r, level], rows.sample());
                }
            }
        }
        Ok(Self { packed, galois: galois.to_vec(), gadget })
    }

    /// Bytes that so many keys take in memory.
    #[must_use]
    pub fn forecast(ctx: &LweContext, count: usize, gadget: Gadget) -> usize {
        PackedKey::forecast(ctx.table(), Self::shape(ctx, count, gadget))
    }

    fn shape(ctx: &LweContext, count: usize, gadget: Gadget) -> KeyShape {
        let rank = ctx.params().spec().rank;
        KeyShape { blocks: count, keys: 1, rows: rank, levels: gadget.levels, columns: rank + 1 }
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.packed.byte_count()
    }

    /// Words of scratch that [`AutomorphismKeys::apply`] wants.
    #[must_use]
    pub fn scratch_words(&self, ctx: &LweContext) -> usize {
        scratch_words(ctx.table(), ctx.params().spec().rank + 1, self.gadget)
    }

    /// The automorphism of number `at` on the columns of a sample, in place: its phase p becomes `p(X^t)`. A sample without mask gets
    /// no noise.
    ///
    /// # Panics
    /// If there is no such automorphism, or lengths do not agree.
    pub fn apply(&self, ctx: &LweContext, at: usize, sample: &mut Words, scratch: &mut Words) {
        let n = ctx.params().n();
        // The sums of the product before it begins: the columns as they were.
        let before = &mut scratch[..sample.len()];
        before.copy_from_slice(sample);
        for (column, out) in before.chunks_exact(n).zip(sample.chunks_exact_mut(n)) {
            automorphism(ctx.modulus(), column, self.galois[at], out);
        }
        external_product(ctx.table(), &self.packed, at, self.gadget, sample, scratch);
    }
}
