//! From a subset of the primes onto the chain itself.
//!
//! In a subset spare primes may stand for primes of the chain ([`Params::spare`](crate::Params::spare)): fewer and larger ones,
//! so fewer limbs for as many bits. In the end `c` modulo `B R` becomes `round(c 2^s M / R)` modulo
//! `B M`, where `R` are the primes that leave, `M` those that come and `B` those that stay: with `y = c 2^s M mod R`,
//! centred, that is `(c 2^s M - y) / R`, and `-y / R` modulo the primes of `M`. It is a rescale whose divisor is not a prime of
//! the chain (modulus switching, eprint 2011/277).

use crate::context::Context;
use crate::error::Error;
use crate::keyswitch::quotient;
use aglet_ring::arch::Form;
use aglet_ring::{Coeff, Eval, Modulus, Poly};
use rayon::prelude::*;

/// Which primes leave and which come, for polynomials with so many limbs of a context and results of so many limbs of its
/// family.
struct Exchange {
    /// Limb of the polynomial, and prime of the family.
    leaving: Vec<(usize, usize)>,
    /// Primes of the family.
    coming: Vec<usize>,
    /// For each limb of the result the limb of the polynomial that it is of.
    kept: Vec<Option<usize>>,
}

impl Exchange {
    fn new(ctx: &Context, from: usize, to: usize) -> Result<Self, Error> {
        let own = ctx.params().prime_indices();
        if from > own.len() || to == 0 || to > ctx.all().q_count() {
            return Err(Error::Level { needed: to, found: from });
        }
        let own = &own[..from];
        let kept: Vec<Option<usize>> = (0..to).map(|l| own.iter().position(|&o| o == l)).collect();
        let coming = (0..to).filter(|&l| kept[l].is_none()).collect();
        let leaving = own.iter().copied().enumerate().filter(|&(_, l)| l >= to).collect();
        Ok(Self { leaving, coming, kept })
    }

    /// The product of the primes that come, times `2^shift`, modulo `m`.
    fn gain(&self, ctx: &Context, shift: u32, m: &Modulus) -> u64 {
        let product = self.coming.iter().fold(1, |g, &l| m.mul(g, m.reduce(ctx.all().modulus(l).value())));
        m.mul(product, m.pow(m.reduce(2), u64::from(shift)))
    }
}

/// What [`settle`] multiplies scales by, for polynomials with `from` limbs and results with `to`.
///
/// # Errors
/// [`Error::Level`] for limbs that do not exist.
pub fn settle_ratio(ctx: &Context, from: usize, to: usize, shift: u32) -> Result<f64, Error> {
    let (exchange, value) = (Exchange::new(ctx, from, to)?, |l: usize| ctx.all().modulus(l).value() as f64);
    let up = exchange.coming.iter().fold(f64::from(shift).exp2(), |r, &l| r * value(l));
    Ok(exchange.leaving.iter().fold(up, |r, &(_, l)| r / value(l)))
}

/// `round(x 2^shift M / R)` on the first `limbs` primes of the whole chain, up to the doubles of the base conversion.
///
/// # Errors
/// [`Error::Level`] if no prime leaves, or limbs do not exist; memory that cannot be had.
pub fn settle(ctx: &Context, x: &Poly<Eval>, limbs: usize, shift: u32) -> Result<Poly<Eval>, Error> {
    let (all, exchange) = (ctx.all(), Exchange::new(ctx, x.q_limbs(), limbs)?);
    let sources: Vec<usize> = exchange.leaving.iter().map(|&(_, l)| l).collect();
    if sources.is_empty() {
        return Err(Error::Level { needed: limbs, found: x.q_limbs() });
    }
    let plan = all.converter(&sources, &(0..limbs).collect::<Vec<_>>());
    let mut tail: Poly<Coeff> = all.scratch(sources.len(), 0)?;
    let rows: Vec<_> = tail.limbs_mut().zip(&exchange.leaving).zip(plan.source_factors()).collect();
    rows.into_par_iter().for_each(|((row, &(i, l)), &f)| {
        let m = all.modulus(l);
        all.table(l).inverse_scaled_to(x.limb(i), row, m.mul(f, exchange.gain(ctx, shift, m)));
    });
    // c 2^s M, which is zero modulo the primes that come.
    let mut lifted: Poly<Eval> = all.zero(limbs, 0)?;
    all.for_limbs(&mut lifted, |l, i, limb| {
        let Some(from) = exchange.kept[i] else { return };
        let m = all.modulus(l);
        let form = Form { terms: vec![(x.limb(from), exchange.gain(ctx, shift, m))], ..Form::default() };
        all.kernels().form(m, &form, limb);
    });
    quotient(all, (&plan, &sources), &mut tail, &lifted, limbs)
}

#[cfg(test)]
#[path = "tests/settle.rs"]
mod tests;
