//! Encryption and decryption of integers, and the noise that the secret key measures.

use super::{Ciphertext, IntegerParams, Noise};
use crate::Error;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Coeff, Eval, Form, Modulus, Multiplier, Poly};
use aglet_rlwe::{Context, PublicKey, Sample, SecretKey};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// A key that encrypts.
#[derive(Clone, Copy)]
pub enum Encryptor<'a> {
    /// The secret key, with less noise.
    Secret(&'a SecretKey),
    /// The public key.
    Public(&'a PublicKey),
}

/// The phase `t^-1 [f m]_t` of a message, given by its coefficients in `[-t/2, t/2]`, at a level.
///
/// # Errors
/// Out of memory.
pub(super) fn phase(
    ctx: &Context,
    params: &IntegerParams,
    coefficients: &[i64],
    (correction_factor, level): (u64, usize),
) -> Result<Poly<Eval>, Error> {
    let (ring, t) = (ctx.ring(), params.plain());
    let times = |&c: &i64| t.centre(t.mul(t.reduce_i64(c), correction_factor));
    let message: Vec<i64> = coefficients.iter().map(times).collect();
    let lifted = ring.to_eval(ring.lift(&message, ring.scratch(level + 1, 0)?));
    let inverse: Vec<u64> = (0..=level).map(|i| ring.modulus(i)).map(|m| m.inv(m.reduce(t.value()))).collect();
    Ok(ring.forms(&[Form::multiple(Multiplier::Residues(&inverse), &lifted)], level + 1, 0)?.remove(0))
}

/// The same of a number in every slot: what the polynomial is everywhere, modulo each prime.
pub(super) fn phase_of_number(
    ctx: &Context,
    params: &IntegerParams,
    number: u64,
    (correction_factor, level): (u64, usize),
) -> Vec<u64> {
    let t = params.plain();
    let times = t.centre(t.mul(number, correction_factor));
    let moduli = (0..=level).map(|i| ctx.ring().modulus(i));
    moduli.map(|m| m.mul(m.reduce_i64(times), m.inv(m.reduce(t.value())))).collect()
}

/// Encrypts the coefficients of a message at a level, with its canonical correction factor.
///
/// # Errors
/// [`Error::NoSuchLevel`], and those of the key.
pub fn encrypt(
    ctx: &Context,
    params: &IntegerParams,
    coefficients: &[i64],
    level: usize,
    (by, random): (Encryptor<'_>, &mut ChaChaSource),
) -> Result<Ciphertext, Error> {
    if level > params.max_level() {
        return Err(Error::NoSuchLevel { level, max: params.max_level() });
    }
    let correction_factor = params.correction_factor_at(level);
    let phase = phase(ctx, params, coefficients, (correction_factor, level))?;
    let (sample, by_secret) = match by {
        Encryptor::Secret(key) => (key.encrypt(ctx, &phase, random)?, true),
        Encryptor::Public(key) => (key.encrypt(ctx, &phase, random)?, false),
    };
    Ok(Ciphertext { sample, correction_factor, noise: Noise::fresh(params, by_secret) })
}

/// Bits of modulus that decryption keeps above what the bound on the noise asks for, where it leaves limbs out.
const MARGIN_BITS: f64 = 64.0;
/// Bits of modulus that have to be free above the noise that the key sees. Coefficients that wrapped around are anywhere, so that one of N
/// takes the upper half of the modulus but with a chance of 2^-N.
const LEAST_BITS: f64 = 1.0;

/// The canonical coefficients modulo t of the message of a ciphertext.
///
/// # Errors
/// [`Error::Noise`] if by its bound it would decrypt to something else, [`Error::UsedUp`] if the key sees that nothing is left, those of
/// the key.
pub fn decrypt(ctx: &Context, params: &IntegerParams, ct: &Ciphertext, key: &SecretKey) -> Result<Vec<u64>, Error> {
    if params.budget_at(ct.level(), ct.noise) <= 0.0 {
        return Err(too_noisy(params, ct));
    }
    // A lower modulus is enough where there is far more room than noise by its bound.
    let wide = |level: &usize| params.budget_at(*level, ct.noise) > MARGIN_BITS;
    if let Some(level) = (0..ct.level()).find(wide) {
        let (numbers, bits) = numbers(ctx, params, ct, level, key)?;
        if bits >= LEAST_BITS {
            return Ok(numbers);
        }
    }
    match numbers(ctx, params, ct, ct.level(), key)? {
        (numbers, bits) if bits >= LEAST_BITS => Ok(numbers),
        (_, bits) => Err(Error::UsedUp { bits }),
    }
}

/// The coefficients of a message by the primes of a level, and the bits that they and their noise leave free. Constant time.
fn numbers(
    ctx: &Context,
    params: &IntegerParams,
    ct: &Ciphertext,
    level: usize,
    key: &SecretKey,
) -> Result<(Vec<u64>, f64), Error> {
    let polys = ct.polys.iter().map(|poly| poly.prefix(level + 1)).collect();
    let (basis, words) = scaled(ctx, params, &Sample { polys, key: ct.key }, key)?;
    let (t, rows) = (params.plain(), words.host()?);
    let lifted = (0..ctx.ring().n()).into_par_iter().map(|j| basis.modulo(&|i| rows.row(i)[j]));
    // Sizes are those of the noise, so they are wiped; the numbers are the message.
    let lifted: Zeroizing<Vec<(u64, f64)>> = Zeroizing::new(lifted.collect());
    let (inverse, largest) = (t.inv(ct.correction_factor), lifted.iter().fold(0.0, |largest: f64, x| largest.max(x.1)));
    Ok((lifted.iter().map(|x| t.mul(x.0, inverse)).collect(), -1.0 - largest.log2()))
}

/// The error of a ciphertext whose bound leaves nothing.
pub(super) fn too_noisy(params: &IntegerParams, ct: &Ciphertext) -> Error {
    Error::Noise { bits: -params.budget_at(ct.level(), ct.noise) }
}

/// The exact number of modulus bits that are free above the largest coefficient of `t` times the phase, noise included.
/// Below 1 the message is not certain, because noise that has wrapped around looks the same.
///
/// # Errors
/// Those of the key.
pub fn noise_budget(ctx: &Context, params: &IntegerParams, ct: &Ciphertext, key: &SecretKey) -> Result<f64, Error> {
    let (basis, words) = scaled(ctx, params, ct, key)?;
    let rows = words.host()?;
    let sizes = (0..ctx.ring().n()).into_par_iter().map(|j| basis.log2(&|i| rows.row(i)[j]));
    Ok(params.log_q_at(ct.level()) - 1.0 - sizes.reduce(|| 0.0, f64::max))
}

/// The coefficients of `t` times a phase, and what makes centred integers of their residues.
fn scaled<'a>(
    ctx: &Context,
    params: &'a IntegerParams,
    sample: &Sample,
    key: &SecretKey,
) -> Result<(MixedRadix<'a>, Poly<Coeff>), Error> {
    let (ring, t) = (ctx.ring(), params.plain());
    let mut scaled = [ring.secret_scratch(sample.limbs(), 0)?];
    let times = Multiplier::integer(i128::from(t.value()));
    ring.forms_to(&[Form::multiple(times, &key.decrypt(ctx, sample)?)], &mut scaled)?;
    let [scaled] = scaled;
    let basis = MixedRadix::new((0..sample.limbs()).map(|i| *ring.modulus(i)).collect(), t);
    Ok((basis, ring.to_coeff(scaled)?))
}

/// Integers below a product of primes by their residues, in mixed radix (Garner).
struct MixedRadix<'a> {
    primes: Vec<Modulus>,
    /// For each prime the inverses of those below it.
    inverses: Vec<Vec<u64>>,
    /// The product of the primes below each, modulo t, and log2 of it.
    below: Vec<(u64, f64)>,
    /// The product of all primes, modulo t.
    all: u64,
    t: &'a Modulus,
}

impl<'a> MixedRadix<'a> {
    fn new(primes: Vec<Modulus>, t: &'a Modulus) -> Self {
        let inverses = primes.iter().enumerate();
        let inverses =
            inverses.map(|(i, m)| primes[..i].iter().map(|q| m.inv(m.reduce(q.value()))).collect()).collect();
        let next = |(product, log2): &mut (u64, f64), m: &Modulus| {
            let here = (*product, *log2);
            (*product, *log2) = (t.mul(*product, t.reduce(m.value())), *log2 + (m.value() as f64).log2());
            Some(here)
        };
        let below = primes.iter().scan((t.reduce(1), 0.0), next).collect();
        let all = primes.iter().fold(t.reduce(1), |all, m| t.mul(all, t.reduce(m.value())));
        Self { primes, inverses, below, all, t }
    }

    /// The centred integer with these residues, modulo t, and its size over the product of all primes. Constant time: its sign is
    /// that of the noise.
    fn modulo(&self, residue: &impl Fn(usize) -> u64) -> (u64, f64) {
        let (digits, t) = (self.digits(residue), self.t);
        let share = self.share(&digits);
        let negative = u64::from(share >= 0.5).wrapping_neg();
        let sum = digits.iter().zip(&self.below).fold(0, |sum, (&d, b)| t.add(sum, t.mul(t.reduce(d), b.0)));
        (t.sub(sum, self.all & negative), share.min(1.0 - share))
    }

    /// log2 of the size of the centred integer with these residues; 0 for 0. The time it takes depends on that size.
    fn log2(&self, residue: &impl Fn(usize) -> u64) -> f64 {
        let mut digits = self.digits(residue);
        if self.share(&digits) >= 0.5 {
            digits = self.digits(&|i| self.primes[i].neg(residue(i)));
        }
        let top = digits.iter().rposition(|&d| d != 0);
        top.map_or(0.0, |i| {
            let low = if i > 0 { digits[i - 1] as f64 / self.primes[i - 1].value() as f64 } else { 0.0 };
            (digits[i] as f64 + low).log2() + self.below[i].1
        })
    }

    /// The integer over the product of all primes.
    fn share(&self, digits: &[u64]) -> f64 {
        digits.iter().zip(&self.primes).fold(0.0, |low, (&d, m)| (d as f64 + low) / m.value() as f64)
    }

    /// They are the phase, message and noise, so they are wiped when dropped, as the polynomial is that they come from.
    fn digits(&self, residue: &impl Fn(usize) -> u64) -> Zeroizing<Vec<u64>> {
        // Of the right size from the beginning: what grows leaves a copy behind.
        let mut digits: Zeroizing<Vec<u64>> = Zeroizing::new(Vec::with_capacity(self.primes.len()));
        for (i, m) in self.primes.iter().enumerate() {
            let step = |x, (&d, &inverse): (&u64, &u64)| m.mul(m.sub(x, m.reduce(d)), inverse);
            let digit = digits.iter().zip(&self.inverses[i]).fold(residue(i), step);
            digits.push(digit);
        }
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_wiped_and_never_move() {
        let t = Modulus::new(257).unwrap();
        let primes = [65_537, 786_433, 7_340_033].map(|q| Modulus::new(q).unwrap());
        let basis = MixedRadix::new(primes.to_vec(), &t);
        let number = 1_234_567_890_123;
        let digits: Zeroizing<Vec<u64>> = basis.digits(&|i| number % primes[i].value());
        assert_eq!(digits.capacity(), primes.len(), "a vector that grew left a copy behind");
        let value = digits.iter().zip(&primes).rev().fold(0, |high, (&d, m)| high * m.value() + d);
        assert_eq!(value, number);
    }
}
