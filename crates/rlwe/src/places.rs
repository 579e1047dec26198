//! Where a sparse secret has its coefficients, for bootstraps that rotate by each of them.
//!
//! The secret is `sum_k sign_k X^(place_k)` with increasing places, each in a window of its own or anywhere. The fewer such secrets there are,
//! the closer comes an attacker who guesses all of it from both ends: by the rule of eprint 2025/784 (section 5, after the Meet-LWE attack)
//! `0.4 log2` of their number must be 128.

use crate::error::Error;
use aglet_ring::sample::{self, ChaChaSource};
use zeroize::Zeroizing;

/// The exponent that a meet-in-the-middle attack leaves of the number of secrets.
const MEET: f64 = 0.4;

/// Where the coefficients of a sparse secret may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// How many are -1 or 1.
    pub weight: usize,
    /// Half the length of the window of each around its share of all places; without it all may stand anywhere.
    pub half_window: Option<usize>,
}

/// The places and signs of one secret; wiped when dropped.
pub struct PlacedCoefficients {
    places: Zeroizing<Vec<u64>>,
    signs: Zeroizing<Vec<i8>>,
}

impl Places {
    /// Refuses a weight or windows that a ring of degree `n` has no room for.
    ///
    /// # Errors
    /// [`Error::BadParameters`].
    pub fn check(self, n: usize) -> Result<(), Error> {
        // Of windows that overlap more, hardly any list of places increases.
        let most = n / self.weight.max(1);
        let fits = self.half_window.is_none_or(|half| (1..=most.min(n / 2)).contains(&half));
        if (1..=n / 2).contains(&self.weight) && fits {
            return Ok(());
        }
        Err(Error::bad_parameters(format!(
            "a ring of degree {n} has no room for {} places in windows of {:?}; choose half a window of 1 to {most}",
            self.weight,
            self.half_window.map(|half| 2 * half)
        )))
    }

    /// The first place that coefficient `k` may have.
    #[must_use]
    pub fn start(self, n: usize, k: usize) -> usize {
        self.half_window.map_or(0, |half| (k * n / self.weight).saturating_sub(half).min(n - 2 * half))
    }
    /// How many places each may have.
    #[must_use]
    pub fn width(self, n: usize) -> usize {
        self.half_window.map_or(n, |half| 2 * half)
    }

    /// log2 of the number of secrets: of increasing places in their windows, and of signs.
    #[must_use]
    pub fn log2_count(self, n: usize) -> f64 {
        // For each place the number of lists that end there, over the largest, whose logarithm is added up.
        let (mut ends, mut log2) = (Vec::new(), self.weight as f64);
        for k in 0..self.weight {
            let (start, mut before, mut all) = (self.start(n, k), 0.0, vec![0.0; n]);
            for (place, count) in all.iter_mut().enumerate() {
                if (start..start + self.width(n)).contains(&place) {
                    *count = if k == 0 { 1.0 } else { before };
                }
                before += ends.get(place).copied().unwrap_or_default();
            }
            let most = all.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            all.iter_mut().for_each(|count| *count /= most);
            log2 += most.log2();
            ends = all;
        }
        log2 + ends.iter().sum::<f64>().log2()
    }

    /// What a meet-in-the-middle attack costs at least, in bits, by the rule of eprint 2025/784: no proof.
    #[must_use]
    pub fn meet_bits(self, n: usize) -> f64 {
        MEET * self.log2_count(n)
    }

    /// Refuses places of which there are too few for 128 bits.
    ///
    /// # Errors
    /// [`Error::BadParameters`] with their number.
    pub fn least_count(self, n: usize) -> Result<(), Error> {
        let bits = self.meet_bits(n);
        if bits >= 128.0 {
            return Ok(());
        }
        Err(Error::bad_parameters(format!(
            "there are 2^{:.1} sparse secrets, {bits:.1} bits of security where {MEET} of that exponent must be 128; take a larger \
             window or weight",
            self.log2_count(n)
        )))
    }

    /// Draws a secret, uniform over all. Constant time but for lists of places that are drawn again.
    pub(crate) fn draw(self, n: usize, source: &mut ChaChaSource) -> PlacedCoefficients {
        let mut places = Zeroizing::new(vec![0u64; self.weight]);
        let mut signs = Zeroizing::new(vec![0i8; self.weight]);
        if self.half_window.is_some() {
            let windows: Vec<_> = (0..self.weight).map(|k| (self.start(n, k) as u64, self.width(n) as u64)).collect();
            sample::increasing(source, &windows, &mut places);
        } else {
            let mut marks = Zeroizing::new(vec![0i8; n]);
            sample::fixed_weight(source, self.weight, &mut marks);
            let mut found = 0u64;
            for (at, &mark) in marks.iter().enumerate() {
                let here = u64::from(mark as u8 & 1);
                // The next place, if there is a mark here.
                for (k, place) in places.iter_mut().enumerate() {
                    *place += at as u64 * (here & same(found, k as u64));
                }
                found += here;
            }
        }
        sample::signs(source, &mut signs);
        PlacedCoefficients { places, signs }
    }
}

/// 1 where both are the same number below 2^63, 0 otherwise, without a branch.
pub(crate) fn same(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_sub(1) >> 63
}

impl PlacedCoefficients {
    /// All coefficients. Constant time.
    pub(crate) fn coefficients(&self, n: usize) -> Zeroizing<Vec<i8>> {
        let mut s = Zeroizing::new(vec![0i8; n]);
        for (at, value) in s.iter_mut().enumerate() {
            for (&place, &sign) in self.places.iter().zip(self.signs.iter()) {
                *value += sign * same(place, at as u64) as i8;
            }
        }
        s
    }
    /// Place and sign of one coefficient.
    pub(crate) fn get(&self, k: usize) -> (u64, i8) {
        (self.places[k], self.signs[k])
    }
}

#[cfg(test)]
#[path = "tests/places.rs"]
mod tests;
