//! From a ring modulo one number to the chain: what the messages of exact schemes need.

use crate::basis::BaseConverter;
use crate::host_ring::HostRing;
use crate::poly::{Coeff, Eval, Poly};
use crate::Error;

/// How to lift from a ring of one limb to so many limbs of another.
pub struct Lift {
    converter: BaseConverter,
    q_limbs: usize,
    p_limbs: usize,
}

impl HostRing {
    /// The plan of [`HostRing::lift_from`]. The modulus has no factor in common with the primes.
    pub fn lift_plan(&self, from: &Self, q_limbs: usize, p_limbs: usize) -> Lift {
        let targets: Vec<_> = (0..q_limbs + p_limbs).map(|i| *self.modulus(self.prime_of(q_limbs, i))).collect();
        Lift { converter: BaseConverter::new(&[*from.modulus(0)], &targets, self.kernels), q_limbs, p_limbs }
    }

    /// The centred coefficients of a polynomial of a ring of one limb and degree n, at the limbs of the plan: those of X^(N/n).
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn lift_from(&self, from: &Self, x: &Poly<Eval>, plan: &Lift) -> Result<Poly<Eval>, Error> {
        assert_eq!((x.q_limbs(), x.p_limbs(), x.n()), (1, 0, from.n()), "one limb of that ring");
        x.fetch()?;
        let mut y: Poly<Coeff> = from.rows(1)?;
        from.table(0).inverse_scaled_to(x.limb(0), y.limb_mut(0), plan.converter.source_factors()[0]);
        if from.n() < self.n() {
            let small = std::mem::replace(&mut y, self.rows(1)?);
            y.limb_mut(0).fill(0);
            let places = y.limb_mut(0).iter_mut().step_by(self.n() / from.n());
            places.zip(small.limb(0)).for_each(|(y, c)| *y = *c);
        }
        let mut out: Poly<Coeff> = self.scratch(plan.q_limbs, plan.p_limbs)?;
        let then = |t: usize, row: &mut [u64]| self.table(self.prime_of(plan.q_limbs, t)).forward(row);
        self.convert(&plan.converter, y.limbs_mut().collect(), out.limbs_mut().collect(), then)?;
        Ok(out.transformed())
    }
}

impl HostRing {
    /// `round(m c / q)` modulo the number m of this ring of one limb, coefficient by coefficient, for a polynomial of another ring modulo
    /// its lowest prime q (modulus switching, eprint 2011/277). If that ring has the larger degree N, the coefficients of X^(N/n) are taken.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn switch_from(&self, from: &Self, x: &Poly<Eval>) -> Result<Poly<Eval>, Error> {
        let (m, q) = (u128::from(self.modulus(0).value()), u128::from(from.modulus(0).value()));
        let words = from.to_coeff(from.copy(x, 1)?)?;
        let mut out: Poly<Coeff> = self.scratch(1, 0)?;
        let switch = |&c: &u64| ((u128::from(c) * m + q / 2) / q) as u64 % self.modulus(0).value();
        let kept = words.limb(0).iter().step_by(from.n() / self.n());
        out.limb_mut(0).iter_mut().zip(kept).for_each(|(out, c)| *out = switch(c));
        Ok(self.to_eval(out))
    }

    /// `round(q round(m c / q) / m)`, coefficient by coefficient, for a polynomial of one limb modulo q: the nearest of m parts of q.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn nearest_parts(&self, x: &Poly<Eval>, m: u64) -> Result<Poly<Eval>, Error> {
        let (m, q) = (u128::from(m), u128::from(self.modulus(0).value()));
        let mut out = self.to_coeff(self.copy(x, 1)?)?;
        for c in out.limb_mut(0) {
            let part = (u128::from(*c) * m + q / 2) / q % m;
            *c = ((part * q + m / 2) / m) as u64;
        }
        Ok(self.to_eval(out))
    }
}
