//! Keys that select every factor from all that it may be, for messages in few slots (SPRU, eprint 2025/651).
//!
//! Coefficient `c` of `a sign X^position` is one of the coefficients of `a`, or minus one of them, and all are public. With few slots there is room
//! for every slot, factor and position beside each other: there stands `omega^(a_(c - position))`, the conjugate polynomial has the negative sign, and a
//! key is one-hot: 1 at the position and sign of its secret and 0 elsewhere. So factors are sums of products of plaintexts with fresh encryptions, without
//! a rotation or a key switch. Positions that no room is left for follow in further plaintexts, with keys of their own.

use super::super::support::{same, SignedSupport};
use super::{apply, made, right, to_chain, RotationShape, ShipKeys};
use crate::fault::ShipFault;
use crate::packed::{PackedKey, PackedNeed};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_ring::fft::SpecialFft;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, Eval, Multiplier, Pair, Poly};
use aglet_rlwe::{Context, Error, KeySwitchSpec, SecretKey};
use rayon::prelude::*;
use std::ops::Range;
use zeroize::Zeroizing;

/// Signs of a coefficient of the sparse secret: samples that meet one plaintext, as it is and conjugate.
pub(super) const SIGNS: usize = 2;
/// Plaintexts that are encoded side by side and meet one key.
const GROUP: usize = 16;
/// Blocks of positions at most: their sum has the noise of all, which costs half a bit of the result here, and half a bit more each time that they double.
const MOST_BLOCKS: usize = 32;

/// How the positions of all factors lie in a plaintext: slot of the message first, then factor, then block of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneHot {
    /// Slots of the message.
    pub numbers: usize,
    /// Factors: the secret ones, and the public one, which has room and no key.
    pub factors: usize,
    /// Positions of one factor that stand side by side.
    pub blocks: usize,
    /// Plaintexts, so that every position is in one.
    pub plaintexts: usize,
}

impl OneHot {
    /// Numbers of a plaintext, which repeats over the ring.
    #[must_use]
    pub fn period(&self) -> usize {
        self.numbers * self.factors * self.blocks
    }
    /// The plaintexts of each key.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let all = self.plaintexts;
        (0..all).step_by(GROUP).map(move |first| first..all.min(first + GROUP))
    }
}

impl RotationShape {
    /// The same secret for a message in few slots; `None` for more than there is room for in a ring of degree `n`.
    #[must_use]
    pub fn selecting(&self, n: usize, numbers: usize) -> Option<Self> {
        let factors = self.support.weight + 1;
        let blocks = (n / 2).checked_div(factors * numbers)?.min(MOST_BLOCKS);
        if blocks == 0 || !numbers.is_power_of_two() || !factors.is_power_of_two() {
            return None;
        }
        let plaintexts = self.support.width(n).div_ceil(blocks);
        let one_hot = Some(OneHot { numbers, factors, blocks, plaintexts });
        Some(Self { masked: plaintexts, cmux: Vec::new(), digits: Vec::new(), one_hot, ..self.clone() })
    }

    /// All keys: numbered by factor and digit, or by the group of plaintexts.
    #[must_use]
    pub fn keys(&self) -> Vec<PackedNeed> {
        let need = |(k, digit): (usize, usize), spec| PackedNeed { number: (k << 8 | digit) as u64, spec };
        match self.one_hot {
            Some(one_hot) => {
                one_hot.groups().enumerate().map(|(g, list)| need((g, 0), self.group_spec(list.len()))).collect()
            }
            None => {
                let specs = self.specs();
                let of = |k| specs.iter().enumerate().map(move |(digit, spec)| need((k, digit), spec.clone()));
                (0..self.support.weight).flat_map(of).collect()
            }
        }
    }

    /// The shape of the key of so many plaintexts: a sample for each and each sign.
    fn group_spec(&self, plaintexts: usize) -> KeySwitchSpec {
        let digits = vec![(0..self.raised).collect(); SIGNS * plaintexts];
        KeySwitchSpec { q_limbs: self.raised, p_limbs: super::MASK_SPECIAL, digits }
    }
}

/// What plaintext `t` is multiplied by for one sign: 1 at the position of every factor, if it has the sign. Constant time.
fn chosen(
    (shape, one_hot, n): (&RotationShape, &OneHot, usize),
    secret: impl Fn(usize) -> (u64, i8),
    (t, sign): (usize, u64),
) -> Vec<f64> {
    let mut values = Vec::with_capacity(one_hot.period());
    for block in 0..one_hot.blocks {
        let position = t * one_hot.blocks + block;
        for k in 0..shape.support.weight {
            let (own, negative) = secret(k);
            let start = shape.support.start(n, k) as u64;
            let here = same(own, start + position as u64) & same(u64::from(negative as u8 >> 7), sign);
            values.extend(std::iter::repeat_n(here as f64, one_hot.numbers));
        }
        values.extend(std::iter::repeat_n(0.0, one_hot.numbers));
    }
    values
}

/// The key of some plaintexts: those of one sign, then of the other.
pub(super) fn group(
    ctx: &Context,
    (shape, one_hot): (&RotationShape, &OneHot),
    plaintexts: Range<usize>,
    (secret, sk): (&SignedSupport, &SecretKey),
    random: &mut ChaChaSource,
) -> Result<PackedKey, Error> {
    let (ring, spec, fft) = (ctx.ring(), shape.group_spec(plaintexts.len()), SpecialFft::new(one_hot.period()));
    let special = ring.modulus(ring.q_count()).value() as f64;
    let samples: Vec<_> = (0..SIGNS as u64).flat_map(|sign| plaintexts.clone().map(move |t| (t, sign))).collect();
    let encoded = |&sample: &(usize, u64)| {
        let values = Zeroizing::new(chosen((shape, one_hot, ring.n()), |k| secret.get(k), sample));
        let small = Zeroizing::new(fft.coefficients(&values, special)?);
        let mut all = Zeroizing::new(vec![0i64; ring.n()]);
        all.iter_mut().step_by(ring.n() / small.len()).zip(small.iter()).for_each(|(all, c)| *all = *c);
        Ok(ring.to_eval(ring.lift(&all, ring.secret_scratch(spec.q_limbs, spec.p_limbs)?)))
    };
    let messages = samples.par_iter().map(encoded).collect::<Result<Vec<Poly<Eval>>, Error>>()?;
    let samples: Vec<_> = messages.iter().map(|message| (Multiplier::integer(-1), message)).collect();
    made(ctx, spec, &samples, sk, random)
}

impl ShipKeys<'_> {
    /// For each of several lists all factors beside each other in one sample on the first `limbs` primes of the chain, before blocks are summed up: the keys are
    /// read once. `encoded` gives plaintext `t` of a list at the raised primes and the first special one; `stop` is asked before each group.
    ///
    /// # Errors
    /// Those of `encoded` and `stop`; keys of another shape; memory that cannot be had.
    pub fn select(
        &self,
        lists: usize,
        limbs: usize,
        encoded: &(dyn Fn(usize, usize) -> Result<Poly<Eval>, crate::Error> + Sync),
        stop: &(dyn Fn() -> Result<(), crate::Error> + Sync),
    ) -> Result<Vec<Vec<Poly<Eval>>>, crate::Error> {
        let (ctx, ring) = (&**self.context(), self.context().ring());
        let Some(one_hot) = self.shape.one_hot else {
            return Err(ShipFault::AllSlots.into());
        };
        let signs = [right(ctx, 0), ring.automorphism(conjugation_exponent(ring.n()))];
        let mut sums: Vec<Pair> = Vec::new();
        for (plaintexts, key) in one_hot.groups().zip(self.keys.list()) {
            stop()?;
            let of = |list| {
                let polys = plaintexts.clone().into_par_iter().map(|t| encoded(list, t));
                Ok(Digits::of(polys.collect::<Result<Vec<_>, crate::Error>>()?))
            };
            let digits = (0..lists).map(of).collect::<Result<Vec<Digits>, crate::Error>>()?;
            let of: Vec<Vec<&Digits>> = digits.iter().map(|digits| vec![digits]).collect();
            let more = apply(key, ctx, &of, &signs)?;
            if sums.is_empty() {
                sums = more;
                continue;
            }
            for ((b, a), (more_b, more_a)) in sums.iter_mut().zip(&more) {
                ring.add_assign(b, more_b)?;
                ring.add_assign(a, more_a)?;
            }
        }
        sums.iter().map(|(b, a)| Ok(to_chain(ctx, &[b, a], limbs)?)).collect()
    }
}

#[cfg(test)]
#[path = "../tests/one_hot.rs"]
mod tests;
