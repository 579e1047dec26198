//! From a subset of the primes onto the chain itself, and onto such a subset.
//!
//! In a subset spare primes may stand for primes of the chain ([`Params::spare`](crate::Params::spare)): fewer and larger ones,
//! so fewer limbs for as many bits. In the end `c` modulo `B R` becomes `round(c 2^s M / R)` modulo
//! `B M`, where `R` are the primes that leave, `M` those that come and `B` those that stay: with `y = c 2^s M mod R`,
//! centred, that is `(c 2^s M - y) / R`, and `-y / R` modulo the primes of `M`. It is a rescale whose divisor is not a prime of
//! the chain (modulus switching, eprint 2011/277).

use crate::context::Context;
use crate::error::Error;
use aglet_ring::ops::Division;
use aglet_ring::pool::Fit;
use aglet_ring::{Eval, Poly, Ring};
use std::sync::Arc;

/// The division from so many limbs of a context to so many limbs of its family.
fn division(ctx: &Context, from: usize, to: usize, shift: u32) -> Result<Arc<Division>, Error> {
    let own = ctx.params().prime_indices();
    let primes = own.get(..from).map(<[usize]>::to_vec);
    primes.and_then(|primes| ctx.all().mod_switch(primes, to, shift)).ok_or(Error::Level { needed: to, found: from })
}

/// What [`mod_switch`] multiplies scales by, for polynomials with `from` limbs and results with `to`.
///
/// # Errors
/// [`Error::Level`] for limbs that do not exist, or if no prime leaves.
pub fn mod_switch_ratio(ctx: &Context, from: usize, to: usize, shift: u32) -> Result<f64, Error> {
    Ok(division(ctx, from, to, shift)?.ratio())
}

/// `round(x 2^shift M / R)` of polynomials of one shape on the first `limbs` primes of the whole chain, up to the doubles of
/// the base conversion.
///
/// # Errors
/// [`Error::Level`] if no prime leaves, or limbs do not exist; memory that cannot be had.
pub fn mod_switch(ctx: &Context, of: &[&Poly<Eval>], limbs: usize, shift: u32) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    Ok(ctx.all().divide(of, &*division(ctx, first.q_limbs(), limbs, shift)?)?)
}

/// The other way: the ring of the lowest primes of a context and those of the chain that they stand for, and the division from the chain.
fn division_in(ctx: &Context, limbs: usize) -> Result<(Ring, Arc<Division>), Error> {
    let own = ctx.params().prime_indices().get(..limbs).ok_or(Error::Level { needed: limbs, found: 0 })?;
    let leaving: Vec<usize> = (0..limbs).filter(|prime| !own.contains(prime)).collect();
    let ring = ctx.all().subset(&[own, &leaving].concat(), Fit::Larger);
    // Where each limb of the chain stands in that ring.
    let place = |prime: usize| own.iter().chain(&leaving).position(|&p| p == prime);
    let places = (0..limbs).map(place).collect::<Option<Vec<_>>>();
    let division = places.and_then(|places| ring.mod_switch(places, limbs, 0));
    Ok((ring, division.ok_or(Error::Level { needed: limbs, found: limbs })?))
}

/// `round(x M / R)` of polynomials of one shape on the lowest primes of the whole chain, on as many of this context, up to the doubles of
/// the base conversion; and `M / R`, by which scales grow.
///
/// # Errors
/// [`Error::Level`] if they are the same primes, or do not exist; memory that cannot be had.
pub fn mod_switch_in(ctx: &Context, of: &[&Poly<Eval>]) -> Result<(Vec<Poly<Eval>>, f64), Error> {
    let (ring, division) = division_in(ctx, of.first().map_or(0, |x| x.q_limbs()))?;
    Ok((ring.divide(of, &division)?, division.ratio()))
}

#[cfg(test)]
#[path = "tests/mod_switch.rs"]
mod tests;
