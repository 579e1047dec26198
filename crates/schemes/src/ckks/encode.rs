//! Encoding: vectors of complex numbers as polynomials, and back.

use super::{Known, Plaintext, Stated};
use crate::{Error, Scalar};
use aglet_ring::fft::SpecialFft;
use aglet_ring::{Eval, Modulus, Poly};
use aglet_rlwe::Context;
use num_complex::Complex64;

/// A number of a message or a plaintext operand. Whether it is real is said by its type, which is public, and never by its
/// value, which may be secret: ciphertexts carry this mark for everybody to read, and it chooses the cheaper bootstrap.
pub trait Number: Scalar + std::fmt::Display + Into<Complex64> {
    /// Whether all numbers of the type are real.
    const REAL: bool;
}

impl Number for f64 {
    const REAL: bool = true;
}

impl Number for Complex64 {
    const REAL: bool = false;
}

/// Encodes and decodes vectors of `slots` complex numbers, `slots` a power of two up to N/2. Fewer slots live in a subring:
/// the polynomial is one in X^(N / 2 slots), and the message repeats through the slots of the ring.
///
/// The FFT runs in doubles, which are no limit: with all slots of N = 2^16 at a scale of 2^56 a round trip leaves 49.9 bits,
/// all of it the rounding to integers (a fresh ciphertext has 46, a rescaled one 42); with few slots it leaves 52.
/// Not constant time in the message.
pub struct Encoder {
    fft: SpecialFft,
}

impl Encoder {
    /// Prepares the tables. Errors: [`Error::InvalidParameters`] unless `slots` is a power of two up to N/2.
    pub fn new(ctx: &Context, slots: usize) -> Result<Self, Error> {
        if !slots.is_power_of_two() || slots > ctx.ring().n() / 2 {
            return Err(Error::InvalidParameters { reason: "the number of slots is not a power of two up to N/2" });
        }
        Ok(Self { fft: SpecialFft::new(slots) })
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.fft.slots()
    }

    /// Encodes one value for each slot at a chain level: `round(scale * coefficients)`. Marked real if the type of the values is.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::InvalidScale`], [`Error::NoSuchLevel`], [`Error::TooLarge`].
    pub fn encode<T: Number>(&self, ctx: &Context, values: &[T], level: usize, scale: f64) -> Result<Plaintext, Error> {
        let max = ctx.ring().q_count() - 1;
        if level > max {
            return Err(Error::NoSuchLevel { level, max });
        }
        let poly = self.polynomial(ctx, values, scale, (level + 1, 0))?;
        let known = Known::of(values.iter().map(|&v| v.into()));
        let stated = Stated { noise: Plaintext::encoding_error(self.slots(), scale), ..Stated::default() };
        Ok(Plaintext { poly, scale, slots: self.slots(), known, stated, real: T::REAL })
    }

    /// The polynomial alone, at so many limbs of the chain and special ones.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`], [`Error::InvalidScale`], [`Error::TooLarge`].
    pub fn polynomial<T: Number>(
        &self,
        ctx: &Context,
        values: &[T],
        scale: f64,
        (q_limbs, p_limbs): (usize, usize),
    ) -> Result<Poly<Eval>, Error> {
        let ring = ctx.ring();
        let small = subring_coefficients(&self.fft, values, scale)?;
        Ok(ring.to_eval(ring.lift(&spread(&small, ring.n()), ring.scratch(q_limbs, p_limbs)?)))
    }

    /// The values of a plaintext. The coefficients are read from at most two limbs: they must stay below half the product
    /// of these primes, as a ciphertext within its range does. What is marked real comes out real: its imaginary part is noise.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`] for a plaintext of another number of slots, [`Error::Wrapped`] for coefficients that fill the
    /// modulus, as those of a message that is too large for it do.
    pub fn decode(&self, ctx: &Context, pt: &Plaintext) -> Result<Vec<Complex64>, Error> {
        if pt.slots != self.slots() {
            return Err(Error::SlotMismatch { expected: self.slots(), found: pt.slots });
        }
        let (ring, n) = (ctx.ring(), self.slots());
        let limbs = pt.poly.q_limbs().min(2);
        let low = ring.to_coeff(ring.copy(&pt.poly, limbs)?);
        let (gap, rows) = (ring.n() / 2 / n, low.host());
        let at = |j: usize| match limbs {
            1 => ring.modulus(0).centre(rows.row(0)[j * gap]) as f64,
            _ => centred(ring.modulus(0), ring.modulus(1), rows.row(0)[j * gap], rows.row(1)[j * gap]),
        };
        let mut values: Vec<Complex64> = (0..n).map(|j| Complex64::new(at(j), at(j + n)) / pt.scale).collect();
        let half = (0..limbs).map(|i| ring.modulus(i).value() as f64).product::<f64>() / 2.0 / pt.scale;
        refuse_wrapped(&values, half)?;
        self.fft.forward(&mut values);
        if pt.real {
            values.iter_mut().for_each(|z| z.im = 0.0);
        }
        Ok(values)
    }
}

/// Refuses coefficients that fill `[-half, half]`, two in each number. Where those of a message that looks random have a deviation above
/// `half / 4`, some wrap around. Values up to `half` in `n` slots have coefficients of a mean square of `half^2 / n` at most, so what fits
/// for certain is never refused; with few slots nothing can be told. Nor does the imaginary part of what is marked real tell
/// anything: conjugation only moves coefficients and negates them, so that a message which wraps around stays real.
fn refuse_wrapped(coefficients: &[Complex64], half: f64) -> Result<(), Error> {
    let mean = coefficients.iter().map(Complex64::norm_sqr).sum::<f64>() / (2 * coefficients.len()) as f64;
    match mean > half * half / 16.0 && coefficients.len() >= 32 {
        true => Err(Error::Wrapped { most: half }),
        false => Ok(()),
    }
}

/// The coefficients of a polynomial of a subring as those of the ring of degree `n`.
pub fn spread(small: &[i64], n: usize) -> Vec<i64> {
    let (gap, mut wide) = (n / small.len(), vec![0; n]);
    small.iter().enumerate().for_each(|(j, &c)| wide[j * gap] = c);
    wide
}

/// The centred number below `q0 q1` with these residues.
fn centred(q0: &Modulus, q1: &Modulus, x0: u64, x1: u64) -> f64 {
    let inverse = q1.inv(q1.reduce(q0.value()));
    let t = q1.mul(q1.sub(x1, q1.reduce(x0)), inverse);
    let (x, q) =
        (i128::from(x0) + i128::from(q0.value()) * i128::from(t), i128::from(q0.value()) * i128::from(q1.value()));
    (if x > q / 2 { x - q } else { x }) as f64
}

/// The `2 n` integer coefficients of `n` slots in their subring: real parts, then imaginary parts.
pub(super) fn subring_coefficients<T: Number>(fft: &SpecialFft, values: &[T], scale: f64) -> Result<Vec<i64>, Error> {
    crate::approximate::check_scale(scale)?;
    if values.len() != fft.slots() {
        return Err(Error::SlotMismatch { expected: fft.slots(), found: values.len() });
    }
    fft.coefficients(values, scale).map_err(too_large)
}

/// The error of this floor for a coefficient that does not fit a word.
pub fn too_large(e: aglet_ring::Error) -> Error {
    match e {
        aglet_ring::Error::TooLarge { log2 } => Error::TooLarge { log2 },
        e => e.into(),
    }
}

#[cfg(test)]
#[path = "../tests/encode.rs"]
mod tests;
