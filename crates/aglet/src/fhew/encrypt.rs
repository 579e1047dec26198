//! Encryption, by the secret key or by the public one.

use super::memory::room_of_seeds;
use super::{Ciphertext, Engine, Integer, Message, PublicKey, SecretKey, Unsigned};
use crate::{Error, KeyId};
use aglet_schemes::fhew::from_bit;

/// What encrypts: the secret key, or the public key that a sender has.
#[derive(Clone, Copy)]
pub enum EncryptionKey<'a> {
    /// Ciphertexts are a seed and a body each.
    Secret(&'a SecretKey),
    /// Ciphertexts share masks, and have the noise of [`Noise::public`](aglet_rlwe::lwe::Noise::public).
    Public(&'a PublicKey),
}

impl EncryptionKey<'_> {
    /// The secret key that decrypts.
    #[must_use]
    pub fn id(&self) -> KeyId {
        match self {
            Self::Secret(key) => key.id(),
            Self::Public(key) => key.id(),
        }
    }
}

impl<'a> From<&'a SecretKey> for EncryptionKey<'a> {
    fn from(key: &'a SecretKey) -> Self {
        Self::Secret(key)
    }
}

impl<'a> From<&'a PublicKey> for EncryptionKey<'a> {
    fn from(key: &'a PublicKey) -> Self {
        Self::Public(key)
    }
}

impl Engine {
    /// Encrypts bits, one ciphertext each.
    ///
    /// # Errors
    /// No randomness; a key of another set.
    pub fn encrypt_bits<'a>(&self, bits: &[bool], key: impl Into<EncryptionKey<'a>>) -> Result<Vec<Ciphertext>, Error> {
        self.encrypt_phases(bits.iter().map(|&b| Ok(from_bit(&self.ctx, b))), key.into())
    }

    /// Encrypts messages, one ciphertext each. `message` says how many there are and where they lie.
    ///
    /// # Errors
    /// A message out of range, no randomness, a key of another set.
    pub fn encrypt<'a>(
        &self,
        values: &[u64],
        message: Message,
        key: impl Into<EncryptionKey<'a>>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.encrypt_phases(values.iter().map(|&m| Ok(message.encode(&self.ctx, m)?)), key.into())
    }

    /// Encrypts signed integers, one ciphertext each.
    ///
    /// # Errors
    /// One out of range, no randomness, a key of another set.
    pub fn encrypt_integers<'a>(
        &self,
        values: &[i64],
        integer: Integer,
        key: impl Into<EncryptionKey<'a>>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.encrypt_phases(values.iter().map(|&x| Ok(integer.encode(&self.ctx, x)?)), key.into())
    }

    /// Encrypts unsigned integers, one ciphertext each.
    ///
    /// # Errors
    /// One out of range, no randomness, a key of another set.
    pub fn encrypt_unsigned<'a>(
        &self,
        values: &[u64],
        unsigned: Unsigned,
        key: impl Into<EncryptionKey<'a>>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.encrypt_phases(values.iter().map(|&x| Ok(unsigned.encode(&self.ctx, x)?)), key.into())
    }

    fn encrypt_phases(
        &self,
        phases: impl ExactSizeIterator<Item = Result<u64, Error>>,
        key: EncryptionKey<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        room_of_seeds(phases.len())?;
        let mut source = self.runtime.random("lwe encryption", 0)?;
        match key {
            EncryptionKey::Secret(sk) => phases.map(|phase| Ok(sk.encrypt(&self.ctx, phase?, &mut source)?)).collect(),
            EncryptionKey::Public(pk) => {
                let phases = zeroize::Zeroizing::new(phases.collect::<Result<Vec<_>, _>>()?);
                Ok(pk.encrypt(&self.ctx, &phases, &mut source)?)
            }
        }
    }
}
