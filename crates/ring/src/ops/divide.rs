//! Exact division by primes: `round(gain x / R)`, where `R` are primes that leave the modulus and the gain is a power of two
//! times the primes that come in their place.
//!
//! With `y = gain x mod R`, centred, that is `(gain x - y) / R`; modulo the primes that come the gain vanishes, and it is
//! `-y / R`. Without primes that come it is the division by special primes and the rescale; with them it is a rescale whose
//! divisor is no prime of the chain (modulus switching, eprint 2011/277).

use crate::arch::FormRow;
use crate::basis::BaseConverter;
use crate::host_ring::HostRing;
use crate::modulus::Modulus;
use crate::plans::{Division, Leaving, Row};
use crate::poly::{Coeff, Eval, Poly};
use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

impl Division {
    /// For dividends whose limbs have these primes, and results modulo the first `to` primes of the ring.
    fn new(ring: &HostRing, primes: &[usize], to: usize, shift: u32) -> Self {
        let places: Vec<Option<usize>> = (0..to).map(|l| primes.iter().position(|&p| p == l)).collect();
        let coming: Vec<usize> = (0..to).filter(|&l| places[l].is_none()).collect();
        let leaving: Vec<(usize, usize)> = primes.iter().copied().enumerate().filter(|&(_, p)| p >= to).collect();
        let sources: Vec<usize> = leaving.iter().map(|&(_, p)| p).collect();
        let converter = ring.converter(&sources, &(0..to).collect::<Vec<_>>());
        let product = |of: &[usize], m: &Modulus| {
            of.iter().fold(1, |product, &p| m.mul(product, m.reduce(ring.modulus(p).value())))
        };
        let gain = |m: &Modulus| m.mul(product(&coming, m), m.pow(m.reduce(2), u64::from(shift)));
        let leave = |(&(limb, prime), &f): (&(usize, usize), &u64)| {
            let m = ring.modulus(prime);
            Leaving { limb, prime, factor: m.mul(f, gain(m)) }
        };
        let row = |(l, &from): (usize, &Option<usize>)| {
            let m = ring.modulus(l);
            Row { from, gain: gain(m), inverse: m.inv(product(&sources, m)) }
        };
        let value = |l: usize| ring.modulus(l).value() as f64;
        let up = coming.iter().fold(f64::from(shift).exp2(), |r, &l| r * value(l));
        Self {
            limbs: primes.len(),
            leaving: leaving.iter().zip(converter.source_factors()).map(leave).collect(),
            rows: places.iter().enumerate().map(row).collect(),
            converter,
            gained: shift > 0 || !coming.is_empty(),
            ratio: sources.iter().fold(up, |r, &l| r / value(l)),
        }
    }

    /// What it multiplies by: the gain over the primes that leave, each a factor of its own in the order of the limbs.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }
}

impl HostRing {
    /// The division by all `p_limbs` special limbs and the `drop` highest of `q_limbs` limbs of the chain; `None` if that is no
    /// limb, or leaves none. Made once.
    pub fn division(&self, q_limbs: usize, p_limbs: usize, drop: usize) -> Option<Arc<Division>> {
        let primes = (0..q_limbs + p_limbs).map(|i| self.prime_of(q_limbs, i)).collect();
        (drop < q_limbs).then(|| self.mod_switch(primes, q_limbs - drop, 0))?
    }

    /// The division that takes polynomials whose limbs have these primes of the ring to its first `to` primes, with the gain
    /// `2^shift` times those that come; `None` if no prime leaves, or there are not as many. Made once.
    pub fn mod_switch(&self, primes: Vec<usize>, to: usize, shift: u32) -> Option<Arc<Division>> {
        if to == 0 || to > self.q_count() || primes.iter().all(|&p| p < to) {
            return None;
        }
        Some(
            self.plans
                .divisions
                .get((primes, to, shift), |(primes, to, shift)| Division::new(self, primes, *to, *shift)),
        )
    }

    /// Divides polynomials, each as its plan says, rounding to the nearest integers (up to the doubles of the base conversion:
    /// ties and neighbours of 1/2 within 2^-45).
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn divide(&self, of: &[&Poly<Eval>], plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        Poly::fetch_all(of.iter().copied())?;
        of.iter().map(|x| self.quotient(x, plan)).collect()
    }

    fn quotient(&self, x: &Poly<Eval>, plan: &Division) -> Result<Poly<Eval>, Error> {
        assert_eq!(x.limbs(), plan.limbs, "a dividend has the limbs of the plan");
        let mut tail = self.tail(x, plan, 0)?;
        let gained = if plan.gained { Some(self.gained(x, plan)?) } else { None };
        let mut out: Poly<Coeff> = self.rows(plan.rows.len())?;
        self.convert(&plan.converter, tail.limbs_mut().collect(), out.limbs_mut().collect(), |i, limb| {
            let (table, row) = (self.table(i), &plan.rows[i]);
            table.forward(limb);
            let minuend = match (&gained, row.from) {
                (None, Some(from)) => x.limb(from),
                (Some(gained), _) => gained.limb(i),
                (None, None) => return,
            };
            table.kernels().rsub_mul(table.modulus(), limb, minuend, row.inverse);
        })?;
        Ok(out.transformed())
    }

    /// The quotients of [`HostRing::divide`], centred, at limbs with the primes `to` of the ring, none of which is in the result of the plan:
    /// the same words as [`HostRing::extend`] of them, without two transforms for each limb between. A dividend is two polynomials, one
    /// with the limbs that stay and one with those that leave; the plan has no gain.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn divide_extended(
        &self,
        of: &[[&Poly<Eval>; 2]],
        plan: &Division,
        to: &[usize],
    ) -> Result<Vec<Poly<Eval>>, Error> {
        Poly::fetch_all(of.iter().flatten().copied())?;
        let stays = 0..plan.rows.len();
        assert!(!plan.gained && !to.iter().any(|prime| stays.contains(prime)), "no prime comes back");
        let onward = self.converter(&stays.collect::<Vec<_>>(), to);
        of.iter().map(|&[high, low]| self.quotient_extended(high, low, plan, (&onward, to))).collect()
    }

    fn quotient_extended(
        &self,
        stays: &Poly<Eval>,
        leaves: &Poly<Eval>,
        plan: &Division,
        (onward, to): (&BaseConverter, &[usize]),
    ) -> Result<Poly<Eval>, Error> {
        let count = plan.rows.len();
        assert_eq!(
            (stays.limbs(), leaves.limbs()),
            (count, plan.leaving.len()),
            "a dividend has the limbs of the plan"
        );
        let mut tail = self.tail(leaves, plan, count)?;
        let (mut dividend, mut quotient): (Poly<Coeff>, Poly<Coeff>) = (self.rows(count)?, self.rows(count)?);
        let inverse = |(i, limb): (usize, &mut [u64])| self.table(i).inverse_scaled_to(stays.limb(i), limb, 1);
        dividend.par_limbs_mut().enumerate().for_each(inverse);
        self.convert(&plan.converter, tail.limbs_mut().collect(), quotient.limbs_mut().collect(), |i, limb| {
            let table = self.table(i);
            let by = table.modulus().mul(plan.rows[i].inverse, onward.source_factors()[i]);
            table.kernels().rsub_mul(table.modulus(), limb, dividend.limb(i), by);
        })?;
        drop((tail, dividend));
        let mut out: Poly<Coeff> = self.rows(to.len())?;
        let then = |t: usize, row: &mut [u64]| self.table(to[t]).forward(row);
        self.convert(onward, quotient.limbs_mut().collect(), out.limbs_mut().collect(), then)?;
        Ok(out.transformed())
    }

    /// The limbs that leave as coefficients, times what the conversion wants; the dividend has those before `first` elsewhere.
    fn tail(&self, x: &Poly<Eval>, plan: &Division, first: usize) -> Result<Poly<Coeff>, Error> {
        let mut tail: Poly<Coeff> = self.rows(plan.leaving.len())?;
        tail.par_limbs_mut().zip(&plan.leaving).for_each(|(row, leaving)| {
            self.table(leaving.prime).inverse_scaled_to(x.limb(leaving.limb - first), row, leaving.factor);
        });
        Ok(tail)
    }

    /// `gain x` at the limbs of the result: zero modulo the primes that come.
    fn gained(&self, x: &Poly<Eval>, plan: &Division) -> Result<Poly<Eval>, Error> {
        let mut out: Poly<Eval> = self.rows(plan.rows.len())?;
        out.par_limbs_mut().zip(&plan.rows).enumerate().for_each(|(i, (limb, row))| match row.from {
            None => limb.fill(0),
            Some(from) => {
                let (table, terms) = (self.table(i), [(x.limb(from), row.gain)]);
                let form = FormRow { terms: &terms, ..FormRow::default() };
                table.kernels().form(table.modulus(), &form, limb);
            }
        });
        Ok(out)
    }
}
