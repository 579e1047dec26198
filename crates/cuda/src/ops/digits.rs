//! Decomposition into RNS digits, and base extension.

use super::convert::Conversion;
use super::transform::Transform;
use crate::poly::Limb;
use crate::{DevicePoly, DeviceRing, Error};
use aglet_ring::poly::Eval;

impl DeviceRing<'_> {
    /// Cuts polynomials (of one number of limbs, no special ones) into digits of these limbs, ascending, and raises each digit to
    /// `q_limbs` and `p_limbs` limbs. The limbs of a digit are those of the polynomial itself; modulo the other primes it is the
    /// centred number. For every polynomial its digits.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn digits(
        &self,
        of: &[&DevicePoly<Eval>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Vec<DevicePoly<Eval>>>, Error> {
        let Some(limbs) = of.first().map(|x| x.q_limbs()) else { return Ok(Vec::new()) };
        assert!(of.iter().all(|x| (x.q_limbs(), x.p_limbs()) == (limbs, 0)) && limbs <= q_limbs);
        let to: Vec<usize> = (0..q_limbs + p_limbs).map(|i| self.ring().prime_of(q_limbs, i)).collect();
        let mut out: Vec<Vec<_>> = of.iter().map(|_| Vec::with_capacity(digits.len())).collect();
        for own in digits {
            let parts: Vec<Vec<Limb>> = of.iter().map(|x| own.iter().map(|&i| x.limb(i).clone()).collect()).collect();
            let raised = self.extended(&parts, own, &to)?;
            out.iter_mut().zip(raised).for_each(|(out, limbs)| out.push(DevicePoly::of(limbs, q_limbs)));
        }
        Ok(out)
    }

    /// The centred coefficients of polynomials modulo the lowest prime, at more limbs.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn raise(
        &self,
        of: &[&DevicePoly<Eval>],
        q_limbs: usize,
        p_limbs: usize,
    ) -> Result<Vec<DevicePoly<Eval>>, Error> {
        let to: Vec<usize> = (0..q_limbs + p_limbs).map(|i| self.ring().prime_of(q_limbs, i)).collect();
        let low: Vec<Vec<Limb>> = of.iter().map(|x| vec![x.limb(0).clone()]).collect();
        let raised = self.extended(&low, &[0], &to)?;
        Ok(raised.into_iter().map(|limbs| DevicePoly::of(limbs, q_limbs)).collect())
    }

    /// The centred coefficients of polynomials whose limbs have the primes `from` of the ring, at limbs with the primes `to`: those
    /// that are in both stay as they are (full base extension, eprint 2018/117).
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn extend(
        &self,
        of: &[&DevicePoly<Eval>],
        from: &[usize],
        to: &[usize],
    ) -> Result<Vec<DevicePoly<Eval>>, Error> {
        assert!(of.iter().all(|x| (x.q_limbs(), x.p_limbs()) == (from.len(), 0)), "a limb for each prime");
        let own: Vec<Vec<Limb>> = of.iter().map(|x| (0..from.len()).map(|i| x.limb(i).clone()).collect()).collect();
        let extended = self.extended(&own, from, to)?;
        Ok(extended.into_iter().map(|limbs| DevicePoly::of(limbs, to.len())).collect())
    }

    /// The limbs with the primes `to` of numbers that have limbs with the primes `from`, for every input.
    pub(crate) fn extended(&self, of: &[Vec<Limb>], from: &[usize], to: &[usize]) -> Result<Vec<Vec<Limb>>, Error> {
        let others: Vec<usize> = to.iter().copied().filter(|prime| !from.contains(prime)).collect();
        let made = of.iter().map(|_| self.limbs(others.len())).collect::<Result<Vec<_>, _>>()?;
        if !others.is_empty() {
            let rows = of.iter().map(|_| self.limbs(from.len())).collect::<Result<Vec<_>, _>>()?;
            let factors = self.source_factors(from);
            let coefficients = of.iter().zip(&rows).flat_map(|(x, rows)| {
                let sources = x.iter().zip(rows).zip(from).zip(&factors);
                sources.map(|(((x, row), &prime), &factor)| Transform {
                    factor,
                    ..Transform::new(prime, x.address(), row.address())
                })
            });
            self.inverse(&coefficients.collect::<Vec<_>>())?;
            let addresses = |limbs: &Vec<Limb>| limbs.iter().map(Limb::address).collect::<Vec<_>>();
            let inputs =
                rows.iter().zip(&made).map(|(rows, made)| Conversion { from: addresses(rows), to: addresses(made) });
            self.convert(from, &others, &inputs.collect::<Vec<_>>())?;
            let values = made.iter().flat_map(|made| {
                made.iter().zip(&others).map(|(limb, &prime)| Transform::new(prime, limb.address(), limb.address()))
            });
            self.forward(&values.collect::<Vec<_>>())?;
        }
        let limbs = |(own, made): (&Vec<Limb>, Vec<Limb>)| {
            let mut made = made.into_iter();
            let limb =
                |prime| from.iter().position(|own| own == prime).map_or_else(|| made.next(), |i| Some(own[i].clone()));
            to.iter().filter_map(limb).collect()
        };
        Ok(of.iter().zip(made).map(limbs).collect())
    }
}
