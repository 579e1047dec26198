//! A linear map of a short public polynomial, in doubles.

use crate::fft::SpecialFft;
use crate::host_ring::HostRing;
use crate::poly::{Eval, Poly};
use crate::Error;
use num_complex::Complex64;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

/// Bits of a coefficient that doubles know, with room for the rounding of sums.
const KNOWN_BITS: u32 = 50;
/// Values of the result that are made at a time.
const PIECE: usize = 1 << 12;

/// `out[j] = sum_k diagonal_k[j] values[j + k]`, indices modulo their number; a diagonal shorter than the vector repeats. All
/// lengths are powers of two.
pub fn apply_diagonals<T>(diagonals: &BTreeMap<usize, Vec<T>>, values: &[T], zero: T) -> Vec<T>
where
    T: Copy + AddAssign + Mul<Output = T> + Send + Sync,
{
    let slots = values.len();
    let mut out = vec![zero; slots];
    // Both lengths are powers of two: a piece of a row, a period and the whole fit into one another.
    let piece = slots.min(PIECE);
    out.par_chunks_mut(piece).enumerate().for_each(|(at, out)| {
        for (k, d) in diagonals {
            let start = (at * piece + k) % slots;
            let rotated = values[start..].iter().chain(&values[..start]);
            let diagonal = d.iter().cycle().skip(at * piece % d.len());
            for ((o, v), c) in out.iter_mut().zip(rotated).zip(diagonal) {
                *o += *c * *v;
            }
        }
    });
    out
}

impl HostRing {
    /// `ratio` times the map of the N/2 values of a polynomial modulo the lowest prime, at so many limbs. Coefficients stay below
    /// the prime times the gain of the map, and doubles are off by 2^-50 of that.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for coefficients that do not fit a word; memory that cannot be had.
    pub fn public_map(
        &self,
        x: &Poly<Eval>,
        q_limbs: usize,
        diagonals: &BTreeMap<usize, Vec<Complex64>>,
        ratio: f64,
    ) -> Result<Poly<Eval>, Error> {
        let (low, q0, slots) = (self.centred(x)?, self.modulus(0), self.n() / 2);
        let at = |j: usize| low[j] as f64;
        let mut values: Vec<Complex64> = (0..slots).map(|j| Complex64::new(at(j), at(j + slots))).collect();
        let fft = SpecialFft::new(slots);
        fft.forward(&mut values);
        // The bits of a large prime that doubles do not know are left out, so that sums of many terms fit a word.
        let unknown = q0.bits().saturating_sub(KNOWN_BITS);
        let mapped = apply_diagonals(diagonals, &values, Complex64::default());
        let coefficients = fft.coefficients(&mapped, ratio / f64::from(unknown).exp2())?;
        let mut sum = self.lift(&coefficients, self.scratch(q_limbs, 0)?);
        if unknown > 0 {
            self.for_limbs(&mut sum, |prime, _, limb| {
                let (m, by) = (self.modulus(prime), self.modulus(prime).reduce(1 << unknown));
                limb.iter_mut().for_each(|r| *r = m.mul(*r, by));
            });
        }
        Ok(self.to_eval(sum))
    }
}
