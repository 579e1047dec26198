//! Moves all slots of the ring into its coefficients in one level: the whole inverse of the map from coefficients to
//! slots.
//!
//! `w_k = sum_i z_i zeta^(5^k i)` are the slots of the polynomial whose coefficients are the numbers `z_i`. The map has as many diagonals as there are
//! slots, each a full polynomial: baby and giant steps of about the same number, babies divided by P so that diagonals have the limbs of
//! the chain alone, diagonals packed in the order that they are read in, and of a tile of the babies all giant steps while it is in the
//! cache. Diagonals are made one giant step at a time: in the clear all of them would be gigabytes.

use super::{Pack, PackShape, Packing, LIMBS, PACK_LEVEL};
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::fft::{unit_root, SpecialFft};
use aglet_ring::ops::KeyStream;
use aglet_ring::{Eval, KeyProduct, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, lift_by_special};
use aglet_rlwe::{KeyRole, KeySwitchSpec, SwitchingKey};
use aglet_schemes::ckks::approximate::check_scale;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::missing_keys::missing;
use aglet_schemes::samples::linear;
use aglet_schemes::Error;
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::Arc;

/// An encoded [`Pack`].
pub struct EncodedPack {
    scale_ratio: f64,
    shape: PackShape,
    /// The diagonals of each giant step.
    giants: Vec<KeyStream>,
}

impl EncodedPack {
    fn new(e: &CkksEvaluator<'_>, pack: &Pack) -> Result<Self, Error> {
        check_scale(pack.scale_ratio)?;
        let (ctx, n) = (e.context(), e.context().ring().n());
        let (shape, fft) = (PackShape::of(ctx.params())?, SpecialFft::new(n / 2));
        let scale = pack.scale_ratio * ctx.modulus(PACK_LEVEL) * pack.factor;
        let roots: Vec<Complex64> = (0..2 * n as u64).map(|k| unit_root(k, 2 * n as u64)).collect();
        let powers: Vec<usize> = (0..n / 2).map(|k| rotation_exponent(k as isize, n) as usize).collect();
        // Diagonal d of the map, rotated to the right by what its giant step rotates to the left.
        let diagonal = |d: usize, shift: usize| {
            let value = |k: usize| {
                let row = (k + n / 2 - shift) % (n / 2);
                roots[powers[row] * ((row + d) % (n / 2)) % (2 * n)]
            };
            let values: Vec<Complex64> = (0..n / 2).map(value).collect();
            let coefficients = fft.coefficients(&values, scale)?;
            Ok(ctx.ring().to_eval(ctx.ring().lift(&coefficients, ctx.ring().scratch(LIMBS, 0)?)))
        };
        let giant = |g: usize| {
            e.check_stop()?;
            let shift = g * shape.babies;
            let diagonals = (0..shape.babies).into_par_iter().map(|b| diagonal(shift + b, shift));
            Ok(KeyStream::new(ctx.ring(), &[&diagonals.collect::<Result<Vec<_>, Error>>()?])?)
        };
        let giants = (0..shape.giants).map(giant).collect::<Result<_, Error>>()?;
        Ok(Self { scale_ratio: pack.scale_ratio, shape, giants })
    }
}

/// The key of a rotation, which has the shape of those beside it.
fn key_of<'a>(
    e: &CkksEvaluator<'a>,
    ct: &CkksCiphertext,
    by: usize,
    spec: &KeySwitchSpec,
) -> Result<&'a SwitchingKey, Error> {
    let n = e.context().ring().n();
    let role = KeyRole::Galois(rotation_exponent(by as isize, n));
    let key = e.key(role, LIMBS)?;
    if key.spec().cut(LIMBS) != *spec {
        return Err(missing(role, LIMBS, n));
    }
    e.own(key, ct)?;
    Ok(key)
}

/// Both halves of the rotations by all baby steps.
fn baby_steps(
    e: &CkksEvaluator<'_>,
    ct: &CkksCiphertext,
    t: &EncodedPack,
    spec: &KeySwitchSpec,
) -> Result<[Vec<Poly<Eval>>; 2], Error> {
    e.check_stop()?;
    let (ctx, [c0, c1]) = (e.context(), linear(ct)?.map(|poly| poly.prefix(LIMBS)));
    let (lifted, digits) = (lift_by_special(ctx, &[&c0], spec.p_limbs)?, digits(ctx, spec, &[&c1])?);
    let rotated = |by: usize| {
        e.check_stop()?;
        let key = key_of(e, ct, by, spec)?;
        let phi = ctx.ring().automorphism(rotation_exponent(by as isize, ctx.ring().n()));
        let product = KeyProduct { added_before: lifted.first(), ..KeyProduct::of(&digits[0]) };
        e.divided(&ctx.ring().key_products(&[product], key.words(), Some(&phi))?[0], 0)
    };
    let all = (1..t.shape.babies).into_par_iter().map(rotated).collect::<Result<Vec<_>, Error>>()?;
    let (mut first, mut second) = (vec![c0], vec![c1]);
    for mut halves in all {
        second.extend(halves.pop());
        first.extend(halves.pop());
    }
    Ok([first, second])
}

/// The sum of all giant steps, divided by P and the prime of the level: some sums of steps side by side.
fn giant_steps(
    e: &CkksEvaluator<'_>,
    ct: &CkksCiphertext,
    sums: &[[&Poly<Eval>; 2]],
    t: &EncodedPack,
    spec: &KeySwitchSpec,
) -> Result<Vec<Poly<Eval>>, Error> {
    let ctx = e.context();
    let part = |&(first, last): &(usize, usize)| {
        let mut all: Option<Pair> = None;
        for (g, [c0, c1]) in sums.iter().enumerate().take(last).skip(first) {
            e.check_stop()?;
            if g == 0 {
                // This one does not rotate.
                let mut lifted = lift_by_special(ctx, &[c0, c1], spec.p_limbs)?;
                all = lifted.pop().and_then(|a| Some((lifted.pop()?, a)));
                continue;
            }
            let by = g * t.shape.babies;
            let (key, phi) = (key_of(e, ct, by, spec)?, rotation_exponent(by as isize, ctx.ring().n()));
            let (lifted, digits) = (lift_by_special(ctx, &[c0], spec.p_limbs)?, digits(ctx, spec, &[c1])?);
            let added_after = all.as_ref().map(|(b, a)| (b, a));
            let product = KeyProduct { digits: &digits[0], added_before: lifted.first(), added_after };
            all = ctx.ring().key_products(&[product], key.words(), Some(&ctx.ring().automorphism(phi)))?.pop();
        }
        all.ok_or_else(|| Error::zero_map(ctx.ring().n() / 2))
    };
    let parts = t.shape.parts().par_iter().map(part).collect::<Result<Vec<Pair>, Error>>()?;
    // The first has both: what does not rotate has no special limbs, but what follows it does.
    let mut parts = parts.into_iter();
    let (mut b, mut a) = parts.next().ok_or_else(|| Error::zero_map(ctx.ring().n() / 2))?;
    for (more_b, more_a) in parts {
        ctx.ring().add_assign(&mut b, &more_b)?;
        ctx.ring().add_assign(&mut a, &more_a)?;
    }
    e.divided(&(b, a), 1)
}

impl Packing for CkksEvaluator<'_> {
    type Packed = EncodedPack;

    fn encode_pack(&self, pack: &Pack) -> Result<EncodedPack, Error> {
        EncodedPack::new(self, pack)
    }
    /// Ciphertexts meet the diagonals side by side.
    fn pack(&self, of: &[CkksCiphertext], t: &EncodedPack) -> Result<Vec<CkksCiphertext>, Error> {
        if let Some(low) = of.iter().find(|ct| ct.level() < PACK_LEVEL) {
            return Err(Error::LevelTooLow { required: PACK_LEVEL, actual: low.level() });
        }
        let first = KeyRole::Galois(rotation_exponent(1, self.context().ring().n()));
        let spec = self.key(first, LIMBS)?.spec().cut(LIMBS);
        let babies = of.iter().map(|ct| baby_steps(self, ct, t, &spec)).collect::<Result<Vec<_>, _>>()?;
        let sums = self.context().ring().stream_products(&babies, &t.giants)?;
        drop(babies);
        let pack = |(k, ct): (usize, &CkksCiphertext)| {
            let sums: Vec<_> = sums.iter().map(|of_giant| of_giant[k].each_ref()).collect();
            let polys = giant_steps(self, ct, &sums, t, &spec)?;
            Ok(Arc::new(ct.with(polys, ct.scale * t.scale_ratio)))
        };
        of.iter().enumerate().map(pack).collect()
    }
}
