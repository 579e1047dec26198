//! A ring on a device: the tables that its kernels read, and launches over lists of limbs.

use crate::launcher::{Block, Device};
use crate::{Arithmetic, Error};
use aglet_ring::reversal::bit_reverse;
use aglet_ring::{HostRing, Modulus};
use std::sync::Arc;

/// Degrees that have transforms, as log2.
pub(crate) const DEGREES: std::ops::RangeInclusive<u32> = 9..=17;
/// Threads of a block, and words of a limb that it takes.
pub(crate) const THREADS: u32 = 256;
/// Stages of the last step of a transform, on rows.
const ROW_STEP: u32 = 4;

/// A ring whose polynomials may be on a device. Its operations ([`ops`](crate::ops)) are those of [`HostRing`], on what is there.
pub struct DeviceRing<'a> {
    ring: &'a HostRing,
    card: Device,
    tables: Vec<Arc<Table>>,
}

/// What kernels read of one prime.
pub(crate) struct Table {
    pub(crate) arithmetic: Arithmetic,
    pub(crate) modulus: Modulus,
    /// Powers of the root and of its inverse, as [`side_by_side`] has them, as multipliers.
    pub(crate) forward: Block,
    pub(crate) inverse: Block,
}

/// Powers in bit-reversed order as transforms read them: those of the last `stages` stages, which each thread has of its own, with the same part of
/// sixteen blocks together (`power` of the kernels).
pub(crate) fn side_by_side(powers: &mut [u64], stages: u32) {
    bit_reverse(powers);
    for s in 0..stages {
        let first = powers.len() >> (stages - s);
        for sixteen in powers[first..2 * first].chunks_exact_mut(16 << s) {
            let blocks = sixteen.to_vec();
            sixteen.iter_mut().enumerate().for_each(|(i, power)| *power = blocks[((i % 16) << s) + i / 16]);
        }
    }
}

impl Table {
    pub(crate) fn new(card: &Device, ring: &HostRing, prime: usize, wanted: Arithmetic) -> Result<Self, Error> {
        let modulus = *ring.modulus(prime);
        let arithmetic = wanted.for_modulus(&modulus);
        let powers = |root: u64| {
            let next = |power: &u64| Some(modulus.mul(*power, root));
            let mut powers: Vec<u64> = std::iter::successors(Some(1), next).take(ring.n()).collect();
            side_by_side(&mut powers, ROW_STEP);
            let words: Vec<u64> = powers.into_iter().flat_map(|w| arithmetic.multiplier(&modulus, w)).collect();
            card.upload(&words)
        };
        let psi = ring.psi(prime);
        Ok(Self { forward: powers(psi)?, inverse: powers(modulus.inv(psi))?, arithmetic, modulus })
    }
    /// Bytes on the card.
    pub(crate) fn bytes(&self) -> u64 {
        self.forward.bytes() + self.inverse.bytes()
    }
    /// `Q` of its kernels.
    pub(crate) fn prime(&self) -> Vec<u64> {
        self.arithmetic.prime(&self.modulus)
    }
    /// `T` for a canonical residue.
    pub(crate) fn number(&self, x: u64) -> u64 {
        self.arithmetic.number(&self.modulus, x)
    }
    /// `W` for a canonical residue.
    pub(crate) fn multiplier(&self, w: u64) -> Vec<u64> {
        self.arithmetic.multiplier(&self.modulus, w)
    }
}

impl<'a> DeviceRing<'a> {
    /// Puts the tables of a ring on a card. Primes have the arithmetic that is wanted where it serves them.
    ///
    /// # Errors
    /// [`Error::Degree`] unless N is 2^9 to 2^17; [`Error::Memory`].
    pub fn new(card: Device, ring: &'a HostRing, wanted: Arithmetic) -> Result<Self, Error> {
        if !DEGREES.contains(&ring.log_n()) {
            return Err(Error::Degree { log_n: ring.log_n() });
        }
        let primes = 0..ring.q_count() + ring.p_count();
        let tables = primes.map(|i| Table::new(&card, ring, i, wanted).map(Arc::new)).collect::<Result<_, _>>()?;
        Ok(Self { ring, card, tables })
    }
    /// With tables that are there already.
    pub(crate) fn of(card: Device, ring: &'a HostRing, tables: Vec<Arc<Table>>) -> Self {
        Self { ring, card, tables }
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &'a HostRing {
        self.ring
    }
    pub(crate) fn card(&self) -> &Device {
        &self.card
    }
    /// What kernels read of a prime of the ring.
    pub(crate) fn table(&self, prime: usize) -> &Table {
        &self.tables[prime]
    }
    /// Blocks that take a limb, a thread for each word.
    pub(crate) fn blocks(&self) -> u32 {
        self.ring.n() as u32 / THREADS
    }

    /// Runs a kernel of one thread for each word on a list of rows, one for each block `y`: parameters are the list and `more`. Nothing if
    /// it is empty.
    pub(crate) fn launch_rows(&self, kernel: &str, rows: &[Vec<u64>], more: &[u64]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let list = self.card.upload(&rows.concat())?;
        self.card.parts(rows.len()).try_for_each(|(start, count)| {
            let (at, grid) = (list.address(start * rows[0].len()), [self.blocks(), count, 1]);
            self.card.launch(kernel, grid, (THREADS, 0), &[&[at], more].concat())
        })
    }

    /// The parts of a list that each arithmetic serves, by the prime of each entry; parts may be empty.
    pub(crate) fn by_arithmetic<'b, T>(
        &self,
        list: &'b [T],
        prime: impl Fn(&T) -> usize,
    ) -> [(Arithmetic, Vec<&'b T>); 2] {
        Arithmetic::ALL.map(|arithmetic| {
            (arithmetic, list.iter().filter(|x| self.table(prime(x)).arithmetic == arithmetic).collect())
        })
    }
}
