//! Products of digits with keys.

use super::lists::Lists;
use crate::{DeviceKey, DevicePoly, DeviceRing, Error};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::poly::Eval;

/// Two polynomials of one shape: the halves of a product with a key.
pub type Pair = (DevicePoly<Eval>, DevicePoly<Eval>);

/// What meets a key, and what is added to the product, as [`aglet_ring::KeyProduct`] on the host.
#[derive(Clone, Copy)]
pub struct KeyProduct<'a> {
    /// The digits of a polynomial.
    pub digits: &'a [DevicePoly<Eval>],
    /// Added to the first half before the automorphism, which it goes through like the digits.
    pub added_before: Option<&'a DevicePoly<Eval>>,
    /// Added to both halves after the automorphism.
    pub added_after: Option<(&'a DevicePoly<Eval>, &'a DevicePoly<Eval>)>,
}

/// One product of a sum: a polynomial, a digit of a key, and the exponent of the automorphism that the polynomial goes through.
struct Term<'a> {
    x: &'a DevicePoly<Eval>,
    key: (&'a DeviceKey, usize),
    galois: u64,
}

/// A sum of products, all of one shape, and what is added: to the first half polynomials that go through automorphisms of these exponents.
#[derive(Default)]
struct Sum<'a> {
    terms: Vec<Term<'a>>,
    added_before: Vec<(&'a DevicePoly<Eval>, u64)>,
    added_after: Option<(&'a DevicePoly<Eval>, &'a DevicePoly<Eval>)>,
}

impl<'a> Sum<'a> {
    /// An input with keys, each after an automorphism.
    fn of(x: &KeyProduct<'a>, keys: impl Iterator<Item = (&'a DeviceKey, u64)>) -> Self {
        let mut sum = Self { added_after: x.added_after, ..Self::default() };
        for (key, galois) in keys {
            sum.terms.extend(x.digits.iter().enumerate().map(|(d, x)| Term { x, key: (key, d), galois }));
            sum.added_before.extend(x.added_before.map(|x| (x, galois)));
        }
        sum
    }
}

impl DeviceRing<'_> {
    /// For every input `sum_d phi(digit_d) (b_d, a_d) + (phi(added_before), 0) + added_after`, modulo QP: digits of one shape, as
    /// many for each. Addends without special limbs vanish there.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn key_products(
        &self,
        of: &[KeyProduct<'_>],
        key: &DeviceKey,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, Error> {
        let galois = automorphism.map_or(1, Automorphism::galois);
        let sums = of.iter().map(|x| Sum::of(x, std::iter::once((key, galois))));
        self.key_sums(&sums.collect::<Vec<_>>())
    }

    /// `sum_i x_i (b_i, a_i)` modulo QP: polynomials with all limbs, at least one, each with a key of one digit of its own.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn key_sum(&self, of: &[DevicePoly<Eval>], keys: &[&DeviceKey]) -> Result<Pair, Error> {
        assert!(!of.is_empty() && of.len() == keys.len(), "each polynomial has a key");
        let terms = of.iter().zip(keys).map(|(x, key)| Term { x, key: (*key, 0), galois: 1 }).collect();
        Ok(self.key_sums(&[Sum { terms, ..Sum::default() }])?.remove(0))
    }

    /// For every input `sum_i (sum_d phi_i(digit_d) (b_id, a_id) + (phi_i(added_before), 0))` modulo QP: digits of one shape, as many for
    /// each, and nothing is added after.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn rotated_sums(
        &self,
        of: &[KeyProduct<'_>],
        keys: &[(&DeviceKey, &Automorphism)],
    ) -> Result<Vec<Pair>, Error> {
        assert!(of.iter().all(|x| x.added_after.is_none()), "nothing is added after");
        let sums = of.iter().map(|x| Sum::of(x, keys.iter().map(|(key, phi)| (*key, phi.galois()))));
        self.key_sums(&sums.collect::<Vec<_>>())
    }

    /// Two polynomials of one shape that nobody has written.
    pub(super) fn pair(&self, q_limbs: usize, limbs: usize) -> Result<Pair, Error> {
        Ok((DevicePoly::of(self.limbs(limbs)?, q_limbs), DevicePoly::of(self.limbs(limbs)?, q_limbs)))
    }

    fn key_sums(&self, sums: &[Sum<'_>]) -> Result<Vec<Pair>, Error> {
        let Some(first) = sums.first().and_then(|sum| sum.terms.first()) else { return Ok(Vec::new()) };
        let (q_limbs, p_limbs) = (first.x.q_limbs(), first.x.p_limbs());
        let mut terms = sums.iter().flat_map(|sum| &sum.terms);
        assert!(terms.all(|t| (t.x.q_limbs(), t.x.p_limbs()) == (q_limbs, p_limbs) && t.key.1 < t.key.0.digits()));
        let limbs = q_limbs + p_limbs;
        let out = sums.iter().map(|_| self.pair(q_limbs, limbs)).collect::<Result<Vec<Pair>, _>>()?;
        let words = limbs * sums.iter().map(|sum| 4 * sum.terms.len() + 2 * sum.added_before.len()).sum::<usize>();
        let mut lists = Lists::new(self.card(), words, limbs * sums.len())?;
        let mut rows = Vec::new();
        for i in 0..limbs {
            let prime = self.ring().prime_of(q_limbs, i);
            let added = |x: Option<&DevicePoly<Eval>>| x.filter(|x| i < x.limbs()).map_or(0, |x| x.address(i));
            for (sum, (b, a)) in sums.iter().zip(&out) {
                let terms = lists.add(sum.terms.iter().flat_map(|term| {
                    let [b, a] = term.key.0.addresses(term.key.1, q_limbs, i);
                    [term.x.address(i), b, a, term.galois]
                }));
                let before = sum.added_before.iter().filter(|(x, _)| i < x.limbs());
                let before: Vec<u64> = before.flat_map(|&(x, galois)| [x.address(i), galois]).collect();
                let counts = [sum.terms.len() as u64, before.len() as u64 / 2];
                let after = [sum.added_after.map(|x| x.0), sum.added_after.map(|x| x.1)];
                let mut row = vec![terms, lists.add(before), added(after[0]), added(after[1])];
                row.extend([b.address(i), a.address(i)].into_iter().chain(counts));
                row.extend(self.table(prime).prime());
                rows.push((prime, row));
            }
        }
        self.launch_by_arithmetic("key_sum", lists, &rows, &[u64::from(self.ring().log_n())])?;
        Ok(out)
    }
}
