//! Polynomials as matrices of residues: one limb of N words for each prime, the representation in the type.

use crate::demand::stride;
use crate::places::{Remote, Words};
use crate::pool::{Buffer, Fit, Pool};
use crate::Error;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::Arc;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// How the limbs of a [`Poly`] are to be read.
pub trait Representation: sealed::Sealed + Send + Sync + 'static {}

/// Coefficients, in natural order.
#[derive(Debug, Clone, Copy)]
pub struct Coeff;
/// Values at the odd powers of a 2N-th root of unity, in the order of [`NttTable`](crate::ntt::NttTable).
#[derive(Debug, Clone, Copy)]
pub struct Eval;
impl Representation for Coeff {}
impl Representation for Eval {}

/// A polynomial modulo X^N + 1 and a product of primes: `q_limbs` limbs modulo the first primes of the chain, then
/// `p_limbs` limbs modulo the first special primes. Residues are canonical.
///
/// Its words may be shared ([`Poly::shared`]); what shares its words is only read. They are on this machine, on the card of a
/// [`Backend`](crate::Backend), or at both places; secrets are on this machine alone.
pub struct Poly<R: Representation> {
    data: Arc<Words>,
    n: usize,
    q_limbs: usize,
    p_limbs: usize,
    representation: PhantomData<R>,
}

impl<R: Representation> Poly<R> {
    pub(crate) fn from_buffer(data: Buffer, n: usize, q_limbs: usize, p_limbs: usize) -> Self {
        debug_assert_eq!(data.len(), stride(n) * (q_limbs + p_limbs));
        let data = Arc::new(Words::of(data, q_limbs + p_limbs));
        Self { data, n, q_limbs, p_limbs, representation: PhantomData }
    }

    /// What is on a card alone: all limbs of it, of a ring of degree `n`.
    pub(crate) fn on_card(
        card: Arc<dyn Remote>,
        memory: (Arc<Pool>, Fit),
        (n, q_limbs, p_limbs): (usize, usize, usize),
    ) -> Self {
        let data = Arc::new(Words::remote(card, q_limbs + p_limbs, memory));
        Self { data, n, q_limbs, p_limbs, representation: PhantomData }
    }
    /// What a card has of its words, whose first limbs are its own.
    pub fn card(&self) -> Option<&Arc<dyn Remote>> {
        self.data.card()
    }
    /// Keeps what a card has of all its words ([`Poly::whole`]); of secrets nothing.
    pub fn put(&self, card: Arc<dyn Remote>) {
        self.data.put(card);
    }
    /// The polynomial with all limbs of its words, of which it may be a [`prefix`](Poly::prefix).
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { q_limbs: self.data.limbs() - self.p_limbs, ..self.shared() }
    }
    /// Has it on this machine.
    pub(crate) fn fetch(&self) -> Result<(), Error> {
        Self::fetch_all([self])
    }
    /// Has polynomials on this machine. Those that one card alone has come together, with one wait for up to 16 MB.
    ///
    /// # Errors
    /// Memory that cannot be had, [`Error::Device`] if the card fails: then none is here that was not before.
    pub fn fetch_all<'a>(of: impl IntoIterator<Item = &'a Self>) -> Result<(), Error>
    where
        R: 'a,
    {
        Words::fetch_all(of.into_iter().map(|x| (&*x.data, x.n)))
    }

    /// A polynomial outside every pool, for keys and what is read from files; zero.
    pub fn lasting(n: usize, q_limbs: usize, p_limbs: usize) -> Result<Self, Error> {
        Ok(Self::from_buffer(Pool::take_exact((q_limbs + p_limbs) * stride(n))?, n, q_limbs, p_limbs))
    }

    /// The same words read in the other representation; the caller has transformed them.
    pub(crate) fn reinterpret<S: Representation>(self) -> Poly<S> {
        let Self { data, n, q_limbs, p_limbs, .. } = self;
        Poly { data, n, q_limbs, p_limbs, representation: PhantomData }
    }

    /// The same polynomial on the same words, which are freed with the last that has them.
    pub(crate) fn shared(&self) -> Self {
        Self { data: self.data.clone(), ..*self }
    }

    /// The first limbs of the chain, on the same words. All of them stay in memory as long as a part does: for what is read and
    /// dropped soon, not for what is kept.
    pub fn prefix(&self, q_limbs: usize) -> Self {
        assert!(q_limbs <= self.q_limbs && (self.p_limbs == 0 || q_limbs == self.q_limbs));
        Self { q_limbs, ..self.shared() }
    }

    /// The words of its limbs, with what lies between them.
    fn data_mut(&mut self) -> &mut [u64] {
        let words = self.limbs() * stride(self.n);
        &mut self.buffer_mut()[..words]
    }

    /// Words of the buffer that it is in; none if it is on a card alone.
    pub(crate) fn buffer_words(&self) -> Option<usize> {
        self.data.buffer().map(Buffer::capacity)
    }

    fn buffer_mut(&mut self) -> &mut Buffer {
        Arc::get_mut(&mut self.data).expect("words that are shared are only read").here_mut()
    }
}

impl Poly<Coeff> {
    /// The same words as values: for callers that have transformed the limbs one by one.
    pub(crate) fn transformed(self) -> Poly<Eval> {
        self.reinterpret()
    }
}

impl<R: Representation> Poly<R> {
    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.n
    }
    /// Limbs modulo primes of the chain.
    pub fn q_limbs(&self) -> usize {
        self.q_limbs
    }
    /// Limbs modulo special primes.
    pub fn p_limbs(&self) -> usize {
        self.p_limbs
    }
    /// All limbs.
    pub fn limbs(&self) -> usize {
        self.q_limbs + self.p_limbs
    }
    /// Limb `i`: modulo prime `i` of the chain, or special prime `i - q_limbs`.
    pub(crate) fn limb(&self, i: usize) -> &[u64] {
        &self.data.here()[i * stride(self.n)..][..self.n]
    }
    /// Limb `i`, to write to.
    pub(crate) fn limb_mut(&mut self, i: usize) -> &mut [u64] {
        let n = self.n;
        &mut self.data_mut()[i * stride(n)..][..n]
    }
    /// The limb that is modulo the prime of limb `i` of a polynomial with `q_limbs` limbs of the chain, at most as many as here.
    pub(crate) fn limb_like(&self, q_limbs: usize, i: usize) -> &[u64] {
        self.limb(if i < q_limbs { i } else { self.q_limbs + i - q_limbs })
    }
    /// The limbs in order, to write to.
    pub(crate) fn limbs_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let n = self.n;
        self.data_mut().chunks_exact_mut(stride(n)).map(move |limb| &mut limb[..n])
    }
    /// The limbs in order, to write to in parallel.
    pub(crate) fn par_limbs_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [u64]> {
        let n = self.n;
        self.data_mut().par_chunks_exact_mut(stride(n)).map(move |limb| &mut limb[..n])
    }
    /// All words, with what lies between the limbs, to clear them.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        self.data_mut()
    }
    /// The same polynomial, wiped when dropped, as are copies of it.
    pub fn secret(mut self) -> Self {
        self.buffer_mut().keep_secret();
        self
    }
    /// Whether it is wiped when dropped.
    pub fn is_secret(&self) -> bool {
        self.data.is_secret()
    }
    /// Bytes of the limbs.
    pub fn byte_count(&self) -> usize {
        self.n * self.limbs() * 8
    }
}

impl<R: Representation> std::fmt::Debug for Poly<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Poly {{ n: {}, q_limbs: {}, p_limbs: {} }}", self.n, self.q_limbs, self.p_limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_shares_words_and_outlives_the_whole() {
        let mut whole: Poly<Eval> = Poly::lasting(8, 3, 0).unwrap();
        whole.limbs_mut().enumerate().for_each(|(i, limb)| limb.fill(i as u64));
        let mut part = whole.prefix(2);
        assert_eq!((part.q_limbs(), part.limbs(), part.byte_count()), (2, 2, 128));
        assert_eq!(part.limb(1).as_ptr(), whole.limb(1).as_ptr());
        drop(whole);
        assert_eq!(part.limbs_mut().map(|limb| limb[0]).collect::<Vec<_>>(), [0, 1]);
        part.words_mut().fill(7);
        assert!(part.limb(1).iter().all(|&w| w == 7));
    }
}
