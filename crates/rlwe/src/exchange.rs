//! From a subset of the primes onto the chain itself.
//!
//! In a subset spare primes may stand for primes of the chain ([`Params::spare`](crate::Params::spare)): fewer and larger ones,
//! so fewer limbs for as many bits. In the end `c` modulo `B R` becomes `round(c 2^s M / R)` modulo
//! `B M`, where `R` are the primes that leave, `M` those that come and `B` those that stay: with `y = c 2^s M mod R`,
//! centred, that is `(c 2^s M - y) / R`, and `-y / R` modulo the primes of `M`. It is a rescale whose divisor is not a prime of
//! the chain (modulus switching, eprint 2011/277).

use crate::context::Context;
use crate::error::Error;
use aglet_ring::ops::Division;
use aglet_ring::{Eval, Poly};
use std::sync::Arc;

/// The division from so many limbs of a context to so many limbs of its family.
fn division(ctx: &Context, from: usize, to: usize, shift: u32) -> Result<Arc<Division>, Error> {
    let own = ctx.params().prime_indices();
    let primes = own.get(..from).map(<[usize]>::to_vec);
    primes.and_then(|primes| ctx.all().exchange(primes, to, shift)).ok_or(Error::Level { needed: to, found: from })
}

/// What [`exchange`] multiplies scales by, for polynomials with `from` limbs and results with `to`.
///
/// # Errors
/// [`Error::Level`] for limbs that do not exist, or if no prime leaves.
pub fn exchange_ratio(ctx: &Context, from: usize, to: usize, shift: u32) -> Result<f64, Error> {
    Ok(division(ctx, from, to, shift)?.ratio())
}

/// `round(x 2^shift M / R)` of polynomials of one shape on the first `limbs` primes of the whole chain, up to the doubles of
/// the base conversion.
///
/// # Errors
/// [`Error::Level`] if no prime leaves, or limbs do not exist; memory that cannot be had.
pub fn exchange(ctx: &Context, of: &[&Poly<Eval>], limbs: usize, shift: u32) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    Ok(ctx.all().divide(of, &*division(ctx, first.q_limbs(), limbs, shift)?)?)
}

/// The division from all primes of a context and the first special ones to the first `limbs` primes of the chain of its family.
fn settling(ctx: &Context, special: usize, limbs: usize) -> Result<Arc<Division>, Error> {
    let all = ctx.all();
    let primes = ctx.params().prime_indices().iter().copied();
    let primes = primes.chain(all.q_count()..all.q_count() + special).collect();
    all.exchange(primes, limbs, 0).ok_or(Error::Level { needed: limbs, found: ctx.params().q().len() })
}

/// `round(x M / (R P))` of polynomials with all primes of a context, whose product is R, and special ones, whose product is P, on the first primes of the
/// whole chain, whose product is M.
///
/// # Errors
/// As [`exchange`].
pub fn settle(ctx: &Context, of: &[&Poly<Eval>], limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let special = of.first().map_or(0, |x| x.p_limbs());
    Ok(ctx.all().divide(of, &*settling(ctx, special, limbs)?)?)
}

#[cfg(test)]
#[path = "tests/exchange.rs"]
mod tests;
