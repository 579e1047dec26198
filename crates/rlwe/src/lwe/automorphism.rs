//! Automorphisms of GLWE samples: `X -> X^t` on every column, then a key switch from the secret `S_r(X^t)` back to `S_r`.

use super::ggsw::{GlweRows, Progress};
use super::seeded::SeededKey;
use super::{LweContext, LweSecretKey};
use crate::error::Error;
use crate::fault::OperandFault;
use aglet_ring::blind::{automorphism, external_product, scratch_words, Gadget};
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use zeroize::Zeroizing;

/// Keys of some automorphisms. Row (r, i) of one is a GLWE sample of `-S_r(X^t) g_i`.
pub struct AutomorphismKeys {
    samples: SeededKey,
    galois: Vec<usize>,
    gadget: Gadget,
}

impl AutomorphismKeys {
    /// Makes the keys of these t, odd numbers below 2N, with digits of their own.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for an even t or one that is not below 2N; memory that cannot be had; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        galois: &[usize],
        gadget: Gadget,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        if let Some(&found) = galois.iter().find(|&&t| t % 2 == 0 || t >= 2 * n) {
            return Err(OperandFault::Automorphism { found, limit: 2 * n }.into());
        }
        let (shape, mut rows) = (Self::shape(ctx, galois.len(), gadget), GlweRows::new(ctx, sk));
        let mut rotated = Zeroizing::new(vec![0; n]);
        let samples = SeededKey::make(ctx.table(), shape, source.public_seed(), |[at, _, r, level], masks, body| {
            if level == 0 {
                if !progress(at, galois.len()) {
                    return Err(Error::Cancelled);
                }
                let secret = &sk.coordinates()[r * n..(r + 1) * n];
                let negative: Zeroizing<Vec<u64>> =
                    Zeroizing::new(secret.iter().map(|&s| m.reduce_i64(-i64::from(s))).collect());
                automorphism(m, &negative, galois[at], &mut rotated);
                ctx.table().forward(&mut rotated);
            }
            rows.draw(source, masks, body);
            rows.add(&rotated, gadget.weight(m.value(), level), body);
            Ok::<_, Error>(())
        })?;
        Ok(Self::of(samples, galois, gadget))
    }

    /// The keys of these t that are made of these samples.
    #[must_use]
    pub fn of(samples: SeededKey, galois: &[usize], gadget: Gadget) -> Self {
        Self { samples, galois: galois.to_vec(), gadget }
    }

    /// The shape in memory of so many keys.
    #[must_use]
    pub fn shape(ctx: &LweContext, count: usize, gadget: Gadget) -> KeyShape {
        let rank = ctx.params().spec().rank;
        KeyShape { blocks: count, keys: 1, rows: rank, levels: gadget.levels, columns: rank + 1 }
    }

    /// Their digits.
    #[must_use]
    pub fn gadget(&self) -> Gadget {
        self.gadget
    }
    /// The samples with the seed of their masks.
    #[must_use]
    pub fn samples(&self) -> &SeededKey {
        &self.samples
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
        external_product(ctx.table(), self.samples.packed(), at, None, self.gadget, sample, scratch);
    }
}
