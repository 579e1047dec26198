//! The CKKS engine: parameters, threads, encoder, and key generation.

use crate::card_memory::{CardMemory, Fitted};
use crate::ckks::bootstrap::BootstrapState;
use crate::ckks::rotation_layout::rotation_layout;
use crate::ckks::Ciphertext;
use crate::runtime::machine::check_memory;
use crate::runtime::{Cache, Runtime};
use crate::Control;
use crate::{Error, LevelError};
use aglet_bootstrap::ckks::circuit::arithmetic_limbs;
use aglet_bootstrap::BootstrapCircuit;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_rlwe::{Context, KeyId, KeyRole, KeySet, KeySwitchSpec, PublicKey, Sample, SecretKey, SwitchingKey};
use aglet_schemes::ckks::{CkksEvaluator, CkksParams, Encoder};
use std::sync::Arc;

/// An engine for one parameter set, with its own thread pool. All methods take `&self` and never change their inputs,
/// so threads can share it.
pub struct Engine {
    params: CkksParams,
    pub(crate) ctx: Arc<Context>,
    pub(crate) encoder: Encoder,
    pub(crate) bootstrap: BootstrapState,
    pub(crate) runtime: Arc<Runtime>,
    pub(super) fitted: Fitted,
    pub(super) card_memories: Cache<(Arc<BootstrapCircuit>, usize, usize), CardMemory, 8>,
}

/// The relinearization key, which products need: it switches from the square of the secret key to the secret key.
pub struct RelinearizationKey(pub(crate) Arc<SwitchingKey>);

/// The key of one automorphism, such as the conjugation.
pub struct GaloisKey {
    pub(crate) galois: u64,
    pub(crate) key: Arc<SwitchingKey>,
}

impl GaloisKey {
    /// As a [`KeySet`] takes it.
    pub(crate) fn with_role(&self) -> (KeyRole, Arc<SwitchingKey>) {
        (KeyRole::Galois(self.galois), self.key.clone())
    }
}

/// The key of one rotation.
pub struct FixedRotationKey {
    /// The number of slots, to the right as in `numpy.roll`.
    pub delta: i64,
    pub(crate) key: GaloisKey,
}

impl FixedRotationKey {
    /// The most limbs of a ciphertext that it rotates.
    pub fn limbs(&self) -> usize {
        self.key.key.spec().q_limbs
    }
}

/// Keys of the rotations by powers of two; every other rotation is composed of them.
pub struct RotationKey {
    /// With one slot nothing rotates, and there is no key to ask.
    pub(crate) id: KeyId,
    pub(crate) steps: Vec<(i64, GaloisKey)>,
}

macro_rules! key_figures {
    ($($type:ty: $self:ident => $keys:expr, $id:expr;)*) => {$(
        impl $type {
            fn each(&$self) -> impl Iterator<Item = &SwitchingKey> { $keys }
            /// The secret key that it belongs to.
            pub fn id(&$self) -> KeyId { $id }
            /// Bytes in memory.
            pub fn byte_count(&self) -> usize { self.each().map(SwitchingKey::byte_count).sum() }
            /// Bytes on a card.
            #[must_use]
            pub fn card_bytes(&self) -> usize { self.each().map(SwitchingKey::card_bytes).sum() }
            /// Bytes when stored with seeds.
            pub fn stored_bytes(&self) -> usize { self.each().map(SwitchingKey::stored_bytes).sum() }
        }
    )*};
}
key_figures! {
    RelinearizationKey: self => std::iter::once(&*self.0), self.0.id();
    GaloisKey: self => std::iter::once(&*self.key), self.key.id();
    FixedRotationKey: self => std::iter::once(&*self.key.key), self.key.key.id();
    RotationKey: self => self.steps.iter().map(|(_, k)| &*k.key), self.id;
}

crate::runtime::runs! { Engine }

impl Engine {
    /// Makes an engine with its own runtime. `slots` is a power of two up to N/2 (`None`: all). `threads` 0 uses all
    /// cores.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a slot count that does not exist, and those of [`Runtime::new`].
    pub fn new(params: CkksParams, slots: Option<usize>, threads: usize) -> Result<Self, Error> {
        Self::on(Runtime::new(threads)?, params, slots)
    }

    /// Makes an engine on a runtime that others may share.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a slot count that does not exist.
    pub fn on(runtime: impl Into<Arc<Runtime>>, params: CkksParams, slots: Option<usize>) -> Result<Self, Error> {
        let runtime = runtime.into();
        let all = params.slots();
        let slots = slots.unwrap_or(all);
        if !slots.is_power_of_two() || slots > all {
            return Err(aglet_bootstrap::Error::SlotCount { slots, most: all }.into());
        }
        let ctx = runtime.context(params.rlwe())?;
        runtime.serves(ctx.ring().pool());
        let encoder = Encoder::new(&ctx, slots)?;
        let (bootstrap, fitted) = (BootstrapState::default(), Fitted::default());
        Ok(Self { params, ctx, encoder, bootstrap, runtime, fitted, card_memories: Cache::default() })
    }

    /// Has ciphertexts on this machine before they are decrypted or stored: those that a card made come together, not one by one.
    ///
    /// # Errors
    /// Memory that cannot be had, [`Error::Ring`] if the card fails: then none is here that was not before.
    pub fn fetch(&self, cts: &[&Ciphertext]) -> Result<(), Error> {
        self.run(|| Ok(Sample::fetch_all(cts.iter().map(|ct| &ct.sample))?))
    }

    /// The parameters.
    pub fn params(&self) -> &CkksParams {
        &self.params
    }
    /// Message slots.
    pub fn slots(&self) -> usize {
        self.encoder.slots()
    }
    /// The highest user level: the multiplications that a fresh ciphertext allows.
    pub fn max_level(&self) -> usize {
        self.params().max_level()
    }
    /// Bytes in memory of a ciphertext of two polynomials at a user level.
    ///
    /// # Errors
    /// [`Error::Level`] for a level that does not exist.
    pub fn ciphertext_bytes(&self, level: usize) -> Result<u64, Error> {
        let limbs = self.params().chain_level(self.check_level(level)?) + 1;
        Ok((2 * limbs * self.params().n() * size_of::<u64>()) as u64)
    }
    /// An evaluator that can be stopped through `control`.
    pub(crate) fn evaluator<'a>(&'a self, keys: &'a KeySet, control: Option<&'a Control>) -> CkksEvaluator<'a> {
        let e = CkksEvaluator::new(&self.ctx, keys, self.slots());
        match control {
            Some(c) => e.stopped_by(c.flag()),
            None => e,
        }
    }

    /// The limbs of relinearization and conjugation keys: up to the start of EvalMod, or all.
    pub(crate) fn arithmetic_limbs(&self) -> usize {
        arithmetic_limbs(self.params())
    }
    fn user_limbs(&self) -> usize {
        user_limbs(self.params())
    }

    /// Draws a secret key.
    pub fn create_secret_key(&self) -> Result<SecretKey, Error> {
        self.run(|| Ok(SecretKey::generate(&self.ctx, &mut self.runtime.random("secret key", 0)?)?))
    }
    /// Makes a public key, for encryption up to the highest user level.
    pub fn create_public_key(&self, sk: &SecretKey) -> Result<PublicKey, Error> {
        let mut random = self.runtime.random("public key", 0)?;
        self.run(|| Ok(PublicKey::generate(&self.ctx, sk, self.user_limbs(), &mut random)?))
    }
    /// Makes the relinearization key.
    pub fn create_relinearization_key(&self, sk: &SecretKey) -> Result<RelinearizationKey, Error> {
        self.create_relinearization_key_until(sk, &Control::new())
    }
    /// The same, and it can be stopped.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn create_relinearization_key_until(
        &self,
        sk: &SecretKey,
        control: &Control,
    ) -> Result<RelinearizationKey, Error> {
        self.run(|| {
            let spec = KeySwitchSpec::balanced(self.params(), self.arithmetic_limbs())?;
            let mut random = self.runtime.random("relinearization key", 0)?;
            let key = SwitchingKey::relinearization_until(&self.ctx, spec, sk, &mut random, control.flag())?;
            Ok(RelinearizationKey(Arc::new(key)))
        })
    }
    /// Makes the conjugation key.
    pub fn create_conjugation_key(&self, sk: &SecretKey) -> Result<GaloisKey, Error> {
        self.create_conjugation_key_until(sk, &Control::new())
    }
    /// The same, and it can be stopped.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn create_conjugation_key_until(&self, sk: &SecretKey, control: &Control) -> Result<GaloisKey, Error> {
        self.create_galois_key(sk, conjugation_exponent(self.ctx.ring().n()), self.arithmetic_limbs(), control)
    }
    /// Makes a key that rotates by `delta` slots to the right (as `numpy.roll`) at user levels up to `level`.
    pub fn create_fixed_rotation_key(
        &self,
        sk: &SecretKey,
        delta: i64,
        level: Option<usize>,
    ) -> Result<FixedRotationKey, Error> {
        let level = level.unwrap_or(self.max_level());
        self.create_fixed_rotation_key_until(sk, delta, level, &Control::new())
    }
    /// The same at a level, and it can be stopped.
    ///
    /// # Errors
    /// [`Error::Level`] for a level that does not exist, [`Error::Cancelled`].
    pub fn create_fixed_rotation_key_until(
        &self,
        sk: &SecretKey,
        delta: i64,
        level: usize,
        control: &Control,
    ) -> Result<FixedRotationKey, Error> {
        let limbs = self.params().chain_level(self.check_level(level)?) + 1;
        let key = self.create_galois_key(sk, self.rotation(delta), limbs, control)?;
        Ok(FixedRotationKey { delta, key })
    }
    /// Makes the keys of rotations by all powers of two, at all user levels. If the engine bootstraps, it also makes
    /// the rotation keys that a small bootstrap key leaves out, at their levels.
    pub fn create_rotation_key(&self, sk: &SecretKey, control: &Control) -> Result<RotationKey, Error> {
        let layout = rotation_layout(self.params(), self.slots())?;
        let bytes = layout.iter().map(|(_, _, spec)| spec.byte_count(self.params())).sum::<Result<usize, _>>()?;
        check_memory("this rotation key", bytes as u64)?;
        let count = layout.len();
        let mut steps = Vec::with_capacity(count);
        for (i, (delta, galois, spec)) in layout.iter().enumerate() {
            control.check()?;
            control.report(i, count, "rotation keys");
            steps.push((*delta, self.create_galois_key_of(sk, *galois, spec.clone(), control)?));
        }
        control.report(count, count, "rotation keys");
        Ok(RotationKey { id: sk.id(), steps })
    }

    pub(crate) fn create_galois_key(
        &self,
        sk: &SecretKey,
        galois: u64,
        limbs: usize,
        control: &Control,
    ) -> Result<GaloisKey, Error> {
        self.create_galois_key_of(sk, galois, KeySwitchSpec::balanced(self.params(), limbs)?, control)
    }

    fn create_galois_key_of(
        &self,
        sk: &SecretKey,
        galois: u64,
        spec: KeySwitchSpec,
        control: &Control,
    ) -> Result<GaloisKey, Error> {
        self.run(|| {
            let mut random = self.runtime.random("Galois key", galois)?;
            let key = SwitchingKey::galois_until(&self.ctx, spec, galois, sk, &mut random, control.flag())?;
            Ok(GaloisKey { galois, key: Arc::new(key) })
        })
    }

    /// The automorphism of a rotation by `delta` slots to the right: the core rotates to the left.
    pub(crate) fn rotation(&self, delta: i64) -> u64 {
        rotation(self.params(), self.slots(), delta)
    }

    /// Refuses user levels that do not exist.
    pub(crate) fn check_level(&self, level: usize) -> Result<usize, Error> {
        if level > self.max_level() {
            return Err(LevelError::NoSuchLevel { level, most: self.max_level() }.into());
        }
        Ok(level)
    }
}

/// Limbs of the highest user level.
pub(crate) fn user_limbs(params: &CkksParams) -> usize {
    params.chain_level(params.max_level()) + 1
}

/// [`Engine::rotation`] of an engine with these parameters and slots.
pub(crate) fn rotation(params: &CkksParams, slots: usize, delta: i64) -> u64 {
    let left = -(delta.rem_euclid(slots as i64));
    rotation_exponent(left as isize, params.n())
}
