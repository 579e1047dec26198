//! The failure probability of a bootstrap of integers: low digits that are too large, noise below them, and noise that
//! grows in digit extraction.

use super::{IntegerParams, Noise};
use crate::fault::IntegerFault;
use crate::Error;
use aglet_rlwe::KeySwitchSpec;
use std::f64::consts::LOG2_E;

/// The largest low digit that a bootstrap removes.
pub const LOW_DIGIT: u32 = 15;

/// Deviations that the noise below a low digit does not pass.
const LOW_DEVIATIONS: f64 = 15.0;
/// Deviations that no rounding passes at any root while digits are removed.
const AT_ROOTS: f64 = 10.2;
/// Roundings while digits are removed, at most, and products that one of them is the rounding of.
const ROUNDINGS: f64 = 64.0;
const PRODUCTS: f64 = 3.0;

impl IntegerParams {
    /// log2 of the probability that a bootstrap leaves a wrong number in any slot, as long as the noise of digit extraction stays small: a low
    /// digit is the sum of a uniform rounding for each unit of weight and one, and of what the noise below it becomes; beyond
    /// [`LOW_DIGIT`] digit extraction fails.
    ///
    /// # Errors
    /// As [`IntegerParams::bootstrap`].
    pub fn bootstrap_failure(&self) -> Result<f64, Error> {
        let terms = self.bootstrap()?.sparse_weight as f64 + 1.0;
        // A sum of so many numbers in [-1/2, 1/2] within d of its end: the corner of a cube (Irwin and Hall), for d up to 1.
        let reach = terms / 2.0 - (f64::from(LOW_DIGIT) + 0.5) + self.low_noise()?;
        let corner = match reach > 0.0 {
            true => terms * reach.log2() - (1..=terms as u64).map(|i| (i as f64).log2()).sum::<f64>() + 1.0,
            false => f64::NEG_INFINITY,
        };
        // The noise itself passes the deviations that are allowed for, in the Gaussian tail.
        let tail = 1.0 - LOW_DEVIATIONS * LOW_DEVIATIONS / 2.0 * LOG2_E;
        Ok((corner.exp2() + tail.exp2()).log2() + f64::from(self.log_slots()))
    }
    /// log2 of the probability that digit extraction leaves a wrong number, if there is a proof: as long as no rounding on the way passes
    /// [`AT_ROOTS`] deviations at any root, the noise, which each level at most squares, ends below the modulus. None where it may not.
    ///
    /// # Errors
    /// As [`IntegerParams::bootstrap`].
    pub fn digit_extraction_failure(&self) -> Result<Option<f64>, Error> {
        Ok((self.digit_extraction_room()? > 0.0).then_some(self.large_rounding()))
    }
    /// log2 of the probability that any rounding passes [`AT_ROOTS`] deviations at any root: values at half of the roots, which are
    /// complex.
    fn large_rounding(&self) -> f64 {
        f64::from(self.log_n()) - 1.0 + ROUNDINGS.log2() - AT_ROOTS * AT_ROOTS * LOG2_E
    }
    /// Bits of modulus that are left above the noise where digit extraction ends, if no rounding passes [`AT_ROOTS`] deviations: of both
    /// polynomials modulo p^2, of their product modulo p, and of the result. Before, the noise is less and the modulus larger. No
    /// coefficient is larger than the largest value at a root; products with messages add a hundredth.
    ///
    /// # Errors
    /// As [`IntegerParams::bootstrap`].
    pub fn digit_extraction_room(&self) -> Result<f64, Error> {
        let (noise, users) = (self.squared_noise()?, self.max_level() + 1);
        let log2 = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
        let p = (self.plain().value() as f64).log2();
        let rounding = AT_ROOTS.log2() + Noise::rounding(self).log2();
        let modulus = log2(&self.q()[..2]) + log2(self.spare()) + log2(&self.q()[users..=users]);
        let room = |modulus: f64, t: f64, noise: f64| modulus - 1.0 - t - noise - rounding;
        let both = room(modulus, 2.0 * p, noise.log2());
        let product = room(modulus, p, p + rounding + 2.0 * noise.log2());
        let result = room(log2(&self.q()[..users]), p, self.removed_noise(noise).log2());
        Ok(both.min(product).min(result))
    }
    /// What the noise at the lowest modulus adds to a low digit at most: that of its two switches.
    fn low_noise(&self) -> Result<f64, Error> {
        let square = self.plain().value() as f64 * self.plain().value() as f64;
        let norm = self.secret().squared_norm(self.n());
        let weight = self.bootstrap()?.sparse_weight as f64;
        let switch = KeySwitchSpec::dense_to_sparse().noise(self, 1);
        let variance = (1.0 + norm) / 12.0 + (1.0 + weight) / 12.0 + switch;
        Ok(square * LOW_DEVIATIONS * variance.sqrt() / self.q()[0] as f64)
    }
    /// The primes of digit extraction.
    fn digit_primes(&self) -> Result<&[u64], Error> {
        Ok(&self.q()[self.max_level() + 2..][..self.bootstrap()?.digits.count])
    }
    /// log2 of what leaves in the last division over what comes: with the prime of the last product, the raised primes for those of users.
    fn last_division(&self) -> f64 {
        let log2 = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
        log2(self.spare()) + log2(&self.q()[self.max_level() + 1..][..1]) - log2(&self.q()[2..=self.max_level()])
    }
    /// The largest noise of both polynomials at a root, over [`AT_ROOTS`] roundings there, if no rounding passes those: a level squares
    /// the noise, sums some products, and rounds.
    fn squared_noise(&self) -> Result<f64, Error> {
        let (p, rounding) = (self.plain().value() as f64, AT_ROOTS * Noise::rounding(self).log2().exp2());
        let level = |noise: f64, &q: &u64| PRODUCTS * p * p * rounding / q as f64 * noise * noise + 1.0;
        Ok(self.digit_primes()?.iter().fold(1.0, level))
    }
    /// The same of their product after the modulus switch of primes: one is the rounding of the modulus switch itself.
    fn removed_noise(&self, noise: f64) -> f64 {
        let (p, rounding) = (self.plain().value() as f64, AT_ROOTS * Noise::rounding(self).log2().exp2());
        p * rounding * noise * noise / self.last_division().exp2() + 1.0
    }
    /// Refuses primes without room for the noise, and a bootstrap that fails more often than once in 2^128.
    pub(super) fn check_bootstrap(&self) -> Result<(), Error> {
        if self.literal().bootstrap.is_none() {
            return Ok(());
        }
        let (noise, p) = (Noise::rounding(self), self.plain().value());
        let bits = self.digit_primes()?.iter().map(|&q| noise.excess(noise, p * p, q)).fold(f64::MIN, f64::max);
        if bits > 0.0 {
            return Err(IntegerFault::DigitPrimes { bits, t: p }.into());
        }
        let (log2, least) = (self.last_division(), noise.log2() + (p as f64).log2());
        if log2 < least {
            return Err(IntegerFault::LastDivision { log2, least }.into());
        }
        match self.bootstrap_failure()? {
            log2 if log2 <= -128.0 => Ok(()),
            log2 => Err(IntegerFault::Failure { log2 }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::IntegerLiteral;
    use super::*;
    use aglet_rlwe::security::Security;

    const DEEP: &str = include_str!("../../../aglet/presets/integer/int16-deep.toml");

    /// log2 of the probability that a result has more noise than two roundings at any root, if there is a proof. None where the primes
    /// are too small for that, and rare products of large roundings may grow: the numbers are right, but what follows has less room.
    fn noise_failure(params: &IntegerParams) -> Option<f64> {
        (params.removed_noise(params.squared_noise().unwrap()) <= 2.0).then_some(params.large_rounding())
    }

    fn params(text: &str, change: impl FnOnce(&mut IntegerLiteral)) -> IntegerParams {
        let mut literal = IntegerLiteral { claims: None, ..IntegerLiteral::from_toml(text).unwrap() };
        change(&mut literal);
        IntegerParams::new(literal, Security::NotChecked).unwrap()
    }

    #[test]
    fn results_have_the_noise_of_a_rounding_where_the_primes_prove_it() {
        let dense = params(include_str!("../../../aglet/presets/integer/int16.toml"), |l| l.log_n = 15);
        assert_eq!(noise_failure(&dense), None);
        let deep = params(DEEP, |_| ());
        assert_eq!(noise_failure(&deep), deep.digit_extraction_failure().unwrap());
        assert!(noise_failure(&deep).is_some());
        let short = params(DEEP, |l| l.bootstrap.as_mut().unwrap().last_bits = 40);
        assert!(noise_failure(&short).is_none() && short.digit_extraction_failure().unwrap().is_some());
    }
}
