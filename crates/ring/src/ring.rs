//! The ring Z[X]/(X^N + 1) modulo a chain of primes and a set of special primes, with everything precomputed.

use crate::arch::{self, Kernels};
use crate::automorphism::Automorphism;
use crate::basis::BaseConverter;
use crate::modulus::Modulus;
use crate::ntt::NttTable;
use crate::poly::{stride, Coeff, Eval, Poly, Representation};
use crate::pool::Pool;
use crate::process::Lock;
use crate::tally::Tally;
use crate::Error;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that the scratch pool of a ring may keep: four bootstraps side by side take 2 GB at N = 2^16. Where buffers have to be
/// mapped again and again, a bootstrap takes 5 % longer.
const POOL_BYTES: usize = 3 << 30;
/// Targets of a base conversion that share a pass over the sources; their rows stay in the last-level cache.
const GROUP: usize = 4;
/// Columns per task of the first half of a base conversion.
const COLUMNS: usize = 4096;

type Converters = HashMap<(Vec<usize>, Vec<usize>), Arc<BaseConverter>>;

/// A ring of degree N with its primes: `q` (the chain, bottom to top), then `p` (special). Prime `i` of the ring is
/// `q[i]`, or `p[i - q.len()]`. Work runs on the rayon pool that the caller stands in.
pub struct Ring {
    log_n: u32,
    tables: Vec<Arc<NttTable>>,
    q_count: usize,
    kernels: &'static Kernels,
    automorphisms: Arc<Lock<HashMap<u64, Arc<Automorphism>>>>,
    converters: Lock<Converters>,
    pool: Arc<Pool>,
}

impl Ring {
    /// Makes the ring with the kernels that `AGLET_BACKEND` or the CPU chooses.
    pub fn new(log_n: u32, q: &[u64], p: &[u64]) -> Result<Self, Error> {
        Self::with_kernels(log_n, q, p, arch::chosen()?)
    }

    /// Makes the ring with given kernels (scalar ones if a prime is too large for them).
    pub fn with_kernels(log_n: u32, q: &[u64], p: &[u64], kernels: &'static Kernels) -> Result<Self, Error> {
        let moduli = q.iter().chain(p).map(|&q| Modulus::new(q)).collect::<Result<Vec<_>, _>>()?;
        let kernels = kernels.for_moduli(&moduli);
        let tables = moduli.par_iter().map(|m| NttTable::new(*m, log_n, kernels).map(Arc::new));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            log_n,
            tables,
            q_count: q.len(),
            kernels,
            automorphisms: Arc::default(),
            converters: Lock::default(),
            pool: Pool::new(8 * stride(1 << log_n), POOL_BYTES),
        })
    }

    /// The ring over some primes of the chain, in the order given, and all special primes. Tables, automorphisms and the
    /// pool are shared.
    pub fn subset(&self, q: &[usize]) -> Self {
        let special = self.q_count..self.tables.len();
        Self {
            log_n: self.log_n,
            tables: q.iter().copied().chain(special).map(|i| self.tables[i].clone()).collect(),
            q_count: q.len(),
            kernels: self.kernels,
            automorphisms: self.automorphisms.clone(),
            converters: Lock::default(),
            pool: self.pool.clone(),
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
    /// The kernels in use.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    /// Prime `i` of the ring.
    pub fn modulus(&self, i: usize) -> &Modulus {
        self.tables[i].modulus()
    }
    /// Transform tables of prime `i` of the ring.
    pub fn table(&self, i: usize) -> &NttTable {
        &self.tables[i]
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

    /// A polynomial with arbitrary contents, to be overwritten.
    pub fn scratch<R: Representation>(&self, q_limbs: usize, p_limbs: usize) -> Result<Poly<R>, Error> {
        assert!(q_limbs <= self.q_count() && p_limbs <= self.p_count());
        Ok(Poly::from_buffer(self.pool.take((q_limbs + p_limbs) * stride(self.n()))?, self.n(), q_limbs, p_limbs))
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
        Poly::lasting(self.n(), q_limbs, p_limbs)
    }
    /// A copy of the first `q_limbs` limbs of the chain and all special limbs of `x`; secret if `x` is.
    pub fn copy<R: Representation>(&self, x: &Poly<R>, q_limbs: usize) -> Result<Poly<R>, Error> {
        assert!(q_limbs <= x.q_limbs());
        let out = self.scratch(q_limbs, x.p_limbs())?;
        let mut out = if x.is_secret() { out.secret() } else { out };
        let skipped = x.q_limbs() - q_limbs;
        out.par_limbs_mut().enumerate().for_each(|(i, limb)| {
            limb.copy_from_slice(x.limb(if i < q_limbs { i } else { i + skipped }));
        });
        Ok(out)
    }

    /// Calls `f(prime, limb index, limb)` for every limb, in parallel.
    pub fn for_limbs<R: Representation>(&self, x: &mut Poly<R>, f: impl Fn(usize, usize, &mut [u64]) + Sync + Send) {
        let q_limbs = x.q_limbs();
        x.par_limbs_mut().enumerate().for_each(|(i, limb)| f(self.prime_of(q_limbs, i), i, limb));
    }

    /// Signed small coefficients as residues of every prime of `out`, which is overwritten.
    pub fn lift(&self, coefficients: &[i64], mut out: Poly<Coeff>) -> Poly<Coeff> {
        assert_eq!(coefficients.len(), self.n());
        self.for_limbs(&mut out, |prime, _, limb| {
            let m = self.modulus(prime);
            limb.iter_mut().zip(coefficients).for_each(|(r, &c)| *r = m.reduce_i64(c));
        });
        out
    }

    /// Coefficients to values.
    pub fn to_eval(&self, mut x: Poly<Coeff>) -> Poly<Eval> {
        self.for_limbs(&mut x, |prime, _, limb| self.table(prime).forward(limb));
        x.reinterpret()
    }
    /// Values to coefficients.
    pub fn to_coeff(&self, mut x: Poly<Eval>) -> Poly<Coeff> {
        self.for_limbs(&mut x, |prime, _, limb| self.table(prime).inverse(limb));
        x.reinterpret()
    }

    /// `x += y` on the limbs of `x`; `y` may have more limbs of the chain.
    pub fn add_assign<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        self.zip_assign(x, y, |m, a, b| a.iter_mut().zip(b).for_each(|(a, &b)| *a = m.add(*a, b)));
    }
    /// `x -= y` on the limbs of `x`; `y` may have more limbs of the chain.
    pub fn sub_assign<R: Representation>(&self, x: &mut Poly<R>, y: &Poly<R>) {
        self.zip_assign(x, y, |m, a, b| a.iter_mut().zip(b).for_each(|(a, &b)| *a = m.sub(*a, b)));
    }
    /// `x = -x`.
    pub fn neg_assign<R: Representation>(&self, x: &mut Poly<R>) {
        self.for_limbs(x, |prime, _, limb| {
            let m = self.modulus(prime);
            limb.iter_mut().for_each(|a| *a = m.neg(*a));
        });
    }
    fn zip_assign<R: Representation>(
        &self,
        x: &mut Poly<R>,
        y: &Poly<R>,
        f: impl Fn(&Modulus, &mut [u64], &[u64]) + Sync + Send,
    ) {
        assert!(x.q_limbs() <= y.q_limbs() && x.p_limbs() <= y.p_limbs());
        let q_limbs = x.q_limbs();
        self.for_limbs(x, |prime, i, limb| {
            let j = if i < q_limbs { i } else { y.q_limbs() + i - q_limbs };
            f(self.modulus(prime), limb, y.limb(j));
        });
    }

    /// The permutation of X -> X^galois, made once.
    pub fn automorphism(&self, galois: u64) -> Arc<Automorphism> {
        let make = || Arc::new(Automorphism::new(galois, self.n(), self.kernels.width()));
        self.automorphisms.lock().entry(galois).or_insert_with(make).clone()
    }
    /// The conversion between two sets of primes of the ring, made once.
    pub fn converter(&self, sources: &[usize], targets: &[usize]) -> Arc<BaseConverter> {
        let moduli = |list: &[usize]| list.iter().map(|&i| *self.modulus(i)).collect::<Vec<_>>();
        let make = || Arc::new(BaseConverter::new(&moduli(sources), &moduli(targets), self.kernels));
        self.converters.lock().entry((sources.to_vec(), targets.to_vec())).or_insert_with(make).clone()
    }
    /// Converts rows (already times the source factors; they are used up) to rows of the targets, and calls
    /// `then(target, row)` for each while it is still in the cache. In parallel over groups of targets.
    pub fn convert(
        &self,
        converter: &BaseConverter,
        mut src: Vec<&mut [u64]>,
        mut dst: Vec<&mut [u64]>,
        then: impl Fn(usize, &mut [u64]) + Sync + Send,
    ) -> Result<(), Error> {
        Tally::conversion(self.n() as u64, src.len() as u64, dst.len() as u64).count();
        let mut v = self.pool.take(self.n())?;
        let mut tiles: Vec<Vec<&mut [u64]>> = (0..self.n().div_ceil(COLUMNS)).map(|_| Vec::new()).collect();
        for row in &mut src {
            row.chunks_mut(COLUMNS).zip(&mut tiles).for_each(|(chunk, tile)| tile.push(chunk));
        }
        tiles
            .into_par_iter()
            .zip(v.par_chunks_mut(COLUMNS))
            .for_each(|(mut rows, v)| self.kernels.balance(converter, &mut rows, v));

        let rows: Vec<&[u64]> = src.iter().map(|r| &**r).chain([&*v]).collect();
        let (count, threads) = (dst.len(), rayon::current_num_threads());
        let groups = (threads * count.div_ceil(GROUP * threads)).min(count);
        let mut tasks = Vec::with_capacity(groups);
        for g in (0..groups).rev() {
            // Kernels take targets in pairs.
            let first = g * count / groups;
            let first = if count >= 2 * groups { first / 2 * 2 } else { first };
            tasks.push((first, dst.split_off(first)));
        }
        tasks.into_par_iter().for_each(|(first, mut group)| {
            self.kernels.convert(converter, first, &rows, &mut group);
            group.into_iter().enumerate().for_each(|(i, row)| then(first + i, row));
        });
        Ok(())
    }
}
