//! Polynomials as bytes: each limb packed to the bits of its prime, uniform halves as a seed.

use crate::error::Error;
use crate::fault::ChainFault;
use crate::params::Params;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::{Eval, Modulus, Poly};
use rayon::prelude::*;

/// The primes of the limbs of a polynomial, with their numbers in the ring.
///
/// # Errors
/// [`Error::BadParameters`] for more limbs than there are primes.
pub fn primes(params: &Params, q_limbs: usize, p_limbs: usize) -> Result<Vec<(usize, Modulus)>, Error> {
    let (q, p) = (params.q(), params.p());
    if q_limbs > q.len() || p_limbs > p.len() {
        return Err(ChainFault::Polynomial { q_limbs, p_limbs, q: q.len(), p: p.len() }.into());
    }
    let chain = q[..q_limbs].iter().enumerate();
    let special = p[..p_limbs].iter().enumerate().map(|(i, prime)| (q.len() + i, prime));
    chain.chain(special).map(|(i, &prime)| Ok((i, Modulus::new(prime)?))).collect()
}

/// Limb `prime` of the ring of the uniform half `part` of a seed.
pub(crate) fn expand_limb(root: &ChaChaSource, part: usize, prime: usize, q: u64, limb: &mut [u64]) {
    let mut label = [0u8; 16];
    label[..8].copy_from_slice(&(part as u64).to_le_bytes());
    label[8..].copy_from_slice(&(prime as u64).to_le_bytes());
    sample::uniform(&mut root.fork(&label), q, limb);
}

/// The uniform half beside a stored one: the same limbs, expanded from the seed as when the key was made.
pub(crate) fn stored_uniform(
    params: &Params,
    seed: &[u8; 32],
    part: usize,
    beside: &Poly<Eval>,
) -> Result<Poly<Eval>, Error> {
    let primes = primes(params, beside.q_limbs(), beside.p_limbs())?;
    let mut out = Poly::lasting(params.n(), beside.q_limbs(), beside.p_limbs())?;
    let root = ChaChaSource::from_seed(*seed);
    out.host_mut().par_iter().zip(&primes).for_each(|(limb, (i, m))| expand_limb(&root, part, *i, m.value(), limb));
    Ok(out)
}

#[cfg(test)]
#[path = "tests/wire.rs"]
mod tests;
