//! The FHEW/TFHE engine: keys, encryption, and bootstraps of many ciphertexts at once.

use super::array::FhewContext;
use super::plans::Plans;
use super::PublicKey;
use crate::runtime::{machine, Runtime};
use crate::{Control, Error, KeyId, MemoryError, ParameterError};
use aglet_bootstrap::fhew::{functional, Blocks, FhewBootstrapKey};
use aglet_ring::packed::PackedKey;
use aglet_ring::{Backend, BlockRotation};
use aglet_rlwe::lwe::{BlindRotationKey, LweCiphertext, LweContext, LweSecretKey, PackingKey, SeededKey};
use aglet_schemes::fhew::{check_refresh, not, FhewParams, Gate, MAX_LOG2_FAILURE};
use std::sync::{Arc, Mutex, PoisonError};

/// An engine for one parameter set, with its own thread pool. All methods take `&self`, so threads can share it.
pub struct Engine {
    params: FhewParams,
    pub(crate) ctx: Arc<LweContext>,
    pub(super) runtime: Arc<Runtime>,
    pub(super) plans: Plans,
}

/// The bootstrap key: the keys of the blind rotation and of the key switch.
pub struct BootstrapKey {
    pub(crate) key: FhewBootstrapKey,
    there: Mutex<Option<There>>,
    /// Of keys that choose.
    choices: Mutex<Option<There>>,
}

/// A backend, the seed of a key, and the rotations that the backend does by it.
type There = (Arc<dyn Backend>, [u8; 32], Option<Arc<dyn BlockRotation>>);

/// A key on a backend, where it is put once.
fn kept(
    place: &Mutex<Option<There>>,
    (backend, samples): (&Arc<dyn Backend>, &SeededKey),
    put: impl FnOnce() -> Result<Option<Arc<dyn BlockRotation>>, aglet_rlwe::Error>,
) -> Result<Option<Arc<dyn BlockRotation>>, aglet_bootstrap::Error> {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |(old, seed, _): &&There| Arc::ptr_eq(old, backend) && seed == samples.seed();
    if let Some((.., found)) = place.as_ref().filter(same) {
        return Ok(found.clone());
    }
    let made = put()?;
    *place = Some((backend.clone(), *samples.seed(), made.clone()));
    Ok(made)
}

impl BootstrapKey {
    pub(crate) fn new(key: FhewBootstrapKey) -> Self {
        Self { key, there: Mutex::default(), choices: Mutex::default() }
    }
    /// Its rotations on a backend; none where the host rotates.
    pub(super) fn on(
        &self,
        ctx: &LweContext,
        backend: &Arc<dyn Backend>,
    ) -> Result<Option<Arc<dyn BlockRotation>>, aglet_bootstrap::Error> {
        kept(&self.there, (backend, self.key.keys().1), || self.key.on(ctx, &**backend))
    }
    /// The same of keys that choose.
    pub(super) fn choices_on(
        &self,
        ctx: &LweContext,
        backend: &Arc<dyn Backend>,
        choices: &BlindRotationKey,
    ) -> Result<Option<Arc<dyn BlockRotation>>, aglet_bootstrap::Error> {
        kept(&self.choices, (backend, choices.samples()), || self.key.choices_on(ctx, &**backend, choices))
    }
    /// Whether this backend has keys that choose.
    pub(super) fn chooses_on(&self, backend: &Arc<dyn Backend>) -> bool {
        let place = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().is_some_and(|(old, _, there)| Arc::ptr_eq(old, backend) && there.is_some())
    }
    /// Gives back the memory of keys that choose, unless a call is at work with them.
    pub(super) fn forget_choices(&self) {
        *self.choices.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
    /// The secret key that it belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.key.id()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.key.byte_count()
    }
    /// Bytes when stored: only bodies, with seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let (rotation, switch) = self.key.keys();
        rotation.into_iter().chain([switch]).map(SeededKey::stored_bytes).sum()
    }
}

crate::runtime::runs! { Engine }

impl Engine {
    /// Makes an engine with its own runtime. `threads` 0 uses all cores.
    ///
    /// # Errors
    /// Those of [`Runtime::new`].
    pub fn new(params: FhewParams, threads: usize) -> Result<Self, Error> {
        Self::on(Runtime::new(threads)?, params)
    }

    /// Makes an engine on a runtime that others may share.
    ///
    /// # Errors
    /// None for checked parameters.
    pub fn on(runtime: impl Into<Arc<Runtime>>, params: FhewParams) -> Result<Self, Error> {
        let runtime = runtime.into();
        let ctx = LweContext::new(params.lwe().clone(), runtime.kernels())?;
        Ok(Self { params, ctx: Arc::new(ctx), runtime, plans: Plans::default() })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &FhewParams {
        &self.params
    }

    /// Parameters and tables, as arrays of ciphertexts share them.
    #[must_use]
    pub fn context(&self) -> FhewContext {
        FhewContext::of(self.params.clone(), self.ctx.clone())
    }
    /// Refuses a bootstrap key that would exceed the caller's limit or the free memory of the machine.
    ///
    /// # Errors
    /// [`Error::Memory`] with both figures.
    pub fn check_memory(&self, limit: Option<u64>) -> Result<(), Error> {
        fits("FHEW bootstrap key", FhewBootstrapKey::forecast(&self.ctx), limit)
    }
    /// As [`Engine::check_memory`], for the packing key.
    ///
    /// # Errors
    /// [`Error::Memory`] with both figures.
    pub fn check_packing_memory(&self, limit: Option<u64>) -> Result<(), Error> {
        fits("packing key", self.packing_key_bytes(), limit)
    }
    /// Bytes of the public key in memory; none for a set that has no public keys.
    #[must_use]
    pub fn public_key_bytes(&self) -> Option<usize> {
        PublicKey::forecast(&self.ctx)
    }
    /// Bytes of the packing key in memory.
    #[must_use]
    pub fn packing_key_bytes(&self) -> usize {
        let choices = Blocks::choice_shape(&self.ctx).map_or(0, |shape| PackedKey::forecast(self.ctx.table(), shape));
        PackingKey::forecast(&self.ctx, PackingKey::digits(&self.ctx)) + choices
    }

    /// Draws a secret key.
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub fn create_secret_key(&self) -> Result<LweSecretKey, Error> {
        Ok(LweSecretKey::generate(&self.ctx, &mut self.runtime.random("lwe secret key", 0)?))
    }

    /// Makes the compact public key, by which who has no secret encrypts.
    ///
    /// # Errors
    /// No randomness; a secret key of another set; a set without public keys, see [`PublicKey::generate`].
    pub fn create_public_key(&self, sk: &LweSecretKey) -> Result<PublicKey, Error> {
        Ok(PublicKey::generate(&self.ctx, sk, &mut self.runtime.random("lwe public key", 0)?)?)
    }

    /// Makes the bootstrap key.
    ///
    /// # Errors
    /// No randomness, out of memory, [`Error::Cancelled`].
    pub fn create_bootstrap_key(&self, sk: &LweSecretKey, control: &Control) -> Result<BootstrapKey, Error> {
        let mut source = self.runtime.random("lookup key", 0)?;
        let mut progress = progress(control, "FHEW bootstrap key");
        self.runtime
            .run(|| Ok(BootstrapKey::new(FhewBootstrapKey::generate(&self.ctx, sk, &mut source, &mut progress)?)))
    }

    /// Makes the packing key, for LUTs on two messages and for results that are sent: a few GLWE ciphertexts for each doubling of the
    /// degree. Its digits have two levels, so that packing leaves little noise. Where those of the set have more than one, there is a
    /// key of one digit too, half as large as the bootstrap key, for the rotations of such LUTs that choose.
    ///
    /// # Errors
    /// As [`Engine::create_bootstrap_key`].
    pub fn create_packing_key(&self, sk: &LweSecretKey, control: &Control) -> Result<PackingKey, Error> {
        let mut source = self.runtime.random("packing key", 0)?;
        let mut progress = progress(control, "packing key");
        let (ctx, digits) = (&self.ctx, PackingKey::digits(&self.ctx));
        self.runtime.run(|| {
            let key = PackingKey::generate(ctx, sk, digits, &mut source, &mut progress)?;
            Ok(match Blocks::choices(ctx, sk, &mut source, &mut progress)? {
                Some(choices) => key.with_choices(choices),
                None => key,
            })
        })
    }

    /// Evaluates a gate on arrays of bits, element by element: one bootstrap for each bit. A majority takes one or two
    /// more if its bits share noise, or have too much of it for a sum of three. `max_log2_failure` accepts results that
    /// are wrong more often than 2^-128.
    ///
    /// # Errors
    /// [`Error::Parameter`] for arrays of different lengths or another number of them than the gate takes, keys that do not belong
    /// together, a sum that would fail too often, [`Error::Cancelled`].
    pub fn gate(
        &self,
        gate: Gate,
        inputs: &[&[LweCiphertext]],
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let most = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        gate.check(inputs.len())?;
        self.work(key, control, same_length(inputs)?, |run| functional::gate(run, gate, inputs, most))
    }

    /// `select ? x : y`, element by element: two bootstraps for each, or three as in [`Engine::gate`].
    ///
    /// # Errors
    /// As [`Engine::gate`].
    pub fn mux(
        &self,
        [select, x, y]: [&[LweCiphertext]; 3],
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let most = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let count = same_length(&[select, x, y])?;
        self.work(key, control, 2 * count, |run| functional::mux(run, [select, x, y], most))
    }

    /// Bootstraps bits: the values stay, the noise becomes that of a gate. One bootstrap for each.
    ///
    /// # Errors
    /// As [`Engine::gate`].
    pub fn refresh(
        &self,
        bits: &[LweCiphertext],
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let most = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        bits.iter().try_for_each(|bit| check_refresh(&self.ctx, bit, most))?;
        self.bootstrap(bits, &Gate::table(&self.ctx), key, control)
    }

    /// The negation of bits, without a bootstrap.
    ///
    /// # Errors
    /// Bits of another set.
    pub fn not(&self, bits: &[LweCiphertext]) -> Result<Vec<LweCiphertext>, Error> {
        bits.iter().map(|bit| Ok(not(&self.ctx, bit)?)).collect()
    }

    /// A weighted sum of messages, signed or unsigned integers of one kind, element by element, without a bootstrap.
    /// Padded messages must stay below their number, and signed integers in their range. A later lookup refuses a sum
    /// with too much noise.
    ///
    /// # Errors
    /// [`Error::Parameter`] for arrays of different lengths or none, ciphertexts of different keys.
    pub fn sum(&self, terms: &[(&[LweCiphertext], i64)]) -> Result<Vec<LweCiphertext>, Error> {
        let arrays: Vec<&[LweCiphertext]> = terms.iter().map(|t| t.0).collect();
        let sums = (0..same_length(&arrays)?).map(|i| {
            let terms: Vec<_> = terms.iter().map(|(array, weight)| (&array[i], *weight)).collect();
            Ok(LweCiphertext::combine(&self.ctx, 0, &terms)?)
        });
        sums.collect()
    }

    /// Evaluates one table on all ciphertexts, on the threads of the engine.
    fn bootstrap(
        &self,
        cts: &[LweCiphertext],
        table: &[u64],
        key: &BootstrapKey,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        self.work(key, control, cts.len(), |run| functional::bootstrap(run, cts, table))
    }
}

/// Reports samples of a key as they are made, until somebody asks to stop.
fn progress<'a>(control: &'a Control, what: &'static str) -> impl FnMut(usize, usize) -> bool + Send + 'a {
    move |done, total| {
        control.report(done, total, what);
        !control.cancelled()
    }
}

/// Refuses a key that does not fit in memory.
pub(crate) fn fits(key: &str, needed: usize, limit: Option<u64>) -> Result<(), Error> {
    let available = limit.into_iter().chain(machine::memory_available()).min();
    let Some(available) = available.filter(|&available| needed as u64 > available) else { return Ok(()) };
    Err(MemoryError::FhewKey { key: key.into(), needed: needed as u64, available }.into())
}

/// The length of all arrays.
pub(super) fn same_length(arrays: &[&[LweCiphertext]]) -> Result<usize, Error> {
    let count = arrays.first().map_or(0, |a| a.len());
    if arrays.iter().any(|a| a.len() != count) {
        return Err(ParameterError::Lengths.into());
    }
    Ok(count)
}
