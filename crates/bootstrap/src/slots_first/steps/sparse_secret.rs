//! The step to the sparse ephemeral secret (eprint 2022/024), under which the overflow of a raised modulus is small.

use crate::error::Error;
use crate::step::{each, KeyNeed, RunOn, Scaled, Step};
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::ckks::{Ciphertext, CkksCiphertext, CkksEvaluator};
use aglet_schemes::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::noisy::NoisyEvaluator;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};
use std::sync::Arc;

/// Evaluators that can leave the main secret at the lowest modulus.
pub trait SparseSecret: Approximate {
    /// At chain level 0, switches `ct` to the sparse ephemeral secret.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] unless `ct` is at level 0 (a key for a higher level must never exist).
    fn sparse_secret(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, SchemeError>;
}

/// To the sparse ephemeral secret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToSparse {
    /// Its weight.
    pub weight: usize,
}

impl Step for ToSparse {
    type Place = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == 0 && to.level == 0
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, _: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(vec![KeyNeed { role: KeyRole::ToSparse, spec: KeySwitchSpec::to_sparse() }])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("weight {}", self.weight))
    }
}

impl<E: SparseSecret> RunOn<E> for ToSparse {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Scaled,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.sparse_secret(ct))
    }
}

impl SparseSecret for CkksEvaluator<'_> {
    fn sparse_secret(&self, ct: &CkksCiphertext) -> Result<CkksCiphertext, SchemeError> {
        let sample = self.to_sparse(ct)?;
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

impl SparseSecret for ClearEvaluator {
    fn sparse_secret(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext, SchemeError> {
        ct.at_bottom()?;
        Ok(ct.clone())
    }
}

impl SparseSecret for NoisyEvaluator {
    fn sparse_secret(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext, SchemeError> {
        let noise = self.noise();
        // Slots hold coefficients from here on, so what the sparse secret is in a slot does not show.
        let even = noise.sparse_switch + (noise.sparse_weight + 1.0) / 12.0;
        Ok(self.disturbed(self.clear().sparse_secret(ct)?, even, 0.0))
    }
}

impl SparseSecret for CostEvaluator {
    fn sparse_secret(&self, ct: &CostCiphertext) -> Result<CostCiphertext, SchemeError> {
        Ok(CostCiphertext::new(self.to_sparse()?, self.level(ct), self.scale(ct)))
    }
}
