//! The inner sums of linear maps: rotated copies of a polynomial, times diagonals.

use super::keys::{KeyBlock, KeyWords};
use super::{by_limb, Digits, Pair};
use crate::arch::{DiagonalRow, LinearMapInput, LinearMapRow};
use crate::automorphism::Automorphism;
use crate::demand::stride;
use crate::poly::{Eval, Poly};
use crate::pool::Buffer;
use crate::ring::Ring;
use crate::Error;
use rayon::prelude::*;
use std::ops::Range;

/// An encoded diagonal: a polynomial in X^(N / words), of which each limb has so many words. Each stands for a run of equal
/// values.
pub struct Diagonal {
    words: usize,
    limbs: usize,
    /// Constants as the kernels of each limb shaped them.
    data: Buffer,
}

impl Diagonal {
    fn limb(&self, i: usize) -> &[u64] {
        &self.data[i * stride(self.words)..][..self.words]
    }
    /// Bytes of all limbs.
    pub fn byte_count(&self) -> usize {
        self.words * self.limbs * 8
    }
}

/// The diagonals of a linear map: for each giant step, for each baby step, one if there is one.
pub struct Diagonals {
    babies: usize,
    /// Giant step after giant step.
    entries: Vec<Option<Diagonal>>,
}

impl Diagonals {
    /// Of so many baby steps, giant step after giant step; at least one of each.
    pub fn new(babies: usize, entries: Vec<Option<Diagonal>>) -> Self {
        assert!(babies > 0 && !entries.is_empty() && entries.len().is_multiple_of(babies));
        Self { babies, entries }
    }
    /// Number of giant steps.
    pub fn giants(&self) -> usize {
        self.entries.len() / self.babies
    }
    /// A row for each limb and entry of these giant steps, in their order.
    fn rows(&self, limbs: usize, giants: Range<usize>) -> Vec<Option<DiagonalRow<'_>>> {
        let entries = &self.entries[giants.start * self.babies..giants.end * self.babies];
        let mut rows = Vec::with_capacity(limbs * entries.len());
        for i in 0..limbs {
            rows.extend(entries.iter().map(|d| d.as_ref().map(|d| DiagonalRow { constants: d.limb(i) })));
        }
        rows
    }
    /// Bytes of all diagonals.
    pub fn byte_count(&self) -> usize {
        self.entries.iter().flatten().map(Diagonal::byte_count).sum()
    }
}

/// What a linear map is applied to.
#[derive(Clone, Copy)]
pub struct MapInput<'a> {
    /// The digits of `c1`.
    pub digits: &'a Digits,
    /// `P c0` and `P c1`, without special limbs, as they vanish there.
    pub lifted: (&'a Poly<Eval>, &'a Poly<Eval>),
}

impl Ring {
    /// The diagonal of these coefficients in X^(N / their number), a power of two of them, at so many limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn diagonal(&self, coefficients: &[i64], (q_limbs, p_limbs): (usize, usize)) -> Result<Diagonal, Error> {
        let (words, limbs) = (coefficients.len(), q_limbs + p_limbs);
        let mut data = self.pool().take_lasting(limbs * stride(words))?;
        data.par_chunks_exact_mut(stride(words)).enumerate().for_each(|(i, limb)| {
            let (limb, table) = (&mut limb[..words], self.table(self.prime_of(q_limbs, i)));
            let m = table.modulus();
            limb.iter_mut().zip(coefficients).for_each(|(r, &c)| *r = m.reduce_i64(c));
            table.forward_subring(limb);
            table.kernels().prepare_constants(m, limb);
        });
        Ok(Diagonal { words, limbs, data })
    }

    /// For each of these giant steps, for each input, `sum diagonal_i rotated_i` modulo QP, where `rotated_i` is the product of the digits
    /// with the key of baby step `i`, onto the rotated `P c0`; without a key it is `(P c0, P c1)`. Inputs have as many digits of
    /// one shape; keys and diagonals are read once.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn linear_map(
        &self,
        of: &[MapInput<'_>],
        keys: &[Option<(&KeyBlock, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, Error> {
        let (Some(first), giants @ 1..) = (of.first(), steps.len()) else { return Ok(Vec::new()) };
        let (q_limbs, p_limbs) = first.digits.shape();
        let (count, limbs, babies) = (first.digits.count(), q_limbs + p_limbs, keys.len());
        assert!(of.iter().all(|x| x.digits.shape() == (q_limbs, p_limbs) && x.digits.count() == count));
        assert!(babies == diagonals.babies && diagonals.entries.iter().flatten().all(|d| d.limbs == limbs));

        let digits: Vec<&[u64]> = (0..limbs).flat_map(|i| of.iter().flat_map(move |x| x.digits.limbs(i))).collect();
        let input = |(k, digits): (usize, _)| {
            let (i, (c0, c1)) = (k / of.len(), of[k % of.len()].lifted);
            LinearMapInput { digits, lifted: (i < c0.limbs()).then(|| (c0.limb(i), c1.limb(i))) }
        };
        let inputs: Vec<LinearMapInput<'_>> = digits.chunks_exact(count).enumerate().map(input).collect();
        let words = KeyWords::new(keys.iter().flatten().map(|(key, _)| *key), count, (q_limbs, p_limbs));
        let automorphisms: Vec<_> = keys.iter().flatten().map(|(_, phi)| Some(*phi)).collect();
        let mut held = words.rows(self, q_limbs, &automorphisms).into_iter();
        let rotated: Vec<_> = (0..limbs * babies).map(|k| keys[k % babies].and_then(|_| held.next())).collect();
        let constants = diagonals.rows(limbs, steps);

        let mut sums = self.scratch_pairs(giants * of.len(), q_limbs, p_limbs)?;
        by_limb(&mut sums).par_chunks_mut(giants * of.len()).enumerate().for_each(|(i, out)| {
            let table = self.table(self.prime_of(q_limbs, i));
            let row = LinearMapRow {
                inputs: &inputs[i * of.len()..][..of.len()],
                babies: &rotated[i * babies..][..babies],
                diagonals: &constants[i * giants * babies..][..giants * babies],
            };
            table.kernels().linear_map(table.modulus(), &row, out);
        });
        let mut sums = sums.into_iter();
        Ok((0..giants).map(|_| sums.by_ref().take(of.len()).collect()).collect())
    }
}
