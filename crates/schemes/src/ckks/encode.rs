//! Encoding: vectors of complex numbers as polynomials, and back.

use super::residues::Residues;
use super::{Known, Plaintext, Stated};
use crate::spread::spread;
use crate::{Error, Scalar};
use aglet_ring::fft::SpecialFft;
use aglet_ring::{Eval, Modulus, Poly};
use aglet_rlwe::Context;
use num_complex::Complex64;

/// A number of a message or a plaintext operand. Its type, which is public, says whether it is real; its value, which
/// may be secret, never does. Ciphertexts carry this mark for everybody to read, and it selects the cheaper bootstrap.
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
/// The FFT uses doubles, whose precision is sufficient: with all slots of N = 2^16 at a scale of 2^56 a round trip
/// leaves 49.9 bits, and all of the error is the rounding to integers (a fresh ciphertext has 46 bits, a rescaled one
/// 42). With few slots it leaves 52.
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
        let small = subring_coefficients(&self.fft, values, scale)?;
        let ring = ctx.ring();
        let poly = ring.to_eval(ring.lift(&spread(&small, ring.n()), ring.scratch(level + 1, 0)?));
        let mut known = Known::of(values.iter().map(|&v| v.into()));
        let n = self.slots();
        let others = small[1..n].iter().chain(&small[n + 1..]);
        known.size.rest = others.map(|c| c.unsigned_abs()).max().unwrap_or(0) as f64 / scale;
        let stated = Stated { noise: Plaintext::encoding_error(self.slots(), scale), ..Stated::default() };
        Ok(Plaintext { poly, scale, slots: self.slots(), known, stated, real: T::REAL })
    }

    /// Only the polynomial, on this number of limbs of the chain and special limbs.
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

    /// The values of a plaintext, of any size that fits its modulus. A plaintext that is marked as real gives real
    /// values: its imaginary part is noise.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`] for a plaintext of another number of slots, [`Error::Wrapped`] for coefficients that fill the
    /// modulus, as those of a message that is too large for it do.
    pub fn decode(&self, ctx: &Context, pt: &Plaintext) -> Result<Vec<Complex64>, Error> {
        let coefficients = self.coefficients(ctx, pt)?;
        refuse_wrapped(&coefficients, half(ctx, pt))?;
        Ok(self.values(coefficients, pt.real))
    }
    /// The same, if no coefficient divided by the scale is larger than `most`; larger ones are refused.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_within(&self, ctx: &Context, pt: &Plaintext, most: f64) -> Result<Vec<Complex64>, Error> {
        let coefficients = self.coefficients(ctx, pt)?;
        // Not a number is what no double holds.
        if !coefficients.iter().all(|z| z.re.abs().max(z.im.abs()) <= most) {
            return Err(Error::Wrapped { most: half(ctx, pt) });
        }
        Ok(self.values(coefficients, pt.real))
    }

    /// Its coefficients over the scale, two in each number.
    fn coefficients(&self, ctx: &Context, pt: &Plaintext) -> Result<Vec<Complex64>, Error> {
        if pt.slots != self.slots() {
            return Err(Error::SlotMismatch { expected: self.slots(), found: pt.slots });
        }
        let (ring, n) = (ctx.ring(), self.slots());
        let low = ring.to_coeff(ring.copy(&pt.poly, pt.poly.q_limbs())?)?;
        let (gap, rows) = (ring.n() / 2 / n, low.host()?);
        let moduli: Vec<&Modulus> = (0..pt.poly.q_limbs()).map(|i| ring.modulus(i)).collect();
        let residues = Residues::new(&moduli);
        let at = |j: usize| residues.centred(|i| rows.row(i)[j * gap]) / pt.scale;
        Ok((0..n).map(|j| Complex64::new(at(j), at(j + n))).collect())
    }
    fn values(&self, mut coefficients: Vec<Complex64>, real: bool) -> Vec<Complex64> {
        self.fft.forward(&mut coefficients);
        if real {
            coefficients.iter_mut().for_each(|z| z.im = 0.0);
        }
        coefficients
    }
}

/// Half the modulus of a plaintext, over its scale: values up to it fit, whatever the message. Infinite beyond what a double holds.
fn half(ctx: &Context, pt: &Plaintext) -> f64 {
    let bits: f64 = (0..pt.poly.q_limbs()).map(|i| (ctx.ring().modulus(i).value() as f64).log2()).sum();
    (bits - 1.0 - pt.scale.log2()).exp2()
}

/// Refuses coefficients that fill `[-half, half]`, two in each number. Where those of a message that looks random have a deviation above
/// `half / 4`, some wrap around. Values up to `half` in `n` slots have coefficients of a mean square of `half^2 / n` at most, so what fits
/// for certain is never refused; with few slots nothing can be told. Nor does the imaginary part of what is marked real tell
/// anything: conjugation only moves coefficients and negates them, so that a message which wraps around stays real.
fn refuse_wrapped(coefficients: &[Complex64], half: f64) -> Result<(), Error> {
    let mean = coefficients.iter().map(|z| (z / half).norm_sqr()).sum::<f64>() / (2 * coefficients.len()) as f64;
    match mean > 1.0 / 16.0 && coefficients.len() >= 32 {
        true => Err(Error::Wrapped { most: half }),
        false => Ok(()),
    }
}

/// The `2 n` integer coefficients of `n` slots in their subring: real parts, then imaginary parts.
pub(super) fn subring_coefficients<T: Number>(fft: &SpecialFft, values: &[T], scale: f64) -> Result<Vec<i64>, Error> {
    super::approximate::check_scale(scale)?;
    if values.len() != fft.slots() {
        return Err(Error::SlotMismatch { expected: fft.slots(), found: values.len() });
    }
    fft.coefficients(values, scale).map_err(too_large)
}

/// The error for a coefficient that does not fit a word.
pub fn too_large(e: aglet_ring::Error) -> Error {
    match e {
        aglet_ring::Error::TooLarge { log2 } => Error::TooLarge { log2 },
        e => e.into(),
    }
}

#[cfg(test)]
#[path = "../tests/encode.rs"]
mod tests;
