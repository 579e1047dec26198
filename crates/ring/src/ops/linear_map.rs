//! The inner sums of linear maps: rotated copies of a polynomial, times diagonals.

use super::keys::{KeyBlock, KeyWords};
use super::{by_limb, Digits, Pair};
use crate::arch::{DiagonalRow, LinearMapInput, LinearMapRow};
use crate::automorphism::Automorphism;
use crate::demand::stride;
use crate::host_ring::HostRing;
use crate::places::Slot;
use crate::poly::{Eval, Poly};
use crate::pool::{Buffer, Fit};
use crate::Error;
use rayon::prelude::*;
use std::ops::Range;

/// Where the words of a diagonal lie in those of all: a polynomial in X^(N / words), of which each limb has so many. Each stands for a
/// run of equal values.
#[derive(Clone, Copy)]
struct Place {
    words: usize,
    start: usize,
    /// Its largest coefficient, for [`Modulus::reduce_public`](crate::Modulus).
    most: u64,
}

/// The diagonals of a linear map: for each giant step, for each baby step, one if there is one.
pub struct Diagonals {
    babies: usize,
    shape: (usize, usize),
    /// Giant step after giant step.
    places: Vec<Option<Place>>,
    /// Words of all diagonals, of one limb.
    words: usize,
    /// Signed coefficients of all, or, once [`HostRing::encoded`], limb after limb the constants as its kernels shaped them. In one block, which
    /// can have huge pages.
    data: Buffer,
    encoded: bool,
    /// What a card has of them.
    card: Slot,
}

impl Diagonals {
    /// Number of baby steps.
    pub fn babies(&self) -> usize {
        self.babies
    }
    /// Limbs of the chain and special limbs.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }
    /// For each giant step, for each baby step, the coefficients of the diagonal if there is one; none of those that were encoded for this
    /// machine.
    pub fn coefficients(&self) -> Option<Vec<Option<Vec<i64>>>> {
        let of = |d: &Place| self.data[d.start..][..d.words].iter().map(|&c| c as i64).collect();
        (!self.encoded).then(|| self.places.iter().map(|d| d.as_ref().map(of)).collect())
    }
    /// The place for what a card has of them.
    pub fn card(&self) -> &Slot {
        &self.card
    }
    /// How many diagonals there are.
    pub fn count(&self) -> usize {
        self.places.iter().flatten().count()
    }
    /// Number of giant steps.
    pub fn giants(&self) -> usize {
        self.places.len() / self.babies
    }
    /// Bytes of all diagonals.
    pub fn byte_count(&self) -> usize {
        let limbs = if self.encoded { self.shape.0 + self.shape.1 } else { 1 };
        self.places.iter().flatten().map(|d| d.words * limbs * 8).sum()
    }
    /// Bytes of all diagonals on a card, which has them encoded.
    pub fn card_bytes(&self) -> usize {
        let words: usize = self.places.iter().flatten().map(|d| d.words).sum();
        8 * words * (self.shape.0 + self.shape.1)
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        if self.card.is_there() {
            self.card_bytes()
        } else {
            0
        }
    }

    /// The constants of some places at one limb.
    fn encode(&self, ring: &HostRing, limb: usize, places: &[Option<Place>], out: &mut [u64]) {
        let table = ring.table(ring.prime_of(self.shape.0, limb));
        let (m, first) = (table.modulus(), places.iter().flatten().next().map_or(0, |d| d.start));
        for d in places.iter().flatten() {
            let out = &mut out[d.start - first..][..d.words];
            let coefficients = &self.data[d.start..][..d.words];
            m.reduce_public(bytemuck::cast_slice(coefficients), d.most, out);
            table.forward_subring(out);
            table.kernels().prepare_constants(m, out);
        }
    }
    /// Words from the first of these places to the end of the last.
    fn span(places: &[Option<Place>]) -> usize {
        let mut there = places.iter().flatten();
        let Some(first) = there.next() else { return 0 };
        let last = there.next_back().unwrap_or(first);
        last.start + last.words - first.start
    }
}

/// The rows of constants that lie in a block, which begins with the first of these places.
fn rows<'a>(places: &[Option<Place>], block: &'a [u64]) -> Vec<Option<DiagonalRow<'a>>> {
    let first = places.iter().flatten().next().map_or(0, |d| d.start);
    let row = |d: Place| DiagonalRow { constants: &block[d.start - first..][..d.words] };
    places.iter().map(|d| d.map(row)).collect()
}

/// What a linear map is applied to.
#[derive(Clone, Copy)]
pub struct MapInput<'a> {
    /// The digits of `c1`.
    pub digits: &'a Digits,
    /// `P c0` and `P c1`, without special limbs, as they vanish there.
    pub lifted: (&'a Poly<Eval>, &'a Poly<Eval>),
}

impl<'a> MapInput<'a> {
    /// All polynomials in it.
    pub fn polys(&self) -> impl Iterator<Item = &'a Poly<Eval>> {
        self.digits.polys().chain([self.lifted.0, self.lifted.1])
    }
}

impl HostRing {
    /// Diagonals for so many limbs, giant step after giant step, for each baby step one if there is one. `words` says how many
    /// coefficients each has, a power of two, and `coefficients` gives those of an entry, in X^(N / their number). Threads share the
    /// entries. They take a word for each coefficient; [`HostRing::linear_map`] encodes them limb by limb.
    ///
    /// # Errors
    /// Memory that cannot be had, and those of `coefficients`.
    pub fn diagonals<E: From<Error> + Send>(
        &self,
        babies: usize,
        words: &[Option<usize>],
        shape: (usize, usize),
        coefficients: impl Fn(usize) -> Result<Vec<i64>, E> + Sync,
    ) -> Result<Diagonals, E> {
        assert!(babies > 0 && !words.is_empty() && words.len().is_multiple_of(babies));
        let mut end = 0;
        let mut placed = |&words: &usize| {
            let start = end;
            end += stride(words);
            Place { words, start, most: 0 }
        };
        let mut places: Vec<_> = words.iter().map(|words| words.as_ref().map(&mut placed)).collect();
        let mut data = self.pool().take_lasting(end)?;
        let (mut rest, mut parts) = (&mut data[..], Vec::with_capacity(places.len()));
        for (k, d) in places.iter_mut().enumerate() {
            if let Some(d) = d {
                let (part, after) = rest.split_at_mut(stride(d.words));
                rest = after;
                parts.push((k, &mut d.most, &mut part[..d.words]));
            }
        }
        parts.into_par_iter().try_for_each(|(k, most, part)| {
            let coefficients = coefficients(k)?;
            assert_eq!(coefficients.len(), part.len(), "a diagonal has as many coefficients as were announced");
            *most = coefficients.iter().map(|c| c.unsigned_abs()).max().unwrap_or(0);
            part.iter_mut().zip(coefficients).for_each(|(word, c)| *word = c as u64);
            Ok::<_, E>(())
        })?;
        Ok(Diagonals { babies, shape, places, words: end, data, encoded: false, card: Slot::default() })
    }

    /// The same diagonals encoded at all their limbs, for maps that are applied again and again.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn encoded(&self, diagonals: Diagonals) -> Result<Diagonals, Error> {
        if diagonals.encoded || diagonals.words == 0 {
            return Ok(diagonals);
        }
        let limbs = diagonals.shape.0 + diagonals.shape.1;
        let mut data = self.pool().take_lasting(limbs * diagonals.words)?;
        let by_limb = data.par_chunks_exact_mut(diagonals.words).enumerate();
        by_limb.for_each(|(i, limb)| diagonals.encode(self, i, &diagonals.places, limb));
        Ok(Diagonals { data, encoded: true, ..diagonals })
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
        assert!(babies == diagonals.babies && diagonals.shape == (q_limbs, p_limbs));
        Poly::fetch_all(of.iter().flat_map(MapInput::polys))?;

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
        let places = &diagonals.places[steps.start * babies..steps.end * babies];
        let span = Diagonals::span(places);

        let mut sums = self.scratch_pairs(giants * of.len(), q_limbs, p_limbs)?;
        by_limb(&mut sums).par_chunks_mut(giants * of.len()).enumerate().try_for_each(|(i, out)| {
            let table = self.table(self.prime_of(q_limbs, i));
            let mut made = None;
            let block = if diagonals.encoded {
                let first = places.iter().flatten().next().map_or(0, |d| d.start);
                &diagonals.data[i * diagonals.words + first..][..span]
            } else {
                let made = made.insert(self.pool().take(span, Fit::Larger)?);
                diagonals.encode(self, i, places, made);
                made
            };
            let row = LinearMapRow {
                inputs: &inputs[i * of.len()..][..of.len()],
                babies: &rotated[i * babies..][..babies],
                diagonals: &rows(places, block),
            };
            table.kernels().linear_map(table.modulus(), &row, out);
            Ok::<_, Error>(())
        })?;
        let mut sums = sums.into_iter();
        Ok((0..giants).map(|_| sums.by_ref().take(of.len()).collect()).collect())
    }
}
