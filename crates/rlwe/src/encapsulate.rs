//! To a sparse secret that may appear modulo the lowest prime alone, by short digits.
//!
//! A special prime beside `q0` would double the modulus that an attacker sees. Digits of few bits keep the error of the switch small without one:
//! the centred c1 is `sum_j d_j 2^(bits j)`, and digit `j` meets an encryption of `2^(bits j) s`.

use crate::context::Context;
use crate::error::Error;
use crate::switching_key::SwitchingKey;
use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_ring::{Digits, Eval, KeyProduct, Poly, Ring};

/// How many digits of so many bits a residue modulo a prime of so many bits has.
#[must_use]
pub fn digit_count(modulus_bits: u32, bits: u32) -> usize {
    modulus_bits.div_ceil(bits) as usize
}

/// The variance that the switch adds to a coefficient: of so many digits, each uniform on `2^bits` numbers around -1/2.
#[must_use]
pub fn noise(n: usize, count: usize, bits: u32) -> f64 {
    let square = ((2.0 * f64::from(bits)).exp2() + 2.0) / 12.0;
    count as f64 * n as f64 * square * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA
}

/// A digit of a centred number, in `[-2^(bits - 1), 2^(bits - 1))`, and what is left above it.
fn split(x: i64, bits: u32) -> (i64, i64) {
    let half = 1 << (bits - 1);
    let digit = ((x + half) & ((1 << bits) - 1)) - half;
    (digit, (x - digit) >> bits)
}

/// Digits of a polynomial modulo the lowest prime: the last has all that is left.
///
/// # Errors
/// Memory that cannot be had.
pub(crate) fn short_digits(ring: &Ring, x: &Poly<Eval>, count: usize, bits: u32) -> Result<Vec<Poly<Eval>>, Error> {
    let mut rest = ring.centred(x)?;
    let mut digits = Vec::with_capacity(count);
    for j in 0..count {
        let digit: Vec<i64> = if j + 1 == count {
            std::mem::take(&mut rest)
        } else {
            let take = |x: &mut i64| {
                let (digit, left) = split(*x, bits);
                *x = left;
                digit
            };
            rest.iter_mut().map(take).collect()
        };
        digits.push(ring.to_eval(ring.lift(&digit, ring.scratch(1, 0)?)));
    }
    Ok(digits)
}

/// Brings the polynomials of a sample modulo the lowest prime to the sparse secret of a key
/// ([`SwitchingKey::by_short_digits`]) for digits of so many bits.
///
/// # Errors
/// Memory that cannot be had.
pub fn encapsulate(
    ctx: &Context,
    [c0, c1]: [&Poly<Eval>; 2],
    key: &SwitchingKey,
    bits: u32,
) -> Result<Vec<Poly<Eval>>, Error> {
    let digits = Digits::of(short_digits(ctx.ring(), c1, key.spec().digits.len(), bits)?);
    let product = KeyProduct { added_before: Some(c0), ..KeyProduct::of(&digits) };
    let pairs = ctx.ring().key_products(&[product], key.words(), None)?;
    Ok(pairs.into_iter().flat_map(|(b, a)| [b, a]).collect())
}

#[cfg(test)]
#[path = "tests/encapsulate.rs"]
mod tests;
