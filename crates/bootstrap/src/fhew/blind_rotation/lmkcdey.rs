//! The blind rotation LMKCDEY, with automorphisms (eprint 2022/198): one key of `X^(s_i)` for each coordinate, and maps
//! `X -> X^(5^j)` that move exponents to it.
//!
//! Odd exponents are `+-5^e` modulo 2N. As in Horner's rule, the accumulator is multiplied with the keys of all `a_i =
//! -5^e` for falling e, with `X -> X^5` between one e and the next. Then the signs change, and the same is done for
//! `a_i = 5^e`. A pass maps its start by the inverse of `X -> X^5`, since 5 has the order N/2, so `X -> X^-5` before
//! each pass cancels it.

use super::BlindRotation;
use aglet_ring::blind::{external_product, scratch_words};
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{
    AutomorphismKeys, BlindRotationKey, GgswMessage, LweContext, LweSecretKey, Progress, SeededKey, Switched,
};
use aglet_rlwe::Error;

/// Keys of coordinates and of automorphisms.
pub struct Lmkcdey {
    keys: BlindRotationKey,
    /// Number j is `X -> X^(5^j)`, up to the window; number 0 is `X -> X^-5`.
    maps: AutomorphismKeys,
    window: usize,
    /// For the odd number 2i + 1 the e of `+-5^e`, and whether the sign is plus.
    logs: Vec<(u16, bool)>,
}

impl Lmkcdey {
    /// Makes the keys, those of automorphisms up to a window.
    ///
    /// # Errors
    /// Out of memory; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        window: u32,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        let (spec, two_n) = (ctx.params().spec(), 2 * ctx.params().n());
        let exponents = [two_n - 1, 0, 1].map(|e| Some(e as u16));
        let messages: Vec<_> = (0..spec.dimension).map(|coordinate| GgswMessage { coordinate, exponents }).collect();
        let keys = BlindRotationKey::generate(ctx, sk, &messages, (1, spec.gadget), source, progress)?;
        // They are few beside the keys of coordinates.
        let mut last = |_, _| progress(messages.len(), messages.len());
        let maps = AutomorphismKeys::generate(ctx, sk, &galois(two_n, window), spec.gadget, source, &mut last)?;
        Ok(Self::of(ctx, keys, maps, window))
    }

    /// The shapes of the keys of coordinates and of automorphisms.
    pub(super) fn shapes(ctx: &LweContext, window: u32) -> [KeyShape; 2] {
        let spec = ctx.params().spec();
        let maps = AutomorphismKeys::shape(ctx, window as usize + 1, spec.gadget);
        [BlindRotationKey::shape(ctx, spec.dimension, 1, spec.gadget), maps]
    }
    /// Makes the rotation from these keys.
    pub(super) fn of_samples(ctx: &LweContext, keys: BlindRotationKey, maps: SeededKey, window: u32) -> Self {
        let galois = galois(2 * ctx.params().n(), window);
        Self::of(ctx, keys, AutomorphismKeys::of(maps, &galois, ctx.params().spec().gadget), window)
    }
    fn of(ctx: &LweContext, keys: BlindRotationKey, maps: AutomorphismKeys, window: u32) -> Self {
        let two_n = 2 * ctx.params().n();
        let mut logs = vec![(0, true); two_n / 2];
        for (e, power) in fives(two_n).take(two_n / 4).enumerate() {
            logs[power / 2] = (e as u16, true);
            logs[(two_n - power) / 2] = (e as u16, false);
        }
        Self { keys, maps, window: window as usize, logs }
    }

    /// Coordinates by their e, the largest first, one list for each sign.
    fn order(&self, input: &Switched) -> [Vec<(u16, usize)>; 2] {
        [false, true].map(|sign| {
            let logs = input.mask.iter().map(|&a| self.logs[usize::from(a / 2)]).enumerate();
            let mut list: Vec<_> = logs.filter(|(_, log)| log.1 == sign).map(|(i, log)| (log.0, i)).collect();
            list.sort_unstable_by(|x, y| y.cmp(x));
            list
        })
    }

    fn rotate_one(&self, ctx: &LweContext, input: &Switched, acc: &mut Words, scratch: &mut Words) {
        let spec = ctx.params().spec();
        for list in self.order(input) {
            self.maps.apply(ctx, 0, acc, scratch);
            let mut at = ctx.params().n() / 2 - 1;
            for (k, &(e, i)) in list.iter().enumerate() {
                self.lower(ctx, at - usize::from(e), acc, scratch);
                at = usize::from(e);
                let next = list.get(k + 1).map(|next| next.1);
                external_product(ctx.table(), self.keys.packed(), i, next, spec.gadget, acc, scratch);
            }
            self.lower(ctx, at, acc, scratch);
        }
    }

    /// `X -> X^(5^steps)`, as few maps as the window allows.
    fn lower(&self, ctx: &LweContext, steps: usize, acc: &mut Words, scratch: &mut Words) {
        let mut left = steps;
        while left > 0 {
            let step = left.min(self.window);
            self.maps.apply(ctx, step, acc, scratch);
            left -= step;
        }
    }
}

/// The powers of 5 modulo 2N.
fn fives(two_n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |x| Some(5 * x % two_n))
}

/// The t of the automorphisms `X -> X^t`: -5, then the powers of 5 up to the window.
fn galois(two_n: usize, window: u32) -> Vec<usize> {
    let mut galois: Vec<usize> = fives(two_n).take(window as usize + 1).collect();
    galois[0] = two_n - 5;
    galois
}

impl BlindRotation for Lmkcdey {
    fn keys(&self) -> Vec<&SeededKey> {
        vec![self.keys.samples(), self.maps.samples()]
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let spec = ctx.params().spec();
        let mut scratch = Words::zeros(scratch_words(ctx.table(), spec.rank + 1, spec.gadget));
        let each = accs.len() / inputs.len().max(1);
        accs.iter_mut().enumerate().for_each(|(i, acc)| self.rotate_one(ctx, &inputs[i / each], acc, &mut scratch));
    }
}
