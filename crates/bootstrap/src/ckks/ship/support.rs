//! The sparse secret: where its coefficients may be, and a support that was drawn, with signs.
//!
//! It is `sum_k sign_k X^(position_k)` with increasing positions, each in a window of its own or anywhere. The fewer such secrets there
//! are, the closer comes an attacker who guesses all of it from both ends: by the rule of eprint 2025/784 (section 5, after the Meet-LWE attack)
//! `0.4 log2` of their number must be 128.

use crate::fault::ShipFault;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_rlwe::{Context, Error, SecretKey};
use zeroize::Zeroizing;

/// The exponent that a meet-in-the-middle attack leaves of the number of secrets.
const MEET: f64 = 0.4;

/// The positions that the coefficients of a sparse secret may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretSupport {
    /// How many are -1 or 1.
    pub weight: usize,
    /// Half the length of the window of each around its share of all positions; without it all may stand anywhere.
    pub half_window: Option<usize>,
}

impl SecretSupport {
    /// Refuses a weight or windows that a ring of degree `n` has no room for.
    ///
    /// # Errors
    /// [`ShipFault::Windows`].
    pub fn check(self, n: usize) -> Result<(), ShipFault> {
        // Of windows that overlap more, hardly any list of positions increases.
        let most = n / self.weight.max(1);
        let fits = self.half_window.is_none_or(|half| (1..=most.min(n / 2)).contains(&half));
        if (1..=n / 2).contains(&self.weight) && fits {
            return Ok(());
        }
        let window = self.half_window.map(|half| 2 * half);
        Err(ShipFault::Windows { n, weight: self.weight, window, most })
    }

    /// The first position that coefficient `k` may have.
    #[must_use]
    pub fn start(self, n: usize, k: usize) -> usize {
        self.half_window.map_or(0, |half| (k * n / self.weight).saturating_sub(half).min(n - 2 * half))
    }
    /// How many positions each may have.
    #[must_use]
    pub fn width(self, n: usize) -> usize {
        self.half_window.map_or(n, |half| 2 * half)
    }

    /// log2 of the number of secrets: of increasing positions in their windows, and of signs.
    #[must_use]
    pub fn log2_count(self, n: usize) -> f64 {
        // For each position the number of lists that end there, over the largest, whose logarithm is added up.
        let (mut ends, mut log2) = (Vec::new(), self.weight as f64);
        for k in 0..self.weight {
            let (start, mut before, mut all) = (self.start(n, k), 0.0, vec![0.0; n]);
            for (position, count) in all.iter_mut().enumerate() {
                if (start..start + self.width(n)).contains(&position) {
                    *count = if k == 0 { 1.0 } else { before };
                }
                before += ends.get(position).copied().unwrap_or_default();
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

    /// Refuses a support of which there are too few for 128 bits.
    ///
    /// # Errors
    /// [`ShipFault::Count`].
    pub fn least_count(self, n: usize) -> Result<(), ShipFault> {
        let bits = self.meet_bits(n);
        if bits >= 128.0 {
            return Ok(());
        }
        Err(ShipFault::Count { log2_count: self.log2_count(n), bits, share: MEET })
    }
}

/// The positions and signs of one sparse secret; wiped when dropped.
pub struct SignedSupport {
    positions: Zeroizing<Vec<u64>>,
    signs: Zeroizing<Vec<i8>>,
}

/// 1 where both are the same number below 2^63, 0 otherwise, without a branch.
pub(super) fn same(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_sub(1) >> 63
}

impl SignedSupport {
    /// Draws a secret, uniform over all. Constant time but for lists of positions that are drawn again.
    pub fn draw(support: SecretSupport, n: usize, source: &mut ChaChaSource) -> Self {
        let mut positions = Zeroizing::new(vec![0u64; support.weight]);
        let mut signs = Zeroizing::new(vec![0i8; support.weight]);
        if support.half_window.is_some() {
            let window = |k| (support.start(n, k) as u64, support.width(n) as u64);
            let windows: Vec<_> = (0..support.weight).map(window).collect();
            sample::increasing(source, &windows, &mut positions);
        } else {
            let mut marks = Zeroizing::new(vec![0i8; n]);
            sample::fixed_weight(source, support.weight, &mut marks);
            let mut found = 0u64;
            for (at, &mark) in marks.iter().enumerate() {
                let here = u64::from(mark as u8 & 1);
                // The next position, if there is a mark here.
                for (k, position) in positions.iter_mut().enumerate() {
                    *position += at as u64 * (here & same(found, k as u64));
                }
                found += here;
            }
        }
        sample::signs(source, &mut signs);
        Self { positions, signs }
    }

    /// Draws a secret with its key, which may appear under `q0` alone. The making of SHIP rotation keys must know where its coefficients are.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for parameters with another sparse secret; memory that cannot be had.
    pub fn draw_key(
        ctx: &Context,
        support: SecretSupport,
        source: &mut ChaChaSource,
    ) -> Result<(SecretKey, Self), Error> {
        let n = ctx.ring().n();
        let drawn = Self::draw(support, n, source);
        Ok((SecretKey::sparse_of(ctx, drawn.coefficients(n), source)?, drawn))
    }

    /// All coefficients. Constant time.
    pub(super) fn coefficients(&self, n: usize) -> Zeroizing<Vec<i8>> {
        let mut s = Zeroizing::new(vec![0i8; n]);
        for (at, value) in s.iter_mut().enumerate() {
            for (&position, &sign) in self.positions.iter().zip(self.signs.iter()) {
                *value += sign * same(position, at as u64) as i8;
            }
        }
        s
    }
    /// Position and sign of one coefficient.
    pub(super) fn get(&self, k: usize) -> (u64, i8) {
        (self.positions[k], self.signs[k])
    }
}

#[cfg(test)]
#[path = "tests/support.rs"]
mod tests;
