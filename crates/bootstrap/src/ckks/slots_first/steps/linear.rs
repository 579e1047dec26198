//! Steps that need only arithmetic: dropping limbs, a rescale.

use crate::error::Error;
use crate::step::{each, Run, RunOn, Scaled, Step};
use aglet_schemes::ckks::approximate::same_scale;
use aglet_schemes::{Approximate, Quadratic};
use num_complex::Complex64;

/// Goes to the lowest modulus q0, at exactly the scale q0 / r: drops limbs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleDown {
    /// r.
    pub message_ratio: f64,
}

impl Step for ScaleDown {
    type Metadata = Scaled;

    fn check(&self, _: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        to.level == 0 && same_scale(to.scale * self.message_ratio, moduli[0])
    }
}

impl<E: Approximate> RunOn<E> for ScaleDown {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| e.level_down(ct, to.level))
    }
}

/// Goes one level down. The new scale times the prime is an integer times the old scale, so only the rounding is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescale;

impl Step for Rescale {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == to.level + 1
    }
}

impl<E: Approximate> RunOn<E> for Rescale {
    fn run_on(&self, e: &E, Run { cts, to, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        each(cts, |ct| {
            let (terms, constant) = (vec![(Complex64::new(1.0, 0.0), ct)], Complex64::default());
            let (level, scale) = (to.level + 1, to.scale);
            e.quadratic(&Quadratic { products: Vec::new(), terms, constant, level, scale })
        })
    }
}
