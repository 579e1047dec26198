//! Decryption for others: values with fresh noise that hides what their error reveals about the secret key, and bits
//! without an error.
//!
//! Anyone who knows a ciphertext and its decryption knows the error, and errors allow solving for the secret key
//! (eprint 2020/1533). Noise flooding (Li, Micciancio, Schultz, Sorrell, eprint 2022/816) prevents this. Let `t` be a
//! bound on the Euclidean norm of the error of all values, which fails as rarely as promised. A Gaussian of deviation
//! `sqrt(12 queries) 2^(security / 2) t` on each real component leaves an advantage of at most `2^-security` to anyone
//! who sees `queries` such results.

use crate::ckks::{Ciphertext, Engine};
use crate::{Error, ParameterError, RangeError, SecretKey};
use aglet_ring::sample::{self, WIDEST};
use aglet_schemes::ckks::Points;
use aglet_schemes::spread::spread;
use num_complex::Complex64;
use zeroize::Zeroizing;

/// The required security of a shared decryption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// The total number of decryptions under this secret key that will be shared.
    pub queries: u64,
    /// The statistical security, in bits, of all of them together.
    pub security: f64,
    /// The bits after the binary point that must remain, if any.
    pub least_bits: Option<f64>,
}

/// A result that may be shared.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The values with flooding noise.
    pub values: Vec<Complex64>,
    /// `-log2` of the root mean square of their error, the original and the flooding together.
    pub bits: f64,
}

/// The largest distance at which a value is rounded to a point.
const FAR: f64 = 0.25;
/// Deviations of the flooding that must fit beside the message.
const ROOM: f64 = 16.0;

impl Sharing {
    /// A bound that the Euclidean norm of the error of `slots` slots exceeds with probability `2^-security / queries`.
    /// The root-mean-square error of a slot is at most `noise`, and each slot is the mean of `copies` slots of the
    /// ring.
    ///
    /// An error is a Gaussian times what the secret is in its slots (see `noisy.rs` of the schemes). The square of that is exponential,
    /// so of mean 1 over `copies` and nowhere above `largest`; and a sum of squares with such weights stays below this (Laurent and
    /// Massart, Annals of Statistics 28, 2000, lemma 1).
    #[must_use]
    pub fn error_norm(&self, noise: f64, slots: f64, copies: f64) -> f64 {
        let rare = (self.security + (self.queries as f64).log2() + 1.0) * std::f64::consts::LN_2;
        let any = (rare + slots.ln()) / copies;
        let largest = 1.0 + (2.0 * any).sqrt() + any;
        noise * (slots + (2.0 * slots * largest * rare).sqrt() + largest * rare).sqrt()
    }
    /// The flooding of a real component for an error of this norm.
    fn deviation(&self, norm: f64) -> f64 {
        (12.0 * self.queries as f64).sqrt() * (self.security / 2.0).exp2() * norm
    }
    fn check(&self) -> Result<(), Error> {
        if self.queries == 0 || !(self.security > 0.0 && self.security <= 256.0) {
            return Err(RangeError::Sharing { queries: self.queries, security: self.security }.into());
        }
        Ok(())
    }
}

impl Engine {
    /// Decrypts with noise flooding. The values may be given to anyone who has the ciphertext. The noise that the
    /// ciphertext states is believed, so it must come from a party that is trusted to have computed it.
    ///
    /// # Errors
    /// [`Error::Range`] for a ciphertext whose noise is not known, if fewer bits than wanted remain, or where the flooding
    /// does not fit the level; those of [`Engine::decrypt`].
    pub fn decrypt_shared(&self, ct: &Ciphertext, key: &SecretKey, how: Sharing) -> Result<Shared, Error> {
        how.check()?;
        let noise = ct.stated.noise;
        if !noise.is_finite() {
            return Err(RangeError::UnknownToFlood.into());
        }
        let slots = self.slots() as f64;
        // Zero times a ciphertext has no noise at all.
        let norm = how.error_norm(noise, slots, self.params().slots() as f64 / slots);
        let wanted = (how.deviation(norm) * ct.scale / slots.sqrt()).max(sample::GAUSSIAN_SIGMA);
        // A real message shows one component of two.
        let components = if ct.real { 1.0 } else { 2.0 };
        let bits = |deviation: f64| {
            let slot = deviation * slots.sqrt() / ct.scale;
            -(noise * noise + components * slot * slot).sqrt().log2()
        };
        if let Some(least) = how.least_bits.filter(|&least| bits(wanted) < least) {
            return Err(RangeError::LeastBits { bits: bits(wanted), least }.into());
        }
        let half = self.params().q()[..ct.limbs()].iter().map(|&q| q as f64).product::<f64>() / 2.0;
        if wanted > WIDEST || wanted * ROOM > half {
            return Err(RangeError::Flooding.into());
        }
        let mut random = self.runtime.random("flooding", 0)?;
        // Decoding reads the coefficients of the subring of the slots, and no others.
        let mut flood = Zeroizing::new(vec![0i64; 2 * self.slots()]);
        let deviation = sample::wide_gaussian(&mut random, wanted, &mut flood);
        let values = self.decoded(ct, || {
            let ring = self.ctx.ring();
            let mut phase = key.decrypt(&self.ctx, ct)?;
            let wide = Zeroizing::new(spread(&flood, ring.n()));
            let added = ring.to_eval(ring.lift(&wide, ring.secret_scratch(ct.limbs(), 0)?));
            ring.add_assign(&mut phase, &added)?;
            Ok(phase)
        })?;
        Ok(Shared { values, bits: bits(deviation) })
    }

    /// Decrypts the result of a sign or bit bootstrap to the exact point of each slot, without an error that could
    /// reveal anything. Signs are -1, 0 (which stays) and 1; bits are 0 and 1. Rotations, conjugation and lower levels
    /// keep the points.
    ///
    /// # Errors
    /// [`Error::Parameter`] for any other ciphertext, [`Error::Range`] if a value is a quarter or more away from its points;
    /// those of [`Engine::decrypt`].
    pub fn decrypt_bits(&self, ct: &Ciphertext, key: &SecretKey) -> Result<(Points, Vec<i8>), Error> {
        let points = ct.points.ok_or(ParameterError::NoPoints)?;
        let (places, named) = match points {
            Points::Signs => (-1..=1, "-1, 0 and 1"),
            Points::Bits => (0..=1, "0 and 1"),
        };
        let near = |part: f64| places.clone().find(|&x| (part - f64::from(x)).abs() < FAR);
        let both = |z: &Complex64| Some((near(z.re)?, near(z.im)?));
        let found: Option<Vec<(i8, i8)>> = self.decrypt(ct, key)?.iter().map(both).collect();
        let found = found.ok_or(RangeError::NoPoint { distance: FAR, points: named })?;
        if found.iter().any(|&(_, imaginary)| imaginary != 0) {
            return Err(RangeError::ImaginaryPoints { points: named }.into());
        }
        Ok((points, found.into_iter().map(|(real, _)| real).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in (0, 1], by a linear congruence.
    struct Uniform(u64);

    impl Uniform {
        fn exponential(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            -(((self.0 >> 11) as f64 + 1.0) / (1u64 << 53) as f64).ln()
        }
    }

    #[test]
    fn an_error_is_as_rarely_larger_than_its_bound_as_is_promised() {
        const RUNS: usize = 20_000;
        let mut random = Uniform(1);
        for (slots, copies) in [(1, 1), (1, 64), (4, 16), (64, 1)] {
            let mut squares: Vec<f64> = (0..RUNS)
                .map(|_| {
                    let mut secret = || (0..copies).map(|_| random.exponential()).sum::<f64>() / f64::from(copies);
                    let weights: Vec<f64> = (0..slots).map(|_| secret()).collect();
                    weights.iter().map(|w| w * random.exponential()).sum()
                })
                .collect();
            squares.sort_by(f64::total_cmp);
            for security in [1.0, 4.0, 8.0] {
                let how = Sharing { queries: 1, security, least_bits: None };
                let bound = how.error_norm(1.0, f64::from(slots), f64::from(copies));
                let beyond = squares.iter().rev().take_while(|&&x| x > bound * bound).count();
                let most = RUNS as f64 * (-security).exp2();
                assert!((beyond as f64) < most, "{slots} slots, {copies} copies: {beyond} runs, {most} allowed");
                // Near enough to cost little where there are many slots.
                assert!(slots < 64 || bound < 2.5 * f64::from(slots).sqrt(), "{bound}");
            }
        }
        // A bound for many queries is one of so much more security.
        let norm = |queries, security| Sharing { queries, security, least_bits: None }.error_norm(1.0, 32768.0, 1.0);
        assert_eq!(norm(1024, 20.0), norm(1, 30.0));
        assert!(norm(1, 30.0) < 1.15 * 32768f64.sqrt(), "{}", norm(1, 30.0));
    }
}
