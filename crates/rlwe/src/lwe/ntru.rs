//! Samples of NTRU: one polynomial `(e + m f) / f` for a phase m and a small error e, where a GLWE sample has two.
//!
//! The secret f is the one polynomial of GLWE. A sample c is the GLWE sample `(-c, 0)`, whose phase is `c f`.

use super::secret::draw_errors;
use super::seeded::SeededKey;
use super::{LweContext, LweSecretKey};
use crate::error::Error;
use crate::fault::OperandFault;
use aglet_ring::blind::automorphism;
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use zeroize::Zeroizing;

/// What digits of a sample are multiplied by: sample i of its key is `e / f + g_i m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NtruMessage {
    /// `1 / f`, which makes a sample of a polynomial in the clear.
    Inverse,
    /// `X^s` for the coordinate s of this number.
    Power(usize),
    /// `f(X^t) / f`, the key switch after `X -> X^t`.
    Automorphism(usize),
}

/// Keys of some messages, one after the other.
pub struct NtruKeys(SeededKey);

/// The values of the secret.
fn values(ctx: &LweContext, coordinates: &[i8]) -> Zeroizing<Vec<u64>> {
    let residues = coordinates.iter().map(|&s| ctx.modulus().reduce_i64(i64::from(s))).collect();
    let mut values: Zeroizing<Vec<u64>> = Zeroizing::new(residues);
    ctx.table().forward(&mut values);
    values
}

/// Whether a secret has an inverse.
pub(super) fn invertible(ctx: &LweContext, coordinates: &[i8]) -> bool {
    !values(ctx, coordinates).contains(&0)
}

/// The values of a message.
fn write(ctx: &LweContext, sk: &LweSecretKey, inverse: &[u64], message: NtruMessage, out: &mut [u64]) {
    let m = ctx.modulus();
    match message {
        NtruMessage::Inverse => out.copy_from_slice(inverse),
        NtruMessage::Power(i) => {
            let s = sk.coordinates()[i];
            out.fill(0);
            // X^-1 = -X^(N-1).
            out[0] = is(s, 0);
            out[1] = is(s, 1);
            out[ctx.params().n() - 1] = (m.value() - 1) & is(s, -1).wrapping_neg();
            ctx.table().forward(out);
        }
        NtruMessage::Automorphism(t) => {
            let residues = sk.coordinates().iter().map(|&s| m.reduce_i64(i64::from(s))).collect();
            let residues: Zeroizing<Vec<u64>> = Zeroizing::new(residues);
            automorphism(m, &residues, t, out);
            ctx.table().forward(out);
            out.iter_mut().zip(inverse).for_each(|(x, &i)| *x = m.mul(*x, i));
        }
    }
}

/// 1 if a coordinate is this value, else 0; constant time.
fn is(coordinate: i8, value: i8) -> u64 {
    super::secret::is(coordinate, value) & 1
}

impl NtruKeys {
    /// Makes the keys of these messages.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a secret without inverse; memory that cannot be had; [`Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        messages: &[NtruMessage],
        source: &mut ChaChaSource,
        progress: &mut super::Progress<'_>,
    ) -> Result<Self, Error> {
        let (m, gadget, n) = (ctx.modulus(), ctx.params().spec().gadget, ctx.params().n());
        let mut inverse = values(ctx, sk.coordinates());
        if inverse.contains(&0) {
            return Err(OperandFault::NoInverse.into());
        }
        // By Fermat: the exponent is public, and Euclid's algorithm takes a path that depends on what it inverts.
        inverse.iter_mut().for_each(|x| *x = m.pow(*x, m.value() - 2));
        let (mut message, mut errors) = (Zeroizing::new(vec![0; n]), Zeroizing::new(vec![0i64; n]));
        let shape = Self::shape(ctx, messages.len());
        let samples = SeededKey::make(ctx.table(), shape, source.public_seed(), |[at, _, _, level], _, body| {
            if level == 0 {
                if !progress(at, messages.len()) {
                    return Err(Error::Cancelled);
                }
                write(ctx, sk, &inverse, messages[at], &mut message);
            }
            draw_errors(ctx.params().glwe_error(), source, &mut errors);
            body.iter_mut().zip(errors.iter()).for_each(|(b, &e)| *b = m.reduce_i64(e));
            ctx.table().forward(body);
            let weight = gadget.weight(m.value(), level);
            for ((b, &i), &v) in body.iter_mut().zip(inverse.iter()).zip(message.iter()) {
                *b = m.add(m.mul(*b, i), m.mul(v, weight));
            }
            Ok::<_, Error>(())
        })?;
        Ok(Self(samples))
    }

    /// The keys that are made of these samples.
    #[must_use]
    pub fn of(samples: SeededKey) -> Self {
        Self(samples)
    }
    /// The shape in memory of so many keys.
    #[must_use]
    pub fn shape(ctx: &LweContext, count: usize) -> KeyShape {
        KeyShape { blocks: count, keys: 1, rows: 1, levels: ctx.params().spec().gadget.levels, columns: 1 }
    }
    /// The samples; their seed is of no mask, as they have none.
    #[must_use]
    pub fn samples(&self) -> &SeededKey {
        &self.0
    }
}
