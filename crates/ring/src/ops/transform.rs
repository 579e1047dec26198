//! Between integers, coefficients and values.

use crate::automorphism::Automorphism;
use crate::host_ring::HostRing;
use crate::poly::{Coeff, Eval, Poly};
use crate::Error;

impl HostRing {
    /// Signed small coefficients as residues of every prime of `out`, which is overwritten.
    pub fn lift(&self, coefficients: &[i64], mut out: Poly<Coeff>) -> Poly<Coeff> {
        assert_eq!(coefficients.len(), self.n());
        self.for_limbs(&mut out, |prime, _, limb| {
            let m = self.modulus(prime);
            limb.iter_mut().zip(coefficients).for_each(|(r, &c)| *r = m.reduce_i64(c));
        });
        out
    }

    /// [`HostRing::lift`] of integers below all primes: three instructions each.
    pub fn lift_short(&self, coefficients: &[i64], mut out: Poly<Coeff>) -> Poly<Coeff> {
        assert_eq!(coefficients.len(), self.n());
        self.for_limbs(&mut out, |prime, _, limb| {
            let m = self.modulus(prime);
            limb.iter_mut().zip(coefficients).for_each(|(r, &c)| *r = m.reduce_short(c));
        });
        out
    }

    /// [`HostRing::lift`] of coefficients that are no secret: where all are smaller than the prime, an addition makes residues of them.
    pub fn lift_public(&self, coefficients: &[i64], mut out: Poly<Coeff>) -> Poly<Coeff> {
        assert_eq!(coefficients.len(), self.n());
        let most = coefficients.iter().fold(0, |most, c| c.unsigned_abs().max(most));
        self.for_limbs(&mut out, |prime, _, limb| {
            self.modulus(prime).reduce_public(coefficients, most, limb);
        });
        out
    }

    /// The values of a polynomial with coefficients that are no secret, at all primes of `out`, which is overwritten. Of a polynomial in
    /// `X^g`, whose values repeat, only those that differ are computed.
    pub fn public_values(&self, coefficients: &[i64], out: Poly<Coeff>) -> Poly<Eval> {
        let places = coefficients.iter().enumerate().filter(|(_, &c)| c != 0).fold(self.n(), |all, (i, _)| all | i);
        let gap = 1 << places.trailing_zeros();
        if gap == 1 {
            return self.to_eval(self.lift_public(coefficients, out));
        }
        let mut out = out;
        let small: Vec<i64> = coefficients.iter().copied().step_by(gap).collect();
        let most = small.iter().fold(0, |most, c| c.unsigned_abs().max(most));
        self.for_limbs(&mut out, |prime, _, limb| {
            let values = &mut limb[..small.len()];
            self.modulus(prime).reduce_public(&small, most, values);
            self.table(prime).forward_subring(values);
            (0..small.len()).rev().for_each(|i| {
                let value = limb[i];
                limb[i * gap..][..gap].fill(value);
            });
        });
        out.transformed()
    }

    /// Coefficients to values.
    pub fn to_eval(&self, mut x: Poly<Coeff>) -> Poly<Eval> {
        self.for_limbs(&mut x, |prime, _, limb| self.table(prime).forward(limb));
        x.transformed()
    }
    /// Values to coefficients, which are on this machine.
    ///
    /// # Errors
    /// Values that cannot be fetched.
    pub fn to_coeff(&self, mut x: Poly<Eval>) -> Result<Poly<Coeff>, Error> {
        x.fetch()?;
        self.for_limbs(&mut x, |prime, _, limb| self.table(prime).inverse(limb));
        Ok(x.reinterpret())
    }

    /// The coefficients of a polynomial modulo the lowest prime, centred.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn centred(&self, x: &Poly<Eval>) -> Result<Vec<i64>, Error> {
        let (low, q0) = (self.to_coeff(self.copy(x, 1)?)?, self.modulus(0));
        Ok(low.limb(0).iter().map(|&c| q0.centre(c)).collect())
    }

    /// The image of `x` under an automorphism, to `out` on this machine; `x` may have more limbs than it.
    ///
    /// # Errors
    /// Values that cannot be fetched.
    pub fn permute(&self, x: &Poly<Eval>, automorphism: &Automorphism, out: &mut Poly<Eval>) -> Result<(), Error> {
        let (q_limbs, p_limbs) = (out.q_limbs(), out.p_limbs());
        assert!(q_limbs <= x.q_limbs() && p_limbs <= x.p_limbs());
        x.fetch()?;
        self.for_limbs(out, |_, i, limb| automorphism.apply(x.limb_like(q_limbs, i), limb));
        Ok(())
    }
}
