//! Keys packed in the order that sums of products read them, and these sums.
//!
//! Where a sum meets each of its keys once, the bytes of the keys decide. A residue takes 20 to
//! 50 bits, about as many as its prime, and the words that meet at eight positions stand together.

use super::{Digits, Pair};
use crate::arch::{with_width, PairRow, StreamRow, BLOCK, SPARE_BYTES, WIDTHS};
use crate::automorphism::Automorphism;
use crate::host_ring::HostRing;
use crate::modulus::Modulus;
use crate::ntt::NttTable;
use crate::places::Slot;
use crate::poly::{Eval, Poly};
use crate::pool::{Buffer, Fit};
use crate::Error;
use rayon::prelude::*;

/// Positions of a tile of [`HostRing::stream_products`]: the inputs of a tile stay in the L2 cache for all streams.
const TILE: usize = 256;
/// Blocks of a row that are packed at a time.
const PACK_TILE: usize = 32;

/// Polynomials of one shape, samples of two halves or of one, packed: each limb is one stream, and all lie in one block of memory, which the
/// system can map by huge pages.
pub struct KeyStream {
    q_limbs: usize,
    p_limbs: usize,
    samples: usize,
    halves: usize,
    /// Where the stream of each limb ends, in words.
    ends: Vec<usize>,
    words: Buffer,
    /// What a card has of it.
    card: Slot,
}

/// Bits of a packed residue modulo this prime; `None` above 50.
fn width(m: &Modulus) -> Option<usize> {
    WIDTHS.into_iter().find(|&bits| m.bits() as usize <= bits)
}

/// Words of 64 bits that so many packed residues take.
fn buffer_words(m: &Modulus, residues: usize) -> usize {
    (residues / BLOCK * width(m).unwrap_or(64) + SPARE_BYTES).div_ceil(8)
}

impl KeyStream {
    /// Packs samples: for each half as many polynomials, all of one shape.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// Unless there are one or two halves of equally many polynomials of one shape, modulo primes of 50 bits or less.
    pub fn new(ring: &HostRing, halves: &[&[Poly<Eval>]]) -> Result<Self, Error> {
        let first = &halves[0][0];
        let (q_limbs, p_limbs, samples) = (first.q_limbs(), first.p_limbs(), halves[0].len());
        let fits = |x: &Poly<Eval>| (x.q_limbs(), x.p_limbs()) == (q_limbs, p_limbs);
        assert!(halves.len() <= 2 && halves.iter().all(|half| half.len() == samples && half.iter().all(fits)));
        Poly::fetch_all(halves.iter().copied().flatten())?;
        let tables: Vec<_> = (0..q_limbs + p_limbs).map(|i| ring.table(ring.prime_of(q_limbs, i))).collect();
        let (mut ends, mut end) = (Vec::with_capacity(tables.len()), 0);
        for table in &tables {
            end += buffer_words(table.modulus(), ring.n() * samples * halves.len());
            ends.push(end);
        }
        let mut words = ring.pool().take_lasting(end)?;
        let (mut rest, mut limbs) = (&mut words[..], Vec::with_capacity(tables.len()));
        for (i, table) in tables.into_iter().enumerate() {
            let (limb, others) = rest.split_at_mut(buffer_words(table.modulus(), ring.n() * samples * halves.len()));
            limbs.push((i, table, limb));
            rest = others;
        }
        limbs.into_par_iter().for_each(|(i, table, limb)| {
            let rows: Vec<&[u64]> = (0..samples).flat_map(|s| halves.iter().map(move |half| half[s].limb(i))).collect();
            pack(table, &rows, bytemuck::cast_slice_mut(limb));
        });
        Ok(Self { q_limbs, p_limbs, samples, halves: halves.len(), ends, words, card: Slot::default() })
    }

    /// Bytes that so many samples take modulo these primes, each of N residues in so many halves.
    pub fn forecast<'a>(
        n: usize,
        primes: impl IntoIterator<Item = &'a Modulus>,
        samples: usize,
        halves: usize,
    ) -> usize {
        primes.into_iter().map(|m| 8 * buffer_words(m, n * samples * halves)).sum()
    }
    /// Limbs of the chain and special limbs.
    pub fn shape(&self) -> (usize, usize) {
        (self.q_limbs, self.p_limbs)
    }
    /// Samples.
    pub fn samples(&self) -> usize {
        self.samples
    }
    /// Halves of a sample.
    pub fn halves(&self) -> usize {
        self.halves
    }
    /// The place for what a card has of it.
    pub fn card(&self) -> &Slot {
        &self.card
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        8 * self.words.len()
    }

    /// A polynomial as it was before it was packed.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn unpacked(&self, ring: &HostRing, sample: usize, half: usize) -> Result<Poly<Eval>, Error> {
        assert!(sample < self.samples && half < self.halves, "a stream has the sample");
        let mut out: Poly<Eval> = ring.lasting(self.q_limbs, self.p_limbs)?;
        let (row, rows) = (sample * self.halves + half, self.samples * self.halves);
        out.par_limbs_mut().enumerate().for_each(|(i, limb)| {
            let table = ring.table(ring.prime_of(self.q_limbs, i));
            unpack(table, self.limb(i), (row, rows), limb);
        });
        Ok(out)
    }

    /// The stream of a limb.
    fn limb(&self, limb: usize) -> &[u8] {
        let start = if limb == 0 { 0 } else { self.ends[limb - 1] };
        bytemuck::cast_slice(&self.words[start..self.ends[limb]])
    }
    /// The stream of a limb from a block on.
    fn tail(&self, limb: usize, bits: usize, block: usize) -> &[u8] {
        &self.limb(limb)[block * self.samples * self.halves * bits..]
    }
}

/// Writes rows of one limb as a stream.
fn pack(table: &NttTable, rows: &[&[u64]], out: &mut [u8]) {
    let (m, kernels) = (table.modulus(), table.kernels());
    let bits = width(m).filter(|_| kernels.serves(m)).expect("parameters are checked for primes that a stream holds");
    with_width!(bits, pack_words(rows, out));
}

/// Tile by tile, as rows lie far apart: of each row a run, and its places in the stream stay in the cache until all rows are there.
fn pack_words<const BITS: usize>(rows: &[&[u64]], out: &mut [u8]) {
    let stride = rows.len() * BITS;
    let blocks = rows[0].len() / BLOCK;
    for (tile, out) in out[..blocks * stride].chunks_mut(PACK_TILE * stride).enumerate() {
        for (r, row) in rows.iter().enumerate() {
            let run = row[tile * PACK_TILE * BLOCK..].chunks_exact(BLOCK);
            for (words, bytes) in run.zip(out.chunks_exact_mut(stride)) {
                let mut packed = [0u64; BLOCK];
                for (i, &word) in words.iter().enumerate() {
                    let (at, shift) = (i * BITS / 64, i * BITS % 64);
                    packed[at] |= word << shift;
                    if shift + BITS > 64 {
                        packed[at + 1] |= word >> (64 - shift);
                    }
                }
                let packed = packed.map(u64::to_le_bytes);
                bytes[r * BITS..][..BITS].copy_from_slice(&packed.as_flattened()[..BITS]);
            }
        }
    }
}

/// One of so many rows of a stream.
fn unpack(table: &NttTable, stream: &[u8], (row, rows): (usize, usize), out: &mut [u64]) {
    let bits = width(table.modulus()).unwrap_or(64);
    for (block, values) in out.chunks_exact_mut(BLOCK).enumerate() {
        let bytes = &stream[(block * rows + row) * bits..][..bits];
        let mut padded = [0; 64 + 8];
        padded[..bits].copy_from_slice(bytes);
        for (i, value) in values.iter_mut().enumerate() {
            let word: [u8; 8] = padded[i * bits / 8..][..8].try_into().unwrap_or_default();
            *value = u64::from_le_bytes(word) >> (i * bits % 8) & (u64::MAX >> (64 - bits));
        }
    }
}

impl HostRing {
    /// For every list of digits `sum_i sum_d phi_i(x_d) (b_(i, d), a_(i, d))`, modulo QP: digits of one shape and equally many for each,
    /// samples of the key rotation by rotation. The key is read once, in its order.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// If the key has not two halves, or other samples than these products.
    pub fn stream_sums(
        &self,
        of: &[Vec<&Digits>],
        key: &KeyStream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, Error> {
        let Some(each) = of.first().map(|x| x.iter().map(|d| d.count()).sum::<usize>()) else { return Ok(Vec::new()) };
        assert!(of.iter().flatten().all(|x| x.shape() == key.shape()) && key.halves == 2);
        assert!(key.samples == each * rotations.len(), "a key has a sample for each product");
        Poly::fetch_all(of.iter().flatten().flat_map(|x| x.polys()))?;
        let mut out = self.scratch_pairs(of.len(), key.q_limbs, key.p_limbs)?;
        let mut limbs: Vec<Vec<&mut [u64]>> = key.ends.iter().map(|_| Vec::with_capacity(2 * of.len())).collect();
        for (b, a) in &mut out {
            for half in [b, a] {
                half.limbs_mut().zip(&mut limbs).for_each(|(limb, rows)| rows.push(limb));
            }
        }
        limbs.into_par_iter().enumerate().for_each(|(i, mut out)| {
            let table = self.table(self.prime_of(key.q_limbs, i));
            let (m, kernels) = (table.modulus(), table.kernels());
            let inputs: Vec<&[u64]> = of.iter().flatten().flat_map(|x| x.limbs(i)).collect();
            let rotations: Vec<_> = rotations.iter().map(|g| g.permutation(kernels.width())).collect();
            let bits = width(m).unwrap_or(64);
            let row = StreamRow { inputs: &inputs, each, rotations: &rotations, bits, words: key.limb(i) };
            kernels.stream_sum(m, &row, &mut out);
        });
        Ok(out)
    }

    /// For every stream of one half and every pair of lists of polynomials `sum_i x_i m_i`, stream by stream: the lists have one
    /// polynomial for each sample of a stream.
    ///
    /// # Errors
    /// Memory that cannot be had.
    ///
    /// # Panics
    /// If the streams have two halves, or other samples than there are polynomials.
    pub fn stream_products(
        &self,
        of: &[[Vec<Poly<Eval>>; 2]],
        streams: &[KeyStream],
    ) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, Error> {
        let Some((q_limbs, p_limbs)) = streams.first().map(KeyStream::shape) else { return Ok(Vec::new()) };
        let samples = streams[0].samples;
        assert!(streams.iter().all(|s| (s.shape(), s.samples, s.halves) == ((q_limbs, p_limbs), samples, 1)));
        let fits = |x: &Poly<Eval>| (x.q_limbs(), x.p_limbs()) == (q_limbs, p_limbs);
        assert!(of.iter().flatten().all(|x| x.len() == samples && x.iter().all(fits)));
        Poly::fetch_all(of.iter().flatten().flatten())?;
        let pair = || Ok([self.scratch(q_limbs, p_limbs)?, self.scratch(q_limbs, p_limbs)?]);
        let pairs = || of.iter().map(|_| pair()).collect::<Result<Vec<_>, Error>>();
        let mut out = streams.iter().map(|_| pairs()).collect::<Result<Vec<_>, _>>()?;
        // Limb by limb, tile by tile, and of each all streams: inputs of a tile are read from memory once.
        let tiles = self.n().div_ceil(TILE);
        let mut rows: Vec<Vec<&mut [u64]>> = (0..(q_limbs + p_limbs) * tiles).map(|_| Vec::new()).collect();
        for poly in out.iter_mut().flatten().flatten() {
            let parts = poly.limbs_mut().flat_map(|limb| limb.chunks_mut(TILE));
            parts.zip(&mut rows).for_each(|(part, rows)| rows.push(part));
        }
        rows.into_par_iter().with_max_len(1).enumerate().try_for_each(|(k, mut rows)| {
            let (i, position) = (k / tiles, k % tiles * TILE);
            let (table, length) = (self.table(self.prime_of(q_limbs, i)), rows[0].len());
            let bits = width(table.modulus()).unwrap_or(64);
            // In the order that the kernel reads them in: rows lie far apart, and every page that is met costs.
            let mut inputs = self.pool().take(2 * of.len() * samples * length, Fit::Larger)?;
            for (p, [first, second]) in of.iter().enumerate() {
                for (s, halves) in first.iter().zip(second).enumerate() {
                    for (h, x) in [halves.0, halves.1].into_iter().enumerate() {
                        let from = x.limb(i)[position..][..length].chunks_exact(BLOCK);
                        let to = inputs.chunks_exact_mut(BLOCK).skip((p * samples + s) * 2 + h);
                        let to = to.step_by(2 * of.len() * samples);
                        to.zip(from).for_each(|(to, from)| to.copy_from_slice(from));
                    }
                }
            }
            for (stream, out) in streams.iter().zip(rows.chunks_mut(2 * of.len())) {
                let row = PairRow { inputs: &inputs, samples, bits, words: stream.tail(i, bits, position / BLOCK) };
                table.kernels().stream_pairs(table.modulus(), &row, out);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

#[cfg(test)]
#[path = "../tests/stream.rs"]
mod tests;
