//! Sums with packed keys.

use super::key_products::Pair;
use super::lists::Lists;
use crate::launcher::Block;
use crate::poly::host_rows;
use crate::{DevicePoly, DeviceRing, Error};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::ops::KeyStream;
use aglet_ring::poly::Eval;

/// Positions of a run: their residues fill whole words, whatever bits each has.
const RUN: usize = 64;

/// A [`KeyStream`] on a device: each residue has the bits of its prime.
pub struct Stream {
    q_limbs: usize,
    samples: usize,
    halves: usize,
    limbs: Vec<Block>,
}

/// What meets a stream, and where the sums go: of each sum its inputs, as many.
struct Sums<'a> {
    stream: &'a Stream,
    inputs: [Vec<&'a DevicePoly<Eval>>; 2],
    out: [&'a DevicePoly<Eval>; 2],
}

/// Residues of so many bits, 64 of them in as many words as each has bits.
fn packed(residues: &[u64], bits: usize) -> Vec<u64> {
    let mut words = vec![0; bits];
    for (i, &x) in residues.iter().enumerate() {
        let (at, shift) = (i * bits / 64, i * bits % 64);
        words[at] |= x << shift;
        if shift + bits > 64 {
            words[at + 1] |= x >> (64 - shift);
        }
    }
    words
}

impl DeviceRing<'_> {
    /// A copy of packed keys on the device.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Ring`].
    pub fn upload_stream(&self, key: &KeyStream) -> Result<Stream, Error> {
        let (ring, (q_limbs, p_limbs), halves) = (self.ring(), key.shape(), key.halves());
        let samples = (0..key.samples()).flat_map(|s| (0..halves).map(move |half| (s, half)));
        let polys = samples.map(|(s, half)| key.unpacked(ring, s, half)).collect::<Result<Vec<_>, _>>()?;
        let polys: Vec<Vec<&[u64]>> = polys.iter().map(host_rows).collect::<Result<_, _>>()?;
        let limb = |i: usize| {
            let bits = ring.modulus(ring.prime_of(q_limbs, i)).bits() as usize;
            let rows: Vec<&[u64]> = polys.iter().map(|x| x[i]).collect();
            let runs = (0..ring.n()).step_by(RUN);
            let words = runs.flat_map(|at| rows.iter().flat_map(move |row| packed(&row[at..at + RUN], bits)));
            self.card().upload(&words.collect::<Vec<_>>())
        };
        let limbs = (0..q_limbs + p_limbs).map(limb).collect::<Result<_, _>>()?;
        Ok(Stream { q_limbs, samples: key.samples(), halves, limbs })
    }

    /// For every list of digits `sum_i sum_d phi_i(x_d) (b_(i, d), a_(i, d))`, modulo QP: samples of the key stand rotation by rotation.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    ///
    /// # Panics
    /// If the key has not two halves, or other samples than these products.
    pub fn stream_sums(
        &self,
        of: &[Vec<&DevicePoly<Eval>>],
        key: &Stream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, Error> {
        assert!(key.halves == 2 && of.iter().all(|x| x.len() * rotations.len() == key.samples));
        let out = of.iter().map(|_| self.pair(key.q_limbs, key.limbs.len())).collect::<Result<Vec<Pair>, _>>()?;
        let sums =
            of.iter().zip(&out).map(|(x, (b, a))| Sums { stream: key, inputs: [x.clone(), x.clone()], out: [b, a] });
        let galois: Vec<u64> = rotations.iter().map(|phi| phi.galois()).collect();
        self.sum_streams(&sums.collect::<Vec<_>>(), &galois)?;
        Ok(out)
    }

    /// For every stream of one half and every pair of lists of polynomials `sum_i x_i m_i`, stream by stream: the lists have one
    /// polynomial for each sample of a stream.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    ///
    /// # Panics
    /// If the streams have two halves, or other samples than there are polynomials.
    pub fn stream_products(
        &self,
        of: &[[Vec<DevicePoly<Eval>>; 2]],
        streams: &[&Stream],
    ) -> Result<Vec<Vec<Pair>>, Error> {
        let fits = |s: &Stream| s.halves == 1 && of.iter().flatten().all(|x| x.len() == s.samples);
        assert!(streams.iter().all(|s| fits(s)), "streams have one half and a sample for each polynomial");
        let pairs =
            |s: &Stream| of.iter().map(|_| self.pair(s.q_limbs, s.limbs.len())).collect::<Result<Vec<Pair>, _>>();
        let out = streams.iter().map(|s| pairs(s)).collect::<Result<Vec<_>, _>>()?;
        let mut sums = Vec::new();
        for (stream, out) in streams.iter().zip(&out) {
            sums.extend(of.iter().zip(out).map(|([x, y], (b, a))| Sums {
                stream,
                inputs: [x.iter().collect(), y.iter().collect()],
                out: [b, a],
            }));
        }
        self.sum_streams(&sums, &[1])?;
        Ok(out)
    }

    fn sum_streams(&self, sums: &[Sums<'_>], galois: &[u64]) -> Result<(), Error> {
        let words = sums.iter().map(|sum| 2 * sum.inputs[0].len() * sum.stream.limbs.len()).sum::<usize>();
        let rows = sums.iter().map(|sum| sum.stream.limbs.len()).sum();
        let mut lists = Lists::new(self.card(), galois.len() + words, rows)?;
        let rotations = lists.add(galois.iter().copied());
        let mut rows = Vec::new();
        for sum in sums {
            let (stream, each) = (sum.stream, sum.inputs[0].len() as u64);
            let shape = (stream.q_limbs, stream.limbs.len());
            assert!(
                sum.inputs.iter().flatten().all(|x| (x.q_limbs(), x.limbs()) == shape),
                "inputs have the limbs of a key"
            );
            for (i, key) in stream.limbs.iter().enumerate() {
                let prime = self.ring().prime_of(stream.q_limbs, i);
                let bits = u64::from(self.table(prime).modulus.bits());
                let inputs = [0, 1].map(|h| lists.add(sum.inputs[h].iter().map(|x| x.address(i))));
                let mut row = vec![key.address(0), inputs[0], inputs[1], rotations];
                row.extend(sum.out.map(|out| out.address(i)));
                row.extend([bits, each, galois.len() as u64, stream.halves as u64]);
                row.extend(self.table(prime).prime());
                rows.push((prime, row));
            }
        }
        self.launch_by_arithmetic("stream_sum", lists, &rows, &[u64::from(self.ring().log_n())])
    }
}
