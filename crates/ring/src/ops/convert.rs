//! Base conversion of rows: the inner half of decompositions and divisions.

use crate::basis::BaseConverter;
use crate::host_ring::HostRing;
use crate::poly::{Coeff, Poly};
use crate::tally::Tally;
use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

/// Targets of a base conversion that share a pass over the sources; their rows stay in the last-level cache.
const GROUP: usize = 8;
/// Columns per task of the first half of a base conversion.
const COLUMNS: usize = 4096;

/// Rows, already times the source factors, which are used up, and those that they are converted to.
pub(crate) struct Conversion<'a> {
    pub(crate) converter: &'a BaseConverter,
    pub(crate) src: Vec<&'a mut [u64]>,
    pub(crate) dst: Vec<&'a mut [u64]>,
}

impl HostRing {
    /// The conversion between two sets of primes of the ring, made once.
    pub(crate) fn converter(&self, sources: &[usize], targets: &[usize]) -> Arc<BaseConverter> {
        let moduli = |list: &[usize]| list.iter().map(|&i| *self.modulus(i)).collect::<Vec<_>>();
        let make = |(sources, targets): &(Vec<usize>, Vec<usize>)| {
            BaseConverter::new(&moduli(sources), &moduli(targets), self.kernels)
        };
        self.plans.converters.get((sources.to_vec(), targets.to_vec()), make)
    }

    /// Converts rows (already times the source factors; they are used up) to rows of the targets, and calls
    /// `then(target, row)` for each while it is still in the cache. In parallel over groups of targets.
    pub(crate) fn convert(
        &self,
        converter: &BaseConverter,
        src: Vec<&mut [u64]>,
        dst: Vec<&mut [u64]>,
        then: impl Fn(usize, &mut [u64]) + Sync + Send,
    ) -> Result<(), Error> {
        self.convert_all(vec![Conversion { converter, src, dst }], |_, t, row| then(t, row))
    }

    /// The same of several, side by side: a thread that finds no target left in one takes those of the next. `then` is told which.
    pub(crate) fn convert_all(
        &self,
        all: Vec<Conversion<'_>>,
        then: impl Fn(usize, usize, &mut [u64]) + Sync + Send,
    ) -> Result<(), Error> {
        let mut quotients: Poly<Coeff> = self.rows(all.len())?;
        let jobs = all.into_par_iter().zip(quotients.par_limbs_mut()).enumerate();
        jobs.for_each(|(k, (conversion, v))| self.convert_one(conversion, v, |t, row| then(k, t, row)));
        Ok(())
    }

    fn convert_one(
        &self,
        Conversion { converter, mut src, dst }: Conversion<'_>,
        v: &mut [u64],
        then: impl Fn(usize, &mut [u64]) + Sync + Send,
    ) {
        Tally::conversion(self.n() as u64, src.len() as u64, dst.len() as u64).count();
        let mut dst: Vec<Option<&mut [u64]>> = dst.into_iter().map(Some).collect();
        for part in converter.parts() {
            let mut tiles: Vec<Vec<&mut [u64]>> = (0..self.n().div_ceil(COLUMNS)).map(|_| Vec::new()).collect();
            for row in &mut src {
                row.chunks_mut(COLUMNS).zip(&mut tiles).for_each(|(chunk, tile)| tile.push(chunk));
            }
            tiles.into_par_iter().zip(v.par_chunks_mut(COLUMNS)).for_each(|(mut rows, v)| part.balance(&mut rows, v));

            let rows: Vec<&[u64]> = src.iter().map(|r| &**r).chain([&*v]).collect();
            let mut own: Vec<&mut [u64]> = part.places().iter().filter_map(|&t| dst[t].take()).collect();
            let (count, threads) = (own.len(), rayon::current_num_threads());
            let groups = (threads * count.div_ceil(GROUP * threads)).min(count);
            let mut tasks = Vec::with_capacity(groups);
            for g in (0..groups).rev() {
                // Kernels take targets in pairs.
                let first = g * count / groups;
                let first = if count >= 2 * groups { first / 2 * 2 } else { first };
                tasks.push((first, own.split_off(first)));
            }
            tasks.into_par_iter().for_each(|(first, mut group)| {
                part.convert(first, &rows, &mut group);
                group.into_iter().enumerate().for_each(|(i, row)| then(part.places()[first + i], row));
            });
        }
    }
}

#[cfg(test)]
#[path = "../tests/conversion.rs"]
mod tests;
