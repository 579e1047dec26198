//! Real parts: the sine or cosine out of the exponential, for one part of a message or for both.

use crate::error::Error;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};
use aglet_schemes::Approximate;
use num_complex::Complex64;

/// `x + conj(x)`, or `x + conj(x) + i (y + conj(y))` where two parts stand one after the other, and a number to every part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RealPart {
    /// Ciphertexts that one result is made of: 1 or 2.
    pub parts: usize,
    /// Added to each part.
    pub offset: f64,
}

impl Step for RealPart {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        (1..=2).contains(&self.parts) && from == to
    }
    fn keys_needed(&self, from: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        let role = KeyRole::Galois(conjugation_exponent(params.n()));
        let spec = KeySwitchSpec::balanced(params, from.level + 1)?;
        Ok(vec![KeyNeed { role, spec }])
    }
}

impl<E: Approximate> RunOn<E> for RealPart {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        let one = |(x, turned): (&E::Ciphertext, &E::Ciphertext)| {
            let real = e.add(x, turned)?;
            match self.offset {
                0.0 => Ok(real),
                offset => e.add_scalar(&real, Complex64::new(offset, 0.0)),
            }
        };
        let real = cts.iter().zip(&e.conjugates(cts)?).map(one).collect::<Result<Vec<_>, aglet_schemes::Error>>()?;
        let joined = real.chunks_exact(self.parts).map(|parts| match parts {
            [x, y] => Ok(e.add(x, &e.mul_i(y)?)?),
            parts => Ok(parts[0].clone()),
        });
        joined.collect()
    }
}
