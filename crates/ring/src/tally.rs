//! What the kernels did, so that models of cost can be checked against the real flow of data.
//!
//! Every thread counts for itself, in words, once for each call of a kernel: it costs nothing beside the work. The threads of
//! an engine's private pool count for that engine alone, and [`Tally::take`] gathers them.

use std::cell::Cell;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

thread_local! {
    static OWN: Cell<Tally> = const { Cell::new(Tally::NONE) };
}

/// Work in words; over the degree of the ring it is work in limbs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Forward transforms.
    pub forward: u64,
    /// Inverse transforms.
    pub inverse: u64,
    /// Products of two polynomials, or of one and a constant, outside of keys and maps.
    pub pointwise: u64,
    /// Products with keys.
    pub key: u64,
    /// Products with the diagonals of linear maps.
    pub diagonal: u64,
    /// Products of base conversions: for each target one for each source, and one for the multiple of their product.
    pub conversion: u64,
    /// Words of keys that were read.
    pub key_read: u64,
    /// Words of encoded diagonals that were read.
    pub matrix_read: u64,
    /// Words of ciphertexts and their digits that products and conversions read.
    pub ciphertext_read: u64,
}

impl Tally {
    /// Nothing.
    pub const NONE: Self = Self {
        forward: 0,
        inverse: 0,
        pointwise: 0,
        key: 0,
        diagonal: 0,
        conversion: 0,
        key_read: 0,
        matrix_read: 0,
        ciphertext_read: 0,
    };

    /// What the threads of the pool that the caller stands in have done since this was last asked.
    pub fn take() -> Self {
        rayon::broadcast(|_| OWN.take()).into_iter().sum()
    }

    /// Adds to what this thread has done.
    pub(crate) fn count(self) {
        OWN.set(OWN.get() + self);
    }

    /// A base conversion of limbs of `n` words.
    pub fn conversion(n: u64, sources: u64, targets: u64) -> Self {
        Self { conversion: n * (sources + 1) * targets, ciphertext_read: n * sources, ..Self::NONE }
    }
    /// A form of so many products and terms; `factor` is whether the sum is multiplied by a constant.
    pub fn form(n: u64, products: u64, terms: u64, factor: bool) -> Self {
        let pointwise = n * (products + terms + u64::from(factor));
        Self { pointwise, ciphertext_read: n * (2 * products + terms), ..Self::NONE }
    }
    /// A product of digits with a key, onto so many limbs of addends.
    pub fn key_product(n: u64, digits: u64, addends: u64) -> Self {
        let key = n * 2 * digits;
        Self { key, key_read: key, ciphertext_read: n * (digits + addends), ..Self::NONE }
    }
    /// A difference times a constant.
    pub fn rsub_mul(n: u64) -> Self {
        Self { pointwise: n, ciphertext_read: 2 * n, ..Self::NONE }
    }
    /// The inner sums of a linear map: keys of so many rotations, diagonals in so many words, onto so many limbs of addends.
    pub fn linear_map(n: u64, digits: u64, keys: u64, (diagonals, words): (u64, u64), addends: u64) -> Self {
        let key = n * 2 * digits * keys;
        Self {
            key,
            key_read: key,
            diagonal: 2 * n * diagonals,
            matrix_read: words,
            ciphertext_read: n * (digits + addends),
            ..Self::NONE
        }
    }
    /// A sum of rotations of so many digits times so many keys.
    pub fn rotated_sum(n: u64, digits: u64, keys: u64) -> Self {
        let key = 2 * n * digits * keys;
        Self { key, key_read: key, ciphertext_read: n * digits, ..Self::NONE }
    }
    /// Sums of products with a packed stream: so many inputs meet so many samples of two halves, or of one, which is a diagonal.
    pub fn stream(n: u64, (inputs, samples, halves): (u64, u64, u64)) -> Self {
        let (products, read) = (n * samples * halves, Self { ciphertext_read: n * inputs, ..Self::NONE });
        match halves {
            1 => Self { diagonal: products, matrix_read: products, ..read },
            _ => Self { key: products, key_read: products, ..read },
        }
    }
    /// Forward transforms of so many words.
    pub fn forward(words: u64) -> Self {
        Self { forward: words, ..Self::NONE }
    }
    /// Inverse transforms of so many words.
    pub fn inverse(words: u64) -> Self {
        Self { inverse: words, ..Self::NONE }
    }

    /// The same work in so many limbs.
    #[must_use]
    pub fn times(self, limbs: u64) -> Self {
        self.zip(Self::NONE, |a, _| a * limbs)
    }

    /// The same work for so many inputs that meet keys and diagonals side by side: these are read once.
    #[must_use]
    pub fn sharing_keys(self, inputs: u64) -> Self {
        Self { key_read: self.key_read, matrix_read: self.matrix_read, ..self.times(inputs) }
    }

    fn zip(self, o: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            forward: f(self.forward, o.forward),
            inverse: f(self.inverse, o.inverse),
            pointwise: f(self.pointwise, o.pointwise),
            key: f(self.key, o.key),
            diagonal: f(self.diagonal, o.diagonal),
            conversion: f(self.conversion, o.conversion),
            key_read: f(self.key_read, o.key_read),
            matrix_read: f(self.matrix_read, o.matrix_read),
            ciphertext_read: f(self.ciphertext_read, o.ciphertext_read),
        }
    }
}

impl Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::NONE, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_of_a_pool_counts_and_no_other() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        Tally::forward(1).count();
        let taken = pool.install(|| {
            rayon::broadcast(|thread| Tally::forward(10 * (thread.index() as u64 + 1)).count());
            [Tally::take(), Tally::take()]
        });
        assert_eq!(taken, [Tally::forward(60), Tally::NONE]);
        assert_eq!(OWN.take(), Tally::forward(1));
    }

    #[test]
    fn work_adds_up() {
        let form = Tally::form(8, 2, 1, true);
        assert_eq!((form.pointwise, form.ciphertext_read), (32, 40));
        let map = Tally::linear_map(8, 3, 5, (7, 100), 2);
        assert_eq!((map.key, map.key_read, map.diagonal, map.matrix_read), (240, 240, 112, 100));
        assert_eq!(map.times(2) + Tally::NONE, [map, map].into_iter().sum());
    }
}
