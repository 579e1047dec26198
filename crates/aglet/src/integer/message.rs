//! Messages of integers: plain numbers, or numbers that are encoded once for many uses.

use super::Engine;
use crate::{Error, ForeignError};
use aglet_schemes::integer::{Encoder, Packing};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// An encoded message: its N coefficients modulo t. It fits every level, is cheap to clone and never changes.
#[derive(Clone, Debug)]
pub struct Plaintext {
    pub(crate) coefficients: Arc<[i64]>,
    pub(crate) t: u64,
    pub(crate) packing: Packing,
    /// How large it is at the roots, found when it is first multiplied by.
    largest: Arc<OnceLock<f64>>,
}

impl PartialEq for Plaintext {
    fn eq(&self, other: &Self) -> bool {
        (&self.coefficients, self.t, self.packing) == (&other.coefficients, other.t, other.packing)
    }
}

impl Plaintext {
    /// Of coefficients modulo t.
    pub(crate) fn new(coefficients: Arc<[i64]>, t: u64, packing: Packing) -> Self {
        Self { coefficients, t, packing, largest: Arc::default() }
    }
}

/// A message: numbers between -t and t, where missing ones are 0, or a [`Plaintext`].
pub trait Message: Sync {
    /// Its coefficients.
    ///
    /// # Errors
    /// Numbers out of range, too many, a plaintext of another modulus, ring or packing.
    fn coefficients(&self, encoder: &Encoder, engine: &Engine) -> Result<Cow<'_, [i64]>, Error>;
    /// By how much its coefficients make noise grow ([`Encoder::largest_value`]).
    fn largest_value(&self, coefficients: &[i64], encoder: &Encoder) -> f64 {
        encoder.largest_value(coefficients)
    }
}

impl Message for [i64] {
    fn coefficients(&self, encoder: &Encoder, _: &Engine) -> Result<Cow<'_, [i64]>, Error> {
        Ok(Cow::Owned(encoder.encode(self)?))
    }
}

impl<const N: usize> Message for [i64; N] {
    fn coefficients(&self, encoder: &Encoder, engine: &Engine) -> Result<Cow<'_, [i64]>, Error> {
        self[..].coefficients(encoder, engine)
    }
}

impl Message for Vec<i64> {
    fn coefficients(&self, encoder: &Encoder, engine: &Engine) -> Result<Cow<'_, [i64]>, Error> {
        self[..].coefficients(encoder, engine)
    }
}

impl Message for Plaintext {
    fn coefficients(&self, _: &Encoder, engine: &Engine) -> Result<Cow<'_, [i64]>, Error> {
        engine.check_plaintext(self)?;
        Ok(Cow::Borrowed(&self.coefficients))
    }
    fn largest_value(&self, coefficients: &[i64], encoder: &Encoder) -> f64 {
        *self.largest.get_or_init(|| encoder.largest_value(coefficients))
    }
}

impl Engine {
    fn check_plaintext(&self, pt: &Plaintext) -> Result<(), Error> {
        let own = (self.params().plain().value(), self.params().n(), self.packing());
        match (pt.t, pt.coefficients.len(), pt.packing) == own {
            true => Ok(()),
            false => Err(ForeignError::Plaintext {
                count: pt.coefficients.len(),
                modulus: pt.t,
                own_count: own.1,
                own: own.0,
            }
            .into()),
        }
    }

    /// Encodes up to [`Engine::count`] numbers between -t and t. Missing numbers are 0.
    ///
    /// # Errors
    /// A number out of range, or too many numbers.
    pub fn encode(&self, values: &[i64]) -> Result<Plaintext, Error> {
        let coefficients = self.run(|| Ok(self.encoder().encode(values)?))?.into();
        Ok(Plaintext::new(coefficients, self.params().plain().value(), self.packing()))
    }

    /// The numbers of a plaintext, in `[-t/2, t/2]`.
    ///
    /// # Errors
    /// A plaintext of another modulus, ring or packing.
    pub fn decode(&self, pt: &Plaintext) -> Result<Vec<i64>, Error> {
        self.check_plaintext(pt)?;
        let t = self.params().plain();
        let words: Vec<u64> = pt.coefficients.iter().map(|&c| t.reduce_i64(c)).collect();
        self.run(|| Ok(self.encoder().decode(&words)))
    }
}
