//! Polynomials and keys in the memory of a device.

use crate::launcher::{Block, Device, Row};
use crate::{DeviceRing, Error};
use aglet_ring::places::Remote;
use aglet_ring::poly::{Eval, Representation};
use aglet_ring::{KeyBlock, PackedPoly, Poly};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// N words of a block: the residues of a polynomial modulo one prime.
#[derive(Clone)]
pub(crate) struct Limb {
    block: Arc<Block>,
    at: usize,
}

impl Limb {
    pub(crate) fn address(&self) -> u64 {
        self.block.address(self.at)
    }
    /// Its first words as they are asked of [`Device::read`].
    fn row<'a>(&self, row: &'a mut [u64]) -> Row<'a> {
        self.block.row(self.at, row)
    }
}

/// The limbs of a polynomial on a card.
pub(crate) struct Limbs {
    pub(crate) card: Device,
    pub(crate) limbs: Vec<Limb>,
}

impl Limbs {
    fn rows<'a>(&'a self, rows: Vec<&'a mut [u64]>) -> impl Iterator<Item = Row<'a>> {
        rows.into_iter().zip(&self.limbs).map(|(row, limb)| limb.row(row))
    }
}

impl Remote for Limbs {
    fn read(&self, rows: Vec<&mut [u64]>) -> Result<(), aglet_ring::Error> {
        Ok(self.card.read(self.rows(rows).collect())?)
    }
    fn read_all(&self, of: Vec<(&dyn Remote, Vec<&mut [u64]>)>) -> Result<(), aglet_ring::Error> {
        let mut all = Vec::new();
        for (x, rows) in of {
            match (x as &dyn Any).downcast_ref::<Self>().filter(|x| x.card.is(&self.card)) {
                Some(x) => all.extend(x.rows(rows)),
                None => x.read(rows)?,
            }
        }
        Ok(self.card.read(all)?)
    }
}

/// What a card has of diagonals or packed keys, and which card.
pub(crate) struct Kept<T> {
    pub(crate) card: Device,
    pub(crate) there: T,
}

/// A polynomial on a device, with the limbs of a [`Poly`]: canonical residues. A limb that several polynomials have, as digits and
/// parts of keys do, is there once; what is there is only read.
#[derive(Clone)]
pub struct DevicePoly<R: Representation> {
    limbs: Vec<Limb>,
    q_limbs: usize,
    representation: PhantomData<R>,
}

impl<R: Representation> DevicePoly<R> {
    /// Of limbs, the first `q_limbs` of them modulo primes of the chain.
    pub(crate) fn of(limbs: Vec<Limb>, q_limbs: usize) -> Self {
        Self { limbs, q_limbs, representation: PhantomData }
    }
    /// Limbs modulo primes of the chain.
    #[must_use]
    pub fn q_limbs(&self) -> usize {
        self.q_limbs
    }
    /// Limbs modulo special primes.
    #[must_use]
    pub fn p_limbs(&self) -> usize {
        self.limbs.len() - self.q_limbs
    }
    /// All limbs.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs.len()
    }
    pub(crate) fn into_limbs(self) -> Vec<Limb> {
        self.limbs
    }
    pub(crate) fn limb(&self, i: usize) -> &Limb {
        &self.limbs[i]
    }
    /// The address of limb `i`.
    pub(crate) fn address(&self, i: usize) -> u64 {
        self.limbs[i].address()
    }
    /// The address of the limb that is modulo the prime of limb `i` of a polynomial with `q_limbs` limbs of the chain.
    pub(crate) fn address_like(&self, q_limbs: usize, i: usize) -> u64 {
        self.address(if i < q_limbs { i } else { self.q_limbs + i - q_limbs })
    }
}

/// A key on a device: two polynomials for each digit, `b` and `a`.
#[derive(Clone)]
pub struct DeviceKey {
    halves: [Vec<DevicePoly<Eval>>; 2],
}

impl DeviceKey {
    /// Of all `b`, then all `a`.
    pub(crate) fn of(mut b: Vec<DevicePoly<Eval>>) -> Self {
        let a = b.split_off(b.len() / 2);
        Self { halves: [b, a] }
    }
    /// The part with these limbs of the chain, all special limbs, and these digits, each in the order given: on the same words.
    #[must_use]
    pub fn part(&self, limbs: &[usize], digits: &[usize]) -> Self {
        let part = |x: &DevicePoly<Eval>| {
            let places = limbs.iter().copied().chain(x.q_limbs..x.limbs());
            DevicePoly::of(places.map(|i| x.limbs[i].clone()).collect(), limbs.len())
        };
        Self { halves: [0, 1].map(|h| digits.iter().map(|&d| part(&self.halves[h][d])).collect()) }
    }
    /// Digits.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.halves[0].len()
    }
    /// The addresses of `b` and `a` of a digit where they meet limb `i` of a polynomial with `q_limbs` limbs of the chain.
    pub(crate) fn addresses(&self, digit: usize, q_limbs: usize, i: usize) -> [u64; 2] {
        [0, 1].map(|h| self.halves[h][digit].address_like(q_limbs, i))
    }
}

/// The rows of a polynomial on the host: this file alone opens the door to them.
pub(crate) fn host_rows<R: Representation>(x: &Poly<R>) -> Result<Vec<&[u64]>, Error> {
    Ok(x.host()?.iter().collect())
}

impl DeviceRing<'_> {
    /// Limbs that nobody has written, in one block.
    pub(crate) fn limbs(&self, count: usize) -> Result<Vec<Limb>, Error> {
        let n = self.ring().n();
        let block = Arc::new(self.card().allocate(count.max(1) * n)?);
        Ok((0..count).map(|i| Limb { block: block.clone(), at: i * n }).collect())
    }

    /// A copy of a polynomial on the device.
    ///
    /// # Errors
    /// [`Error::Secret`] for polynomials that are wiped when dropped; [`Error::Memory`].
    pub fn upload<R: Representation>(&self, x: &Poly<R>) -> Result<DevicePoly<R>, Error> {
        if x.is_secret() {
            return Err(Error::Secret);
        }
        let limbs = self.limbs(x.limbs())?;
        limbs.iter().zip(host_rows(x)?).try_for_each(|(limb, row)| limb.block.write(limb.at, row))?;
        Ok(DevicePoly::of(limbs, x.q_limbs()))
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// [`Error::Ring`] for memory that cannot be had, [`Error::Kernel`] if a kernel left a word unwritten.
    pub fn download<R: Representation>(&self, x: &DevicePoly<R>) -> Result<Poly<R>, Error> {
        let mut out = Poly::lasting(self.ring().n(), x.q_limbs(), x.p_limbs())?;
        self.card().read(out.host_mut().iter().zip(&x.limbs).map(|(row, limb)| limb.row(row)).collect())?;
        Ok(out)
    }

    /// A copy of a key on the device.
    ///
    /// # Errors
    /// As for [`DeviceRing::upload`].
    pub fn upload_key(&self, key: &KeyBlock) -> Result<DeviceKey, Error> {
        let [b, a] = key.halves();
        let half =
            |polys: &[PackedPoly]| polys.iter().map(|x| self.upload(&x.unpacked()?)).collect::<Result<Vec<_>, Error>>();
        Ok(DeviceKey { halves: [half(b)?, half(a)?] })
    }
}
