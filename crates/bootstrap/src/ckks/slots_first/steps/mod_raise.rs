//! The step that raises the modulus (eprint 2018/153): coefficients `m` become `m + q0 I`, which eval_mod removes.

use super::encapsulate::at_bottom;
use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::ring::Ring;
use aglet_ring::{Digits, KeyProduct};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::sample_cost::CountedMemory;
use aglet_schemes::samples::linear;
use aglet_schemes::{Approximate, Error as SchemeError};
use num_complex::Complex64;
use std::sync::Arc;

/// Evaluators that can raise the modulus.
pub trait ModRaise: Approximate {
    /// Raises the modulus from `q0` to `Q_level` and returns from the sparse secret to the main one.
    ///
    /// Coefficients `m` become `m + q0 * I` with `|I| <= h/2` for an ephemeral secret of Hamming weight `h`; the scale
    /// stays.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless `ct` is at level 0, [`SchemeError::NoSuchLevel`].
    fn mod_raise(&self, ct: &Self::Ciphertext, level: usize) -> Result<Self::Ciphertext, SchemeError>;
}

/// From q0 to the top of the chain, and back to the main secret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Raise;

impl Step for Raise {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        from.level == 0 && to.level + 1 == moduli.len()
    }
    fn keys_needed(&self, _: &Scaled, to: &Scaled, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::SparseToDense, spec: KeySwitchSpec::sparse_to_dense(to.level + 1) }])
    }
}

impl<E: ModRaise> RunOn<E> for Raise {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.mod_raise(ct, to.level))
    }
}

impl ModRaise for CkksEvaluator<'_> {
    fn mod_raise(&self, ct: &CkksCiphertext, level: usize) -> Result<CkksCiphertext, SchemeError> {
        at_bottom(ct)?;
        let ring = self.context().ring();
        raisable(ring, level)?;
        self.check_stop()?;
        let ([c0, c1], key) = (linear(ct)?, self.key(KeyRole::SparseToDense, level + 1)?);
        let c0 = ring.raise(&[c0], level + 1, 0)?;
        let c1 = ring.raise(&[c1], level + 1, key.spec().p_limbs)?;
        let digits: Vec<Digits> = c1.into_iter().map(Digits::single).collect();
        let pairs = ring.key_products(&[KeyProduct::of(&digits[0])], key.words(), None)?;
        let mut polys = self.divided(&pairs[0], 0)?;
        ring.add_assign(&mut polys[0], &c0[0])?;
        let mut out = ct.with(polys, ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }
}

/// Refuses a level above the chain.
pub(super) fn raisable(ring: &Ring, level: usize) -> Result<(), SchemeError> {
    match ring.q_count() - 1 {
        max if level > max => Err(SchemeError::NoSuchLevel { level, max }),
        _ => Ok(()),
    }
}

impl ModRaise for ClearEvaluator {
    /// Adds `q0 * I` to every coefficient, `I` the rounded sum of `h + 1` uniform numbers in `[-1/2, 1/2)`: the
    /// distribution that a ternary secret of weight `h` gives. Every call draws afresh.
    fn mod_raise(&self, ct: &ClearCiphertext, level: usize) -> Result<ClearCiphertext, SchemeError> {
        ct.at_bottom()?;
        self.check_level(level)?;
        let mut random = self.fresh_random();
        let (weight, q0, scale) = (self.sparse_weight(), self.modulus(0), self.scale(ct));
        let mut overflow = || (0..=weight).map(|_| random.uniform()).sum::<f64>().round() * q0 / scale;
        let mut values = ct.values().to_vec();
        self.fft().inverse(&mut values);
        let n = values.len() as f64;
        for v in &mut values {
            *v = *v / n + Complex64::new(overflow(), overflow());
        }
        self.fft().forward(&mut values);
        self.encrypt(&values, level, scale)
    }
}

impl ModRaise for NoisyEvaluator {
    fn mod_raise(&self, ct: &ClearCiphertext, level: usize) -> Result<ClearCiphertext, SchemeError> {
        let switched = self.noise().sparse_switch;
        Ok(self.disturbed(self.clear().mod_raise(ct, level)?, switched, self.noise().rounding()))
    }
}

impl ModRaise for CostEvaluator {
    fn mod_raise(&self, ct: &CostCiphertext, level: usize) -> Result<CostCiphertext, SchemeError> {
        let limbs = level + 1;
        let spec = self.key(KeyRole::SparseToDense, limbs)?;
        let _raised = [raise_one(self, limbs), raise_one(self, limbs + spec.p_limbs)];
        let _product = self.product(1, limbs + spec.p_limbs, 0);
        Ok(CostCiphertext::new(self.divide(limbs, spec.p_limbs, 0), level, self.scale(ct)))
    }
}

/// One polynomial modulo q0 as residues of more primes.
pub(super) fn raise_one(e: &CostEvaluator, limbs: usize) -> CountedMemory {
    let (raised, _low) = (e.hold(limbs), e.hold(1));
    if limbs > 1 {
        e.inverse(1);
        e.convert(1, limbs - 1);
    }
    raised
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::Evaluator;

    #[test]
    fn raising_the_modulus_adds_small_multiples_of_q0() {
        let slots = 1 << 12;
        let e = ClearEvaluator::new(slots, vec![1024.0, 500.0, 520.0], 32, 7).unwrap();
        let zero = e.encrypt(&vec![Complex64::new(0.0, 0.0); slots], 0, 8.0).unwrap();
        let raised = e.mod_raise(&zero, 2).unwrap();
        assert_eq!((e.level(&raised), e.scale(&raised)), (2, 8.0));
        let mut pairs = raised.values().to_vec();
        e.fft().inverse(&mut pairs);
        let overflow: Vec<f64> = pairs.iter().flat_map(|w| [w.re, w.im]).map(|x| x / slots as f64 / 128.0).collect();
        assert!(overflow.iter().all(|i| (i - i.round()).abs() < 1e-9 && i.abs() < 16.5));
        let variance = overflow.iter().map(|i| i * i).sum::<f64>() / overflow.len() as f64;
        assert!((variance - (33.0 / 12.0 + 1.0 / 12.0)).abs() < 0.2, "variance {variance}");
        assert_ne!(e.mod_raise(&zero, 2).unwrap(), raised);
        assert!(matches!(e.mod_raise(&raised, 2), Err(SchemeError::LevelMismatch { left: 2, right: 0 })));
    }
}
