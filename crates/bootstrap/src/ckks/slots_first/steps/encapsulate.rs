//! Sparse-secret encapsulation (eprint 2022/024): the switch to the sparse ephemeral secret, under which the overflow
//! of a raised modulus is small.

use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{Ciphertext, CkksCiphertext, CkksEvaluator};
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};
use std::sync::Arc;

/// Evaluators that can switch to the sparse secret at the lowest modulus.
pub trait Encapsulation: Approximate {
    /// At chain level 0, switches `ct` to the sparse ephemeral secret.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless `ct` is at level 0 (a key for a higher level must never exist).
    fn encapsulate(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;
}

/// The switch to the sparse ephemeral secret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encapsulate {
    /// Its weight.
    pub weight: usize,
}

impl Step for Encapsulate {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == 0 && to.level == 0
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::DenseToSparse, spec: KeySwitchSpec::dense_to_sparse() }])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("weight {}", self.weight))
    }
}

impl<E: Encapsulation> RunOn<E> for Encapsulate {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.encapsulate(ct))
    }
}

impl Encapsulation for CkksEvaluator<'_> {
    fn encapsulate(&self, ct: &CkksCiphertext) -> Result<CkksCiphertext, SchemeError> {
        let sample = self.dense_to_sparse(ct)?;
        let mut out = ct.with(sample.polys, ct.scale);
        out.sample.key = sample.key;
        Ok(Arc::new(out))
    }
}

/// Refuses a ciphertext above the lowest modulus.
pub(super) fn at_bottom(ct: &Ciphertext) -> Result<(), SchemeError> {
    match ct.level() {
        0 => Ok(()),
        left => Err(SchemeError::LevelMismatch { left, right: 0 }),
    }
}

impl Encapsulation for ClearEvaluator {
    fn encapsulate(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext, SchemeError> {
        ct.at_bottom()?;
        Ok(ct.clone())
    }
}

impl Encapsulation for NoisyEvaluator {
    fn encapsulate(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext, SchemeError> {
        let noise = self.noise();
        // Slots hold coefficients from here on, so what the sparse secret is in a slot does not show.
        let even = noise.sparse_switch + (noise.sparse_weight + 1.0) / 12.0;
        Ok(self.disturbed(self.clear().encapsulate(ct)?, even, 0.0))
    }
}

impl Encapsulation for CostEvaluator {
    fn encapsulate(&self, ct: &CostCiphertext) -> Result<CostCiphertext, SchemeError> {
        Ok(CostCiphertext::new(self.dense_to_sparse()?, self.level(ct), self.scale(ct)))
    }
}
