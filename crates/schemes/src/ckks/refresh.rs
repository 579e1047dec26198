//! What a bootstrap needs beyond arithmetic: [`Refresh`] on ciphertexts.
//!
//! After the modulus is raised, `c1` is one short digit under the sparse secret `s'`. The first linear map of a bootstrap,
//! `sum_i m_i phi_i(c0 + c1 s')`, can therefore be taken together with the switch to the main secret: a key for `i`
//! encrypts `P m_i phi_i(s')`, has one digit and one special prime, and `sum_i phi_i(c1) key_i / P` is the part of `c1`. No
//! limb is spent on a rescale, as the division by P is one (level-conserving rescale and aggregated key switch, eprint
//! 2025/1403). The part of `c0` is public and short, so doubles do.

use super::encode::{spread, subring_coefficients};
use super::evaluator::{linear, CkksEvaluator};
use super::{Ciphertext, CkksCiphertext};
use crate::approximate::{check_scale, same_scale, Refresh, Settle};
use crate::linear_map::LinearMap;
use crate::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::fft::SpecialFft;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Coeff, Eval, Poly};
use aglet_rlwe::keyswitch::{divide, lift_by_special, rotated_sums, Pair};
use aglet_rlwe::settle::{settle, settle_ratio};
use aglet_rlwe::{Context, Digits, KeyRole, KeySwitchSpec, SecretKey, SwitchingKey};
use num_complex::Complex64;
use std::sync::Arc;

impl Refresh for CkksEvaluator<'_> {
    fn sparse_secret(&self, ct: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        at_bottom(ct)?;
        self.check_stop()?;
        let ([c0, c1], key) = (linear(ct)?, self.key(KeyRole::ToSparse, 1)?);
        let ctx = self.context();
        let lifted = lift_by_special(ctx, c0, key.spec().p_limbs)?;
        let (b, a) = Digits::new(ctx, key.spec(), c1)?.product(ctx, key, None, Some(&lifted), None)?;
        let mut out = ct.with(vec![divide(ctx, &b, 0)?, divide(ctx, &a, 0)?], ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }

    fn mod_raise(&self, ct: &CkksCiphertext, level: usize) -> Result<CkksCiphertext, Error> {
        at_bottom(ct)?;
        let (ctx, max) = (self.context(), self.context().ring().q_count() - 1);
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        self.check_stop()?;
        let ([c0, c1], key) = (linear(ct)?, self.key(KeyRole::FromSparse, level + 1)?);
        let c0 = raise(ctx, c0, level + 1, 0)?;
        let c1 = Digits::single(raise(ctx, c1, level + 1, key.spec().p_limbs)?);
        let (b, a) = c1.product(ctx, key, None, None, None)?;
        let (mut b, a) = (divide(ctx, &b, 0)?, divide(ctx, &a, 0)?);
        ctx.ring().add_assign(&mut b, &c0);
        let mut out = ct.with(vec![b, a], ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }

    fn raise_transform(
        &self,
        ct: &CkksCiphertext,
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<CkksCiphertext, Error> {
        Ok(self.raise_transforms(std::slice::from_ref(ct), level, map, scale_ratio)?.remove(0))
    }

    fn raise_transforms(
        &self,
        of: &[CkksCiphertext],
        level: usize,
        map: &LinearMap,
        scale_ratio: f64,
    ) -> Result<Vec<CkksCiphertext>, Error> {
        of.iter().try_for_each(|ct| at_bottom(ct))?;
        check_scale(scale_ratio)?;
        let (ctx, max) = (self.context(), self.context().ring().q_count() - 1);
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        self.check_stop()?;
        let keys = map.diagonals().keys().map(|&by| {
            let galois = rotation_exponent(by as isize, ctx.ring().n());
            Ok((self.key(KeyRole::FromSparseGalois(galois), level + 1)?, ctx.ring().automorphism(galois)))
        });
        let keys = keys.collect::<Result<Vec<_>, Error>>()?;
        let (first, _) = keys.first().ok_or(Error::zero_map(map.slots()))?;
        let raised = of.iter().map(|ct| raise(ctx, linear(ct)?[1], level + 1, first.spec().p_limbs));
        let sums = rotated_sums(ctx, &raised.collect::<Result<Vec<_>, Error>>()?, &keys)?;
        let finish = |(ct, (b, a)): (&CkksCiphertext, &Pair)| {
            self.check_stop()?;
            let (mut b, a) = (divide(ctx, b, 0)?, divide(ctx, a, 0)?);
            ctx.ring().add_assign(&mut b, &mapped(ctx, linear(ct)?[0], level + 1, map, scale_ratio)?);
            let mut out = ct.with(vec![b, a], ct.scale * scale_ratio);
            out.sample.key = first.id();
            Ok(Arc::new(out))
        };
        of.iter().zip(&sums).map(finish).collect()
    }

    fn settle(&self, ct: &CkksCiphertext, to: Settle) -> Result<CkksCiphertext, Error> {
        let (ctx, limbs) = (self.context(), to.level + 1);
        self.check_stop()?;
        let expected = settle_ratio(ctx, ct.limbs(), limbs, to.shift)?;
        if !same_scale(expected, to.scale_ratio) {
            return Err(Error::ScaleMismatch { expected, found: to.scale_ratio });
        }
        let polys = ct.polys.iter().map(|p| settle(ctx, p, limbs, to.shift)).collect::<Result<_, _>>()?;
        Ok(Arc::new(ct.with(polys, ct.scale * to.scale_ratio).real_if(ct.real)))
    }
}

/// `scale_ratio` times the map of the slots of a polynomial modulo q0, in doubles: coefficients stay below q0 times the
/// gain of the map, and doubles are off by 2^-50 of that, less than the rounding of a division.
fn mapped(
    ctx: &Context,
    x: &Poly<Eval>,
    q_limbs: usize,
    map: &LinearMap,
    scale_ratio: f64,
) -> Result<Poly<Eval>, Error> {
    let (ring, slots) = (ctx.ring(), map.slots());
    let (low, q0) = (ring.to_coeff(ring.copy(x, 1)?), ring.modulus(0));
    let at = |j: usize| q0.centre(low.limb(0)[j]) as f64;
    let mut values: Vec<Complex64> = (0..slots).map(|j| Complex64::new(at(j), at(j + slots))).collect();
    let fft = SpecialFft::new(slots);
    fft.forward(&mut values);
    // The bits of a large q0 that doubles do not know are left out, so that sums of many terms fit a word.
    let unknown = (64 - q0.value().leading_zeros()).saturating_sub(50);
    let coefficients = subring_coefficients(&fft, &map.apply(&values)?, scale_ratio / f64::from(unknown).exp2())?;
    let mut sum = ring.lift(&coefficients, ring.scratch(q_limbs, 0)?);
    if unknown > 0 {
        ring.for_limbs(&mut sum, |prime, _, limb| {
            let (m, by) = (ring.modulus(prime), ring.modulus(prime).reduce(1 << unknown));
            limb.iter_mut().for_each(|r| *r = m.mul(*r, by));
        });
    }
    Ok(ring.to_eval(sum))
}

/// The keys of [`Refresh::raise_transform`]: one for each diagonal, which it carries at the scale
/// `scale_ratio P`, from the sparse secret to the main one. `source` is called for each, with what the key is for,
/// and may stop the work.
///
/// # Errors
/// [`Error::SlotMismatch`] unless the map is on all slots of the ring, and those of `source`.
pub fn raising_keys<F: From<Error>>(
    ctx: &Context,
    spec: &KeySwitchSpec,
    map: &LinearMap,
    scale_ratio: f64,
    (sparse, main): (&SecretKey, &SecretKey),
    mut source: impl FnMut(KeyRole) -> Result<ChaChaSource, F>,
) -> Result<Vec<(KeyRole, SwitchingKey)>, F> {
    let ring = ctx.ring();
    if map.slots() != ring.n() / 2 {
        return Err(Error::SlotMismatch { expected: ring.n() / 2, found: map.slots() }.into());
    }
    let special = ctx.params().p()[..spec.p_limbs].iter().map(|&p| p as f64).product::<f64>();
    let key = |(&by, values): (&usize, &Vec<Complex64>)| -> Result<_, F> {
        let galois = rotation_exponent(by as isize, ring.n());
        let role = KeyRole::FromSparseGalois(galois);
        let mut random = source(role)?;
        let fft = SpecialFft::new(values.len());
        let small = subring_coefficients(&fft, values, scale_ratio * special)?;
        let wide = spread(&small, ring.n());
        let plain = ring.to_eval(ring.lift(&wide, ring.scratch(spec.q_limbs, spec.p_limbs).map_err(Error::from)?));
        let key = SwitchingKey::carrying(ctx, spec.clone(), &plain, galois, (sparse, main), &mut random);
        Ok((role, key.map_err(Error::from)?))
    };
    map.diagonals().iter().map(key).collect()
}

fn at_bottom(ct: &Ciphertext) -> Result<(), Error> {
    if ct.level() != 0 {
        return Err(Error::LevelMismatch { left: ct.level(), right: 0 });
    }
    Ok(())
}

/// The centred coefficients of a polynomial modulo q0 as residues of more primes.
fn raise(ctx: &Context, x: &Poly<Eval>, q_limbs: usize, p_limbs: usize) -> Result<Poly<Eval>, Error> {
    let ring = ctx.ring();
    let mut low: Poly<Coeff> = ring.scratch(1, 0)?;
    let mut out: Poly<Coeff> = ring.scratch(q_limbs, p_limbs)?;
    out.limb_mut(0).copy_from_slice(x.limb(0));
    if q_limbs + p_limbs > 1 {
        let targets: Vec<usize> = (1..q_limbs + p_limbs).map(|i| ring.prime_of(q_limbs, i)).collect();
        let plan = ring.converter(&[0], &targets);
        ring.table(0).inverse_scaled_to(x.limb(0), low.limb_mut(0), plan.source_factors()[0]);
        let rows = out.limbs_mut().skip(1).collect();
        ring.convert(&plan, vec![low.limb_mut(0)], rows, |t, row| ring.table(targets[t]).forward(row))?;
    }
    Ok(out.transformed())
}
