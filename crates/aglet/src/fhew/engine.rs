//! The engine of gates and tables: keys, encryption, and bootstraps of many ciphertexts at once.

use super::array::Home;
use super::memory::{room, room_of_seeds};
use crate::runtime::{machine, Runtime};
use crate::{Control, Error, KeyId};
use aglet_bootstrap::{functional, BootstrapKey};
use aglet_rlwe::lwe::{LweCiphertext, LweContext, LweSecretKey, PackingKey, SeededKey};
use aglet_schemes::fhew::{
    check_refresh, from_bit, mux_end, mux_start, mux_table, not, FhewParams, Gate, MAX_LOG2_FAILURE,
};
use std::sync::Arc;

/// Everything for one parameter set on a number of threads. Shared freely: all methods take `&self`.
pub struct Engine {
    params: FhewParams,
    pub(crate) ctx: Arc<LweContext>,
    pub(super) runtime: Arc<Runtime>,
}

/// What bootstraps need: blocks of a blind rotation, and a key switch.
pub struct LookupKey(pub(crate) BootstrapKey);

impl LookupKey {
    /// The secret key that it belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.0.id()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.0.byte_count()
    }
    /// Bytes when stored: bodies alone, seeds for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let (rotation, switch) = self.0.keys();
        rotation.into_iter().chain([switch]).map(SeededKey::stored_bytes).sum()
    }
}

impl Engine {
    /// Makes an engine on a runtime of its own. `threads`: 0 takes all cores.
    ///
    /// # Errors
    /// Those of [`Runtime::new`].
    pub fn new(params: FhewParams, threads: usize) -> Result<Self, Error> {
        Self::on(Runtime::new(threads)?, params)
    }

    /// Makes an engine on a runtime, which it may share with others.
    ///
    /// # Errors
    /// None for checked parameters.
    pub fn on(runtime: impl Into<Arc<Runtime>>, params: FhewParams) -> Result<Self, Error> {
        let runtime = runtime.into();
        let ctx = LweContext::new(params.lwe().clone(), runtime.kernels())?;
        Ok(Self { params, ctx: Arc::new(ctx), runtime })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &FhewParams {
        &self.params
    }

    /// Parameters and tables, as arrays of ciphertexts share them.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::of(self.params.clone(), self.ctx.clone())
    }
    /// Worker threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.runtime.threads()
    }
    /// Name of the kernels in use.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.runtime.kernels().name()
    }
    /// Refuses a lookup key where it would not fit in memory: neither below the caller's limit nor in what the machine has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] with both figures.
    pub fn check_memory(&self, limit: Option<u64>) -> Result<(), Error> {
        fits("lookup key", BootstrapKey::forecast(&self.ctx), limit)
    }
    /// As [`Engine::check_memory`], for the key of tables of two messages.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] with both figures.
    pub fn check_packing_memory(&self, limit: Option<u64>) -> Result<(), Error> {
        fits("packing key", self.packing_key_bytes(), limit)
    }
    /// Bytes in memory of the key of tables of two messages.
    #[must_use]
    pub fn packing_key_bytes(&self) -> usize {
        PackingKey::forecast(&self.ctx, self.ctx.params().spec().gadget)
    }

    /// Runs work on the engine's own threads.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.runtime.run(work)
    }

    /// Draws a secret key.
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub fn create_secret_key(&self) -> Result<LweSecretKey, Error> {
        Ok(LweSecretKey::generate(&self.ctx, &mut self.runtime.random("lwe secret key", 0)?))
    }

    /// Makes the key of bootstraps.
    ///
    /// # Errors
    /// No randomness, memory that cannot be had, [`Error::Cancelled`].
    pub fn create_lookup_key(&self, sk: &LweSecretKey, control: &Control) -> Result<LookupKey, Error> {
        let mut source = self.runtime.random("lookup key", 0)?;
        let mut progress = progress(control, "lookup key");
        self.runtime.run(|| Ok(LookupKey(BootstrapKey::generate(&self.ctx, sk, &mut source, &mut progress)?)))
    }

    /// Makes the key of tables of two messages: a few samples for each doubling of the degree.
    ///
    /// # Errors
    /// As [`Engine::create_lookup_key`].
    pub fn create_packing_key(&self, sk: &LweSecretKey, control: &Control) -> Result<PackingKey, Error> {
        let mut source = self.runtime.random("packing key", 0)?;
        let mut progress = progress(control, "packing key");
        self.runtime.run(|| {
            Ok(PackingKey::generate(&self.ctx, sk, self.ctx.params().spec().gadget, &mut source, &mut progress)?)
        })
    }

    /// Encrypts bits, each on its own.
    ///
    /// # Errors
    /// No randomness; a secret key of another set.
    pub fn encrypt_bits(&self, bits: &[bool], sk: &LweSecretKey) -> Result<Vec<LweCiphertext>, Error> {
        self.encrypt_phases(bits.iter().map(|&b| Ok(from_bit(&self.ctx, b))), sk)
    }

    pub(super) fn encrypt_phases(
        &self,
        phases: impl ExactSizeIterator<Item = Result<u64, Error>>,
        sk: &LweSecretKey,
    ) -> Result<Vec<LweCiphertext>, Error> {
        room_of_seeds(phases.len())?;
        let mut source = self.runtime.random("lwe encryption", 0)?;
        phases.map(|phase| Ok(sk.encrypt(&self.ctx, phase?, &mut source)?)).collect()
    }

    /// A gate on arrays of bits, element by element: one bootstrap for each. `max_log2_failure` allows results that are wrong more
    /// often than 2^-128.
    ///
    /// # Errors
    /// [`Error::Parameter`] for arrays of different lengths or another number of them than the gate takes, keys that do not belong
    /// together, a sum that would fail too often, [`Error::Cancelled`].
    pub fn gate(
        &self,
        gate: Gate,
        inputs: &[&[LweCiphertext]],
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let most = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        gate.check(inputs.len())?;
        room(&self.home(), 2 * same_length(inputs)?)?;
        let sums = (0..same_length(inputs)?).map(|i| {
            let bits: Vec<&LweCiphertext> = inputs.iter().map(|array| &array[i]).collect();
            Ok(gate.combine(&self.ctx, &bits, most)?)
        });
        let sums = sums.collect::<Result<Vec<_>, Error>>()?;
        self.bootstrap(&sums, &Gate::table(&self.ctx), key, control)
    }

    /// `select ? x : y`, element by element: two bootstraps for each.
    ///
    /// # Errors
    /// As [`Engine::gate`].
    pub fn mux(
        &self,
        [select, x, y]: [&[LweCiphertext]; 3],
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let most = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let count = same_length(&[select, x, y])?;
        room(&self.home(), 2 * count)?;
        let starts = (0..count).map(|i| Ok(mux_start(&self.ctx, [&select[i], &x[i]], most)?));
        let starts = starts.collect::<Result<Vec<_>, Error>>()?;
        self.work(key, control, 2 * count, |run| {
            let both = functional::bootstrap(run, &starts, &mux_table(&self.ctx))?;
            let ends = (0..count).map(|i| mux_end(&self.ctx, &both[i], [&select[i], &x[i], &y[i]], most));
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            functional::bootstrap(run, &ends, &Gate::table(&self.ctx))
        })
    }

    /// The same bits with the noise of a gate, whatever noise they came with: one bootstrap for each.
    ///
    /// # Errors
    /// As [`Engine::gate`].
    pub fn refresh(
        &self,
        bits: &[LweCiphertext],
        key: &LookupKey,
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

    /// A weighted sum of messages, integers or words of one kind, element by element, without a bootstrap. Padded messages must stay
    /// below their number and integers in their range; what reads a sum refuses one whose noise has grown too much.
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

    /// What one table says of all, by the threads of the engine.
    fn bootstrap(
        &self,
        cts: &[LweCiphertext],
        table: &[u64],
        key: &LookupKey,
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

/// Refuses a key for which there are too few bytes.
pub(crate) fn fits(key: &str, needed: usize, limit: Option<u64>) -> Result<(), Error> {
    let available = limit.into_iter().chain(machine::memory_available()).min();
    let Some(available) = available.filter(|&available| needed as u64 > available) else { return Ok(()) };
    Err(Error::KeyMemory(format!(
        "A {key} of these parameters needs {:.1} MB and there are {:.1} MB for it; free memory, raise memory_limit_bytes, or take a \
         smaller set.",
        needed as f64 / 1e6,
        available as f64 / 1e6
    )))
}

/// The length of all arrays.
pub(super) fn same_length(arrays: &[&[LweCiphertext]]) -> Result<usize, Error> {
    let count = arrays.first().map_or(0, |a| a.len());
    if arrays.iter().any(|a| a.len() != count) {
        return Err(Error::Parameter("The arrays have different lengths; give arrays of one length.".into()));
    }
    Ok(count)
}
