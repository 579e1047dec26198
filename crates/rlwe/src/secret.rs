//! Secret keys.

use crate::context::Context;
use crate::error::Error;
use crate::fault::SecretFault;
pub use crate::key_id::KeyId;
use crate::params::Params;
use crate::security::Secret;
use aglet_ring::automorphism::Automorphism;
use aglet_ring::fft::SpecialFft;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::{Eval, Form, Multiplier, Poly};
use num_complex::Complex64;
use zeroize::{Zeroize, Zeroizing};

/// A secret polynomial `s`. Erased from memory when dropped; shows only its id.
pub struct SecretKey {
    id: KeyId,
    /// What it was drawn from.
    secret: Secret,
    coefficients: Zeroizing<Vec<i8>>,
    /// `s` at every prime of the ring.
    eval: Poly<Eval>,
    /// Of the sparse secret of a bootstrap the special limbs beside `q0` that it may appear under.
    sparse: Option<usize>,
}

impl SecretKey {
    /// Draws a main secret as the parameters say.
    pub fn generate(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let secret = ctx.params().secret();
        let s = draw(secret, ctx.ring().n(), source);
        Self::from_coefficients(ctx, KeyId::draw(source), (secret, s), None)
    }

    /// Draws the sparse secret of a bootstrap, for one key, in the subring that the parameters say. It may appear as they say, mostly under `q0 p'` only, the shape
    /// of [`KeySwitchSpec::dense_to_sparse`](crate::KeySwitchSpec::dense_to_sparse); keys and encryptions under it refuse more.
    pub fn generate_sparse(ctx: &Context, source: &mut ChaChaSource) -> Result<Self, Error> {
        let secret = ctx.params().sparse_secret().ok_or(SecretFault::NoSparse)?;
        let mut s = Zeroizing::new(vec![0; ctx.ring().n()]);
        let drawn = draw(secret, ctx.params().sparse_n(), source);
        s.iter_mut().step_by(ctx.ring().n() / drawn.len()).zip(drawn.iter()).for_each(|(s, c)| *s = *c);
        Self::from_coefficients(ctx, KeyId::draw(source), (secret, s), Some(ctx.params().sparse_special()))
    }

    /// The sparse secret of a bootstrap that drew its coefficients itself, for one key, since the making of that key must know them. It may appear
    /// as the parameters say.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a set without a sparse secret, or one of another degree or weight.
    pub fn sparse_of(ctx: &Context, s: Zeroizing<Vec<i8>>, source: &mut ChaChaSource) -> Result<Self, Error> {
        let secret = ctx.params().sparse_secret();
        // Both sums agree where all coefficients are -1, 0 or 1. Constant time.
        let odd = s.iter().map(|&c| u32::from(c as u8 & 1)).sum::<u32>();
        let squares = s.iter().map(|&c| i32::from(c) * i32::from(c)).sum::<i32>();
        let weight = |secret: Secret| [f64::from(odd), f64::from(squares)] == [secret.squared_norm(s.len()); 2];
        match secret.filter(|&secret| s.len() == ctx.ring().n() && weight(secret)) {
            Some(secret) => {
                Self::from_coefficients(ctx, KeyId::draw(source), (secret, s), Some(ctx.params().sparse_special()))
            }
            None => Err(SecretFault::OtherSparse.into()),
        }
    }

    fn from_coefficients(
        ctx: &Context,
        id: KeyId,
        (secret, coefficients): (Secret, Zeroizing<Vec<i8>>),
        sparse: Option<usize>,
    ) -> Result<Self, Error> {
        let ring = ctx.ring();
        let wide = Zeroizing::new(coefficients.iter().map(|&c| i64::from(c)).collect::<Vec<_>>());
        let x = ring.lift(&wide, ring.lasting(ring.q_count(), ring.p_count())?.secret());
        Ok(Self { id, secret, coefficients, eval: ring.to_eval(x), sparse })
    }

    /// The same key for a subset of the context that it was made for.
    pub fn for_subset(&self, subset: &Context) -> Result<Self, Error> {
        Self::from_coefficients(subset, self.id, (self.secret, self.coefficients.clone()), self.sparse)
    }

    /// Refuses to show the sparse secret under more than `q0 p'`, or `q0`, where alone it is secure.
    pub(crate) fn may_appear(&self, q_limbs: usize, p_limbs: usize) -> Result<(), Error> {
        if self.sparse.is_some_and(|most| q_limbs > 1 || p_limbs > most) {
            return Err(Error::SparseSecret { q_limbs, p_limbs });
        }
        Ok(())
    }

    /// Bytes of the packed coefficients of a main secret.
    pub fn packed_len(params: &Params) -> usize {
        packed_len(params.secret(), params.n())
    }

    /// The coefficients in two's complement, from the low bits of a byte up: two bits each (0, 1, and 3 for -1), eight for a
    /// Gaussian secret. Constant time.
    ///
    /// # Errors
    /// [`Error::Stored`] for the sparse secret of a bootstrap, which is forgotten and not kept.
    pub fn packed(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        if self.sparse.is_some() {
            return Err(Error::Stored { what: "sparse secret of a bootstrap is never written" });
        }
        Ok(pack(self.secret, &self.coefficients))
    }

    /// The key of which these are the packed coefficients.
    ///
    /// # Errors
    /// [`Error::Stored`] if there are too few or too many, or they are none that the parameters draw.
    pub fn from_packed(ctx: &Context, id: KeyId, bytes: &[u8]) -> Result<Self, Error> {
        let params = ctx.params();
        let s = unpack(params.secret(), params.n(), bytes)?;
        Self::from_coefficients(ctx, id, (params.secret(), s), None)
    }

    /// A secret that is no main one: part of a FHEW secret in this ring.
    pub(crate) fn of(ctx: &Context, id: KeyId, drawn: (Secret, Zeroizing<Vec<i8>>)) -> Result<Self, Error> {
        Self::from_coefficients(ctx, id, drawn, None)
    }

    /// The largest absolute value of the secret at a complex root of `X^N + 1`: where that is large, roundings are.
    #[must_use]
    pub fn largest_value(&self) -> f64 {
        let (low, high) = self.coefficients.split_at(self.coefficients.len() / 2);
        let number = |(&re, &im): (&i8, &i8)| Complex64::new(f64::from(re), f64::from(im));
        let mut values: Vec<Complex64> = low.iter().zip(high).map(number).collect();
        SpecialFft::new(values.len()).forward(&mut values);
        let largest = values.iter().map(|value| value.norm_sqr()).fold(0.0, f64::max).sqrt();
        values.iter_mut().for_each(|value| {
            value.re.zeroize();
            value.im.zeroize();
        });
        largest
    }

    /// `times phi(s)` at so many limbs: what a key with a rotation encrypts. Constant time in `times`, and wiped when dropped.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn image(
        &self,
        ctx: &Context,
        phi: &Automorphism,
        times: i64,
        (q_limbs, p_limbs): (usize, usize),
    ) -> Result<Poly<Eval>, Error> {
        let ring = ctx.ring();
        let mut rotated = ring.secret_scratch(q_limbs, p_limbs)?;
        ring.permute(&self.eval, phi, &mut rotated)?;
        let mut image = [ring.secret_scratch(q_limbs, p_limbs)?];
        ring.forms_to(&[Form::multiple(Multiplier::integer(i128::from(times)), &rotated)], &mut image)?;
        let [image] = image;
        Ok(image)
    }

    /// The name of this key.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.coefficients.len() + self.eval.byte_count()
    }
    pub(crate) fn coefficients(&self) -> &[i8] {
        &self.coefficients
    }
    pub(crate) fn eval(&self) -> &Poly<Eval> {
        &self.eval
    }
    /// Number of non-zero coefficients, for tests of the distribution.
    pub fn weight(&self) -> usize {
        self.coefficients.iter().filter(|&&c| c != 0).count()
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey {{ id: {} }}", self.id)
    }
}

/// Coefficients of a distribution.
pub(crate) fn draw(secret: Secret, n: usize, source: &mut ChaChaSource) -> Zeroizing<Vec<i8>> {
    let mut s = Zeroizing::new(vec![0i8; n]);
    match secret {
        Secret::Ternary => sample::ternary(source, &mut s),
        Secret::FixedWeight(h) => sample::fixed_weight(source, h, &mut s),
        Secret::BlockSparse(blocks) => sample::block_sparse(source, blocks, &mut s),
        Secret::Binary => sample::binary(source, &mut s),
        Secret::BlockBinary(length) => sample::block_binary(source, length, &mut s),
        Secret::Gaussian => {
            let mut wide = Zeroizing::new(vec![0i64; n]);
            sample::gaussian(source, &mut wide);
            s.iter_mut().zip(wide.iter()).for_each(|(c, &x)| *c = x as i8);
        }
    }
    s
}

/// Bits that hold a coefficient: 2, or 8 for a Gaussian of up to 29.
fn coefficient_bits(secret: Secret) -> usize {
    if secret == Secret::Gaussian {
        8
    } else {
        2
    }
}

/// Bytes of so many packed coefficients, a multiple of eight.
pub(crate) fn packed_len(secret: Secret, n: usize) -> usize {
    n / 8 * coefficient_bits(secret)
}

/// Coefficients of a distribution in the bytes that files have. Constant time.
pub(crate) fn pack(secret: Secret, s: &[i8]) -> Zeroizing<Vec<u8>> {
    let bits = coefficient_bits(secret);
    let mask = (u16::from(u8::MAX) >> (8 - bits)) as u8;
    let byte = |c: &[i8]| c.iter().rev().fold(0u16, |byte, &c| byte << bits | u16::from(c as u8 & mask)) as u8;
    Zeroizing::new(s.chunks(8 / bits).map(byte).collect())
}

/// The coefficients in such bytes.
///
/// # Errors
/// [`Error::Stored`] if there are too few or too many, or they are none that the distribution gives.
pub(crate) fn unpack(secret: Secret, n: usize, bytes: &[u8]) -> Result<Zeroizing<Vec<i8>>, Error> {
    if bytes.len() != packed_len(secret, n) {
        return Err(Error::Stored { what: "secret key has another length than its parameters give it" });
    }
    let (mut s, bits) = (Zeroizing::new(vec![0i8; n]), coefficient_bits(secret));
    for (some, byte) in s.chunks_mut(8 / bits).zip(bytes) {
        some.iter_mut().enumerate().for_each(|(i, c)| *c = (byte << (8 - bits * (i + 1))) as i8 >> (8 - bits));
    }
    if !may_be_drawn(secret, &s) {
        return Err(Error::Stored { what: "secret key has coefficients that these parameters never draw" });
    }
    Ok(s)
}

/// Whether a distribution gives these coefficients at all.
fn may_be_drawn(secret: Secret, s: &[i8]) -> bool {
    let (n, weight) = (s.len(), |part: &[i8]| part.iter().filter(|&&c| c != 0).count());
    let within = |least: i8, most: i8| s.iter().all(|c| (least..=most).contains(c));
    match secret {
        Secret::Ternary => within(-1, 1),
        Secret::FixedWeight(h) => within(-1, 1) && weight(s) == h,
        Secret::BlockSparse(blocks) => {
            within(-1, 1) && (0..blocks).all(|k| weight(&s[k * n / blocks..(k + 1) * n / blocks]) == 1)
        }
        Secret::Binary => within(0, 1),
        Secret::BlockBinary(length) => within(0, 1) && s.chunks(length).all(|block| weight(block) <= 1),
        Secret::Gaussian => within(-(sample::GAUSSIAN_BOUND as i8), sample::GAUSSIAN_BOUND as i8),
    }
}
