//! The keys of integers: secret, public, relinearization and rotation, and how the engine makes them.

use super::{Engine, IntegerParams};
use crate::{Control, Error, KeyId, LevelError, PublicKey, SecretKey};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec, Params, SwitchingKey};
use aglet_schemes::integer::Noise;
use std::collections::BTreeSet;

/// The relinearization key, which products of ciphertexts need.
pub struct RelinearizationKey(pub(crate) KeySet);

/// The rotation key: rotations of rows by all powers of two, of which any rotation is composed, and the swap of the
/// rows.
pub struct RotationKey(pub(crate) KeySet);

/// The key of one rotation of rows, for ciphertexts up to a level: one key switch, whatever the step.
pub struct FixedRotationKey {
    pub(crate) delta: i64,
    pub(crate) set: KeySet,
}

impl FixedRotationKey {
    /// Slots that rows are rotated by, to the right.
    #[must_use]
    pub fn delta(&self) -> i64 {
        self.delta
    }
    pub(crate) fn limbs(&self) -> usize {
        self.set.iter().next().map_or(0, |(_, key)| key.spec().q_limbs)
    }
    /// The highest level of a ciphertext that it rotates.
    #[must_use]
    pub fn level(&self) -> usize {
        self.limbs().saturating_sub(1)
    }
    /// The secret key that it belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.set.iter().next().map_or(KeyId(0), |(_, key)| key.id())
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.set.byte_count()
    }
    /// Bytes on a card.
    #[must_use]
    pub fn card_bytes(&self) -> usize {
        self.set.card_bytes()
    }
    /// Bytes when stored with seeds for the uniform halves.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.set.stored_bytes()
    }
}

macro_rules! key_figures {
    ($($type:ty),*) => {$(
        impl $type {
            /// The secret key that it belongs to.
            #[must_use]
            pub fn id(&self) -> KeyId { self.0.iter().next().map_or(KeyId(0), |(_, key)| key.id()) }
            /// Bytes in memory.
            #[must_use]
            pub fn byte_count(&self) -> usize { self.0.byte_count() }
            /// Bytes on a card.
            #[must_use]
            pub fn card_bytes(&self) -> usize { self.0.card_bytes() }
            /// Bytes when stored with seeds for the uniform halves.
            #[must_use]
            pub fn stored_bytes(&self) -> usize { self.0.stored_bytes() }
            pub(crate) fn keys(&self) -> &KeySet { &self.0 }
        }
    )*};
}
key_figures!(RelinearizationKey, RotationKey);

/// Bytes of one switching key in memory.
pub(crate) fn key_bytes(params: &IntegerParams) -> Result<usize, Error> {
    Ok(spec(params)?.byte_count(params)?)
}

/// The shape of a switching key: for the levels of users. The bootstrap has keys of its own above them.
fn spec(params: &IntegerParams) -> Result<KeySwitchSpec, Error> {
    Ok(KeySwitchSpec::balanced(params, params.max_level() + 1)?)
}

/// The Galois elements of a rotation key in ascending order: rows by powers of two, and the swap of the rows.
pub(crate) fn rotation_galois(params: &Params, count: usize) -> BTreeSet<u64> {
    let n = params.n();
    let rows = (0..(count / 2).trailing_zeros()).map(|i| rotation_exponent(1 << i, n));
    rows.chain([conjugation_exponent(n)]).collect()
}

/// The steps to the left of a rotation of rows by `delta` to the right.
pub(crate) fn left_steps(count: usize, delta: i64) -> usize {
    let row = count as i64 / 2;
    ((row - delta.rem_euclid(row)) % row) as usize
}

/// The Galois element of that rotation.
pub(crate) fn fixed_galois(params: &Params, count: usize, delta: i64) -> u64 {
    rotation_exponent(left_steps(count, delta) as isize, params.n())
}

impl Engine {
    /// Draws a secret key for which rounding errors are nowhere larger than noise estimates assume ([`Noise::suits`]).
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub fn create_secret_key(&self) -> Result<SecretKey, Error> {
        let mut random = self.runtime.random("secret key", 0)?;
        self.runtime.run(|| loop {
            let key = SecretKey::generate(&self.ctx, &mut random)?;
            if Noise::suits(&self.params, &key) {
                return Ok(key);
            }
        })
    }
    /// Makes a public key, for every level.
    ///
    /// # Errors
    /// No randomness, or out of memory.
    pub fn create_public_key(&self, sk: &SecretKey) -> Result<PublicKey, Error> {
        let mut random = self.runtime.random("public key", 0)?;
        self.runtime.run(|| Ok(PublicKey::generate(&self.ctx, sk, self.params.max_level() + 1, &mut random)?))
    }
    /// Makes the relinearization key.
    ///
    /// # Errors
    /// As [`Engine::create_public_key`].
    pub fn create_relinearization_key(&self, sk: &SecretKey) -> Result<RelinearizationKey, Error> {
        self.create_relinearization_key_until(sk, &Control::new())
    }
    /// The same, and it can be stopped.
    ///
    /// # Errors
    /// As [`Engine::create_public_key`], and [`Error::Cancelled`].
    pub fn create_relinearization_key_until(
        &self,
        sk: &SecretKey,
        control: &Control,
    ) -> Result<RelinearizationKey, Error> {
        let (spec, mut random) = (self.spec()?, self.runtime.random("relinearization key", 0)?);
        self.runtime.run(|| {
            let key = SwitchingKey::relinearization_until(&self.ctx, spec, sk, &mut random, control.flag())?;
            Ok(RelinearizationKey(KeySet::new().with(KeyRole::Relinearization, key.into())))
        })
    }
    /// Makes the rotation key.
    ///
    /// # Errors
    /// As [`Engine::create_public_key`], and [`Error::Cancelled`].
    pub fn create_rotation_key(&self, sk: &SecretKey, control: &Control) -> Result<RotationKey, Error> {
        self.check_slots()?;
        let all = rotation_galois(&self.params, self.count());
        let mut keys = KeySet::new();
        for (i, &galois) in all.iter().enumerate() {
            control.check()?;
            control.report(i, all.len(), "rotation keys");
            let (spec, mut random) = (self.spec()?, self.runtime.random("Galois key", galois)?);
            let made = || Ok(SwitchingKey::galois_until(&self.ctx, spec, galois, sk, &mut random, control.flag())?);
            let key = self.runtime.run(made)?;
            keys.insert(KeyRole::Galois(galois), key.into());
        }
        control.report(all.len(), all.len(), "rotation keys");
        Ok(RotationKey(keys))
    }
    /// Makes the key of one rotation of rows by `delta` slots to the right, for user levels up to `level`.
    ///
    /// # Errors
    /// A level that does not exist, and as [`Engine::create_rotation_key`].
    pub fn create_fixed_rotation_key(
        &self,
        sk: &SecretKey,
        delta: i64,
        level: usize,
        control: &Control,
    ) -> Result<FixedRotationKey, Error> {
        self.check_slots()?;
        let most = self.params.max_level();
        if level > most {
            return Err(LevelError::NoSuchLevel { level, most }.into());
        }
        let galois = fixed_galois(&self.params, self.count(), delta);
        let spec = KeySwitchSpec::balanced(&self.params, level + 1)?;
        let mut random = self.runtime.random("Galois key", galois)?;
        let made = || Ok(SwitchingKey::galois_until(&self.ctx, spec, galois, sk, &mut random, control.flag())?);
        let key = self.runtime.run(made)?;
        Ok(FixedRotationKey { delta, set: KeySet::new().with(KeyRole::Galois(galois), key.into()) })
    }
    fn spec(&self) -> Result<KeySwitchSpec, Error> {
        spec(&self.params)
    }
}
