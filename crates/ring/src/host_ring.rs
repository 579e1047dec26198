//! The ring Z[X]/(X^N + 1) modulo a chain of primes and a set of special primes, with everything precomputed, on this machine.

use crate::arch::Kernels;
use crate::automorphism::Automorphism;
use crate::demand::{buffer_words, stride};
use crate::modulus::Modulus;
use crate::ntt::NttTable;
use crate::places::Remote;
use crate::plans::Plans;
use crate::poly::{Eval, Poly, Representation};
use crate::pool::{Buffer, Fit, Pool};
use crate::process::Lock;
use crate::Error;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that the scratch pool of a ring may keep: four bootstraps side by side take 2 GB at N = 2^16. Where buffers have to be
/// mapped again and again, a bootstrap takes 5 % longer.
const POOL_BYTES: usize = 3 << 30;

/// Of a sum or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A sum.
    Plus,
    /// A difference.
    Minus,
}

/// A ring of degree N with its primes: `q` (the chain, bottom to top), then `p` (special). Prime `i` of the ring is
/// `q[i]`, or `p[i - q.len()]`. Work runs on the rayon pool that the caller stands in.
pub struct HostRing {
    log_n: u32,
    tables: Vec<Arc<NttTable>>,
    q_count: usize,
    /// Those that primes have if they serve them; larger primes have scalar ones.
    pub(crate) kernels: &'static Kernels,
    /// Of the kernels that any prime has.
    widths: Vec<usize>,
    /// For each number of special primes their product modulo every prime of the chain.
    special: Vec<Vec<u64>>,
    automorphisms: Arc<Lock<HashMap<u64, Arc<Automorphism>>>>,
    pub(crate) plans: Plans,
    pool: Arc<Pool>,
    fit: Fit,
}

impl HostRing {
    /// Makes the ring with given kernels (scalar ones for primes that are too large for them).
    pub fn with_kernels(log_n: u32, q: &[u64], p: &[u64], kernels: &'static Kernels) -> Result<Self, Error> {
        let moduli = q.iter().chain(p).map(|&q| Modulus::new(q)).collect::<Result<Vec<_>, _>>()?;
        let tables = moduli.par_iter().map(|m| NttTable::new(*m, log_n, kernels.for_modulus(m)).map(Arc::new));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let mut widths: Vec<usize> = tables.iter().map(|t| t.kernels().width()).collect();
        widths.sort_unstable();
        widths.dedup();
        Ok(Self {
            log_n,
            special: special_products(&moduli, q.len()),
            tables,
            q_count: q.len(),
            kernels,
            widths,
            automorphisms: Arc::default(),
            plans: Plans::default(),
            pool: Pool::new(buffer_words(1 << log_n, 1), POOL_BYTES),
            fit: Fit::Exact,
        })
    }

    /// The ring modulo one number that need not be prime, with a root of order 2n ([`NttTable::with_root`]): that of messages modulo
    /// the square of a prime. Its degree n is N or a smaller power of two: then it stands for the polynomials in X^(N/n). It has that one
    /// limb, no special one, and the kernels of this ring.
    ///
    /// # Errors
    /// Those of [`NttTable::with_root`].
    pub fn modulo(&self, modulus: Modulus, log_n: u32, root: u64) -> Result<Self, Error> {
        let table = NttTable::with_root(modulus, log_n, root, self.kernels.for_modulus(&modulus))?;
        Ok(Self {
            log_n,
            special: special_products(&[modulus], 1),
            widths: vec![table.kernels().width()],
            tables: vec![Arc::new(table)],
            q_count: 1,
            kernels: self.kernels,
            automorphisms: Arc::default(),
            plans: Plans::default(),
            pool: self.pool.clone(),
            fit: self.fit,
        })
    }

    /// The ring over some primes of the chain, in the order given, and all special primes. Tables, automorphisms and the
    /// pool are shared; `fit` says which buffers it takes from there.
    pub fn subset(&self, q: &[usize], fit: Fit) -> Self {
        let special = self.q_count..self.tables.len();
        Self {
            log_n: self.log_n,
            tables: q.iter().copied().chain(special).map(|i| self.tables[i].clone()).collect(),
            q_count: q.len(),
            kernels: self.kernels,
            widths: self.widths.clone(),
            special: self.special.iter().map(|row| q.iter().map(|&i| row[i]).collect()).collect(),
            automorphisms: self.automorphisms.clone(),
            plans: Plans::default(),
            pool: self.pool.clone(),
            fit,
        }
    }

    /// Base-2 logarithm of the degree.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }
    /// The degree N.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }
    /// Primes of the chain.
    pub fn q_count(&self) -> usize {
        self.q_count
    }
    /// Special primes.
    pub fn p_count(&self) -> usize {
        self.tables.len() - self.q_count
    }
    /// Prime `i` of the ring.
    pub fn modulus(&self, i: usize) -> &Modulus {
        self.tables[i].modulus()
    }
    /// Transform tables of prime `i` of the ring.
    pub(crate) fn table(&self, i: usize) -> &NttTable {
        &self.tables[i]
    }
    /// The 2N-th root of unity modulo prime `i` of the ring at whose odd powers polynomials take their values.
    pub fn psi(&self, i: usize) -> u64 {
        self.tables[i].psi()
    }
    /// The product of the first `p_limbs` special primes modulo every prime of the chain.
    pub fn special_product(&self, p_limbs: usize) -> &[u64] {
        &self.special[p_limbs]
    }
    /// The ring's prime of limb `limb` of a polynomial with `q_limbs` limbs of the chain.
    #[inline]
    pub fn prime_of(&self, q_limbs: usize, limb: usize) -> usize {
        if limb < q_limbs {
            limb
        } else {
            self.q_count + limb - q_limbs
        }
    }
    /// The scratch pool.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// A polynomial that is on a card alone: all limbs of what is there. A copy on this machine takes its memory from the pool.
    pub fn on_card<R: Representation>(&self, card: Arc<dyn Remote>, q_limbs: usize, p_limbs: usize) -> Poly<R> {
        Poly::on_card(card, (self.pool.clone(), self.fit), (self.n(), q_limbs, p_limbs))
    }
    /// Words with arbitrary contents.
    pub(crate) fn words(&self, len: usize) -> Result<Buffer, Error> {
        self.pool.take(len, self.fit)
    }
    /// A polynomial with arbitrary contents, to be overwritten.
    pub fn scratch<R: Representation>(&self, q_limbs: usize, p_limbs: usize) -> Result<Poly<R>, Error> {
        assert!(q_limbs <= self.q_count() && p_limbs <= self.p_count());
        Ok(Poly::from_buffer(self.words((q_limbs + p_limbs) * stride(self.n()))?, self.n(), q_limbs, p_limbs))
    }
    /// So many rows with arbitrary contents, whatever their primes will be.
    pub(crate) fn rows<R: Representation>(&self, count: usize) -> Result<Poly<R>, Error> {
        Ok(Poly::from_buffer(self.words(count * stride(self.n()))?, self.n(), count, 0))
    }
    /// Scratch that is wiped when dropped, for what depends on a secret key or gives it away.
    pub fn secret_scratch<R: Representation>(&self, q_limbs: usize, p_limbs: usize) -> Result<Poly<R>, Error> {
        Ok(self.scratch(q_limbs, p_limbs)?.secret())
    }
    /// The zero polynomial.
    pub fn zero<R: Representation>(&self, q_limbs: usize, p_limbs: usize) -> Result<Poly<R>, Error> {
        let mut x = self.scratch(q_limbs, p_limbs)?;
        x.words_mut().fill(0);
        Ok(x)
    }
    /// A polynomial outside the pool, for keys; zero.
    pub fn lasting<R: Representation>(&self, q_limbs: usize, p_limbs: usize) -> Result<Poly<R>, Error> {
        let words = self.pool.take_lasting((q_limbs + p_limbs) * stride(self.n()))?;
        Ok(Poly::from_buffer(words, self.n(), q_limbs, p_limbs))
    }
    /// A copy of the first `q_limbs` limbs of the chain and all special limbs of `x`; secret if `x` is.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn copy(&self, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, Error> {
        assert!(q_limbs <= x.q_limbs());
        x.fetch()?;
        let out = self.scratch(q_limbs, x.p_limbs())?;
        let mut out = if x.is_secret() { out.secret() } else { out };
        let skipped = x.q_limbs() - q_limbs;
        out.par_limbs_mut().enumerate().for_each(|(i, limb)| {
            limb.copy_from_slice(x.limb(if i < q_limbs { i } else { i + skipped }));
        });
        Ok(out)
    }

    /// Calls `f(prime, limb index, limb)` for every limb, in parallel.
    pub(crate) fn for_limbs<R: Representation>(
        &self,
        x: &mut Poly<R>,
        f: impl Fn(usize, usize, &mut [u64]) + Sync + Send,
    ) {
        let q_limbs = x.q_limbs();
        x.par_limbs_mut().enumerate().for_each(|(i, limb)| f(self.prime_of(q_limbs, i), i, limb));
    }

    /// `x += y` or `x -= y` on the limbs of `x`; `y` may have more limbs of the chain.
    ///
    /// # Errors
    /// Values that cannot be fetched.
    pub fn add_assign(&self, x: &mut Poly<Eval>, sign: Sign, y: &Poly<Eval>) -> Result<(), Error> {
        match sign {
            Sign::Plus => self.zip_assign(x, y, |m, a, b| a.iter_mut().zip(b).for_each(|(a, &b)| *a = m.add(*a, b))),
            Sign::Minus => self.zip_assign(x, y, |m, a, b| a.iter_mut().zip(b).for_each(|(a, &b)| *a = m.sub(*a, b))),
        }
    }
    /// `x = -x`, on this machine.
    ///
    /// # Errors
    /// Values that cannot be fetched.
    pub fn neg_assign(&self, x: &mut Poly<Eval>) -> Result<(), Error> {
        x.fetch()?;
        self.for_limbs(x, |prime, _, limb| {
            let m = self.modulus(prime);
            limb.iter_mut().for_each(|a| *a = m.neg(*a));
        });
        Ok(())
    }
    fn zip_assign(
        &self,
        x: &mut Poly<Eval>,
        y: &Poly<Eval>,
        f: impl Fn(&Modulus, &mut [u64], &[u64]) + Sync + Send,
    ) -> Result<(), Error> {
        assert!(x.q_limbs() <= y.q_limbs() && x.p_limbs() <= y.p_limbs());
        Poly::fetch_all([&*x, y])?;
        let q_limbs = x.q_limbs();
        self.for_limbs(x, |prime, i, limb| {
            let j = if i < q_limbs { i } else { y.q_limbs() + i - q_limbs };
            f(self.modulus(prime), limb, y.limb(j));
        });
        Ok(())
    }

    /// The permutation of X -> X^galois, made once.
    pub fn automorphism(&self, galois: u64) -> Arc<Automorphism> {
        let make = || Arc::new(Automorphism::new(galois, self.n(), &self.widths));
        self.automorphisms.lock().entry(galois).or_insert_with(make).clone()
    }
}

/// For each number of special primes, those after the first `q_count`, their product modulo each of these.
fn special_products(moduli: &[Modulus], q_count: usize) -> Vec<Vec<u64>> {
    let (chain, special) = moduli.split_at(q_count);
    let mut products = vec![vec![1; q_count]];
    for p in special {
        let last = &products[products.len() - 1];
        products.push(chain.iter().zip(last).map(|(m, &x)| m.mul(x, m.reduce(p.value()))).collect());
    }
    products
}
