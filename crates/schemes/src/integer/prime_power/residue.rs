//! Residues modulo p^2 for p = 65537, and pairs of them: the slots of both rows during a bootstrap.
//!
//! p^2 has roots of unity of the orders that p has, their lifts `zeta^p` (Teichmueller). A slot of number j is the pair of the values at
//! `zeta^(5^j)` and `zeta^(-5^j)`: an element of `Z[i]` modulo p^2 by its two images, i being `zeta^(N/2)`. So the special FFT holds
//! word for word, with the pair of a root and its inverse for a root on the circle. Modulo p everything is the same, reduced.

use crate::forms::Scale;
use crate::scalar::Scalar;
use aglet_ring::reversal::bit_reverse;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// The plaintext modulus that bootstraps are for: the largest prime known with roots of an order 2^16.
pub const P: u64 = 65_537;
/// Its square, 2^32 + 2^17 + 1.
const SQUARE: u64 = P * P;

/// A residue modulo p^2, canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residue(u64);

impl Residue {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(1);

    /// Of an integer.
    #[must_use]
    pub const fn new(x: i128) -> Self {
        Self(x.rem_euclid(SQUARE as i128) as u64)
    }
    /// The word, below p^2.
    #[must_use]
    pub const fn word(self) -> u64 {
        self.0
    }
    /// To the power of e.
    #[must_use]
    pub fn power(self, mut e: u64) -> Self {
        let (mut square, mut product) = (self, Self::ONE);
        while e > 0 {
            if e & 1 == 1 {
                product = product * square;
            }
            (square, e) = (square * square, e >> 1);
        }
        product
    }
    /// The inverse; 0 for multiples of p, which have none.
    #[must_use]
    pub fn inverse(self) -> Self {
        self.power(P * (P - 1) - 1)
    }
    /// A root of unity of an order that divides 2^16: the lift of that power of 3 which the transform modulo p is made with.
    #[must_use]
    pub fn root(order: u64) -> Self {
        Self(3).power(P).power((P - 1) / order)
    }
}

impl From<u64> for Residue {
    fn from(x: u64) -> Self {
        Self(x % SQUARE)
    }
}

impl Add for Residue {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        Self(sum.min(sum.wrapping_sub(SQUARE)))
    }
}
impl Neg for Residue {
    type Output = Self;
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}
impl Sub for Residue {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let difference = self.0.wrapping_sub(other.0);
        Self(difference.min(difference.wrapping_add(SQUARE)))
    }
}
impl Mul for Residue {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        // 2^32 is -(2^17 + 1) modulo p^2.
        let product = u128::from(self.0) * u128::from(other.0);
        let (high, low) = ((product >> 32) as i64, i64::from(product as u32));
        Self((low - high * ((1 << 17) + 1)).rem_euclid(SQUARE as i64) as u64)
    }
}

impl Scale for Residue {
    fn times(self, other: Self) -> Self {
        self * other
    }
    fn over(self, other: Self) -> Self {
        self * other.inverse()
    }
}

/// The slots at one index of both rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub [Residue; 2]);

impl Pair {
    /// The same number in both rows.
    #[must_use]
    pub const fn both(x: Residue) -> Self {
        Self([x, x])
    }
    /// A root of unity, whose inverse stands in the second row.
    #[must_use]
    pub fn root(order: u64) -> Self {
        let zeta = Residue::root(order);
        Self([zeta, zeta.inverse()])
    }
    /// The rows switched: the conjugate, and so the inverse of a root.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self([self.0[1], self.0[0]])
    }
    /// Half of it.
    #[must_use]
    pub fn half(self) -> Self {
        self * Self::both(Residue(SQUARE.div_ceil(2)))
    }
    /// The twiddles `zeta^(5^j)`, `j < half`, zeta of order `8 half`, of the layer of butterflies at distance `half`.
    #[must_use]
    pub fn twiddles(half: usize) -> Vec<Self> {
        let next = |w: &Self| {
            let fourth = (*w * *w) * (*w * *w);
            Some(fourth * *w)
        };
        std::iter::successors(Some(Self::root(8 * half as u64)), next).take(half).collect()
    }
    /// The square root of -1 whose images are those of `X^(N/2)`.
    #[must_use]
    pub fn i() -> Self {
        Self::root(4)
    }
    /// The integers a and b of `a + b i`.
    #[must_use]
    pub fn parts(self) -> [Residue; 2] {
        let conjugate = self.swapped();
        let (twice_a, twice_bi) = (self + conjugate, self - conjugate);
        [twice_a.half().0[0], (-(twice_bi * Self::i())).half().0[0]]
    }
}

impl Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}
impl AddAssign for Pair {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Neg for Pair {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(Neg::neg))
    }
}
impl Sub for Pair {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self([self.0[0] - other.0[0], self.0[1] - other.0[1]])
    }
}
impl Mul for Pair {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self([self.0[0] * other.0[0], self.0[1] * other.0[1]])
    }
}

impl Scalar for Pair {
    const ZERO: Self = Self::both(Residue::ZERO);
    const ONE: Self = Self::both(Residue::ONE);
}

/// The `2 n` coefficients of the polynomial in X^(N / 2n) that has these values in n slots, a power of two.
#[must_use]
pub fn coefficients(slots: &[Pair]) -> Vec<Residue> {
    let n = slots.len();
    let mut w = slots.to_vec();
    for layer in (0..n.ilog2()).rev() {
        let twiddles = Pair::twiddles(1 << layer);
        for block in w.chunks_exact_mut(2 << layer) {
            let (low, high) = block.split_at_mut(1 << layer);
            for ((l, h), w) in low.iter_mut().zip(high).zip(&twiddles) {
                (*l, *h) = (*l + *h, (*l - *h) * w.swapped());
            }
        }
    }
    bit_reverse(&mut w);
    let over_n = Pair::both(Residue::new(n as i128).inverse());
    let parts: Vec<[Residue; 2]> = w.into_iter().map(|w| (w * over_n).parts()).collect();
    parts.iter().map(|p| p[0]).chain(parts.iter().map(|p| p[1])).collect()
}

/// The values in `n` slots of a polynomial in X^(N / 2n), given by its coefficients: the inverse of [`coefficients`].
#[must_use]
pub fn slots(coefficients: &[Residue]) -> Vec<Pair> {
    let (low, high) = coefficients.split_at(coefficients.len() / 2);
    let mut w: Vec<Pair> = low.iter().zip(high).map(|(&a, &b)| Pair::both(a) + Pair::both(b) * Pair::i()).collect();
    bit_reverse(&mut w);
    for layer in 0..w.len().ilog2() {
        let twiddles = Pair::twiddles(1 << layer);
        for block in w.chunks_exact_mut(2 << layer) {
            let (low, high) = block.split_at_mut(1 << layer);
            for ((l, h), w) in low.iter_mut().zip(high).zip(&twiddles) {
                let turned = *h * *w;
                (*l, *h) = (*l + turned, *l - turned);
            }
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::{Encoder, Packing};
    use aglet_ring::{arch, Modulus};

    #[test]
    fn residues_are_integers_modulo_the_square() {
        let m = Modulus::new(SQUARE).unwrap();
        let words = [0, 1, P, SQUARE - 1, SQUARE / 2, 0xffff_fffe, 1 << 32, 123_456_789];
        for a in words {
            for b in words {
                let (x, y) = (Residue(a), Residue(b));
                assert_eq!([(x + y).0, (x - y).0, (x * y).0], [m.add(a, b), m.sub(a, b), m.mul(a, b)]);
            }
            assert_eq!(Residue(a).inverse() * Residue(a) == Residue::ONE, a % P != 0);
        }
        assert_eq!(
            (Residue::root(1 << 16).power(1 << 15), Residue::new(-1)),
            (Residue(SQUARE - 1), Residue(SQUARE - 1))
        );
        assert_eq!(Pair::i() * Pair::i(), -Pair::ONE);
    }

    /// By its definition, and modulo p as messages are encoded.
    #[test]
    fn slots_are_values_at_the_roots() {
        for log_n in [6, 7, 9] {
            let n = 1usize << log_n;
            let a: Vec<Residue> = (0..n as i128).map(|j| Residue::new(j.pow(5) * 0x1_2345_6789 + 7)).collect();
            let values = slots(&a);
            let zeta = Pair::root(2 * n as u64);
            let mut root = zeta;
            for value in &values {
                let expected = a.iter().rev().fold(Pair::ZERO, |sum, &c| sum * root + Pair::both(c));
                assert_eq!(*value, expected);
                root = (root * root) * (root * root) * root;
            }
            assert_eq!(coefficients(&values), a);
            let kernels = arch::chosen().unwrap();
            let encoder = Encoder::new(Modulus::new(P).unwrap(), (log_n, log_n), Packing::Slots, kernels).unwrap();
            let words: Vec<u64> = a.iter().map(|c| c.0 % P).collect();
            let row = |r: usize| values.iter().map(move |v| v.0[r].0 % P);
            let decoded = encoder.decode(&words).into_iter().map(|x| x.rem_euclid(P as i64) as u64);
            assert!(decoded.eq(row(0).chain(row(1))));
        }
    }
}
