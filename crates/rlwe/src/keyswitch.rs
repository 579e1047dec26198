//! Hybrid key switching with bit-balanced digits (Han and Ki, eprint 2019/688): keys, decomposition, product, and the
//! exact division by the special modulus.
//!
//! A switching key from `s'` to `s` holds for every digit `d` of the chain a pair `(b_d, a_d)` modulo QP with
//! `b_d + a_d s = e_d + P g_d s'`, where `g_d` is 1 modulo the primes of digit `d` and 0 modulo the others. A
//! polynomial `c` is decomposed into its centred residues modulo every digit, raised to QP; the product with the key
//! is `P c s'` plus noise, and dividing by P leaves `c s'`.

use crate::context::Context;
use crate::encrypt::{expand_uniform, noise};
use crate::error::Error;
use crate::params::Params;
use crate::secret::{KeyId, SecretKey};
use crate::wire::{primes, stored_uniform};
use aglet_ring::arch::{self, Form, KeyRow, ProductRow};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::basis::BaseConverter;
use aglet_ring::pack::packed_len;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Coeff, Eval, Poly, Ring};
use rayon::prelude::*;
use std::sync::Arc;

/// What a switching key is for and where it can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySwitchSpec {
    /// Limbs of the chain.
    pub q_limbs: usize,
    /// Special limbs.
    pub p_limbs: usize,
    /// The limbs of every digit, ascending.
    pub digits: Vec<Vec<usize>>,
}

impl KeySwitchSpec {
    /// The usual key for polynomials of up to `q_limbs` limbs: as few digits as the special primes allow, then as few
    /// special primes as these digits allow.
    pub fn balanced(params: &Params, q_limbs: usize) -> Result<Self, Error> {
        let p_limbs = params.special_limbs_for(q_limbs);
        Ok(Self { q_limbs, p_limbs, digits: params.digits(q_limbs, p_limbs)? })
    }

    /// From the main secret to the sparse one. The only key under the sparse secret: modulus `q0 p'`, one digit.
    pub fn to_sparse() -> Self {
        Self { q_limbs: 1, p_limbs: 1, digits: vec![vec![0]] }
    }

    /// From the sparse secret back, for polynomials that were raised from `q0` and so are one short digit; with or without a
    /// rotation and a plaintext ([`SwitchingKey::carrying`]).
    pub fn from_sparse(q_limbs: usize) -> Self {
        Self { q_limbs, p_limbs: 1, digits: vec![(0..q_limbs).collect()] }
    }

    /// Bytes of a key in memory.
    pub fn byte_count(&self, n: usize) -> usize {
        2 * self.digits.len() * (self.q_limbs + self.p_limbs) * n * 8
    }

    /// The part of it that serves `q_limbs` limbs of the chain.
    #[must_use]
    pub fn cut(&self, q_limbs: usize) -> Self {
        Self { q_limbs, p_limbs: self.p_limbs, digits: self.digits_for(q_limbs) }
    }

    /// Bytes of a key that is stored: a seed, and the halves that are not uniform, packed.
    pub fn stored_bytes(&self, params: &Params) -> Result<usize, Error> {
        let limbs = primes(params, self.q_limbs, self.p_limbs)?;
        Ok(32 + self.digits.len() * limbs.iter().map(|(_, m)| packed_len(m, params.n())).sum::<usize>())
    }

    /// The shape of [`SwitchingKey::for_subset`].
    pub fn for_subset(&self, made_for: &Params, subset: &Params) -> SubsetSpec {
        let (whole, limbs) = (made_for.prime_indices(), subset.prime_indices());
        let place = |l: &usize| whole.iter().position(|w| w == l).filter(|&i| i < self.q_limbs);
        let from: Vec<usize> = limbs.iter().map_while(place).collect();
        let inside = |d: &Vec<usize>| (0..from.len()).filter(|&i| d.contains(&from[i])).collect::<Vec<_>>();
        let digits: Vec<Vec<usize>> = self.digits.iter().map(inside).collect();
        let mut order: Vec<usize> = (0..digits.len()).filter(|&d| !digits[d].is_empty()).collect();
        // A low level has the first digits only: they begin with the lowest limbs.
        order.sort_by_key(|&d| digits[d][0]);
        let digits = order.iter().map(|&d| digits[d].clone()).collect();
        SubsetSpec { spec: Self { q_limbs: from.len(), p_limbs: self.p_limbs, digits }, limbs: from, digits: order }
    }

    /// The digits of a polynomial with fewer limbs.
    fn digits_for(&self, q_limbs: usize) -> Vec<Vec<usize>> {
        let cut = |d: &Vec<usize>| d.iter().copied().filter(|&i| i < q_limbs).collect::<Vec<_>>();
        self.digits.iter().map(cut).filter(|d| !d.is_empty()).collect()
    }
}

/// What is left of a key's shape on a subset of its primes.
pub struct SubsetSpec {
    /// The shape.
    pub spec: KeySwitchSpec,
    /// For each of its limbs that of the key.
    pub limbs: Vec<usize>,
    /// For each of its digits that of the key.
    pub digits: Vec<usize>,
}

/// A switching key in its expanded form. Clones of it, and its subsets, share the words.
#[derive(Clone)]
pub struct SwitchingKey {
    id: KeyId,
    spec: KeySwitchSpec,
    /// Where the limbs of `spec` stand in `halves`.
    rows: Vec<usize>,
    /// Which digits of `halves` those of `spec` are.
    digits: Vec<usize>,
    halves: Arc<Halves>,
}

/// The words of a key, as it was made.
struct Halves {
    /// The uniform halves, as a seed.
    seed: [u8; 32],
    b: Vec<Poly<Eval>>,
    a: Vec<Poly<Eval>>,
    stored_bytes: usize,
}

impl SwitchingKey {
    /// Makes the key from `source_secret` (values at every prime, not stored) to `sk`.
    fn switching(
        ctx: &Context,
        spec: KeySwitchSpec,
        source_secret: &Poly<Eval>,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (q_limbs, p_limbs, digits) = (spec.q_limbs, spec.p_limbs, spec.digits.clone());
        Self::generate(ctx, spec, sk, random, |d, i| {
            let inside = i < q_limbs && digits[d].contains(&i);
            inside.then(|| (source_secret.limb(i), ctx.special(p_limbs, i)))
        })
    }

    /// Makes the key of which digit `d` encrypts under `sk`, modulo the prime of limb `i`, the product of the limb and the
    /// factor that `contents(d, i)` gives; zero for `None`.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] for a key under the sparse secret of another shape than [`KeySwitchSpec::to_sparse`].
    fn generate<'a>(
        ctx: &Context,
        spec: KeySwitchSpec,
        sk: &SecretKey,
        random: &mut ChaChaSource,
        contents: impl Fn(usize, usize) -> Option<(&'a [u64], u64)> + Sync,
    ) -> Result<Self, Error> {
        sk.may_appear(spec.q_limbs, spec.p_limbs)?;
        let most = ctx.params().special_limbs_within(spec.q_limbs);
        if spec.p_limbs > most {
            return Err(Error::bad_parameters(format!(
                "a key over {} limbs of Q may have {most} special primes within max_log_qp, not {}",
                spec.q_limbs, spec.p_limbs
            )));
        }
        let (ring, seed) = (ctx.ring(), random.public_seed());
        let (mut b, mut a) = (Vec::new(), Vec::new());
        for d in 0..spec.digits.len() {
            let mut a_d: Poly<Eval> = ring.lasting(spec.q_limbs, spec.p_limbs)?;
            expand_uniform(ctx, &seed, d, &mut a_d);
            let e = noise(ctx, random, spec.q_limbs, spec.p_limbs)?;
            let mut b_d = ring.lasting(spec.q_limbs, spec.p_limbs)?;
            ring.for_limbs(&mut b_d, |prime, i, limb| {
                let m = ring.modulus(prime);
                // b = e - a s [+ contents]: the form gives a s [- contents] - e up to sign. `sk` has all limbs.
                let mut terms = vec![(e.limb(i), m.neg(1))];
                terms.extend(contents(d, i).map(|(x, factor)| (x, m.neg(factor))));
                let form = Form {
                    products: vec![(a_d.limb(i), sk.eval().limb(prime))],
                    terms,
                    factor: Some(m.neg(1)),
                    ..Form::default()
                };
                ring.kernels().form(m, &form, limb);
            });
            b.push(b_d);
            a.push(a_d);
        }
        let rows = (0..spec.q_limbs + spec.p_limbs).collect();
        let digits = (0..spec.digits.len()).collect();
        let stored_bytes = spec.stored_bytes(ctx.params())?;
        Ok(Self { id: sk.id(), spec, rows, digits, halves: Arc::new(Halves { seed, b, a, stored_bytes }) })
    }

    /// The relinearisation key: from `s^2` to `s`.
    pub fn relinearisation(
        ctx: &Context,
        spec: KeySwitchSpec,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let mut square = ring.secret_scratch(ring.q_count(), ring.p_count())?;
        ring.for_limbs(&mut square, |prime, i, limb| {
            let form = Form { products: vec![(sk.eval().limb(i), sk.eval().limb(i))], ..Form::default() };
            ring.kernels().form(ring.modulus(prime), &form, limb);
        });
        Self::switching(ctx, spec, &square, sk, random)
    }

    /// The key that returns `phi(c)` to `s` for the automorphism X -> X^galois: from `phi(s)` to `s`.
    pub fn galois(
        ctx: &Context,
        spec: KeySwitchSpec,
        galois: u64,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, phi) = (ctx.ring(), ctx.ring().automorphism(galois));
        let mut image = ring.secret_scratch(ring.q_count(), ring.p_count())?;
        ring.for_limbs(&mut image, |_, i, limb| phi.apply(sk.eval().limb(i), limb));
        Self::switching(ctx, spec, &image, sk, random)
    }

    /// From one secret key to another.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] if `to` is the sparse secret and `spec` not [`KeySwitchSpec::to_sparse`].
    pub fn between(
        ctx: &Context,
        spec: KeySwitchSpec,
        from: &SecretKey,
        to: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        Self::switching(ctx, spec, from.eval(), to, random)
    }

    /// A key of one digit that rotates, multiplies by a plaintext and switches at once: the product of `phi(c)` with it,
    /// divided by P, is `phi(c) plain / P` from `phi(from)` to `to`. `plain` has the limbs of `spec`; its scale contains P.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] if `to` is the sparse secret.
    pub fn carrying(
        ctx: &Context,
        spec: KeySwitchSpec,
        plain: &Poly<Eval>,
        galois: u64,
        (from, to): (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, phi) = (ctx.ring(), ctx.ring().automorphism(galois));
        let mut image: Poly<Eval> = ring.secret_scratch(spec.q_limbs, spec.p_limbs)?;
        ring.for_limbs(&mut image, |prime, _, limb| phi.apply(from.eval().limb(prime), limb));
        let mut product: Poly<Eval> = ring.secret_scratch(spec.q_limbs, spec.p_limbs)?;
        ring.for_limbs(&mut product, |prime, i, limb| {
            let form = Form { products: vec![(plain.limb(i), image.limb(i))], ..Form::default() };
            ring.kernels().form(ring.modulus(prime), &form, limb);
        });
        Self::generate(ctx, spec, to, random, |_, i| Some((product.limb(i), 1)))
    }

    /// What is stored of it: the seed of the uniform halves, and the other half of every digit.
    pub fn stored(&self) -> (&[u8; 32], &[Poly<Eval>]) {
        (&self.halves.seed, &self.halves.b)
    }
    /// The key of which this was stored.
    ///
    /// # Errors
    /// [`Error::Stored`] if the halves do not have the shape of `spec`; memory that cannot be had.
    pub fn from_stored(
        params: &Params,
        id: KeyId,
        spec: KeySwitchSpec,
        seed: [u8; 32],
        b: Vec<Poly<Eval>>,
    ) -> Result<Self, Error> {
        let fits = |p: &Poly<Eval>| (p.q_limbs(), p.p_limbs()) == (spec.q_limbs, spec.p_limbs);
        if b.len() != spec.digits.len() || !b.iter().all(fits) {
            return Err(Error::Stored { what: "switching key has another shape than its parameters give it" });
        }
        let a = b.iter().enumerate().map(|(d, b_d)| stored_uniform(params, &seed, d, b_d)).collect::<Result<_, _>>()?;
        let rows = (0..spec.q_limbs + spec.p_limbs).collect();
        let digits = (0..spec.digits.len()).collect();
        let stored_bytes = spec.stored_bytes(params)?;
        Ok(Self { id, spec, rows, digits, halves: Arc::new(Halves { seed, b, a, stored_bytes }) })
    }

    /// The name of the secret key that it switches to.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Where it can be used.
    pub fn spec(&self) -> &KeySwitchSpec {
        &self.spec
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.halves.b.iter().chain(&self.halves.a).map(Poly::byte_count).sum()
    }
    /// Bytes when stored: the uniform halves are one seed, the others packed.
    pub fn stored_bytes(&self) -> usize {
        self.halves.stored_bytes
    }

    /// The limbs that a kernel needs at limb `i` of a polynomial with `q_limbs` limbs of the chain.
    pub fn row<'a>(
        &'a self,
        q_limbs: usize,
        i: usize,
        digits: usize,
        automorphism: Option<&'a Automorphism>,
    ) -> KeyRow<'a> {
        let at = self.rows[if i < q_limbs { i } else { self.spec.q_limbs + i - q_limbs }];
        let limbs = |polys: &'a [Poly<Eval>]| self.digits[..digits].iter().map(|&d| polys[d].limb(at)).collect();
        KeyRow { automorphism, b: limbs(&self.halves.b), a: limbs(&self.halves.a) }
    }

    /// The same key for a subset of the parameters that it was made for (which may be a subset itself): it serves as many limbs
    /// of the subset, from the bottom up, as it has. A key is good modulo each prime on its own, so limbs may be left out.
    pub fn for_subset(&self, made_for: &Params, subset: &Params) -> Self {
        let SubsetSpec { spec, limbs, digits } = self.spec.for_subset(made_for, subset);
        let special = self.spec.q_limbs..self.spec.q_limbs + self.spec.p_limbs;
        Self {
            id: self.id,
            rows: limbs.into_iter().chain(special).map(|i| self.rows[i]).collect(),
            digits: digits.into_iter().map(|d| self.digits[d]).collect(),
            spec,
            halves: self.halves.clone(),
        }
    }
}

impl std::fmt::Debug for SwitchingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SwitchingKey {{ id: {}, spec: {:?} }}", self.id, self.spec)
    }
}

/// The digits of a polynomial, raised to its limbs of the chain and `p_limbs` special ones, as values: the part of a key
/// switch that rotations of one ciphertext share (hoisting).
pub struct Digits {
    /// One polynomial for each digit.
    pub polys: Vec<Poly<Eval>>,
}

impl Digits {
    /// Decomposes `c` (no special limbs) for keys of this shape.
    pub fn new(ctx: &Context, spec: &KeySwitchSpec, c: &Poly<Eval>) -> Result<Self, Error> {
        let (ring, q_limbs) = (ctx.ring(), c.q_limbs());
        let digits = spec.digits_for(q_limbs);
        let limbs = q_limbs + spec.p_limbs;
        let plans: Vec<_> = digits
            .iter()
            .map(|own| {
                let targets: Vec<usize> =
                    (0..limbs).filter(|i| !own.contains(i)).map(|i| ring.prime_of(q_limbs, i)).collect();
                ring.converter(own, &targets)
            })
            .collect();
        let mut raised: Vec<Poly<Coeff>> =
            digits.iter().map(|_| ring.scratch(q_limbs, spec.p_limbs)).collect::<Result<_, _>>()?;
        let mut y: Poly<Coeff> = ring.scratch(q_limbs, 0)?;
        // For every limb of `c` the digit that it is of, its place in it, and its row there; for every digit the other rows.
        let mut own_rows: Vec<Option<(usize, usize, &mut [u64])>> = (0..q_limbs).map(|_| None).collect();
        let mut other_rows: Vec<Vec<&mut [u64]>> = Vec::with_capacity(digits.len());
        for (d, (own, out)) in digits.iter().zip(&mut raised).enumerate() {
            let mut others = Vec::with_capacity(limbs);
            for (i, row) in out.limbs_mut().enumerate() {
                match own.iter().position(|&l| l == i) {
                    Some(k) => own_rows[i] = Some((d, k, row)),
                    None => others.push(row),
                }
            }
            other_rows.push(others);
        }
        y.par_limbs_mut().zip(own_rows).enumerate().for_each(|(i, (limb, own))| {
            let Some((d, k, row)) = own else { return };
            // Coefficients, times what the conversion of their digit wants. The digit modulo its own primes is `c` itself,
            // which is in the cache now.
            ring.table(i).inverse_scaled_to(c.limb(i), limb, plans[d].source_factors()[k]);
            row.copy_from_slice(c.limb(i));
        });
        for ((own, plan), rows) in digits.iter().zip(&plans).zip(other_rows) {
            let tables: Vec<_> =
                (0..limbs).filter(|i| !own.contains(i)).map(|i| ring.table(ring.prime_of(q_limbs, i))).collect();
            let sources = y.limbs_mut().enumerate().filter(|(i, _)| own.contains(i)).map(|(_, row)| row);
            ring.convert(plan, sources.collect(), rows, |t, row| tables[t].forward(row))?;
        }
        let polys = raised.into_iter().map(Poly::transformed).collect();
        Ok(Self { polys })
    }

    /// A polynomial that is one short digit already: its coefficients, centred, at all limbs of a key.
    pub fn single(poly: Poly<Eval>) -> Self {
        Self { polys: vec![poly] }
    }

    /// `sum_d phi(digit_d) (b_d, a_d) + (phi(rotated), 0) + plain`, modulo QP. Addends without special limbs vanish there.
    pub fn product(
        &self,
        ctx: &Context,
        key: &SwitchingKey,
        automorphism: Option<&Automorphism>,
        rotated: Option<&Poly<Eval>>,
        plain: Option<(&Poly<Eval>, &Poly<Eval>)>,
    ) -> Result<Pair, Error> {
        let mut out = [pair(ctx, &self.polys[0])?];
        products_to(ctx, key, automorphism, &[Switched { digits: self, rotated, plain }], &mut out);
        let [out] = out;
        Ok(out)
    }
}

/// What goes into a product with a key, and what is added to it. Addends without special limbs vanish there.
#[derive(Clone, Copy)]
pub struct Switched<'a> {
    /// The digits of a polynomial.
    pub digits: &'a Digits,
    /// Goes through the automorphism and onto the first half.
    pub rotated: Option<&'a Poly<Eval>>,
    /// Added to the two halves as they are.
    pub plain: Option<(&'a Poly<Eval>, &'a Poly<Eval>)>,
}

/// Both halves of a product with a key.
pub type Pair = (Poly<Eval>, Poly<Eval>);

/// [`Digits::product`] of several polynomials of one shape with one key, which is read once.
pub fn products(
    ctx: &Context,
    key: &SwitchingKey,
    automorphism: Option<&Automorphism>,
    of: &[Switched<'_>],
) -> Result<Vec<Pair>, Error> {
    let mut out = of.iter().map(|x| pair(ctx, &x.digits.polys[0])).collect::<Result<Vec<_>, _>>()?;
    products_to(ctx, key, automorphism, of, &mut out);
    Ok(out)
}

fn products_to(
    ctx: &Context,
    key: &SwitchingKey,
    automorphism: Option<&Automorphism>,
    of: &[Switched<'_>],
    out: &mut [Pair],
) {
    let Some(first) = of.first() else { return };
    let (ring, q_limbs, count) = (ctx.ring(), first.digits.polys[0].q_limbs(), first.digits.polys.len());
    by_limb(out).into_par_iter().enumerate().for_each(|(i, mut out)| {
        let inputs = of.iter().map(|x| ProductRow {
            digits: x.digits.polys.iter().map(|p| p.limb(i)).collect(),
            rotated: x.rotated.filter(|x| i < x.limbs()).map(|x| x.limb(i)),
            plain: x.plain.filter(|(x, _)| i < x.limbs()).map(|(x, y)| (x.limb(i), y.limb(i))),
        });
        let (m, key) = (ring.modulus(ring.prime_of(q_limbs, i)), key.row(q_limbs, i, count, automorphism));
        ring.kernels().key_product(m, &inputs.collect::<Vec<_>>(), &key, &mut out);
    });
}

/// `sum_i phi_i(c) (b_i, a_i)` modulo QP of several `c`, each one short digit, for keys of one digit, which are read once.
pub fn rotated_sums(
    ctx: &Context,
    of: &[Poly<Eval>],
    keys: &[(&SwitchingKey, Arc<Automorphism>)],
) -> Result<Vec<Pair>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    let (ring, q_limbs) = (ctx.ring(), first.q_limbs());
    let mut out = of.iter().map(|c| pair(ctx, c)).collect::<Result<Vec<_>, _>>()?;
    by_limb(&mut out).into_par_iter().enumerate().for_each(|(i, mut out)| {
        let rows: Vec<KeyRow<'_>> = keys.iter().map(|(key, phi)| key.row(q_limbs, i, 1, Some(phi))).collect();
        let limbs: Vec<&[u64]> = of.iter().map(|c| c.limb(i)).collect();
        ring.kernels().rotated_sum(ring.modulus(ring.prime_of(q_limbs, i)), &limbs, &rows, &mut out);
    });
    Ok(out)
}

/// Scratch for a pair with the limbs of `shape`.
pub fn pair(ctx: &Context, shape: &Poly<Eval>) -> Result<Pair, Error> {
    let scratch = || ctx.ring().scratch(shape.q_limbs(), shape.p_limbs());
    Ok((scratch()?, scratch()?))
}

/// The limbs of pairs, all of a limb together.
pub fn by_limb(pairs: &mut [Pair]) -> Vec<Vec<arch::Halves<'_>>> {
    let mut limbs: Vec<Vec<arch::Halves<'_>>> = Vec::new();
    for (b, a) in pairs {
        limbs.resize_with(b.limbs(), Vec::new);
        b.limbs_mut().zip(a.limbs_mut()).zip(&mut limbs).for_each(|(pair, limb)| limb.push(pair));
    }
    limbs
}

/// `P x` for the first `p_limbs` special primes: zero at the special limbs, so those are left out.
pub fn lift_by_special(ctx: &Context, x: &Poly<Eval>, p_limbs: usize) -> Result<Poly<Eval>, Error> {
    let ring = ctx.ring();
    let mut out = ring.scratch(x.q_limbs(), 0)?;
    ring.for_limbs(&mut out, |prime, i, limb| {
        let form = Form { terms: vec![(x.limb(i), ctx.special(p_limbs, prime))], ..Form::default() };
        ring.kernels().form(ring.modulus(prime), &form, limb);
    });
    Ok(out)
}

/// Divides by the product of all special limbs of `x` and its `drop` highest primes of the chain, rounding to the nearest
/// integer (up to the doubles of the base conversion: ties and neighbours of 1/2 within 2^-45).
pub fn divide(ctx: &Context, x: &Poly<Eval>, drop: usize) -> Result<Poly<Eval>, Error> {
    let (ring, q_limbs, p_limbs) = (ctx.ring(), x.q_limbs(), x.p_limbs());
    if drop >= q_limbs || drop + p_limbs == 0 {
        return Err(Error::Level { needed: drop, found: q_limbs - 1 });
    }
    let kept = q_limbs - drop;
    let sources: Vec<usize> = (kept..x.limbs()).map(|i| ring.prime_of(q_limbs, i)).collect();
    let targets: Vec<usize> = (0..kept).collect();
    let plan = ring.converter(&sources, &targets);
    // Only a container of rows: its primes are the sources. In a short chain there are more of them than limbs of Q.
    let rows = sources.len().min(ring.q_count());
    let mut tail: Poly<Coeff> = ring.scratch(rows, sources.len() - rows)?;
    tail.par_limbs_mut().enumerate().for_each(|(i, limb)| {
        ring.table(sources[i]).inverse_scaled_to(x.limb(kept + i), limb, plan.source_factors()[i]);
    });
    quotient(ring, (&plan, &sources), &mut tail, x, kept)
}

/// `(x - y) / Q` on the first `limbs` primes of the ring, where `y` is `x` modulo `Q`, the product of the sources of the plan,
/// in coefficients that are times its source factors already.
pub(crate) fn quotient(
    ring: &Ring,
    (plan, sources): (&BaseConverter, &[usize]),
    y: &mut Poly<Coeff>,
    x: &Poly<Eval>,
    limbs: usize,
) -> Result<Poly<Eval>, Error> {
    let mut out: Poly<Coeff> = ring.scratch(limbs, 0)?;
    ring.convert(plan, y.limbs_mut().collect(), out.limbs_mut().collect(), |i, limb| {
        let m = ring.modulus(i);
        ring.table(i).forward(limb);
        let divisor = sources.iter().fold(1, |d, &s| m.mul(d, m.reduce(ring.modulus(s).value())));
        ring.kernels().rsub_mul(m, limb, x.limb(i), m.inv(divisor));
    })?;
    Ok(out.transformed())
}

#[cfg(test)]
#[path = "tests/keyswitch.rs"]
mod tests;
