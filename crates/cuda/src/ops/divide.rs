//! Exact division by primes that leave the modulus: rescaling, division by special primes, modulus switching.

use super::convert::Conversion;
use super::transform::Transform;
use crate::poly::Limb;
use crate::{DevicePoly, DeviceRing, Error};
use aglet_ring::ops::Division;
use aglet_ring::poly::Eval;

impl DeviceRing<'_> {
    /// Divides polynomials, each as its plan says, rounding as [`aglet_ring::Ring::divide`] does.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn divide(&self, of: &[&DevicePoly<Eval>], plan: &Division) -> Result<Vec<DevicePoly<Eval>>, Error> {
        assert!(of.iter().all(|x| x.limbs() == plan.limbs()), "a dividend has the limbs of the plan");
        let (leaving, rows) = (plan.leaving(), plan.rows());
        let tails = of.iter().map(|_| self.limbs(leaving.len())).collect::<Result<Vec<_>, _>>()?;
        let outs = of.iter().map(|_| self.limbs(rows.len())).collect::<Result<Vec<_>, _>>()?;
        // gain x modulo the primes that leave, as coefficients times what the conversion wants.
        let coefficients = of.iter().zip(&tails).flat_map(|(x, tail)| {
            leaving.iter().zip(tail).map(|(leaving, to)| Transform {
                factor: leaving.factor,
                ..Transform::new(leaving.prime, x.address(leaving.limb), to.address())
            })
        });
        self.inverse(&coefficients.collect::<Vec<_>>())?;
        let addresses = |limbs: &Vec<Limb>| limbs.iter().map(Limb::address).collect::<Vec<_>>();
        let inputs =
            tails.iter().zip(&outs).map(|(tail, out)| Conversion { from: addresses(tail), to: addresses(out) });
        let (sources, targets): (Vec<_>, Vec<_>) =
            (leaving.iter().map(|l| l.prime).collect(), (0..rows.len()).collect());
        self.convert(&sources, &targets, &inputs.collect::<Vec<_>>())?;
        let quotients = of.iter().zip(&outs).flat_map(|(x, out)| {
            rows.iter().zip(out).enumerate().map(|(prime, (row, limb))| Transform {
                factor: row.inverse,
                minuend: (row.from.map_or(0, |i| x.address(i)), row.gain),
                ..Transform::new(prime, limb.address(), limb.address())
            })
        });
        self.quotient(&quotients.collect::<Vec<_>>())?;
        Ok(outs.into_iter().map(|limbs| DevicePoly::of(limbs, rows.len())).collect())
    }
}
