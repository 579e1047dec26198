//! The one door to residues from outside of the ring: for samplers, encoding, decoding and files, which work on this machine
//! whatever computes the rest. Whoever opens it has the rows here; arithmetic goes through [`ops`](crate::ops).

use crate::poly::{Poly, Representation};
use rayon::prelude::*;

/// The rows of a polynomial, one of N canonical residues for each prime, to read.
#[derive(Clone, Copy)]
pub struct HostRows<'a, R: Representation>(&'a Poly<R>);

/// The rows of a polynomial, to write.
pub struct HostRowsMut<'a, R: Representation>(&'a mut Poly<R>);

impl<R: Representation> Poly<R> {
    /// Its rows, to read.
    pub fn host(&self) -> HostRows<'_, R> {
        HostRows(self)
    }
    /// Its rows, to write canonical residues to.
    pub fn host_mut(&mut self) -> HostRowsMut<'_, R> {
        HostRowsMut(self)
    }
}

impl<'a, R: Representation> HostRows<'a, R> {
    /// Row `i`: modulo prime `i` of the chain, or special prime `i - q_limbs`.
    pub fn row(self, i: usize) -> &'a [u64] {
        self.0.limb(i)
    }
    /// All rows in order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u64]> {
        (0..self.0.limbs()).map(move |i| self.0.limb(i))
    }
}

impl<'a, R: Representation> HostRowsMut<'a, R> {
    /// All rows in order, for the threads of the rayon pool that the caller stands in.
    pub fn par_iter(self) -> impl IndexedParallelIterator<Item = &'a mut [u64]> {
        self.0.par_limbs_mut()
    }
}
