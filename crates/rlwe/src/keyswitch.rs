//! Hybrid key switching (Han and Ki, eprint 2019/688): what comes before and after the product with a key.
//!
//! A polynomial `c` is decomposed into its centred residues modulo every digit, raised to QP; the product with the key
//! ([`aglet_ring::Ring::key_products`]) is `P c s'` plus noise, and dividing by P leaves `c s'`.

use crate::context::Context;
use crate::error::Error;
use crate::gadget::KeySwitchSpec;
use aglet_ring::{Digits, Eval, Form, KeyBlock, Multiplier, Poly, Tensor};

/// Cuts polynomials of one number of limbs (no special ones) into the digits of a key, raised to its limbs: the part of a key
/// switch that rotations of one ciphertext share (hoisting).
///
/// # Errors
/// Memory that cannot be had.
pub fn digits(ctx: &Context, spec: &KeySwitchSpec, of: &[&Poly<Eval>]) -> Result<Vec<Digits>, Error> {
    let Some(q_limbs) = of.first().map(|c| c.q_limbs()) else { return Ok(Vec::new()) };
    Ok(ctx.ring().digits(of, (q_limbs, spec.p_limbs), &spec.digits_for(q_limbs))?)
}

/// `P x` for the first `p_limbs` special primes: zero at the special limbs, so those are left out.
///
/// # Errors
/// Memory that cannot be had.
pub fn lift_by_special(ctx: &Context, of: &[&Poly<Eval>], p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(q_limbs) = of.first().map(|x| x.q_limbs()) else { return Ok(Vec::new()) };
    let special = Multiplier::Residues(ctx.ring().special_product(p_limbs));
    let forms: Vec<Form<'_>> = of.iter().map(|x| Form::multiple(special, x)).collect();
    Ok(ctx.ring().forms(&forms, q_limbs, 0)?)
}

/// Divides polynomials of one shape by the product of all their special limbs and their `drop` highest primes of the chain,
/// rounding to the nearest integer (up to the doubles of the base conversion: ties and neighbours of 1/2 within 2^-45).
///
/// # Errors
/// [`Error::Level`] if there is nothing to divide by, or nothing is left; memory that cannot be had.
pub fn divide(ctx: &Context, of: &[&Poly<Eval>], drop: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    let plan = ctx.ring().division(first.q_limbs(), first.p_limbs(), drop);
    let plan = plan.ok_or(Error::Level { needed: drop, found: first.q_limbs() - 1 })?;
    Ok(ctx.ring().divide(of, &plan)?)
}

/// Forms of so many limbs, divided by their `drop` highest primes as [`divide`] does.
///
/// # Errors
/// As for [`divide`].
pub fn divide_forms(
    ctx: &Context,
    forms: &[Form<'_>],
    (limbs, drop): (usize, usize),
) -> Result<Vec<Poly<Eval>>, Error> {
    let plan = ctx.ring().division(limbs, 0, drop).ok_or(Error::Level { needed: drop, found: limbs - 1 })?;
    Ok(ctx.ring().divide_forms(forms, limbs, &plan)?)
}

/// Relinearizes products of so many limbs, and divides them as [`divide`] does.
///
/// # Errors
/// As for [`divide`].
pub fn relinearize(
    ctx: &Context,
    spec: &KeySwitchSpec,
    key: &KeyBlock,
    of: &[Tensor<'_>],
    (limbs, drop): (usize, usize),
) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
    let ring = ctx.ring();
    let plan = ring.division(limbs, spec.p_limbs, drop).ok_or(Error::Level { needed: drop, found: limbs - 1 })?;
    Ok(ring.relinearize(of, (limbs, spec.p_limbs), &spec.digits_for(limbs), key, &plan)?)
}

#[cfg(test)]
#[path = "tests/keyswitch.rs"]
mod tests;
