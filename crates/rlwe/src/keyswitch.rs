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
use aglet_ring::pack::packed_len;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, Eval, Form, KeyBlock, Multiplier, Poly};

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
    words: KeyBlock,
    /// The uniform halves, as a seed.
    seed: [u8; 32],
    /// Of the key as it was made.
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
        let ring = ctx.ring();
        let special = ring.special_product(spec.p_limbs);
        // Minus P modulo the primes of the digit, 0 modulo the others.
        let residue = |digit: &[usize], i| if digit.contains(&i) { ring.modulus(i).neg(special[i]) } else { 0 };
        let limbs = 0..spec.q_limbs + spec.p_limbs;
        let minus: Vec<Vec<u64>> =
            spec.digits.iter().map(|digit| limbs.clone().map(|i| residue(digit, i)).collect()).collect();
        let minus: Vec<Multiplier<'_>> = minus.iter().map(|row| Multiplier::Residues(row)).collect();
        Self::generate(ctx, spec, source_secret, &minus, sk, random)
    }

    /// Makes the key of which digit `d` encrypts under `sk` the message times minus `minus[d]`.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] for a key under the sparse secret of another shape than [`KeySwitchSpec::to_sparse`].
    fn generate(
        ctx: &Context,
        spec: KeySwitchSpec,
        message: &Poly<Eval>,
        minus: &[Multiplier<'_>],
        sk: &SecretKey,
        random: &mut ChaChaSource,
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
        for (d, &minus) in minus.iter().enumerate() {
            let mut a_d: Poly<Eval> = ring.lasting(spec.q_limbs, spec.p_limbs)?;
            expand_uniform(ctx, &seed, d, &mut a_d);
            let e = noise(ctx, random, spec.q_limbs, spec.p_limbs)?;
            let b_d = ring.lasting(spec.q_limbs, spec.p_limbs)?;
            // b = -(a s - e + minus message).
            let form = Form {
                products: vec![(1, &a_d, sk.eval())],
                terms: vec![(Multiplier::integer(-1), &e), (minus, message)],
                factor: Some(Multiplier::integer(-1)),
                ..Form::default()
            };
            let mut halves = [b_d];
            ring.forms_to(&[form], &mut halves);
            b.extend(halves);
            a.push(a_d);
        }
        let stored_bytes = spec.stored_bytes(ctx.params())?;
        Ok(Self { id: sk.id(), spec, words: KeyBlock::new(b, a), seed, stored_bytes })
    }

    /// The relinearisation key: from `s^2` to `s`.
    pub fn relinearisation(
        ctx: &Context,
        spec: KeySwitchSpec,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let mut square = [ring.secret_scratch(ring.q_count(), ring.p_count())?];
        ring.forms_to(&[Form::product(sk.eval(), sk.eval())], &mut square);
        Self::switching(ctx, spec, &square[0], sk, random)
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
        ring.permute(sk.eval(), &phi, &mut image);
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
        ring.permute(from.eval(), &phi, &mut image);
        let mut product = [ring.secret_scratch(spec.q_limbs, spec.p_limbs)?];
        ring.forms_to(&[Form::product(plain, &image)], &mut product);
        Self::generate(ctx, spec, &product[0], &[Multiplier::integer(-1)], to, random)
    }

    /// What is stored of it: the seed of the uniform halves, and the other half of every digit.
    pub fn stored(&self) -> (&[u8; 32], &[Poly<Eval>]) {
        (&self.seed, self.words.halves()[0])
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
        let stored_bytes = spec.stored_bytes(params)?;
        Ok(Self { id, spec, words: KeyBlock::new(b, a), seed, stored_bytes })
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
        self.words.byte_count()
    }
    /// Bytes when stored: the uniform halves are one seed, the others packed.
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }

    /// Its words, as products read them.
    pub fn words(&self) -> &KeyBlock {
        &self.words
    }

    /// The same key for a subset of the parameters that it was made for (which may be a subset itself): it serves as many limbs
    /// of the subset, from the bottom up, as it has. A key is good modulo each prime on its own, so limbs may be left out.
    pub fn for_subset(&self, made_for: &Params, subset: &Params) -> Self {
        let SubsetSpec { spec, limbs, digits } = self.spec.for_subset(made_for, subset);
        Self { words: self.words.part(&limbs, &digits), spec, ..self.clone() }
    }
}

impl std::fmt::Debug for SwitchingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SwitchingKey {{ id: {}, spec: {:?} }}", self.id, self.spec)
    }
}

/// Cuts polynomials of one number of limbs (no special ones) into the digits of a key, raised to its limbs: the part of a key
/// switch that rotations of one ciphertext share (hoisting).
///
/// # Errors
/// Memory that cannot be had.
pub fn digits(ctx: &Context, spec: &KeySwitchSpec, of: &[&Poly<Eval>]) -> Result<Vec<Digits>, Error> {
    let Some(q_limbs) = of.first().map(|c| c.q_limbs()) else { return Ok(Vec::new()) };
    Ok(ctx.ring().digits(of, (q_limbs, spec.p_limbs), &spec.digits_for(q_limbs))?)
}

/// `P x` for the first `p_limbs` special primes: zero at the special limbs, so those are left out.
///
/// # Errors
/// Memory that cannot be had.
pub fn lift_by_special(ctx: &Context, of: &[&Poly<Eval>], p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(q_limbs) = of.first().map(|x| x.q_limbs()) else { return Ok(Vec::new()) };
    let special = Multiplier::Residues(ctx.ring().special_product(p_limbs));
    let forms: Vec<Form<'_>> = of.iter().map(|x| Form::multiple(special, x)).collect();
    Ok(ctx.ring().forms(&forms, q_limbs, 0)?)
}

/// Divides polynomials of one shape by the product of all their special limbs and their `drop` highest primes of the chain,
/// rounding to the nearest integer (up to the doubles of the base conversion: ties and neighbours of 1/2 within 2^-45).
///
/// # Errors
/// [`Error::Level`] if there is nothing to divide by, or nothing is left; memory that cannot be had.
pub fn divide(ctx: &Context, of: &[&Poly<Eval>], drop: usize) -> Result<Vec<Poly<Eval>>, Error> {
    let Some(first) = of.first() else { return Ok(Vec::new()) };
    let plan = ctx.ring().division(first.q_limbs(), first.p_limbs(), drop);
    let plan = plan.ok_or(Error::Level { needed: drop, found: first.q_limbs() - 1 })?;
    Ok(ctx.ring().divide(of, &plan)?)
}

#[cfg(test)]
#[path = "tests/keyswitch.rs"]
mod tests;
