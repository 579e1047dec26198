//! The secret of LWE and GLWE, and the samples under it that keys are made of.

use super::ciphertext::LweCiphertext;
use super::noise::Weights;
use super::params::{ErrorKind, LweParams};
use super::{ntru, LweContext, Method};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::{self, draw, KeyId};
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::Modulus;
use zeroize::Zeroizing;

/// All kN coordinates, erased when dropped; shows only its id.
pub struct LweSecretKey {
    id: KeyId,
    coordinates: Zeroizing<Vec<i8>>,
}

impl LweSecretKey {
    /// Draws the secret that the parameters describe, in constant time.
    #[must_use]
    pub fn generate(ctx: &LweContext, source: &mut ChaChaSource) -> Self {
        let params = ctx.params();
        let mut coordinates = draw(params.spec().secret, params.coordinates(), source);
        // One in a thousand is drawn again, which says nothing of the others.
        while params.spec().method == Method::Ntru && !ntru::invertible(ctx, &coordinates) {
            coordinates = draw(params.spec().secret, params.coordinates(), source);
        }
        Self { id: KeyId::draw(source), coordinates }
    }

    /// Bytes of the packed coordinates.
    #[must_use]
    pub fn packed_len(params: &LweParams) -> usize {
        secret::packed_len(params.spec().secret, params.coordinates())
    }
    /// The coordinates as files hold them, see [`SecretKey::packed`](crate::SecretKey::packed). Constant time.
    #[must_use]
    pub fn packed(&self, params: &LweParams) -> Zeroizing<Vec<u8>> {
        secret::pack(params.spec().secret, &self.coordinates)
    }
    /// The key of which these are the packed coordinates.
    ///
    /// # Errors
    /// [`Error::Stored`] if there are too few or too many, or they are none that the parameters draw.
    pub fn from_packed(params: &LweParams, id: KeyId, bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self { id, coordinates: secret::unpack(params.spec().secret, params.coordinates(), bytes)? })
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.coordinates.len()
    }
    /// How many coordinates are not 0, for noise formulas. It is secret as well.
    #[must_use]
    pub fn weights(&self, ctx: &LweContext) -> Weights {
        let of = |s: &[i8]| s.iter().map(|&s| f64::from(s & 1)).sum();
        let short = of(&self.coordinates[..ctx.params().spec().dimension]);
        Weights { short, whole: of(&self.coordinates) }
    }
    /// The coordinates.
    pub(crate) fn coordinates(&self) -> &[i8] {
        &self.coordinates
    }

    /// An encryption of a phase modulo Q, under all kN coordinates.
    ///
    /// # Errors
    /// None at present; keys of other sets are refused by dimension.
    pub fn encrypt(&self, ctx: &LweContext, phase: u64, source: &mut ChaChaSource) -> Result<LweCiphertext, Error> {
        self.fits(ctx)?;
        let (m, seed) = (ctx.modulus(), source.public_seed());
        let mut error = Zeroizing::new([0i64; 1]);
        draw_errors(ctx.params().glwe_error(), source, error.as_mut());
        let body = |mask: &[u64]| m.add(m.add(self.product(m, mask), m.reduce(phase)), m.reduce_i64(error[0]));
        Ok(LweCiphertext::fresh(ctx, seed, body, self.id))
    }

    /// The phase of a ciphertext, noise included, modulo Q. Constant time.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key.
    pub fn phase(&self, ctx: &LweContext, ct: &LweCiphertext) -> Result<u64, Error> {
        self.fits(ctx)?;
        if ct.key() != self.id {
            return Err(Error::KeyMismatch { what: "secret key", found: self.id, expected: ct.key() });
        }
        Ok(ctx.modulus().sub(ct.body(), self.product(ctx.modulus(), &ct.mask(ctx))))
    }

    pub(super) fn fits(&self, ctx: &LweContext) -> Result<(), Error> {
        let (found, expected) = (self.coordinates.len(), ctx.params().coordinates());
        if found == expected {
            return Ok(());
        }
        Err(OperandFault::Key { key: "secret key", measure: "dimension", found, expected }.into())
    }

    /// `<a, s>` for the first coordinates, as many as `a` has.
    pub(crate) fn product(&self, m: &Modulus, a: &[u64]) -> u64 {
        // Coordinates are -1, 0 or 1: masks instead of a product.
        let pairs = a.iter().zip(self.coordinates.iter());
        pairs.fold(0, |sum, (&a, &s)| m.sub(m.add(sum, a & is(s, 1)), a & is(s, -1)))
    }
}

impl std::fmt::Debug for LweSecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LweSecretKey {{ id: {} }}", self.id)
    }
}

/// All ones if a coordinate is this value, else 0; constant time.
pub(crate) fn is(coordinate: i8, value: i8) -> u64 {
    let apart = i64::from(coordinate ^ value);
    ((apart | -apart) >> 63) as u64 ^ u64::MAX
}

/// Fills `out` with errors. Constant time but for words that the source skips.
pub(crate) fn draw_errors(kind: ErrorKind, source: &mut ChaChaSource, out: &mut [i64]) {
    match kind {
        ErrorKind::Gaussian => sample::gaussian(source, out),
        // Less than half a unit: none. Only sets that nobody checked have that.
        ErrorKind::Uniform(0) => out.fill(0),
        ErrorKind::Uniform(w) => {
            let mut words = Zeroizing::new(vec![0u64; out.len()]);
            sample::uniform(source, 2 * w + 1, &mut words);
            out.iter_mut().zip(words.iter()).for_each(|(e, &x)| *e = x as i64 - w as i64);
        }
    }
}
