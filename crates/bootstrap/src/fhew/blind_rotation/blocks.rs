//! Blind rotation by blocks of a secret. At most one key of a block encrypts 1. It serves block-binary secrets (eprint
//! 2023/958), binary secrets whose blocks are single coordinates (CGGI, eprint 2018/421), and ternary secrets with two
//! keys for each coordinate, which encrypt whether it is 1 and whether it is -1 (GINX, eprint 2020/086).
//!
//! Each block adds `sum_j (X^(e_j) - 1) acc x key_j` to the accumulator. A whole block takes one pair of transforms.

use super::BlindRotation;
use aglet_ring::blind::{blind_block, scratch_words, Gadget, SharedBlock};
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::{Backend, BlockRotation};
use aglet_rlwe::lwe::{
    BlindRotationKey, GgswMessage, LweContext, LweSecretKey, LweSwitchingKey, Method, Progress, SeededKey, Switched,
};
use aglet_rlwe::Error;
use std::sync::Arc;

/// Accumulators of one input for which the keys of a block are merged: fewer do not make up for it.
const MERGED: usize = 2;

/// Keys of blocks.
pub struct Blocks(BlindRotationKey);

/// The power 0 of X for one value of a coordinate, 0 for the others.
fn whether(coordinate: usize, value: i8) -> GgswMessage {
    GgswMessage { coordinate, exponents: [-1, 0, 1].map(|v| (v == value).then_some(0)) }
}

impl Blocks {
    /// Makes the keys.
    ///
    /// # Errors
    /// Out of memory; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        Ok(Self(Self::with_digits(ctx, sk, ctx.params().spec().gadget, source, progress)?))
    }

    /// The keys of rotations that only choose, for the digit of [`aglet_rlwe::lwe::LweParams::choice_gadget`]; none for a set without one.
    ///
    /// # Errors
    /// As [`Blocks::generate`].
    pub fn choices(
        ctx: &LweContext,
        sk: &LweSecretKey,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Option<BlindRotationKey>, Error> {
        let gadget = ctx.params().choice_gadget();
        gadget.map(|gadget| Self::with_digits(ctx, sk, gadget, source, progress)).transpose()
    }
    /// The shape of such keys.
    #[must_use]
    pub fn choice_shape(ctx: &LweContext) -> Option<KeyShape> {
        ctx.params().choice_gadget().map(|gadget| Self::shape_with(ctx, gadget))
    }

    fn with_digits(
        ctx: &LweContext,
        sk: &LweSecretKey,
        gadget: Gadget,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<BlindRotationKey, Error> {
        let n = ctx.params().spec().dimension;
        let messages: Vec<_> = if Self::signed(ctx) {
            (0..n).flat_map(|i| [whether(i, 1), whether(i, -1)]).collect()
        } else {
            (0..n).map(|i| whether(i, 1)).collect()
        };
        BlindRotationKey::generate(ctx, sk, &messages, (Self::shape(ctx).keys, gadget), source, progress)
    }

    /// The shape of the keys.
    pub(super) fn shape(ctx: &LweContext) -> KeyShape {
        Self::shape_with(ctx, ctx.params().spec().gadget)
    }
    fn shape_with(ctx: &LweContext, gadget: Gadget) -> KeyShape {
        let keys = if Self::signed(ctx) { 2 } else { ctx.params().block() };
        BlindRotationKey::shape(ctx, ctx.params().spec().dimension / ctx.params().block(), keys, gadget)
    }
    /// Makes the rotation from these keys.
    pub(super) fn of(keys: BlindRotationKey) -> Self {
        Self(keys)
    }

    /// The exponents of an input by which its keys rotate, in their order: those of the mask, and for ternary secrets each with its
    /// negative.
    fn exponents(ctx: &LweContext, input: &Switched) -> Vec<u16> {
        let two_n = 2 * ctx.params().n() as u16;
        match Self::signed(ctx) {
            true => input.mask.iter().flat_map(|&one| [one, (two_n - one) % two_n]).collect(),
            false => input.mask.clone(),
        }
    }
    /// Whether coordinates are ternary.
    fn signed(ctx: &LweContext) -> bool {
        ctx.params().spec().method == Method::Ginx
    }
}

impl BlindRotation for Blocks {
    fn keys(&self) -> Vec<&SeededKey> {
        vec![self.0.samples()]
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        Self::rotate_by(&self.0, ctx, inputs, accs);
    }

    fn on(
        &self,
        ctx: &LweContext,
        backend: &dyn Backend,
        switch: &LweSwitchingKey,
    ) -> Result<Option<Arc<dyn BlockRotation>>, Error> {
        Self::keys_on(&self.0, ctx, backend, switch)
    }
}

impl Blocks {
    /// [`BlindRotation::rotate`] by keys of blocks, those of choices too.
    pub(super) fn rotate_by(keys: &BlindRotationKey, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let (spec, block, gadget) = (ctx.params().spec(), ctx.params().block(), keys.gadget());
        let exponents: Vec<Vec<u16>> = inputs.iter().map(|input| Self::exponents(ctx, input)).collect();
        let mut scratch = Words::zeros(scratch_words(ctx.table(), spec.rank + 1, gadget));
        let (key, each) = (keys.packed(), accs.len() / inputs.len().max(1));
        let keys = key.shape().keys;
        let exponents = |i: usize, at: usize| &exponents[i][at * keys..(at + 1) * keys];
        let mut merged = (each >= MERGED).then(|| SharedBlock::merged(ctx.table(), key));
        for at in 0..spec.dimension / block {
            if let Some(merged) = &mut merged {
                for (i, accs) in accs.chunks_exact_mut(each).enumerate() {
                    let (exponents, accs) = (exponents(i, at), accs.iter_mut().map(|acc| &mut acc[..]));
                    merged.merge(ctx.table(), (key, at), gadget, exponents, accs, &mut scratch);
                }
                continue;
            }
            let pairs = accs.iter_mut().enumerate().map(|(i, acc)| (exponents(i / each, at), &mut acc[..]));
            blind_block(ctx.table(), key, at, gadget, pairs, &mut scratch);
        }
    }

    /// [`BlindRotation::on`] by keys of blocks, those of choices too.
    ///
    /// # Errors
    /// Those of the backend.
    pub(super) fn keys_on(
        keys: &BlindRotationKey,
        ctx: &LweContext,
        backend: &dyn Backend,
        switch: &LweSwitchingKey,
    ) -> Result<Option<Arc<dyn BlockRotation>>, Error> {
        let switch = switch.there(ctx, Self::signed(ctx));
        Ok(backend.block_rotation(ctx.table(), keys.packed(), keys.gadget(), &switch)?)
    }
}
