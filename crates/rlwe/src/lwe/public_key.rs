//! The compact public key: one RLWE sample of zero, by which who has no secret encrypts (eprint 2023/603, section 3).
//!
//! Its ring has the least degree d, a power of two, that holds all D coordinates of the secret; the secret in it is S, with zeros beyond D
//! (partial keys, eprint 2023/979). So each coefficient of an encryption is an LWE ciphertext under S itself, and meets no key
//! switch. An encryption of phases m is `(a r + e1, b r + e2 + m)` for a fresh short r of the law of the secret, for `b = a S + e`. Its
//! noise is `e r + e2 - e1 S`, see [`Noise::public`](super::Noise::public).
//!
//! Files hold 40 bits of a coefficient of b. The bits below are drawn from the seed, like a, so b is as uniform as RLWE makes it, up to
//! `2^(t + 11) / Q` for t such bits: rounding alone would leave a polynomial on a grid, and encryptions are LWE for a uniform one. What
//! this adds to e is in the formula, and far below what bootstraps leave.

use super::secret::{draw_errors, LweSecretKey};
use super::{LweCiphertext, LweContext, SharedMask};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::{draw, KeyId};
use crate::security::{self, Security};
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::small::SmallTable;
use std::sync::Arc;
use zeroize::Zeroizing;

/// `(a, b)` modulo Q: the seed of a, and both as values.
pub struct LwePublicKey {
    key: KeyId,
    seed: [u8; 32],
    a: Vec<u64>,
    b: Vec<u64>,
}

impl LwePublicKey {
    /// Makes the public key of a secret.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a set without public keys, or a secret of other parameters; those of the security gate.
    pub fn generate(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Result<Self, Error> {
        sk.fits(ctx)?;
        let (m, table) = (ctx.modulus(), secure(ctx)?);
        let seed = source.public_seed();
        let mut a = vec![0; table.n()];
        sample::uniform(&mut ChaChaSource::from_seed(seed), m.value(), &mut a);
        table.forward(&mut a);
        let mut secret = lifted(ctx, sk.coordinates(), table.n());
        table.forward(&mut secret);
        loop {
            let mut values = errors(ctx, source, table.n());
            table.forward(&mut values);
            for ((b, &a), &s) in values.iter_mut().zip(&a).zip(secret.iter()) {
                *b = m.add(*b, m.mul(a, s));
            }
            let mut b = Zeroizing::new(vec![0; table.n()]);
            table.inverse_add(&mut values, &mut b);
            let kept = b.iter().map(|b| b >> ctx.params().public_dropped()).collect();
            // Only with what lies on the last grid point below Q, one key in 2^29.
            if let Ok(key) = Self::from_stored(ctx, sk.id(), seed, kept) {
                return Ok(key);
            }
        }
    }

    /// The key of a seed and the upper bits of the coefficients of b, [`LweParams::public_dropped`](super::LweParams::public_dropped) fewer.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of coefficients, or some that are not below Q; those of [`LwePublicKey::generate`].
    pub fn from_stored(ctx: &LweContext, key: KeyId, seed: [u8; 32], mut b: Vec<u64>) -> Result<Self, Error> {
        let (table, dropped, q) = (secure(ctx)?, ctx.params().public_dropped(), ctx.modulus().value());
        let mut source = ChaChaSource::from_seed(seed);
        let (mut a, mut low) = (vec![0; table.n()], vec![0; table.n()]);
        sample::uniform(&mut source, q, &mut a);
        if dropped > 0 {
            sample::uniform(&mut source, 1 << dropped, &mut low);
        }
        let fits =
            b.len() == table.n() && b.iter().zip(&low).all(|(&b, low)| b <= q >> dropped && (b << dropped | low) < q);
        if !fits {
            return Err(Error::Stored { what: "public key has another polynomial than its parameters give it" });
        }
        b.iter_mut().zip(&low).for_each(|(b, low)| *b = *b << dropped | low);
        table.forward(&mut a);
        table.forward(&mut b);
        Ok(Self { key, seed, a, b })
    }

    /// What is stored of it: the seed, and the upper bits of the coefficients of b.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a context of another set.
    pub fn stored(&self, ctx: &LweContext) -> Result<(&[u8; 32], Vec<u64>), Error> {
        let (mut values, mut b) = (self.b.clone(), vec![0; self.b.len()]);
        self.table(ctx)?.inverse_add(&mut values, &mut b);
        Ok((&self.seed, b.into_iter().map(|b| b >> ctx.params().public_dropped()).collect()))
    }

    /// The name of the secret key that it belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.key
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        8 * (self.a.len() + self.b.len())
    }
    /// Bytes that a key of these parameters takes in memory; none for a set without public keys.
    #[must_use]
    pub fn forecast(ctx: &LweContext) -> Option<usize> {
        ctx.public_table().ok().map(|table| 16 * table.n())
    }
    /// Phases that one sample encrypts.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.a.len()
    }

    /// Encryptions of phases modulo Q, under all D coordinates. As many as the degree share a mask. Constant time.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a context of another set.
    pub fn encrypt(
        &self,
        ctx: &LweContext,
        phases: &[u64],
        source: &mut ChaChaSource,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let (m, table) = (ctx.modulus(), self.table(ctx)?);
        let mut cts = Vec::with_capacity(phases.len());
        for some in phases.chunks(table.n()) {
            let drawn = draw(ctx.params().spec().secret, ctx.params().public_coordinates(), source);
            let mut r = lifted(ctx, &drawn, table.n());
            table.forward(&mut r);
            let mut half = |key: &[u64]| {
                let products: Vec<u64> = key.iter().zip(r.iter()).map(|(&k, &r)| m.mul(k, r)).collect();
                let (mut values, mut sum) = (Zeroizing::new(products), errors(ctx, source, table.n()));
                table.inverse_add(&mut values, &mut sum);
                sum
            };
            let (mut mask, body) = (half(&self.a), half(&self.b));
            let mask = Arc::new(SharedMask::of_public_key(ctx, std::mem::take(&mut mask), self.key)?);
            for (at, (&phase, &zero)) in some.iter().zip(body.iter()).enumerate() {
                cts.push(LweCiphertext::of_shared(ctx, &mask, at, m.add(zero, m.reduce(phase)), self.key)?);
            }
        }
        Ok(cts)
    }

    fn table<'a>(&self, ctx: &'a LweContext) -> Result<&'a SmallTable, Error> {
        let table = ctx.public_table()?;
        let (found, expected) = (self.a.len(), table.n());
        if found == expected {
            return Ok(table);
        }
        Err(OperandFault::Key { key: "public key", measure: "degree", found, expected }.into())
    }
}

impl std::fmt::Debug for LwePublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LwePublicKey {{ id: {} }}", self.key)
    }
}

/// The transform of public keys, if the gate lets what they encrypt pass.
fn secure(ctx: &LweContext) -> Result<&SmallTable, Error> {
    let table = ctx.public_table()?;
    if ctx.params().gate() == Security::Bits128 {
        let report = ctx.params().public_security();
        security::check(report.dimension, report.log_q, report.sigma, report.secret)?;
    }
    Ok(table)
}

/// Small coordinates as residues, with zeros up to the degree.
fn lifted(ctx: &LweContext, coordinates: &[i8], degree: usize) -> Zeroizing<Vec<u64>> {
    let mut out = Zeroizing::new(vec![0; degree]);
    out.iter_mut().zip(coordinates).for_each(|(out, &s)| *out = ctx.modulus().reduce_i64(i64::from(s)));
    out
}

/// Errors as residues.
fn errors(ctx: &LweContext, source: &mut ChaChaSource, degree: usize) -> Zeroizing<Vec<u64>> {
    let mut drawn = Zeroizing::new(vec![0i64; degree]);
    draw_errors(ctx.params().glwe_error(), source, &mut drawn);
    let mut out = Zeroizing::new(vec![0; degree]);
    out.iter_mut().zip(drawn.iter()).for_each(|(out, &e)| *out = ctx.modulus().reduce_i64(e));
    out
}
