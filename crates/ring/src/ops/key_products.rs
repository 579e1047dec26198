//! Products of digits with keys.

use super::keys::{KeyBlock, KeyWords};
use super::{by_limb, Digits, Pair};
use crate::arch::{KeyRow, ProductRow};
use crate::automorphism::Automorphism;
use crate::host_ring::HostRing;
use crate::poly::{Eval, Poly};
use crate::Error;
use rayon::prelude::*;

/// What meets a key, and what is added to the product. Addends without special limbs vanish there.
#[derive(Clone, Copy)]
pub struct KeyProduct<'a> {
    /// The digits of a polynomial.
    pub digits: &'a Digits,
    /// Added to the first half before the automorphism, which it goes through like the digits.
    pub added_before: Option<&'a Poly<Eval>>,
    /// Added to both halves after the automorphism.
    pub added_after: Option<(&'a Poly<Eval>, &'a Poly<Eval>)>,
}

impl<'a> KeyProduct<'a> {
    /// Digits alone.
    pub fn of(digits: &'a Digits) -> Self {
        Self { digits, added_before: None, added_after: None }
    }
    /// All polynomials in it.
    pub fn polys(&self) -> impl Iterator<Item = &'a Poly<Eval>> {
        let after = self.added_after.into_iter().flat_map(|(b, a)| [b, a]);
        self.digits.polys().chain(self.added_before).chain(after)
    }
}

/// The digits of every input, limb after limb.
fn digit_rows<'a>(of: &[KeyProduct<'a>], limbs: usize) -> Vec<&'a [u64]> {
    (0..limbs).flat_map(|i| of.iter().flat_map(move |x| x.digits.limbs(i))).collect()
}

/// A row for each limb and input, in their order.
fn product_rows<'a>(of: &[KeyProduct<'a>], digits: &'a [&'a [u64]]) -> Vec<ProductRow<'a>> {
    let count = of.first().map_or(1, |x| x.digits.count());
    let row = |(k, digits): (usize, &'a [&'a [u64]])| {
        let (i, x) = (k / of.len(), &of[k % of.len()]);
        let added_before = x.added_before.filter(|x| i < x.limbs()).map(|x| x.limb(i));
        let added_after = x.added_after.filter(|(b, _)| i < b.limbs()).map(|(b, a)| (b.limb(i), a.limb(i)));
        ProductRow { digits, added_before, added_after }
    };
    digits.chunks_exact(count).enumerate().map(row).collect()
}

impl HostRing {
    /// For every input `sum_d phi(digit_d) (b_d, a_d) + (phi(added_before), 0) + added_after`, modulo QP. All have as many
    /// digits of one shape; the key is read once.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn key_products(
        &self,
        of: &[KeyProduct<'_>],
        key: &KeyBlock,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let (q_limbs, p_limbs) = first.digits.shape();
        let (count, limbs) = (first.digits.count(), q_limbs + p_limbs);
        assert!(of.iter().all(|x| x.digits.shape() == (q_limbs, p_limbs) && x.digits.count() == count));
        Poly::fetch_all(of.iter().flat_map(KeyProduct::polys))?;
        let keys = KeyWords::new(std::iter::once(key), count, (q_limbs, p_limbs));
        let keys = keys.rows(self, q_limbs, &[automorphism]);
        let digits = digit_rows(of, limbs);
        let rows = product_rows(of, &digits);
        let mut out = self.scratch_pairs(of.len(), q_limbs, p_limbs)?;
        let mut halves = by_limb(&mut out);
        halves.par_chunks_mut(of.len()).zip(rows.par_chunks(of.len())).zip(&keys).enumerate().for_each(
            |(i, ((out, rows), key))| {
                let table = self.table(self.prime_of(q_limbs, i));
                table.kernels().key_product(table.modulus(), rows, key, out);
            },
        );
        Ok(out)
    }

    /// `sum_i x_i (b_i, a_i)` modulo QP: polynomials with all limbs, each with a key of one digit of its own.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn key_sum(&self, of: &[Poly<Eval>], keys: &[&KeyBlock]) -> Result<Pair, Error> {
        let (q_limbs, p_limbs) = of.first().map_or((0, 0), |x| (x.q_limbs(), x.p_limbs()));
        assert!(of.len() == keys.len() && of.iter().all(|x| (x.q_limbs(), x.p_limbs()) == (q_limbs, p_limbs)));
        Poly::fetch_all(of)?;
        let words = KeyWords::new(keys.iter().copied(), 1, (q_limbs, p_limbs));
        let rows = words.side_by_side(keys.len());
        let mut out = self.scratch_pairs(1, q_limbs, p_limbs)?;
        by_limb(&mut out).par_chunks_mut(1).zip(&rows).enumerate().for_each(|(i, (out, ([b, a], bits)))| {
            let table = self.table(self.prime_of(q_limbs, i));
            let digits: Vec<&[u64]> = of.iter().map(|x| x.limb(i)).collect();
            let row = ProductRow { digits: &digits, added_before: None, added_after: None };
            table.kernels().key_product(table.modulus(), &[row], &KeyRow { permutation: None, bits: *bits, b, a }, out);
        });
        Ok(out.remove(0))
    }

    /// For every input `sum_i (sum_d phi_i(digit_d) (b_id, a_id) + (phi_i(added_before), 0))` modulo QP. All have as many digits of
    /// one shape, and nothing is added after; keys are read once.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn rotated_sums(&self, of: &[KeyProduct<'_>], keys: &[(&KeyBlock, &Automorphism)]) -> Result<Vec<Pair>, Error> {
        let Some(first) = of.first() else { return Ok(Vec::new()) };
        let ((q_limbs, p_limbs), count) = (first.digits.shape(), first.digits.count());
        assert!(of.iter().all(|x| x.digits.shape() == (q_limbs, p_limbs) && x.digits.count() == count));
        Poly::fetch_all(of.iter().flat_map(KeyProduct::polys))?;
        let words = KeyWords::new(keys.iter().map(|(key, _)| *key), count, (q_limbs, p_limbs));
        let automorphisms: Vec<_> = keys.iter().map(|(_, phi)| Some(*phi)).collect();
        let rows = words.rows(self, q_limbs, &automorphisms);
        let digits = digit_rows(of, q_limbs + p_limbs);
        let inputs = product_rows(of, &digits);
        let mut out = self.scratch_pairs(of.len(), q_limbs, p_limbs)?;
        let mut halves = by_limb(&mut out);
        let inputs = inputs.par_chunks(of.len()).zip(rows.par_chunks(keys.len()));
        halves.par_chunks_mut(of.len()).zip(inputs).enumerate().for_each(|(i, (out, (inputs, keys)))| {
            let table = self.table(self.prime_of(q_limbs, i));
            table.kernels().rotated_sum(table.modulus(), inputs, keys, out);
        });
        Ok(out)
    }
}
