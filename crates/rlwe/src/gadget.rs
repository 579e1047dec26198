//! Gadget decomposition: into which digits a polynomial is cut before it meets a switching key, and modulo what.
//!
//! The gadget here is that of RNS digits with special primes (Han and Ki, eprint 2019/688): `g_d` is 1 modulo the primes of
//! digit `d` and 0 modulo the others, and digits are multiplied by a key modulo QP.

use crate::error::Error;
use crate::params::Params;
use crate::wire::primes;
use aglet_ring::pack::packed_len;
use aglet_ring::sample::GAUSSIAN_SIGMA;
use aglet_ring::PackedPoly;

/// By so many bits the digits of a key stay below the special modulus times the prime of a rescale that follows. The noise is then
/// `3.2 sqrt(N d / 12) 2^-16` of a coefficient, 2^-7.5 at N = 2^16; the rounding is 2^5.9.
const HIDDEN_BITS: f64 = 16.0;

/// What a switching key is for and where it can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySwitchSpec {
    /// Limbs of the chain.
    pub q_limbs: usize,
    /// Special limbs.
    pub p_limbs: usize,
    /// The limbs of every digit, ascending.
    pub digits: Vec<Vec<usize>>,
}

impl KeySwitchSpec {
    /// The usual key for polynomials of up to `q_limbs` limbs: as few digits as the special primes allow, then as few
    /// special primes as these digits allow.
    pub fn balanced(params: &Params, q_limbs: usize) -> Result<Self, Error> {
        let p_limbs = params.special_limbs_for(q_limbs);
        Ok(Self { q_limbs, p_limbs, digits: params.digits(q_limbs, p_limbs)? })
    }

    /// A key for products that are rescaled at once, by primes of at least `prime_bits`: as many digits as [`KeySwitchSpec::balanced`] has,
    /// which may be larger than the special modulus. The rescale divides their noise too, so that it disappears beside the
    /// rounding of the rescale itself ([`HIDDEN_BITS`]).
    ///
    /// # Errors
    /// As [`KeySwitchSpec::balanced`].
    pub fn rescaled(params: &Params, q_limbs: usize, prime_bits: f64) -> Result<Self, Error> {
        let balanced = Self::balanced(params, q_limbs)?;
        // In whole bits: primes of one size differ by fractions, and keys for them have one shape.
        let excess = (prime_bits - HIDDEN_BITS).floor();
        let within = |p_limbs| params.digits_within(q_limbs, p_limbs, excess).ok();
        let fewer = (1..balanced.p_limbs).find_map(|p_limbs| {
            let digits = within(p_limbs).filter(|digits| digits.len() == balanced.digits.len())?;
            Some(Self { q_limbs, p_limbs, digits })
        });
        Ok(fewer.unwrap_or(balanced))
    }

    /// From the main secret to the sparse one. The only key under the sparse secret: modulus `q0 p'`, one digit.
    pub fn dense_to_sparse() -> Self {
        Self { q_limbs: 1, p_limbs: 1, digits: vec![vec![0]] }
    }

    /// From the sparse secret back, for polynomials that were raised from `q0` and so are one short digit; with or without a
    /// rotation and a plaintext ([`SwitchingKey::weighted_galois`](crate::SwitchingKey::weighted_galois)).
    pub fn sparse_to_dense(q_limbs: usize) -> Self {
        Self { q_limbs, p_limbs: 1, digits: vec![(0..q_limbs).collect()] }
    }

    /// Bytes of a key in memory, where words take about as many bits as their primes ([`PackedPoly`]).
    ///
    /// # Errors
    /// [`Error::BadParameters`] for more limbs than there are primes.
    pub fn byte_count(&self, params: &Params) -> Result<usize, Error> {
        let primes = primes(params, self.q_limbs, self.p_limbs)?;
        Ok(2 * self.digits.len() * PackedPoly::forecast(params.n(), primes.iter().map(|(_, m)| m)))
    }
    /// Bytes of a key on a card, where every word has 64 bits.
    pub fn card_bytes(&self, n: usize) -> usize {
        2 * self.digits.len() * (self.q_limbs + self.p_limbs) * n * 8
    }

    /// The part of it that serves `q_limbs` limbs of the chain.
    #[must_use]
    pub fn cut(&self, q_limbs: usize) -> Self {
        Self { q_limbs, p_limbs: self.p_limbs, digits: self.digits_for(q_limbs) }
    }

    /// The variance that a key switch of so many limbs adds to a coefficient, without its rounding: digits `D` under the special
    /// modulus `P` add `sigma^2 N / 12 sum (D / P)^2`.
    #[must_use]
    pub fn noise(&self, params: &Params, q_limbs: usize) -> f64 {
        let log2 = |primes: &mut dyn Iterator<Item = u64>| primes.map(|q| (q as f64).log2()).sum::<f64>();
        let special = log2(&mut params.p()[..self.p_limbs].iter().copied());
        let ratio = |digit: &Vec<usize>| (2.0 * (log2(&mut digit.iter().map(|&i| params.q()[i])) - special)).exp2();
        let digits = self.digits_for(q_limbs);
        GAUSSIAN_SIGMA * GAUSSIAN_SIGMA * params.n() as f64 / 12.0 * digits.iter().map(ratio).sum::<f64>()
    }

    /// Bytes of a key that is stored: a seed, and the halves that are not uniform, packed.
    pub fn stored_bytes(&self, params: &Params) -> Result<usize, Error> {
        let limbs = primes(params, self.q_limbs, self.p_limbs)?;
        Ok(32 + self.digits.len() * limbs.iter().map(|(_, m)| packed_len(m, params.n())).sum::<usize>())
    }

    /// The shape of [`SwitchingKey::for_subset`](crate::SwitchingKey::for_subset).
    pub fn for_subset(&self, made_for: &Params, subset: &Params) -> SubsetSpec {
        let (whole, limbs) = (made_for.prime_indices(), subset.prime_indices());
        let place = |l: &usize| whole.iter().position(|w| w == l).filter(|&i| i < self.q_limbs);
        let from: Vec<usize> = limbs.iter().map_while(place).collect();
        let inside = |d: &Vec<usize>| (0..from.len()).filter(|&i| d.contains(&from[i])).collect::<Vec<_>>();
        let digits: Vec<Vec<usize>> = self.digits.iter().map(inside).collect();
        let mut order: Vec<usize> = (0..digits.len()).filter(|&d| !digits[d].is_empty()).collect();
        // A low level has the first digits only: they begin with the lowest limbs.
        order.sort_by_key(|&d| digits[d][0]);
        let digits = order.iter().map(|&d| digits[d].clone()).collect();
        SubsetSpec { spec: Self { q_limbs: from.len(), p_limbs: self.p_limbs, digits }, limbs: from, digits: order }
    }

    /// The digits of a polynomial with fewer limbs.
    pub(crate) fn digits_for(&self, q_limbs: usize) -> Vec<Vec<usize>> {
        let cut = |d: &Vec<usize>| d.iter().copied().filter(|&i| i < q_limbs).collect::<Vec<_>>();
        self.digits.iter().map(cut).filter(|d| !d.is_empty()).collect()
    }
}

/// What is left of a key's shape on a subset of its primes.
pub struct SubsetSpec {
    /// The shape.
    pub spec: KeySwitchSpec,
    /// For each of its limbs that of the key.
    pub limbs: Vec<usize>,
    /// For each of its digits that of the key.
    pub digits: Vec<usize>,
}
