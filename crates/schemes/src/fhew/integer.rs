//! Signed integers that do not wrap around, and their sign, which is computed from base-16 magnitudes without a
//! subtraction.
//!
//! An integer of b bits has the phase `m u` with `u = 16 / (17 2^b)` of the torus, so that all of them leave 1/34 of the torus free at either
//! end of each half. For `x = (m + 1/2) u` and each j below `J = ceil(b / 4)` a rotation of `16^j x` gives `D_j = 0` where the phase is
//! nearer than about 1/68 to a multiple of half the torus, else 1 or -1 by the half. The first `D_j` that is not 0 has the sign of m, as
//! `16^j x` has not left its half before, and the last cannot be 0. So `sum_j 2^(J - 1 - j) D_j` has the sign of m, and a last rotation
//! reads it.

use super::message::{either, fraction, Message};
use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweContext, LweParams};

/// Bits of a digit of magnitude.
const DIGIT: u32 = 4;
/// What two neighbouring magnitudes must leave free together, on the torus: `1 / (2 (2^DIGIT + 1))`.
const MARGIN: f64 = 1.0 / 34.0;

/// Signed integers from `-2^(bits - 1)` to `2^(bits - 1) - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    bits: u32,
}

impl Integer {
    /// The largest number of bits.
    pub const MOST_BITS: u32 = 20;

    /// Signed integers of 2 to 20 bits, including the sign.
    ///
    /// # Errors
    /// [`Error::Message`] for another number of bits.
    pub fn new(bits: u32) -> Result<Self, Error> {
        if !(2..=Self::MOST_BITS).contains(&bits) {
            let allowed = format!("2 to {}", Self::MOST_BITS);
            return Err(Error::Message { value: bits.into(), what: "a number of bits of an integer", allowed });
        }
        Ok(Self { bits })
    }

    /// Its bits, the sign included.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.bits
    }
    /// The least and the greatest.
    #[must_use]
    pub fn range(self) -> (i64, i64) {
        let half = 1i64 << (self.bits - 1);
        (-half, half - 1)
    }

    /// `round(halves u Q / 2)`.
    fn halves(self, ctx: &LweContext, halves: i64) -> u64 {
        let (m, parts) = (ctx.modulus(), 17i128 << self.bits);
        let times = 8 * i128::from(halves) * i128::from(m.value());
        m.reduce_i128((2 * times + parts).div_euclid(2 * parts))
    }

    /// The phase of an integer.
    ///
    /// # Errors
    /// [`Error::Integer`] for one out of range.
    pub fn encode(self, ctx: &LweContext, value: i64) -> Result<u64, Error> {
        let (least, most) = self.range();
        if !(least..=most).contains(&value) {
            return Err(Error::Integer { value, least, most });
        }
        Ok(self.halves(ctx, 2 * value))
    }

    /// The integer nearest to a phase; beyond the range, a sum has left it.
    #[must_use]
    pub fn decode(self, ctx: &LweContext, phase: u64) -> i64 {
        let m = ctx.modulus();
        (m.centre(phase) as f64 / m.value() as f64 * 17.0 * f64::from(self.bits).exp2() / 16.0).round() as i64
    }

    /// Half the way from one integer to the next, on the torus: how far a phase may be off where it is decrypted.
    #[must_use]
    pub fn distance(self) -> f64 {
        16.0 / (34.0 * f64::from(self.bits).exp2())
    }

    /// The part of the torus that `2^(bits - 1)` takes, half the number of integers.
    #[must_use]
    pub fn largest_on_torus(self) -> f64 {
        8.0 / 17.0
    }

    /// Half a step: the sign is that of a phase with it added.
    #[must_use]
    pub fn half_step(self, ctx: &LweContext) -> u64 {
        self.halves(ctx, 1)
    }

    /// Rotations whose results decide a sign together; where it is one, it decides alone.
    #[must_use]
    pub fn magnitudes(self) -> u32 {
        self.bits.div_ceil(DIGIT)
    }
    /// Rotations of a sign.
    #[must_use]
    pub fn rotations(self) -> u32 {
        match self.magnitudes() {
            1 => 1,
            several => several + 1,
        }
    }
    /// The factor of the phase that magnitude j reads.
    #[must_use]
    pub fn factor(self, j: u32) -> i64 {
        1 << (DIGIT * j)
    }

    /// The table of magnitude j: 0 near the ends of the half of the torus, `2^-(j + 2)` of the torus between.
    #[must_use]
    pub fn magnitude_table(self, ctx: &LweContext, j: u32) -> Vec<u64> {
        let (n, zeros) = (ctx.params().n(), zeros(ctx.params().n()));
        let amplitude = fraction(ctx, 1 << (j + 2));
        (0..n).map(|i| if (zeros..n - zeros).contains(&i) { amplitude } else { 0 }).collect()
    }

    /// The table that reads the sum: half a step of `to` and, half the torus on, its negative. With half a step added, that is 1 for 0 and
    /// positive integers, 0 for negative ones.
    #[must_use]
    pub fn sign_table(ctx: &LweContext, to: Message) -> Vec<u64> {
        super::half_steps(ctx, to)
    }

    /// log2 of the probability that the sign of an input of this variance is wrong: of any rotation.
    #[must_use]
    pub fn log2_failure(self, params: &LweParams, variance: f64) -> f64 {
        let (count, noise) = (self.magnitudes(), params.noise());
        if count == 1 {
            // Half a step from the ends of half the torus.
            return log2_tail(self.distance(), noise.decision(variance));
        }
        let (n, factor) = (params.n(), |j| (self.factor(j) as f64).powi(2));
        let edge = zeros(n) as f64 / (2 * n) as f64;
        let distance = edge.min(MARGIN - edge);
        let mut all: Vec<f64> = (0..count).map(|j| log2_tail(distance, noise.decision(variance * factor(j)))).collect();
        let sum = f64::from(count) * noise.blind_rotation;
        all.push(log2_tail(f64::from(count + 1).exp2().recip(), noise.decision(sum)));
        either(&all)
    }
}

/// Entries at either end of a table that are 0: as near to 1/68 of the torus as exponents come, rather below.
fn zeros(n: usize) -> usize {
    2 * n / 68
}
