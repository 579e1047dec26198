//! The step that leaves the primes a bootstrap raised to for those of users: a rescale by a number that is no prime of the chain.

use crate::error::Error;
use crate::step::{each, KeyNeed, RunOn, Scaled, Step};
use aglet_rlwe::exchange::{exchange, exchange_ratio};
use aglet_rlwe::Params;
use aglet_schemes::approximate::{check_scale, same_scale};
use aglet_schemes::ckks::{CkksCiphertext, CkksEvaluator};
use aglet_schemes::clear::{ClearCiphertext, ClearEvaluator};
use aglet_schemes::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::noisy::NoisyEvaluator;
use aglet_schemes::{Approximate, Error as SchemeError, Evaluator};
use std::sync::Arc;

/// Exchanges the primes that a bootstrap raised to for those of the whole chain up to a level, which divides by all that leave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// The chain level of the result.
    pub level: usize,
    /// The value is multiplied by this power of two on the way, where fewer bits leave than a small scale wants.
    pub shift: u32,
    /// Output scale over input scale: the primes that come and `2^shift`, over the primes that leave.
    pub scale_ratio: f64,
}

/// Evaluators that can exchange primes.
pub trait ExchangePrimes: Approximate {
    /// The last step of a bootstrap whose chain has others in place of message primes.
    ///
    /// # Errors
    /// [`SchemeError::NoSuchLevel`], and [`SchemeError::ScaleMismatch`] if the ratio is not that of the primes.
    fn exchange(&self, ct: &Self::Ciphertext, to: Exchange) -> Result<Self::Ciphertext, SchemeError>;
}

impl Step for Exchange {
    type Place = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        self.level == to.level && same_scale(to.scale, from.scale * self.scale_ratio)
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok("from raised primes to those of messages".into())
    }
}

impl<E: ExchangePrimes> RunOn<E> for Exchange {
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Scaled,
        _: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.exchange(ct, *self))
    }
}

impl ExchangePrimes for CkksEvaluator<'_> {
    fn exchange(&self, ct: &CkksCiphertext, to: Exchange) -> Result<CkksCiphertext, SchemeError> {
        let (ctx, limbs) = (self.context(), to.level + 1);
        self.check_stop()?;
        let expected = exchange_ratio(ctx, ct.limbs(), limbs, to.shift)?;
        if !same_scale(expected, to.scale_ratio) {
            return Err(SchemeError::ScaleMismatch { expected, found: to.scale_ratio });
        }
        let polys = exchange(ctx, &ct.polys.iter().collect::<Vec<_>>(), limbs, to.shift)?;
        Ok(Arc::new(ct.with(polys, ct.scale * to.scale_ratio).real_if(ct.real)))
    }
}

impl ExchangePrimes for ClearEvaluator {
    fn exchange(&self, ct: &ClearCiphertext, to: Exchange) -> Result<ClearCiphertext, SchemeError> {
        check_scale(to.scale_ratio)?;
        Ok(ct.clone().placed(to.level, self.scale(ct) * to.scale_ratio))
    }
}

impl ExchangePrimes for NoisyEvaluator {
    fn exchange(&self, ct: &ClearCiphertext, to: Exchange) -> Result<ClearCiphertext, SchemeError> {
        Ok(self.disturbed(self.clear().exchange(ct, to)?, 0.0, self.noise().rounding()))
    }
}

impl ExchangePrimes for CostEvaluator {
    fn exchange(&self, ct: &CostCiphertext, to: Exchange) -> Result<CostCiphertext, SchemeError> {
        let polys = CostEvaluator::exchange(self, self.level(ct) + 1, to.level + 1);
        Ok(CostCiphertext::new(polys, to.level, self.scale(ct) * to.scale_ratio))
    }
}
