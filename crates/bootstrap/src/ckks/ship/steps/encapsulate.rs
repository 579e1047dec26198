//! Sparse-secret encapsulation where the secret appears modulo q0 alone: the key has short digits instead of a special prime.

use crate::ckks::ship::encapsulation::{encapsulate, noise, spec};
use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::{KeyRole, Params};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::samples::linear;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};
use std::sync::Arc;

/// To the sparse secret, by digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encapsulate {
    /// Coefficients of the sparse secret that are not zero.
    pub weight: usize,
    /// How many digits there are.
    pub digits: usize,
    /// Bits of each.
    pub bits: u32,
}

/// Evaluators that can leave the main secret for one that appears at the lowest modulus alone.
pub trait GadgetEncapsulation: Approximate {
    /// At chain level 0, switches `ct` to the sparse secret.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless `ct` is at level 0.
    fn encapsulate(&self, ct: &Self::Ciphertext, by: Encapsulate) -> Result<Self::Ciphertext, SchemeError>;
}

impl Step for Encapsulate {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        let holds = self.digits as f64 * f64::from(self.bits) >= moduli[0].log2();
        from.level == 0 && to.level == 0 && holds
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::DenseToSparse, spec: spec(self.digits) }])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("weight {}, {} digits of {} bits", self.weight, self.digits, self.bits))
    }
}

impl<E: GadgetEncapsulation> RunOn<E> for Encapsulate {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.encapsulate(ct, *self))
    }
}

impl GadgetEncapsulation for CkksEvaluator<'_> {
    fn encapsulate(&self, ct: &CkksCiphertext, by: Encapsulate) -> Result<CkksCiphertext, SchemeError> {
        if ct.level() > 0 {
            return Err(SchemeError::LevelMismatch { left: ct.level(), right: 0 });
        }
        self.check_stop()?;
        let key = self.key(KeyRole::DenseToSparse, 1)?;
        let mut out = ct.with(encapsulate(self.context(), linear(ct)?, key, by.bits)?, ct.scale);
        out.sample.key = key.id();
        Ok(Arc::new(out))
    }
}

impl GadgetEncapsulation for ClearEvaluator {
    fn encapsulate(&self, ct: &ClearCiphertext, _: Encapsulate) -> Result<ClearCiphertext, SchemeError> {
        ct.at_bottom()?;
        Ok(ct.clone())
    }
}

impl GadgetEncapsulation for NoisyEvaluator {
    fn encapsulate(&self, ct: &ClearCiphertext, by: Encapsulate) -> Result<ClearCiphertext, SchemeError> {
        Ok(self.disturbed(self.clear().encapsulate(ct, by)?, noise(self.noise().n, by.digits, by.bits), 0.0))
    }
}

impl GadgetEncapsulation for CostEvaluator {
    fn encapsulate(&self, ct: &CostCiphertext, by: Encapsulate) -> Result<CostCiphertext, SchemeError> {
        let _low = self.hold(1);
        self.inverse(1);
        let _digits: Vec<_> = (0..by.digits).map(|_| self.hold(1)).collect();
        self.forward(by.digits);
        Ok(CostCiphertext::new(self.product(by.digits, 1, 1), self.level(ct), self.scale(ct)))
    }
}
