//! Keys that choose a factor out of all that it may be, for messages of few numbers (SPRU, eprint 2025/651).
//!
//! Coefficient `c` of `a sign X^place` is one of the coefficients of `a`, or minus one of them, and all are public. With few numbers there is room
//! for every number, factor and place beside each other: there stands `omega^(a_(c - place))`, the conjugate polynomial has the negative sign, and a key
//! is 1 at the place and sign of its secret and 0 elsewhere. So factors are sums of products of plaintexts with fresh encryptions, without a rotation or a
//! key switch. Places that no room is left for follow in further plaintexts, with keys of their own.

use super::{right, RotorKey, RotorKeys, RotorShape};
use crate::context::Context;
use crate::error::Error;
use crate::exchange::settle;
use crate::gadget::KeySwitchSpec;
use crate::places::{same, PlacedCoefficients};
use crate::secret::SecretKey;
use aglet_ring::automorphism::conjugation_exponent;
use aglet_ring::fft::SpecialFft;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, Eval, Multiplier, Pair, Poly};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Signs of a coefficient of the sparse secret: samples that meet one plaintext, as it is and conjugate.
pub(super) const SIGNS: usize = 2;
/// Plaintexts that are encoded side by side and meet one key.
const GROUP: usize = 16;
/// Blocks of places at most: their sum has the noise of all, which costs half a bit of the result here, and half a bit more each time that they double.
const MOST_BLOCKS: usize = 32;

/// How the places of all factors lie in a plaintext: number of the message first, then factor, then block of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Numbers of the message.
    pub numbers: usize,
    /// Factors: the secret ones, and the public one, which has room and no key.
    pub factors: usize,
    /// Places of one factor that stand side by side.
    pub blocks: usize,
    /// Plaintexts, so that every place is in one.
    pub plaintexts: usize,
}

impl Choice {
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

impl RotorShape {
    /// The same secret for a message of few numbers; `None` for more than there is room for in a ring of degree `n`.
    #[must_use]
    pub fn choosing(&self, n: usize, numbers: usize) -> Option<Self> {
        let factors = self.places.weight + 1;
        let blocks = (n / 2).checked_div(factors * numbers)?.min(MOST_BLOCKS);
        if blocks == 0 || !numbers.is_power_of_two() || !factors.is_power_of_two() {
            return None;
        }
        let plaintexts = self.places.width(n).div_ceil(blocks);
        let choice = Some(Choice { numbers, factors, blocks, plaintexts });
        Some(Self { columns: plaintexts, mux: Vec::new(), digits: Vec::new(), choice, ..self.clone() })
    }

    /// All keys, each with its factor and digit, or the group of its plaintexts and zero, and its shape.
    #[must_use]
    pub fn keys(&self) -> Vec<((usize, usize), KeySwitchSpec)> {
        match self.choice {
            Some(choice) => {
                choice.groups().enumerate().map(|(g, list)| ((g, 0), self.group_spec(list.len()))).collect()
            }
            None => {
                let specs = self.specs();
                let of = |k| specs.iter().enumerate().map(move |(digit, spec)| ((k, digit), spec.clone()));
                (0..self.places.weight).flat_map(of).collect()
            }
        }
    }

    /// The shape of the key of so many plaintexts: a sample for each and each sign.
    fn group_spec(&self, plaintexts: usize) -> KeySwitchSpec {
        let digits = vec![(0..self.raised).collect(); SIGNS * plaintexts];
        KeySwitchSpec { q_limbs: self.raised, p_limbs: super::COLUMN_SPECIAL, digits }
    }
}

/// What plaintext `t` is multiplied by for one sign: 1 at the place of every factor, if it has the sign. Constant time.
fn chosen(
    (shape, choice, n): (&RotorShape, &Choice, usize),
    secret: impl Fn(usize) -> (u64, i8),
    (t, sign): (usize, u64),
) -> Vec<f64> {
    let mut values = Vec::with_capacity(choice.period());
    for block in 0..choice.blocks {
        let place = t * choice.blocks + block;
        for k in 0..shape.places.weight {
            let (own, negative) = secret(k);
            let start = shape.places.start(n, k) as u64;
            let here = same(own, start + place as u64) & same(u64::from(negative as u8 >> 7), sign);
            values.extend(std::iter::repeat_n(here as f64, choice.numbers));
        }
        values.extend(std::iter::repeat_n(0.0, choice.numbers));
    }
    values
}

/// The key of some plaintexts: those of one sign, then of the other.
fn group(
    ctx: &Context,
    (shape, choice): (&RotorShape, &Choice),
    plaintexts: Range<usize>,
    (secret, sk): (&PlacedCoefficients, &SecretKey),
    random: &mut ChaChaSource,
) -> Result<RotorKey, Error> {
    let (ring, spec, fft) = (ctx.ring(), shape.group_spec(plaintexts.len()), SpecialFft::new(choice.period()));
    let special = ring.modulus(ring.q_count()).value() as f64;
    let samples: Vec<_> = (0..SIGNS as u64).flat_map(|sign| plaintexts.clone().map(move |t| (t, sign))).collect();
    let encoded = |&sample: &(usize, u64)| {
        let values = Zeroizing::new(chosen((shape, choice, ring.n()), |k| secret.get(k), sample));
        let small = Zeroizing::new(fft.coefficients(&values, special)?);
        let mut all = Zeroizing::new(vec![0i64; ring.n()]);
        all.iter_mut().step_by(ring.n() / small.len()).zip(small.iter()).for_each(|(all, c)| *all = *c);
        Ok(ring.to_eval(ring.lift(&all, ring.secret_scratch(spec.q_limbs, spec.p_limbs)?)))
    };
    let messages = samples.par_iter().map(encoded).collect::<Result<Vec<Poly<Eval>>, Error>>()?;
    let samples: Vec<_> = messages.iter().map(|message| (Multiplier::integer(-1), message)).collect();
    RotorKey::made(ctx, spec, &samples, sk, random)
}

impl RotorKeys {
    /// The keys of all groups of plaintexts.
    pub(super) fn of_choice<E: From<Error>>(
        ctx: &Arc<Context>,
        (shape, choice): (&RotorShape, &Choice),
        secrets: (&PlacedCoefficients, &SecretKey),
        mut random: impl FnMut(usize, usize) -> Result<ChaChaSource, E>,
    ) -> Result<Self, E> {
        let mut factors = Vec::new();
        for (g, plaintexts) in choice.groups().enumerate() {
            factors.push(vec![group(ctx, (shape, choice), plaintexts, secrets, &mut random(g, 0)?)?]);
        }
        Ok(Self { ctx: ctx.clone(), shape: shape.clone(), factors })
    }

    /// For each of several lists all factors beside each other in one sample on the first `limbs` primes of the chain, before blocks are summed up: the keys are
    /// read once. `encoded` gives plaintext `t` of a list at the raised primes and the first special one; `stop` is asked before each group.
    ///
    /// # Errors
    /// Those of `encoded` and `stop`; keys of another shape; memory that cannot be had.
    pub fn choices(
        &self,
        lists: usize,
        limbs: usize,
        encoded: &(dyn Fn(usize, usize) -> Result<Poly<Eval>, Error> + Sync),
        stop: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Vec<Poly<Eval>>>, Error> {
        let (ctx, ring) = (&*self.ctx, self.ctx.ring());
        let Some(choice) = self.shape.choice else {
            return Err(Error::bad_parameters(
                "these keys of roots of unity are for as many numbers as the ring has; make some for few",
            ));
        };
        let signs = [right(ctx, 0), ring.automorphism(conjugation_exponent(ring.n()))];
        let mut sums: Vec<Pair> = Vec::new();
        for (plaintexts, key) in choice.groups().zip(self.iter()) {
            stop()?;
            let of = |list| {
                let polys = plaintexts.clone().into_par_iter().map(|t| encoded(list, t));
                Ok(Digits::of(polys.collect::<Result<Vec<_>, Error>>()?))
            };
            let digits = (0..lists).map(of).collect::<Result<Vec<Digits>, Error>>()?;
            let of: Vec<Vec<&Digits>> = digits.iter().map(|digits| vec![digits]).collect();
            let more = key.apply(ctx, &of, &signs)?;
            if sums.is_empty() {
                sums = more;
                continue;
            }
            for ((b, a), (more_b, more_a)) in sums.iter_mut().zip(&more) {
                ring.add_assign(b, more_b);
                ring.add_assign(a, more_a);
            }
        }
        sums.iter().map(|(b, a)| settle(ctx, &[b, a], limbs)).collect()
    }
}

#[cfg(test)]
#[path = "../tests/choice.rs"]
mod tests;
