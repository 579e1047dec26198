//! The inner sums of linear maps: rotated copies of a polynomial, times diagonals.

use super::key_products::Pair;
use super::lists::Lists;
use crate::launcher::Block;
use crate::poly::host_rows;
use crate::{DeviceKey, DevicePoly, DeviceRing, Error};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::poly::Eval;
use std::ops::Range;

/// Giant steps that a thread takes, as `GIANTS` of the kernels.
const GIANTS: usize = 4;

/// An encoded diagonal on a device: a polynomial in X^(N / words), of which each limb has so many words.
pub struct Diagonal {
    words: usize,
    limbs: usize,
    /// Numbers as the kernels of each limb take them.
    block: Block,
}

/// The diagonals of a linear map: for each giant step, for each baby step, one if there is one.
pub struct Diagonals {
    babies: usize,
    /// Giant step after giant step.
    entries: Vec<Option<Diagonal>>,
}

impl Diagonals {
    /// Of so many baby steps, giant step after giant step; at least one of each.
    ///
    /// # Panics
    /// If a giant step has not as many.
    #[must_use]
    pub fn new(babies: usize, entries: Vec<Option<Diagonal>>) -> Self {
        assert!(babies > 0 && !entries.is_empty() && entries.len().is_multiple_of(babies));
        Self { babies, entries }
    }
}

/// What a linear map is applied to, as [`aglet_ring::ops::MapInput`] on the host.
#[derive(Clone, Copy)]
pub struct MapInput<'a> {
    /// The digits of `c1`.
    pub digits: &'a [DevicePoly<Eval>],
    /// `P c0` and `P c1`, without special limbs, as they vanish there.
    pub lifted: (&'a DevicePoly<Eval>, &'a DevicePoly<Eval>),
}

/// A map with its keys, and some of its giant steps.
struct Map<'a> {
    keys: &'a [Option<(&'a DeviceKey, &'a Automorphism)>],
    diagonals: &'a Diagonals,
    steps: Range<usize>,
}

impl DeviceRing<'_> {
    /// The diagonal of these coefficients in X^(N / their number), a power of two of them, at so many limbs.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Ring`].
    pub fn diagonal(&self, coefficients: &[i64], (q_limbs, p_limbs): (usize, usize)) -> Result<Diagonal, Error> {
        let (ring, words, limbs) = (self.ring(), coefficients.len(), q_limbs + p_limbs);
        let run = ring.n() / words;
        let mut spread = vec![0; ring.n()];
        spread.iter_mut().step_by(run).zip(coefficients).for_each(|(x, &c)| *x = c);
        let values = ring.to_eval(ring.lift(&spread, ring.scratch(q_limbs, p_limbs)?));
        let mut numbers = Vec::with_capacity(limbs * words);
        for (i, row) in host_rows(&values)?.into_iter().enumerate() {
            let table = self.table(ring.prime_of(q_limbs, i));
            numbers.extend(row.iter().step_by(run).map(|&x| table.number(x)));
        }
        Ok(Diagonal { words, limbs, block: self.card().upload(&numbers)? })
    }

    /// For each of these giant steps, for each input, `sum diagonal_i rotated_i` modulo QP, where `rotated_i` is the product of the digits
    /// with the key of baby step `i`, onto the rotated `P c0`; without a key it is `(P c0, P c1)`. Inputs have as many digits of one
    /// shape.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn linear_map(
        &self,
        of: &[MapInput<'_>],
        keys: &[Option<(&DeviceKey, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, Error> {
        let Some(first) = of.first().and_then(|x| x.digits.first()) else { return Ok(Vec::new()) };
        let (q_limbs, limbs) = (first.q_limbs(), first.limbs());
        assert!(of.iter().flat_map(|x| x.digits).all(|x| (x.q_limbs(), x.limbs()) == (q_limbs, limbs)));
        assert!(of.iter().all(|x| x.digits.len() == of[0].digits.len()) && keys.len() == diagonals.babies);
        assert!(diagonals.entries.iter().flatten().all(|d| d.limbs == limbs));
        let pairs = || of.iter().map(|_| self.pair(q_limbs, limbs)).collect::<Result<Vec<Pair>, Error>>();
        let out = steps.clone().map(|_| pairs()).collect::<Result<Vec<_>, _>>()?;
        for start in steps.clone().step_by(GIANTS) {
            let map = Map { keys, diagonals, steps: start..steps.end.min(start + GIANTS) };
            let out = &out[start - steps.start..map.steps.end - steps.start];
            self.map_part(of, &map, out, (q_limbs, limbs))?;
        }
        Ok(out)
    }

    /// As many giant steps as a thread takes.
    fn map_part(
        &self,
        of: &[MapInput<'_>],
        map: &Map<'_>,
        out: &[Vec<Pair>],
        (q_limbs, limbs): (usize, usize),
    ) -> Result<(), Error> {
        let (digits, babies, giants) = (of[0].digits.len(), map.keys.len(), map.steps.len());
        let words = limbs * (of.len() * (babies * (3 + 4 * digits) + 2 * giants) + 2 * giants * babies);
        let mut lists = Lists::new(self.card(), words, limbs * of.len())?;
        let mut rows = Vec::new();
        for i in 0..limbs {
            let prime = self.ring().prime_of(q_limbs, i);
            let entries = &map.diagonals.entries[map.steps.start * babies..map.steps.end * babies];
            let diagonal = |d: &Diagonal| {
                [d.block.address(i * d.words), u64::from(self.ring().log_n() - d.words.trailing_zeros())]
            };
            let diagonals = lists.add(entries.iter().flat_map(|d| d.as_ref().map_or([0, 0], diagonal)));
            for (k, x) in of.iter().enumerate() {
                let mut pairs = Vec::new();
                for key in map.keys {
                    let Some((key, phi)) = key else {
                        pairs.extend([0, 0, 1]);
                        continue;
                    };
                    let term = |(d, x): (usize, &DevicePoly<Eval>)| {
                        let [b, a] = key.addresses(d, q_limbs, i);
                        [x.address(i), b, a, phi.galois()]
                    };
                    let terms = lists.add(x.digits.iter().enumerate().flat_map(term));
                    pairs.extend([terms, digits as u64, phi.galois()]);
                }
                let pairs = lists.add(pairs);
                let to = lists.add(out.iter().flat_map(|step| [step[k].0.address(i), step[k].1.address(i)]));
                let lifted = [x.lifted.0, x.lifted.1].map(|x| if i < x.limbs() { x.address(i) } else { 0 });
                let mut row = vec![pairs, diagonals, to, lifted[0], lifted[1], babies as u64, giants as u64];
                row.extend(self.table(prime).prime());
                rows.push((prime, row));
            }
        }
        self.launch_by_arithmetic("linear_map", lists, &rows, &[u64::from(self.ring().log_n())])
    }
}
