//! Public keys, encryption and decryption.

use crate::context::Context;
use crate::error::Error;
use crate::keyswitch::divide;
use crate::params::Params;
use crate::sample::Sample;
use crate::secret::{KeyId, SecretKey};
use crate::wire::{expand_limb, stored_uniform};
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::{Eval, Form, Multiplier, Poly};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// An encryption of zero: `(b, a)` with `b = -a s + e` modulo the first primes of the chain and one special prime.
///
/// Encryption divides by the special prime at its end, which leaves the noise of one rounding instead of that of a product
/// of two small polynomials: 4 bits less at N = 2^16.
pub struct PublicKey {
    id: KeyId,
    /// The uniform half, as a seed.
    seed: [u8; 32],
    b: Poly<Eval>,
    a: Poly<Eval>,
}

/// Gaussian coefficients (sigma 3.2) at the first limbs of the chain and the first special ones, as values; secret.
pub(crate) fn noise(
    ctx: &Context,
    source: &mut ChaChaSource,
    q_limbs: usize,
    p_limbs: usize,
) -> Result<Poly<Eval>, Error> {
    let mut e = Zeroizing::new(vec![0i64; ctx.ring().n()]);
    sample::gaussian(source, &mut e);
    Ok(ctx.ring().to_eval(ctx.ring().lift_short(&e, ctx.ring().secret_scratch(q_limbs, p_limbs)?)))
}

/// Uniform values from a seed: limb `i` of part `part` has a stream of its own, so that limbs expand in parallel and
/// lower levels are prefixes.
pub(crate) fn expand_uniform(ctx: &Context, seed: &[u8; 32], part: usize, out: &mut Poly<Eval>) {
    let root = ChaChaSource::from_seed(*seed);
    let (ring, q_limbs) = (ctx.ring(), out.q_limbs());
    out.host_mut().par_iter().enumerate().for_each(|(i, row)| {
        let prime = ring.prime_of(q_limbs, i);
        expand_limb(&root, part, prime, ring.modulus(prime).value(), row);
    });
}

/// `out = x y + z`; operands may have more limbs than `out`.
fn product_and(
    ctx: &Context,
    x: &Poly<Eval>,
    y: &Poly<Eval>,
    z: Option<&Poly<Eval>>,
    out: &mut Poly<Eval>,
) -> Result<(), Error> {
    let terms = z.iter().map(|z| (Multiplier::integer(1), *z)).collect();
    Ok(ctx.ring().forms_to(&[Form { terms, ..Form::product(x, y) }], std::slice::from_mut(out))?)
}

impl PublicKey {
    /// Makes a public key for `sk` that encrypts to at most `q_limbs` limbs.
    pub fn generate(ctx: &Context, sk: &SecretKey, q_limbs: usize, source: &mut ChaChaSource) -> Result<Self, Error> {
        sk.may_appear(q_limbs, 1)?;
        let (ring, seed) = (ctx.ring(), source.public_seed());
        let mut a = ring.lasting(q_limbs, 1)?;
        expand_uniform(ctx, &seed, 0, &mut a);
        let e = noise(ctx, source, q_limbs, 1)?;
        let mut b = ring.lasting(q_limbs, 1)?;
        product_and(ctx, &a, sk.eval(), None, &mut b)?;
        ring.neg_assign(&mut b)?;
        ring.add_assign(&mut b, &e)?;
        Ok(Self { id: sk.id(), seed, b, a })
    }

    /// What is stored of it: the seed of its uniform half, and the other half.
    pub fn stored(&self) -> (&[u8; 32], &Poly<Eval>) {
        (&self.seed, &self.b)
    }
    /// The key of which this was stored.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn from_stored(params: &Params, id: KeyId, seed: [u8; 32], b: Poly<Eval>) -> Result<Self, Error> {
        let a = stored_uniform(params, &seed, 0, &b)?;
        Ok(Self { id, seed, b, a })
    }

    /// The name of the secret key that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.a.byte_count() + self.b.byte_count()
    }

    /// A sample of the phase `plain + noise`, with the limbs of `plain`.
    ///
    /// # Errors
    /// [`Error::Level`] for more limbs than the key has.
    pub fn encrypt(&self, ctx: &Context, plain: &Poly<Eval>, source: &mut ChaChaSource) -> Result<Sample, Error> {
        let (ring, limbs) = (ctx.ring(), plain.q_limbs());
        let mut v = Zeroizing::new(vec![0i8; ring.n()]);
        sample::ternary(source, &mut v);
        let wide = Zeroizing::new(v.iter().map(|&c| i64::from(c)).collect::<Vec<_>>());
        if limbs > self.b.q_limbs() {
            return Err(Error::Level { needed: limbs - 1, found: self.b.q_limbs() - 1 });
        }
        let v = ring.to_eval(ring.lift(&wide, ring.secret_scratch(limbs, 1)?));
        let (e0, e1) = (noise(ctx, source, limbs, 1)?, noise(ctx, source, limbs, 1)?);
        let (mut c0, mut c1) = (ring.scratch(limbs, 1)?, ring.scratch(limbs, 1)?);
        product_and(ctx, &v, &self.b, Some(&e0), &mut c0)?;
        product_and(ctx, &v, &self.a, Some(&e1), &mut c1)?;
        let mut polys = divide(ctx, &[&c0, &c1], 0)?;
        ring.add_assign(&mut polys[0], plain)?;
        Ok(Sample { polys, key: self.id })
    }
}

impl SecretKey {
    /// A sample of the phase `plain + noise`, with the limbs of `plain` and less noise than a public key gives.
    ///
    /// # Errors
    /// [`Error::SparseSecret`] for more limbs than the key may appear under.
    pub fn encrypt(&self, ctx: &Context, plain: &Poly<Eval>, source: &mut ChaChaSource) -> Result<Sample, Error> {
        let (ring, limbs) = (ctx.ring(), plain.q_limbs());
        self.may_appear(limbs, 0)?;
        let mut c1 = ring.scratch(limbs, 0)?;
        expand_uniform(ctx, &source.public_seed(), 0, &mut c1);
        let mut e = noise(ctx, source, limbs, 0)?;
        ring.add_assign(&mut e, plain)?;
        let mut c0 = ring.scratch(limbs, 0)?;
        product_and(ctx, &c1, self.eval(), None, &mut c0)?;
        ring.neg_assign(&mut c0)?;
        ring.add_assign(&mut c0, &e)?;
        Ok(Sample { polys: vec![c0, c1], key: self.id() })
    }

    /// The phase of a sample, with the noise in it: it is wiped when dropped.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a sample of another secret key.
    pub fn decrypt(&self, ctx: &Context, ct: &Sample) -> Result<Poly<Eval>, Error> {
        if ct.key != self.id() {
            return Err(Error::KeyMismatch { what: "secret key", found: self.id(), expected: ct.key });
        }
        Poly::fetch_all(&ct.polys)?;
        let ring = ctx.ring();
        let mut poly = ring.secret_scratch(ct.limbs(), 0)?;
        match &ct.polys[..] {
            [c0, c1] => product_and(ctx, c1, self.eval(), Some(c0), &mut poly)?,
            [c0, c1, c2] => {
                let mut inner = ring.secret_scratch(ct.limbs(), 0)?;
                product_and(ctx, c2, self.eval(), Some(c1), &mut inner)?;
                product_and(ctx, &inner, self.eval(), Some(c0), &mut poly)?;
            }
            _ => return Err(Error::Degree { degree: ct.degree() }),
        }
        Ok(poly)
    }
}
