//! The engine of gates and tables: keys, encryption, and bootstraps of many ciphertexts at once.

use super::array::Home;
use crate::runtime::{machine, Runtime};
use crate::{Control, Error, KeyId};
use aglet_bootstrap::BootstrapKey;
use aglet_rlwe::lwe::{LweCiphertext, LweContext, LweSecretKey};
use aglet_schemes::fhew::{from_bit, join, mux_halves, not, to_bit, FhewParams, Gate};
use rayon::prelude::*;
use std::sync::Arc;

/// log2 of the largest probability of a wrong result, unless the caller allows more: shared decryptions leak at failures, so they
/// count as a break of security.
const MAX_LOG2_FAILURE: f64 = -128.0;
/// Ciphertexts that meet each block of the key together: their accumulators stay in the second cache.
const TOGETHER: usize = 32;

/// Everything for one parameter set on a number of threads. Shared freely: all methods take `&self`.
pub struct Engine {
    params: FhewParams,
    ctx: Arc<LweContext>,
    runtime: Arc<Runtime>,
}

/// What bootstraps need: blocks of a blind rotation, and a key switch.
pub struct LookupKey(BootstrapKey);

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
    /// Refuses the key of bootstraps where it would not fit in memory: neither below the caller's limit nor in what the machine has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] with both figures.
    pub fn check_memory(&self, limit: Option<u64>) -> Result<(), Error> {
        let (needed, free) = (BootstrapKey::forecast(&self.ctx) as u64, machine::memory_available());
        let Some(available) = limit.into_iter().chain(free).min().filter(|&available| needed > available) else {
            return Ok(());
        };
        Err(Error::KeyMemory(format!(
            "A lookup key of these parameters needs {:.1} MB and there are {:.1} MB for it; free memory, raise memory_limit_bytes, or \
             take a smaller set.",
            needed as f64 / 1e6,
            available as f64 / 1e6
        )))
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
    /// No randomness, or memory that cannot be had.
    pub fn create_lookup_key(&self, sk: &LweSecretKey) -> Result<LookupKey, Error> {
        let mut source = self.runtime.random("lookup key", 0)?;
        self.runtime.run(|| Ok(LookupKey(BootstrapKey::generate(&self.ctx, sk, &mut source)?)))
    }

    /// Encrypts bits, each on its own.
    ///
    /// # Errors
    /// No randomness; a secret key of another set.
    pub fn encrypt_bits(&self, bits: &[bool], sk: &LweSecretKey) -> Result<Vec<LweCiphertext>, Error> {
        self.encrypt_phases(bits.iter().map(|&b| Ok(from_bit(&self.ctx, b))), sk)
    }

    /// Encrypts messages below the set's number of them, each on its own.
    ///
    /// # Errors
    /// A message out of range, no randomness, a secret key of another set.
    pub fn encrypt(&self, messages: &[u64], sk: &LweSecretKey) -> Result<Vec<LweCiphertext>, Error> {
        let encode = |&m: &u64| Ok(self.params.message().encode(&self.ctx, m)?);
        self.encrypt_phases(messages.iter().map(encode), sk)
    }

    fn encrypt_phases(
        &self,
        phases: impl Iterator<Item = Result<u64, Error>>,
        sk: &LweSecretKey,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let mut source = self.runtime.random("lwe encryption", 0)?;
        phases.map(|phase| Ok(sk.encrypt(&self.ctx, phase?, &mut source)?)).collect()
    }

    /// Decrypts bits.
    ///
    /// # Errors
    /// Ciphertexts of another key.
    pub fn decrypt_bits(&self, bits: &[LweCiphertext], sk: &LweSecretKey) -> Result<Vec<bool>, Error> {
        bits.iter().map(|ct| Ok(to_bit(&self.ctx, sk.phase(&self.ctx, ct)?))).collect()
    }

    /// Decrypts messages; a number of messages or more says that a sum has left the range of tables.
    ///
    /// # Errors
    /// Ciphertexts of another key.
    pub fn decrypt(&self, messages: &[LweCiphertext], sk: &LweSecretKey) -> Result<Vec<u64>, Error> {
        messages.iter().map(|ct| Ok(self.params.message().decode(&self.ctx, sk.phase(&self.ctx, ct)?))).collect()
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
        let count = same_length(inputs)?;
        let sums = (0..count).map(|i| {
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
        let mut halves = Vec::new();
        for i in 0..same_length(&[select, x, y])? {
            halves.extend(mux_halves(&self.ctx, [&select[i], &x[i], &y[i]], most)?);
        }
        let out = self.bootstrap(&halves, &Gate::table(&self.ctx), key, control)?;
        out.chunks_exact(2).map(|half| Ok(join(&self.ctx, [&half[0], &half[1]])?)).collect()
    }

    /// The negation of bits, without a bootstrap.
    ///
    /// # Errors
    /// Bits of another set.
    pub fn not(&self, bits: &[LweCiphertext]) -> Result<Vec<LweCiphertext>, Error> {
        bits.iter().map(|bit| Ok(not(&self.ctx, bit)?)).collect()
    }

    /// A weighted sum of messages, element by element, without a bootstrap. It must stay below the number of messages; [`Engine::lookup`]
    /// refuses sums whose noise has grown too much.
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

    /// A padded table on messages: `values[m]` for each message m, one bootstrap for each.
    ///
    /// # Errors
    /// A table of the wrong length or with values out of range, keys that do not belong together, inputs on which it would fail too
    /// often, [`Error::Cancelled`].
    pub fn lookup(
        &self,
        messages: &[LweCiphertext],
        values: &[u64],
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let table = self.params.message().table(&self.ctx, values)?;
        for ct in messages {
            let log2 = self.params.message().log2_failure(&self.ctx, ct);
            if log2 > allowed {
                return Err(aglet_schemes::Error::Failure { gate: "A table", log2, allowed }.into());
            }
        }
        self.bootstrap(messages, &table, key, control)
    }

    /// Bootstraps of all, shared out to the threads; those of a thread share each block of the key.
    fn bootstrap(
        &self,
        cts: &[LweCiphertext],
        table: &[u64],
        key: &LookupKey,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let together = cts.len().div_ceil(self.runtime.threads()).clamp(1, TOGETHER);
        self.runtime.run(|| {
            let some = cts.par_chunks(together).map(|some| {
                control.check()?;
                Ok(key.0.bootstrap(&self.ctx, some, table)?)
            });
            Ok(some.collect::<Result<Vec<_>, Error>>()?.concat())
        })
    }
}

/// The length of all arrays.
fn same_length(arrays: &[&[LweCiphertext]]) -> Result<usize, Error> {
    let count = arrays.first().map_or(0, |a| a.len());
    if arrays.iter().any(|a| a.len() != count) {
        return Err(Error::Parameter("The arrays have different lengths; give arrays of one length.".into()));
    }
    Ok(count)
}
