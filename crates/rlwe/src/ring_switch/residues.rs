//! What a ring switch does to residues themselves: uniform masks, classes of coefficients.

use crate::error::Error;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::{Coeff, Eval, Poly, Ring};
use rayon::prelude::*;

/// The masks of the sample of one digit from their seed, values that last.
pub(super) fn masks(ring: &Ring, seed: &[u8; 32], digit: usize, rank: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let root = ChaChaSource::from_seed(*seed);
    let mask = |r: usize| {
        let mut label = [0u8; 16];
        label[..8].copy_from_slice(&(digit as u64).to_le_bytes());
        label[8..].copy_from_slice(&(r as u64).to_le_bytes());
        let mut out: Poly<Eval> = ring.lasting(1, 0)?;
        let q = ring.modulus(0).value();
        out.host_mut().par_iter().for_each(|row| sample::uniform(&mut root.fork(&label), q, row));
        Ok(out)
    };
    (0..rank).map(mask).collect()
}

/// Coefficients `class + i classes` of a polynomial.
pub(super) fn class(x: &Poly<Coeff>, class: usize, classes: usize, out: &mut [u64]) -> Result<(), Error> {
    out.iter_mut().zip(x.host()?.row(0)[class..].iter().step_by(classes)).for_each(|(out, &x)| *out = x);
    Ok(())
}

/// Coefficients modulo Q as a polynomial.
pub(super) fn polynomial(ring: &Ring, at: impl Fn(usize) -> u64 + Sync) -> Result<Poly<Coeff>, Error> {
    let mut out: Poly<Coeff> = ring.scratch(1, 0)?;
    out.host_mut().par_iter().for_each(|row| row.iter_mut().enumerate().for_each(|(i, x)| *x = at(i)));
    Ok(out)
}

/// The values of a polynomial, in the order of the transform.
pub(super) fn values(x: &Poly<Eval>) -> Result<&[u64], Error> {
    Ok(x.host()?.row(0))
}

/// The polynomial of these values, for a key.
pub(super) fn of_values(ring: &Ring, values: &[u64]) -> Result<Poly<Eval>, Error> {
    let mut out: Poly<Eval> = ring.lasting(1, 0)?;
    out.host_mut().par_iter().for_each(|row| row.copy_from_slice(values));
    Ok(out)
}
