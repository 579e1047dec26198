//! eval_mod as a step of a bootstrap.

use super::EvalMod;
use crate::ckks::request::Parts;
use crate::error::Error;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::Params;
use aglet_rlwe::{KeyRole, KeySwitchSpec};
use aglet_schemes::Approximate;

/// Removal of the multiples of q0.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalModStep {
    /// The circuit.
    pub eval_mod: EvalMod,
    /// On which parts of the slots.
    pub parts: Parts,
    /// Whether its lower levels have relinearization keys of their own, where these are enough shorter.
    pub short_keys: bool,
}

/// A relinearization with so many special primes less takes a tenth less time, for a key of some 50 MB.
const FEWER: usize = 2;

impl Step for EvalModStep {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == to.level + self.eval_mod.levels()
    }

    /// For products, the shortest first: where the limbs have become so few that as many digits want [`FEWER`] special primes
    /// less, there may be another. Then for the conjugation.
    fn keys_needed(&self, from: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let top = from.level + 1;
        let lowest = top - self.eval_mod.function().levels();
        // Every product is rescaled at once, the last one by the step after this one.
        let least = params.q()[lowest..top].iter().map(|&q| (q as f64).log2()).fold(f64::INFINITY, f64::min);
        let rescaled = |limbs| KeySwitchSpec::rescaled(params, limbs, least);
        let mut squares = vec![rescaled(top)?];
        for limbs in (lowest..top).rev().filter(|_| self.short_keys) {
            let spec = rescaled(limbs)?;
            if spec.p_limbs + FEWER <= squares[squares.len() - 1].p_limbs {
                squares.push(spec);
            }
        }
        let products = squares.into_iter().rev().map(|spec| KeyNeed { role: KeyRole::Relinearization, spec });
        let conjugation = KeyNeed {
            role: KeyRole::Galois(conjugation_exponent(params.n())),
            spec: KeySwitchSpec::balanced(params, top)?,
        };
        Ok(products.chain([conjugation]).collect())
    }

    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let count = self.eval_mod.relinearizations(self.parts);
        Ok(format!("relinearization and conjugation keys, {count} relinearizations"))
    }
}

impl<E: Approximate> RunOn<E> for EvalModStep {
    /// One after the other: its parts share the keys already, and it takes most of the memory.
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        let mut results = Vec::new();
        for ct in cts.chunks(1) {
            results.append(&mut self.eval_mod.run(e, ct, self.parts, to.scale)?);
        }
        Ok(results)
    }
}
