//! The BGV/BFV engine: encryption, and arithmetic on exact integers, on several threads.

use super::bootstrap::State;
use super::keys::left_steps;
use super::{FixedRotationKey, Message, RelinearizationKey, RotationKey, Table};
use crate::card_memory::{CardMemory, Fitted};
use crate::runtime::{Cache, Runtime};
use crate::{Error, LevelError, PublicKey, SecretKey};
use aglet_bootstrap::integer::BootstrapCircuit;
use aglet_rlwe::{Context, KeySet, Sample};
use aglet_schemes::integer::{
    decrypt, encrypt, noise_budget, Encoder, Encryptor, IntegerCiphertext, IntegerEvaluator, IntegerParams, Packing,
    WideRings,
};
use std::sync::Arc;

/// An engine for one parameter set, with its own thread pool. All methods take `&self` and never change their inputs,
/// so threads can share it.
pub struct Engine {
    pub(super) params: IntegerParams,
    pub(crate) ctx: Arc<Context>,
    encoder: Encoder,
    pub(crate) runtime: Arc<Runtime>,
    pub(super) none: KeySet,
    pub(super) bootstrap: State,
    /// For scaled products, made with the first.
    wide: Cache<(), WideRings, 1>,
    /// The highest level whose products a card was found to have room for.
    pub(super) fitted: Fitted,
    pub(super) card_memories: Cache<(Arc<BootstrapCircuit>, usize), CardMemory, 8>,
    /// Tables that were interpolated, by their values and digits.
    pub(super) tables: Cache<(Vec<i64>, usize), Table, KEPT_TABLES>,
}

/// Tables that an engine keeps: the longest takes half a second.
const KEPT_TABLES: usize = 16;

crate::runtime::runs! { Engine }

impl Engine {
    /// Makes an engine with its own runtime. `threads` 0 uses all cores.
    ///
    /// # Errors
    /// Slots where the ring has none modulo t, and those of [`Runtime::new`].
    pub fn new(params: IntegerParams, packing: Packing, threads: usize) -> Result<Self, Error> {
        Self::on(Runtime::new(threads)?, params, packing)
    }

    /// Makes an engine on a runtime that others may share.
    ///
    /// # Errors
    /// Slots where the ring has none modulo t.
    pub fn on(runtime: impl Into<Arc<Runtime>>, params: IntegerParams, packing: Packing) -> Result<Self, Error> {
        let runtime = runtime.into();
        let encoder = Encoder::new(*params.plain(), (params.log_n(), params.log_slots()), packing, runtime.kernels())?;
        let ctx = runtime.context(params.rlwe())?;
        runtime.serves(ctx.ring().pool());
        Ok(Self {
            params,
            ctx,
            encoder,
            runtime,
            none: KeySet::new(),
            bootstrap: State::default(),
            wide: Cache::default(),
            fitted: Fitted::default(),
            card_memories: Cache::default(),
            tables: Cache::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &IntegerParams {
        &self.params
    }
    /// Where the numbers of a message are: slots or coefficients.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.encoder.packing()
    }
    /// The number of integers in a message.
    #[must_use]
    pub fn count(&self) -> usize {
        self.encoder.count()
    }
    /// log2 of the places of a row.
    fn log_row(&self) -> u32 {
        (self.count() / 2).trailing_zeros()
    }

    pub(super) fn encoder(&self) -> &Encoder {
        &self.encoder
    }
    pub(super) fn evaluator<'a>(&'a self, keys: &'a KeySet) -> IntegerEvaluator<'a> {
        IntegerEvaluator::new(&self.ctx, &self.params, keys)
    }
    /// Does what needs no key on the engine's threads.
    fn keyless<T: Send>(
        &self,
        work: impl FnOnce(IntegerEvaluator<'_>) -> Result<T, aglet_schemes::Error> + Send,
    ) -> Result<T, Error> {
        self.runtime.run(|| Ok(work(self.evaluator(&self.none))?))
    }

    /// Encrypts up to [`Engine::count`] numbers between -t and t at a level. Missing numbers are 0.
    ///
    /// # Errors
    /// A number out of range, too many numbers, a level that does not exist, a key of other parameters.
    pub fn encrypt(
        &self,
        message: &(impl Message + ?Sized),
        level: usize,
        key: &PublicKey,
    ) -> Result<IntegerCiphertext, Error> {
        self.encrypt_by(message, level, Encryptor::Public(key))
    }
    /// [`Engine::encrypt`] with the secret key, which gives less noise.
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_with_secret(
        &self,
        message: &(impl Message + ?Sized),
        level: usize,
        key: &SecretKey,
    ) -> Result<IntegerCiphertext, Error> {
        self.encrypt_by(message, level, Encryptor::Secret(key))
    }
    fn encrypt_by(
        &self,
        message: &(impl Message + ?Sized),
        level: usize,
        by: Encryptor<'_>,
    ) -> Result<IntegerCiphertext, Error> {
        let mut random = self.runtime.random("encryption", 0)?;
        self.runtime.run(|| {
            let message = message.coefficients(&self.encoder, self)?;
            Ok(encrypt(&self.ctx, &self.params, &message, level, (by, &mut random))?.into())
        })
    }
    /// Has ciphertexts on this machine before they are decrypted or stored: those that a card made come together, not one by one.
    ///
    /// # Errors
    /// Memory that cannot be had, [`Error::Ring`] if the card fails: then none is here that was not before.
    pub fn fetch(&self, cts: &[&IntegerCiphertext]) -> Result<(), Error> {
        self.runtime.run(|| Ok(Sample::fetch_all(cts.iter().map(|ct| &ct.sample))?))
    }
    /// The numbers of a ciphertext, in `[-t/2, t/2]`.
    ///
    /// # Errors
    /// A ciphertext of another key, or one whose noise leaves less than a bit of its modulus.
    pub fn decrypt(&self, ct: &IntegerCiphertext, key: &SecretKey) -> Result<Vec<i64>, Error> {
        self.runtime.run(|| Ok(self.encoder.decode(&decrypt(&self.ctx, &self.params, ct, key)?)))
    }
    /// The noise budget in bits that the secret key measures, rounded down: the fraction would reveal more about the
    /// noise, which depends on the key. Do not publish the measured budgets of many ciphertexts, which can still reveal
    /// something about the key.
    ///
    /// # Errors
    /// A ciphertext of another key.
    pub fn noise_budget(&self, ct: &IntegerCiphertext, key: &SecretKey) -> Result<f64, Error> {
        self.runtime.run(|| Ok(noise_budget(&self.ctx, &self.params, ct, key)?.floor()))
    }
    /// The noise budget in bits from the bound that the ciphertext carries. It needs no key and is never above the
    /// measured one.
    #[must_use]
    pub fn budget(&self, ct: &IntegerCiphertext) -> f64 {
        self.evaluator(&self.none).budget(ct)
    }

    /// `a + b`; operands may have different levels.
    ///
    /// # Errors
    /// Ciphertexts of two keys, or a sum that would not decrypt.
    pub fn add(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.add(a, b))
    }
    /// `a - b`.
    ///
    /// # Errors
    /// As [`Engine::add`].
    pub fn subtract(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.sub(a, b))
    }
    /// `-a`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn negate(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.negate(a))
    }
    /// The sum with numbers in the clear.
    ///
    /// # Errors
    /// Numbers out of range, or too many.
    pub fn add_plain(
        &self,
        a: &IntegerCiphertext,
        message: &(impl Message + ?Sized),
    ) -> Result<IntegerCiphertext, Error> {
        let message = message.coefficients(&self.encoder, self)?;
        self.keyless(|e| e.add_plain(a, &message))
    }
    /// The product with numbers in the clear. It takes no level, but adds noise.
    ///
    /// # Errors
    /// Numbers out of range, too many, or a product that would not decrypt.
    pub fn multiply_plain(
        &self,
        a: &IntegerCiphertext,
        message: &(impl Message + ?Sized),
    ) -> Result<IntegerCiphertext, Error> {
        let coefficients = message.coefficients(&self.encoder, self)?;
        self.keyless(|e| e.mul_plain(a, (&coefficients, message.largest_value(&coefficients, &self.encoder))))
    }
    /// The sum with the same number in every slot or coefficient.
    ///
    /// # Errors
    /// Out of memory.
    pub fn add_number(&self, a: &IntegerCiphertext, number: i64) -> Result<IntegerCiphertext, Error> {
        // Where coefficients are packed, every place is a coefficient.
        match self.packing() {
            Packing::Slots => self.keyless(|e| e.add_number(a, number)),
            Packing::Coefficients => self
                .add_plain(a, &vec![self.params.plain().centre(self.params.plain().reduce_i64(number)); self.count()]),
        }
    }
    /// The product with one number.
    ///
    /// # Errors
    /// A product that would not decrypt.
    pub fn multiply_number(&self, a: &IntegerCiphertext, number: i64) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.mul_number(a, self.params.plain().reduce_i64(number)))
    }
    /// `a b`, one level below the lower of the two.
    ///
    /// # Errors
    /// Operands at level 0, keys that do not belong together.
    pub fn multiply(
        &self,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        key: &RelinearizationKey,
    ) -> Result<IntegerCiphertext, Error> {
        self.fits_product(a, b, key)?;
        self.runtime.run(|| Ok(self.evaluator(&key.0).mul(a, b)?))
    }
    /// The scale-invariant product of BFV, `round(t a b / Q)`, relinearized. It stays at the lower level of the two and
    /// takes as much of the noise budget as a level has. The first call makes the tables of more primes.
    ///
    /// # Errors
    /// A budget that is too small, a level above 31, keys that do not belong together.
    pub fn multiply_scaled(
        &self,
        a: &IntegerCiphertext,
        b: &IntegerCiphertext,
        key: &RelinearizationKey,
    ) -> Result<IntegerCiphertext, Error> {
        self.fits_product(a, b, key)?;
        self.runtime.run(|| {
            let wide = self.wide.get((), || {
                let made = WideRings::new(&self.params, self.runtime.kernels())?;
                self.runtime.serves(made.pool());
                Ok::<_, Error>(made)
            })?;
            Ok(self.evaluator(&key.0).mul_scaled(&wide, a, b)?)
        })
    }
    /// `a b` as a ciphertext of degree 2 at the lower level of the two, for sums before one [`Engine::relinearize`].
    ///
    /// # Errors
    /// Operands at level 0 or of two keys.
    pub fn multiply_only(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.fits_square(a, b)?;
        self.keyless(|e| e.product(a, b))
    }
    /// Relinearizes a product to degree 1, one level lower.
    ///
    /// # Errors
    /// Keys that do not belong together.
    pub fn relinearize(&self, a: &IntegerCiphertext, key: &RelinearizationKey) -> Result<IntegerCiphertext, Error> {
        self.fits_relinearization(a, key)?;
        self.runtime.run(|| Ok(self.evaluator(&key.0).relinearize(a)?))
    }
    /// Modulus switching: brings a ciphertext down to a level.
    ///
    /// # Errors
    /// A level above it.
    pub fn level_down(&self, a: &IntegerCiphertext, level: usize) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.level_down(a, level))
    }
    /// The same integers one level lower, without the multiplication by which [`Engine::level_down`] keeps correction factors alike.
    ///
    /// # Errors
    /// Level 0; a product that is not relinearized.
    pub fn rescale(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.keyless(|e| e.rescale(a))
    }
    /// Rotates both rows by `delta` slots to the right, as `numpy.roll` along the second axis of two rows.
    ///
    /// # Errors
    /// Keys that do not belong together.
    pub fn rotate_rows(
        &self,
        a: &IntegerCiphertext,
        key: &RotationKey,
        delta: i64,
    ) -> Result<IntegerCiphertext, Error> {
        self.check_slots()?;
        let left = left_steps(self.count(), delta);
        let steps = (0..self.log_row()).filter(|i| left >> i & 1 == 1);
        self.fits_rotations(a, &key.0, left.count_ones() as usize, false)?;
        self.runtime.run(|| {
            let e = self.evaluator(&key.0);
            Ok(steps.into_iter().try_fold(a.clone(), |a, i| e.rotate_rows(&a, 1 << i))?)
        })
    }
    /// Rotates both rows by the step of a key: one key switch.
    ///
    /// # Errors
    /// A ciphertext above the level of the key; keys that do not belong together.
    pub fn rotate_fixed(&self, a: &IntegerCiphertext, key: &FixedRotationKey) -> Result<IntegerCiphertext, Error> {
        self.check_slots()?;
        if a.level() > key.level() {
            return Err(LevelError::RotationKey { most: key.level(), level: a.level() }.into());
        }
        let left = left_steps(self.count(), key.delta) as isize;
        self.fits_rotations(a, &key.set, 1, false)?;
        self.runtime.run(|| Ok(self.evaluator(&key.set).rotate_rows(a, left)?))
    }
    /// Swaps the two rows.
    ///
    /// # Errors
    /// Keys that do not belong together.
    pub fn rotate_columns(&self, a: &IntegerCiphertext, key: &RotationKey) -> Result<IntegerCiphertext, Error> {
        self.check_slots()?;
        self.fits_rotations(a, &key.0, 1, false)?;
        self.runtime.run(|| Ok(self.evaluator(&key.0).rotate_columns(a)?))
    }
    /// The sum of all slots, in every slot.
    ///
    /// # Errors
    /// Keys that do not belong together, or a sum that would not decrypt.
    pub fn sum_slots(&self, a: &IntegerCiphertext, key: &RotationKey) -> Result<IntegerCiphertext, Error> {
        self.check_slots()?;
        self.fits_rotations(a, &key.0, self.log_row() as usize + 1, true)?;
        self.runtime.run(|| {
            let e = self.evaluator(&key.0);
            let both = e.add(a, &e.rotate_columns(a)?)?;
            let rows = 0..self.log_row();
            Ok(rows.into_iter().try_fold(both, |sum, i| e.add(&sum, &e.rotate_rows(&sum, 1 << i)?))?)
        })
    }
}
