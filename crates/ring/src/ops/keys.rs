//! The words of keys, as products read them.

use crate::arch::KeyRow;
use crate::automorphism::Automorphism;
use crate::host_ring::HostRing;
use crate::packed_poly::PackedPoly;
use crate::poly::{Eval, Poly};
use crate::Error;
use std::sync::Arc;

/// Two polynomials for each digit, `b` and `a`: shared and never changed. A part of it, some limbs and some digits, shares
/// the words.
#[derive(Clone)]
pub struct KeyBlock {
    q_limbs: usize,
    /// Where the limbs of this part stand in the polynomials.
    rows: Vec<usize>,
    /// Which polynomials are the digits of this part.
    digits: Vec<usize>,
    halves: Arc<[Vec<PackedPoly>; 2]>,
}

impl KeyBlock {
    /// The block of these polynomials, all of one shape and as many `b` as `a`.
    pub fn new([b, a]: [Vec<PackedPoly>; 2]) -> Self {
        let shape = b.first().map_or((0, 0), PackedPoly::shape);
        assert!(a.len() == b.len() && a.iter().chain(&b).all(|p| p.shape() == shape));
        let (rows, digits) = ((0..shape.0 + shape.1).collect(), (0..b.len()).collect());
        Self { q_limbs: shape.0, rows, digits, halves: Arc::new([b, a]) }
    }

    /// The part with these limbs of the chain, all special limbs, and these digits, each in the order given.
    #[must_use]
    pub fn part(&self, limbs: &[usize], digits: &[usize]) -> Self {
        let special = self.q_limbs..self.rows.len();
        Self {
            q_limbs: limbs.len(),
            rows: limbs.iter().copied().chain(special).map(|i| self.rows[i]).collect(),
            digits: digits.iter().map(|&d| self.digits[d]).collect(),
            halves: self.halves.clone(),
        }
    }

    /// The polynomials `b` and `a` of all digits, as the block was made.
    pub fn halves(&self) -> [&[PackedPoly]; 2] {
        [&self.halves[0], &self.halves[1]]
    }
    /// The polynomials that have its words.
    pub fn polys(&self) -> impl Iterator<Item = &PackedPoly> {
        self.halves.iter().flat_map(|half| self.digits.iter().map(|&d| &half[d]))
    }
    /// Where its limbs stand in these polynomials, those of the chain first, and how many are of the chain.
    pub fn rows(&self) -> (&[usize], usize) {
        (&self.rows, self.q_limbs)
    }
    /// Bytes of all words, as the block was made.
    pub fn byte_count(&self) -> usize {
        self.halves.iter().flatten().map(PackedPoly::byte_count).sum()
    }
    /// Bytes of the digits of this part on a card, which has all their limbs, and 64 bits for every word.
    pub fn card_bytes(&self) -> usize {
        self.polys().map(PackedPoly::card_bytes).sum()
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        self.polys().filter(|x| x.card().is_there()).map(PackedPoly::card_bytes).sum()
    }

    /// The place of limb `i` of a polynomial with `q_limbs` limbs of the chain.
    fn place(&self, q_limbs: usize, i: usize) -> usize {
        self.rows[if i < q_limbs { i } else { self.q_limbs + i - q_limbs }]
    }
    /// The limbs of the first `digits` digits that meet limb `i`, all of `b`, then all of `a`, and the bits of their words.
    fn limbs(&self, q_limbs: usize, i: usize, digits: usize) -> impl Iterator<Item = (&[u8], usize)> {
        let at = self.place(q_limbs, i);
        self.halves.iter().flat_map(move |half| self.digits[..digits].iter().map(move |&d| half[d].limb(at)))
    }
}

impl HostRing {
    /// The block of these polynomials, with all their limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn key_block(&self, b: &[Poly<Eval>], a: &[Poly<Eval>]) -> Result<KeyBlock, Error> {
        let packed =
            |x: &Poly<Eval>| PackedPoly::new(x, (0..x.limbs()).map(|i| self.modulus(self.prime_of(x.q_limbs(), i))));
        let half = |half: &[Poly<Eval>]| half.iter().map(packed).collect::<Result<Vec<_>, _>>();
        Ok(KeyBlock::new([half(b)?, half(a)?]))
    }
}

/// The words of several keys as kernels take them, limb after limb, and of each limb key after key.
pub(super) struct KeyWords<'a> {
    words: Vec<&'a [u8]>,
    /// Of a limb of each key.
    bits: Vec<usize>,
    digits: usize,
}

impl<'a> KeyWords<'a> {
    /// Those that meet `digits` digits, at least one, of `q_limbs` and `p_limbs` limbs.
    pub(super) fn new(
        keys: impl Iterator<Item = &'a KeyBlock> + Clone,
        digits: usize,
        (q_limbs, p_limbs): (usize, usize),
    ) -> Self {
        for key in keys.clone() {
            assert!(q_limbs <= key.q_limbs && q_limbs + p_limbs <= q_limbs + key.rows.len() - key.q_limbs);
            assert!(0 < digits && digits <= key.digits.len(), "a key has all digits of what it meets");
        }
        let limbs = 0..q_limbs + p_limbs;
        let rows = limbs.flat_map(|i| keys.clone().flat_map(move |key| key.limbs(q_limbs, i, digits)));
        let (words, bits): (Vec<_>, Vec<_>) = rows.unzip();
        Self { words, bits: bits.into_iter().step_by(2 * digits).collect(), digits }
    }

    /// For each limb the `b` of all keys, their `a`, and the bits of their words: keys of one digit as the digits of one key.
    pub(super) fn side_by_side(&self, keys: usize) -> Vec<([Vec<&'a [u8]>; 2], usize)> {
        let halves = |limb: &[&'a [u8]]| [0, 1].map(|half| limb.iter().copied().skip(half).step_by(2).collect());
        let bits = self.bits.iter().copied().step_by(keys);
        self.words.chunks_exact(2 * keys).map(halves).zip(bits).collect()
    }

    /// A row for each limb and key, in their order.
    pub(super) fn rows<'b>(
        &'b self,
        ring: &'b HostRing,
        q_limbs: usize,
        automorphisms: &[Option<&'b Automorphism>],
    ) -> Vec<KeyRow<'b>> {
        let keys = automorphisms.len();
        let row = |(k, (words, &bits)): (usize, (&'b [&'a [u8]], &usize))| {
            let (b, a) = words.split_at(self.digits);
            let width = ring.table(ring.prime_of(q_limbs, k / keys)).kernels().width();
            KeyRow { permutation: automorphisms[k % keys].map(|g| g.permutation(width)), bits, b, a }
        };
        self.words.chunks_exact(2 * self.digits).zip(&self.bits).enumerate().map(row).collect()
    }
}
