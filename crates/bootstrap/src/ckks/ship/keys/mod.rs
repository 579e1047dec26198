//! SHIP rotation keys: they raise a root of unity to the power of one coefficient of a product with a sparse secret (SHIP, eprint 2025/784).
//!
//! Take a public polynomial `a` and a secret monomial `sign X^position`. Slot `i` of a *factor* is `omega^(c_i)`, where `c` are the coefficients of
//! `a sign X^position` and `omega = e^(2 pi i / q0)`. All values that it may have are public: `omega^(+-a_j)`, four *bands* of N/2 numbers each. So a
//! factor is a rotation of the bands by a secret number, with secret masks where coefficients wrap around. The rotation is cut into digits. The first
//! digit meets the masks: encryptions of the masks, rotated back, are multiplied by the bands at every rotation, and all but one mask is
//! zero. Every other digit is a CMux: a sum over its values of the rotation times an encryption of one or zero, an RGSW selector with the
//! rotation in its keys. Rotations run on primes of their own (*raised*), whose digits are whole limbs; the last division brings the factor to
//! the chain.

use super::support::{same, SecretSupport, SignedSupport};
use crate::packed::{PackedKey, PackedKeys, PackedNeed};
use aglet_ring::automorphism::{rotation_exponent, Automorphism};
use aglet_ring::fft::SpecialFft;
use aglet_ring::ops::Division;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, Eval, Multiplier, Pair, Poly};
use aglet_rlwe::keyswitch::divide;
use aglet_rlwe::{Context, Error, KeyId, KeySwitchSpec, Params, SecretKey, SwitchingKey};
use rayon::prelude::*;
use std::sync::Arc;
use zeroize::Zeroizing;

mod one_hot;

pub use one_hot::OneHot;

/// Bands of values that a factor takes its own from: `omega^(a_i)` and its conjugate for `i` below N/2, then for `i` above.
pub const BANDS: usize = 4;
/// Special limbs of a key of masks: its inputs are short, so the first special prime is enough.
const MASK_SPECIAL: usize = 1;

/// How factors are cut into digits, and what the digits of key switches are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotationShape {
    /// Where the sparse secret has its coefficients.
    pub support: SecretSupport,
    /// Values of the first digit of a rotation, which meets the masks.
    pub masked: usize,
    /// Values of the others, a CMux each.
    pub cmux: Vec<usize>,
    /// Raised limbs.
    pub raised: usize,
    /// Special limbs of CMuxes.
    pub special: usize,
    /// The raised limbs of every digit of a key switch.
    pub digits: Vec<Vec<usize>>,
    /// With few slots (SPRU) how all factors are selected at once, in place of rotations: `masked` counts plaintexts, and there are no CMuxes.
    pub one_hot: Option<OneHot>,
}

impl RotationShape {
    /// Rotations that the digits reach.
    #[must_use]
    pub fn reach(&self) -> usize {
        self.cmux.iter().product::<usize>() * self.masked
    }
    /// Rotations between two values of CMux `t`.
    fn stride(&self, t: usize) -> usize {
        self.cmux[..t].iter().product::<usize>() * self.masked
    }
    /// The rotations to the right of the first digit of factor `k`, in a ring of degree `n`.
    fn masked_rotations(&self, n: usize, k: usize) -> impl Iterator<Item = usize> {
        let start = self.support.start(n, k);
        (0..self.masked).map(move |i| start + i)
    }
    /// Those of CMux `t`.
    fn cmux_rotations(&self, t: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.cmux[t]).map(move |v| v * self.stride(t))
    }
    /// The shape of a key of masks: a sample for each value and band.
    #[must_use]
    pub fn mask_spec(&self) -> KeySwitchSpec {
        let digits = vec![(0..self.raised).collect(); BANDS * self.masked];
        KeySwitchSpec { q_limbs: self.raised, p_limbs: MASK_SPECIAL, digits }
    }
    /// The shape of the key of CMux `t`: for each value samples that meet the digits of c1, and as many for c0.
    #[must_use]
    pub fn cmux_spec(&self, t: usize) -> KeySwitchSpec {
        let digits = (0..2 * self.cmux[t]).flat_map(|_| self.digits.clone()).collect();
        KeySwitchSpec { q_limbs: self.raised, p_limbs: self.special, digits }
    }
    /// Keys of one factor.
    fn keys_of_factor(&self) -> usize {
        self.cmux.len() + 1
    }
    /// The shapes of all keys of one factor, the masks first.
    fn specs(&self) -> Vec<KeySwitchSpec> {
        std::iter::once(self.mask_spec()).chain((0..self.cmux.len()).map(|t| self.cmux_spec(t))).collect()
    }

    /// The variance of a coefficient of a factor in units of its scale before the last division, `scale` that of the bands, `square` the
    /// squared norm of the main secret: a rounding for the first digit and all but the last CMux, and the errors of all keys.
    #[must_use]
    pub fn noise(&self, raised: &Params, square: f64, scale: f64) -> f64 {
        let special = raised.p()[0] as f64;
        let sigma = aglet_ring::sample::GAUSSIAN_SIGMA * aglet_ring::sample::GAUSSIAN_SIGMA;
        let keys: f64 = (0..self.cmux.len()).map(|t| self.cmux_spec(t).noise(raised, self.raised)).sum();
        let samples = if self.one_hot.is_some() { one_hot::SIGNS } else { BANDS };
        let masks = samples as f64 * self.masked as f64 * sigma * (scale / special).powi(2);
        self.cmux.len() as f64 * (square + 1.0) / 12.0 + keys + masks
    }
}

/// A secret rotation as digits, which are secret: constant time.
struct Rotation {
    masked: u64,
    cmux: Vec<u64>,
}

/// `x / by` and the rest of numbers with a quotient below `most`: without a division, whose time may tell of `x`.
fn divided(x: u64, by: u64, most: usize) -> (u64, u64) {
    let reached = |i: usize| 1 ^ (x.wrapping_sub(i as u64 * by) >> 63);
    let quotient = (1..most).map(reached).sum();
    (quotient, x - quotient * by)
}

impl Rotation {
    fn new(shape: &RotationShape, n: usize, k: usize, position: u64) -> Self {
        let rotation = position.wrapping_sub(shape.support.start(n, k) as u64) & (n as u64 / 2 - 1);
        let (mut rest, masked) = divided(rotation, shape.masked as u64, shape.reach() / shape.masked);
        let mut cmux = vec![0; shape.cmux.len()];
        for t in (0..shape.cmux.len()).rev() {
            (cmux[t], rest) = divided(rest, (shape.stride(t) / shape.masked) as u64, shape.cmux[t]);
        }
        Self { masked, cmux }
    }
}

/// The mask of one band where the first digit leaves it: 1 where the factor takes its value from the band, and 0 everywhere if the
/// digit has another value. Constant time.
fn mask(
    shape: &RotationShape,
    (n, k): (usize, usize),
    (position, sign): (u64, i8),
    (i, band): (usize, usize),
) -> Vec<f64> {
    let (half, rotation) = (n as u64 / 2, Rotation::new(shape, n, k, position));
    let rest = (0..shape.cmux.len()).fold(0, |sum, t| sum + rotation.cmux[t] * shape.stride(t) as u64);
    let (here, negative) = (same(rotation.masked, i as u64), u64::from(sign as u8 >> 7));
    let at = |u: u64| {
        // Where the CMuxes bring this number to, and the coefficient that its value is taken from.
        let to = (u + rest) & (half - 1);
        let wraps = to.wrapping_sub(position) >> 63;
        let source = to.wrapping_sub(position) & (n as u64 - 1);
        let own = 2 * (1 ^ (source.wrapping_sub(half) >> 63)) + (wraps ^ negative);
        (here & same(own, band as u64)) as f64
    };
    (0..half).map(at).collect()
}

/// The key of these samples. What is packed goes back to the pool.
fn made(
    ctx: &Context,
    spec: KeySwitchSpec,
    samples: &[(Multiplier<'_>, &Poly<Eval>)],
    sk: &SecretKey,
    random: &mut ChaChaSource,
) -> Result<PackedKey, Error> {
    let (q_limbs, p_limbs) = (spec.q_limbs, spec.p_limbs);
    let room = || Ok(ctx.ring().scratch(q_limbs, p_limbs)?);
    PackedKey::new(ctx, SwitchingKey::encrypting(ctx, spec, samples, sk, random, room)?)
}

/// The masks of factor `k`.
fn masks(
    ctx: &Context,
    (shape, k): (&RotationShape, usize),
    coefficient: (u64, i8),
    sk: &SecretKey,
    random: &mut ChaChaSource,
) -> Result<PackedKey, Error> {
    let (ring, spec, fft) = (ctx.ring(), shape.mask_spec(), SpecialFft::new(ctx.ring().n() / 2));
    let special = ring.modulus(ring.q_count()).value() as f64;
    let samples: Vec<_> = (0..shape.masked).flat_map(|i| (0..BANDS).map(move |band| (i, band))).collect();
    let encoded = |&sample: &(usize, usize)| {
        let values = Zeroizing::new(mask(shape, (ring.n(), k), coefficient, sample));
        let coefficients = Zeroizing::new(fft.coefficients(&values, special)?);
        Ok(ring.to_eval(ring.lift(&coefficients, ring.secret_scratch(spec.q_limbs, spec.p_limbs)?)))
    };
    let masks = samples.par_iter().map(encoded).collect::<Result<Vec<Poly<Eval>>, Error>>()?;
    let samples: Vec<_> = masks.iter().map(|mask| (Multiplier::integer(-1), mask)).collect();
    made(ctx, spec, &samples, sk, random)
}

/// The selectors of CMux `t` of factor `k`.
fn cmux(
    ctx: &Context,
    (shape, k, t): (&RotationShape, usize, usize),
    (position, _): (u64, i8),
    sk: &SecretKey,
    random: &mut ChaChaSource,
) -> Result<PackedKey, Error> {
    let (ring, spec) = (ctx.ring(), shape.cmux_spec(t));
    let special = ring.special_product(shape.special);
    let limbs = 0..spec.q_limbs + spec.p_limbs;
    // Minus P modulo the primes of the digit, 0 modulo the others.
    let residue = |digit: &[usize], i| if digit.contains(&i) { ring.modulus(i).neg(special[i]) } else { 0 };
    let minus: Vec<Vec<u64>> =
        shape.digits.iter().map(|digit| limbs.clone().map(|i| residue(digit, i)).collect()).collect();
    let chosen = Rotation::new(shape, ring.n(), k, position).cmux[t];
    let mut messages = Vec::with_capacity(2 * shape.cmux[t]);
    for (v, rotation) in shape.cmux_rotations(t).enumerate() {
        let here = same(chosen, v as u64);
        let shape = (spec.q_limbs, spec.p_limbs);
        let image = sk.image(ctx, &right(ctx, rotation), here as i64, shape)?;
        let mut one = Zeroizing::new(vec![0i64; ring.n()]);
        one[0] = here as i64;
        let one = ring.to_eval(ring.lift_short(&one, ring.secret_scratch(shape.0, shape.1)?));
        messages.extend([image, one]);
    }
    let of = |message| minus.iter().map(move |minus| (Multiplier::Residues(minus), message));
    let samples: Vec<_> = messages.iter().flat_map(of).collect();
    made(ctx, spec, &samples, sk, random)
}

/// The sums of the products of rotated inputs with the samples of a key.
fn apply(
    key: &PackedKey,
    ctx: &Context,
    of: &[Vec<&Digits>],
    rotations: &[Arc<Automorphism>],
) -> Result<Vec<Pair>, Error> {
    let rotations: Vec<&Automorphism> = rotations.iter().map(|phi| &**phi).collect();
    Ok(ctx.ring().stream_sums(of, key.stream(), &rotations)?)
}

/// The division from all primes of a context and the first special ones to the first `limbs` primes of the chain of its family.
fn division(ctx: &Context, special: usize, limbs: usize) -> Result<Arc<Division>, Error> {
    let all = ctx.all();
    let primes = ctx.params().prime_indices().iter().copied();
    let primes = primes.chain(all.q_count()..all.q_count() + special).collect();
    all.mod_switch(primes, limbs, 0).ok_or(Error::Level { needed: limbs, found: ctx.params().q().len() })
}

/// Rescales from the raised primes to the chain: `round(x Q / (R P))` of polynomials with all primes of a context, whose product is R, and special
/// ones, whose product is P, on the first primes of the whole chain, whose product is Q.
///
/// # Errors
/// [`Error::Level`] if no prime leaves, or limbs do not exist; memory that cannot be had.
fn to_chain(ctx: &Context, of: &[&Poly<Eval>], limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let special = of.first().map_or(0, |x| x.p_limbs());
    Ok(ctx.all().divide(of, &*division(ctx, special, limbs)?)?)
}

/// The automorphism that rotates numbers to the right.
fn right(ctx: &Context, by: usize) -> Arc<Automorphism> {
    ctx.ring().automorphism(rotation_exponent(-(by as isize), ctx.ring().n()))
}

/// Makes the keys of all factors of one sparse secret on the raised primes, which are the chain of `ctx`, those of a factor side by side; `random`
/// is asked for a source for each key by its number, in no certain order.
///
/// # Errors
/// Those of `random` and of keys.
pub fn generate<E: From<Error> + Send>(
    ctx: &Arc<Context>,
    shape: &RotationShape,
    secret: &SignedSupport,
    sk: &SecretKey,
    random: impl Fn(u64) -> Result<ChaChaSource, E> + Sync,
) -> Result<PackedKeys, E> {
    let needs = shape.keys();
    let mut keys = Vec::with_capacity(needs.len());
    if let Some(one_hot) = &shape.one_hot {
        for (need, plaintexts) in needs.iter().zip(one_hot.groups()) {
            let random = &mut random(need.number)?;
            keys.push(one_hot::group(ctx, (shape, one_hot), plaintexts, (secret, sk), random)?);
        }
    } else {
        let key = |(i, need): (usize, &PackedNeed)| {
            let (k, digit) = (i / shape.keys_of_factor(), i % shape.keys_of_factor());
            let (coefficient, mut source) = (secret.get(k), random(need.number)?);
            Ok(match digit.checked_sub(1) {
                None => masks(ctx, (shape, k), coefficient, sk, &mut source)?,
                Some(t) => cmux(ctx, (shape, k, t), coefficient, sk, &mut source)?,
            })
        };
        for of_factor in needs.iter().enumerate().collect::<Vec<_>>().chunks(shape.keys_of_factor()) {
            keys.extend(of_factor.par_iter().copied().map(key).collect::<Result<Vec<_>, E>>()?);
        }
    }
    Ok(PackedKeys::new(ctx.clone(), &needs, keys)?)
}

/// The keys of all factors of one sparse secret, with their shape: for each factor its masks, then its CMuxes.
#[derive(Clone, Copy)]
pub struct ShipKeys<'a> {
    keys: &'a PackedKeys,
    shape: &'a RotationShape,
}

impl<'a> ShipKeys<'a> {
    /// These keys, of this shape.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of keys.
    pub fn new(keys: &'a PackedKeys, shape: &'a RotationShape) -> Result<Self, Error> {
        // Every run asks: all shapes are compared where the bootstrap key is taken.
        let count = match shape.one_hot {
            Some(one_hot) => one_hot.groups().count(),
            None => shape.support.weight * shape.keys_of_factor(),
        };
        if keys.list().len() != count {
            return Err(Error::Stored { what: "SHIP rotation keys have other shapes than their parameters give them" });
        }
        Ok(Self { keys, shape })
    }
    /// The context whose chain is the raised primes.
    pub fn context(&self) -> &'a Arc<Context> {
        self.keys.context()
    }
    /// How factors are cut.
    pub fn shape(&self) -> &'a RotationShape {
        self.shape
    }
    /// The name of the secret key that factors are under.
    pub fn id(&self) -> Option<KeyId> {
        self.keys.id()
    }

    /// For each of several lists of bands, encoded at the raised primes and the first special one, all factors on the first `limbs` primes of the
    /// chain: the keys are read once. `stop` is asked before each digit.
    ///
    /// # Errors
    /// Those of `stop`; memory that cannot be had.
    pub fn factors(
        &self,
        bands: &[Digits],
        limbs: usize,
        stop: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Vec<Vec<Poly<Eval>>>>, Error> {
        let factor = |k: usize| self.factor(k, bands, limbs, stop);
        let weight = self.shape.support.weight;
        let by_factor = (0..weight).into_par_iter().map(factor).collect::<Result<Vec<_>, _>>()?;
        let mut out: Vec<Vec<_>> = bands.iter().map(|_| Vec::with_capacity(weight)).collect();
        for of_factor in by_factor {
            of_factor.into_iter().zip(&mut out).for_each(|(polys, list)| list.push(polys));
        }
        Ok(out)
    }

    /// One factor of each list of bands.
    fn factor(
        &self,
        k: usize,
        bands: &[Digits],
        limbs: usize,
        stop: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Vec<Poly<Eval>>>, Error> {
        let (ctx, shape, each) = (&**self.context(), self.shape, self.shape.keys_of_factor());
        let keys = &self.keys.list()[k * each..(k + 1) * each];
        stop()?;
        let rotations: Vec<_> = shape.masked_rotations(ctx.ring().n(), k).map(|by| right(ctx, by)).collect();
        let of: Vec<_> = bands.iter().map(|bands| vec![bands]).collect();
        let mut sums = apply(&keys[0], ctx, &of, &rotations)?;
        for t in 0..shape.cmux.len() {
            stop()?;
            let rotations: Vec<_> = shape.cmux_rotations(t).map(|by| right(ctx, by)).collect();
            let digits = sums.iter().map(|(b, a)| {
                let halves = divide(ctx, &[a, b], 0)?;
                let halves: Vec<&Poly<Eval>> = halves.iter().collect();
                Ok(ctx.ring().digits(&halves, (shape.raised, shape.special), &shape.digits)?)
            });
            let digits = digits.collect::<Result<Vec<Vec<Digits>>, Error>>()?;
            let of: Vec<Vec<&Digits>> = digits.iter().map(|digits| digits.iter().collect()).collect();
            sums = apply(&keys[t + 1], ctx, &of, &rotations)?;
        }
        sums.iter().map(|(b, a)| to_chain(ctx, &[b, a], limbs)).collect()
    }
}

#[cfg(test)]
#[path = "../tests/keys.rs"]
mod tests;
