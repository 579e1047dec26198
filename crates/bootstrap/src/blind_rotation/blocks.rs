//! Blind rotation by blocks of a block-binary secret (eprint 2023/958); blocks of length 1, a binary secret, are the rotation of CGGI
//! (eprint 2018/421).
//!
//! Each block adds `sum_j (X^(a_j) - 1) acc x key_j` to the accumulator. Since at most one coordinate of a block is 1, that is one
//! external product's noise and one pair of transforms for a whole block.

use super::BlindRotation;
use aglet_ring::blind::{blind_block, scratch_words};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{BlindRotationKey, LweContext, LweSecretKey, Switched};
use aglet_rlwe::Error;

/// Keys of blocks.
pub struct Blocks(BlindRotationKey);

impl Blocks {
    /// Makes the keys.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn generate(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Result<Self, Error> {
        Ok(Self(BlindRotationKey::generate(ctx, sk, source)?))
    }
}

impl BlindRotation for Blocks {
    fn byte_count(&self) -> usize {
        self.0.packed().byte_count()
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let (spec, block) = (ctx.params().spec(), ctx.params().block());
        let mut scratch = Words::zeros(scratch_words(ctx.table(), spec.rank + 1, spec.gadget));
        for at in 0..spec.dimension / block {
            for (input, acc) in inputs.iter().zip(accs.iter_mut()) {
                let exponents = &input.mask[at * block..(at + 1) * block];
                blind_block(ctx.table(), self.0.packed(), at, spec.gadget, exponents, acc, &mut scratch);
            }
        }
    }
}
