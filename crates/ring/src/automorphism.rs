//! The automorphisms X -> X^g as permutations of the transform domain.

use crate::reversal::reversed;

/// X -> X^g for odd g, as a permutation for every width of vectors that the primes of a ring call for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automorphism {
    galois: u64,
    permutations: Vec<Permutation>,
}

impl Automorphism {
    /// Makes the tables for odd `galois` on N = `n` values, for vectors of these widths.
    pub(crate) fn new(galois: u64, n: usize, widths: &[usize]) -> Self {
        let permutations = widths.iter().map(|&width| Permutation::new(galois, n, width)).collect();
        Self { galois: galois % (2 * n as u64), permutations }
    }
    /// The exponent g modulo 2N.
    pub fn galois(&self) -> u64 {
        self.galois
    }
    /// The permutation for vectors of `width` lanes, one of those it was made for.
    pub(crate) fn permutation(&self, width: usize) -> &Permutation {
        let found = self.permutations.iter().find(|p| p.width == width);
        found.expect("an automorphism is made for all widths of its ring")
    }
    /// The image of one limb.
    pub(crate) fn apply(&self, src: &[u64], dst: &mut [u64]) {
        self.permutations[0].apply(src, dst);
    }
}

/// An automorphism on limbs of N values in the order of [`NttTable`](crate::ntt::NttTable).
///
/// Position `i` holds the value at `psi^e(i)`, `e(i) = 2 brv(i) + 1`, so the image at `i` is the source at `j` with
/// `e(j) = g e(i) mod 2N`. The low bits of `e` decide the high bits of `i`: aligned blocks of every power of two go to
/// aligned blocks. A vector is therefore one load and one permutation of its lanes; which one, the source lane of
/// the first destination lane tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    n: usize,
    width: usize,
    /// For each block of `width` destinations, the source of the first.
    table: Vec<u32>,
    /// 32-bit lane numbers of the permutation inside a block, for each source lane of the first destination.
    inner: [[u32; 16]; 8],
}

impl Permutation {
    /// Makes the table for odd `galois` on N = `n` values, for vectors of `width` lanes (1, 4 or 8).
    pub(crate) fn new(galois: u64, n: usize, width: usize) -> Self {
        assert!(galois % 2 == 1 && n.is_power_of_two() && width.is_power_of_two() && width <= 8);
        let g = galois as usize % (2 * n);
        let source = |i: usize| reversed(((2 * reversed(i, n) + 1) * g % (2 * n)) >> 1, n);
        let table = (0..n).step_by(width).map(|i| source(i) as u32).collect();
        let mut inner = [[0; 16]; 8];
        for (code, row) in inner.iter_mut().enumerate().take(width) {
            for t in 0..width {
                // Reversed lane numbers are the top bits of the exponent: they map affinely, with factor g.
                let lane = reversed((g * reversed(t, width) + reversed(code, width)) % width, width) as u32;
                (row[2 * t], row[2 * t + 1]) = (2 * lane, 2 * lane + 1);
            }
        }
        Self { n, width, table, inner }
    }

    /// Number of values of a limb.
    pub(crate) fn n(&self) -> usize {
        self.n
    }
    /// Lanes of the vectors that the table is shaped for.
    pub(crate) fn width(&self) -> usize {
        self.width
    }
    pub(crate) fn table(&self) -> &[u32] {
        &self.table
    }
    pub(crate) fn inner(&self) -> &[[u32; 16]; 8] {
        &self.inner
    }

    /// The image of one limb.
    pub(crate) fn apply(&self, src: &[u64], dst: &mut [u64]) {
        assert!(src.len() == self.n && dst.len() == self.n);
        let block = !(self.width - 1);
        for (&entry, out) in self.table.iter().zip(dst.chunks_exact_mut(self.width)) {
            let (base, lanes) = (entry as usize & block, &self.inner[entry as usize & !block]);
            for (t, out) in out.iter_mut().enumerate() {
                *out = src[base + lanes[2 * t] as usize / 2];
            }
        }
    }
}

/// The exponent of a rotation of the N/2 slots by `k` to the left: 5^k mod 2N.
pub fn rotation_exponent(k: isize, n: usize) -> u64 {
    let (mut left, mut power, mut e, m) = (k.rem_euclid(n as isize / 2), 5, 1u64, 2 * n as u64);
    while left > 0 {
        if left & 1 == 1 {
            e = e * power % m;
        }
        (left, power) = (left >> 1, power * power % m);
    }
    e
}

/// The exponent of complex conjugation: 2N - 1.
pub fn conjugation_exponent(n: usize) -> u64 {
    2 * n as u64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_tables_agree_with_the_definition() {
        for n in [64usize, 1024] {
            for g in [1, 5, 25, 2 * n as u64 - 1, 3, 7, rotation_exponent(n as isize / 4 - 3, n)] {
                let src: Vec<u64> = (0..n as u64).collect();
                let e = |i: usize| 2 * reversed(i, n) + 1;
                for width in [1, 4, 8] {
                    let a = Permutation::new(g, n, width);
                    let mut dst = vec![0; n];
                    a.apply(&src, &mut dst);
                    for (i, &j) in dst.iter().enumerate() {
                        assert_eq!(e(j as usize), e(i) * g as usize % (2 * n), "n {n} g {g} width {width} i {i}");
                    }
                }
            }
        }
    }
}
