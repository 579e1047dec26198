//! Polynomials of keys as products read them: the words of a limb take as many bits as kernels unpack without a loss.
//!
//! A bootstrap reads its keys from memory once, and that takes longer than the products: bytes decide.

use crate::arch::{key_row_bytes, key_width};
use crate::demand::gap;
use crate::modulus::Modulus;
use crate::pack::{pack_bits, unpack_bits};
use crate::places::Slot;
use crate::poly::{Eval, Poly};
use crate::pool::{Buffer, Pool};
use crate::Error;
use rayon::prelude::*;

/// Bits of words that are not packed.
const WHOLE: usize = 64;

/// A polynomial whose limbs are packed. It is public, and never changed.
pub struct PackedPoly {
    n: usize,
    q_limbs: usize,
    /// Where each limb begins, in words, and the bits of its residues.
    limbs: Vec<(usize, usize)>,
    words: Buffer,
    card: Slot,
}

/// Words from the start of a limb to the start of the next.
fn stride(n: usize, bits: usize) -> usize {
    key_row_bytes(n, bits).div_ceil(8) + gap(n)
}

impl PackedPoly {
    /// Packs the limbs of a polynomial modulo these primes.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// Unless there is a prime for each limb.
    pub fn new<'a>(of: &Poly<Eval>, primes: impl IntoIterator<Item = &'a Modulus>) -> Result<Self, Error> {
        of.fetch()?;
        let (n, mut end) = (of.n(), 0);
        let place = |m: &Modulus| {
            let (at, bits) = (end, key_width(m));
            end += stride(n, bits);
            (at, bits)
        };
        let limbs: Vec<_> = primes.into_iter().map(place).collect();
        assert!(limbs.len() == of.limbs(), "a limb has a prime");
        let mut words = Pool::take_exact(end)?;
        let (mut rows, mut rest) = (Vec::with_capacity(limbs.len()), &mut words[..]);
        for (i, &(_, bits)) in limbs.iter().enumerate() {
            let (row, others) = rest.split_at_mut(stride(n, bits));
            rows.push((i, bits, row));
            rest = others;
        }
        rows.into_par_iter().for_each(|(i, bits, row)| match bits {
            WHOLE => row[..n].copy_from_slice(of.limb(i)),
            _ => pack_bits(bits, of.limb(i), &mut bytemuck::cast_slice_mut(row)[..n / 8 * bits]),
        });
        Ok(Self { n, q_limbs: of.q_limbs(), limbs, words, card: Slot::default() })
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.n
    }
    /// Limbs modulo primes of the chain, and modulo special ones.
    pub fn shape(&self) -> (usize, usize) {
        (self.q_limbs, self.limbs.len() - self.q_limbs)
    }
    /// The place for what a card has of it.
    pub fn card(&self) -> &Slot {
        &self.card
    }
    /// Bytes of the limbs.
    pub fn byte_count(&self) -> usize {
        self.limbs.iter().map(|&(_, bits)| self.n / 8 * bits).sum()
    }
    /// The same on a card, where every word has 64 bits.
    pub fn card_bytes(&self) -> usize {
        8 * self.n * self.limbs.len()
    }
    /// Bytes that the limbs of a polynomial take modulo these primes.
    pub fn forecast<'a>(n: usize, primes: impl IntoIterator<Item = &'a Modulus>) -> usize {
        primes.into_iter().map(|m| n / 8 * key_width(m)).sum()
    }

    /// Limb `i`, with the bytes that kernels may read behind it, and the bits of a word.
    pub(crate) fn limb(&self, i: usize) -> (&[u8], usize) {
        let (at, bits) = self.limbs[i];
        (&bytemuck::cast_slice(&self.words[at..])[..key_row_bytes(self.n, bits)], bits)
    }

    /// The polynomial as it was before it was packed.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn unpacked(&self) -> Result<Poly<Eval>, Error> {
        let (q_limbs, p_limbs) = self.shape();
        let mut out: Poly<Eval> = Poly::lasting(self.n, q_limbs, p_limbs)?;
        out.par_limbs_mut().enumerate().for_each(|(i, limb)| match self.limb(i) {
            (bytes, WHOLE) => limb.copy_from_slice(bytemuck::cast_slice(&bytes[..8 * self.n])),
            (bytes, bits) => unpack_bits(bits, &bytes[..self.n / 8 * bits], limb),
        });
        Ok(out)
    }
}
