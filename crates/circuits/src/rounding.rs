//! Rounds numbers modulo p to the messages that they are near to: `m p / torus + e` becomes m, for m below a count and every |e| up to a
//! bound, by one polynomial through all that may come.
//!
//! Around the middle of the messages what may come is as far above zero as below, and what it becomes is odd: so the polynomial is odd,
//! and half of its coefficients are zero. Its degree is `count (2 bound + 1) - 1`.

use crate::error::Error;
use crate::polynomial::{Basis, Series};
use aglet_ring::Modulus;
use aglet_schemes::integer::prime_power::{Pair, PrimePowerEvaluator, Residue, P};
use std::sync::atomic::{AtomicBool, Ordering};

/// The polynomial, in the distance from the middle of the messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounding {
    series: Series<Pair>,
    middle: i64,
    count: u64,
    torus: u64,
    bound: u64,
}

/// `numerator / (2 torus)`, the halves away from zero, so that it is odd.
fn nearest(numerator: i64, torus: u64) -> i64 {
    let torus = torus as i64;
    numerator.signum() * ((numerator.abs() + torus) / (2 * torus))
}

impl Rounding {
    /// For messages below `count`, an even number, each `p / torus` apart, and errors below `bound`.
    ///
    /// # Errors
    /// [`Error::Rounding`] for other counts, more messages than the torus has room for, or errors that reach the next message.
    pub fn new(count: u64, torus: u64, bound: u64) -> Result<Self, Error> {
        Self::stopped_by((count, torus, bound), &AtomicBool::new(false))
    }

    /// The same, until a flag is set: many messages with large errors take seconds.
    ///
    /// # Errors
    /// As [`Rounding::new`], and that the work was stopped.
    pub fn stopped_by((count, torus, bound): (u64, u64, u64), stop: &AtomicBool) -> Result<Self, Error> {
        let fits = count >= 2 && count.is_multiple_of(2) && count <= torus && torus >= 4 && bound < P;
        if !fits || torus * (2 * bound + 2) > P {
            return Err(Error::Rounding { count, torus, bound });
        }
        let t = Modulus::new(P).map_err(aglet_schemes::Error::from)?;
        let half = t.inv(2);
        // The upper half of the messages, 1 / 2, 3 / 2, .. above the middle, over their distances: a polynomial in the squares of these.
        let (mut nodes, mut values) = (Vec::new(), Vec::new());
        for odd in (1..count as i64).step_by(2) {
            let centre = nearest(odd * P as i64, torus);
            for x in centre - bound as i64..=centre + bound as i64 {
                let x = t.reduce_i64(x);
                nodes.push(t.mul(x, x));
                values.push(t.mul(t.mul(odd as u64, half), t.inv(x)));
            }
        }
        let even = interpolated(&nodes, values, stop)?;
        let mut coefficients = vec![t.mul(count - 1, half)];
        for c in even {
            coefficients.extend([c, 0]);
        }
        coefficients.pop();
        let coefficients: Vec<Pair> = coefficients.into_iter().map(|c| Pair::both(Residue::from(c))).collect();
        let series = Series::new(Basis::Power, &coefficients)?;
        Ok(Self { series, middle: nearest((count - 1) as i64 * P as i64, torus), count, torus, bound })
    }

    /// The largest bound for so many messages and levels, if there is one that stays below the next message.
    #[must_use]
    pub fn bound_for(count: u64, torus: u64, levels: usize) -> Option<u64> {
        let points = (1u64 << levels.min(16)).checked_div(count)?;
        let apart = (P / torus.max(1) / 2).checked_sub(1)?;
        Some(points.checked_sub(1)? / 2).map(|bound| bound.min(apart)).filter(|&bound| bound > 0)
    }

    /// Levels that it takes.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.series.depth()
    }
    /// The degree of the polynomial.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.series.degree()
    }
    /// The relinearizations that it takes.
    #[must_use]
    pub fn relinearizations(&self) -> usize {
        self.series.relinearizations()
    }
    /// The number of messages, and how many the torus has room for.
    #[must_use]
    pub fn messages(&self) -> (u64, u64) {
        (self.count, self.torus)
    }
    /// Errors below it are removed, which a number x of message m has if `x - m p / torus` is below it. What is rounded is one unit at
    /// most, half of it in the middle and half in the centre of a message; x and both are whole, so errors of one unit more may stay.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The message of one number: what [`Rounding::round`] does to every slot.
    #[must_use]
    pub fn value(&self, x: u64) -> u64 {
        let x = Residue::new(i128::from(x) - i128::from(self.middle));
        self.series.value(Pair::both(x)).0[0].word() % P
    }

    /// Takes numbers modulo p to their messages, [`Rounding::levels`] below, with this correction factor.
    ///
    /// # Errors
    /// `LevelTooLow`; otherwise what the evaluator refuses.
    pub fn round<E: PrimePowerEvaluator>(
        &self,
        e: &E,
        x: &E::Ciphertext,
        correction_factor: Residue,
    ) -> Result<E::Ciphertext, Error> {
        let centred = e.add_scalar(x, Pair::both(Residue::new(i128::from(-self.middle))))?;
        self.series.evaluate_scaled(e, &centred, correction_factor)
    }
}

/// The inverses modulo p of all numbers below it; that of zero is zero.
fn inverses() -> Vec<u64> {
    let mut found = vec![0, 1];
    for i in 2..P {
        // `p = (p / i) i + p % i`, whose last part is smaller.
        found.push((P - P / i) * found[(P % i) as usize] % P);
    }
    found
}

/// The coefficients of the polynomial through these values: by Newton's divided differences.
fn interpolated(nodes: &[u64], mut newton: Vec<u64>, stop: &AtomicBool) -> Result<Vec<u64>, Error> {
    let (inverse, less) = (inverses(), |x: u64, y: u64| x + P - y);
    let go_on = || match stop.load(Ordering::Relaxed) {
        true => Err(Error::from(aglet_schemes::Error::Cancelled)),
        false => Ok(()),
    };
    for k in 1..newton.len() {
        go_on()?;
        for i in (k..newton.len()).rev() {
            let over = inverse[(less(nodes[i], nodes[i - k]) % P) as usize];
            newton[i] = less(newton[i], newton[i - 1]) * over % P;
        }
    }
    let mut coefficients: Vec<u64> = Vec::with_capacity(newton.len());
    for (&node, &difference) in nodes.iter().zip(&newton).rev() {
        go_on()?;
        // Times Z - node, plus the difference.
        coefficients.insert(0, 0);
        for i in 1..coefficients.len() {
            coefficients[i - 1] = (coefficients[i - 1] + (P - node) * coefficients[i]) % P;
        }
        coefficients[0] = (coefficients[0] + difference) % P;
    }
    Ok(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_schemes::integer::prime_power::{PrimePower, PrimePowerClear, PrimePowerClearEvaluator};

    /// The number that message m with error e is, the error counted from the unit nearest to it.
    fn number(m: u64, torus: u64, e: i64) -> u64 {
        let unit = (2 * m * P + torus) / (2 * torus);
        (unit as i64 + e).rem_euclid(P as i64) as u64
    }

    #[test]
    fn every_message_with_every_error_is_found() {
        let mut more = 0;
        for (count, torus, bound) in [(2, 4, 31), (2, 4, 63), (2, 32, 63), (4, 8, 31), (16, 16, 20), (16, 32, 63)] {
            let rounding = Rounding::new(count, torus, bound).unwrap();
            let (whole, most) = (torus as i64, bound as i64);
            for m in 0..count {
                for e in -most - 2..=most + 2 {
                    // The error, as a multiple of `1 / torus`.
                    let (x, exact) = (number(m, torus, e), (m * P) as i64);
                    let error = ((2 * exact + whole).div_euclid(2 * whole) + e) * whole - exact;
                    let found = rounding.value(x) == m;
                    assert!(found || error.abs() >= most * whole, "{count} of {torus}: {e}");
                    assert!(!found || error.abs() < (most + 1) * whole, "{count} of {torus}: {e}");
                    more += i64::from(!found && error.abs() < (most + 1) * whole);
                }
            }
            assert_eq!(rounding.degree() as u64, count * (2 * bound + 1) - 1);
            assert_eq!(rounding.levels(), rounding.degree().ilog2() as usize + 1);
        }
        assert!(more > 0, "no error of less than a unit more stays");
    }

    #[test]
    fn large_errors_are_removed_and_the_work_can_be_stopped() {
        let rounding = Rounding::new(16, 32, 255).unwrap();
        for j in 0..200u64 {
            let e = (j * 71 % 509) as i64 - 254;
            assert_eq!(rounding.value(number(j % 16, 32, e)), j % 16, "{e}");
        }
        let stopped = Rounding::stopped_by((16, 32, 255), &AtomicBool::new(true));
        assert_eq!(stopped, Err(aglet_schemes::Error::Cancelled.into()));
        assert!(inverses().iter().enumerate().skip(1).all(|(x, y)| x as u64 * y % P == 1));
    }

    #[test]
    fn the_circuit_is_the_polynomial_in_few_products() {
        let primes: Vec<u64> = (1..14).map(|i| (1 << 49) + 2 * i + 1).collect();
        let e = PrimePowerClearEvaluator::new(64, primes, vec![0]);
        // Products were 40 and 266 with leaves of degree 3.
        for (count, torus, bound, levels, most) in [(2, 4, 63, 8, 26), (16, 32, 63, 11, 66)] {
            let rounding = Rounding::new(count, torus, bound).unwrap();
            assert_eq!(rounding.levels(), levels);
            assert!(rounding.relinearizations() <= most, "{}", rounding.relinearizations());
            let of = |j: u64| number(j % count, torus, (j * 29 % 120) as i64 - 60);
            let values = (0..64).map(|j| Pair([of(j), of(j + 64)].map(Residue::from))).collect();
            let x = PrimePowerClear { values, level: 12, power: PrimePower::One, correction_factor: Residue::ONE };
            let y = rounding.round(&e, &x, Residue::new(777)).unwrap();
            assert_eq!((y.level, y.power, y.correction_factor), (12 - levels, PrimePower::One, Residue::new(777)));
            for (j, y) in y.values.iter().enumerate() {
                assert_eq!(y.0.map(|y| y.word() % P), [j as u64 % count, (j as u64 + 64) % count]);
            }
            assert!(rounding.round(&e, &PrimePowerClear { level: levels - 1, ..x }, Residue::ONE).is_err());
        }
    }

    #[test]
    fn bounds_fill_their_levels_and_stay_below_the_next_message() {
        let found = |count, torus, levels| Rounding::bound_for(count, torus, levels);
        assert_eq!([found(2, 4, 8), found(2, 32, 7), found(16, 32, 11)], [Some(63), Some(31), Some(63)]);
        assert_eq!([found(2, 32, 16), found(16, 32, 4), found(2, 4, 1)], [Some(1023), None, None]);
        for (count, torus, bound) in [(3, 8, 5), (0, 8, 5), (16, 8, 5), (2, 32, 1024), (2, 2, 5), (2, 4, 1 << 40)] {
            assert!(Rounding::new(count, torus, bound).is_err(), "{count} of {torus}, {bound}");
        }
    }
}
