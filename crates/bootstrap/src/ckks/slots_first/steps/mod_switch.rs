//! Modulus switching from the primes of users to those of a bootstrap, and back: a rescale by a number that is not a prime of the chain.

use crate::error::Error;
use crate::step::{each, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::mod_switch::{mod_switch, mod_switch_in, mod_switch_ratio};
use aglet_rlwe::Params;
use aglet_schemes::ckks::approximate::{check_scale, same_scale};
use aglet_schemes::ckks::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::ckks::noisy::NoisyEvaluator;
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::sample_cost::SampleCost;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};
use std::sync::Arc;

/// Switches from the primes of a bootstrap to those of the whole chain up to a level. This divides by all primes that
/// are dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModSwitch {
    /// The chain level of the result.
    pub level: usize,
    /// The value is multiplied by this power of two, if fewer bits are dropped than a small scale requires.
    pub shift: u32,
    /// Output scale over input scale: the new primes and `2^shift`, over the dropped primes.
    pub scale_ratio: f64,
}

/// Switches from the lowest primes of users to as many of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModSwitchIn {
    /// Output scale over input scale: the new primes over those that they stand for.
    pub scale_ratio: f64,
}

/// Evaluators that can switch the modulus.
pub trait SwitchModulus: Approximate {
    /// The first step of a bootstrap whose chain has others in place of slots_to_coeffs primes.
    ///
    /// # Errors
    /// [`SchemeError::ScaleMismatch`] if the ratio is not that of the primes.
    fn mod_switch_in(&self, ct: &Self::Ciphertext, to: ModSwitchIn) -> Result<Self::Ciphertext, SchemeError>;
    /// The last step of a bootstrap whose chain has others in place of message primes.
    ///
    /// # Errors
    /// [`SchemeError::NoSuchLevel`], and [`SchemeError::ScaleMismatch`] if the ratio is not that of the primes.
    fn mod_switch(&self, ct: &Self::Ciphertext, to: ModSwitch) -> Result<Self::Ciphertext, SchemeError>;
}

impl Step for ModSwitch {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        self.level == to.level && same_scale(to.scale, from.scale * self.scale_ratio)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok("from raised primes to those of messages".into())
    }
}

impl Step for ModSwitchIn {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == to.level && same_scale(to.scale, from.scale * self.scale_ratio)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok("from the primes of users to raised ones".into())
    }
}

impl<E: SwitchModulus> RunOn<E> for ModSwitchIn {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.mod_switch_in(ct, *self))
    }
}

impl<E: SwitchModulus> RunOn<E> for ModSwitch {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.mod_switch(ct, *self))
    }
}

impl SwitchModulus for CkksEvaluator<'_> {
    fn mod_switch_in(&self, ct: &CkksCiphertext, to: ModSwitchIn) -> Result<CkksCiphertext, SchemeError> {
        self.check_stop()?;
        let (polys, expected) = mod_switch_in(self.context(), &ct.polys.iter().collect::<Vec<_>>())?;
        if !same_scale(expected, to.scale_ratio) {
            return Err(SchemeError::ScaleMismatch { expected, found: to.scale_ratio });
        }
        Ok(Arc::new(ct.with(polys, ct.scale * to.scale_ratio).real_if(ct.real)))
    }
    fn mod_switch(&self, ct: &CkksCiphertext, to: ModSwitch) -> Result<CkksCiphertext, SchemeError> {
        let (ctx, limbs) = (self.context(), to.level + 1);
        self.check_stop()?;
        let expected = mod_switch_ratio(ctx, ct.limbs(), limbs, to.shift)?;
        if !same_scale(expected, to.scale_ratio) {
            return Err(SchemeError::ScaleMismatch { expected, found: to.scale_ratio });
        }
        let polys = mod_switch(ctx, &ct.polys.iter().collect::<Vec<_>>(), limbs, to.shift)?;
        Ok(Arc::new(ct.with(polys, ct.scale * to.scale_ratio).real_if(ct.real)))
    }
}

impl SwitchModulus for ClearEvaluator {
    fn mod_switch_in(&self, ct: &ClearCiphertext, to: ModSwitchIn) -> Result<ClearCiphertext, SchemeError> {
        check_scale(to.scale_ratio)?;
        Ok(ct.clone().placed(self.level(ct), self.scale(ct) * to.scale_ratio))
    }
    fn mod_switch(&self, ct: &ClearCiphertext, to: ModSwitch) -> Result<ClearCiphertext, SchemeError> {
        check_scale(to.scale_ratio)?;
        Ok(ct.clone().placed(to.level, self.scale(ct) * to.scale_ratio))
    }
}

impl SwitchModulus for NoisyEvaluator {
    fn mod_switch_in(&self, ct: &ClearCiphertext, to: ModSwitchIn) -> Result<ClearCiphertext, SchemeError> {
        Ok(self.disturbed(self.clear().mod_switch_in(ct, to)?, 0.0, self.noise().rounding()))
    }
    fn mod_switch(&self, ct: &ClearCiphertext, to: ModSwitch) -> Result<ClearCiphertext, SchemeError> {
        Ok(self.disturbed(self.clear().mod_switch(ct, to)?, 0.0, self.noise().rounding()))
    }
}

impl SwitchModulus for CostEvaluator {
    fn mod_switch_in(&self, ct: &CostCiphertext, to: ModSwitchIn) -> Result<CostCiphertext, SchemeError> {
        let polys = SampleCost::mod_switch_in(self, self.level(ct) + 1);
        Ok(CostCiphertext::new(polys, self.level(ct), self.scale(ct) * to.scale_ratio))
    }
    fn mod_switch(&self, ct: &CostCiphertext, to: ModSwitch) -> Result<CostCiphertext, SchemeError> {
        let polys = SampleCost::mod_switch(self, self.level(ct) + 1, to.level + 1);
        Ok(CostCiphertext::new(polys, to.level, self.scale(ct) * to.scale_ratio))
    }
}
