//! The shapes of parts: how long each is in files and in memory, and what a header says of it.

use crate::error::Error;
use aglet_ring::pack::packed_len;
use aglet_ring::Modulus;
use aglet_rlwe::wire::primes;
use aglet_rlwe::{KeyRole, KeySwitchSpec, Params};

/// Bytes of a checksum.
pub(crate) const CHECK: usize = 32;

/// The kind of a part.
#[derive(Clone)]
pub enum Shape {
    /// So many bytes: a seed, secret coefficients.
    Bytes(usize),
    /// A polynomial modulo the first primes of a chain.
    Poly {
        /// The chain.
        params: Params,
        /// Limbs of the chain.
        q_limbs: usize,
        /// Special limbs.
        p_limbs: usize,
    },
    /// So many canonical residues modulo one prime, a multiple of eight.
    Residues {
        /// The prime.
        modulus: Modulus,
        /// How many.
        count: usize,
    },
    /// A switching key: a seed, then the half that is not uniform, digit by digit.
    Key {
        /// The chain.
        params: Params,
        /// Its purpose.
        role: KeyRole,
        /// Its digits and limbs.
        spec: KeySwitchSpec,
    },
    /// A key of the same form that is packed in memory, of a bootstrap that knows its keys by number.
    Packed {
        /// The chain.
        params: Params,
        /// Its number.
        number: u64,
        /// Its samples and limbs.
        spec: KeySwitchSpec,
    },
}

impl Shape {
    /// Bytes in the file, with checksums.
    pub(crate) fn stored(&self) -> Result<usize, Error> {
        let poly = |params: &Params, q_limbs, p_limbs| -> Result<usize, Error> {
            let limb = |(_, m): &(usize, Modulus)| packed_len(m, params.n()) + CHECK;
            Ok(primes(params, q_limbs, p_limbs)?.iter().map(limb).sum())
        };
        match self {
            Self::Bytes(length) => Ok(length + CHECK),
            Self::Residues { modulus, count } => Ok(packed_len(modulus, *count) + CHECK),
            Self::Poly { params, q_limbs, p_limbs } => poly(params, *q_limbs, *p_limbs),
            Self::Key { params, spec, .. } | Self::Packed { params, spec, .. } => {
                Ok(32 + CHECK + spec.digits.len() * poly(params, spec.q_limbs, spec.p_limbs)?)
            }
        }
    }
    /// Bytes in memory.
    pub(crate) fn memory(&self) -> Result<usize, Error> {
        Ok(match self {
            Self::Bytes(length) => *length,
            Self::Residues { count, .. } => count * 8,
            Self::Poly { params, q_limbs, p_limbs } => (q_limbs + p_limbs) * params.n() * 8,
            Self::Key { params, spec, .. } | Self::Packed { params, spec, .. } => spec.byte_count(params)?,
        })
    }
    /// Polynomials, for progress.
    pub(crate) fn polys(&self) -> usize {
        match self {
            Self::Bytes(_) => 0,
            Self::Poly { .. } | Self::Residues { .. } => 1,
            Self::Key { spec, .. } | Self::Packed { spec, .. } => spec.digits.len(),
        }
    }
    /// Hands over words that no other shape has, one after the other.
    pub(crate) fn describe(&self, word: &mut impl FnMut(u64)) {
        let mut chain = |params: &Params| {
            for primes in [params.q(), params.p()] {
                word(primes.len() as u64);
                primes.iter().for_each(|&prime| word(prime));
            }
        };
        match self {
            Self::Bytes(length) => [0, *length as u64].into_iter().for_each(word),
            Self::Residues { modulus, count } => [3, modulus.value(), *count as u64].into_iter().for_each(word),
            Self::Poly { params, q_limbs, p_limbs } => {
                chain(params);
                [1, *q_limbs as u64, *p_limbs as u64].into_iter().for_each(word);
            }
            Self::Key { params, role, spec } => {
                chain(params);
                let (kind, galois) = match role {
                    KeyRole::Relinearization => (0, 0),
                    KeyRole::Galois(galois) => (1, *galois),
                    KeyRole::SparseToDenseGalois(galois) => (2, *galois),
                    KeyRole::DenseToSparse => (3, 0),
                    KeyRole::SparseToDense => (4, 0),
                };
                key_words([kind, galois], spec, word);
            }
            Self::Packed { params, number, spec } => {
                chain(params);
                key_words([5, *number], spec, word);
            }
        }
    }
}

/// The words of a key for this purpose.
fn key_words(
    purpose: [u64; 2],
    KeySwitchSpec { q_limbs, p_limbs, digits }: &KeySwitchSpec,
    word: &mut impl FnMut(u64),
) {
    let [kind, number] = purpose;
    [2, kind, number, *q_limbs as u64, *p_limbs as u64, digits.len() as u64].into_iter().for_each(&mut *word);
    for digit in digits {
        word(digit.len() as u64);
        digit.iter().for_each(|&limb| word(limb as u64));
    }
}
