//! What bootstraps need beyond arithmetic, on ciphertexts.
//!
//! After the modulus is raised, `c1` is one short digit under the sparse secret `s'`. The first linear map of a bootstrap,
//! `sum_i m_i phi_i(c0 + c1 s')`, can therefore be taken together with the switch to the main secret: a key for `i`
//! encrypts `P m_i phi_i(s')`, has one digit and one special prime, and `sum_i phi_i(c1) key_i / P` is the part of `c1`. No
//! limb is spent on a rescale, as the division by P is one (level-conserving rescale and aggregated key switch, eprint
//! 2025/1403). The part of `c0` is public and short, so doubles do.

use super::encode::{spread, subring_coefficients, too_large};
use super::evaluator::{linear, CkksEvaluator};
use super::{Ciphertext, CkksCiphertext};
use crate::approximate::{check_scale, same_scale};
use crate::linear_map::LinearMap;
use crate::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::fft::SpecialFft;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, KeyProduct, Pair};
use aglet_rlwe::exchange::{exchange, exchange_ratio};
use aglet_rlwe::keyswitch::{digits, lift_by_special};
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, SecretKey, SwitchingKey};
use num_complex::Complex64;
use std::sync::Arc;

impl CkksEvaluator<'_> {
    /// At chain level 0, switches to the sparse ephemeral secret.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless `ct` is at level 0 (a key for a higher level must never exist), a missing key.
    pub fn to_sparse_secret(&self, ct: &CkksCiphertext) -> Result<CkksCiphertext, Error> {
        at_bottom(ct)?;
        self.check_stop()?;
        let ([c0, c1], key) = (linear(ct)?, self.key(KeyRole::ToSparse, 1)?);
        let ctx = self.context();
        let lifted = lift_by_special(ctx, &[c0], key.spec().p_limbs)?;
        let digits = digits(ctx, key.spec(), &[c1])?;
        let product = KeyProduct { added_before: lifted.first(), ..KeyProduct::of(&digits[0]) };
        let pairs = ctx.ring().key_products(&[product], key.words(), None)?;
        let mut out = ct.with(self.divided(&pairs[0], 0)?, ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }

    /// Raises the modulus from `q0` to `Q_level` and returns to the main secret; the scale stays.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless `ct` is at level 0, [`Error::NoSuchLevel`], a missing key.
    pub fn raise_modulus(&self, ct: &CkksCiphertext, level: usize) -> Result<CkksCiphertext, Error> {
        at_bottom(ct)?;
        let (ctx, max) = (self.context(), self.context().ring().q_count() - 1);
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        self.check_stop()?;
        let ([c0, c1], key) = (linear(ct)?, self.key(KeyRole::FromSparse, level + 1)?);
        let c0 = ctx.ring().raise(&[c0], level + 1, 0)?;
        let c1 = ctx.ring().raise(&[c1], level + 1, key.spec().p_limbs)?;
        let digits: Vec<Digits> = c1.into_iter().map(Digits::single).collect();
        let pairs = ctx.ring().key_products(&[KeyProduct::of(&digits[0])], key.words(), None)?;
        let mut polys = self.divided(&pairs[0], 0)?;
        ctx.ring().add_assign(&mut polys[0], &c0[0]);
        let mut out = ct.with(polys, ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }

    /// [`CkksEvaluator::raise_modulus`] and a linear map on all slots of the ring in one, of several, which read the keys once: no
    /// level, and `out.scale = in.scale * scale_ratio`.
    ///
    /// # Errors
    /// As there, [`Error::InvalidScale`], [`Error::InvalidLinearMap`] for a map without diagonals.
    pub fn raise_through(
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
        if map.slots() != ctx.ring().n() / 2 {
            return Err(Error::SlotMismatch { expected: ctx.ring().n() / 2, found: map.slots() });
        }
        let (first, _) = keys.first().ok_or(Error::zero_map(map.slots()))?;
        let c1 = of.iter().map(|ct| Ok(linear(ct)?[1])).collect::<Result<Vec<_>, Error>>()?;
        let raised = ctx.ring().raise(&c1, level + 1, first.spec().p_limbs)?;
        let raised: Vec<Digits> = raised.into_iter().map(Digits::single).collect();
        let words: Vec<_> = keys.iter().map(|(key, phi)| (key.words(), &**phi)).collect();
        let sums = ctx.ring().rotated_sums(&raised, &words)?;
        let finish = |(ct, pair): (&CkksCiphertext, &Pair)| {
            self.check_stop()?;
            let mut polys = self.divided(pair, 0)?;
            let public = ctx.ring().public_map(linear(ct)?[0], level + 1, map.diagonals(), scale_ratio);
            ctx.ring().add_assign(&mut polys[0], &public.map_err(too_large)?);
            let mut out = ct.with(polys, ct.scale * scale_ratio);
            out.sample.key = first.id();
            Ok(Arc::new(out))
        };
        of.iter().zip(&sums).map(finish).collect()
    }

    /// Exchanges the primes of the chain for those of the whole chain up to a level, which divides by all that leave; the value is
    /// multiplied by `2^shift` on the way. `scale_ratio` is output scale over input scale.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`], and [`Error::ScaleMismatch`] if the ratio is not that of the primes.
    pub fn exchange_primes(
        &self,
        ct: &CkksCiphertext,
        (level, shift): (usize, u32),
        scale_ratio: f64,
    ) -> Result<CkksCiphertext, Error> {
        let (ctx, limbs) = (self.context(), level + 1);
        self.check_stop()?;
        let expected = exchange_ratio(ctx, ct.limbs(), limbs, shift)?;
        if !same_scale(expected, scale_ratio) {
            return Err(Error::ScaleMismatch { expected, found: scale_ratio });
        }
        let polys = exchange(ctx, &ct.polys.iter().collect::<Vec<_>>(), limbs, shift)?;
        Ok(Arc::new(ct.with(polys, ct.scale * scale_ratio).real_if(ct.real)))
    }
}

/// The keys of [`CkksEvaluator::raise_through`]: one for each diagonal, which it carries at the scale
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
        let key = SwitchingKey::weighted_galois(ctx, spec.clone(), &plain, galois, (sparse, main), &mut random);
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
