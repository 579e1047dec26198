//! Sparse-secret encapsulation modulo the lowest prime alone, by short digits.
//!
//! A special prime beside `q0` would double the modulus that an attacker sees. Digits of few bits keep the error of the switch small without one:
//! the centred c1 is `sum_j d_j 2^(bits j)`, and digit `j` meets an encryption of `2^(bits j) s`.

use aglet_ring::sample::{ChaChaSource, GAUSSIAN_SIGMA};
use aglet_ring::{Digits, Eval, KeyProduct, Multiplier, Poly};
use aglet_rlwe::gadget_digits::gadget_digits;
use aglet_rlwe::{Context, Error, KeySwitchSpec, SecretKey, SwitchingKey};

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

/// The shape of a key that so many short digits meet: of the one limb `q0`, without a special prime.
#[must_use]
pub fn spec(count: usize) -> KeySwitchSpec {
    KeySwitchSpec { q_limbs: 1, p_limbs: 0, digits: vec![vec![0]; count] }
}

/// The key from one secret key to a sparse one modulo `q0` alone, since no special prime may stand beside `q0`: digits of so many bits meet it.
///
/// # Errors
/// [`Error::Encapsulation`] if `to` may not appear so.
pub fn key(
    ctx: &Context,
    (count, bits): (usize, u32),
    from: &SecretKey,
    to: &SecretKey,
    random: &mut ChaChaSource,
) -> Result<SwitchingKey, Error> {
    let (ring, m) = (ctx.ring(), ctx.ring().modulus(0));
    let minus: Vec<[u64; 1]> = (0..count).map(|j| [m.neg(m.pow(2, u64::from(bits) * j as u64))]).collect();
    let message = from.image(ctx, &ring.automorphism(1), 1, (1, 0))?;
    let samples: Vec<_> = minus.iter().map(|minus| (Multiplier::Residues(minus), &message)).collect();
    SwitchingKey::encrypting(ctx, spec(count), &samples, to, random, || Ok(ring.lasting(1, 0)?))
}

/// Brings the polynomials of a sample modulo the lowest prime to the sparse secret of a key
/// ([`key`]) for digits of so many bits.
///
/// # Errors
/// Memory that cannot be had.
pub fn encapsulate(
    ctx: &Context,
    [c0, c1]: [&Poly<Eval>; 2],
    key: &SwitchingKey,
    bits: u32,
) -> Result<Vec<Poly<Eval>>, Error> {
    let digits = Digits::of(gadget_digits(ctx.ring(), c1, key.spec().digits.len(), bits)?);
    let product = KeyProduct { added_before: Some(c0), ..KeyProduct::of(&digits) };
    let pairs = ctx.ring().key_products(&[product], key.words(), None)?;
    Ok(pairs.into_iter().flat_map(|(b, a)| [b, a]).collect())
}

#[cfg(test)]
#[path = "tests/encapsulation.rs"]
mod tests;
