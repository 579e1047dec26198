//! Switching keys: encryptions of one secret under another, digit by digit.
//!
//! A switching key from `s'` to `s` holds for every digit `d` of the chain a pair `(b_d, a_d)` modulo QP with
//! `b_d + a_d s = e_d + P g_d s'`, `g_d` as the gadget says ([`KeySwitchSpec`]).

use crate::context::Context;
use crate::encrypt::{expand_uniform, noise};
use crate::error::Error;
use crate::fault::ChainFault;
use crate::gadget::{KeySwitchSpec, SubsetSpec};
use crate::params::Params;
use crate::secret::{KeyId, SecretKey};
use crate::wire::{primes, stored_uniform};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Eval, Form, KeyBlock, Modulus, Multiplier, PackedPoly, Poly};
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag of keys that nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The primes of the limbs of a key.
fn moduli(params: &Params, spec: &KeySwitchSpec) -> Result<Vec<Modulus>, Error> {
    Ok(primes(params, spec.q_limbs, spec.p_limbs)?.into_iter().map(|(_, m)| m).collect())
}

fn misshapen() -> Error {
    Error::Stored { what: "switching key has another shape than its parameters give it" }
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
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let special = ring.special_product(spec.p_limbs);
        // Minus P modulo the primes of the digit, 0 modulo the others.
        let residue = |digit: &[usize], i| if digit.contains(&i) { ring.modulus(i).neg(special[i]) } else { 0 };
        let limbs = 0..spec.q_limbs + spec.p_limbs;
        let minus: Vec<Vec<u64>> =
            spec.digits.iter().map(|digit| limbs.clone().map(|i| residue(digit, i)).collect()).collect();
        let minus: Vec<Multiplier<'_>> = minus.iter().map(|row| Multiplier::Residues(row)).collect();
        let samples: Vec<_> = minus.into_iter().map(|minus| (minus, source_secret)).collect();
        Self::generate(ctx, spec, &samples, sk, random, stop)
    }

    /// Makes the key of which every digit encrypts under `sk` a message times minus the multiplier beside it.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] for a key under the sparse secret of another shape than [`KeySwitchSpec::dense_to_sparse`].
    fn generate(
        ctx: &Context,
        spec: KeySwitchSpec,
        samples: &[(Multiplier<'_>, &Poly<Eval>)],
        sk: &SecretKey,
        random: &mut ChaChaSource,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        // Asked for once in every digit and half: long keys stop between two.
        let room = || match stop.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(ctx.ring().lasting(spec.q_limbs, spec.p_limbs)?),
        };
        Self::encrypting(ctx, spec.clone(), samples, sk, random, room)
    }

    /// Makes the key of which every digit encrypts under `sk` a message times minus the multiplier beside it, in words that `room` gives: for methods
    /// with keys of their own, whose messages are plaintexts or images of secrets ([`SecretKey::image`]).
    ///
    /// # Errors
    /// Those of `room`; [`Error::SparseSecret`] for a key under a sparse secret that may not appear so.
    pub fn encrypting(
        ctx: &Context,
        spec: KeySwitchSpec,
        samples: &[(Multiplier<'_>, &Poly<Eval>)],
        sk: &SecretKey,
        random: &mut ChaChaSource,
        room: impl Fn() -> Result<Poly<Eval>, Error>,
    ) -> Result<Self, Error> {
        sk.may_appear(spec.q_limbs, spec.p_limbs)?;
        let most = ctx.params().special_limbs_within(spec.q_limbs);
        if spec.p_limbs > most {
            return Err(ChainFault::LargeKey { q_limbs: spec.q_limbs, p_limbs: spec.p_limbs, most }.into());
        }
        let (ring, seed) = (ctx.ring(), random.public_seed());
        let primes = moduli(ctx.params(), &spec)?;
        let (mut b, mut a) = (Vec::new(), Vec::new());
        for (d, &(minus, message)) in samples.iter().enumerate() {
            let mut a_d = room()?;
            expand_uniform(ctx, &seed, d, &mut a_d);
            let e = noise(ctx, random, spec.q_limbs, spec.p_limbs)?;
            let b_d = room()?;
            // b = -(a s - e + minus message).
            let form = Form {
                products: vec![(1, &a_d, sk.eval())],
                terms: vec![(Multiplier::integer(-1), &e), (minus, message)],
                factor: Some(Multiplier::integer(-1)),
                ..Form::default()
            };
            let mut halves = [b_d];
            ring.forms_to(&[form], &mut halves)?;
            b.push(PackedPoly::new(&halves[0], &primes)?);
            a.push(PackedPoly::new(&a_d, &primes)?);
        }
        let stored_bytes = spec.stored_bytes(ctx.params())?;
        Ok(Self { id: sk.id(), spec, words: KeyBlock::new([b, a]), seed, stored_bytes })
    }

    /// The relinearization key: from `s^2` to `s`.
    pub fn relinearization(
        ctx: &Context,
        spec: KeySwitchSpec,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        Self::relinearization_until(ctx, spec, sk, random, &NEVER)
    }
    /// The same, until somebody sets the flag.
    ///
    /// # Errors
    /// [`Error::Cancelled`], then.
    pub fn relinearization_until(
        ctx: &Context,
        spec: KeySwitchSpec,
        sk: &SecretKey,
        random: &mut ChaChaSource,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let mut square = [ring.secret_scratch(ring.q_count(), ring.p_count())?];
        ring.forms_to(&[Form::product(sk.eval(), sk.eval())], &mut square)?;
        Self::switching(ctx, spec, &square[0], sk, random, stop)
    }

    /// The key that returns `phi(c)` to `s` for the automorphism X -> X^galois: from `phi(s)` to `s`.
    pub fn galois(
        ctx: &Context,
        spec: KeySwitchSpec,
        galois: u64,
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        Self::galois_until(ctx, spec, galois, sk, random, &NEVER)
    }
    /// The same, until somebody sets the flag.
    ///
    /// # Errors
    /// [`Error::Cancelled`], then.
    pub fn galois_until(
        ctx: &Context,
        spec: KeySwitchSpec,
        galois: u64,
        sk: &SecretKey,
        random: &mut ChaChaSource,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let (ring, phi) = (ctx.ring(), ctx.ring().automorphism(galois));
        let mut image = ring.secret_scratch(ring.q_count(), ring.p_count())?;
        ring.permute(sk.eval(), &phi, &mut image)?;
        Self::switching(ctx, spec, &image, sk, random, stop)
    }

    /// From one secret key to another.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] if `to` is the sparse secret and `spec` not [`KeySwitchSpec::dense_to_sparse`].
    pub fn between(
        ctx: &Context,
        spec: KeySwitchSpec,
        from: &SecretKey,
        to: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        Self::switching(ctx, spec, from.eval(), to, random, &NEVER)
    }

    /// A key of one digit that rotates, multiplies by a plaintext and switches at once: the product of `phi(c)` with it,
    /// divided by P, is `phi(c) plain / P` from `phi(from)` to `to`. `plain` has the limbs of `spec`; its scale contains P.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] if `to` is the sparse secret.
    pub fn weighted_galois(
        ctx: &Context,
        spec: KeySwitchSpec,
        plain: &Poly<Eval>,
        galois: u64,
        (from, to): (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, phi) = (ctx.ring(), ctx.ring().automorphism(galois));
        let mut image: Poly<Eval> = ring.secret_scratch(spec.q_limbs, spec.p_limbs)?;
        ring.permute(from.eval(), &phi, &mut image)?;
        let mut product = [ring.secret_scratch(spec.q_limbs, spec.p_limbs)?];
        ring.forms_to(&[Form::product(plain, &image)], &mut product)?;
        Self::generate(ctx, spec, &[(Multiplier::integer(-1), &product[0])], to, random, &NEVER)
    }

    /// What is stored of it: the seed of the uniform halves, and the other half of every digit.
    pub fn stored(&self) -> (&[u8; 32], &[PackedPoly]) {
        (&self.seed, self.words.halves()[0])
    }
    /// The key of which this was stored: its halves come one after the other.
    ///
    /// # Errors
    /// Those of the halves; [`Error::Stored`] if they do not have the shape of `spec`; memory that cannot be had.
    pub fn from_stored<E: From<Error>>(
        params: &Params,
        id: KeyId,
        spec: KeySwitchSpec,
        seed: [u8; 32],
        halves: impl IntoIterator<Item = Result<Poly<Eval>, E>>,
    ) -> Result<Self, E> {
        let primes = moduli(params, &spec)?;
        let (mut b, mut a) = (Vec::new(), Vec::new());
        for (d, b_d) in halves.into_iter().enumerate() {
            let b_d = b_d?;
            if (b_d.q_limbs(), b_d.p_limbs()) != (spec.q_limbs, spec.p_limbs) {
                return Err(misshapen().into());
            }
            let packed = |x: &Poly<Eval>| PackedPoly::new(x, &primes).map_err(Error::from);
            a.push(packed(&stored_uniform(params, &seed, d, &b_d)?)?);
            b.push(packed(&b_d)?);
        }
        if b.len() != spec.digits.len() {
            return Err(misshapen().into());
        }
        let stored_bytes = spec.stored_bytes(params)?;
        Ok(Self { id, spec, words: KeyBlock::new([b, a]), seed, stored_bytes })
    }

    /// All that it is made of: its words, its seed, and what files take of it.
    pub fn into_parts(self) -> (KeyId, KeySwitchSpec, KeyBlock, [u8; 32]) {
        (self.id, self.spec, self.words, self.seed)
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
    /// Bytes on a card.
    pub fn card_bytes(&self) -> usize {
        self.words.card_bytes()
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
