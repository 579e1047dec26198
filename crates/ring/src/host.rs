//! The one door to residues from outside of the ring: for samplers, encoding, decoding and files, which work on this machine
//! whatever computes the rest. Whoever opens it has the rows here; arithmetic goes through [`ops`](crate::ops).

use crate::poly::{Poly, Representation};
use crate::Error;
use rayon::prelude::*;

/// The rows of a polynomial, one of N canonical residues for each prime, to read.
#[derive(Clone, Copy)]
pub struct HostRows<'a, R: Representation>(&'a Poly<R>);

/// The rows of a polynomial, to write.
pub struct HostRowsMut<'a, R: Representation>(&'a mut Poly<R>);

impl<R: Representation> Poly<R> {
    /// Its rows, to read: fetched from the card, if only that has them.
    ///
    /// # Errors
    /// Memory that cannot be had, [`Error::Device`] if the card fails.
    pub fn host(&self) -> Result<HostRows<'_, R>, Error> {
        self.fetch()?;
        Ok(HostRows(self))
    }
    /// Its rows, to write canonical residues to, for who has made it.
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
    /// All rows in order.
    pub fn iter(self) -> impl Iterator<Item = &'a mut [u64]> {
        self.0.limbs_mut()
    }
    /// All rows in order, for the threads of the rayon pool that the caller stands in.
    pub fn par_iter(self) -> impl IndexedParallelIterator<Item = &'a mut [u64]> {
        self.0.par_limbs_mut()
    }
}
